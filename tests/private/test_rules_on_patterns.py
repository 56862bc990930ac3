"""Where candidates are true, on patterns: the class counts of every set of them are those of the records."""

import numpy as np
import pytest

from discreet.private.counts.patterns import rules_on_patterns
from discreet.rules.candidates import Candidates

from ..support.small_tables import small_table


@pytest.mark.parametrize("max_literals", [1, 2])
@pytest.mark.parametrize("n_rules", [3, None])
@pytest.mark.parametrize("seed", range(6))
def test_patterns_are_distinct_and_hold_every_record_once(seed, n_rules, max_literals):
    table = small_table(seed, n_records=(0, 1, 300)[seed % 3], n_classes=2 + seed % 2)
    every = Candidates.of_schema(table.schema, max_literals)
    which = np.random.default_rng(seed).permutation(len(every))[: n_rules or len(every)]
    table = table._replace(candidates=every.only(which))
    truth, counts = rules_on_patterns(table.patterns(), table.candidates)
    assert truth.shape == (len(table.candidates), counts.shape[1])
    assert (counts.sum(0) > 0).all()
    if max_literals == 1:  # rules of several literals may agree where literals do not
        assert len(np.unique(truth, axis=1).T) == truth.shape[1]
    by_record, weights = table.truth().astype(float), table.counts()
    assert (counts.sum(1) == weights.sum(1)).all()
    pairs = np.einsum("cn,an,bn->cab", counts, truth.astype(float), truth.astype(float))
    assert (pairs == np.einsum("cn,an,bn->cab", weights, by_record, by_record)).all()
