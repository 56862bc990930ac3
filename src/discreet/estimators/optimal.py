"""The classifiers that choose whole rule lists: by one private draw, and without privacy the best there is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from ..accounting.ledger import Ledger, Reservation, exact
from ..private.mechanisms.registry import WHOLE_LISTS
from ..private.mechanisms.whole_lists import DrawBudget
from ..private.noise.entropy import Entropy
from ..private.queries.exact import find_optimum
from ..private.queries.list_doors import ListDoors
from ..private.queries.summed_doors import SummedListDoors
from ..private.queries.vault import Vault
from ..rules.candidates import Candidates
from ..rules.limits import Limits
from ..rules.prior import Prior
from ..schema import Schema
from ..sources.plan import Needs
from .algorithms.greedy import Learned
from .algorithms.optimal import check_feasible, check_joint, draws_of, is_summed, optimal
from .base import Classifier, class_weights, fill_cells, refuse
from .parameters import BEST_LISTS, DP_WHOLE_LISTS
from .private import Priced, PrivateClassifier
from .progress import Bar, estimate_of_lists, steps_of_lists

NOT_SUMMED = (
    "monotone and forbid need lists that are added up completely: rules of one literal (max_card=1), at most three a draw "
    "(max_length=4 or less; a private learner may also draw three at a time, joint=3), and not too many candidates (exclude, "
    "coarser columns). Or learn a tree, which takes them at any depth. See docs/optimal.md"
)


class DPOptimalRuleListClassifier(PrivateClassifier):
    """A rule list drawn whole with differential privacy: the more records a list classifies correctly, the likelier it is.

    One draw from ``prior * exp(epsilon * correct)`` over *all* labelled rule lists: nothing is split over the rules, no delta,
    no minimum support, any number of classes. At small epsilon this is much more accurate than learning rule by rule.

    Parameters
    ----------
    max_length : int, default=4
        As in ``GreedyRuleListClassifier``.
    joint : int, default=None
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
    epsilon, max_card, negations, schema, infer_schema, candidates, exclude, records_per_person, ledger, random_state
        As in ``DPGreedyRuleListClassifier``.
    monotone, forbid
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

    _parameters = DP_WHOLE_LISTS

    def __init__(
        self,
        epsilon: float = 1.0,
        max_length: int = 4,
        joint: int | None = None,
        max_card: int = 1,
        negations: bool = True,
        counts_share: float = 0.1,
        class_weight: Any = None,
        prior: Any = None,
        schema: Schema | None = None,
        infer_schema: bool = False,
        candidates: Any = None,
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
        self.max_length = max_length
        self.joint = joint
        self.max_card = max_card
        self.negations = negations
        self.counts_share = counts_share
        self.class_weight = class_weight
        self.prior = prior
        self.schema = schema
        self.infer_schema = infer_schema
        self.candidates = candidates
        self.exclude = exclude
        self.records_per_person = records_per_person
        self.ledger = ledger
        self.random_state = random_state
        self.time_limit = time_limit
        self.verbose = verbose
        self.monotone = monotone
        self.forbid = forbid

    def _price(self, candidates: Candidates, drafted: bool) -> Priced:
        check_feasible(len(candidates), int(self.max_length), self.joint)
        check_joint(int(self.max_length), self.joint)
        prior = Prior.of(self.prior, int(self.max_length), candidates)
        sizes = draws_of(int(self.max_length) - 1, self.joint)
        draws = [prior.lengths] if len(sizes) == 1 else [(1.0,) * (size + 1) for size in sizes]
        weights = class_weights(self.class_weight, self.classes_)
        budget = DrawBudget.split(self._terms.record_price, exact("counts_share", self.counts_share), len(draws))
        because = self._reasons_for_no_proof(candidates.schema, drafted)
        proved = None if because else WHOLE_LISTS.proved(budget)
        limits = limits_of_lists(self, candidates)
        summed = self._is_summed(candidates)
        if limits is not None and not summed:
            raise ValueError(NOT_SUMMED)
        costs, counted = WHOLE_LISTS.costs(budget), budget.counts_epsilon > 0
        promise = self._promise(WHOLE_LISTS.name, None, proved, because, costs=costs)
        promise = replace(promise, limits=limits.said if limits else ())
        if summed:
            bar = Bar(bool(self.verbose), steps_of_lists(len(candidates), sizes))

            def prepare(vault: Vault) -> SummedListDoors:
                bar.begin_stage(0, 1)
                own = vault, candidates, budget, prior, weights, draws
                return SummedListDoors(*own, self.time_limit, bar.advance, limits)

            def draw_summed(doors: SummedListDoors, reservation: Reservation, entropy: Entropy) -> Learned:
                return optimal(
                    doors.open(reservation, entropy), draws, counted, lambda i: bar.begin_stage(i, 1) if i else None
                )

            public = len(candidates), sizes, len(self.classes_), ranges_of_lists(limits)
            said = estimate_of_lists(*public) if self.verbose else ""
            return Priced(promise, Fraction(0), draw_summed, said, prepare, bar)

        def draw(vault: Vault, reservation: Reservation, entropy: Entropy) -> Learned:
            doors = self._doors(vault, candidates, budget, prior, weights, reservation, entropy)
            return optimal(doors, draws, counted)

        return Priced(promise, Fraction(0), draw, bar=_spinner(bool(self.verbose)))

    def _is_summed(self, candidates: Candidates) -> bool:
        """Whether all lists are added up, or an envelope is drawn from: both have the same law."""
        rules = max(draws_of(int(self.max_length) - 1, self.joint))
        return are_summed(candidates, rules, len(self.classes_), limits_of_lists(self, candidates))

    def _needs(self, candidates: Candidates) -> Needs:
        if not self._is_summed(candidates):
            return Needs()
        sizes = draws_of(int(self.max_length) - 1, self.joint)
        return Needs(together=max(1, *sizes), passes=len(sizes))

    def _set_model(self, candidates: Candidates, learned: Learned) -> None:
        super()._set_model(candidates, learned)
        self.rule_list_ = self.rule_list_.reachable()  # follows from what was drawn, and so costs nothing

    def _doors(
        self,
        vault: Vault,
        candidates: Candidates,
        budget: DrawBudget,
        prior: Prior,
        weights: np.ndarray,
        reservation: Reservation,
        entropy: Entropy,
    ) -> ListDoors:
        return ListDoors(vault, candidates, budget, prior, weights, reservation, entropy, self.time_limit)


class OptimalRuleListClassifier(Classifier):
    """The most accurate rule list over the candidates, without privacy, with a certificate that there is no better one.

    Parameters
    ----------
    max_length : int, default=4
        As in ``GreedyRuleListClassifier``.
    max_card, negations, schema, candidates, exclude
        As in ``GreedyRuleListClassifier``.
    monotone, forbid
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

    def __init__(
        self,
        max_length: int = 4,
        max_card: int = 1,
        negations: bool = True,
        schema: Schema | None = None,
        candidates: Any = None,
        exclude: Any = (),
        time_limit: float | None = None,
        verbose: bool = False,
        monotone: Any = None,
        forbid: Any = (),
    ) -> None:
        self.max_length = max_length
        self.max_card = max_card
        self.negations = negations
        self.schema = schema
        self.candidates = candidates
        self.exclude = exclude
        self.time_limit = time_limit
        self.verbose = verbose
        self.monotone = monotone
        self.forbid = forbid

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn a rule list from records X (a data frame or an array) and their labels y."""
        refuse(unsupported)
        self._check_parameters()
        table = self._table(X, reset=True)
        labels = self._labels(y, len(table))
        candidates = self._candidates(self._schema_for(table))
        check_feasible(len(candidates), int(self.max_length), None)
        limits = limits_of_lists(self, candidates)
        if limits is not None and not are_summed(candidates, int(self.max_length) - 1, len(self.classes_), limits):
            raise ValueError(NOT_SUMMED)
        cells = fill_cells(table, labels, candidates, len(self.classes_), self._strict)
        with _spinner(bool(self.verbose)):
            best = find_optimum(cells, candidates, int(self.max_length) - 1, self.time_limit, limits)
        self.certificate_ = best.optimum
        self._set_model(candidates, Learned(best.rules, list(best.counts), best.labels))
        return self


def limits_of_lists(learner: Any, candidates: Candidates) -> Limits | None:
    """What every list keeps to."""
    return Limits.of(learner.monotone, learner.forbid, candidates, learner.classes_.tolist())


def ranges_of_lists(limits: Limits | None) -> int:
    """How many numbers stand for the worth of a part: lists with any limits are added up by ranges."""
    return 1 if limits is None else len(limits.labels) * (len(limits.labels) + 1) // 2


def are_summed(candidates: Candidates, rules: int, classes: int, limits: Limits | None) -> bool:
    """Whether all lists of up to so many rules a draw are added up, from public numbers."""
    if (candidates.members >= 0).sum(1).max() > 1:
        return False
    bins = [column.n_bins for column in candidates.columns]
    return is_summed(len(candidates), bins, rules, classes, ranges_of_lists(limits))


@contextmanager
def _spinner(show: bool) -> Iterator[None]:
    """That something is going on, and for how long."""
    if not show:
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task("learning a rule list", total=None)
        yield
