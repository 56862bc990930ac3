"""Level 1: one choice by each mechanism, at the nodes that it lists; a draw of a list, released counts, the support check."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

from ..mechanisms.audit_cases import Grid, Nodes
from ..mechanisms.registry import MECHANISMS
from .choices import Finding, worst_choice, worst_on_grid
from .counts import worst_check, worst_count
from .lists import largest_disagreement, worst_draw

E = Fraction(2)  # the epsilon of a count
COPIES = ((1, 1), (1, 30))  # rules like the first and like the second, where only extreme nodes are looked at
AGREES = 1e-9


def findings(cases: Iterable[Nodes | Grid]) -> Finding:
    """The worst of all pairs of neighbours in some cases."""
    found: list[Finding] = []
    for case in cases:
        if isinstance(case, Grid):
            found.append(worst_on_grid(case.laws(), case.price, case.where))
            continue
        selector = case.selector
        found += worst_choice(selector, selector.price, case.sizes, n_classes=case.n_classes)
        found += worst_choice(selector, selector.price, case.large, copies=COPIES, thin=True)
    return _worst(found)


def _worst(found: Sequence[Finding]) -> Finding:
    return max(found, key=lambda f: f.ratio)._replace(pairs=sum(f.pairs for f in found))


def _draw(most: int) -> Finding:
    if largest_disagreement(0.5, 30, 40, seed=0) > AGREES:
        raise RuntimeError("the samplers are handed another law than that of the exponential mechanism")
    return _worst(list(worst_draw(0.5, most)))


def audited(quick: bool) -> dict[str, Callable[[], Finding]]:
    """By name; each call takes seconds (quick) to a minute and compares over a million pairs (not quick)."""
    calls: dict[str, Callable[[], Finding]] = {}
    for mechanism in MECHANISMS.values():
        calls |= {name: partial(findings, cases) for name, cases in mechanism.audit_choices(quick).items()}
    calls["a draw of a whole list"] = partial(_draw, 4 if quick else 7)
    calls["released counts"] = partial(worst_count, E, 1_000_000)
    calls["support check"] = partial(worst_check, E, 1_000_000)
    return calls
