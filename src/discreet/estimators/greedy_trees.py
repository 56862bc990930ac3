"""The private classifier that grows a tree level by level, by any mechanism of the greedy learner."""

from dataclasses import dataclass

from ..private.counts.counts import Counts
from ..private.queries.greedy import GreedyTreeQueries
from ..rules.numbered_tree import NumberedFork, NumberedLeaf, NumberedTree, Path, with_leaves
from .greedy import GreedyPlan, PrivateGreedy
from .parameters import DP_GREEDY_TREES
from .plans import Asked
from .trees import Trees


@dataclass(eq=False, repr=False, kw_only=True)
class DPGreedyTreeClassifier(Trees, PrivateGreedy):
    """A decision tree grown greedily with differential privacy, by one of our mechanisms, or one of the paper's six.

    Level by level, each node is split by the test that leaves its records purest, or not at all. The nodes of a level share no
    record, so a level costs what a node does: epsilon is split over the levels and the class counts of the leaves. A tree that
    is drawn whole (``DPOptimalTreeClassifier``) is split over nothing, and usually more accurate; this one is feasible with any
    number of tests, and shows what the paper's methods are worth for trees.

    Parameters
    ----------
    max_depth : int, default=3
        As in ``DPOptimalTreeClassifier``. With each level there is less of epsilon for the others.
    epsilon, mechanism, delta, min_support, confidence, counts_share
        As in ``DPGreedyRuleListClassifier``; the support is that of a node to be split, and the class counts are those of the
        leaves. The published methods pay for them what they pay for a choice.
    schema, infer_schema, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.

    Attributes
    ----------
    tree_ : Tree
        The model, with noisy class counts, without tests that cannot matter.
    privacy_ : PrivacyStatement
        What it promises.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import DPGreedyTreeClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPGreedyTreeClassifier(epsilon=1.0, max_depth=2, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 1
    >>> clf.score(data.data, data.target) > 0.55
    True
    """

    _parameters = DP_GREEDY_TREES

    def _plan(self, asked: Asked) -> GreedyPlan:
        return self._greedy_plan(GreedyTreePlan, asked, int(self.max_depth) + 1, tree=True)


class GreedyTreePlan(GreedyPlan):
    """A greedy tree: a choice for each level, and class counts of the leaves."""

    def queries(self, counts: Counts) -> GreedyTreeQueries:
        """What is asked of each level."""
        return GreedyTreeQueries(counts, self.candidates, self.mechanism, self.budget)

    def run(self, queries: GreedyTreeQueries) -> NumberedTree:
        """Level by level."""
        return greedy_tree(queries, self.budget.settings.max_length - 1)


def greedy_tree(queries: GreedyTreeQueries, max_depth: int) -> NumberedTree:
    """Split up to ``max_depth`` levels, the nodes of each at once; then count.

    A node that was not split stays a leaf. Mechanisms on global sensitivity do not check the support: their queries let all pass.
    """
    tree: NumberedTree = NumberedLeaf()
    level: list[Path] = [()]
    for _ in range(max_depth):
        large = [path for path, enough in zip(level, queries.exceed(level), strict=True) if enough]
        tests = {path: test for path, test in zip(large, queries.select(large), strict=True) if test is not None}
        if not tests:
            break
        tree = _split(tree, tests)
        level = [(*path, (test, side)) for path, test in tests.items() for side in (True, False)]
    return queries.count(tree)


def _split(tree: NumberedTree, tests: dict[Path, int]) -> NumberedTree:
    """The tree with a test at some of its leaves."""
    return with_leaves(
        tree, lambda path, leaf: NumberedFork(tests[path], NumberedLeaf(), NumberedLeaf()) if path in tests else leaf
    )
