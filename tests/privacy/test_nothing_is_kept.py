"""Exact counts are gone once a fit has ended: nothing that holds them is in a cycle, which lives until the collector runs."""

import gc
import warnings

import numpy as np
import pytest

import discreet
from discreet.audit.subjects import subjects
from discreet.private.counts.secret import Secret
from tests.support.slices import slow_but

CLASSIFIERS = [getattr(discreet, name) for name in dir(discreet) if name.endswith("Classifier")]
SCHEMA = discreet.Schema(
    [discreet.Numeric(f"c{i}", low=0, high=1, n_cuts=3) for i in range(4)], target="y", classes=[0, 1]
)
RNG = np.random.default_rng(0)
X, Y = RNG.random((500, 4)), RNG.integers(0, 2, 500)


def holders() -> set[int]:
    """What may hold exact counts. ``Secret`` is what all its classes inherit from.

    Asks for the type: ``isinstance`` also asks ``__class__``, which is a trap in the hostile values of other tests.
    """
    return {id(thing) for thing in gc.get_objects() if issubclass(type(thing), Secret)}


@pytest.fixture
def nothing_new_is_kept():
    gc.collect()
    before = holders()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        left = [type(o).__name__ for o in gc.get_objects() if issubclass(type(o), Secret) and id(o) not in before]
    finally:
        gc.enable()
    assert left == []


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.__name__)
@pytest.mark.usefixtures("nothing_new_is_kept")
def test_no_estimator_leaves_exact_counts_to_the_collector(classifier):
    classifier(schema=SCHEMA).fit(X, Y)


SUBJECTS = subjects()
FIRST_OF_THEIR_KIND = {(s.classifier, s.parameters.get("mechanism")): s.name for s in reversed(SUBJECTS)}.values()


@pytest.mark.parametrize("subject", slow_but(SUBJECTS, lambda s: s.name in FIRST_OF_THEIR_KIND), ids=lambda s: s.name)
@pytest.mark.usefixtures("nothing_new_is_kept")
def test_no_way_to_learn_leaves_exact_counts_to_the_collector(subject):
    columns = RNG.integers(0, 2, (60, subject.n_rules)).astype(bool)
    subject.make().fit(columns, RNG.integers(0, subject.n_classes, 60))


@pytest.mark.parametrize(
    "classifier", [c for c in CLASSIFIERS if c.__name__.startswith("DP")], ids=lambda c: c.__name__
)
@pytest.mark.usefixtures("nothing_new_is_kept")
def test_nor_does_a_fit_that_fails_when_noise_is_drawn(classifier, monkeypatch):
    monkeypatch.setattr("discreet.private.noise.entropy.os.urandom", lambda size: 1 / 0)
    monkeypatch.setattr("discreet.private.noise.entropy._opendp", lambda *_, **__: 1 / 0)
    try:
        classifier(schema=SCHEMA).fit(X, Y)
    except Exception:
        return
    pytest.fail("it was to fail")
