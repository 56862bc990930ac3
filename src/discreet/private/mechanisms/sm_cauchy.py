"""sm-cauchy: the Gini impurity with Cauchy noise, scaled to its smooth sensitivity. The proof is in ``smooth.py``."""

from collections.abc import Sequence
from fractions import Fraction

from ..noise.cauchy import Cauchy
from ..noise.noisy_max import HAZARD_ONLY
from .audit_cases import WholeFit
from .smooth import Smooth, SmoothSelector

GAMMA = 2.0


class SmCauchy(Smooth):
    """Cauchy noise of scale 2 (gamma + 1) S / e with beta = e / (2 (gamma + 1)), gamma = 2."""

    name = "sm-cauchy"
    draws_epsilon = Fraction(15)

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""
        factor = 2.0 * (GAMMA + 1.0)
        return SmoothSelector(epsilon, min_support, float(epsilon) / factor, factor, Cauchy(), HAZARD_ONLY)

    def audit_fits(self) -> Sequence[WholeFit]:
        """A support of the size that COMPAS has."""
        parameters = self.needed_parameters | {"epsilon": 0.3, "max_length": 3, "min_support": 250}
        return [WholeFit("sm-cauchy", parameters, hard=(5, 250, 5048))]
