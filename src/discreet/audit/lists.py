"""Level 1 for draws of whole lists: all neighbouring tables of a few records, all labelled lists.

The probability of a list is its prior times ``exp(epsilon * correct)``. What one record adds to the score of each list is
written in a matrix, so that the laws of all tables are one product. That the samplers are handed this very law is checked on
some of the tables, from the ``Problem`` that they get (``law_of_lists``); and that the choices of the sampler which adds up all
lists multiply to it (``law_of_sums``).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from ..private.counts.tuples import LARGEST, Tuples, TuplesInProgress
from ..private.sampling.list_sums import ListSums
from ..private.sampling.problem import Problem, make_problem
from ..rules.candidates import Candidates
from ..rules.prior import Prior
from ..schema import Schema
from .choices import Finding, differences
from .explore import law_of_lists, schema_of_rules
from .explorer import Explorer
from .loss import Array

N_RULES = 3
TRUTH = np.array(list(product([False, True], repeat=N_RULES))).T  # (rules, patterns): all patterns there are
KINDS = [(label, pattern) for label in (0, 1) for pattern in range(TRUTH.shape[1])]  # of records
LISTS = [
    (rules, labels)
    for length in range(N_RULES + 1)
    for rules in permutations(range(N_RULES), length)
    for labels in product((0, 1), repeat=length + 1)
]
PRIOR = Prior((1.0,) * (N_RULES + 1), np.ones(N_RULES))
TABLES_AT_A_TIME = 4_000

Laws = Callable[[Array], Array]  # tables (rows, kinds) -> log probabilities (rows, outcomes)
Law = tuple[Sequence[Any], Array]  # outcomes, and the logarithms of their probabilities


def _correct(rules: tuple[int, ...], labels: tuple[int, ...], pattern: int) -> int:
    """The label that a list gives to a record."""
    for rule, label in zip(rules, labels, strict=False):
        if TRUTH[rule, pattern]:
            return label
    return labels[-1]


def laws_by_definition(rate: float) -> Laws:
    """The law of Theorem 13, with all lengths alike, then all lists of a length."""
    gain = np.array([[_correct(*x, pattern) == label for label, pattern in KINDS] for x in LISTS], float)
    lengths = np.array([len(rules) for rules, _ in LISTS])
    prior = -np.log(np.bincount(lengths)[lengths])

    return lambda tables: normalised(rate * tables @ gain.T + prior)


def normalised(logs: Array) -> Array:
    """From logarithms of weights, a row for each table, to those of probabilities."""
    top = logs.max(1, keepdims=True)
    law: Array = logs - top - np.log(np.exp(logs - top).sum(1, keepdims=True))
    return law


def laws_by_problem(rate: float, change: Callable[[Problem], Problem] = lambda problem: problem) -> Laws:
    """The same from what the samplers get, perhaps changed (as a twin would); a table at a time."""
    return by_table(LISTS, lambda counts: law_of_lists(change(make_problem(TRUTH, counts, PRIOR, rate))))


def laws_by_sums(rate: float, change: Callable[[ListSums], ListSums] = lambda sums: sums) -> Laws:
    """The same from the code of the sampler that adds up all lists: each of its choices is a fork."""

    def law(counts: Array) -> Law:
        rules, tuples = counted(TRUTH, counts, LARGEST, partial(Candidates.of_schema, negations=False))
        return law_of_sums(change(ListSums(tuples, rules, PRIOR, np.ones(2), rate)))

    return by_table(LISTS, law)


def law_of_sums(sums: ListSums) -> Law:
    """Every labelled list with its probability, multiplied out from the sampler's choices."""

    def drawn(choose: Callable[[Array], int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        rules, labels = sums.draw_by(choose)
        return tuple(rules), tuple(labels)

    return multiplied_out(drawn)


def multiplied_out(draw_by: Callable[[Callable[[Array], int]], Any]) -> Law:
    """Every outcome of a sampler with its probability: each of its choices is a fork."""
    explorer, outcomes, logs = Explorer(), [], []
    for _ in explorer.paths():
        outcomes.append(draw_by(explorer.choose))
        logs.append(explorer.log_p)
    return outcomes, np.array(logs)


def counted(
    truth: npt.NDArray[np.bool_], counts: Array, size: int, make: Callable[[Schema], Candidates]
) -> tuple[Candidates, Tuples]:
    """Candidates over Boolean columns, one for each row of a truth table; and the joint counts of these columns."""
    schema = schema_of_rules(len(truth), len(counts))
    filling = TuplesInProgress(schema.used, len(counts), size)
    labels, patterns = np.nonzero(counts)
    times = counts[labels, patterns].astype(int)
    filling.add([np.repeat(row[patterns], times).astype(int) for row in truth], np.repeat(labels, times))
    return make(schema), filling.finish()


def by_table(outcomes: Sequence[Any], law: Callable[[Array], Law]) -> Laws:
    """A table at a time, from its class counts in each pattern."""
    place = {x: i for i, x in enumerate(outcomes)}

    @lru_cache(maxsize=1000)
    def row_of(table: tuple[float, ...]) -> Array:
        row = np.full(len(place), -np.inf)
        for x, log in zip(*law(np.array(table).reshape(2, -1)), strict=True):
            row[place[x]] = np.logaddexp(row[place[x]], log)
        return row

    return lambda tables: np.array([row_of(tuple(table.tolist())) for table in tables])


def worst_draw(rate: float, most: int, laws: Laws | None = None, outcomes: Sequence[Any] = LISTS) -> Iterator[Finding]:
    """Compare all tables of 0, 1, ... most records with all that have one more; one finding for each size.

    ``laws`` are over the ``outcomes``: these lists, unless said otherwise.
    """
    laws = laws_by_definition(rate) if laws is None else laws
    kinds = len(KINDS)
    for size in range(most + 1):
        tables = np.array(
            [np.bincount(t, minlength=kinds) for t in combinations_with_replacement(range(kinds), size)], float
        ).reshape(-1, kinds)
        worst = Finding(0.0, rate, 0, "")
        for some in np.split(tables, range(TABLES_AT_A_TIME, len(tables), TABLES_AT_A_TIME)):
            here = laws(some)
            for (label, pattern), newcomer in zip(KINDS, np.eye(kinds), strict=True):
                loss = differences(laws(some + newcomer), here)
                row, column = np.unravel_index(int(loss.argmax()), loss.shape)
                if loss[row, column] > worst.loss:
                    records = [KINDS[k] for k in np.repeat(np.arange(kinds), some[row].astype(int))]
                    drawn = outcomes[int(column)]
                    where = f"(class, pattern) {records}, newcomer {(label, pattern)}; {drawn} is drawn"
                    worst = Finding(float(loss[row, column]), rate, 0, where)
        yield worst._replace(pairs=len(tables) * kinds)


def largest_disagreement(one: Laws, other: Laws, tables: int, most: int, seed: int) -> float:
    """Between the law by definition and the one that the samplers get (or that their choices multiply to), on random tables."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.multinomial(rng.integers(most + 1), np.ones(len(KINDS)) / len(KINDS)) for _ in range(tables)])
    return float(np.abs(one(drawn) - other(drawn)).max())
