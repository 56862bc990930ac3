"""One picture: for each table, how far private methods get from the majority's accuracy to boosting's. Light and dark by CSS.

It is drawn for a width of 430, and no text of it is below 14 there: legible on a phone. There is room for fonts wider than most.
"""

from html import escape

from methods import DEFAULTS, METHODS
from summary import Results
from tables import Table

ROW, WIDTH, TOP, BOTTOM = 24, 430, 192, 50
NAMES = 136  # where names of tables end
START, END = NAMES + 38, WIDTH - 48  # of the way: the majority, boosting
EDGES = NAMES + 23, WIDTH - 22  # what is farther out is an arrow
ARROWS, STEP = (NAMES + 12, WIDTH - 11), 11  # where the first one is, and from one to the next
LEAST = 0.01  # of accuracy: where boosting gains less than a point, a share of it says nothing
LEFT_END, RIGHT_END = ("always guess the", "most frequent class"), ("boosting,", "no privacy")
PEER = "peer"
OURS = {"card": "card", "tree-3": "tree", "list": "list"}  # one over the other: all three are seen where they coincide
assert OURS.keys() == set(DEFAULTS)


def drawn(results: Results, tables: list[Table], epsilon: float) -> str:
    """SVG. Tables are sorted by records, the largest first."""
    rows = []
    for table in tables:
        found = {m: results.share_of_the_way(table.name, m, epsilon, LEAST) for m in (*DEFAULTS, *results.peers)}
        if any(share is not None for share in found.values()):
            rows.append((table, {m: share for m, share in found.items() if share is not None}))
    rows.reverse()
    height = TOP + ROW * len(rows) + BOTTOM
    parts = [
        heading(epsilon, len(results.peers)),
        *(line(i, table) for i, (table, _) in enumerate(rows)),
        axis(height),
        *(marks(i, found) for i, (_, found) in enumerate(rows)),
    ]
    words = (
        f"Accuracy at epsilon {epsilon:g} on {len(rows)} tables: how far private models get from always guessing the most "
        "frequent class (left) to boosting without privacy (right)."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(words)}">'
        f'<style>{STYLE}</style><rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>{"".join(parts)}</svg>\n'
    )


def place(share: float) -> float:
    """On the page."""
    return START + (END - START) * share


def middle(i: int) -> float:
    """Of a row."""
    return TOP + ROW * i + ROW / 2


def line(i: int, table: Table) -> str:
    """One table, without its marks."""
    y = middle(i)
    band = f'<rect class="band" x="4" y="{y - ROW / 2}" width="{WIDTH - 8}" height="{ROW}"/>' if i % 2 else ""
    rail = f'<line class="rail" x1="{START}" x2="{END}" y1="{y}" y2="{y}"/>'
    return f'{band}{rail}<text class="end" x="{NAMES}" y="{y + 4.5}">{escape(table.title)}</text>'


def marks(i: int, found: dict[str, float]) -> str:
    """Of one table: peers, then ours over them; arrows at the edges for what is beyond them, the farthest outside."""
    y = middle(i)
    peers = [m for m in found if m not in OURS]
    ours = [m for m in OURS if m in found]
    inside = [m for m in (*peers, *ours) if EDGES[0] <= place(found[m]) <= EDGES[1]]
    parts = [mark(OURS.get(m, PEER), place(found[m]), y, title(m, found)) for m in inside]
    for edge, first, outward in zip(EDGES, ARROWS, (-1, 1), strict=True):
        beyond = [m for m in found if outward * place(found[m]) > outward * edge]
        groups = [group for group in ([m for m in beyond if m in peers], *([m] for m in beyond if m in ours)) if group]
        groups.sort(key=lambda group: -max(outward * found[m] for m in group))
        for at, group in enumerate(groups):
            words = "; ".join(title(m, found) for m in group)
            parts.append(arrow(OURS.get(group[0], PEER), first - outward * STEP * at, y, outward, words))
    return "".join(parts)


def mark(kind: str, x: float, y: float, words: str = "") -> str:
    """A diamond, a dot that is smaller, a ring that is larger, or a small dot."""
    inner = f"<title>{words}</title>" if words else ""
    if kind == "card":
        points = f"{x:.1f},{y - 7.4:.1f} {x + 7.4:.1f},{y:.1f} {x:.1f},{y + 7.4:.1f} {x - 7.4:.1f},{y:.1f}"
        return f'<polygon class="card" points="{points}">{inner}</polygon>'
    radius = {"tree": 5.1, "list": 8.6, PEER: 3.4}[kind]
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y}" r="{radius}">{inner}</circle>'


def arrow(kind: str, x: float, y: float, outward: int, words: str = "") -> str:
    """A triangle that points out of the picture, filled as its mark is."""
    high = 4 if kind == PEER else 5.5
    tip, back = x + 5 * outward, x - 4 * outward
    points = f"{tip:.1f},{y:.1f} {back:.1f},{y - high:.1f} {back:.1f},{y + high:.1f}"
    inner = f"<title>{words}</title>" if words else ""
    return f'<polygon class="{kind}" points="{points}">{inner}</polygon>'


def title(method: str, found: dict[str, float]) -> str:
    """For who points at a mark."""
    return escape(f"{METHODS[method].title}: {found[method]:.0%} of the way")


def axis(height: int) -> str:
    """Where the majority is, half the way, and boosting: in words above and below."""
    top, bottom = TOP - 4, height - BOTTOM + 4
    parts = [
        f'<line class="grid" x1="{place(s):.1f}" x2="{place(s):.1f}" y1="{top}" y2="{bottom}"/>' for s in (0, 0.5, 1)
    ]
    for y in (top - 23, bottom + 16):
        for n in (0, 1):
            parts.append(f'<text class="mid" x="{START}" y="{y + 16 * n}">{LEFT_END[n]}</text>')
            parts.append(f'<text class="end" x="{WIDTH - 10}" y="{y + 16 * n}">{RIGHT_END[n]}</text>')
    return "".join(parts)


def heading(epsilon: float, peers: int) -> str:
    """What it is, and what the marks are."""
    return (
        f'<text class="title" x="12" y="26">Accuracy of private models, epsilon {epsilon:g}</text>'
        '<text x="12" y="48">From guessing (left) to boosting without privacy</text>'
        '<text x="12" y="66">(right), table by table. Farther right is better.</text>'
        '<text class="bold" x="12" y="94">discreet:</text>'
        f'{mark("tree", 104, 89.5)}<text x="116" y="94">tree</text>{mark("list", 172, 89.5)}<text x="186" y="94">list</text>'
        f'{mark("card", 238, 89.5)}<text x="251" y="94">card</text>'
        '<text class="bold" x="12" y="116">other packages:</text>'
        f'{mark(PEER, 152, 111.5)}<text x="162" y="116">up to {peers} private methods</text>'
        f"{arrow(PEER, 18, 133.5, -1)}{arrow('tree', 32, 133.5, 1)}{arrow('list', 48, 133.5, 1)}{arrow('card', 64, 133.5, 1)}"
        '<text x="78" y="138">the same, beyond the edge</text>'
    )


STYLE = """
text { font: 14px system-ui, "DejaVu Sans", sans-serif; fill: #1b1f23 } .title { font-size: 17px }
.title, .bold { font-weight: 600 }
.end { text-anchor: end } .mid { text-anchor: middle } .paper { fill: #fbfaf7 } .band { fill: #f1efe9 } .grid { stroke: #c9c6bd }
.rail { stroke: #dcd9d1 }
.peer { fill: #d9822b; fill-opacity: .85 } .tree { fill: #0f766e; stroke: #fbfaf7 } .card { fill: #6d4bc4 }
.list { fill: none; stroke: #0f766e; stroke-width: 2.2 }
@media (prefers-color-scheme: dark) {
text { fill: #eceff3 } .paper { fill: #1b1e24 } .band { fill: #242831 } .grid { stroke: #4a5260 } .rail { stroke: #363c47 }
.peer { fill: #f0a04b } .tree { fill: #35b8a6; stroke: #1b1e24 } .card { fill: #b39cff } .list { stroke: #35b8a6 }
}
"""
