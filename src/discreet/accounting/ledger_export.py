"""A ledger for other tools: a table of its releases, and events for Google's ``dp_accounting``.

**Events.** There are two lists, since its accountants know different events. For ``PLDAccountant`` every pure cost is a
``DiscreteLaplaceDpEvent``: with sensitivity 1 its privacy loss is that of randomised response, the worst of all e-DP answers. Of
bounded range no more than that is said there. For ``RdpAccountant`` every cost is a ``ZCDpEvent``, and bounded range counts as
such. The deltas that the releases need themselves are no events: take ``delta`` off the delta at which you ask. Something about
which nothing is proved is a ``NonPrivateDpEvent``. docs/privacy.md has the lines of Python that read this.
"""

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .costs import DISCRETE_LAPLACE, UNPROVED, Cost, is_proved, rho_sum
from .entries import Entry, LedgerSnapshot
from .ledger import ADD_OR_REMOVE
from .statement import above

FORMAT, VERSION = "discreet ledger events", 1
COLUMNS = (
    *("number", "day", "release", "name", "epsilon", "delta", "proved_epsilon", "proved_delta", "rho", "costs"),
    *("records_per_person", "neighbours", "ended", "models"),
)
AMOUNTS = ("epsilon", "delta", "proved_epsilon", "proved_delta", "rho")


def events(entries: Sequence[Entry], now: LedgerSnapshot) -> dict[str, Any]:
    """For ``dp_accounting``. Numbers are floats there, and rounded up."""
    by_loss, by_zcdp = [], []
    for entry in entries:
        for cost in entry.costs:
            by_loss.append(_event(*_of_loss(cost, entry.records_per_person or 1), cost.times))
            by_zcdp.append(_event(*_of_zcdp(cost), cost.times))
    return {
        "format": FORMAT,
        "version": VERSION,
        "neighbouring_relation": "ADD_OR_REMOVE_ONE",
        "records_per_person": now.totals.records_per_person,
        "delta": above(now.totals.proved_delta),
        "PLDAccountant": by_loss,
        "RdpAccountant": by_zcdp,
    }


def _event(name: str, arguments: dict[str, Any], times: int) -> dict[str, Any]:
    return {"event": name, "arguments": arguments, "count": times}


def _of_loss(cost: Cost, records: int) -> tuple[str, dict[str, Any]]:
    if cost.kind == UNPROVED:
        return "NonPrivateDpEvent", {}
    steps = records if cost.kind == DISCRETE_LAPLACE else 1
    return "DiscreteLaplaceDpEvent", {"noise_parameter": above(cost.epsilon / steps), "sensitivity": steps}


def _of_zcdp(cost: Cost) -> tuple[str, dict[str, Any]]:
    if cost.kind == UNPROVED:
        return "NonPrivateDpEvent", {}
    return "ZCDpEvent", {"rho": above(cost.rho / cost.times)}


def rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """A row for each release. Amounts are exact fractions, as strings."""
    return [
        {
            "number": number,
            "day": entry.when[:10],
            "release": entry.what,
            "name": entry.release,
            "epsilon": str(entry.epsilon),
            "delta": str(entry.delta),
            "proved_epsilon": None if entry.proved_epsilon is None else str(entry.proved_epsilon),
            "proved_delta": None if entry.proved_delta is None else str(entry.proved_delta),
            "rho": str(rho_sum(entry.costs)) if is_proved(entry.costs) else None,
            "costs": [cost.to_list() for cost in entry.costs],
            "records_per_person": entry.records_per_person,
            "neighbours": ADD_OR_REMOVE,
            "ended": entry.how,
            "models": list(entry.models),
        }
        for number, entry in enumerate(entries, 1)
    ]


def as_csv(entries: Sequence[Entry]) -> str:
    """The rows as CSV, with amounts as decimals, rounded up: a spreadsheet would take 1/10 for a day.

    A cell that it would take for a formula gets an apostrophe in front.
    """
    stream = io.StringIO()
    table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows(entries):
        listed = [f"{n} x {kind} {_decimal(e)} {_decimal(d)}" for kind, e, d, n in row["costs"]]
        row |= {name: None if row[name] is None else _decimal(row[name]) for name in AMOUNTS}
        flat = row | {"costs": "; ".join(listed), "models": " ".join(row["models"])}
        table.writerow({column: _cell(value) for column, value in flat.items()})
    return stream.getvalue()


def _decimal(amount: str) -> float:
    return above(Fraction(amount))


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
