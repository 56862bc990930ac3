"""What a new ledger is, from what its maker says. It is decided once."""

import secrets
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from .amounts import exact
from .entries import Whole
from .zcdp import delta_of, rho_of

Rho = float | Fraction | Literal["auto"] | None


def whole_of(epsilon: Any, delta: Any, allow_unproved: Any, rho: Rho, records_per_person: Any) -> Whole:
    """With the budget in zCDP, if there is to be one, and what of delta it takes."""
    whole = Whole(exact("epsilon", epsilon), exact("delta", delta), bool(allow_unproved), secrets.token_hex(8))
    if records_per_person is not None:
        if isinstance(records_per_person, bool) or not isinstance(records_per_person, int) or records_per_person < 1:
            raise ValueError(f"records_per_person must be an integer of at least 1, not {records_per_person!r}")
        whole = replace(whole, records_per_person=records_per_person)
    if rho is None:
        return whole
    if not whole.delta or not whole.epsilon:
        raise ValueError("to count in zCDP (rho), a ledger needs an epsilon and a delta: Ledger(3.0, 1e-6, rho='auto')")
    if rho == "auto":
        return replace(whole, rho=rho_of(whole.epsilon, whole.delta), rho_delta=whole.delta)
    if isinstance(rho, str):
        raise ValueError("rho must be a number, or 'auto'")
    budget = exact("rho", rho)
    taken = delta_of(budget, whole.epsilon)
    if taken > whole.delta:
        raise ValueError(
            f"rho = {float(budget):g} would take a delta of {float(taken):.3g} at this epsilon, and the ledger has "
            f"{float(whole.delta):g}; rho may be up to {float(rho_of(whole.epsilon, whole.delta)):.6g}"
        )
    return replace(whole, rho=budget, rho_delta=taken)
