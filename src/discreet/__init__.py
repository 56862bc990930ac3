"""Rule lists you can read, learned from records you may not show.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import moved

__version__ = "0.5.0"

moved.install()

_HOME = {
    "DPGreedyRuleListClassifier": "classifiers.greedy",
    "DPGreedyTreeClassifier": "classifiers.greedy_trees",
    "DPOptimalRuleListClassifier": "classifiers.optimal",
    "DPOptimalTreeClassifier": "classifiers.trees",
    "DPScoreCardClassifier": "classifiers.cards",
    "ScoreCardClassifier": "classifiers.cards",
    "OptimalRuleListClassifier": "classifiers.optimal",
    "OptimalTreeClassifier": "classifiers.trees",
    "GreedyRuleListClassifier": "classifiers.greedy",
    "Ledger": "privacy.ledger",
    "PrivacyStatement": "privacy.statement",
    "noisy_accuracy": "releases.accuracy",
    "noisy_evaluation": "releases.evaluation",
    "open_table": "sources.urls",
    "Vault": "vault.vault",
    "Literal": "conditions.rules",
    "Rule": "conditions.rules",
    "RuleList": "models.rule_list",
    "SavedModel": "models.saved",
    "Split": "conditions.nodes",
    "Tree": "models.tree",
    "Card": "models.score_card",
    "PointsTable": "models.score_card",
    "ScoreCard": "models.score_card",
    "Schema": "schema",
    "Boolean": "schema.columns",
    "Categorical": "schema.columns",
    "Ignored": "schema.columns",
    "Numeric": "schema.columns",
    "draft_from_dictionary": "schema.drafting",
    "draft_schema": "schema.drafting",
    "private_cuts": "releases.cut_points",
    "check_table": "sources.table_check",
    "verify_release": "papers.verifying",
    "write_release": "papers.folder",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .classifiers.cards import DPScoreCardClassifier as DPScoreCardClassifier
    from .classifiers.cards import ScoreCardClassifier as ScoreCardClassifier
    from .classifiers.greedy import DPGreedyRuleListClassifier as DPGreedyRuleListClassifier
    from .classifiers.greedy import GreedyRuleListClassifier as GreedyRuleListClassifier
    from .classifiers.greedy_trees import DPGreedyTreeClassifier as DPGreedyTreeClassifier
    from .classifiers.optimal import DPOptimalRuleListClassifier as DPOptimalRuleListClassifier
    from .classifiers.optimal import OptimalRuleListClassifier as OptimalRuleListClassifier
    from .classifiers.trees import DPOptimalTreeClassifier as DPOptimalTreeClassifier
    from .classifiers.trees import OptimalTreeClassifier as OptimalTreeClassifier
    from .conditions.nodes import Split as Split
    from .conditions.rules import Literal as Literal
    from .conditions.rules import Rule as Rule
    from .models.rule_list import RuleList as RuleList
    from .models.saved import SavedModel as SavedModel
    from .models.score_card import Card as Card
    from .models.score_card import PointsTable as PointsTable
    from .models.score_card import ScoreCard as ScoreCard
    from .models.tree import Tree as Tree
    from .papers.folder import write_release as write_release
    from .papers.verifying import verify_release as verify_release
    from .privacy.ledger import Ledger as Ledger
    from .privacy.statement import PrivacyStatement as PrivacyStatement
    from .releases.accuracy import noisy_accuracy as noisy_accuracy
    from .releases.cut_points import private_cuts as private_cuts
    from .releases.evaluation import noisy_evaluation as noisy_evaluation
    from .schema import Schema as Schema
    from .schema.columns import Boolean as Boolean
    from .schema.columns import Categorical as Categorical
    from .schema.columns import Ignored as Ignored
    from .schema.columns import Numeric as Numeric
    from .schema.drafting import draft_from_dictionary as draft_from_dictionary
    from .schema.drafting import draft_schema as draft_schema
    from .sources.table_check import check_table as check_table
    from .sources.urls import open_table as open_table
    from .vault.vault import Vault as Vault


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
