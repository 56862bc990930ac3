"""What a ledger says in a sentence: what is left of it, and what all releases come to together."""

from .entries import LedgerSnapshot
from .statement import rounded_up
from .totals import ADDITION, Total


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
            "this ledger promises no total any more."
        )
    if total is None or not now.delta or not t.entries:
        return ""
    said = f"All releases together: epsilon {rounded_up(total.epsilon, 4)} at delta {rounded_up(total.delta, 3)}"
    if total.by == ADDITION:
        return f"{said}, by addition."
    if_so = "if no budget was chosen by looking at earlier results"
    return f"{said}, by {total.by}, {if_so}; {rounded_up(t.proved_epsilon, 4)} by addition."


def to_whom(now: LedgerSnapshot) -> str:
    """To people with how many records, if that is not one."""
    records = now.totals.records_per_person
    return "" if records in (None, 1) else f"This is about people with up to {records} records."
