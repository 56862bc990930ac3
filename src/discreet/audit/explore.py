"""The complete distribution of what a learner returns, from the learner's own code.

The classifier is run as it is, on made-up counts, with another source of randomness: an ``Explorer``. Wherever noise would
decide something (pass a check, choose a rule, draw a list) it takes one way, with the probability that the mechanism gives it,
and in the next run another one, until all ways have been taken. Noisy counts that are released are not enumerated: given
everything else they follow the discrete Laplace distribution around the exact counts, which is written down and integrated
(``shifted_counts``). So what is checked is the code that real fits run: how it splits the budget, which records it takes away,
when it stops. Where all lists or trees are added up, each choice of the sampler is such a decision, too: its own code is run,
sums and all. What is *not* run here: the way from a table to counts, and the code that draws in other ways (``select`` of
mechanisms without exact coins, the envelope for lists, OpenDP). These are level 3's part.

What two distributions over the same outputs lose: an output x has the loss ``log(P(x) / Q(x))``. From the masses of P and their
losses everything else follows:

    delta needed at epsilon  =  sum over x of P(x) (1 - exp(epsilon - loss(x)))_+        (the hockey-stick divergence)
    epsilon at delta         =  the smallest epsilon that needs no more than that delta;  the largest loss if delta is 0
"""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import PrivacyWarning
from ..estimators.base import Learned
from ..estimators.card_learner import LearnedCard
from ..estimators.cards import Cards
from ..private.counts.counts import Counts
from ..private.counts.patterns import Array
from ..private.noise.sums import log_pmf, tail
from ..rules.candidates import NumberedFork, NumberedLeaf, NumberedTree, leaves_of
from .explorer import CardExplorer, Decision, Explorer

Key = tuple[Any, ...]
NEGLIGIBLE = 1e-280  # chances below it are not told from 0


@dataclass
class Output:
    """A way to an output: its probability, the noisy counts that belong to it, and what was charged on it in all."""

    log_p: float
    released: tuple[tuple[int, float], ...]
    charged: float
    decisions: tuple[Decision, ...]
    paid_counts: tuple[float, ...]  # what was charged in all, before each noisy count; these come last


@dataclass
class Distribution:
    """All ways to outputs of a learner on one table; in ``outputs``, those to equal outputs are put together."""

    outputs: dict[Key, Output] = field(default_factory=dict)
    ways: dict[Key, Output] = field(default_factory=dict)


def explore(classifier: Any, counts: Counts) -> Distribution:
    """The complete distribution of an ``explored`` classifier on some counts."""
    classifier.explorer = explorer = CardExplorer() if isinstance(classifier, Cards) else Explorer()
    distribution = Distribution()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        for _ in explorer.paths():
            classifier.fit_counts(counts)
            key = key_of(classifier.learned)
            taken = tuple(explorer.decisions), tuple(explorer.paid_counts)
            way = Output(explorer.log_p, tuple(explorer.released), explorer.charged, *taken)
            distribution.ways[(*key, tuple(decision.arm for decision in explorer.decisions))] = way
            output = distribution.outputs.setdefault(key, replace(way, log_p=-math.inf))
            if output.released != way.released:
                raise RuntimeError(
                    "the same model with counts of other parts: this distribution cannot be written down"
                )
            output.log_p = float(np.logaddexp(output.log_p, way.log_p))
    return distribution


def key_of(learned: Learned | NumberedTree | LearnedCard) -> Key:
    """What was learned but for its counts, as numbers that can be sorted; the second of two is None if no labels were drawn.

    Of a card, all of it: what was computed from counts has to be the same where these came out the same.
    """
    if isinstance(learned, LearnedCard):
        points = [(start, *((i, *p.tolist()) for i, p in card.items())) for start, card in learned.cards]
        return (_tests_of(learned.tree), *map(tuple, learned.columns), *points, *learned.limits, *learned.risks), None
    if isinstance(learned, NumberedLeaf | NumberedFork):
        labels = tuple(leaf.label for _, leaf in leaves_of(learned))
        return _tests_of(learned), None if None in labels else labels
    return tuple(learned.chosen), None if learned.labels is None else tuple(learned.labels)


def _tests_of(tree: NumberedTree) -> Key:
    return () if isinstance(tree, NumberedLeaf) else (tree.test, _tests_of(tree.true), _tests_of(tree.other))


@dataclass(frozen=True)
class Loss:
    """The probabilities of outputs under the first distribution, as logarithms, and their losses against the second."""

    log_mass: Array
    losses: Array

    @property
    def largest(self) -> float:
        """The pure epsilon: the largest loss of an output that can happen."""
        return float(self.losses[self.log_mass > math.log(NEGLIGIBLE)].max(initial=0.0))

    def delta(self, epsilon: float) -> float:
        """The smallest delta for which this direction is (epsilon, delta)-DP."""
        return float((np.exp(self.log_mass) * -np.expm1(np.minimum(epsilon - self.losses, 0.0))).sum())

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for which this direction is (epsilon, delta)-DP."""
        if delta <= 0.0:
            return self.largest
        if self.delta(0.0) <= delta:
            return 0.0
        high = float(self.losses[np.isfinite(self.losses)].max(initial=0.0))
        if self.delta(high) > delta:
            return math.inf
        low = 0.0
        while high - low > 1e-9 * max(1.0, high):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high


def shifted_counts(values: Array, shifted: Array, scales: Array) -> tuple[Array, Array]:
    """What noisy counts add to the loss: (log probability, loss) of each case that can be told apart.

    Discrete Laplace noise around c, against noise around c + d: the loss is ``a d`` up to c, ``-a d`` from c + d on, and in steps
    of ``2a`` between, where a = 1/scale. Counts that do not differ say nothing.
    """
    logs, losses = np.zeros(1), np.zeros(1)
    for value, other, scale in zip(values, shifted, scales, strict=True):
        d, a = round(abs(float(other - value))), 1.0 / float(scale)
        if d == 0:
            continue
        below = math.log1p(-tail(1, a))
        one_logs = np.concatenate([[below], log_pmf(np.arange(1, d), a), [math.log(tail(d, a))]])
        one_losses = a * (d - 2.0 * np.arange(d + 1.0))
        logs = (logs[:, None] + one_logs).ravel()
        losses = (losses[:, None] + one_losses).ravel()
    return logs, losses


def losses(one: Distribution, other: Distribution) -> Loss:
    """The loss of every output of the first distribution against the second, with all distinguishable cases of noisy counts."""
    masses, ratios = [], []
    for key, output in one.outputs.items():
        logs, extra, base = _against(output, other.outputs.get(key))
        masses.append(output.log_p + logs)
        ratios.append(base + extra)
    return Loss(np.concatenate(masses), np.concatenate(ratios))


def uncharged(one: Distribution, other: Distribution) -> float:
    """By how much the loss of a way through the learner exceeds what was charged for it, at any moment."""
    excess = -math.inf
    for key, way in one.ways.items():
        there = other.ways.get(key)
        _, extra, base = _against(way, there)
        excess = max(excess, base + float(extra.max()) - way.charged)
        if there is None or excess == math.inf:
            continue
        here, then = (np.cumsum([0.0, *(d.logs[d.arm] for d in taken.decisions)]) for taken in (way, there))
        apart = np.cumsum([abs(a - b) / scale for (a, scale), (b, _) in zip(way.released, there.released, strict=True)])
        shown = np.append((here - then)[1:], here[-1] - then[-1] + apart)
        charged = [*(d.charged for d in way.decisions), *way.paid_counts]
        excess = max(excess, float((shown - charged).max(initial=-math.inf)))
    return excess


def unpaid_checks(one: Distribution, other: Distribution) -> float:
    """By how much the loss of a single check of the support exceeds what was charged for it, at most."""
    both = [(one.ways[key], other.ways[key]) for key in one.ways.keys() & other.ways.keys()]
    pairs = [pair for a, b in both for pair in zip(a.decisions, b.decisions, strict=True) if pair[0].is_check]
    return max((abs(a.logs[a.arm] - b.logs[b.arm]) - a.charge for a, b in pairs), default=-math.inf)


def _against(output: Output, other: Output | None) -> tuple[Array, Array, float]:
    if other is None:
        return np.zeros(1), np.zeros(1), math.inf
    values, scales = np.array(output.released, float).reshape(-1, 2).T
    shifted, other_scales = np.array(other.released, float).reshape(-1, 2).T
    if len(scales) != len(other_scales) or (scales != other_scales).any():
        return np.zeros(1), np.zeros(1), math.inf  # the amount of noise itself follows the records
    logs, extra = shifted_counts(values, shifted, scales)
    return logs, extra, output.log_p - other.log_p


def differences(one: Array, other: Array) -> Array:
    """How far apart logarithms of probabilities are; what is impossible on both sides does not differ."""
    with np.errstate(invalid="ignore"):
        loss: Array = np.abs(one - other)
    loss[np.isneginf(one) & np.isneginf(other)] = 0.0
    if np.isnan(loss).any():
        raise ArithmeticError("a probability that is not a number")
    return loss


class Finding(NamedTuple):
    """The worst of many pairs of nodes, or of tables of a few records: its loss, what may be lost there, and the two nodes."""

    loss: float
    allowed: float
    pairs: int
    where: str
    delta: float = 0.0

    @property
    def ratio(self) -> float:
        """Above 1 the promise is broken."""
        if self.allowed == 0.0:
            return 0.0 if self.loss < 1e-9 else math.inf
        return self.loss / self.allowed


def worst_of(findings: Iterable[Finding]) -> Finding:
    """The worst of them, with the pairs of all."""
    every = list(findings)
    return max(every, key=lambda f: f.ratio)._replace(pairs=sum(f.pairs for f in every))
