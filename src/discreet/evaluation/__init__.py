"""Is it as private as it says, and what does it give away in practice? Evaluation of learners and models.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_MEASURES = ("feature_importance", "feature_overlap", "vulnerability", "vulnerability_of_counts")
_HOME = dict.fromkeys(_MEASURES, "measures") | dict.fromkeys(("MembershipAttack", "membership_attack"), "membership")

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from .measures import feature_importance as feature_importance
    from .measures import feature_overlap as feature_overlap
    from .measures import vulnerability as vulnerability
    from .measures import vulnerability_of_counts as vulnerability_of_counts
    from .membership import MembershipAttack as MembershipAttack
    from .membership import membership_attack as membership_attack


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
