"""Draws which package imports which, as docs/import-graph.svg: `python -m tools.import_graph` (`make import-graph`).

Floors and imports are those of tests/test_walls.py, and tests/docs/test_import_graph.py fails while the committed picture
is not the one that the code gives. So it cannot be out of date, and nobody draws it by hand.

An import that follows from others is left out: where `cli` imports `releases` and `releases` imports `counts`, there is no
line from `cli` to `counts`. A line that passes floors goes through a *waypoint* on each of them; lines to the same package
share their waypoints, and so run together.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise, product
from math import fsum
from pathlib import Path
from typing import NamedTuple

from tests.test_walls import FLOORS, PRIVATE, imports

PICTURE = Path(__file__).parent.parent / "docs" / "import-graph.svg"
WIDTH, ROW, TOP, MARGIN = 900, 76, 16, 52
BOX, BOX_HEIGHT, GAP = 120, 34, 44
WAYPOINT = 34  # the width that a passing line takes up on a floor


class Node(NamedTuple):
    """A package on its floor, or the place where lines to that package pass another floor."""

    package: str
    floor: int
    is_waypoint: bool


Edge = tuple[str, str]
Rows = list[list[Node]]


def package_imports() -> set[Edge]:
    """(importing package, imported package); what a package imports from itself is no edge."""
    packages = {name for floor in FLOORS for name in floor}
    return {
        (importer[0], imported[0])
        for importer, imported in imports()
        if importer[0] in packages and imported and imported[0] in packages and importer[0] != imported[0]
    }


def without_implied(edges: set[Edge]) -> set[Edge]:
    """The edges for which there is no other way from one end to the other. (There must be no cycle.)"""

    def reached(start: str, without: Edge) -> set[str]:
        seen: set[str] = set()
        todo = [b for a, b in edges if a == start and (a, b) != without]
        while todo:
            package = todo.pop()
            if package not in seen:
                seen.add(package)
                todo += [b for a, b in edges if a == package]
        return seen

    return {edge for edge in edges if edge[1] not in reached(edge[0], edge)}


def steps(edges: Iterable[Edge], floor: dict[str, int]) -> set[tuple[Node, Node]]:
    """The edges, cut into pieces of one floor each."""
    pieces = set()
    for upper, lower in edges:
        way = [Node(upper, floor[upper], False)]
        way += [Node(lower, level, True) for level in range(floor[upper] - 1, floor[lower], -1)]
        way += [Node(lower, floor[lower], False)]
        pieces |= set(pairwise(way))
    return pieces


def ordered(rows: Rows, pieces: set[tuple[Node, Node]]) -> Rows:
    """The rows with their nodes in an order in which few lines cross: swapped, two of a row, while that helps."""

    def crossings() -> int:
        at = {node: i for row in rows for i, node in enumerate(row)}
        lines = [(a.floor, at[a], at[b]) for a, b in pieces]
        return sum(f == g and a < c and b > d for (f, a, b), (g, c, d) in product(lines, lines))

    fewest, before = crossings(), -1
    while fewest != before:
        before = fewest
        for row in rows:
            for i, j in combinations(range(len(row)), 2):
                row[i], row[j] = row[j], row[i]
                if (found := crossings()) < fewest:
                    fewest = found
                else:
                    row[i], row[j] = row[j], row[i]
    return rows


def placed(rows: Rows, pieces: set[tuple[Node, Node]]) -> dict[Node, float]:
    """Where each node is, from left to right: near those it has lines to, and never over its neighbour."""
    x: dict[Node, float] = {}
    for row in rows:
        for i, node in enumerate(row):
            x[node] = WIDTH * (i + 1) / (len(row) + 1)
    for sweep in range(40):
        for row in rows if sweep % 2 else reversed(rows):
            wish = [_mean([x[b if a == node else a] for a, b in pieces if node in (a, b)] or [x[node]]) for node in row]
            x |= dict(zip(row, _apart(row, wish), strict=True))
    return x


def _half(node: Node) -> float:
    return (WAYPOINT if node.is_waypoint else BOX + GAP) / 2


def _apart(row: list[Node], wish: list[float]) -> list[float]:
    """The places nearest to those wished for at which the nodes keep their order and their distances.

    With the distances taken off, this is a regression by a function that does not fall: neighbours that are in each other's
    way become one block, at the mean of their wishes.
    """
    offset, total = [], 0.0
    for i, node in enumerate(row):
        total += _half(row[i - 1]) + _half(node) if i else 0.0
        offset.append(total)
    blocks: list[list[float]] = []
    for want, off in zip(wish, offset, strict=True):
        blocks.append([want - off])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    low = MARGIN + _half(row[0])
    high = WIDTH - 16 - _half(row[-1]) - offset[-1]
    flat = [min(max(_mean(block), low), high) for block in blocks for _ in block]
    return [place + off for place, off in zip(flat, offset, strict=True)]


def _mean(numbers: list[float]) -> float:
    return fsum(numbers) / len(numbers)  # the same on every version of Python, unlike sum


def drawn() -> str:
    """The picture, as SVG."""
    floor = {name: i for i, names in enumerate(FLOORS) for name in names}
    edges = package_imports()
    downward = {(a, b) for a, b in edges if floor[b] < floor[a]}
    pieces = steps(without_implied(downward), floor)
    nodes = {Node(name, i, False) for name, i in floor.items()} | {node for piece in pieces for node in piece}
    rows = ordered([sorted(node for node in nodes if node.floor == i) for i in range(len(FLOORS))], pieces)
    x = placed(rows, pieces)

    def middle(level: int) -> int:
        return TOP + ROW * (len(FLOORS) - 1 - level) + ROW // 2

    lines = []
    for upper, lower in sorted(pieces):
        y, z = middle(upper.floor) + BOX_HEIGHT // 2, middle(lower.floor) - BOX_HEIGHT // 2
        a, b, half = round(x[upper]), round(x[lower]), (y + z) // 2
        start = f"M{a} {y - BOX_HEIGHT if upper.is_waypoint else y}" + (f"V{y}" if upper.is_waypoint else "")
        arrow = "" if lower.is_waypoint else ' marker-end="url(#arrow)"'
        lines.append(f'<path d="{start}C{a} {half} {b} {half} {b} {z}"{arrow}/>')
    for importer, imported in sorted(edges - downward):  # exempted in tests/test_walls.py
        start, end = (
            f"{round(x[Node(name, floor[name], False)])} {middle(floor[name])}" for name in (importer, imported)
        )
        lines.append(f'<path class="upward" d="M{start}L{end}"/>')
    boxes = []
    for node in sorted(nodes):
        if not node.is_waypoint:
            left, y = round(x[node]) - BOX // 2, middle(node.floor)
            kind = "private" if node.package in PRIVATE else "public"
            boxes.append(
                f'<rect class="{kind}" x="{left}" y="{y - BOX_HEIGHT // 2}" width="{BOX}" height="{BOX_HEIGHT}" rx="7"/>'
                f'<text class="{kind}-name" x="{round(x[node])}" y="{y + 5}">{node.package}</text>'
            )
    bands = [
        f'<rect class="band" x="8" y="{middle(i) - ROW // 2 + 3}" width="{WIDTH - 16}" height="{ROW - 6}" rx="9"/>'
        f'<text class="number" x="30" y="{middle(i) + 6}">{i}</text>'
        for i in range(len(FLOORS))
    ]
    bottom = TOP + ROW * len(FLOORS)
    legend = [
        f'<rect class="private" x="16" y="{bottom + 12}" width="20" height="14" rx="4"/>',
        f'<text class="legend" x="44" y="{bottom + 24}">where the exact counts of a private fit are</text>',
        f'<text class="legend" x="{WIDTH - 16}" y="{bottom + 24}" text-anchor="end">'
        "an arrow: imports; what follows from other arrows is left out</text>",
    ]
    height = bottom + 42
    body = "\n".join([*bands, '<g class="lines">', *lines, "</g>", *boxes, *legend])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">\n'
        f'<title id="title">{_described(len(edges), len(edges - downward))}</title>\n'
        f"<style>{STYLE}</style>\n{ARROW}\n"
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="14"/>\n{body}\n</svg>\n'
    )


def _described(edges: int, upward: int) -> str:
    floors = "; ".join(f"{i}: {', '.join(names)}" for i, names in enumerate(FLOORS))
    ways = f"{upward} of them upwards" if upward else "all of them downwards"
    return f"The packages of discreet on {len(FLOORS)} floors. {edges} imports between packages, {ways}. {floors}."


ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="head" d="M0 .6L8 4L0 7.4z"/></marker></defs>'
)
STYLE = """
.paper { fill: #fbfaf7 } .band { fill: #f1efe9 } .number { fill: #8a8f93; font: 600 17px Georgia, serif; text-anchor: middle }
.lines path { fill: none; stroke: #8b979d; stroke-width: 1.4 } .lines .upward { stroke: #d0311e; stroke-dasharray: 5 4 }
.head { fill: #8b979d; stroke: none }
.public { fill: #fff; stroke: #b9c0c3; stroke-width: 1.2 } .private { fill: #0f766e; stroke: #0b5c56; stroke-width: 1.2 }
text { font: 15px system-ui, "DejaVu Sans", sans-serif } .public-name { fill: #1b1f23; text-anchor: middle }
.private-name { fill: #fff; font-weight: 600; text-anchor: middle } .legend { fill: #5a6268; font-size: 13px }
@media (prefers-color-scheme: dark) {
.paper { fill: #1b1e24 } .band { fill: #242831 } .number { fill: #8e98a3 } .lines path { stroke: #76828d } .head { fill: #76828d }
.public { fill: #303642; stroke: #566070 } .public-name { fill: #eceff3 } .private { fill: #14907f; stroke: #35b8a6 }
.legend { fill: #b3bcc6 } .lines .upward { stroke: #ff7a66 }
}
"""

if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
