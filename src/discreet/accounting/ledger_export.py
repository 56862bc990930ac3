"""A ledger for people and other tools: sentences, a table of its releases, and events for Google's ``dp_accounting``.

**Events.** There are two lists, since its accountants know different events. For ``PLDAccountant`` every pure cost is a
``DiscreteLaplaceDpEvent``: with sensitivity 1 its privacy loss is that of randomised response, the worst of all e-DP answers. Of
bounded range no more than that is said there. For ``RdpAccountant`` every cost is a ``ZCDpEvent``, and bounded range counts as
such. The deltas that the releases need themselves are no events: take ``delta`` off the delta at which you ask. Something about
which nothing is proved is a ``NonPrivateDpEvent``. docs/privacy.md has the lines of Python that read this.
"""

import csv
import io
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .._utils.escaping import on_a_line
from .._utils.parameters import rounded_up
from .costs import DISCRETE_LAPLACE, UNPROVED, is_proved, rho_sum
from .entries import NEIGHBOURS, STOPPED, Entry, optional
from .statement import above
from .summary import ADDITION, LedgerSnapshot, Total

FORMAT, VERSION = "discreet ledger events", 1
AMOUNTS = ("epsilon", "delta", "proved_epsilon", "proved_delta", "rho")
COLUMNS = (
    *("number", "day", "release", "name", *AMOUNTS, "costs"),
    *("records_per_person", "neighbours", "ended", "models"),
)


def as_text(entries: Sequence[Entry], now: LedgerSnapshot) -> str:
    """A table: a line for each release, then the sums."""
    lines = [("when", "what", "epsilon", "delta", "unused, not returned", "proved")]
    for e in entries:
        unused = "(not closed)" if e.unused_epsilon is None else f"{float(e.unused_epsilon):.4g}"
        unused += " (stopped)" if e.how == STOPPED else ""
        proved = "nothing"
        if e.proved_epsilon is not None and e.proved_delta is not None:
            proved = f"{rounded_up(e.proved_epsilon, 6)}, {rounded_up(e.proved_delta, 3)}"
        when = on_a_line(e.when[:16].replace("T", " "))
        lines.append((when, on_a_line(e.what), f"{float(e.epsilon):.6g}", f"{float(e.delta):.6g}", unused, proved))
    spent, left, (epsilon, delta) = now.spent, now.remaining, now.proved
    in_all = "nothing" if math.isinf(epsilon) else f"{rounded_up(epsilon, 6)}, {rounded_up(delta, 3)}"
    lines.append(("", "spent", f"{float(spent[0]):.6g}", f"{float(spent[1]):.6g}", "", in_all))
    lines.append(("", "left", f"{float(left[0]):.6g}", f"{float(left[1]):.6g}", "", ""))
    if (rho := now.remaining_rho) is not None:
        lines.append(("", "left in zCDP", f"rho {float(rho):.6g}", "", "", ""))
    widths = [max(len(row[i]) for row in lines) for i in range(6)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in lines)


def left_of(now: LedgerSnapshot) -> str:
    """What may still be spent.

    >>> from discreet import Ledger
    >>> left_of(Ledger(3.0).snapshot())
    'epsilon 3 of 3 left'
    >>> left_of(Ledger(3.0, 1e-6, rho=0.125).snapshot())
    'rho 0.125 of 0.125 left in zCDP, or epsilon 3 of 3 by addition, delta 9.98e-07 of 1e-06'
    """
    epsilon, delta = now.remaining
    of_delta = f", delta {float(delta):.3g} of {float(now.delta):.3g}" if now.delta else ""
    if now.rho is None or now.remaining_rho is None:
        return f"epsilon {float(epsilon):.6g} of {float(now.epsilon):.6g} left{of_delta}"
    rho = f"rho {float(now.remaining_rho):.4g} of {float(now.rho):.4g} left in zCDP"
    return f"{rho}, or epsilon {float(epsilon):.6g} of {float(now.epsilon):.6g} by addition{of_delta if delta else ''}"


def together(now: LedgerSnapshot, total: Total | None) -> str:
    """What is proved about all releases so far, at the ledger's delta. Where it is just the sum, nothing is said."""
    t = now.totals
    if t.unproved:
        return (
            f"Nothing is proved about {t.unproved} of the releases, nor about all of them together: "
            "this ledger can promise no total."
        )
    if total is None or not now.delta or not t.entries:
        return ""
    said = f"All releases together: epsilon {rounded_up(total.epsilon, 4)} at delta {rounded_up(total.delta, 3)}"
    if total.by == ADDITION:
        return f"{said}, by addition."
    if_so = "provided that no budget was chosen by looking at earlier results"
    return f"{said}, by {total.by}, {if_so}; {rounded_up(t.proved_epsilon, 4)} by addition."


def to_whom(now: LedgerSnapshot) -> str:
    """To people with how many records, if that is not one."""
    records = now.totals.records_per_person
    return "" if records in (None, 1) else f"This is about people with up to {records} records."


def events(entries: Sequence[Entry], now: LedgerSnapshot) -> dict[str, Any]:
    """For ``dp_accounting``. Numbers are floats there, and rounded up."""
    by_loss, by_zcdp = [], []
    for entry in entries:
        for cost in entry.costs:
            if cost.kind == UNPROVED:
                loss = zcdp = {"event": "NonPrivateDpEvent", "arguments": {}, "count": cost.times}
            else:
                steps = (entry.records_per_person or 1) if cost.kind == DISCRETE_LAPLACE else 1
                noise = {"noise_parameter": above(cost.epsilon / steps), "sensitivity": steps}
                loss = {"event": "DiscreteLaplaceDpEvent", "arguments": noise, "count": cost.times}
                zcdp = {"event": "ZCDpEvent", "arguments": {"rho": above(cost.rho / cost.times)}, "count": cost.times}
            by_loss.append(loss)
            by_zcdp.append(zcdp)
    return {
        "format": FORMAT,
        "version": VERSION,
        "neighbouring_relation": "ADD_OR_REMOVE_ONE",
        "records_per_person": now.totals.records_per_person,
        "delta": above(now.totals.proved_delta),
        "PLDAccountant": by_loss,
        "RdpAccountant": by_zcdp,
    }


def rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """A row for each release. Amounts are exact fractions, as strings."""
    found = []
    for number, e in enumerate(entries, 1):
        rho, costs = rho_sum(e.costs) if is_proved(e.costs) else None, [cost.to_list() for cost in e.costs]
        amounts = (optional(str, amount) for amount in (e.epsilon, e.delta, e.proved_epsilon, e.proved_delta, rho))
        last = (e.records_per_person, NEIGHBOURS, e.how, list(e.models))
        found.append(dict(zip(COLUMNS, (number, e.when[:10], e.what, e.release, *amounts, costs, *last), strict=True)))
    return found


def as_csv(entries: Sequence[Entry]) -> str:
    """The rows as CSV, with amounts as decimals, rounded up: a spreadsheet would take 1/10 for a day.

    A cell that it would take for a formula gets an apostrophe in front.
    """
    stream = io.StringIO()
    table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows(entries):
        listed = [f"{n} x {kind} {_decimal(e)} {_decimal(d)}" for kind, e, d, n in row["costs"]]
        row |= {name: optional(_decimal, row[name]) for name in AMOUNTS}
        flat = row | {"costs": "; ".join(listed), "models": " ".join(row["models"])}
        table.writerow({column: _cell(value) for column, value in flat.items()})
    return stream.getvalue()


def _decimal(amount: str) -> float:
    return above(Fraction(amount))


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
