"""What the paper's six ways to choose a rule have in common: the split of the budget, two classes, the Gini impurity. And three
of them, with noise by the global sensitivity of the impurity: gl-laplace, gl-gaussian, gl-exponential.

The paper (section IV.B): three operations a node (support check, choice, counts), one of them with a delta, and counts
only for the default, so ``eps_node = eps / (3K - 1)`` and ``delta_node = delta / (K - 1)``. The methods on global
sensitivity need no support check and save that share: ``eps_node = eps / (2K - 1)``.

A tree of depth d has no counts but those of its leaves: on its way a record meets d checks, d choices and one count, so
``eps_node = eps / (2d + 1)``, without the check ``eps / (d + 1)``, and ``delta_node = delta / d``: the paper's remark that the
nodes of a level, which share no record, compose in parallel.

With K - 1 rules and a default, a smooth method asks at most ``3 (K - 1) + 1 = 3K - 2`` queries: one share of the
published split is never spent. It is kept as published.

The no-rule score is noised like every other, as the paper says (the authors' code leaves it bare in the methods on
global sensitivity, which voids Theorem 5 of ``private/noise/noisy_max.py``).

What a choice costs (docs/theory/published.md; S is the smooth sensitivity at the node, c^2 = 2 log(1.25 / delta)):

| name           | scores                     | noise    | price of one choice                          |
|----------------|----------------------------|----------|----------------------------------------------|
| gl-laplace     | -G / (0.5/e)               | Laplace  | range of G <= 1/2, h = 1:             e      |
| gl-exponential | e (1 - G) / (2 * 0.5)      | Gumbel   | range of G <= 1/2, h = 1:             e / 2  |
| gl-gaussian    | -G / (0.5 c / e)           | Gaussian | Theorem 6 with w = e / c                     |
| sm-laplace     | -G / (2 S / e)             | Laplace  | range of G/S, h = 1:     (e/2) range         |
| sm-cauchy      | -G / (6 S / e)             | Cauchy   | range of G/S, h < 0.725: (e/6) h range       |
| noisy-counts   | -(Gini of noisy counts)    | none     | e: the noisy counts themselves are e-DP      |

**Privacy of the first three.** A record that comes or goes changes the Gini impurities of all rules by numbers in one interval
of length 1/2: by (2) of ``impurity.py`` it is ``[-G_max/(n+1), 2 d_max/(n+1)]`` with ``d_max = B/(B+1)`` and ``G_max =
2AB/n^2``, of length 1/2 for n = 1 and n = 2, and of at most ``g(n) + 1/(2(n+1)) <= 1/2`` from n = 3 on (docs/theory/published.md,
Corollary 3). It changes the scores by numbers in one of length ``w = (1/2) / scale``. Noise with a hazard h makes the choice
(h w)-DP by Theorem 5 of ``noise/noisy_max.py``. All scores lie in one such interval, too, so log-concave noise without a bounded
hazard (Gaussian) is priced by Theorem 6 (``noise/distributions.py``).

A noisy maximum with Gumbel noise is the exponential mechanism, so a choice by gl-exponential is of bounded range, too: all scores
change by numbers in an interval of length e/2, and the sum of weights changes all probabilities by one factor.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...accounting.costs import BOUNDED_RANGE, DISCRETE_LAPLACE, PURE, Cost, repeated
from ...accounting.statement import Guarantee
from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.discrete_laplace import scale_for
from ..noise.distributions import Gaussian, Gumbel, Laplace, price_of_bounded_scores
from ..noise.noisy_max import Noise
from .base import GreedyBudget, GreedyMechanism, Settings
from .impurity import gini
from .selector import NoisyMaxSelector

GLOBAL_SENSITIVITY = 0.5  # of the Gini impurity
ROUND_UP = 1.0 + 1e-9  # prices are computed in floating point; round them towards less privacy claimed


def ginis(node: NodeCounts) -> Array:
    """The Gini impurity of every candidate, then of no rule."""
    return gini(node.left, np.column_stack([node.captured, np.zeros_like(node.left)]))


def prices_add_up(budget: GreedyBudget, price: float) -> Guarantee:
    """Where a choice at a node of any size costs ``price``, whatever it is charged. If it is charged no less, charges add up."""
    total = (budget.most_choices * price + float(budget.counts_epsilon)) * ROUND_UP
    charged = budget.charged
    return charged if price <= float(budget.choice_epsilon) and charged.epsilon <= total else Guarantee(total, 0.0)


class Published(GreedyMechanism):
    """One of the paper's methods. Unless it checks the support, a choice costs the same at a node of any size."""

    binary_only = True
    uses_counts_share = False
    counts_together = False  # the paper pays for the counts of each part
    choice_cost = PURE  # of which kind a choice is, for a ledger

    def split(self, settings: Settings) -> GreedyBudget:
        """The paper's; of a tree, an equal share for each query that a record takes part in."""
        queries = (3 if self.needs_support else 2) * settings.max_length - 1
        if settings.tree:
            queries = (2 if self.needs_support else 1) * (settings.max_length - 1) + 1
        node = settings.epsilon / queries
        delta = Fraction(0)
        if self.needs_delta:  # 1/n^2 is put in by the queries, which know n
            delta = Fraction(1) if settings.delta is None else settings.delta
        return GreedyBudget(
            settings,
            choice_epsilon=node,
            counts_epsilon=node,
            check_epsilon=node if self.needs_support else Fraction(0),
            delta=delta,
            choice_delta=delta / max(1, settings.max_length - 1),
        )

    def published(self, settings: Settings) -> Guarantee:
        """The epsilon and delta that were asked for."""
        delta = None if settings.delta is None else float(settings.delta)
        return Guarantee.of(settings.epsilon, delta if self.needs_delta else 0.0)

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """docs/theory/published.md, Theorem 8."""
        return prices_add_up(budget, self._price(budget, candidates))

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """What ``proved`` adds up, as values: choices of one kind, and the class counts of all parts together."""
        price = self._price(budget, candidates)
        each = Fraction(repr(price * ROUND_UP))
        if price <= float(budget.choice_epsilon):
            each = min(each, budget.choice_epsilon)
        counts = repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1)
        return (*repeated(self.choice_cost, each, budget.most_choices), *counts)

    def _price(self, budget: GreedyBudget, candidates: int) -> float:
        selector = self.selector(budget.choice_epsilon, float(budget.choice_delta), 1, candidates)
        return selector.price(0, candidates)


@dataclass(frozen=True)
class GiniOverScale(NoisyMaxSelector):
    """Scores ``-G / scale``."""

    scale: float
    noise: Noise

    def scores(self, node: NodeCounts) -> Array:
        """Standardised; larger is better."""
        return -ginis(node) / self.scale

    def price(self, n: int, rules: int) -> float:
        """At a node of any size."""
        if math.isinf(self.noise.hazard):
            return price_of_bounded_scores(GLOBAL_SENSITIVITY / self.scale, rules + 1, self.noise)
        return self.noise.hazard * GLOBAL_SENSITIVITY / self.scale


class GlLaplace(Published):
    """Laplace noise of scale 0.5 / e; a choice costs e."""

    name = "gl-laplace"

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        return GiniOverScale(GLOBAL_SENSITIVITY * scale_for(epsilon), Laplace())  # rounded up


class GlGaussian(Published):
    """Gaussian noise of standard deviation 0.5 c / e with c^2 = 2 log(1.25 / delta); what is proved has no delta (Theorem 6)."""

    name = "gl-gaussian"
    needs_delta = True

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        c = math.sqrt(2.0 * math.log(1.25 / delta))
        return GiniOverScale(GLOBAL_SENSITIVITY * c / float(epsilon), Gaussian())


class GlExponential(Published):
    """Weights exp(e u / (2 * 0.5)) with utility u = 1 - G; a choice costs e / 2."""

    name = "gl-exponential"
    choice_cost = BOUNDED_RANGE

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        return GiniOverScale(2.0 * GLOBAL_SENSITIVITY / float(epsilon), Gumbel())
