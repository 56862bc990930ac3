"""Gumbel noise of many lists at once, and how it is divided among them.

**Identity** (docs/theory.md, Theorem 17). Give each list x, of prior weight w(x), independent Gumbel noise located at log w(x).
The largest noise of a set of lists is a Gumbel located at log w, w the sum of their weights, and it is that of x with
probability w(x) / w, whatever its size. So it can be drawn before any of the lists is looked at.
"""

import math

import numpy as np
import numpy.typing as npt

from ...counts.cells import Array
from ...counts.secret import Secret
from ..problem import Problem, Sets


def gumbel(location: Array, u: Array) -> Array:
    """Gumbel noise by inversion of uniform numbers."""
    noise: Array = location - np.log(-np.log(u))
    return noise


def share(largest: Array, weight: Array, inherits: npt.NDArray[np.bool_], u: Array) -> Array:
    """The largest noise of children, given that of their parents.

    **Identity.** One child, drawn in proportion to its weight, inherits its parent's maximum m. The largest noise of each other
    child is a free Gumbel g given that it is below m, which has the law of ``-log(exp(-m) + exp(-g))``.
    """
    return np.where(inherits, largest, -np.logaddexp(-largest, -gumbel(weight, u)))


MOST_KNOWN = 100_000


class Completions(Secret):
    """The prior weights of all lists with a common beginning, without a look at them.

    They depend on the beginning only by how many rules of each *kind* it used; rules of a kind have the same prior weight.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        weights, number = np.unique(problem.log_rule, return_inverse=True)
        self._kind = number.ravel()  # of each group
        self._weights = np.exp(weights)  # of each kind
        self._rules_of_kind = np.bincount(self._kind, problem.sizes, len(weights)).astype(int)
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def of_everything(self) -> float:
        """The logarithm of the weight of all lists there are."""
        return self._log_weight((0,) * len(self._weights))

    def after_next(self, sets: Sets) -> Array:
        """(rows, groups): the logarithm of the weight of all that can follow each child, for each of its members."""
        used = np.zeros((len(sets), len(self._weights)), int)
        for column in sets.T:
            used[np.arange(len(sets)), self._kind[column]] += 1
        logs = np.empty((len(sets), len(self._weights)))
        for kind in range(len(self._weights)):
            used[:, kind] += 1
            logs[:, kind] = [self._log_weight(tuple(u)) for u in used.tolist()]
            used[:, kind] -= 1
        return logs[:, self._kind]

    def _log_weight(self, used: tuple[int, ...]) -> float:
        """Kept for the next time. By hand: a cache around a method of this object would hold it in a cycle."""
        if used not in self._known:
            if len(self._known) == MOST_KNOWN:
                self._known.clear()
            self._known[used] = self._compute(used)
        return self._known[used]

    def _compute(self, used: tuple[int, ...]) -> float:
        """The logarithm of the weight of all endings of a beginning, labels included, by which kinds of rules it used.

        **Identity.** Endings of s rules without repetition have s! times the coefficient of x^s in the product over kinds of
        (1 + weight x)^(rules left of that kind).
        """
        t, longest = sum(used), self._problem.longest
        polynomial = np.zeros(longest - t + 1)
        polynomial[0] = 1.0
        scale = float(self._weights.max(initial=1e-300))
        for weight, rules, taken in zip(self._weights / scale, self._rules_of_kind.tolist(), used, strict=True):
            free = max(rules - taken, 0)
            powers = [math.comb(free, s) * weight**s for s in range(longest - t + 1)]
            polynomial = np.convolve(polynomial, powers)[: longest - t + 1]
        terms = [
            self._problem.log_length[t + s]
            + math.lgamma(s + 1)
            + math.log(c)
            + s * math.log(scale * self._problem.n_classes)
            for s, c in enumerate(polynomial)
            if c > 0
        ]
        return float(np.logaddexp.reduce(terms)) + math.log(self._problem.n_classes)
