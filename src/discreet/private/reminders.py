"""What a release warns of, and what is remembered of it: by parameters and the schema alone, before a record is read.

What was released in this process without a ledger is remembered, so that a statement can name the other releases. Whether two
tables hold the same records is not asked of the records. What is compared is public: the names of a schema's columns, the
target's included. So it is a reminder, not an account: other processes (the workers of a parallel grid search), other sessions
and other names are not seen. A ledger is the account.

A release counts from when its noise may be drawn, like an entry of a ledger. One about which nothing is proved, be it that it was
seeded, counts as such: nothing is then proved about the sum. Schemas count once, by name, whoever learns with them.
"""

import os
import sys
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from types import FrameType
from typing import TYPE_CHECKING

from .._utils.errors import PrivacyWarning, RepeatedFitsWarning, SeededWarning, WeakEpsilonWarning
from .._utils.parameters import as_written, least_float
from ..accounting.costs import NONE, for_person, pair, plain_sum
from ..accounting.statement import SEEDED, Others, PrivacyStatement
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


@dataclass
class _Sum:
    """What releases with the same columns come to, for a single record; and schemas, each once, by the name of its release.

    A sum, not a list: a process may make a hundred thousand fits (the audit does), and each of them asks.
    """

    releases: int = 0
    unproved: int = 0
    epsilon: Fraction = NONE
    delta: Fraction = NONE
    schemas: dict[str, SchemaRelease] = field(default_factory=dict)

    def add(self, statement: PrivacyStatement, records: int, sign: int = 1) -> None:
        self.releases += sign
        if statement.proved is None:
            self.unproved += sign
            return
        self.epsilon += sign * statement.proved.exactly / records
        self.delta += sign * as_written(statement.proved.delta or 0.0)  # of a person: no less than of a record


_sums: dict[frozenset[str], _Sum] = {}  # by the names of columns
_lock = Lock()


def _after_fork() -> None:
    global _lock
    _lock = Lock()  # another thread of the parent may have held it; what was counted there counts here, too


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def note(plan: "Plan") -> None:
    """Count a release that is on no ledger, by its statement alone, and the schemas that it rests on, or is, by their names."""
    with _lock:
        found = _sums.setdefault(_table(plan), _Sum())
        if not _is_schema(plan):
            found.add(plan.statement, plan.terms.records)
        found.schemas.update(_schemas(plan))


def others_of(plan: "Plan") -> Others | None:
    """What else this process released of the same table, on no ledger, as it counts for a person with so many records."""
    records = plan.terms.records
    with _lock:
        found = _sums.get(_table(plan), _Sum())
        total = replace(found, schemas=found.schemas.copy())
    if plan.terms.ledger is None and not _is_schema(plan):
        total.add(plan.statement, records, -1)
    for name in _schemas(plan):
        total.schemas.pop(name, None)
    releases = total.releases + len(total.schemas)
    if not releases:
        return None
    costs = for_person(pair(total.epsilon, min(total.delta, Fraction(1))), records)
    for one in total.schemas.values():  # of a person with more records than that, in as many steps as it takes
        costs += for_person(pair(one.epsilon, one.delta), -(-records // one.records_per_person))
    epsilon, delta = plain_sum(costs)
    return Others(releases, total.unproved, least_float(epsilon), least_float(min(delta, Fraction(1))))


def forget_all() -> None:
    """Begin anew, for tests."""
    with _lock:
        _sums.clear()


def _is_schema(plan: "Plan") -> bool:
    """Whether it counts by its name. (What is not proved has no price by which to count.)"""
    return plan.releases_schema is not None and plan.statement.proved is not None


def _schemas(plan: "Plan") -> dict[str, SchemaRelease]:
    own = (plan.releases_schema,) if plan.releases_schema is not None and _is_schema(plan) else ()
    return {one.name: one for one in (*plan.rests_on, *own)}


def _table(plan: "Plan") -> frozenset[str]:
    """A table is known by its columns."""
    return frozenset(plan.schema.names) | ({plan.schema.target} if plan.schema.target is not None else frozenset())


def _is_repeated() -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith(REPEATING):
        frame = frame.f_back
    return frame is not None


def warn_outside(message: str, kind: type[Warning] = PrivacyWarning) -> None:
    """A warning that points at the line outside of this package that asked for the release."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
