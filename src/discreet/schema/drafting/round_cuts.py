"""Cut points that a person would have chosen: multiples of 1, 2 or 5 times a power of ten, evenly or by orders of magnitude.

Sums are of fractions: 0.1 + 0.2 would not be round, and the distance from -1e308 to 1e308 is no float.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

MANTISSAS = (
    (1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)  # of logarithmic grids, finest first


def even_cuts(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """At most so many multiples of one round step from ``low`` to below ``high``; if ``whole``, integers.

    >>> even_cuts(17.2, 79.9, most=9)
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    >>> even_cuts(0.11, 0.31, most=4)
    [0.15, 0.2, 0.25, 0.3]
    """
    step = _step(low, high, most, whole)
    return _thinned(_floats(step * k for k in range(_up(low, step), _up(high, step))), most)


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
    return _float(step * _down(low, step)), _float(step * _up(high, step))


def _step(low: float, high: float, most: int, whole: bool) -> Fraction:
    """The smallest round step with at most ``most`` multiples, and one at least, from low to below high."""
    distance = Fraction(high) - Fraction(low)
    steps = _round_numbers(math.floor(_log10(distance / (most + 1))) - 1)
    found = None
    for step in steps:
        if whole and step < 1:
            continue
        count = _up(high, step) - _up(low, step)
        if found is not None and count < 1:
            return found  # a larger one would have none: take one that has too many, which are thinned
        found = step
        if count <= most:
            return step
    raise AssertionError("round numbers do not end")


def _round_numbers(exponent: int) -> Iterator[Fraction]:
    while True:
        yield from (Fraction(m) * Fraction(10) ** exponent for m in (1, 2, 5))
        exponent += 1


def _log10(x: Fraction) -> float:
    return (math.log(x.numerator) - math.log(x.denominator)) / math.log(10)


def _up(x: float, step: Fraction) -> int:
    return math.ceil(Fraction(x) / step)


def _down(x: float, step: Fraction) -> int:
    return math.floor(Fraction(x) / step)


def _float(x: Fraction) -> float | None:
    try:
        return float(x) + 0.0
    except OverflowError:
        return None


def _floats(numbers: Iterator[Fraction]) -> list[float]:
    """As floats, each once: numbers that differ by less than floats can tell are one."""
    return sorted({x for number in numbers if (x := _float(number)) is not None})


def _thinned(cuts: Sequence[float], most: int) -> list[float]:
    """At most so many of them, spread over all."""
    if len(cuts) <= most:
        return list(cuts)
    return [cuts[(2 * i + 1) * len(cuts) // (2 * most)] for i in range(most)]
