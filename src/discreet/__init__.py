"""Rule lists you can read, learned from records you may not show.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.9.0"

_NAMES = {
    "estimators.greedy": "DPGreedyRuleListClassifier GreedyRuleListClassifier",
    "estimators.optimal": "DPOptimalRuleListClassifier OptimalRuleListClassifier",
    "estimators.trees": "DPGreedyTreeClassifier DPOptimalTreeClassifier OptimalTreeClassifier",
    "estimators.cards": "DPScoreCardClassifier ScoreCardClassifier",
    "accounting.ledger": "Ledger",
    "accounting.statement": "PrivacyStatement",
    "evaluation.evaluation": "noisy_evaluation",
    "sources.urls": "open_table",
    "sources.memory": "PrivateCounts",
    "rules.rules": "Literal Rule",
    "models.rule_list": "RuleList",
    "models.saved": "SavedModel",
    "models.tree": "Split Tree",
    "models.score_card": "Card PointsTable ScoreCard",
    "schema": "Schema",
    "schema.columns": "Boolean Categorical Date Ignored Numeric",
    "schema.draft": "draft_from_dictionary",
    "schema.inference": "draft_schema",
    "estimators.private_schema": "PrivateSchema private_schema",
    "sources.table_check": "check_table",
    "sources.statistical": "file_dictionary",
    "report.bundle.verifying": "verify_release",
    "report.bundle.folder": "write_release",
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .accounting.ledger import Ledger as Ledger
    from .accounting.statement import PrivacyStatement as PrivacyStatement
    from .estimators.cards import DPScoreCardClassifier as DPScoreCardClassifier
    from .estimators.cards import ScoreCardClassifier as ScoreCardClassifier
    from .estimators.greedy import DPGreedyRuleListClassifier as DPGreedyRuleListClassifier
    from .estimators.greedy import GreedyRuleListClassifier as GreedyRuleListClassifier
    from .estimators.optimal import DPOptimalRuleListClassifier as DPOptimalRuleListClassifier
    from .estimators.optimal import OptimalRuleListClassifier as OptimalRuleListClassifier
    from .estimators.private_schema import PrivateSchema as PrivateSchema
    from .estimators.private_schema import private_schema as private_schema
    from .estimators.trees import DPGreedyTreeClassifier as DPGreedyTreeClassifier
    from .estimators.trees import DPOptimalTreeClassifier as DPOptimalTreeClassifier
    from .estimators.trees import OptimalTreeClassifier as OptimalTreeClassifier
    from .evaluation.evaluation import noisy_evaluation as noisy_evaluation
    from .models.rule_list import RuleList as RuleList
    from .models.saved import SavedModel as SavedModel
    from .models.score_card import Card as Card
    from .models.score_card import PointsTable as PointsTable
    from .models.score_card import ScoreCard as ScoreCard
    from .models.tree import Split as Split
    from .models.tree import Tree as Tree
    from .report.bundle.folder import write_release as write_release
    from .report.bundle.verifying import verify_release as verify_release
    from .rules.rules import Literal as Literal
    from .rules.rules import Rule as Rule
    from .schema import Schema as Schema
    from .schema.columns import Boolean as Boolean
    from .schema.columns import Categorical as Categorical
    from .schema.columns import Date as Date
    from .schema.columns import Ignored as Ignored
    from .schema.columns import Numeric as Numeric
    from .schema.draft import draft_from_dictionary as draft_from_dictionary
    from .schema.inference import draft_schema as draft_schema
    from .sources.memory import PrivateCounts as PrivateCounts
    from .sources.statistical import file_dictionary as file_dictionary
    from .sources.table_check import check_table as check_table
    from .sources.urls import open_table as open_table


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
