"""What a release warns of: by parameters and the schema alone, before a record is read."""

import sys
import warnings

from .._utils.errors import PrivacyWarning, SeededWarning, WeakEpsilonWarning
from ..accounting.statement import SEEDED, PrivacyStatement

WEAKEST = 10  # an epsilon above this is next to no protection
_warned_of_seeds = False


def warn_of(epsilon: float, seeded: bool, kind: str, statement: PrivacyStatement) -> None:
    """Warn of what the caller may not have meant, by parameters alone: of a seed once in a process."""
    global _warned_of_seeds
    if epsilon > WEAKEST:
        warn_outside(
            f"epsilon = {epsilon:g} is above {WEAKEST}, which is next to no protection; values from 0.1 to 1 are good "
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


def warn_outside(message: str, kind: type[Warning] = PrivacyWarning) -> None:
    """A warning that points at the line outside of this package that asked for the release."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
