"""What a release warns of, and what is remembered of it: by parameters and the schema alone, before a record is read."""

import sys
import warnings
from types import FrameType
from typing import TYPE_CHECKING, Any

from .._utils.errors import PrivacyWarning, RepeatedFitsWarning, SeededWarning, WeakEpsilonWarning
from ..accounting.statement import SEEDED
from ..accounting.unledgered import columns_of, note_release, other_releases
from ..schema import SchemaRelease

if TYPE_CHECKING:
    from .release import Plan

WEAKEST = 10  # an epsilon above this offers almost no protection
# What of scikit-learn fits clones of an estimator: a fit is known as one of many by its callers, also in a worker process
REPEATING = tuple(f"sklearn.{name}" for name in ("model_selection", "calibration", "feature_selection"))
_warned_of_seeds = _warned_of_repeats = False


def warn_of(plan: "Plan") -> None:
    """Warn of what may not be meant, by parameters and callers alone: of seeds and of repeated fits once in a process."""
    global _warned_of_seeds, _warned_of_repeats
    terms, kind, statement = plan.terms, plan.kind, plan.statement
    epsilon, seeded = terms.epsilon, terms.random_state is not None
    if epsilon > WEAKEST:
        warn_outside(
            f"epsilon = {float(epsilon):g} is above {WEAKEST}, which offers almost no protection; values from 0.1 to 1 are good "
            "(docs/choose-epsilon.md)",
            WeakEpsilonWarning,
        )
    if not seeded and statement.proved is None:
        warn_outside(f"no privacy is proved for {kind}: {'; '.join(statement.because)}")
    elif seeded and not _warned_of_seeds:
        _warned_of_seeds = True
        warn_outside(
            f"no privacy is proved for {kind}, nor for any other with a random_state: {SEEDED}. Leave random_state out "
            "unless this is an experiment. (This is said once.)",
            SeededWarning,
        )
    if not _warned_of_repeats and terms.ledger is None and statement.proved is not None and _is_repeated():
        _warned_of_repeats = True
        warn_outside(
            "scikit-learn fits this learner several times (for each fold, and each setting of a search), and each fit spends its "
            "epsilon: about the records, only their sum is promised. With ledger=Ledger.open(path) every fit is booked; to "
            "compare settings without spending, use `discreet plan` or public data. (This is said once.)",
            RepeatedFitsWarning,
        )


def note(plan: "Plan") -> None:
    """Remember a release that is on no ledger, so that later statements can name it."""
    note_release(_table(plan), None if _is_schema(plan) else plan.statement, plan.terms.records, _schemas(plan))


def others_of(plan: "Plan") -> Any:
    """What else this process released of the same table, on no ledger."""
    noted = plan.terms.ledger is None and not _is_schema(plan)
    return other_releases(_table(plan), plan.statement if noted else None, plan.terms.records, _schemas(plan))


def _is_schema(plan: "Plan") -> bool:
    """Whether it counts by its name. (What is not proved has no price by which to count.)"""
    return plan.releases_schema is not None and plan.statement.proved is not None


def _schemas(plan: "Plan") -> tuple[SchemaRelease, ...]:
    own = plan.releases_schema if _is_schema(plan) else None
    return tuple(plan.rests_on) if own is None else (*plan.rests_on, own)


def _is_repeated() -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith(REPEATING):
        frame = frame.f_back
    return frame is not None


def _table(plan: "Plan") -> frozenset[str]:
    """A table is known by its columns."""
    return columns_of(plan.schema.names, plan.schema.target)


def warn_outside(message: str, kind: type[Warning] = PrivacyWarning) -> None:
    """A warning that points at the line outside of this package that asked for the release."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
