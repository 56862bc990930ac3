"""What was released in this process without a ledger, so that a statement can name the other releases.

Whether two tables hold the same records is not asked of the records. What is compared is public: the names of a schema's columns,
the target's included. So it is a reminder, not an account: other processes (the workers of a parallel grid search), other
sessions and other names are not seen. A ledger is the account.

A release counts from when its noise may be drawn, like an entry of a ledger. One about which nothing is proved, be it that it was
seeded, counts as such: nothing is then proved about the sum.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Lock

from .._utils.parameters import as_written, least_float
from ..schema.releases import SchemaRelease
from .statement import Guarantee, Others, PrivacyStatement


@dataclass
class _Sum:
    """What releases with the same columns come to, for a single record; and schemas, each once, by the name of its release.

    A sum, not a list: a process may make a hundred thousand fits (the audit does), and each of them asks.
    """

    releases: int = 0
    unproved: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
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
    columns: frozenset[str], statement: PrivacyStatement, records: int, schemas: Iterable[SchemaRelease] = ()
) -> None:
    """Count a release that is on no ledger. The statement is about it alone, without the schema it rests on."""
    with _lock:
        _sums.setdefault(columns, _Sum()).add(statement, records)
    note_schemas(columns, schemas)


def note_schemas(columns: frozenset[str], schemas: Iterable[SchemaRelease]) -> None:
    """Count releases of schemas. Whoever learns with one counts it again, by name."""
    with _lock:
        _sums.setdefault(columns, _Sum()).schemas.update((one.name, one) for one in schemas)


def other_releases(
    columns: frozenset[str],
    statement: PrivacyStatement,
    records: int,
    schemas: Iterable[SchemaRelease] = (),
    noted: bool = True,
) -> Others | None:
    """All others, as they count for a person with so many records. ``noted``: this one is among those counted."""
    with _lock:
        found = _sums.get(columns, _Sum())
        total = _Sum(found.releases, found.unproved, found.epsilon, found.delta, dict(found.schemas))
    if noted:
        total.add(statement, records, -1)
    own = {one.name for one in schemas}
    other_schemas = [one for name, one in total.schemas.items() if name not in own]
    releases = total.releases + len(other_schemas)
    if not releases:
        return None
    pairs = [Guarantee.of(total.epsilon, least_float(min(total.delta, Fraction(1)))).for_person(records)]
    for one in other_schemas:  # of a person with more records than that, in as many steps as it takes
        steps = -(-records // one.records_per_person)
        pairs.append(Guarantee.of(one.epsilon, least_float(one.delta)).for_person(steps))
    epsilon = sum((pair.exactly for pair in pairs), Fraction(0))
    delta = sum((as_written(pair.delta or 0.0) for pair in pairs), Fraction(0))
    return Others(releases, total.unproved, least_float(epsilon), least_float(min(delta, Fraction(1))))


def forget_all() -> None:
    """Begin anew, for tests."""
    with _lock:
        _sums.clear()
