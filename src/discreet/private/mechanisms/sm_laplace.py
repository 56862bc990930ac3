"""sm-laplace: the Gini impurity with Laplace noise, scaled to its smooth sensitivity. The proof is in ``smooth.py``."""

import math
from collections.abc import Sequence
from fractions import Fraction

from ..noise.laplace import LINES, Laplace
from .audit_cases import WholeFit
from .smooth import Smooth, SmoothSelector


class SmLaplace(Smooth):
    """Laplace noise of scale 2 S / e with beta = e / (2 log(2 / delta))."""

    name = "sm-laplace"
    needs_delta = True
    draws_epsilon = Fraction(3, 2)

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> SmoothSelector:
        """Its scale follows the number of records at the node."""
        beta = float(epsilon) / (2.0 * math.log(2.0 / delta))
        return SmoothSelector(epsilon, min_support, beta, 2.0, Laplace(), LINES)

    def audit_fits(self) -> Sequence[WholeFit]:
        """A support that is often missed, and one of the size that COMPAS has."""
        usual = self.needed_parameters | {"max_length": 3}
        return [
            WholeFit("sm-laplace, small support", usual | {"epsilon": 4.0}),
            WholeFit("sm-laplace", usual | {"epsilon": 0.3, "min_support": 250}, hard=(5, 250, 5048)),
        ]
