"""Level 1: one choice by each mechanism; draws of lists and trees, released counts, the support check."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from ..private.mechanisms.base import GreedyMechanism
from ..private.mechanisms.inverse import Inverse, InverseSelector
from ..private.mechanisms.noisy_counts import NoisyCounts, NoisyCountsSelector
from ..private.mechanisms.registry import MECHANISMS
from ..private.mechanisms.selector import NoisyMaxSelector
from ..private.mechanisms.smooth_gini import Smooth
from ..private.noise.discrete_laplace import scale_for
from ..private.noise.distributions import log_prob
from ..private.noise.sums import log_pmf
from ..private.sampling.trees.worth import ACCURACY, MASS
from . import draws
from .choices import Finding, worst_choice, worst_on_grid
from .loss import Array

E = Fraction(2)  # the epsilon of one choice, and of a count
COPIES = ((1, 1), (1, 30))  # rules like the first and like the second, where only extreme nodes are looked at
NODES_AT_A_TIME = 4_096
AGREES = 1e-9

Nodes = tuple[NoisyMaxSelector, Sequence[int], Sequence[int]]  # sizes of nodes: all of them, and extreme ones
Found = Callable[[], Finding]


def choices_of(mechanism: GreedyMechanism, quick: bool) -> dict[str, Found]:
    """By name, what compares the exact laws of a choice at many nodes with those at all their neighbours."""
    name, small = mechanism.name, range(9 if quick else 18)
    large = (1, 20, 400) if quick else (1, 2, 20, 21, 40, 400, 10_000)
    if isinstance(mechanism, Inverse):  # a score depends on all candidates
        more = 1 if quick else 2
        crowded = ([0, 0, 0, 50, 0, 0, 0, 0], [0, 20, 20, 0, 0, 0, 0, 20], [60, 0, 9, 30, 20, 3, 3, 50])
        two = [([0] * 8, 2 if quick else 4, 1), ([0] * 8, more, 30), *((one, more, 30) for one in crowded)]
        three = [([0] * 12, more, 1), ([0] * 10 + [8, 0], 1, 30)]
        return {name: partial(_on_grids, two), f"{name}, three classes": partial(_on_grids, three)}
    if isinstance(mechanism, NoisyCounts):  # no noisy maximum
        return {name: partial(_on_noisy_counts, 12 if quick else 24)}
    if isinstance(mechanism, Smooth):
        few, many = 5, 20
        little, much = (mechanism.selector(E, 1e-6, support, 2) for support in (few, many))
        above = [
            (little, [n for n in small if n >= few], ()),
            (much, (), [n for n in large if n >= many]),
        ]
        below = [(much, small, [n for n in large if n < many])]
        return {
            f"{name}, below the support": partial(at_nodes, below),
            f"{name}, support {few} or {many}": partial(at_nodes, above),
        }
    selector = mechanism.selector(E, 1e-3, 1, 2)
    assert isinstance(selector, NoisyMaxSelector), "the laws of other choices have to be listed here"
    found: dict[str, Found] = {name: partial(at_nodes, [(selector, small, large)])}
    if not mechanism.binary_only:
        found[f"{name}, three classes"] = partial(at_nodes, [(selector, range(5 if quick else 10), ())], n_classes=3)
    return found


def at_nodes(cases: Sequence[Nodes], n_classes: int = 2) -> Finding:
    """A choice between two rules, on all nodes of some sizes, and on extreme ones of others with up to 31 rules."""
    found: list[Finding] = []
    for selector, sizes, large in cases:
        found += worst_choice(selector, selector.price, sizes, n_classes=n_classes)
        found += worst_choice(selector, selector.price, large, copies=COPIES, thin=True)
    return _worst(found)


def _on_grids(cases: Sequence[tuple[Sequence[int], int, int]]) -> Finding:
    """All small nodes, and some large ones with few records more."""
    selector, found = InverseSelector(E), []
    for first, more, copies in cases:
        where = f"{tuple(first)} and up to {more} records more of each kind, {copies} rules like the second"
        found.append(worst_on_grid(laws_of_inverse(selector, first, more, copies), selector.price(0, 2), where))
    return _worst(found)


def laws_of_inverse(
    selector: InverseSelector, first: Sequence[int], more: int, copies: int = 1
) -> tuple[Array, Array, Array]:
    """log P(the first rule), log P(one of ``copies`` rules like the second), log P(no rule).

    A score depends on all candidates, so nodes are compared whole. A node has so many records of each kind: in neither rule, in
    the first, in the second, in both, of the first class; then of the next class, and so on. Each kind has an axis, of ``more +
    1`` steps from ``first`` on.
    """
    shape = (more + 1,) * len(first)
    kinds = (np.indices(shape, float).reshape(len(first), -1).T + first).T.reshape(-1, 4, (more + 1) ** len(first))
    captured = np.stack([kinds[:, 1] + kinds[:, 3], kinds[:, 2] + kinds[:, 3]], axis=1)
    parts = [slice(k, k + NODES_AT_A_TIME) for k in range(0, kinds.shape[2], NODES_AT_A_TIME)]
    losses = np.concatenate([selector.at_nodes(kinds[..., part].sum(1), captured[..., part]) for part in parts], axis=1)
    distinct, index = np.unique(losses, axis=1, return_inverse=True)
    rules = np.repeat([0, 1, 2], [1, copies, 1])
    logs = np.stack([log_prob(-one[rules] / selector.scale, selector.noise)[[0, 1, -1]] for one in distinct.T])
    table = logs[index.ravel()].T.reshape(3, *shape)
    return table[0], table[1], table[2]


def _on_noisy_counts(most: int) -> Finding:
    """All nodes whose four counts are at most so large, against all that have one record more."""
    selector = NoisyCountsSelector(E, 1)
    where = f"captured and left records of each class from 0 to {most}"
    return worst_on_grid(selector.laws([range(most + 1)] * 4), selector.price(0, 1), where)


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


def audited(quick: bool) -> dict[str, Found]:
    """By name; each call takes seconds (quick) to a minute and compares over a million pairs (not quick)."""
    calls: dict[str, Found] = {}
    for mechanism in MECHANISMS.values():
        calls |= choices_of(mechanism, quick)
    calls["a draw of a whole list"] = partial(_draw, 4 if quick else 7)
    calls["a draw of a whole tree"] = partial(_draw_tree, 3 if quick else 6, ACCURACY)
    calls["a draw of a whole tree by mass"] = partial(_draw_tree, 4 if quick else 7, MASS)
    calls["released counts"] = partial(worst_count, E, 1_000_000)
    calls["support check"] = partial(worst_check, E, 1_000_000)
    return calls
