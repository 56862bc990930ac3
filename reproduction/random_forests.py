"""Forests of random trees, of which only the leaves are learned: in the manner of Fletcher and Islam (2017), and with a proof.

A tree's tests are drawn without a look at the records, which are divided among the trees at random. A leaf's label is the class
with the most of its records, chosen with noise, in one of two ways (docs/theory/greedy.md, Theorem 21d):

- "smooth", as published: an exponential mechanism whose score is 1 for that class and 0 for the other, scaled by the smooth
  sensitivity exp(-epsilon j), where j is how far ahead the class is. This is **not** epsilon-differentially private.
- "proved": the chance of a class is proportional to exp(epsilon * its records), which is.

*Proof* for "proved": a record that comes multiplies one weight by exp(epsilon), and the sum of the weights by 1 to exp(epsilon),
so every chance changes by a factor from exp(-epsilon) to exp(epsilon). Leaves share no record (Theorem 21a).  []

*Proof* against "smooth": the odds are exp(s_j) to 1 with s_j = epsilon / 2 * exp(epsilon j). Of two leaves with j and j + 1
records, all of the first class, the second class is drawn with chances 1 / (1 + exp(s_j)) and 1 / (1 + exp(s_{j+1})), whose
quotient is above exp(s_{j+1} - s_j) / 2; and s_{j+1} - s_j = s_j (exp(epsilon) - 1) grows without bound.  [] By hand, at
epsilon = 1: with two records the chance is 1 / (1 + e^3.69) = 0.0243, with three 1 / (1 + e^10.04) = 4.35e-5, a loss of 6.3 in
place of 1. (The authors' code cuts s_j off at 50: then the largest loss is 22.7.) Smooth sensitivity lets a *scale* change by
exp(epsilon) for a record. Laplace or Cauchy noise bears that; an exponent does not, however large it is.

Theirs splits a category into all its values at once and draws a number's cut uniformly. Ours takes a test of the public schema: a
column first, then one of its tests that the way to the node leaves undecided. Neither looks at a record.
"""

from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.rules.candidates import Candidates

from .splits import Predicted, Split

How = Literal["smooth", "proved"]
LARGEST_POWER = 50.0  # as in the authors' code: e^50 to 1 is sure enough


def odds_of_second(counts: npt.NDArray[np.float64], epsilon: float, how: How) -> npt.NDArray[np.float64]:
    """The logarithm of the odds that a leaf's label is the second class. The last axis of ``counts`` is the class.

    >>> leaves = np.array([[5, 5], [4, 5], [3, 5], [2, 5], [5, 2]])
    >>> odds_of_second(leaves, 1.0, "proved").tolist()
    [0.0, 1.0, 2.0, 3.0, -3.0]
    >>> odds_of_second(leaves, 1.0, "smooth").round(2).tolist()
    [0.0, 1.36, 3.69, 10.04, -10.04]
    """
    ahead: npt.NDArray[np.float64] = (counts[..., 1] - counts[..., 0]).astype(float)
    if how == "proved":
        return epsilon * ahead
    with np.errstate(over="ignore"):
        power = np.minimum(LARGEST_POWER, epsilon / 2 * np.exp(epsilon * np.abs(ahead)))
    odds: npt.NDArray[np.float64] = np.sign(ahead) * power
    return odds


def random_forest(split: Split, epsilon: float, seed: int, how: How, trees: int, depth: int) -> Predicted:
    """Random trees on random parts of the records, each leaf with a label of its own, and the majority of their votes."""
    leaf, counts = split.remember(("random trees", trees, depth), lambda: _grown(split, trees, depth))
    chance = 0.5 + 0.5 * np.tanh(0.5 * odds_of_second(counts, epsilon, how))
    labels = np.random.default_rng(seed).random(chance.shape) < chance
    votes = np.take_along_axis(labels, leaf, axis=1).sum(axis=0)
    return Predicted(split.schema.classes, (votes > trees / 2).astype(np.intp))


def _grown(split: Split, trees: int, depth: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """The leaf of each distinct record in each tree, and the class counts of each tree's leaves, of its own records."""
    literals = _tests(split.schema)[0]
    truths = np.stack([split.records.truth(literal) for literal in literals])
    rng = np.random.default_rng((split.seed, trees, depth))
    everyone = np.arange(split.records.distinct)
    leaves = np.zeros((trees, len(everyone)), np.intp)
    counts = np.zeros((trees, 2**depth, 2))
    for i, part in enumerate(split.counts(trees)):
        tests = random_tests(split.schema, depth, rng)
        node = np.zeros(len(everyone), np.intp)  # numbered level by level: below node k are 2k + 1 and 2k + 2
        for _ in range(depth):
            node = 2 * node + 2 - truths[tests[node], everyone]
        leaves[i] = node - (2**depth - 1)
        counts[i] = np.stack([np.bincount(leaves[i], weights=of_class, minlength=2**depth) for of_class in part], 1)
    return leaves, counts


def random_tests(schema: Any, depth: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """For each node of a full tree the number of its test. Where a way leaves nothing to ask, a decided test is asked again."""
    _, of_column, masks, domain = _tests(schema)
    columns = list(of_column)
    free = [domain]
    tests = []
    for node in range(2**depth - 1):
        here = free[node]
        column, test = columns[0], of_column[columns[0]][0]
        for i in rng.permutation(len(columns)):
            undecided = [
                t for t in of_column[columns[i]] if here[columns[i]] & masks[t] and here[columns[i]] & ~masks[t]
            ]
            if undecided:
                column, test = columns[i], undecided[rng.integers(len(undecided))]
                break
        tests.append(test)
        free += [here | {column: here[column] & masks[test]}, here | {column: here[column] & ~masks[test]}]
    return np.array(tests)


@lru_cache(maxsize=8)
def _tests(schema: Any) -> tuple[list[Any], dict[str, list[int]], list[int], dict[str, int]]:
    """The tests; their numbers by column; the bins in which each is true, as bits; and the bins that each column has."""
    literals = [rule.antecedent[0] for rule in Candidates.of_tests(schema)]
    of_column: dict[str, list[int]] = {}
    for number, literal in enumerate(literals):
        of_column.setdefault(literal.column, []).append(number)
    masks = [_bits(schema[x.column].where(x.op, x.value)) for x in literals]
    return literals, of_column, masks, {name: _bits(schema[name].domain) for name in of_column}


def _bits(bins: npt.NDArray[np.bool_]) -> int:
    return sum(1 << i for i, true in enumerate(bins.tolist()) if true)
