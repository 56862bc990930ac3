"""What a release warns of, and what is remembered of it: by parameters and the schema alone, before a record is read."""

import sys
import warnings
from typing import TYPE_CHECKING, Any

from .._utils.errors import PrivacyWarning, SeededWarning, WeakEpsilonWarning
from ..accounting.statement import SEEDED, PrivacyStatement
from ..accounting.unledgered import columns_of, note_cuts, note_release, other_releases

if TYPE_CHECKING:
    from .release import Plan

WEAKEST = 10  # an epsilon above this offers almost no protection
_warned_of_seeds = False


def warn_of(epsilon: float, seeded: bool, kind: str, statement: PrivacyStatement) -> None:
    """Warn of what the caller may not have meant, by parameters alone: of a seed once in a process."""
    global _warned_of_seeds
    if epsilon > WEAKEST:
        warn_outside(
            f"epsilon = {epsilon:g} is above {WEAKEST}, which offers almost no protection; values from 0.1 to 1 are good "
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


def note(plan: "Plan") -> None:
    """Remember a release that is on no ledger, so that later statements can name it."""
    if plan.cut_points is not None and plan.statement.proved is not None:
        note_cuts(_table(plan), *plan.cut_points)
    else:
        note_release(_table(plan), plan.statement, plan.terms.records, plan.rests_on)


def others_of(plan: "Plan") -> Any:
    """What else this process released of the same table, on no ledger."""
    noted = plan.terms.ledger is None
    return other_releases(_table(plan), plan.statement, plan.terms.records, plan.rests_on, noted)


def _table(plan: "Plan") -> frozenset[str]:
    """A table is known by its columns."""
    return columns_of(plan.schema.names, plan.schema.target)


def warn_outside(message: str, kind: type[Warning] = PrivacyWarning) -> None:
    """A warning that points at the line outside of this package that asked for the release."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
