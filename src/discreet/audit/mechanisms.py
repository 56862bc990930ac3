"""Level 1: one choice by each mechanism, at nodes that it lists; draws of lists and trees, released counts, the support check."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from ..private.mechanisms.audit_cases import Grid, Nodes
from ..private.mechanisms.registry import MECHANISMS
from ..private.noise.discrete_laplace import log_pmf, scale_for
from ..private.sampling.trees.worth import ACCURACY, MASS
from . import draws
from .choices import Finding, worst_choice, worst_on_grid

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
    defined = draws.list_laws(0.5)
    handed = draws.largest_disagreement(defined, draws.list_laws_by_problem(0.5), 30, 40, seed=0)
    summed = draws.largest_disagreement(defined, draws.list_laws_by_sums(0.5), 10, 40, seed=1)
    if max(handed, summed) > AGREES:
        raise RuntimeError("lists are drawn by another law than that of the exponential mechanism")
    return _worst(list(draws.worst_draw(0.5, most)))


def _draw_tree(most: int, score: str) -> Finding:
    handed = draws.disagreement_of_trees(0.5, 20, 40, seed=0)
    ways = draws.law_of_choices, draws.law_on_tuples
    if max(handed, *(draws.disagreement_of_trees(0.5, 3, 40, seed=1, weights=weights) for weights in ways)) > AGREES:
        raise RuntimeError("trees are drawn by another law than that of the exponential mechanism")
    return _worst(list(draws.worst_tree(0.5, most, score)))


def worst_count(epsilon: Fraction, most: int) -> Finding:
    """A count from 0 to ``most`` and one more, each with noise, at every answer within reach of a float."""
    a = 1.0 / scale_for(epsilon)
    k = np.arange(-most, most + 1)  # answers relative to the count: the law depends on nothing else
    loss = np.abs(log_pmf(k, a) - log_pmf(k - 1, a))
    return Finding(float(loss.max()), float(epsilon), most, f"a count c and c + 1; answer c + {k[loss.argmax()]}")


def worst_check(epsilon: Fraction, most: int) -> Finding:
    """All numbers of records up to ``most`` and one more, against a threshold in the middle: passed, and not passed."""
    a = 1.0 / scale_for(epsilon)
    missing = most // 2 - np.arange(most + 1)  # how much noise it takes to pass
    small = -a * np.where(missing >= 1, missing, 1 - missing) - math.log1p(math.exp(-a))  # log of the smaller chance
    with np.errstate(divide="ignore"):
        rest = np.log1p(-np.exp(small))
    passes, fails = np.where(missing >= 1, small, rest), np.where(missing >= 1, rest, small)
    loss = np.maximum(np.abs(np.diff(passes)), np.abs(np.diff(fails)))
    return Finding(float(loss.max()), float(epsilon), most, f"{most // 2} away from the threshold at most")


def audited(quick: bool) -> dict[str, Callable[[], Finding]]:
    """By name; each call takes seconds (quick) to a minute and compares over a million pairs (not quick)."""
    calls: dict[str, Callable[[], Finding]] = {}
    for mechanism in MECHANISMS.values():
        calls |= {name: partial(findings, cases) for name, cases in mechanism.audit_choices(quick).items()}
    calls["a draw of a whole list"] = partial(_draw, 4 if quick else 7)
    calls["a draw of a whole tree"] = partial(_draw_tree, 3 if quick else 6, ACCURACY)
    calls["a draw of a whole tree by mass"] = partial(_draw_tree, 4 if quick else 7, MASS)
    calls["released counts"] = partial(worst_count, E, 1_000_000)
    calls["support check"] = partial(worst_check, E, 1_000_000)
    return calls
