"""Tables of a few columns, as bin numbers, with all that can be said of them by looking at every record."""

from typing import NamedTuple

import numpy as np

from discreet.private.counts.division import column_numbers
from discreet.private.counts.marginals import MarginalsInProgress
from discreet.private.counts.patterns import PatternsInProgress
from discreet.rules.candidates import Candidates
from discreet.schema import Schema
from discreet.schema.columns import Boolean, Categorical, Numeric


class SmallTable(NamedTuple):
    """Records as bins and class numbers, and candidates over their columns."""

    schema: Schema
    candidates: Candidates
    bins: list[np.ndarray]
    labels: np.ndarray
    n_classes: int

    def truth(self):
        """(rules, records): where each candidate is true."""
        columns = column_numbers(self.schema.used, self.candidates)
        true = np.ones((len(self.candidates), len(self.labels)), bool)
        for row, members in zip(true, self.candidates.members, strict=True):
            for i in members[members >= 0]:
                row &= self.candidates.truths[i][self.bins[columns[i]]]
        return true

    def counts(self, class_weights=None):
        """(classes, records): 1 for the class of each record, times its weight."""
        counts = np.zeros((self.n_classes, len(self.labels)))
        counts[self.labels, np.arange(len(self.labels))] = 1.0
        return counts if class_weights is None else counts * np.asarray(class_weights)[:, None]

    def marginals(self, size, division=None):
        """The joint counts of columns, filled in two parts."""
        filling = MarginalsInProgress(self.schema.used, self.n_classes, size, division)
        half = len(self.labels) // 2
        for rows in (slice(0, half), slice(half, None)):
            filling.add([b[rows] for b in self.bins], self.labels[rows])
        return filling.finish()

    def patterns(self):
        """The patterns."""
        filling = PatternsInProgress(self.schema.used, self.n_classes)
        filling.add(self.bins, self.labels)
        return filling.finish()


def every_count(counted):
    """All that marginals hold: a row for each class in each part."""
    return np.concatenate([counted.in_part(part).counts for part in range(counted.n_parts)])


def small_table(seed, n_classes=2, n_rules=None, n_records=None, negations=True, tests=False):
    """Three to five columns of all kinds, missing values among them, and some of their literals, in any order."""
    rng = np.random.default_rng(seed)
    columns = [
        Numeric("age", cuts=[20, 40, 60]),
        Categorical("job", categories=["clerk", "boss", "other"]),
        Boolean("ill"),
        Numeric("pay", cuts=[1]),
        Categorical("town", categories=["a", "b"]),
    ]
    schema = Schema(columns[: int(rng.integers(3, 6))])
    every = Candidates.of_tests(schema) if tests else Candidates.of_schema(schema, negations=negations)
    some = rng.permutation(len(every))[: n_rules or len(every)]
    n = int(rng.integers(0, 40)) if n_records is None else n_records
    bins = [rng.integers(0, column.n_bins, n) for column in schema.used]
    return SmallTable(schema, every.only(some), bins, rng.integers(0, n_classes, n), n_classes)
