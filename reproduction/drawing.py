"""What the figures are made of: curves with bands, names at their ends, plain numbers on logarithmic axes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from .styles import HOUSE, Style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS_ON_A_CURVE = 8
BAND = 2  # standard errors to either side
SOFT = "#F1F1F1"  # behind data


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib with our fonts, grid and deterministic SVG, and as it was before afterwards."""
    import matplotlib as mpl

    house: Any = HOUSE
    with mpl.rc_context(house):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """A figure in inches that no global state knows of, so it is freed with its last name."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def curve(axis: "Axes", points: "pd.DataFrame", x: str, style: Style, turn: float = 0.0, label: str = "") -> None:
    """Means over x with their band. Markers stand at every few points; ``turn`` in [0, 1) shifts them along the curve."""
    points = points.sort_values(x)
    error = BAND * points["standard_error"].fillna(0)
    low, high = points["mean"] - error, points["mean"] + error
    alpha = 0.22 if style.emphasised else 0.13
    axis.fill_between(points[x], low, high, color=style.colour, alpha=alpha, linewidth=0, zorder=style.order - 1)
    step = max(1, round(len(points) / MARKERS_ON_A_CURVE))
    marks = style.point | {"markevery": (int(turn * step), step)}
    axis.plot(
        points[x], points["mean"], **style.line, **marks, label=label, clip_on=False
    )  # whole markers at the edges


def points_at(axis: "Axes", points: "pd.DataFrame", x: str, style: Style, aside: float = 0.0, label: str = "") -> None:
    """Means at a few x with error bars. On a logarithmic axis, ``aside`` moves them by that part of a power of ten."""
    error = BAND * points["standard_error"].fillna(0)
    bars: dict[str, Any] = {
        "linewidth": 0,
        "elinewidth": 1.0,
        "capsize": 2,
        "zorder": style.order,
        "color": style.colour,
    }
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.6}  # parts a point from a curve under it
    axis.errorbar(points[x] * 10**aside, points["mean"], yerr=error, **bars, **style.point | edge, label=label)


def level(axis: "Axes", mean: float, error: float, style: Style, label: str = "") -> None:
    """A mean that does not depend on x, with its band."""
    error = 0.0 if error != error else BAND * error
    axis.axhspan(mean - error, mean + error, color=style.colour, alpha=0.12, linewidth=0, zorder=style.order - 1)
    axis.axhline(mean, **style.line, label=label)


def names_at_the_right(figure: "Figure", axis: "Axes", ends: Sequence[tuple[str, Style, float, float]]) -> None:
    """Beside the axes, each method's name with a piece of its line, tied to where its curve (x, y) ends.

    Points without a line have no end: their names stand together at the bottom.

    The axes' limits must be settled before. Their width gives way to the longest name.
    """
    import matplotlib as mpl
    from matplotlib.lines import Line2D

    height = axis.get_position().height * figure.get_figheight() * 72  # in points, as font sizes are
    gap = 1.45 * float(mpl.rcParams["font.size"]) / height
    to_axes = axis.transData + axis.transAxes.inverted()
    starts = [to_axes.transform((x, y)) if style.width else (x, 0.0) for _, style, x, y in ends]
    outside: dict[str, Any] = {"transform": axis.transAxes, "clip_on": False}
    for (name, style, _, _), (x, y), place in zip(ends, starts, spread([y for _, y in starts], gap), strict=True):
        tie: dict[str, Any] = {"color": style.colour, "linewidth": 0.6, "alpha": 0.8}
        if style.width:
            axis.add_line(Line2D([x, 1.008, 1.04], [y, y, place], **tie, **outside))
        axis.add_line(Line2D([1.04, 1.075, 1.11], [place] * 3, **style.line, **style.point, markevery=[1], **outside))
        weight = "bold" if style.emphasised else "normal"
        axis.text(1.125, place, name, va="center", weight=weight, transform=axis.transAxes)
    box = axis.get_position()
    room = 1 - box.x0 - (max(_width(name, style) for name, style, _, _ in ends) + 6) / (figure.get_figwidth() * 72)
    axis.set_position((box.x0, box.y0, room / 1.125, box.height))


def _width(name: str, style: Style) -> float:
    """Of a name in points."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight="bold" if style.emphasised else "normal")
    return float(TextPath((0, 0), name, size=mpl.rcParams["font.size"], prop=font).get_extents().x1)


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """The places nearest to those wanted (in squares) that keep a gap and stay within [0, 1] if they fit there.

    >>> spread([0.5, 0.9, 0.5], 0.2)
    [0.4, 0.9, 0.6]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # without the gaps the places may only not decrease: neighbours that do are pooled
    for rank, i in enumerate(order):
        blocks.append([wanted[i] - rank * gap])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    places = [_mean(block) for block in blocks for _ in block]
    highest = max(0.0, 1 - (len(wanted) - 1) * gap)
    found = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        found[i] = round(min(max(places[rank], 0.0), highest) + rank * gap, 6)
    return found


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def logarithmic(axes: "Axes", side: Literal["x", "y"], low: float, high: float) -> None:
    """A logarithmic axis from low to high with plain numbers at powers of ten: 0.01, 1, 10,000."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set(**{f"{side}scale": "log", f"{side}lim": (low, high)})
    axis = axes.xaxis if side == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(10, numticks=12))
    axis.set_minor_locator(LogLocator(10, subs=range(2, 10), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def plain(value: float) -> str:
    """A number as people write it.

    >>> [plain(v) for v in (0.001, 1.0, 2.5, 10000.0)]
    ['0.001', '1', '2.5', '10,000']
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6f}".rstrip("0").rstrip(".")


def apart(values: Sequence[float]) -> list[float]:
    """Those values whose ticks can be read beside each other; earlier ones go first.

    >>> apart([0.12, 0.01, 0.05, 0.1, 0.2])
    [0.12, 0.01, 0.05, 0.2]
    """
    kept: list[float] = []
    for value in values:
        if all(abs(value - other) > 0.15 * (max(values) - min(values)) for other in kept):
            kept.append(value)
    return kept


def key_below(figure: "Figure", axes: Sequence["Axes"], columns: int = 4) -> None:
    """One legend under all axes: each name once, in the order of its first appearance."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=min(columns, len(found)))
