"""The private classifier that grows a tree level by level, by any mechanism of the greedy learner."""

from typing import Any

from ..accounting.ledger import Ledger, Reservation
from ..private.mechanisms.base import GreedyBudget
from ..private.noise.entropy import Entropy
from ..private.queries.greedy_tree_doors import GreedyTreeDoors
from ..private.queries.vault import Vault
from ..rules.candidates import Candidates
from ..rules.numbered_tree import NumberedTree
from ..schema import Schema
from .algorithms.greedy_trees import greedy_tree
from .greedy import PrivateGreedy
from .parameters import DP_GREEDY_TREES
from .private import Priced
from .trees import Trees


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

    def __init__(
        self,
        epsilon: float = 1.0,
        max_depth: int = 3,
        mechanism: str = "mass",
        delta: float | None = None,
        min_support: float = 0.05,
        confidence: float = 0.99,
        counts_share: float = 0.5,
        schema: Schema | None = None,
        infer_schema: bool = False,
        exclude: Any = (),
        records_per_person: int = 1,
        ledger: Ledger | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.mechanism = mechanism
        self.delta = delta
        self.min_support = min_support
        self.confidence = confidence
        self.counts_share = counts_share
        self.schema = schema
        self.infer_schema = infer_schema
        self.exclude = exclude
        self.records_per_person = records_per_person
        self.ledger = ledger
        self.random_state = random_state

    def _price(self, candidates: Candidates, drafted: bool) -> Priced:
        depth = int(self.max_depth)
        budget = self._budget_for(depth + 1, tree=True)

        def draw(vault: Vault, reservation: Reservation, entropy: Entropy) -> NumberedTree:
            return greedy_tree(self._doors(vault, candidates, budget, reservation, entropy), depth)

        return Priced(self._statement(budget, candidates, drafted), budget.delta, draw)

    def _doors(
        self, vault: Vault, candidates: Candidates, budget: GreedyBudget, reservation: Reservation, entropy: Entropy
    ) -> GreedyTreeDoors:
        return GreedyTreeDoors(vault, candidates, self._mechanism, budget, reservation, entropy)
