"""Optimal rule lists: by one private draw over all of them, and without privacy the best one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..accounting.ledger import exact
from ..private.counts.counts import Counts, Patterns
from ..private.mechanisms.draws import DrawBudget
from ..private.mechanisms.registry import RULE_LIST_DRAW
from ..private.queries.best import find_best_list
from ..private.queries.lists import ListQueries
from ..rules.candidates import Candidates
from ..rules.limits import Limits
from ..rules.prior import Prior
from ..sources.plan import Needs
from .base import Exact, Learned, Limited, RuleLists, class_weights
from .feasibility import check_lists, count_ranges, draws_of, is_summed, tell_lists
from .parameters import BEST_LISTS, DP_OPTIMAL_LISTS
from .plans import Asked, Bar, FitPlan
from .private import PrivateDraws

NOT_SUMMED = (
    "monotonic_cst and forbid need lists that are added up completely: rules of one literal (max_literals=1), at most three a "
    "draw (max_length=4 or less; a private learner may also draw three at a time, rules_per_draw=3), and not too many "
    "candidates (exclude, coarser columns). Or learn a tree, which takes them at any depth. See docs/optimal.md"
)


class OptimalLists(RuleLists):
    """What classifiers have in common that choose among all lists."""

    max_length: int
    rules_per_draw: int | None = None

    def _limits(self, candidates: Candidates) -> tuple[Limits | None, int]:
        """What every list keeps to, and how many numbers stand for the weight of a part: with any limits it is kept by ranges."""
        limits = Limits.of(self.monotonic_cst, self.forbid, candidates, self.classes_.tolist())
        return limits, 1 if limits is None else count_ranges(len(self.classes_))

    def _is_summed(self, candidates: Candidates) -> bool:
        """Whether all lists are added up, or an envelope is drawn from: both have the same distribution. From public numbers."""
        if (candidates.members >= 0).sum(1).max() > 1:
            return False
        bins, rules = [c.n_bins for c in candidates.columns], max(self._sizes)
        return is_summed(len(candidates), bins, rules, len(self.classes_), self._limits(candidates)[1])

    @property
    def _sizes(self) -> list[int]:
        """How many rules each draw may add."""
        return draws_of(int(self.max_length) - 1, self.rules_per_draw)

    def _check(self, candidates: Candidates) -> None:
        """Refuse, before any record is read, what takes too long."""
        check_lists(len(candidates), int(self.max_length), self.rules_per_draw, isinstance(self, PrivateDraws))
        if self._limits(candidates)[0] is not None and not self._is_summed(candidates):
            raise ValueError(NOT_SUMMED)


@dataclass(eq=False, repr=False, kw_only=True)
class DPOptimalRuleListClassifier(PrivateDraws, OptimalLists):
    """A rule list drawn whole with differential privacy: the more records a list classifies correctly, the likelier it is.

    One draw from ``prior * exp(epsilon * correct)`` over *all* labelled rule lists: nothing is split over the rules, no delta,
    no minimum support, any number of classes. At small epsilon this is much more accurate than learning rule by rule.

    Parameters
    ----------
    max_length : int, default=4
        As in ``GreedyRuleListClassifier``.
    rules_per_draw : int, default=None
        How many rules to draw at once, at most eight; None for all of them. With fewer, the next ones are drawn for the records
        that are left, and epsilon is split over the draws: the way to long lists and to thousands of candidates. 1 is greedy.
    counts_share : float, default=0.1
        The share of epsilon that buys noisy class counts, for ``predict_proba``. The labels are part of the draw and do not
        need them; 0 leaves the counts out.
    class_weight : dict, default=None
        Public weights of the classes, if mistakes are not equally bad: ``{"ill": 5, "well": 1}``.
    prior : list or dict, default=None
        Public weights: of lists with 0, 1, ... rules (a list of ``max_length`` numbers; all alike by default), and of rules with
        1, 2, ... literals: ``{"lengths": [1, 1, 2, 2], "cards": [1, 0.1]}``.
    epsilon, max_literals, negations, schema, infer_schema, candidates, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.
    monotonic_cst, forbid
        As in ``DPOptimalTreeClassifier``: every list that could be drawn keeps to them, and they cost nothing. They
        need lists that are added up: single literals, and up to three rules a draw (docs/optimal.md).
    time_limit : float, default=None
        Seconds after which to give up. The fit then fails, and says whether anything was booked: what was stays spent. That it
        struck may say something about the records that is not covered by the guarantee, like run time as a whole.
    verbose : bool, default=False
        Say on stderr how the records are counted and, where all lists are added up, how long that may take; show on a terminal
        how far it is, or for how long work has been going on.

    Attributes
    ----------
    rule_list_ : RuleList
        The model, with noisy class counts, without rules that nothing can reach.
    privacy_ : PrivacyStatement
        What it promises.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import DPOptimalRuleListClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas(sensitive=False)
    >>> clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 1
    >>> clf.score(data.data, data.target) > 0.6
    True
    """

    _parameters = DP_OPTIMAL_LISTS

    max_length: int = 4
    rules_per_draw: int | None = None

    def _plan(self, asked: Asked) -> "ListPlan":
        candidates = asked.candidates
        self._check(candidates)
        prior = Prior.of(self.prior, int(self.max_length), candidates)
        sizes = self._sizes
        draws = [prior.lengths] if len(sizes) == 1 else [(1.0,) * (size + 1) for size in sizes]
        budget = DrawBudget.split(self._terms.record_price, exact("counts_share", self.counts_share), len(draws))
        (limits, ranges), summed = self._limits(candidates), self._is_summed(candidates)
        public = len(candidates), sizes, len(self.classes_), ranges
        return ListPlan(
            **self._proved(asked, RULE_LIST_DRAW, budget, limits),
            said=tell_lists(*public) if summed else "",
            budget=budget,
            prior=prior,
            class_weights=class_weights(self.class_weight, self.classes_),
            draws=draws,
            summed=summed,
            limits=limits,
            time_limit=self.time_limit,
        )

    def _needs(self, candidates: Candidates) -> Needs:
        if not self._is_summed(candidates):
            return Needs()
        return Needs(together=max(1, *self._sizes), passes=len(self._sizes))

    def _set_model(self, candidates: Candidates, learned: Learned) -> None:
        super()._set_model(candidates, learned)
        self.rule_list_ = self.rule_list_.reachable()  # follows from what was drawn, and so costs nothing


@dataclass(frozen=True, kw_only=True)
class ListPlan(FitPlan):
    """Optimal lists: one draw after the other on what is left, each of which replaces the default of the one before.

    ``draws`` has for each draw the prior weights of the number of rules it may add. One draw is the whole list at once.
    """

    budget: DrawBudget
    prior: Prior
    class_weights: np.ndarray
    draws: Sequence[Sequence[float]]
    summed: bool
    limits: Limits | None
    time_limit: float | None

    def queries(self, counts: Counts) -> ListQueries:
        """Draws and class counts."""
        self._begin(0)
        drawn = self.prior, self.class_weights, self.draws, self.summed, self.limits
        return ListQueries(counts, self.candidates, self.budget, *drawn, self.time_limit, self.bar.advance)

    def run(self, queries: ListQueries) -> Learned:
        """Draw, and count what was drawn."""
        chosen: list[int] = []
        labels: list[int] = []
        for number, lengths in enumerate(self.draws):
            if number:
                self._begin(number)
            rules, drawn = queries.sample_list(chosen, lengths)
            chosen += rules
            labels[-1:] = drawn
        if not self.budget.counts_epsilon:
            return Learned(chosen, None, labels)
        counts = [queries.histogram(chosen[:i], rule) for i, rule in enumerate([*chosen, None])]
        return Learned(chosen, counts, labels)

    def _begin(self, number: int) -> None:
        """A draw of a list. If it is summed, so many pairs of rules are looked at; how long an envelope takes is not known."""
        where = "" if len(self.draws) == 1 else f" (draw {number + 1} of {len(self.draws)})"
        n, longest = len(self.candidates), len(self.draws[number]) - 1
        self.bar.begin(f"drawing a rule list{where}", n * (n + 1) // 2 if self.summed and longest > 2 else 0)


@dataclass(eq=False, repr=False, kw_only=True)
class OptimalRuleListClassifier(OptimalLists, Limited, Exact):
    """The most accurate rule list over the candidates, without privacy, with a certificate that there is no better one.

    Parameters
    ----------
    max_length : int, default=4
        As in ``GreedyRuleListClassifier``.
    max_literals, negations, schema, candidates, exclude
        As in ``GreedyRuleListClassifier``.
    monotonic_cst, forbid
        As in ``DPOptimalTreeClassifier``: the best of the lists that keep to them. Without a schema classes are sorted.
    time_limit, verbose
        As in ``DPOptimalRuleListClassifier``.

    Attributes
    ----------
    rule_list_ : RuleList
        The model. Of equally good lists it is one with the fewest rules.
    certificate_ : Optimum
        ``correct``: the number of training records that the list classifies correctly; ``bound``: what no list
        over the candidates exceeds; ``gap``: their difference, 0.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import OptimalRuleListClassifier
    >>> from discreet.datasets import load_compas
    >>> X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    >>> clf = OptimalRuleListClassifier().fit(X, y)
    >>> clf.certificate_
    Optimum(correct=4710.0, bound=4710.0)
    """

    _parameters = BEST_LISTS

    max_length: int = 4

    def _learn(self, candidates: Candidates, counts: Patterns) -> Learned:
        limits, _ = self._limits(candidates)
        with Bar(bool(self.verbose)) as bar:
            bar.begin("drawing a rule list", 0)
            asked = counts, candidates, int(self.max_length) - 1, limits, self.time_limit
            rules, labels, parts, self.certificate_ = find_best_list(*asked)
        return Learned(rules, parts, labels)
