"""Trees: by one private draw over all of them, in stages, or grown level by level; and without privacy the best one."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..accounting.ledger import exact
from ..models.partition import Answer
from ..models.tree import Node, Split, Tree, simplified
from ..private.counts.counts import Counts, Patterns
from ..private.mechanisms.draws import DrawBudget
from ..private.mechanisms.registry import TREE_DRAW
from ..private.queries.best import BestTreeQueries
from ..private.queries.greedy import GreedyTreeQueries
from ..private.queries.trees import TreeQueries, size_for
from ..rules.candidates import Candidates, NumberedFork, NumberedLeaf, NumberedTree, Path, leaves_of, with_leaves
from ..rules.limits import Limits
from ..rules.prior import TreePrior
from ..sources.plan import Needs
from .base import Exact, Limited, Tested, class_weights, majority
from .feasibility import DEEPEST_SUMMED, check_trees, count_draws, count_ranges, tell_trees
from .greedy import GreedyPlan, PrivateGreedy
from .parameters import BEST_TREES, DP_GREEDY_TREES, DP_OPTIMAL_TREES
from .parameters import GINI as GINI
from .plans import Asked, Bar, FitPlan, tree_steps
from .private import PrivateDraws


@dataclass(eq=False, repr=False, kw_only=True)
class Trees(Tested):
    """What classifiers have in common whose model is a tree."""

    max_depth: int = 3

    _kept = "tree_"

    def _set_model(self, candidates: Candidates, learned: NumberedTree) -> None:
        classes = self.classes_.tolist()
        weights = class_weights(getattr(self, "class_weight", None), self.classes_)

        def named(tree: NumberedTree) -> Node:
            if not isinstance(tree, NumberedLeaf):
                (test,) = candidates[tree.test].antecedent
                return Split(test, named(tree.true), named(tree.other))
            counts, label = tree.counts, tree.label
            if label is None:
                assert counts is not None
                label = majority(tuple(w * c for w, c in zip(weights.tolist(), counts, strict=True)))
            return Answer(classes[label], counts)

        # what no record can reach follows from what was drawn, and so costs nothing
        root = simplified(named(learned), candidates.schema)
        self.tree_ = Tree(root, tuple(classes), candidates.schema, self._weights)

    def _limits(self, candidates: Candidates) -> tuple[Limits | None, int]:
        """What every tree keeps to, and how many numbers stand for the weight of a part."""
        limits = Limits.of(self.monotonic_cst, self.forbid, candidates, self.classes_.tolist())
        return limits, count_ranges(len(self.classes_)) if limits and limits.are_about_labels else 1


@dataclass(eq=False, repr=False, kw_only=True)
class DPOptimalTreeClassifier(Trees, PrivateDraws):
    """A decision tree drawn whole with differential privacy: the more records a tree classifies correctly, the likelier it is.

    One draw from ``prior * exp(epsilon * correct)`` over *all* trees up to a depth: no delta, no minimum support, no search, any
    number of classes. The prior halves with each split, so trees stay short where records are few.

    Parameters
    ----------
    max_depth : int, default=3
        The most tests that a record can meet, from 0 to 12. A depth that would take hours is refused, with one that is feasible.
    stages : tuple of int, default=None
        Depths of several draws after each other, in place of ``max_depth``: ``(2, 2)`` draws a tree of depth 2, then one of
        depth 2 in each of its leaves. Each draw gets an equal share of epsilon; the leaves share no records, and so the share is
        paid once for all of them.
    criterion : {"accuracy", "gini"}, default="accuracy"
        What a tree is drawn by: the records that it classifies correctly, or the impurity mass of its leaves, which gives better
        probabilities, and labels from the noisy counts.
    counts_share : float, default=0.1
        As in ``DPOptimalRuleListClassifier``. With ``criterion="gini"`` the counts are needed.
    split : float, default=0.5
        The prior probability that a node is split.
    prior : str or dict, default=None
        Public weights of the tests. None: all alike. "columns": all columns alike, and the tests of one share its weight. A dict:
        weights by column, which each of its tests gets.
    epsilon, schema, infer_schema, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.
    monotonic_cst : dict, default=None
        Public columns, numeric or Boolean, in which every tree that could be drawn rises (+1) or falls (-1):
        ``{"priors_count": +1}`` means that of two records that differ in it alone, the larger value never gets an earlier class,
        in the order of the schema (0: no constraint). It costs nothing. Not in several ``stages``, nor with ``criterion="gini"``.
    forbid : list of tuples, default=()
        Public columns that no way to an answer tests together: ``[("race", "sex")]``. It costs nothing.
    class_weight, time_limit, verbose
        As in ``DPOptimalRuleListClassifier``.

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
    >>> from discreet import DPOptimalTreeClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPOptimalTreeClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 1
    >>> clf.score(data.data, data.target) > 0.6
    True
    """

    _parameters = DP_OPTIMAL_TREES

    stages: Any = None
    criterion: str = "accuracy"
    split: float = 0.5

    def _plan(self, asked: Asked) -> "TreePlan":
        candidates = asked.candidates
        depths = self._depths
        prior = TreePrior.of(self.prior, self.split, candidates)
        limits, ranges = self._limits(candidates)
        budget = DrawBudget.split(self._terms.record_price, exact("counts_share", self.counts_share), len(depths))
        tests, given = int((prior.tests > 0).sum()), "max_depth" if self.stages is None else "stages"
        check_trees(tests, depths, len(self.classes_), given, self.criterion, ranges)
        return TreePlan(
            **self._proved(asked, TREE_DRAW, budget, limits),
            said=tell_trees(tests, depths, len(self.classes_), self.criterion, ranges),
            budget=budget,
            prior=prior,
            class_weights=class_weights(self.class_weight, self.classes_),
            criterion=self.criterion,
            depths=depths,
            limits=limits,
            time_limit=self.time_limit,
        )

    def _needs(self, candidates: Candidates) -> Needs:
        depths = self._depths
        if not 1 <= max(depths) <= DEEPEST_SUMMED:
            return Needs()
        return Needs(together=size_for(depths), parts=count_draws(depths)[-1], passes=len(depths))

    @property
    def _depths(self) -> tuple[int, ...]:
        """The depth of each draw."""
        return (int(self.max_depth),) if self.stages is None else tuple(int(depth) for depth in self.stages)


@dataclass(frozen=True, kw_only=True)
class TreePlan(FitPlan):
    """Optimal trees: one of the depth of the first stage, then one in each of its leaves, and so on."""

    budget: DrawBudget
    prior: TreePrior
    class_weights: np.ndarray
    criterion: str
    depths: Sequence[int]
    limits: Limits | None
    time_limit: float | None

    def queries(self, counts: Counts) -> TreeQueries:
        """Draws and class counts."""
        self._begin(0, 1)
        drawn = self.prior, self.class_weights, self.criterion, self.depths, self.limits
        return TreeQueries(counts, self.candidates, self.budget, *drawn, self.time_limit, self.bar.advance)

    def run(self, queries: TreeQueries) -> NumberedTree:
        """Draw stage by stage, and count the leaves."""
        tree: NumberedTree = NumberedLeaf()
        for stage, depth in enumerate(self.depths):
            if stage:  # how many trees it draws is known from what was drawn
                self._begin(stage, sum(1 for _ in leaves_of(tree)))
            tree = queries.grow(tree, depth)
        return queries.count(tree) if self.budget.counts_epsilon else tree

    def _begin(self, stage: int, draws: int) -> None:
        self.bar.begin(*tree_steps("drawing", int((self.prior.tests > 0).sum()), self.depths, stage, draws))


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalTreeClassifier(Trees, Limited, Exact):
    """The most accurate tree up to a depth, without privacy, with a certificate that there is no better one.

    Parameters
    ----------
    max_depth, criterion
        As in ``DPOptimalTreeClassifier``: the best tree has most records classified correctly, or the least impurity mass.
    schema, exclude
        As in ``GreedyRuleListClassifier``.
    monotonic_cst, forbid
        As in ``DPOptimalTreeClassifier``: the best of the trees that keep to them. Without a schema classes are sorted.
    time_limit, verbose
        As in ``DPOptimalRuleListClassifier``.

    Attributes
    ----------
    tree_ : Tree
        The model. Of equally good trees it is one with the fewest leaves.
    certificate_ : BestScore
        ``score``: the number of training records that the tree classifies correctly (or minus the impurity mass of its leaves),
        ``bound``: what no tree up to the depth exceeds, ``gap``: their difference, 0 but for rounding.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import OptimalTreeClassifier
    >>> from discreet.datasets import load_compas
    >>> X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    >>> clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.certificate_.gap
    0.0
    """

    _parameters = BEST_TREES

    criterion: str = "accuracy"

    def _check(self, candidates: Candidates) -> None:
        public = len(candidates), (int(self.max_depth),), len(self.classes_)
        _, ranges = self._limits(candidates)
        check_trees(*public, "max_depth", self.criterion, ranges)
        if self.verbose:
            print(tell_trees(*public, self.criterion, ranges), file=sys.stderr, flush=True)

    def _learn(self, candidates: Candidates, counts: Patterns) -> NumberedTree:
        depth, (limits, _) = int(self.max_depth), self._limits(candidates)
        prior = TreePrior(0.5, np.full(len(candidates), 1.0 / len(candidates)))
        drawn = prior, np.ones(len(self.classes_)), self.criterion, (depth,), limits, self.time_limit
        with Bar(bool(self.verbose)) as bar:
            bar.begin(*tree_steps("searching for", len(candidates), (depth,)))
            queries = BestTreeQueries(counts, candidates, *drawn, bar.advance)
            tree, self.certificate_ = queries.prepare().find_best(depth)
        return tree


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
