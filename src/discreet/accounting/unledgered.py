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
from .statement import Guarantee, Others, PrivacyStatement

Cuts = Iterable[tuple[str, float | Fraction]]


@dataclass
class _Sum:
    """What releases with the same columns come to, for a single record. Cut points count once, by the name of their release.

    A sum, not a list: a process may make a hundred thousand fits (the audit does), and each of them asks.
    """

    releases: int = 0
    unproved: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    cuts: dict[str, Fraction] = field(default_factory=dict)

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


def note_release(columns: frozenset[str], statement: PrivacyStatement, records: int, cuts: Cuts = ()) -> None:
    """Count a release that is on no ledger. The statement is about it alone, without the cut points it rests on."""
    with _lock:
        total = _sums.setdefault(columns, _Sum())
        total.add(statement, records)
        total.cuts.update((name, as_written(epsilon)) for name, epsilon in cuts)


def note_cuts(columns: frozenset[str], name: str, epsilon: float | Fraction) -> None:
    """Count a release of cut points, by its epsilon for a single record. Whoever learns with them counts them again, by name."""
    with _lock:
        _sums.setdefault(columns, _Sum()).cuts[name] = as_written(epsilon)


def other_releases(
    columns: frozenset[str], statement: PrivacyStatement, records: int, cuts: Cuts = (), noted: bool = True
) -> Others | None:
    """All others, as they count for a person with so many records. ``noted``: this one is among those counted."""
    with _lock:
        found = _sums.get(columns, _Sum())
        total = _Sum(found.releases, found.unproved, found.epsilon, found.delta, dict(found.cuts))
    if noted:
        total.add(statement, records, -1)
    own = {name for name, _ in cuts}
    other_cuts = [e for name, e in total.cuts.items() if name not in own]
    releases = total.releases + len(other_cuts)
    if not releases:
        return None
    epsilon = total.epsilon + sum(other_cuts, Fraction(0))
    pair = Guarantee.of(epsilon, least_float(min(total.delta, Fraction(1)))).for_person(records)
    return Others(releases, total.unproved, pair.epsilon, pair.delta or 0.0)


def forget_all() -> None:
    """Begin anew, for tests."""
    with _lock:
        _sums.clear()
