"""How likely a tree is before any record is seen. It is public, and follows from parameters and the schema alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.parameters import finite_number
from .candidates import Candidates
from .prior import SMALLEST

COLUMNS = "columns"
TREES = (
    'prior must be None (all tests alike), "columns" (all columns alike, and the tests of one column share its weight), or a '
    "dict of weights by column, which each of its tests gets (1 where a column is not named)"
)


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
        weights = np.ones(len(candidates))
        if isinstance(prior, str) and prior == COLUMNS:
            weights = np.array([1.0 / columns.count(column) for column in columns])
        elif isinstance(prior, Mapping):
            for column, weight in prior.items():
                if column not in candidates.schema.names:
                    raise ValueError(f"{TREES}; there is no column {column!r} in the schema")
                if finite_number("prior", weight) < 0:
                    raise ValueError(f"{TREES}; a weight must not be below 0")
            weights = np.array([float(prior.get(column, 1.0)) for column in columns])
        elif prior is not None:
            raise ValueError(TREES)
        if not weights.any():
            raise ValueError(f"{TREES}; with these weights there is no test left")
        if (weights[weights > 0] < SMALLEST * weights.max()).any():
            raise ValueError(f"{TREES}; weights other than 0 must not differ by more than a factor of {1 / SMALLEST:g}")
        weights = weights / weights.max()  # their sum must be a number
        return cls(float(split), weights / weights.sum())
