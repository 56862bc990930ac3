"""Round cut points, as a person would choose them: multiples of 1, 2 or 5 times a power of ten, evenly or by orders of magnitude.

Sums are of fractions: 0.1 + 0.2 would not be round, and the distance from -1e308 to 1e308 is no float.
"""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import count

MANTISSAS = (range(1, 10), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))  # of logarithmic grids, finest first


def even_cuts(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """At most so many multiples of one round step from ``low`` to below ``high``; if ``whole``, integers.

    >>> even_cuts(17.2, 79.9, most=9)
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    >>> even_cuts(0.11, 0.31, most=4)
    [0.15, 0.2, 0.25, 0.3]
    """
    step = _step(low, high, most, whole)
    return _thinned(_floats(step * k for k in _multiples(low, high, step)), most)


def log_cuts(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers from ``low`` (above 0) to ``high``, as many for each order of magnitude.

    >>> log_cuts(1, 3000, most=12)
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for mantissas in MANTISSAS:
        made = [Fraction(m) * Fraction(10) ** e for e in decades for m in mantissas]
        cuts = _floats(x for x in made if low <= x <= high)
        if len(cuts) <= most:
            break
    return _thinned(cuts, most)


def around(low: float, high: float, most: int) -> tuple[float | None, float | None]:
    """Bounds rounded outward to the step that ``even_cuts`` would take; None where that is no float.

    >>> around(17, 88, most=9)
    (10.0, 90.0)
    """
    step = _step(low, high, most, whole=False)
    below, above = step * math.floor(Fraction(low) / step), step * math.ceil(Fraction(high) / step)
    return next(iter(_floats([below])), None), next(iter(_floats([above])), None)


def _step(low: float, high: float, most: int, whole: bool) -> Fraction:
    """The smallest round step with at most ``most`` multiples, and one at least, from low to below high."""
    least = (Fraction(high) - Fraction(low)) / (most + 1)
    first = math.floor(math.log10(least.numerator) - math.log10(least.denominator)) - 1
    steps = (Fraction(m) * Fraction(10) ** exponent for exponent in count(first) for m in (1, 2, 5))
    step = next(s for s in steps if s >= 1 or not whole)
    while len(_multiples(low, high, step)) > most:
        larger = next(steps)
        if not _multiples(low, high, larger):  # take one that has too many, which are thinned
            break
        step = larger
    return step


def _multiples(low: float, high: float, step: Fraction) -> range:
    return range(math.ceil(Fraction(low) / step), math.ceil(Fraction(high) / step))


def _floats(numbers: Iterable[Fraction]) -> list[float]:
    """As floats, each once: numbers that differ by less than floats can tell are one. Some are too large for a float."""
    found = set()
    for number in numbers:
        with suppress(OverflowError):
            found.add(float(number) + 0.0)
    return sorted(found)


def _thinned(cuts: Sequence[float], most: int) -> list[float]:
    """At most so many of them, spread over all."""
    if len(cuts) <= most:
        return list(cuts)
    return [cuts[(2 * i + 1) * len(cuts) // (2 * most)] for i in range(most)]
