"""The evidence of a score card from noisy class counts by column. It sees nothing else: all of this is post-processing.

The evidence of a bin is the logarithm of how much more often a class is found in it than among all records. It is what one
expects of it, given the noisy counts: the noise is known, sampling adds to it, and how much the bins of a column differ is
unknown, so several answers are weighed by how well they explain the column. Bins of a number, which are in order, take small
steps from one to the next (a random walk; with steps in one direction only, it is monotone), others differ from zero
independently. Where there is nothing but noise, little remains.

Evidence lives on a grid of whole points, ten of which double the odds, and sums over it are exact (forward and backward).
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

POINT = np.log(2.0) / 10.0
GRID = POINT * np.arange(-100, 101)  # odds of 1 to 1,024 either way
SPREADS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # of bins that are in no order; of steps between those that are
SIZES = (np.arange(24) + 0.5) / 24  # where the unknown size of a bin is looked at, over what is likely
BARELY = 1e-9  # chances are not below it: a step that the spread forbids is still possible


def evidence(
    noisy: Sequence[Array], scale: float, ordered: Sequence[int | None], monotone: Sequence[int] | None = None
) -> tuple[Array, list[Array]]:
    """Log prior of each class, and for each column the log-evidence, (classes, bins).

    Parameters
    ----------
    noisy : sequence of arrays
        For each column noisy counts, (classes, bins). Every record is in one bin of each column.
    scale : float
        Of the (discrete) Laplace noise of each count; 0 for none.
    ordered : sequence of int or None
        For each column how many of its bins, from the first on, are in order.
    monotone : sequence of int, optional
        For each column +1 if the second of two classes may only get likelier along its ordered bins, -1 if only less
        likely, 0 if nothing is known.
    """
    signs = [0] * len(noisy) if monotone is None else list(monotone)
    log_prior = _log_prior(noisy, scale)
    logits = log_prior - np.log1p(-np.exp(log_prior))
    spread_of_rest = np.sqrt(len(log_prior) - 1.0)  # noise of that many counts
    result = []
    for counts, n_ordered, sign in zip(noisy, ordered, signs, strict=True):
        column = np.empty(counts.shape)
        for k, own in enumerate(counts):
            likely = log_likelihood(own, counts.sum(0) - own, logits[k], scale, scale * spread_of_rest)
            shift = _column(likely, n_ordered or 0, sign if k == 1 else -sign)
            shift = _levelled(shift, np.maximum(counts.sum(0), 0.0), logits[k])
            column[k] = -np.logaddexp(0.0, -logits[k] - shift) - log_prior[k]
        result.append(column)
    return log_prior, result


def _log_prior(noisy: Sequence[Array], scale: float) -> Array:
    """Of each class; where there is nothing but noise, all are alike."""
    totals, times = class_totals(noisy)
    noise, others = scale * times, np.sqrt(len(totals) - 1.0)
    alike = -2.0 * np.log(others)
    rates = []
    for own, rest in zip(totals, totals.sum() - totals, strict=True):
        found = float(np.log(max(own, 1.0) / max(rest, 1.0)))  # the grid is around it, and normal around all alike
        likely = log_likelihood(own[None], rest[None], found, noise, noise * others)
        around = float(np.clip(alike - found, GRID[0], GRID[-1]))
        fits = [_apart(likely, spread, around) for spread in SPREADS]
        rates.append(1.0 / (1.0 + np.exp(-found - float(_averaged(fits)[0]))))
    prior: Array = np.log(np.array(rates) / sum(rates))
    return prior


def class_totals(noisy: Sequence[Array]) -> tuple[Array, float]:
    """Of all columns together, which count the same records: the fewer bins, the less noise. And how many times it is there.

    >>> class_totals([np.array([[3.0, 1.0], [2.0, 2.0]])])
    (array([4., 4.]), 1.4142135623730951)
    """
    bins = np.array([counts.shape[1] for counts in noisy], float)
    weights = 1.0 / bins / (1.0 / bins).sum()
    totals: Array = sum(w * counts.sum(1) for w, counts in zip(weights, noisy, strict=True))
    return totals, float(np.sqrt((weights**2 * bins).sum()))


def log_likelihood(own: Array, rest: Array, logit: float, scale: float, rest_scale: float) -> Array:
    """Of each evidence of the grid, (bins, grid), from counts of a class and of all others, whatever the sizes of the bins.

    Noise and sampling together are taken for Laplace noise of the same variance.
    """
    size = own + rest
    deviation = np.sqrt(2.0 * (scale**2 + rest_scale**2) + np.maximum(size, 1.0))
    low, high = np.maximum(size - 4.0 * deviation, 0.0), np.maximum(size + 4.0 * deviation, deviation)
    sizes = (low[:, None] + (high - low)[:, None] * SIZES)[:, :, None]
    rate = 1.0 / (1.0 + np.exp(-logit - GRID))
    logs = np.zeros((len(own), len(SIZES), len(GRID)))
    for found, expected, noise in ((own, sizes * rate, scale), (rest, sizes * (1.0 - rate), rest_scale)):
        width = np.sqrt(noise**2 + expected / 2.0)
        logs -= np.abs(found[:, None, None] - expected) / width + np.log(width)
    return _log_sum(logs, axis=1)


def _column(likely: Array, n_ordered: int, sign: int) -> Array:
    in_order, others = likely[:n_ordered], likely[n_ordered:]
    return np.concatenate(
        [
            _averaged([_walk(in_order, spread, sign) for spread in SPREADS]) if len(in_order) else np.empty(0),
            _averaged([_apart(others, spread) for spread in SPREADS]) if len(others) else np.empty(0),
        ]
    )


def _averaged(fits: Sequence[tuple[float, Array]]) -> Array:
    """The means under all spreads, weighed by how likely each makes the counts."""
    logs = np.array([log for log, _ in fits])
    weights = np.exp(logs - logs.max())
    mean: Array = weights / weights.sum() @ np.stack([means for _, means in fits])
    return mean


def _apart(likely: Array, spread: float, around: float = 0.0) -> tuple[float, Array]:
    """Bins in no order: independent, normal around zero, or something else."""
    joint = likely + np.log(_start(spread, around))
    logs = _log_sum(joint, axis=1)
    return float(logs.sum()), np.exp(joint - logs[:, None]) @ GRID


def _walk(likely: Array, spread: float, sign: int) -> tuple[float, Array]:
    """Bins in order: how likely their counts are, and the mean evidence of each."""
    steps = _steps(spread, sign)
    top = likely.max(1, keepdims=True)
    chances = np.exp(likely - top) + BARELY**3
    log, reached, ahead = float(top.sum()), [], _start(spread * np.sqrt(len(likely)))
    for chance in chances:
        here = ahead * chance
        log += float(np.log(here.sum()))
        reached.append(here / here.sum())
        ahead = reached[-1] @ steps
    means, back = np.empty(len(likely)), np.ones(len(GRID))
    for i in reversed(range(len(likely))):
        here = reached[i] * back
        means[i] = here @ GRID / here.sum()
        back = steps @ (back * chances[i])
        back /= back.max()
    return log, means


def _start(spread: float, around: float = 0.0) -> Array:
    weights = np.exp(-0.5 * ((GRID - around) / spread) ** 2) + BARELY**3
    start: Array = weights / weights.sum()
    return start


@cache
def _steps(spread: float, sign: int) -> Array:
    """Chances of steps, from row to column: Laplace, so that a number may have its jumps."""
    difference = GRID - GRID[:, None]
    weights = np.exp(-np.abs(difference) * np.sqrt(2.0) / spread)
    weights = (weights / weights.sum(1, keepdims=True) + BARELY) * (sign * difference >= 0.0)
    steps: Array = weights / weights.sum(1, keepdims=True)
    return steps


def _levelled(shift: Array, sizes: Array, logit: float) -> Array:
    """Moved by a constant, so that rates in all bins together are the rate of the class: else errors of many columns add up."""
    sizes = sizes if sizes.sum() else np.ones(len(sizes))
    low, high = -20.0, 20.0
    target = sizes.sum() / (1.0 + np.exp(-logit))
    for _ in range(50):
        middle = (low + high) / 2.0
        rates = 1.0 / (1.0 + np.exp(-logit - shift - middle))
        low, high = (middle, high) if sizes @ rates < target else (low, middle)
    level: Array = shift + (low + high) / 2.0
    return level


def _log_sum(logs: Array, axis: int) -> Array:
    top = logs.max(axis, keepdims=True)
    total: Array = (top + np.log(np.exp(logs - top).sum(axis, keepdims=True))).squeeze(axis)
    return total
