"""Tables as the sampler gets them: where tests are true, and class counts, from the records' answers to every test."""

import numpy as np

from discreet import PrivateCounts, Schema
from discreet.datasets import load_adult
from discreet.private.counts.patterns import rules_on_patterns
from discreet.private.sampling.trees.log_weights import ACCURACY
from discreet.private.sampling.trees.problems import TreeProblem
from discreet.rules.candidates import Candidates
from discreet.rules.prior import TreePrior


def answers(table, schema: Schema) -> np.ndarray:
    """(records, tests): where each literal of a schema is true. Of two that are each other's negation, both."""
    tests = Candidates.of_schema(schema, 1, negations=False)
    columns = []
    for i in range(len(tests)):
        (literal,) = tests[i].antecedent
        column = schema[literal.column]
        bins = column.encode(table[literal.column].to_numpy())
        columns.append(column.where(literal.op, literal.value)[bins])
    return np.column_stack(columns)


def adult(sensitive: bool) -> tuple[np.ndarray, np.ndarray]:
    """All of Adult by the schema that comes with it: 41 tests, or 70 with the sensitive columns."""
    data = load_adult(sensitive=sensitive)
    return answers(data.data, data.schema), (data.target == ">50K").to_numpy().astype(int)


def published() -> tuple[np.ndarray, np.ndarray]:
    """All of Adult in the 20 published Boolean features."""
    X, y = load_adult(binary=True, sensitive=False, return_X_y=True)
    return X.to_numpy().astype(bool), y.to_numpy().astype(int)


def made_up(records: int, tests: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Cuts of columns with four tests each, and labels that depend on a few of them."""
    rng = np.random.default_rng(seed)
    columns = [rng.random(records) for _ in range(-(-tests // 4))]
    X = np.column_stack([column < (i + 1) / 5 for column in columns for i in range(4)])[:, :tests]
    score = X[:, rng.choice(tests, 8)] @ rng.normal(size=8) + rng.normal(size=records)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    return X, y


def problem_of(X: np.ndarray, y: np.ndarray, rate: float, score: str = ACCURACY) -> TreeProblem:
    """Records that agree in all tests are one cell, as in numpy_trees.py."""
    packed = np.ascontiguousarray(np.packbits(X, axis=1))
    _, first, inverse = np.unique(packed.view(f"V{packed.shape[1]}"), return_index=True, return_inverse=True)
    counts = np.zeros((int(y.max()) + 1, len(first)))
    np.add.at(counts, (y, inverse.ravel()), 1)
    tests = X.shape[1]
    return TreeProblem(X[first].T, counts, TreePrior(0.5, np.full(tests, 1 / tests)), rate, score)


def problem_of_counts(private: PrivateCounts, rate: float, score: str = ACCURACY) -> TreeProblem:
    """The tests that trees have, on the patterns of private counts."""
    tests = Candidates.of_tests(private.schema)
    truth, counts = rules_on_patterns(private.patterns, tests)
    return TreeProblem(truth, counts, TreePrior.of(None, 0.5, tests), rate, score)
