"""What was released in this process without a ledger, so that a statement can name the other releases.

Whether two tables hold the same records is not asked of the records. What is compared is public: the names of a schema's columns,
the target's included. So it is a reminder, not an account: other processes (the workers of a parallel grid search), other
sessions and other names are not seen. A ledger is the account.

A release counts from when its noise may be drawn, like an entry of a ledger. One about which nothing is proved, be it that it was
seeded, counts as such: nothing is then proved about the sum.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from .._utils.parameters import as_written, least_float
from .statement import Guarantee, Others, PrivacyStatement

Cuts = Iterable[tuple[str, float | Fraction]]
Price = tuple[Fraction, Fraction] | None  # epsilon and delta for a single record; None: nothing is proved

# By the columns of the table. Whatever thread adds to these lists, and whenever the process is forked, needs no lock.
_releases: dict[frozenset[str], list[Price]] = {}
_cuts: dict[frozenset[str], list[tuple[str, Fraction]]] = {}


def columns_of(names: Iterable[str], target: str | None) -> frozenset[str]:
    """What stands for a table."""
    return frozenset(names) | ({target} if target is not None else frozenset())


def _price_of(statement: PrivacyStatement, records: int) -> Price:
    proved = statement.proved  # its delta is for a person: no less than for a record
    return None if proved is None else (proved.exactly / records, as_written(proved.delta or 0.0))


def note_release(columns: frozenset[str], statement: PrivacyStatement, records: int, cuts: Cuts = ()) -> None:
    """Count a release that is on no ledger. The statement is about it alone, without the cut points it rests on."""
    _releases.setdefault(columns, []).append(_price_of(statement, records))
    for name, epsilon in cuts:
        note_cuts(columns, name, epsilon)


def note_cuts(columns: frozenset[str], name: str, epsilon: float | Fraction) -> None:
    """Count a release of cut points, by its epsilon for a single record. Whoever learns with them counts them again, by name."""
    _cuts.setdefault(columns, []).append((name, as_written(epsilon)))


def other_releases(
    columns: frozenset[str], statement: PrivacyStatement, records: int, cuts: Cuts = (), noted: bool = True
) -> Others | None:
    """All others, as they count for a person with so many records. ``noted``: this one is among those counted."""
    prices = Counter(_releases.get(columns, ()))
    if noted:
        prices[_price_of(statement, records)] -= 1
    unproved, own = prices.pop(None, 0), {name for name, _ in cuts}
    # cut points count once, by the name of their release
    other_cuts = [epsilon for name, epsilon in dict(_cuts.get(columns, ())).items() if name not in own]
    releases = unproved + prices.total() + len(other_cuts)
    if not releases:
        return None
    proved = [(times * price[0], times * price[1]) for price, times in prices.items() if price is not None]
    epsilon = sum((e for e, _ in proved), sum(other_cuts, Fraction(0)))
    delta = min(sum((d for _, d in proved), Fraction(0)), Fraction(1))
    pair = Guarantee.of(epsilon, least_float(delta)).for_person(records)
    return Others(releases, unproved, pair.epsilon, pair.delta or 0.0)


def forget_all() -> None:
    """Begin anew, for tests."""
    _releases.clear()
    _cuts.clear()
