"""Greedy rule lists: one rule after the other, each the best for the records that are left; without noise and with it.

``greedy`` is the paper's Algorithm 1; the line numbers are the paper's. With queries that add noise it is DP-GreedyRL, with exact
ones it is the baseline GreedyRL. The noise, and what it costs, is behind the queries (``private/queries/greedy.py``).
"""

from dataclasses import dataclass
from functools import lru_cache

from ..accounting.costs import Cost
from ..accounting.ledger import exact
from ..accounting.statement import Guarantee
from ..private.counts.counts import Counts as AnyCounts
from ..private.counts.counts import Patterns
from ..private.mechanisms.base import GreedyBudget, GreedyMechanism, Settings
from ..private.mechanisms.registry import MECHANISMS, find_greedy
from ..private.queries.greedy import ExactGreedyQueries, GreedyQueries
from ..rules.candidates import Candidates
from ..sources.plan import Needs
from .base import Counts, Exact, Learned, RuleLists
from .parameters import DP_GREEDY_LISTS, GREEDY_LISTS
from .plans import Asked, FitPlan
from .private import ROUNDING, PrivateClassifier

LARGEST_DELTA = 1e-3  # a larger one is no promise to anybody


def greedy(queries: GreedyQueries | ExactGreedyQueries, max_length: int) -> Learned:
    """Choose up to ``max_length - 1`` rules, then the default.

    The methods on global sensitivity do not check the support (the paper's section V.B): their queries let everyone pass.
    """
    chosen: list[int] = []
    counts: list[Counts] = []
    while len(chosen) < max_length - 1:  # line 3
        if not queries.exceeds(chosen):  # lines 4-5
            break
        rule = queries.select(chosen)  # lines 7-16: the smallest Gini, no rule included
        if rule is None:  # lines 17-18
            break
        counts.append(queries.histogram(chosen, rule))  # pred_DP
        chosen.append(rule)  # lines 20-21
    counts.append(queries.histogram(chosen, None))
    return Learned(chosen, counts)


@dataclass(eq=False, repr=False, kw_only=True)
class GreedyRuleListClassifier(RuleLists, Exact):
    """A rule list learned greedily, without privacy: the paper's baseline GreedyRL.

    Rules are added one after the other; each is the candidate with the lowest Gini impurity on the records that are left.
    Among equals it is the one that captures fewest records, then the earliest candidate.

    Parameters
    ----------
    max_length : int, default=5
        The most rules in the list. It counts the default, as the paper does: 5 is four rules and a default.
    max_literals : int, default=1
        The most literals in a rule.
    min_support : float or int, default=0.0
        No rule is added once fewer records than this are left: a number of records or, below 1, a share of the training
        records (rounded down to an integer, as in the paper).
    negations : bool, default=True
        Whether rules may use negated literals.
    schema : Schema, Draft, str or path, default=None
        What is known about the columns: a schema, a draft of one, or the TOML file that it is in. Without one, columns of
        0 and 1 are literals, other numbers are cut at the deciles of the data, and strings are categories; ``predict`` then
        reads values that it has not seen as missing or as in no category. With a schema, such values are an error unless it
        says otherwise.
    candidates : list of Rule or str, default=None
        The rules to choose from, instead of all conjunctions of up to ``max_literals`` literals. Without a schema, they say
        what the columns are.
    exclude : list of str, default=()
        Columns that no rule may use.

    Attributes
    ----------
    rule_list_ : RuleList
        The model.
    classes_ : array
        The classes, in the order of ``predict_proba``.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from discreet import GreedyRuleListClassifier
    >>> from discreet.datasets import load_compas
    >>> X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    >>> clf = GreedyRuleListClassifier(max_length=4).fit(X, y)
    >>> print(clf)
    if Prior-Crimes>3 then 1
    else if not Juvenile-Crimes=0 then 1
    else 0
    """

    _parameters = GREEDY_LISTS

    max_length: int = 5
    min_support: float = 0.0

    def _learn(self, candidates: Candidates, counts: Patterns) -> Learned:
        return greedy(ExactGreedyQueries(counts, candidates, self.min_support), self.max_length)


@dataclass(frozen=True, kw_only=True)
class GreedyPlan(FitPlan):
    """A greedy list or tree."""

    mechanism: GreedyMechanism
    budget: GreedyBudget


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateGreedy(PrivateClassifier):
    """What greedy private classifiers have in common: a mechanism with its parameters, and what it promises."""

    mechanism: str = "mass"
    delta: float | None = None
    min_support: float = 0.05
    confidence: float = 0.99
    counts_share: float = 0.5

    @property
    def _binary_only(self) -> bool:
        mechanism = find_greedy(self.mechanism)
        return mechanism is None or mechanism.binary_only

    def _greedy_plan(self, kind: type[GreedyPlan], asked: Asked, max_length: int, tree: bool = False) -> GreedyPlan:
        """How the budget is split over the queries, and what that promises."""
        mechanism, candidates = MECHANISMS[self.mechanism], len(asked.candidates)
        settings = Settings(
            epsilon=self._terms.record_price,
            max_length=max_length,
            delta=None if self.delta is None else exact("delta", self.delta),
            min_support=self.min_support,
            confidence=float(self.confidence),
            counts_share=exact("counts_share", self.counts_share),
            tree=tree,
        )
        budget = mechanism.split(settings)
        because = self._reasons_for_no_proof(asked) + mechanism.reasons_for_no_proof(settings)
        proved = None
        if not because:
            proved = _proved(mechanism, budget, candidates)
            delta = proved.for_person(int(self.records_per_person)).delta or 0.0
            if delta > LARGEST_DELTA:
                because.append(f"the best delta that can be proved, {delta:.1g}, is too large to mean anything")
                proved = None
        assumes = () if mechanism.exact_choices else (ROUNDING,)
        costs = () if proved is None else _costs(mechanism, budget, candidates)
        published = mechanism.published(settings)
        statement = self._promise(mechanism.name, published, proved, because, *assumes, costs=costs)
        return kind(**self._common(asked, statement, budget.delta), mechanism=mechanism, budget=budget)


@dataclass(eq=False, repr=False, kw_only=True)
class DPGreedyRuleListClassifier(PrivateGreedy, RuleLists):
    """A rule list learned greedily with differential privacy: by one of our mechanisms, or one of the paper's six.

    Parameters
    ----------
    mechanism : str, default="mass"
        For any number of classes "mass" (impurity mass), "purity" (fewest records to take away until a rule is pure) and
        "inverse" (fewest records until it is the best); or, for two classes, a published method: "sm-laplace" and "sm-cauchy"
        (smooth sensitivity), "gl-laplace", "gl-gaussian" and "gl-exponential" (global sensitivity), "noisy-counts".
    epsilon : float, default=1.0
        The privacy budget. It is what is proved, but for the published methods.
    delta : float, default=None
        For "sm-laplace" and "gl-gaussian". None means 1/n^2 as in the paper, which follows the private number of records
        n; nothing is then proved.
    min_support : float or int, default=0.05
        For the smooth methods: how many records must be left for another rule; an integer, or a share of the private
        number of records as in the paper (nothing is then proved).
    confidence : float, default=0.99
        For the smooth methods: the paper's C, how sure the check of the support is to be.
    counts_share : float, default=0.5
        For "mass", "purity" and "inverse": the share of epsilon that goes to the class counts, and so to the labels; the
        choices get the rest. The default was measured for "mass" (docs/privacy.md).
    max_length, max_literals, negations, schema, candidates, exclude
        As in ``GreedyRuleListClassifier``. Without a schema, X must be Boolean (or an array of 0 and 1), and labels 0 and
        1. Given ``candidates`` may have been mined from the records, so nothing is then proved.
    infer_schema : bool, default=False
        Make the schema from the records. That is not private, and the statement says so.
    records_per_person : int, default=1
        How many records a person may have in the table. The promise is then about a person: each record gets
        epsilon / records_per_person. See that nobody has more; the table is not checked.
    ledger : Ledger, default=None
        Where to book the budget. The fit is refused if too little is left.
    random_state : int, default=None
        For experiments only: seeded noise can be repeated, so nothing is proved.

    Attributes
    ----------
    rule_list_ : RuleList
        The model, with noisy class counts.
    privacy_ : PrivacyStatement
        What it promises.
    classes_ : array
        The classes, in the order of ``predict_proba``.

    Examples
    --------
    >>> from discreet import DPGreedyRuleListClassifier
    >>> from discreet.datasets import load_compas
    >>> data = load_compas()
    >>> clf = DPGreedyRuleListClassifier(epsilon=0.5, schema=data.schema).fit(data.data, data.target)
    >>> print(clf.privacy_.proved)
    epsilon = 0.5
    """

    _parameters = DP_GREEDY_LISTS

    max_length: int = 5

    def _needs(self, candidates: Candidates) -> Needs:
        return Needs(nodes=True)

    def _plan(self, asked: Asked) -> GreedyPlan:
        return self._greedy_plan(GreedyListPlan, asked, int(self.max_length))


class GreedyListPlan(GreedyPlan):
    """A greedy list: so many choices, and class counts."""

    def queries(self, counts: AnyCounts) -> GreedyQueries:
        """What Algorithm 1 asks."""
        return GreedyQueries(counts, self.candidates, self.mechanism, self.budget)

    def run(self, queries: GreedyQueries) -> Learned:
        """Algorithm 1."""
        return greedy(queries, self.budget.settings.max_length)


@lru_cache(maxsize=256)  # an experiment asks for the same one at every fit
def _proved(mechanism: GreedyMechanism, budget: GreedyBudget, candidates: int) -> Guarantee:
    return mechanism.proved(budget, candidates)


@lru_cache(maxsize=256)
def _costs(mechanism: GreedyMechanism, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
    return mechanism.costs(budget, candidates)
