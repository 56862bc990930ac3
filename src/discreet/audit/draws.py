"""Level 1 for draws of rule lists and trees: all neighbouring tables of a few records, all labelled lists of up to three rules,
and all trees up to depth 2 over three tests.

The probability of a model is its prior times ``exp(epsilon * score)``. What one record adds to the score of each list is
written in a matrix, so that the distributions of all tables are one product. The score of a tree is a sum over leaves, and what
a leaf adds follows from which patterns of the tests lead to it; so these, too, are one product. That the samplers are
handed this very distribution is checked on some of the tables, from the problem that they get; and that the choices multiply to
it of the sampler which adds up all lists, and of the one that draws a tree from the root down.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from ..private.counts.marginals import LARGEST, MarginalsInProgress, MarginalTables
from ..private.counts.patterns import Array
from ..private.sampling.list_sums import ListSums
from ..private.sampling.problem import Problem, make_problem
from ..private.sampling.reference import distribution_of_trees
from ..private.sampling.trees.drawing import WeighedTrees
from ..private.sampling.trees.log_weights import ACCURACY
from ..private.sampling.trees.problems import DrawProblem, MarginalTrees, TreeProblem
from ..rules.candidates import Candidates, NumberedFork, NumberedLeaf, NumberedTree, Path, leaves_of
from ..rules.prior import Prior, TreePrior
from ..schema import Schema
from .explore import Finding, differences
from .explorer import Explorer, distribution_of_lists, schema_of_rules

N_RULES = 3
TRUTH = np.array(list(product([False, True], repeat=N_RULES))).T  # (rules, patterns): all patterns there are
KINDS = [(label, pattern) for label in (0, 1) for pattern in range(TRUTH.shape[1])]  # of records
LISTS = [
    (rules, labels)
    for length in range(N_RULES + 1)
    for rules in permutations(range(N_RULES), length)
    for labels in product((0, 1), repeat=length + 1)
]
LIST_PRIOR = Prior((1.0,) * (N_RULES + 1), np.ones(N_RULES))
TABLES_AT_A_TIME = 4_000

Distributions = Callable[[Array], Array]  # tables (rows, kinds) -> log probabilities (rows, outcomes)
Distribution = tuple[Sequence[Any], Array]  # outcomes, and the logarithms of their probabilities
DEPTH = 2
SPLIT = 0.5
TREE_PRIOR = TreePrior(SPLIT, np.full(N_RULES, 1.0 / N_RULES))


def multiplied_out(draw_by: Callable[[Callable[[Array], int]], Any]) -> Distribution:
    """Every outcome of a sampler with its probability: each of its choices is a fork."""
    explorer, outcomes, logs = Explorer(), [], []
    for _ in explorer.paths():
        outcomes.append(draw_by(explorer.choose))
        logs.append(explorer.log_p)
    return outcomes, np.array(logs)


def by_table(outcomes: Sequence[Any], distribution: Callable[[Array], Distribution]) -> Distributions:
    """A table at a time, from its class counts in each pattern."""
    place = {x: i for i, x in enumerate(outcomes)}

    @lru_cache(maxsize=1000)
    def row_of(table: tuple[float, ...]) -> Array:
        row = np.full(len(place), -np.inf)
        for x, log in zip(*distribution(np.array(table).reshape(2, -1)), strict=True):
            row[place[x]] = np.logaddexp(row[place[x]], log)
        return row

    return lambda tables: np.array([row_of(tuple(table.tolist())) for table in tables])


def _counted(
    truth: npt.NDArray[np.bool_], counts: Array, size: int, make: Callable[[Schema], Candidates]
) -> tuple[Candidates, MarginalTables]:
    """Candidates over Boolean columns, one for each row of a truth table; and the joint counts of these columns."""
    schema = schema_of_rules(len(truth), len(counts))
    filling = MarginalsInProgress(schema.used, len(counts), size)
    labels, patterns = np.nonzero(counts)
    times = counts[labels, patterns].astype(int)
    filling.add([np.repeat(row[patterns], times).astype(int) for row in truth], np.repeat(labels, times))
    return make(schema), filling.finish()


def worst_draw(rate: float, most: int, distributions: Distributions, outcomes: Sequence[Any]) -> Iterator[Finding]:
    """Compare all tables of up to ``most`` records with all that have one more: a finding for some tables and a newcomer.

    ``distributions`` are over the ``outcomes``.
    """
    kinds = len(KINDS)
    for size in range(most + 1):
        tables = np.array(
            [np.bincount(t, minlength=kinds) for t in combinations_with_replacement(range(kinds), size)], float
        ).reshape(-1, kinds)
        for some in np.split(tables, range(TABLES_AT_A_TIME, len(tables), TABLES_AT_A_TIME)):
            here = distributions(some)
            for newcomer, added in zip(KINDS, np.eye(kinds), strict=True):
                loss = differences(distributions(some + added), here)
                row, column = np.unravel_index(int(loss.argmax()), loss.shape)
                records = [KINDS[k] for k in np.repeat(np.arange(kinds), some[row].astype(int))]
                where = f"(class, pattern) {records}, newcomer {newcomer}; {outcomes[int(column)]} is drawn"
                yield Finding(float(loss[row, column]), rate, len(some), where)


def largest_disagreement(one: Distributions, other: Distributions, tables: int, most: int, seed: int) -> float:
    """Between the distribution by definition and that of the samplers' problem (or choices), on random tables."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.multinomial(rng.integers(most + 1), np.ones(len(KINDS)) / len(KINDS)) for _ in range(tables)])
    return float(np.abs(one(drawn) - other(drawn)).max())


# --- lists ----------------------------------------------------------------------------------------------------------------


def list_distributions(rate: float) -> Distributions:
    """The distribution of Theorem 13, with all lengths alike, then all lists of a length."""

    def answer(rules: tuple[int, ...], labels: tuple[int, ...], pattern: int) -> int:
        return next((x for rule, x in zip(rules, labels, strict=False) if TRUTH[rule, pattern]), labels[-1])

    gain = np.array([[answer(*x, pattern) == label for label, pattern in KINDS] for x in LISTS], float)
    lengths = np.array([len(rules) for rules, _ in LISTS])
    prior = -np.log(np.bincount(lengths)[lengths])
    return lambda tables: np.asarray(log_softmax(rate * tables @ gain.T + prior, axis=1))


def list_distributions_by_problem(
    rate: float, change: Callable[[Problem], Problem] = lambda problem: problem
) -> Distributions:
    """The same from what the samplers get, perhaps changed (as a twin would); a table at a time."""
    return by_table(LISTS, lambda counts: distribution_of_lists(change(make_problem(TRUTH, counts, LIST_PRIOR, rate))))


def list_distributions_by_sums(rate: float) -> Distributions:
    """The same from the code of the sampler that adds up all lists: each of its choices is a fork."""

    def distribution(counts: Array) -> Distribution:
        sums = list_sums(TRUTH, counts, LIST_PRIOR, rate)
        return multiplied_out(lambda choose: tuple(map(tuple, sums.draw_by(choose))))

    return by_table(LISTS, distribution)


def list_sums(truth: npt.NDArray[np.bool_], counts: Array, prior: Prior, rate: float) -> ListSums:
    """All lists added up, from joint counts of Boolean columns, each of which is a rule."""
    rules, marginals = _counted(truth, counts, LARGEST, partial(Candidates.of_schema, negations=False))
    return ListSums(marginals, rules, prior, np.ones(len(counts)), rate)


# --- trees ----------------------------------------------------------------------------------------------------------------


@lru_cache
def all_trees(score: str) -> tuple[tuple[NumberedTree, ...], tuple[float, ...]]:
    """And their prior probabilities. Trees that are drawn by Gini have no labels."""

    def trees(depth: int) -> Iterator[tuple[NumberedTree, float]]:
        leaves = [NumberedLeaf(0), NumberedLeaf(1)] if score == ACCURACY else [NumberedLeaf()]
        for leaf in leaves:
            yield leaf, (1.0 - SPLIT if depth else 1.0) / len(leaves)
        for test in range(N_RULES if depth else 0):
            for true, p in trees(depth - 1):
                for other, q in trees(depth - 1):
                    yield NumberedFork(test, true, other), SPLIT / N_RULES * p * q

    every, priors = zip(*trees(DEPTH), strict=True)
    return every, priors


def _inside(path: Path) -> Array:
    inside: Array = np.prod([np.ones(TRUTH.shape[1]), *(TRUTH[test] == side for test, side in path)], axis=0)
    return inside


def tree_distributions(rate: float, score: str) -> Distributions:
    """The distribution of Theorem 20."""
    trees, priors = all_trees(score)
    leaves = [[(_inside(path).tobytes(), leaf.label) for path, leaf in leaves_of(tree)] for tree in trees]
    places = {leaf: place for place, leaf in enumerate(dict.fromkeys(chain.from_iterable(leaves)))}
    belongs = np.zeros((len(trees), len(places)))  # which leaves each tree has
    for row, leaf in ((row, leaf) for row, there in zip(belongs, leaves, strict=True) for leaf in there):
        row[places[leaf]] += 1.0
    prior = np.log(priors)

    def value(counts: Array, label: int | None) -> Array:
        a, b = counts.T
        return counts[:, label] if label is not None else -a * b / np.maximum(a + b, 1.0)

    def distributions(tables: Array) -> Array:
        counts = tables.reshape(len(tables), 2, -1)
        scores = np.stack([value(counts @ np.frombuffer(part), label) for part, label in places], axis=1)
        return np.asarray(log_softmax(rate * scores @ belongs.T + prior, axis=1))

    return distributions


Weights = Callable[[TreeProblem, int], Distribution]


def distribution_of_choices(problem: DrawProblem, depth: int) -> Distribution:
    """Every tree with its probability, from the sampler's own code."""
    return multiplied_out(WeighedTrees(problem, depth).draw_by)


def distribution_on_marginals(problem: TreeProblem, depth: int) -> Distribution:
    """The same from joint counts of columns."""
    return distribution_of_choices(on_marginals(problem, depth), depth)


def on_marginals(problem: TreeProblem, depth: int) -> MarginalTrees:
    """The same problem from joint counts of Boolean columns, each of which is a test."""
    tests, marginals = _counted(problem.truth, problem.counts, max(2, depth), Candidates.of_tests)
    weights = np.ones(len(problem.counts))
    return MarginalTrees(marginals, tests, weights, problem.prior, problem.rate, problem.score)


def tree_distributions_by_problem(
    rate: float,
    score: str,
    change: Callable[[TreeProblem], TreeProblem] = lambda problem: problem,
    weights: Weights = distribution_of_trees,
) -> Distributions:
    """The same from what the sampler gets, perhaps changed (as a twin would); a table at a time."""

    def distribution(counts: Array) -> Distribution:
        trees, logs = weights(change(TreeProblem(TRUTH, counts, TREE_PRIOR, rate, score)), DEPTH)
        return trees, logs - np.logaddexp.reduce(logs)

    return by_table(all_trees(score)[0], distribution)
