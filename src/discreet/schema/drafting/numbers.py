"""Cut points for a column of numbers, from a public sample."""

import numpy as np

from ..columns import Ignored, Numeric
from .column_profile import ColumnProfile
from .draft import Drafted
from .round_cuts import around, even_cuts, log_cuts

FEW = 8  # different numbers, each of which comes again and again
CODES = "few different integers: if they are codes, not amounts, make it categorical"


def draft_numbers(name: str, profile: ColumnProfile, most: int) -> Drafted:
    """Cuts between all values if they are few, else round ones."""
    finite = profile.finite
    if not len(finite):
        return Drafted(Ignored(name), "no finite numbers in the sample", True)
    low, high = float(finite.min()), float(finite.max())
    whole = bool((np.floor(finite) == finite).all())
    values = np.unique(finite).tolist()
    why = ""
    if low == high:  # the others are infinite
        bounds: tuple[float | None, float | None] = (None, None)
        cuts = [low]
    elif len(values) <= min(FEW, most + 1) and len(finite) >= 5 * len(values):
        cuts, bounds = values[:-1], (low, high)
        why = CODES if whole and len(values) > 2 else ""
    elif whole and high - low <= most:
        cuts, bounds = (
            [low + i for i in range(int(high - low))],
            (low, high),
        )  # also between values that the sample lacks
    else:
        cuts, why = _round_cuts(profile, low, high, most, whole)
        bounds = around(low, high, most)
        if whole and None not in bounds:
            bounds = (float(np.floor(bounds[0])), float(np.ceil(bounds[1])))  # type: ignore[arg-type]
    column = Numeric(name, profile.missing, cuts=tuple(cuts), low=bounds[0], high=bounds[1])
    return Drafted(column, why, why == CODES)


def _round_cuts(profile: ColumnProfile, low: float, high: float, most: int, whole: bool) -> tuple[list[float], str]:
    """Round cuts in the middle 98 % of the values; what lies beyond is told apart by the last ones."""
    if profile.spread is not None:
        zero = [0.0] if low == 0 and most > 1 else []
        cuts = zero + log_cuts(*profile.spread, most - len(zero))
        why = "spread over orders of magnitude, and so are the cuts"
    else:
        first, last = np.quantile(profile.finite, (0.01, 0.99), method="inverted_cdf").tolist()
        if first == last:
            first, last = low, high
        cuts = even_cuts(first, last, most, whole)
        why = ""
    if whole:
        cuts = sorted({float(np.floor(c)) for c in cuts})
    inside = [c for c in cuts if low <= c < high]
    return inside or [low], why  # x <= low is true of some, not of all
