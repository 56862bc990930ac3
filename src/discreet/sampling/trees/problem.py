"""What a tree is drawn for: where tests are true, class counts, a public prior, and what a leaf is worth.

A tree has the weight

    prior(tree) * exp(rate * score),      score = sum over leaves of g(class counts of the leaf, its label)

where ``rate`` is epsilon and one record more changes g by at most 1, in one direction, in the one leaf that it falls into:

- ``"accuracy"``: g is the number of the leaf's records that have its label (times public class weights of at most 1), a draw has
  labels, and a record raises g by 0 to 1;
- ``"mass"``: g is minus the impurity mass of the leaf (worth.py), leaves have no labels yet, and a record lowers g by 0 to 1.

So a draw in proportion to the weights costs epsilon, once (docs/theory.md, Theorem 20).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...cells.cells import Array
from ...cells.secret import Secret
from ...conditions.tree_prior import TreePrior

ACCURACY, MASS = "accuracy", "mass"
SCORES = (ACCURACY, MASS)


@dataclass(frozen=True, eq=False, repr=False)
class TreeProblem(Secret):
    """Tests over cells, class counts (times class weights), and the prior."""

    truth: npt.NDArray[np.bool_]  # (tests, cells)
    counts: Array  # (classes, cells)
    prior: TreePrior
    rate: float
    score: str = ACCURACY

    @property
    def n_tests(self) -> int:
        """How many tests a split can choose from."""
        return len(self.truth)

    def inside(self, path: Iterable[tuple[int, bool]]) -> npt.NDArray[np.bool_]:
        """Which cells are on the given side of each of these tests."""
        inside = np.ones(self.truth.shape[1], bool)
        for test, side in path:
            inside &= self.truth[test] == side
        return inside

    def turned(self) -> tuple["TreeProblem", npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """The same with other tests: true in fewer cells than not, and rare ones first; which they were, and which were turned.

        Tests without any weight in the prior are left out. This decides only how fast the sums are (sums.py).
        """
        often = self.truth.sum(1) * 2 > self.truth.shape[1]
        inside = self.truth ^ often[:, None]
        order = np.argsort(inside.sum(1), kind="stable")
        order = order[self.prior.tests[order] > 0]
        prior = replace(self.prior, tests=self.prior.tests[order])
        return replace(self, truth=inside[order], prior=prior), order, often[order]

    def within(self, inside: npt.NDArray[np.bool_]) -> "TreeProblem":
        """The same for some of the cells."""
        return replace(self, truth=self.truth[:, inside], counts=self.counts[:, inside])
