"""gl-exponential: the exponential mechanism on the Gini impurity. The proof is in ``gini_over_scale.py``.

A noisy maximum with Gumbel noise is the exponential mechanism (``noise/gumbel.py``), so the choice is of bounded range, too: all
scores change by numbers in an interval of length e/2, and the sum of weights changes all probabilities by one factor.
"""

from fractions import Fraction

from ...accounting.costs import BOUNDED_RANGE
from ..noise.gumbel import Gumbel
from .gini_over_scale import GLOBAL_SENSITIVITY, GiniOverScale
from .published import Published


class GlExponential(Published):
    """Weights exp(e u / (2 * 0.5)) with utility u = 1 - G; a choice costs e / 2."""

    name = "gl-exponential"
    draws_epsilon = Fraction(6)
    choice_cost = BOUNDED_RANGE

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> GiniOverScale:
        """The same at every node."""
        return GiniOverScale(2.0 * GLOBAL_SENSITIVITY / float(epsilon), Gumbel())
