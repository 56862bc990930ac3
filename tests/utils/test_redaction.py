"""When memory runs out, or a library fails inside private code, no number about the records gets out."""

import re
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    RuleList,
    Schema,
    noisy_evaluation,
)
from discreet._utils.errors import LearningError, NotEnoughMemory, PrivacyWarning
from discreet._utils.redaction import NOTHING_BOOKED, STAYS_BOOKED, redacting
from discreet.audit.explorer import ListsByEnvelope, TreesOnMarginals

SCHEMA = Schema((Numeric("n", low=0, high=9, n_cuts=8), Boolean("b")), target="y", classes=[0, 1])
X = pd.DataFrame({"n": range(10), "b": [True, False] * 5})
Y = np.array([0, 1] * 5)
SECRET = "997616"


def numpys():
    """NumPy's own error, with a shape in it."""
    try:
        return np.empty((314, int(SECRET) * 10**9))
    except MemoryError as error:
        return error


NUMPYS = numpys()


class OutOfMemoryException(Exception):
    """As DuckDB's is called."""


OF_MEMORY = [NUMPYS, MemoryError(SECRET), pa.ArrowMemoryError(SECRET), OutOfMemoryException(SECRET)]
BUGS = [NUMPYS, ValueError(SECRET), OverflowError(SECRET), IndexError(SECRET)]
ERRORS = OF_MEMORY + BUGS


def raising(error):
    def fail(*args, **kwargs):
        raise error.with_traceback(None)

    return fail


@pytest.fixture(autouse=True)
def _errors_without_frames():
    """An error that is raised in several tests would keep the frames of each alive, and what is in them."""
    yield
    for error in ERRORS:
        error.__traceback__ = error.__context__ = None


def duckdb_table():
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(X.assign(y=Y))


ENTRANCES = {
    "fit": lambda **p: DPGreedyRuleListClassifier(schema=SCHEMA, **p).fit(X, Y),
    "fit, optimal rule lists": lambda **p: DPOptimalRuleListClassifier(schema=SCHEMA, **p).fit(X, Y),
    "fit, longer lists": lambda **p: ListsByEnvelope(schema=SCHEMA, **p).fit(X, Y),
    "fit, optimal trees": lambda **p: DPOptimalTreeClassifier(schema=SCHEMA, **p).fit(X, Y),
    "fit, a tree on a wide table": lambda **p: TreesOnMarginals(schema=SCHEMA, **p).fit(X, Y),
    "fit_source, tuples": lambda **p: DPOptimalRuleListClassifier(schema=SCHEMA, **p).fit_source(
        duckdb_table(), counting="marginals"
    ),
    "fit_counts": lambda **p: DPGreedyRuleListClassifier(schema=SCHEMA, **p).fit_counts(
        PrivateCounts.from_table(X, Y, SCHEMA)
    ),
    "fit_source": lambda **p: DPGreedyRuleListClassifier(schema=SCHEMA, **p).fit_source(duckdb_table()),
    "fit_source, nodes": lambda **p: DPGreedyRuleListClassifier(schema=SCHEMA, **p).fit_source(
        duckdb_table(), counting="nodes"
    ),
    "noisy_evaluation": lambda **p: noisy_evaluation(
        RuleList.parse("if b then 1 else 0", [0, 1], SCHEMA), X, Y, 1.0, by="n", model_is_public=True, **p
    ),
    "from_table": lambda ledger: PrivateCounts.from_table(X, Y, SCHEMA),
    "from_source": lambda ledger: PrivateCounts.from_source(duckdb_table(), SCHEMA),
}


def whole_story(error):
    """What could be printed of an error, by whatever way."""
    told, seen = [], [error]
    while seen:
        e = seen.pop()
        told += [repr(e), str(e), repr(e.args), *getattr(e, "__notes__", [])]
        seen += [x for x in (e.__cause__, e.__context__) if x is not None]
    return " ".join(told)


@pytest.mark.parametrize("entrance", [name for name in ENTRANCES if name != "fit_counts"])  # that is filled already
@pytest.mark.parametrize("error", OF_MEMORY, ids=lambda e: type(e).__name__)
def test_memory_that_runs_out_while_records_are_counted_shows_no_number_and_says_what_it_cost(
    entrance, error, monkeypatch
):
    monkeypatch.setattr("discreet.private.counts.patterns.PatternsInProgress.finish", raising(error))
    monkeypatch.setattr("discreet.private.counts.marginals.MarginalsInProgress.finish", raising(error))
    ledger = Ledger(epsilon=3.0)
    with pytest.raises(NotEnoughMemory) as caught:
        ENTRANCES[entrance](ledger=ledger)
    assert SECRET not in whole_story(caught.value)
    assert str(caught.value).endswith(NOTHING_BOOKED)  # records are counted before the budget is set aside
    assert ledger.spent[0] == 0


@pytest.mark.parametrize("entrance", [name for name in ENTRANCES if name != "fit_counts"])
@pytest.mark.parametrize("error", BUGS, ids=lambda e: type(e).__name__)
def test_whatever_fails_while_records_are_counted_shows_no_number_and_books_nothing(entrance, error, monkeypatch):
    monkeypatch.setattr("discreet.private.counts.patterns.PatternsInProgress.finish", raising(error))
    monkeypatch.setattr("discreet.private.counts.marginals.MarginalsInProgress.finish", raising(error))
    ledger = Ledger(epsilon=3.0)
    with pytest.raises((LearningError, NotEnoughMemory)) as caught:
        ENTRANCES[entrance](ledger=ledger)
    assert SECRET not in whole_story(caught.value)
    assert str(caught.value).endswith(NOTHING_BOOKED)
    assert ledger.spent[0] == 0


@pytest.mark.parametrize(
    ("entrance", "place"),
    [
        ("fit, optimal rule lists", "discreet.private.queries.lists.ListSums"),
        ("fit, longer lists", "discreet.private.sampling.envelope.rules_on_patterns"),
        ("fit, optimal trees", "discreet.private.queries.trees.rules_on_patterns"),
        ("fit, optimal trees", "discreet.private.queries.trees.WeighedTrees"),
        ("fit_source, tuples", "discreet.private.queries.lists.ListSums"),
        ("fit_counts", "discreet.private.counts.counting.PatternCounter.counts"),
        ("fit, a tree on a wide table", "discreet.private.queries.trees.WeighedTrees"),
    ],
)
@pytest.mark.parametrize("error", BUGS, ids=lambda e: type(e).__name__)
def test_whatever_fails_while_a_draw_is_prepared_shows_no_number_and_books_nothing(entrance, place, error, monkeypatch):
    monkeypatch.setattr(place, raising(error))
    ledger = Ledger(epsilon=3.0)
    with pytest.raises((NotEnoughMemory, LearningError)) as caught:
        ENTRANCES[entrance](ledger=ledger)
    assert SECRET not in whole_story(caught.value)
    assert str(caught.value).endswith(NOTHING_BOOKED)
    assert ledger.spent[0] == 0


DRAWING = {
    "fit": "discreet.private.mechanisms.mass.MassSelector.select",
    "fit, optimal rule lists": "discreet.private.sampling.list_sums.ListSums.draw",
    "fit, longer lists": "discreet.private.sampling.envelope.draw_by_envelope",
    "fit, optimal trees": "discreet.private.sampling.trees.drawing.WeighedTrees.draw",
    "fit, a tree on a wide table": "discreet.private.sampling.trees.drawing.WeighedTrees.draw",
    "fit_source, tuples": "discreet.private.queries.base.release",
    "fit_counts": "discreet.private.mechanisms.mass.MassSelector.select",
    "fit_source": "discreet.private.mechanisms.mass.MassSelector.select",
    "noisy_evaluation": "discreet.private.queries.base.release",
}


@pytest.mark.parametrize("entrance", DRAWING)
@pytest.mark.parametrize("error", BUGS, ids=lambda e: type(e).__name__)
def test_whatever_fails_while_it_learns_shows_no_number_and_stays_booked(entrance, error, monkeypatch):
    monkeypatch.setattr(DRAWING[entrance], raising(error))
    ledger = Ledger(epsilon=3.0)
    with pytest.raises((NotEnoughMemory, LearningError)) as caught:
        ENTRANCES[entrance](ledger=ledger)
    assert SECRET not in whole_story(caught.value)
    assert str(caught.value).endswith(STAYS_BOOKED)
    assert ledger.spent[0] == Fraction(1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("disk full"), NotEnoughMemory("ours")])
def test_what_has_no_numbers_passes_as_it_is(error):
    with pytest.raises(type(error)) as caught, redacting("", drawing=True):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("drawing", [False, True])
def test_numpy_says_nothing_of_numbers_that_overflow_however_it_is_set(drawing):
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        with redacting("", drawing=drawing):
            assert np.isinf(np.exp(np.float64(1e4)))


def test_a_fit_does_not_depend_on_how_numpy_is_set_to_take_odd_numbers():
    odd = X.assign(n=[np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0, 1e19, 2.5, 3])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        assert DPOptimalRuleListClassifier(schema=SCHEMA, epsilon=1000).fit(odd, Y).privacy_.proved is not None


CHILD = """
import resource, sys
import numpy as np
from discreet import DPOptimalRuleListClassifier, Ledger, Numeric, Schema
schema = Schema([Numeric(f"c{i}", low=0, high=1, n_cuts=20) for i in range(8)], target="y", classes=[0, 1])
rng = np.random.default_rng(0)
X, y = rng.random((2_000_000, 8)), rng.integers(0, 2, 2_000_000)
room = int(sys.argv[1]) << 20
clf = DPOptimalRuleListClassifier(schema=schema, max_length=2, ledger=Ledger(epsilon=1.0))
clf._check_parameters()
import discreet.private.queries.lists, opendp.mod
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
clf.fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("megabytes", [1, 2, 4, 8])  # a column of numbers alone takes 16
def test_under_a_limit_of_memory_the_traceback_has_no_shape(megabytes):
    done = subprocess.run([sys.executable, "-c", CHILD, str(megabytes)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "NotEnoughMemory" in done.stderr
    assert not re.search(r"Unable to allocate|shape|MiB|During handling|direct cause", done.stderr), done.stderr
