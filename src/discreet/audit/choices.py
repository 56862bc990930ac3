"""Level 1: one choice between two rules and no rule, on all pairs of neighbouring nodes up to a size.

What a mechanism does at a node depends on the class counts there and on how each rule splits them. So *all* nodes of up to some
size are all class counts with all splits, for each rule; a neighbour has one record more, of either class, which each rule
captures or not. For each pair the exact probabilities of the three outcomes are compared.

Equal scores have equal laws, so each law is computed once: tables of millions of pairs come from thousands of integrals.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..private.counts.cells import Array
from ..private.counts.counting import NodeCounts
from ..private.mechanisms.selector import NoisyMaxSelector
from ..private.noise.distributions import Cauchy
from ..private.noise.noisy_max import Noise

ROWS_AT_A_TIME = 2_000
ROUNDING = 1e-11  # scores that differ by less are the same number


class Finding(NamedTuple):
    """The worst of all pairs: its loss, what may be lost there, and the two nodes."""

    loss: float
    allowed: float
    pairs: int
    where: str

    @property
    def ratio(self) -> float:
        """Above 1 the promise is broken."""
        if self.allowed == 0.0:
            return 0.0 if self.loss < 1e-9 else math.inf
        return self.loss / self.allowed


Law = Callable[[Array, Array], Array]
Price = Callable[[int, int], float]
# of one node: all ways to split it, the number of the score of each, and the laws of each pair of scores with no rule
Laws = tuple[dict[tuple[int, ...], int], npt.NDArray[np.intp], Array]


def noisy_max_law(noise: Noise) -> Law:
    """The law of ``argmax (score + noise)`` for rows of three scores, the last without copies, as logarithms.

    ``copies`` says how many rules have the first score and how many the second; what comes out is the chance of one of each. By
    quadrature as in ``distributions.log_prob``, for many rows at once: pieces double in length away from each score.
    """
    points, weights = np.polynomial.legendre.leggauss(16)
    heavy = isinstance(noise, Cauchy)
    steps = np.concatenate([[0.0], 2.0 ** np.arange(-2.0, 44.0 if heavy else 8.0, 2.0 if heavy else 1.0)])

    def law(scores: Array, copies: Array) -> Array:
        top = scores.max(1, keepdims=True)
        scores = scores - top
        order = np.sort(scores, axis=1)
        edges = [order[:, :1] - steps[:0:-1]]
        for low, high in ((order[:, :1], order[:, 1:2]), (order[:, 1:2], order[:, 2:])):
            near = np.minimum(steps, (high - low) / 2.0)
            edges += [low + near, (high - near)[:, ::-1]]
        edges.append(order[:, 2:] + steps)
        cuts = np.concatenate(edges, axis=1)
        half = np.maximum(np.diff(cuts, axis=1)[:, :, None], 0.0) / 2.0  # rounding may put a cut before the last one
        z = (cuts[:, :-1, None] + half + half * points).reshape(len(scores), -1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of scores far apart: a probability of 0
            log_weight = np.log((half * weights).reshape(len(scores), -1))
            shifted = z[:, None, :] - scores[:, :, None]
            log_cdf, log_pdf = noise.log_cdf(shifted), noise.log_pdf(shifted)
            times = np.append(copies, 1.0)[None, :, None]
            others = (times * log_cdf).sum(1, keepdims=True) - log_cdf
            terms = np.where(np.isneginf(log_cdf), -np.inf, others + log_pdf + log_weight[:, None, :])
            highest = terms.max(2, keepdims=True)
            logs: Array = highest[:, :, 0] + np.log(np.exp(terms - highest).sum(2))
        return logs

    return law


def worst_choice(
    selector: NoisyMaxSelector,
    price: Price,
    sizes: Sequence[int],
    law: Law | None = None,
    n_classes: int = 2,
    copies: Sequence[tuple[int, int]] = ((1, 1),),
    thin: bool = False,
) -> Iterator[Finding]:
    """Compare all nodes of each size with all that have one record more; one finding for each size.

    ``price(n, rules)`` is what a choice between so many rules may cost if the smaller node has n records. With ``thin``, for
    large sizes, only nodes with extreme class counts and extreme splits are looked at.
    """
    law = noisy_max_law(selector.noise) if law is None else law
    laws_at = cache(partial(_laws_at, selector, law, thin))
    for size in sizes:
        worst, pairs = Finding(0.0, price(size, sum(copies[0])), 0, ""), 0
        for left, c, both in product(_class_counts(size, n_classes, thin), range(n_classes), copies):
            place, score_of, logs = laws_at(left, both)
            more = tuple(k + (i == c) for i, k in enumerate(left))
            more_place, more_score_of, more_logs = laws_at(more, both)
            captured = list(product(*map(_extremes, left))) if thin else list(place)
            moves = [(place[k], more_place[m]) for k in captured for m in _moves(k, c)]
            pairs += len(moves) ** 2
            before, after = np.array(moves).T
            distinct, first = np.unique(np.stack([score_of[before], more_score_of[after]]), axis=1, return_index=True)
            i, j = distinct
            loss = differences(logs[i[:, None], i[None]], more_logs[j[:, None], j[None]])
            one, two, outcome = np.unravel_index(int(loss.argmax()), loss.shape)
            found = Finding(float(loss[one, two, outcome]), price(size, sum(both)), 0, "")
            if found.ratio > worst.ratio:
                rules = " and ".join(
                    f"{times} x {captured[int(first[r]) // 2]}{', the newcomer too' if first[r] % 2 else ''}"
                    for r, times in zip((one, two), both, strict=True)
                )
                chosen = ("the first", "the second", "no rule")[int(outcome)]
                worst = found._replace(where=f"{left} and {more}; rules capture {rules}; {chosen} is chosen")
        yield worst._replace(pairs=pairs)


def worst_on_grid(laws: Sequence[Array], price: float, where: str) -> Finding:
    """Compare all nodes of a grid with those that have one record more: a step along one of the axes."""
    changes = [np.abs(np.diff(log, axis=axis)) for log in laws for axis in range(log.ndim)]
    loss = max(float(change.max()) for change in changes)
    return Finding(loss, price, sum(change.size for change in changes) // len(laws), where)


def differences(one: Array, other: Array) -> Array:
    """How far apart logarithms of probabilities are; what is impossible on both sides does not differ."""
    with np.errstate(invalid="ignore"):
        loss: Array = np.abs(one - other)
    loss[np.isneginf(one) & np.isneginf(other)] = 0.0
    if np.isnan(loss).any():
        raise ArithmeticError("a probability that is not a number")
    return loss


def _extremes(k: int) -> set[int]:
    """Numbers from 0 to k that are looked at where not all are: none, one, half, all but one, all."""
    return {0, min(1, k), k // 2, max(0, k - 1), k}


def _reached(k: int) -> set[int]:
    """What the extremes of k - 1 become: the same, or one more."""
    return set() if k == 0 else _extremes(k - 1) | {i + 1 for i in _extremes(k - 1)}


def _moves(captured: tuple[int, ...], c: int) -> tuple[tuple[int, ...], ...]:
    """What a rule captures after a record of class c has come: the same, or that too."""
    return captured, tuple(k + (i == c) for i, k in enumerate(captured))


def _class_counts(size: int, n_classes: int, thin: bool) -> Iterator[tuple[int, ...]]:
    if thin:
        for rest in sorted({0, 1, size // 20, size // 4, size // 2, size - 1, size} & set(range(size + 1))):
            yield (size - rest, rest)
        return
    for head in product(range(size + 1), repeat=n_classes - 1):
        if sum(head) <= size:
            yield (*head, size - sum(head))


def _laws_at(selector: NoisyMaxSelector, law: Law, thin: bool, left: tuple[int, ...], copies: tuple[int, int]) -> Laws:
    splits = list(product(*((_extremes(k) | _reached(k)) if thin else range(k + 1) for k in left)))
    node = NodeCounts(np.array(left, float), np.array(splits, float).T.reshape(len(left), -1))
    scores = selector.scores(node)
    distinct, index = np.unique(np.round(scores / ROUNDING) * ROUNDING, return_inverse=True)
    value = np.array([scores[np.flatnonzero(index == k)[0]] for k in range(len(distinct))])
    i, j = np.triu_indices(len(value)) if copies[0] == copies[1] else np.indices((len(value),) * 2).reshape(2, -1)
    rows = np.column_stack([value[i], value[j], np.full(len(i), scores[-1])])
    times = np.array(copies, float)
    parts = [law(rows[k : k + ROWS_AT_A_TIME], times) for k in range(0, len(rows), ROWS_AT_A_TIME)]
    table = np.empty((len(value), len(value), 3))
    table[i, j] = np.concatenate(parts)
    if copies[0] == copies[1]:
        table[j, i] = table[i, j][:, [1, 0, 2]]
    return {split: k for k, split in enumerate(splits)}, index[:-1], table
