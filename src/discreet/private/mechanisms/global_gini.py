"""gl-laplace, gl-gaussian and gl-exponential: the Gini impurity with noise by its global sensitivity, the same at every node.

**Privacy.** A record that comes or goes changes the Gini impurities of all rules by numbers in one interval of length 1/2: by (2)
of ``impurity.py`` it is ``[-G_max/(n+1), 2 d_max/(n+1)]`` with ``d_max = B/(B+1)`` and ``G_max = 2AB/n^2``, of length 1/2 for
n = 1 and n = 2, and of at most ``g(n) + 1/(2(n+1)) <= 1/2`` from n = 3 on (docs/theory.md, Corollary 3). It changes the scores
by numbers in one of length ``w = (1/2) / scale``. Noise with a hazard h makes the choice (h w)-DP by Theorem 5 of
``noise/noisy_max.py``. All scores lie in one such interval, too, so log-concave noise without a bounded hazard (Gaussian) is
priced by Theorem 6 (``noise/distributions.py``).

A noisy maximum with Gumbel noise is the exponential mechanism, so a choice by gl-exponential is of bounded range, too: all scores
change by numbers in an interval of length e/2, and the sum of weights changes all probabilities by one factor.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from ...accounting.costs import BOUNDED_RANGE
from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..noise.discrete_laplace import scale_for
from ..noise.distributions import Gaussian, Gumbel, Laplace, price_of_bounded_scores
from ..noise.noisy_max import Noise
from .published import Published, ginis
from .selector import NoisyMaxSelector

GLOBAL_SENSITIVITY = 0.5  # of the Gini impurity


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
