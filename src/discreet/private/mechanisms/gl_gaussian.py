"""gl-gaussian: the Gini impurity with Gaussian noise, by its global sensitivity. The proof is in ``gini_over_scale.py``."""

import math
from fractions import Fraction

from ..noise.gaussian import Gaussian
from .gini_over_scale import GLOBAL_SENSITIVITY, GiniOverScale
from .published import Published


class GlGaussian(Published):
    """Gaussian noise of standard deviation 0.5 c / e with c^2 = 2 log(1.25 / delta); what is proved has no delta (Theorem 6)."""

    name = "gl-gaussian"
    needs_delta = True
    draws_epsilon = Fraction(12)

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        c = math.sqrt(2.0 * math.log(1.25 / delta))
        return GiniOverScale(GLOBAL_SENSITIVITY * c / float(epsilon), Gaussian())
