"""Rule lists you can read, learned from records you may not show.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.5.0"

_HOME = {
    "DPGreedyRuleListClassifier": "estimators.greedy",
    "DPGreedyTreeClassifier": "estimators.greedy_trees",
    "DPOptimalRuleListClassifier": "estimators.optimal",
    "DPOptimalTreeClassifier": "estimators.trees",
    "DPScoreCardClassifier": "estimators.cards",
    "ScoreCardClassifier": "estimators.cards",
    "OptimalRuleListClassifier": "estimators.optimal",
    "OptimalTreeClassifier": "estimators.trees",
    "GreedyRuleListClassifier": "estimators.greedy",
    "Ledger": "accounting.ledger",
    "PrivacyStatement": "accounting.statement",
    "noisy_accuracy": "evaluation.measuring",
    "noisy_evaluation": "evaluation.evaluation",
    "open_table": "sources.urls",
    "Vault": "sources.memory",
    "Literal": "rules.rules",
    "Rule": "rules.rules",
    "RuleList": "models.rule_list",
    "SavedModel": "models.saved",
    "Split": "models.tree",
    "Tree": "models.tree",
    "Card": "models.score_card",
    "PointsTable": "models.score_card",
    "ScoreCard": "models.score_card",
    "Schema": "schema",
    "Boolean": "schema.columns",
    "Categorical": "schema.columns",
    "Ignored": "schema.columns",
    "Numeric": "schema.columns",
    "draft_from_dictionary": "schema.draft_dictionary",
    "draft_schema": "schema.draft_sample",
    "private_cuts": "evaluation.cut_points",
    "check_table": "sources.table_check",
    "verify_release": "report.bundle.verifying",
    "write_release": "report.bundle.folder",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .accounting.ledger import Ledger as Ledger
    from .accounting.statement import PrivacyStatement as PrivacyStatement
    from .estimators.cards import DPScoreCardClassifier as DPScoreCardClassifier
    from .estimators.cards import ScoreCardClassifier as ScoreCardClassifier
    from .estimators.greedy import DPGreedyRuleListClassifier as DPGreedyRuleListClassifier
    from .estimators.greedy import GreedyRuleListClassifier as GreedyRuleListClassifier
    from .estimators.greedy_trees import DPGreedyTreeClassifier as DPGreedyTreeClassifier
    from .estimators.optimal import DPOptimalRuleListClassifier as DPOptimalRuleListClassifier
    from .estimators.optimal import OptimalRuleListClassifier as OptimalRuleListClassifier
    from .estimators.trees import DPOptimalTreeClassifier as DPOptimalTreeClassifier
    from .estimators.trees import OptimalTreeClassifier as OptimalTreeClassifier
    from .evaluation.cut_points import private_cuts as private_cuts
    from .evaluation.evaluation import noisy_evaluation as noisy_evaluation
    from .evaluation.measuring import noisy_accuracy as noisy_accuracy
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
    from .schema.columns import Ignored as Ignored
    from .schema.columns import Numeric as Numeric
    from .schema.draft_dictionary import draft_from_dictionary as draft_from_dictionary
    from .schema.draft_sample import draft_schema as draft_schema
    from .sources.memory import Vault as Vault
    from .sources.table_check import check_table as check_table
    from .sources.urls import open_table as open_table


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
