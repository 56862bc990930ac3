"""The classifiers that choose whole trees: by one private draw, or stage by stage; and without privacy the best there is."""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np

from ..accounting.ledger import Ledger, Reservation, exact
from ..models.model import Model
from ..models.partition import Answer
from ..models.tree import Node, Split, Tree, simplified
from ..private.mechanisms.registry import WHOLE_TREES
from ..private.mechanisms.whole_lists import DrawBudget
from ..private.noise.entropy import Entropy
from ..private.queries.exact import find_best_tree
from ..private.queries.summed_doors import SummedTreeDoors, size_for
from ..private.queries.tree_doors import TreeDoors
from ..private.queries.tuple_vault import TupleVault
from ..private.queries.vault import Vault
from ..rules.candidates import Candidates
from ..rules.limits import Limits
from ..rules.numbered_tree import Leaf, NumberedTree
from ..rules.tree_prior import TreePrior
from ..schema import Schema
from ..sources.plan import Needs
from .algorithms.greedy import majority
from .algorithms.trees import (
    DEEPEST_SUMMED,
    DrawsTrees,
    check_feasible,
    count_draws,
    count_ranges,
    whole_tree,
)
from .base import Classifier, class_weights, fill_cells, refuse
from .parameters import BEST_TREES, DP_WHOLE_TREES
from .parameters import BY_MASS as BY_MASS
from .private import Priced, PrivateClassifier
from .progress import Bar, estimate, steps_of_trees


class Trees(Classifier):
    """What classifiers have in common whose model is a tree."""

    tree_: Tree
    candidates = None  # the tests follow from the schema

    @property
    def model_(self) -> Model:
        """What was learned, under one name for all kinds of models. There is none before ``fit``."""
        return self.tree_

    def _candidates(self, schema: Schema) -> Candidates:
        return splits_of(schema)

    def _set_model(self, candidates: Candidates, learned: NumberedTree) -> None:
        classes = self.classes_.tolist()
        weights = class_weights(getattr(self, "class_weight", None), self.classes_)

        def named(tree: NumberedTree) -> Node:
            if not isinstance(tree, Leaf):
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

    def _limits(self, candidates: Candidates) -> Limits | None:
        """What every tree keeps to."""
        return Limits.of(self.monotone, self.forbid, candidates, self.classes_.tolist())


class DPOptimalTreeClassifier(Trees, PrivateClassifier):
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
    criterion : {"accuracy", "mass"}, default="accuracy"
        What a tree is drawn by: the records that it classifies correctly, or the impurity mass of its leaves, which gives better
        probabilities, and labels from the noisy counts.
    counts_share : float, default=0.1
        As in ``DPOptimalRuleListClassifier``. With ``criterion="mass"`` the counts are needed.
    split : float, default=0.5
        The prior probability that a node is split.
    prior : str or dict, default=None
        Public weights of the tests. None: all alike. "columns": all columns alike, and the tests of one share its weight. A dict:
        weights by column, which each of its tests gets.
    epsilon, schema, infer_schema, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.
    monotone : dict, default=None
        Public columns, numeric or Boolean, in which every tree that could be drawn rises (+1) or falls (-1):
        ``{"priors_count": +1}`` means that of two records that differ in it alone, the larger value never gets an earlier class,
        in the order of the schema. It costs nothing. Not in several ``stages``, and not with ``criterion="mass"``.
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

    _parameters = DP_WHOLE_TREES

    def __init__(
        self,
        epsilon: float = 1.0,
        max_depth: int = 3,
        stages: Any = None,
        criterion: str = "accuracy",
        counts_share: float = 0.1,
        split: float = 0.5,
        class_weight: Any = None,
        prior: Any = None,
        schema: Schema | None = None,
        infer_schema: bool = False,
        exclude: Any = (),
        records_per_person: int = 1,
        ledger: Ledger | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        verbose: bool = False,
        monotone: Any = None,
        forbid: Any = (),
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.stages = stages
        self.criterion = criterion
        self.counts_share = counts_share
        self.split = split
        self.class_weight = class_weight
        self.prior = prior
        self.schema = schema
        self.infer_schema = infer_schema
        self.exclude = exclude
        self.records_per_person = records_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.time_limit = time_limit
        self.verbose = verbose
        self.monotone = monotone
        self.forbid = forbid

    def _price(self, candidates: Candidates, drafted: bool) -> Priced:
        depths = self._depths
        prior = TreePrior.of(self.prior, self.split, candidates)
        weights = class_weights(self.class_weight, self.classes_)
        limits = self._limits(candidates)
        budget = DrawBudget.split(self._terms.record_price, exact("counts_share", self.counts_share), len(depths))
        because = self._reasons_for_no_proof(candidates.schema, drafted)
        proved = None if because else WHOLE_TREES.proved(budget)
        tests = int((prior.tests > 0).sum())
        given = "max_depth" if self.stages is None else "stages"
        ranges = count_ranges(limits)
        check_feasible(tests, depths, len(self.classes_), given, self.criterion, ranges)

        promise = self._promise(WHOLE_TREES.name, None, proved, because, costs=WHOLE_TREES.costs(budget))
        promise = replace(promise, limits=limits.said if limits else ())
        said = estimate(tests, depths, len(self.classes_), self.criterion, ranges) if self.verbose else ""

        bar = Bar(bool(self.verbose), steps_of_trees("drawing", tests, depths))

        def prepare(vault: Vault) -> Vault | SummedTreeDoors:
            bar.begin_stage(0, 1)
            if not isinstance(vault, TupleVault):
                return vault
            own = vault, candidates, budget, prior, weights, self.criterion, depths
            return SummedTreeDoors(*own, self.time_limit, bar.advance, limits)

        def draw(vault: Vault | SummedTreeDoors, reservation: Reservation, entropy: Entropy) -> NumberedTree:
            if isinstance(vault, SummedTreeDoors):
                doors: DrawsTrees = vault.open(reservation, entropy)
            else:
                given = vault, candidates, budget, prior, weights, reservation, entropy
                doors = self._doors(*given, bar.advance, limits)
            return whole_tree(
                doors, depths, budget.counts_epsilon > 0, lambda i, n: bar.begin_stage(i, n) if i else None
            )

        return Priced(promise, Fraction(0), draw, said, prepare, bar)

    def _needs(self, candidates: Candidates) -> Needs:
        depths = self._depths
        if not 1 <= max(depths) <= DEEPEST_SUMMED:
            return Needs()
        return Needs(together=size_for(depths), parts=count_draws(depths)[-1], passes=len(depths))

    def _doors(
        self,
        vault: Vault,
        candidates: Candidates,
        budget: DrawBudget,
        prior: TreePrior,
        weights: np.ndarray,
        reservation: Reservation,
        entropy: Entropy,
        progress: Callable[[int], None],
        limits: Limits | None,
    ) -> TreeDoors:
        return TreeDoors(
            *(vault, candidates, budget, prior, weights, self.criterion, reservation, entropy),
            time_limit=self.time_limit,
            progress=progress,
            limits=limits,
        )

    @property
    def _depths(self) -> tuple[int, ...]:
        """The depth of each draw."""
        return (int(self.max_depth),) if self.stages is None else tuple(int(depth) for depth in self.stages)


class OptimalTreeClassifier(Trees):
    """The most accurate tree up to a depth, without privacy, with a certificate that there is no better one.

    Parameters
    ----------
    max_depth, criterion
        As in ``DPOptimalTreeClassifier``: the best tree has most records classified correctly, or the least impurity mass.
    schema, exclude
        As in ``GreedyRuleListClassifier``.
    monotone, forbid
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

    def __init__(
        self,
        max_depth: int = 3,
        criterion: str = "accuracy",
        schema: Schema | None = None,
        exclude: Any = (),
        time_limit: float | None = None,
        verbose: bool = False,
        monotone: Any = None,
        forbid: Any = (),
    ) -> None:
        self.max_depth = max_depth
        self.criterion = criterion
        self.schema = schema
        self.exclude = exclude
        self.time_limit = time_limit
        self.verbose = verbose
        self.monotone = monotone
        self.forbid = forbid

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a tree from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        labels = self._labels(y, len(table))
        candidates = self._candidates(self._schema_for(table))
        depth = int(self.max_depth)
        limits = self._limits(candidates)
        public = len(candidates), (depth,), len(self.classes_)
        check_feasible(*public, "max_depth", self.criterion, count_ranges(limits))
        if self.verbose:
            print(estimate(*public, self.criterion, count_ranges(limits)), file=sys.stderr, flush=True)
        cells = fill_cells(table, labels, candidates, len(self.classes_), self._strict)
        with Bar(bool(self.verbose), steps_of_trees("searching for", len(candidates), (depth,))) as bar:
            bar.begin_stage(0, 1)
            tree, self.certificate_ = find_best_tree(
                cells, candidates, depth, self.criterion, self.time_limit, bar.advance, limits
            )
        self._set_model(candidates, tree)
        return self


@lru_cache(maxsize=32)
def splits_of(schema: Schema) -> Candidates:
    """What a split may ask. The same object for the same schema, as in private.py."""
    return Candidates.of_tests(schema)
