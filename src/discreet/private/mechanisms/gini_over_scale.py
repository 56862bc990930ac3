"""What gl-laplace, gl-gaussian and gl-exponential have in common: the Gini impurity over a scale that is the same at every node.

**Privacy.** A record that comes or goes changes the Gini impurities of all rules by numbers in one interval of length 1/2: by (2)
of ``impurity.py`` it is ``[-G_max/(n+1), 2 d_max/(n+1)]`` with ``d_max = B/(B+1)`` and ``G_max = 2AB/n^2``, of length 1/2 for
n = 1 and n = 2, and of at most ``g(n) + 1/(2(n+1)) <= 1/2`` from n = 3 on (docs/theory.md, Corollary 3). It changes the scores
by numbers in one of length ``w = (1/2) / scale``. Noise with a hazard h makes the choice (h w)-DP by Theorem 5 of
``noise/noisy_max.py``. All scores lie in one such interval, too, so log-concave noise without a bounded hazard (Gaussian) is
priced by Theorem 6.
"""

import math
from dataclasses import dataclass

from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..noise.noisy_max import Noise, price_of_bounded_scores
from .published import ginis
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
