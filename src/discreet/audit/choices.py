"""Level 1: one choice between two rules and no rule, on all pairs of neighbouring nodes up to a size; and other single answers.

What a mechanism does at a node depends on the class counts there and on how each rule splits them. So *all* nodes of up to some
size are all class counts with all splits, for each rule; a neighbour has one record more, of either class, which each rule
captures or not. For each pair the exact probabilities of the three outcomes are compared.

Equal scores have equal distributions, so each distribution is computed once: tables of millions of pairs come from thousands of
integrals.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product

import numpy as np
import numpy.typing as npt

from ..private.counts.counting import NodeCounts
from ..private.counts.patterns import Array
from ..private.mechanisms.base import GreedyMechanism
from ..private.mechanisms.inverse import Inverse, InverseSelector
from ..private.mechanisms.noisy_counts import NoisyCounts, NoisyCountsSelector
from ..private.mechanisms.registry import MECHANISMS
from ..private.mechanisms.schema_histograms import CLASSES, SchemaBudget
from ..private.mechanisms.selector import NoisyMaxSelector
from ..private.mechanisms.smooth_gini import Smooth
from ..private.noise.discrete_laplace import scale_for
from ..private.noise.distributions import Cauchy, log_prob
from ..private.noise.noisy_max import Noise
from ..private.noise.sums import log_pmf
from ..private.sampling.reference import distribution_of_trees
from ..private.sampling.trees.log_weights import ACCURACY, GINI
from . import draws
from .explore import Finding, Loss, differences, worst_of

E = Fraction(2)  # the epsilon of one choice, and of a count
COPIES = ((1, 1), (1, 30))  # rules like the first and like the second, where only extreme nodes are looked at
NODES_AT_A_TIME = 4_096
AGREES = 1e-9

Nodes = tuple[NoisyMaxSelector, Sequence[int], Sequence[int]]  # sizes of nodes: all of them, and extreme ones
Found = Callable[[], Finding]
ROWS_AT_A_TIME = 2_000
ROUNDING = 1e-11  # scores that differ by less are the same number


Distribution = Callable[[Array, Array], Array]
Price = Callable[[int, int], float]
# of one node: all ways to split it, the number of the score of each, and the distributions of each pair of scores with no rule
Distributions = tuple[dict[tuple[int, ...], int], npt.NDArray[np.intp], Array]


def noisy_max_distribution(noise: Noise) -> Distribution:
    """The distribution of ``argmax (score + noise)`` for rows of three scores, the last without copies, as logarithms.

    ``copies`` says how many rules have the first score and how many the second; what comes out is the chance of one of each. By
    quadrature as in ``distributions.log_prob``, for many rows at once: pieces double in length away from each score.
    """
    points, weights = np.polynomial.legendre.leggauss(16)
    heavy = isinstance(noise, Cauchy)
    steps = np.concatenate([[0.0], 2.0 ** np.arange(-2.0, 44.0 if heavy else 8.0, 2.0 if heavy else 1.0)])

    def distribution(scores: Array, copies: Array) -> Array:
        top = scores.max(1, keepdims=True)
        scores = scores - top
        order = np.sort(scores, axis=1)
        edges = [order[:, :1] - steps[:0:-1]]
        for low, high in ((order[:, :1], order[:, 1:2]), (order[:, 1:2], order[:, 2:])):
            near = np.minimum(steps, (high - low) / 2.0)
            edges += [low + near, (high - near)[:, ::-1]]
        edges.append(order[:, 2:] + steps)
        cuts = np.concatenate(edges, axis=1)
        half = np.maximum(np.diff(cuts, axis=1)[:, :, None], 0.0) / 2.0  # rounding may put a cut before the last one
        z = (cuts[:, :-1, None] + half + half * points).reshape(len(scores), -1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of scores far apart: a probability of 0
            log_weight = np.log((half * weights).reshape(len(scores), -1))
            shifted = z[:, None, :] - scores[:, :, None]
            log_cdf, log_pdf = noise.log_cdf(shifted), noise.log_pdf(shifted)
            times = np.append(copies, 1.0)[None, :, None]
            others = (times * log_cdf).sum(1, keepdims=True) - log_cdf
            terms = np.where(np.isneginf(log_cdf), -np.inf, others + log_pdf + log_weight[:, None, :])
            highest = terms.max(2, keepdims=True)
            logs: Array = highest[:, :, 0] + np.log(np.exp(terms - highest).sum(2))
        return logs

    return distribution


def worst_choice(
    selector: NoisyMaxSelector,
    price: Price,
    sizes: Sequence[int],
    distribution: Distribution | None = None,
    n_classes: int = 2,
    copies: Sequence[tuple[int, int]] = ((1, 1),),
    thin: bool = False,
) -> Iterator[Finding]:
    """Compare all nodes of each size with all that have one record more: a finding for each pair of class counts.

    ``price(n, rules)`` is what a choice between so many rules may cost if the smaller node has n records. With ``thin``, for
    large sizes, only nodes with extreme class counts and extreme splits are looked at.
    """
    distribution = noisy_max_distribution(selector.noise) if distribution is None else distribution
    distributions_at = cache(partial(_distributions_at, selector, distribution, thin))
    for size in sizes:
        for left, c, both in product(_class_counts(size, n_classes, thin), range(n_classes), copies):
            place, score_of, logs = distributions_at(left, both)
            more = _with(left, c)
            more_place, more_score_of, more_logs = distributions_at(more, both)
            captured = list(product(*map(_extremes, left))) if thin else list(place)
            moves = [(place[k], more_place[m]) for k in captured for m in (k, _with(k, c))]  # it is captured, or not
            before, after = np.array(moves).T
            distinct, first = np.unique(np.stack([score_of[before], more_score_of[after]]), axis=1, return_index=True)
            i, j = distinct
            loss = differences(logs[i[:, None], i[None]], more_logs[j[:, None], j[None]])
            one, two, outcome = np.unravel_index(int(loss.argmax()), loss.shape)
            rules = " and ".join(
                f"{times} x {captured[int(first[r]) // 2]}{', the newcomer too' if first[r] % 2 else ''}"
                for r, times in zip((one, two), both, strict=True)
            )
            chosen = ("the first", "the second", "no rule")[int(outcome)]
            where = f"{left} and {more}; rules capture {rules}; {chosen} is chosen"
            yield Finding(float(loss[one, two, outcome]), price(size, sum(both)), len(moves) ** 2, where)


def worst_on_grid(distributions: Sequence[Array], price: float, where: str) -> Finding:
    """Compare all nodes of a grid with those that have one record more: a step along one of the axes."""
    changes = [np.abs(np.diff(log, axis=axis)) for log in distributions for axis in range(log.ndim)]
    loss = max(float(change.max()) for change in changes)
    return Finding(loss, price, sum(change.size for change in changes) // len(distributions), where)


def _extremes(k: int) -> set[int]:
    """Numbers from 0 to k that are looked at where not all are: none, one, half, all but one, all."""
    return {0, min(1, k), k // 2, max(0, k - 1), k}


def _reached(k: int) -> set[int]:
    """What the extremes of k - 1 become: the same, or one more."""
    return set() if k == 0 else _extremes(k - 1) | {i + 1 for i in _extremes(k - 1)}


def _with(counts: tuple[int, ...], c: int) -> tuple[int, ...]:
    """And one record of class c more."""
    return tuple(k + (i == c) for i, k in enumerate(counts))


def _class_counts(size: int, n_classes: int, thin: bool) -> Iterator[tuple[int, ...]]:
    if thin:
        for rest in sorted({0, 1, size // 20, size // 4, size // 2, size - 1, size} & set(range(size + 1))):
            yield (size - rest, rest)
        return
    for head in product(range(size + 1), repeat=n_classes - 1):
        if sum(head) <= size:
            yield (*head, size - sum(head))


def _distributions_at(
    selector: NoisyMaxSelector, distribution: Distribution, thin: bool, left: tuple[int, ...], copies: tuple[int, int]
) -> Distributions:
    splits = list(product(*((_extremes(k) | _reached(k)) if thin else range(k + 1) for k in left)))
    node = NodeCounts(np.array(left, float), np.array(splits, float).T.reshape(len(left), -1))
    scores = selector.scores(node)
    distinct, index = np.unique(np.round(scores / ROUNDING) * ROUNDING, return_inverse=True)
    value = np.array([scores[np.flatnonzero(index == k)[0]] for k in range(len(distinct))])
    i, j = np.triu_indices(len(value)) if copies[0] == copies[1] else np.indices((len(value),) * 2).reshape(2, -1)
    rows = np.column_stack([value[i], value[j], np.full(len(i), scores[-1])])
    times = np.array(copies, float)
    parts = [distribution(rows[k : k + ROWS_AT_A_TIME], times) for k in range(0, len(rows), ROWS_AT_A_TIME)]
    table = np.empty((len(value), len(value), 3))
    table[i, j] = np.concatenate(parts)
    if copies[0] == copies[1]:
        table[j, i] = table[i, j][:, [1, 0, 2]]
    return {split: k for k, split in enumerate(splits)}, index[:-1], table


# --- each mechanism, and all other answers ----------------------------------------------------------------------------------


def choices_of(mechanism: GreedyMechanism, quick: bool) -> dict[str, Found]:
    """By name, what compares the exact distributions of a choice at many nodes with those at all their neighbours."""
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
        below = [(much, small, [n for n in large if n < many])]
        above = [(little, range(few, len(small)), ()), (much, (), [n for n in large if n >= many])]
        return {
            f"{name}, below the support": partial(at_nodes, below),
            f"{name}, support {few} or {many}": partial(at_nodes, above),
        }
    selector = mechanism.selector(E, 1e-3, 1, 2)
    assert isinstance(selector, NoisyMaxSelector), "the distributions of other choices have to be listed here"
    found: dict[str, Found] = {name: partial(at_nodes, [(selector, small, large)])}
    if not mechanism.binary_only:
        found[f"{name}, three classes"] = partial(at_nodes, [(selector, range(5 if quick else 10), ())], n_classes=3)
    return found


def at_nodes(cases: Sequence[Nodes], n_classes: int = 2) -> Finding:
    """A choice between two rules, on all nodes of some sizes, and on extreme ones of others with up to 31 rules."""

    def compared() -> Iterator[Finding]:
        for selector, sizes, large in cases:
            yield from worst_choice(selector, selector.price, sizes, n_classes=n_classes)
            yield from worst_choice(selector, selector.price, large, copies=COPIES, thin=True)

    return worst_of(compared())


def _on_grids(cases: Sequence[tuple[Sequence[int], int, int]]) -> Finding:
    """All small nodes, and some large ones with few records more."""
    selector = InverseSelector(E)
    return worst_of(
        worst_on_grid(
            distributions_of_inverse(selector, first, more, copies),
            selector.price(0, 2),
            f"{tuple(first)} and up to {more} records more of each kind, {copies} rules like the second",
        )
        for first, more, copies in cases
    )


def distributions_of_inverse(
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
    return worst_on_grid(selector.distributions([range(most + 1)] * 4), selector.price(0, 1), where)


def _draw(most: int) -> Finding:
    defined = draws.list_distributions(0.5)
    _agree(defined, draws.list_distributions_by_problem(0.5), tables=30)
    _agree(defined, draws.list_distributions_by_sums(0.5), tables=10)
    return worst_of(draws.worst_draw(0.5, most, defined, draws.LISTS))


def _draw_tree(most: int, score: str) -> Finding:
    defined, (trees, _) = draws.tree_distributions(0.5, score), draws.all_trees(score)
    ways = ((distribution_of_trees, 20), (draws.distribution_of_choices, 3), (draws.distribution_on_marginals, 3))
    for weights, tables in ways:
        _agree(defined, draws.tree_distributions_by_problem(0.5, score, weights=weights), tables)
    return worst_of(draws.worst_draw(0.5, most, defined, trees))


def _agree(one: draws.Distributions, other: draws.Distributions, tables: int) -> None:
    if draws.largest_disagreement(one, other, tables, 40, seed=0) > AGREES:
        raise RuntimeError("a sampler draws from another distribution than that of the exponential mechanism")


def worst_count(epsilon: Fraction, most: int) -> Finding:
    """A count from 0 to ``most`` and one more, each with noise, at every answer within reach of a float."""
    a = 1.0 / scale_for(epsilon)
    k = np.arange(-most, most + 1)  # answers relative to the count: the distribution depends on nothing else
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
    calls["a draw of a rule list"] = partial(_draw, 4 if quick else 7)
    calls["a draw of a tree"] = partial(_draw_tree, 3 if quick else 6, ACCURACY)
    calls["a draw of a tree by Gini"] = partial(_draw_tree, 4 if quick else 7, GINI)
    calls |= {name: partial(worst_schema, budget) for name, budget in BUDGETS.items()}
    calls["released counts"] = partial(worst_count, E, 1_000_000)
    calls["support check"] = partial(worst_check, E, 1_000_000)
    return calls


STEPS = 4_000  # of losses, for each epsilon; they are rounded up
FAR, NEGLIGIBLE = 12, 1e-25  # standard deviations of normal noise, and chances
BUDGETS = {
    "a schema, discrete Laplace noise": SchemaBudget(Fraction(1), Fraction(1, 10**6), 2, 1),
    "a schema, normal noise": SchemaBudget(Fraction(1), Fraction(1, 10**6), 2, 14),
}


def worst_schema(budget: SchemaBudget, closer: int = 2, texts: int = 3) -> Finding:
    """With so many closer looks and columns of texts."""
    each, part = budget.each_closer(closer + texts), budget.part_of_delta(texts)
    shares = {budget.first: budget.histograms, each: closer + texts} | ({CLASSES: 1} if budget.with_classes else {})
    told = texts * _told(budget, each, part)
    told += _told(budget, CLASSES, budget.part_of_delta(1)) if budget.with_classes else 0.0
    left = float(budget.delta) - told
    if budget.is_gaussian:
        epsilon = _loss_of_all(budget, shares).epsilon(left)
    else:
        losses = {share: _losses(budget, share)[1].max() for share in shares}
        epsilon = sum(n * losses[share] for share, n in shares.items())
    where = f"{budget.records} records in one bin of each histogram, {budget.records} texts that nobody else has"
    return Finding(float(epsilon) if left >= 0 else math.inf, float(budget.epsilon), 1, where, float(budget.delta))


def _noise(budget: SchemaBudget, share: Fraction) -> tuple[Array, Array]:
    """Numbers around 0, and the chance of each as noise, as logarithms."""
    if not budget.is_gaussian:
        scale = budget.deviation(share) / math.sqrt(2)
        k = np.arange(-(reach := 100 * math.ceil(scale)), reach + 1)
        return k.astype(float), log_pmf(k, 1 / scale)
    sigma = budget.deviation(share)
    z = np.arange(-(reach := math.ceil(FAR * sigma)), reach + 1, dtype=float)
    logs = -((z / sigma) ** 2) / 2
    return z, logs - np.logaddexp.reduce(logs)


def _losses(budget: SchemaBudget, share: Fraction) -> tuple[Array, Array]:
    """Of a count that is larger by all records of a person: the chance of each answer, and its loss."""
    _, logs = _noise(budget, share)
    k = budget.records
    return np.exp(logs[k:]), logs[k:] - logs[:-k]


def _loss_of_all(budget: SchemaBudget, shares: dict[Fraction, int]) -> Loss:
    """Of so many histograms with each of these shares."""
    step, least, mass = float(budget.epsilon) / STEPS, 0, np.ones(1, np.float64)
    for share, n in shares.items():
        chances, losses = _losses(budget, share)
        # the loss of normal noise grows evenly from answer to answer, so that of n histograms follows from their sum
        total = chances
        for _ in range(n - 1):
            total = np.convolve(total, chances)
        kept = total > NEGLIGIBLE
        losses = np.linspace(n * losses[0], n * losses[-1], len(total))[kept]
        places = np.ceil(losses / step - 1e-9).astype(int)
        mass, least = (
            np.convolve(mass, np.bincount(places - places.min(), weights=total[kept])),
            least + places.min(),
        )
    with np.errstate(divide="ignore"):
        logs: Array = np.log(mass)
    return Loss(logs, step * np.arange(least, least + len(mass), dtype=np.float64))


def _told(budget: SchemaBudget, share: Fraction, part: Fraction) -> float:
    """At most the chance that a text is told which only this person has, of a column."""
    least, threshold = budget.thresholds(share, part)
    z, logs = _noise(budget, share)
    return float(budget.records * np.exp(logs[z >= threshold - (least - 1 + budget.records)]).sum())
