"""One picture: for each table, how far private methods get from the majority's accuracy to boosting's. Light and dark by CSS."""

from html import escape

from methods import DEFAULTS, METHODS
from summary import Results
from tables import Table

ROW, LEFT, RIGHT, TOP, BOTTOM, WIDTH = 24, 118, 12, 96, 34, 430
LEAST = 0.01  # of accuracy: where boosting gains less than a point, a share of it says nothing


def drawn(results: Results, tables: list[Table], epsilon: float) -> str:
    """SVG. Tables are sorted by records times epsilon, the largest first."""
    rows = []
    for table in tables:
        found = {m: results.share_of_the_way(table.name, m, epsilon, LEAST) for m in (*DEFAULTS, *results.peers)}
        if any(share is not None for share in found.values()):
            rows.append((table, {m: share for m, share in found.items() if share is not None}))
    rows.reverse()
    height = TOP + ROW * len(rows) + BOTTOM
    parts = [
        axis(height),
        *(line(i, table, found) for i, (table, found) in enumerate(rows)),
        legend(epsilon, len(results.peers)),
    ]
    words = f"For {len(rows)} tables, how far private methods get from the majority class to boosting, at epsilon {epsilon:g}."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(words)}">'
        f'<style>{STYLE}</style><rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>{"".join(parts)}</svg>\n'
    )


def place(share: float) -> float:
    """On the page; worse than the majority is at the left edge."""
    return LEFT + 24 + (WIDTH - LEFT - RIGHT - 34) * min(max(share, -0.05), 1.04)


def line(i: int, table: Table, found: dict[str, float]) -> str:
    """One table."""
    y = TOP + ROW * i + ROW / 2
    marks = [f'<circle class="peer" cx="{place(found[m]):.1f}" cy="{y}" r="3.6"><title>{title(m, found)}</title></circle>'
             for m in found if m not in DEFAULTS]  # fmt: skip
    if "list" in found:
        x = place(found["list"])
        marks.append(f'<circle class="list" cx="{x:.1f}" cy="{y}" r="5"><title>{title("list", found)}</title></circle>')
    if "tree-3" in found:
        x = place(found["tree-3"])
        marks.append(
            f'<circle class="tree" cx="{x:.1f}" cy="{y}" r="6"><title>{title("tree-3", found)}</title></circle>'
        )
    band = f'<rect class="band" x="4" y="{y - ROW / 2}" width="{WIDTH - 8}" height="{ROW}"/>' if i % 2 else ""
    rail = f'<line class="rail" x1="{place(0)}" x2="{place(1)}" y1="{y}" y2="{y}"/>'
    return f'{band}{rail}<text class="name" x="{LEFT}" y="{y + 4.5}">{escape(table.title)}</text>{"".join(marks)}'


def title(method: str, found: dict[str, float]) -> str:
    """For who points at a mark."""
    return escape(f"{METHODS[method].title}: {found[method]:.0%} of the way")


def axis(height: int) -> str:
    """Where the majority is, half the way, and boosting."""
    lines = "".join(
        f'<line class="grid" x1="{place(s):.1f}" x2="{place(s):.1f}" y1="{TOP - 4}" y2="{height - BOTTOM + 4}"/>'
        for s in (0, 0.5, 1)
    )
    y = height - BOTTOM + 20
    ends = (
        f'<text class="left" x="{place(0) - 6:.1f}" y="{y}">majority</text>'
        f'<text class="right" x="{place(1) + 8:.1f}" y="{y}">boosting, no privacy</text>'
    )
    return lines + ends


def legend(epsilon: float, peers: int) -> str:
    """What the marks are."""
    return (
        f'<text class="title" x="12" y="26">How far private models get, epsilon {epsilon:g}</text>'
        '<circle class="tree" cx="18" cy="48" r="6"/><text class="left" x="30" y="53">whole tree</text>'
        '<circle class="list" cx="118" cy="48" r="5"/><text class="left" x="130" y="53">whole list (discreet)</text>'
        '<circle class="peer" cx="18" cy="72" r="3.6"/><text class="left" x="30" y="77">'
        f"{peers} private methods of other packages</text>"
    )


STYLE = """
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #1b1f23 } .title { font-size: 17px; font-weight: 600 }
.name, .right { text-anchor: end } .paper { fill: #fbfaf7 } .band { fill: #f1efe9 } .grid { stroke: #c9c6bd }
.rail { stroke: #dcd9d1 }
.peer { fill: #d9822b; fill-opacity: .85 } .tree { fill: #0f766e } .list { fill: #fbfaf7; stroke: #0f766e; stroke-width: 2.4 }
@media (prefers-color-scheme: dark) {
text { fill: #eceff3 } .paper { fill: #1b1e24 } .band { fill: #242831 } .grid { stroke: #4a5260 } .rail { stroke: #363c47 }
.peer { fill: #f0a04b } .tree { fill: #35b8a6 } .list { fill: #1b1e24; stroke: #35b8a6 }
}
"""
