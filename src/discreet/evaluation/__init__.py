"""Is it as private as it says, and what does it give away in practice? Evaluation of learners and models.

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    *("MembershipAttack", "feature_importance", "feature_overlap", "membership_attack", "vulnerability"),
    "vulnerability_of_counts",
]

if TYPE_CHECKING:
    from .measures import MembershipAttack as MembershipAttack
    from .measures import feature_importance as feature_importance
    from .measures import feature_overlap as feature_overlap
    from .measures import membership_attack as membership_attack
    from .measures import vulnerability as vulnerability
    from .measures import vulnerability_of_counts as vulnerability_of_counts


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".measures", __name__), name)


def __dir__() -> list[str]:
    return __all__
