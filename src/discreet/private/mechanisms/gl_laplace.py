"""gl-laplace: the Gini impurity with Laplace noise, by its global sensitivity. The proof is in ``gini_over_scale.py``."""

from fractions import Fraction

from ..noise.discrete_laplace import scale_for
from ..noise.laplace import Laplace
from .gini_over_scale import GLOBAL_SENSITIVITY, GiniOverScale
from .published import Published


class GlLaplace(Published):
    """Laplace noise of scale 0.5 / e; a choice costs e."""

    name = "gl-laplace"
    draws_epsilon = Fraction(3)

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        return GiniOverScale(GLOBAL_SENSITIVITY * scale_for(epsilon), Laplace())  # rounded up
