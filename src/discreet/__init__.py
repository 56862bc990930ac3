"""Rule lists you can read, learned from records you may not show.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.5.0"

_HOME = {
    "DPGreedyRuleListClassifier": "private_estimators",
    "DPOptimalRuleListClassifier": "optimal_estimators",
    "OptimalRuleListClassifier": "optimal_estimators",
    "GreedyRuleListClassifier": "estimators",
    "Ledger": "privacy.ledger",
    "PrivacyStatement": "privacy.statement",
    "noisy_accuracy": "private_accuracy",
    "open_table": "sources.urls",
    "Vault": "vault.vault",
    "Literal": "rules",
    "Rule": "rules",
    "RuleList": "rules",
    "SavedModel": "model",
    "Schema": "schema",
    "Boolean": "columns",
    "Categorical": "columns",
    "Ignored": "columns",
    "Numeric": "columns",
    "draft_from_dictionary": "drafting",
    "draft_schema": "drafting",
    "private_cuts": "cut_points",
    "check_table": "table_check",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .columns import Boolean as Boolean
    from .columns import Categorical as Categorical
    from .columns import Ignored as Ignored
    from .columns import Numeric as Numeric
    from .cut_points import private_cuts as private_cuts
    from .drafting import draft_from_dictionary as draft_from_dictionary
    from .drafting import draft_schema as draft_schema
    from .estimators import GreedyRuleListClassifier as GreedyRuleListClassifier
    from .model import SavedModel as SavedModel
    from .optimal_estimators import DPOptimalRuleListClassifier as DPOptimalRuleListClassifier
    from .optimal_estimators import OptimalRuleListClassifier as OptimalRuleListClassifier
    from .privacy.ledger import Ledger as Ledger
    from .privacy.statement import PrivacyStatement as PrivacyStatement
    from .private_accuracy import noisy_accuracy as noisy_accuracy
    from .private_estimators import DPGreedyRuleListClassifier as DPGreedyRuleListClassifier
    from .rules import Literal as Literal
    from .rules import Rule as Rule
    from .rules import RuleList as RuleList
    from .schema import Schema as Schema
    from .sources.urls import open_table as open_table
    from .table_check import check_table as check_table
    from .vault.vault import Vault as Vault


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
