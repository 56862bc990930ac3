"""How each method is drawn: one colour, marker and line style, the same in every figure, and told apart in grey too."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Okabe and Ito's colours, which people with any colour vision tell apart. Their yellow is not: nobody reads it on white.
BLACK, GREY = "#000000", "#777777"
BLUE, SKY, GREEN, ORANGE, VERMILION, PURPLE = "#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"
OCHRE = "#8C7A00"  # instead of the yellow
INDIGO = "#3B1F8F"  # darker than all others

SOLID, DASHED, DOTTED, DASH_DOT = (0, ()), (0, (5, 2)), (0, (1, 1.4)), (0, (5, 1.6, 1, 1.6))
LONG_DASHED, DASH_DOT_DOT = (0, (9, 2.5)), (0, (4, 1.4, 1, 1.4, 1, 1.4))

Dashes = tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class Style:
    """How a method is drawn."""

    colour: str
    marker: str
    dashes: Dashes
    width: float = 1.1
    order: int = 2  # what is drawn later is on top

    @property
    def line(self) -> dict[str, Any]:
        """Keywords for matplotlib's ``plot``, without the marker."""
        return {"color": self.colour, "linestyle": self.dashes, "linewidth": self.width, "zorder": self.order}

    @property
    def point(self) -> dict[str, Any]:
        """Keywords for the marker: filled for the emphasised methods and those that have no line, hollow for the others."""
        inside = self.colour if self.emphasised or not self.width else "white"
        size = {"*": 8.5, "x": 5.5, "+": 7}.get(self.marker, 5.5) + (0 if self.width else 1.5)
        return {"marker": self.marker, "markersize": size, "markerfacecolor": inside, "markeredgecolor": self.colour}

    @property
    def emphasised(self) -> bool:
        """Is it one of the methods that the reader should look at first?"""
        return self.width > 2


KNOWN = {
    "GreedyRL": Style(BLACK, "", LONG_DASHED, 1.3, order=3),
    "optimal trees": Style(INDIGO, "d", SOLID, 2.4, order=6),
    "optimal lists": Style(VERMILION, "o", SOLID, 2.4, order=6),
    "mass": Style(BLUE, "s", SOLID, 2.4, order=5),
    "sm-laplace": Style(GREEN, "^", DASHED, 1.4, order=4),
    "sm-cauchy": Style(PURPLE, "v", DASHED),
    "gl-laplace": Style(SKY, "D", DASH_DOT),
    "gl-gaussian": Style(ORANGE, "+", DOTTED, 1.4),
    "gl-exponential": Style(GREY, "x", DASH_DOT_DOT),
    "noisy-counts": Style(OCHRE, "h", DASHED),
    "inverse": Style(ORANGE, "h", DASH_DOT, 1.4),
    "purity": Style(OCHRE, "p", SOLID, 1.4),
    "best tree": Style(INDIGO, "", LONG_DASHED, 1.3, order=3),
    "greedy trees, mass": Style(BLUE, "p", SOLID, 1.6, order=5),
    "greedy trees, sm-laplace": Style(GREEN, "^", DASH_DOT, 1.4, order=4),
    "forest, parts": Style(VERMILION, "<", SOLID, 1.4, order=4),
    "forest, greedy parts": Style(SKY, "<", DASHED, 1.4),
    "forest, shares": Style(ORANGE, ">", DASHED, 1.4),
    "forest, columns": Style(PURPLE, ">", DASH_DOT, 1.4),
    "random forest, smooth": Style(GREY, "X", DASHED, 1.4),
    "random forest, proved": Style(BLACK, "P", DOTTED, 1.4),
    # classifiers of other libraries: black points without a line, told apart by their shapes
    "DP-EBM": Style(BLACK, "*", SOLID, 0, order=7),
    "diffprivlib tree": Style(BLACK, "<", SOLID, 0, order=7),
    "diffprivlib forest": Style(BLACK, "P", SOLID, 0, order=7),
    "diffprivlib logistic": Style(BLACK, "X", SOLID, 0, order=7),
    "smooth sensitivity": Style(GREEN, "^", SOLID, 1.8),
    "global sensitivity": Style(SKY, "D", SOLID, 1.8),
}
# For methods that are not known. The three numbers have no factor in common, so neighbours differ in everything.
_COLOURS = (OCHRE, PURPLE, SKY, ORANGE, GREEN, VERMILION, BLUE)
_MARKERS, _DASHES = ("*", "d", "<", ">", "p"), (SOLID, DASH_DOT, DASHED, DOTTED)


def styles(methods: Iterable[str]) -> dict[str, Style]:
    """A style for each method. Those without one of their own get one that no other has, in alphabetical order.

    "mass, something" keeps the colour of "mass".

    >>> found = styles(["mass", "DP-EBM", "my method", "mass, twice"])
    >>> len({(s.colour, s.marker, s.dashes) for s in found.values()})
    4
    >>> found["mass, twice"].colour == found["mass"].colour
    True
    """
    found: dict[str, Style] = {}
    taken = {(s.colour, s.marker, s.dashes) for s in KNOWN.values()}
    for name in sorted(set(methods)):
        found[name] = KNOWN.get(name) or next(s for s in _spare(name) if (s.colour, s.marker, s.dashes) not in taken)
        taken.add((found[name].colour, found[name].marker, found[name].dashes))
    return found


def _spare(name: str) -> Iterator[Style]:
    family = KNOWN.get(name.split(",")[0])
    colours = (family.colour,) if family else _COLOURS
    return map(Style, *map(itertools.cycle, (colours, _MARKERS, _DASHES)))


# A page is 7 inches wide in print; numbers are written out (0.01, not a power), so nothing needs a formula's fonts.
HOUSE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # the one that comes with matplotlib, so that figures are the same everywhere
    "font.size": 9.5,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.unicode_minus": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "text.color": "#222222",
    "axes.labelcolor": "#222222",
    "legend.frameon": False,
    "legend.handlelength": 3.0,
    "legend.columnspacing": 1.5,
    "legend.handletextpad": 0.6,
    "lines.markeredgewidth": 1.1,
    "svg.fonttype": "none",
    "svg.hashsalt": "discreet",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}
