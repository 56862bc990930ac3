"""Seeds that no generator takes are refused by name, before anything is booked."""

import numpy as np
import pytest

import discreet
from discreet import Boolean, Ledger, Schema

PRIVATE = [getattr(discreet, name) for name in dir(discreet) if name.startswith("DP") and name.endswith("Classifier")]
SCHEMA = Schema([Boolean("a")], target="y", classes=[0, 1])


@pytest.mark.parametrize("seed", [10**400, -1, 2**64])
@pytest.mark.parametrize("classifier", PRIVATE, ids=lambda c: c.__name__)
def test_a_seed_that_is_too_large_or_negative_is_named(classifier, seed):
    ledger = Ledger(epsilon=1.0)
    clf = classifier(schema=SCHEMA, random_state=seed, ledger=ledger)
    with pytest.raises(ValueError, match="random_state must be an integer from 0 to"):
        clf.fit(np.array([[True], [False]]), [0, 1])
    assert not ledger.entries
