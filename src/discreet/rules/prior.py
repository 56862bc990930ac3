"""How likely a list, or a tree, is before any record is seen. It is public, and follows from parameters and candidates alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.errors import shown
from .._utils.parameters import finite_number
from .candidates import Candidates

SMALLEST = 1e-9  # of the largest weight: products of these stay within what a number can hold
LISTS = (
    "prior must be None (all numbers of rules alike), a list of max_length weights (of 0, 1, ... rules), or a dict with "
    "such a list as 'lengths' and a list of weights for rules of 1, 2, ... literals as 'cards'"
)
TREES = (
    'prior must be None (all tests alike), "columns" (all columns alike, and the tests of one column share its weight), or a '
    "dict of weights by column, which each of its tests gets (1 where a column is not named)"
)


@dataclass(frozen=True, eq=False)
class Prior:
    """Public weights: of each length (0, 1, ... rules), and of each candidate rule.

    A length is drawn in proportion to its weight, then a list of that many different rules in proportion to the product of
    their weights, then labels, all alike.
    """

    lengths: tuple[float, ...]
    rules: npt.NDArray[np.float64]

    @classmethod
    def of(cls, prior: Any, max_length: int, candidates: Candidates) -> "Prior":
        """From an estimator's parameter.

        >>> from discreet.schema.columns import Numeric
        >>> from discreet.schema import Schema
        >>> candidates = Candidates.of_schema(Schema([Numeric("age", cuts=[25, 45])]), max_literals=2)
        >>> Prior.of({"cards": [1, 0.5]}, 3, candidates).rules.tolist()
        [1.0, 1.0, 1.0, 1.0, 0.5]
        """
        given = prior if isinstance(prior, Mapping) else {} if prior is None else {"lengths": prior}
        if unknown := set(given) - {"lengths", "cards"}:
            raise ValueError(f"{LISTS}; not {', '.join(map(repr, sorted(map(str, unknown))))}")
        lengths = _weights(given.get("lengths", (1.0,) * max_length))
        if len(lengths) != max_length:
            raise ValueError(
                f"{LISTS}; with max_length={max_length}, 'lengths' needs {max_length} weights, not {len(lengths)}"
            )
        size = (candidates.members >= 0).sum(1)
        cards = _weights(given.get("cards", (1.0,) * int(size.max())))
        if len(cards) < size.max():
            raise ValueError(f"{LISTS}; 'cards' needs {size.max()} weights, not {len(cards)}")
        rules = np.array(cards)[size - 1]
        possible = np.count_nonzero(rules) + 1
        if not any(lengths[:possible]):
            raise ValueError(
                f"{LISTS}; with {possible - 1} candidates that have a weight, 'lengths' leaves no list that could be"
            )
        return cls(lengths, rules)


def log_lengths(lengths: Sequence[float], weights: npt.NDArray[np.float64], n_classes: int) -> npt.NDArray[np.float64]:
    """The logarithm of the weight that a labelled list of each length gets, apart from its rules' weights.

    Lists of l rules without repetition have the weights l! e_l in all, e_l the elementary symmetric polynomial; each has
    n_classes^(l+1) labellings. Lengths that cannot be, for want of rules, are left out of the prior.
    """
    longest = min(len(lengths) - 1, len(weights))
    scale = float(weights.mean()) if len(weights) else 1.0  # keeps the polynomial in range
    symmetric = np.zeros(longest + 1)
    symmetric[0] = 1.0
    for weight in weights / scale:
        symmetric[1:] += weight * symmetric[:-1]
    prior = np.array(lengths[: longest + 1], np.float64)
    logs = np.full(longest + 1, -np.inf)
    for length in np.flatnonzero(prior / prior.sum() > 0):
        lists = math.lgamma(length + 1) + math.log(symmetric[length]) + length * math.log(scale)
        logs[length] = math.log(prior[length] / prior.sum()) - lists - (length + 1) * math.log(n_classes)
    return logs[: int(np.flatnonzero(np.isfinite(logs)).max(initial=0)) + 1]


def _weights(given: Any) -> tuple[float, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(LISTS)
    try:
        weights = [float(w) for w in given]
    except (TypeError, ValueError):
        raise ValueError(LISTS) from None
    return tuple(_scaled(weights, LISTS).tolist())


def _scaled(given: Sequence[float], parameter: str) -> npt.NDArray[np.float64]:
    """Weights in parts of the largest."""
    weights = np.array(given, np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(f"{parameter}; weights must be finite, not below 0, and not all 0")
    weights /= weights.max()
    if (weights[weights > 0] < SMALLEST).any():
        raise ValueError(f"{parameter}; weights other than 0 must not differ by more than a factor of {1 / SMALLEST:g}")
    return weights


@dataclass(frozen=True, eq=False)
class TreePrior:
    """A node that may split does so with probability ``split``, and takes test j with probability ``tests[j]``.

    Labels are all alike, so that a tree of S splits, N of whose L leaves could have been split, has the prior probability
    split^S (1 - split)^N (product of its tests') / classes^L; without the last factor where labels are not drawn.
    """

    split: float
    tests: npt.NDArray[np.float64]

    @classmethod
    def of(cls, prior: Any, split: Any, candidates: Candidates) -> "TreePrior":
        """From an estimator's parameters.

        >>> from discreet.schema.columns import Categorical, Numeric
        >>> from discreet.schema import Schema
        >>> schema = Schema([Numeric("age", cuts=[20, 30, 40, 50]), Categorical("job", categories=["clerk", "boss"])])
        >>> candidates = Candidates.of_schema(schema, negations=False)
        >>> [str(rule) for rule in candidates]
        ['age <= 20', 'age <= 30', 'age <= 40', 'age <= 50', 'job = clerk', 'job = boss']
        >>> TreePrior.of("columns", 0.5, candidates).tests.tolist()
        [0.125, 0.125, 0.125, 0.125, 0.25, 0.25]
        >>> TreePrior.of({"job": 2}, 0.5, candidates).tests.tolist()
        [0.125, 0.125, 0.125, 0.125, 0.25, 0.25]
        """
        if not 0.0 < finite_number("split", split) < 1.0:
            raise ValueError(f"split must be a probability between 0 and 1, not {split!r}")
        columns = [candidates.literals[i].column for i in candidates.members[:, 0].tolist()]
        weights = [1.0] * len(columns)
        if isinstance(prior, str) and prior == "columns":
            weights = [1.0 / columns.count(column) for column in columns]
        elif isinstance(prior, Mapping):
            if unknown := set(prior) - set(candidates.schema.names):
                raise ValueError(f"{TREES}; there is no column {shown(min(unknown, key=str))} in the schema")
            named = {column: finite_number("prior", weight) for column, weight in prior.items()}
            weights = [named.get(column, 1.0) for column in columns]
        elif prior is not None:
            raise ValueError(TREES)
        scaled = _scaled(weights, TREES)  # their sum must be a number
        return cls(float(split), scaled / scaled.sum())
