"""What was released in this process without a ledger, so that a statement can name the other releases.

Whether two tables hold the same records is not asked of the records. What is compared is public: the names of a schema's columns,
the target's included. So it is a reminder, not an account: other processes (the workers of a parallel grid search), other
sessions and other names are not seen. A ledger is the account.

A release counts from when its noise may be drawn, like an entry of a ledger. One about which nothing is proved, be it that it was
seeded, counts as such: nothing is then proved about the sum.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock

from .._utils.parameters import as_written, least_float
from ..schema.releases import SchemaRelease
from .costs import NONE, for_person, pair, plain_sum
from .statement import Others, PrivacyStatement


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


_sums: dict[frozenset[str], _Sum] = {}
_lock = Lock()


def _after_fork() -> None:
    global _lock
    _lock = Lock()  # another thread of the parent may have held it; what was counted there counts here, too


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def columns_of(names: Iterable[str], target: str | None) -> frozenset[str]:
    """What stands for a table."""
    return frozenset(names) | ({target} if target is not None else frozenset())


def note_release(
    columns: frozenset[str], statement: PrivacyStatement | None, records: int, schemas: Iterable[SchemaRelease] = ()
) -> None:
    """Count a release that is on no ledger. The statement is about it alone, without the schema it rests on.

    Schemas count by name: whoever learns with one counts it again. A release that is itself a schema has no other statement.
    """
    with _lock:
        found = _sums.setdefault(columns, _Sum())
        if statement is not None:
            found.add(statement, records)
        found.schemas.update((one.name, one) for one in schemas)


def other_releases(
    columns: frozenset[str], own: PrivacyStatement | None, records: int, schemas: Iterable[SchemaRelease] = ()
) -> Others | None:
    """All others, as they count for a person with so many records; ``own`` and these schemas are among those counted."""
    with _lock:
        found = _sums.get(columns, _Sum())
        total = replace(found, schemas=found.schemas.copy())
    if own is not None:
        total.add(own, records, -1)
    for one in schemas:
        total.schemas.pop(one.name, None)
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
