"""Tables whose patterns do not collapse: the same models from joint counts of columns as from patterns, and what is booked."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Ledger, PrivateCounts, Schema
from discreet._utils.errors import NotEnoughMemory
from discreet.accounting.ledger import BudgetError
from discreet.private.counts import counts as counts_module
from discreet.private.queries import lists, trees
from discreet.private.sampling import deadline, envelope
from discreet.private.sampling.deadline import TimeLimitError
from discreet.schema.columns import Categorical, Numeric
from discreet.sources import plan as plan_module
from discreet.sources.plan import MARGINALS, PATTERNS
from discreet.sources.source import Source

from ..support.charges import late_from_charge

pytestmark = pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")

N = 600
SCHEMA = Schema(
    [
        *(Numeric(f"x{i}", cuts=[10, 20, 30, 40, 50, 60, 70]) for i in range(7)),
        Categorical("job", categories=["clerk", "boss", "other"]),
    ],
    target="y",
    classes=["a", "b", "c"],
)


def table(classes="abc"):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"x{i}": rng.integers(0, 80, N).astype(float) for i in range(7)})
    frame.iloc[::9, 2] = np.nan
    frame["job"] = rng.choice(["clerk", "boss", "other", "none"], N)
    frame["y"] = np.where(frame.x0 + rng.normal(0, 20, N) > 40, classes[0], rng.choice(list(classes[1:]), N))
    return frame


LEARNERS = {
    "a list": (DPOptimalRuleListClassifier, {}),
    "a list of two rules": (DPOptimalRuleListClassifier, {"max_length": 3}),
    "a list, two rules at a time": (DPOptimalRuleListClassifier, {"max_length": 6, "rules_per_draw": 2}),
    "a list, three rules at a time": (DPOptimalRuleListClassifier, {"max_length": 6, "rules_per_draw": 3}),
    "a list, one rule at a time": (DPOptimalRuleListClassifier, {"max_length": 4, "rules_per_draw": 1}),
    "a weighted list": (DPOptimalRuleListClassifier, {"class_weight": {"a": 3, "b": 1}}),
    "a tree of depth 1": (DPOptimalTreeClassifier, {"max_depth": 1}),
    "a tree of depth 2": (DPOptimalTreeClassifier, {"max_depth": 2}),
    "a tree of depth 3": (DPOptimalTreeClassifier, {}),
    "a tree by Gini": (DPOptimalTreeClassifier, {"criterion": "gini", "max_depth": 2}),
    "a tree in stages": (DPOptimalTreeClassifier, {"stages": (2, 2)}),
    "a tree in three stages": (DPOptimalTreeClassifier, {"stages": (1, 2, 1), "class_weight": {"b": 2}}),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("classes", ["ab", "abc"])
def test_the_same_model_from_marginals_and_from_patterns(monkeypatch, name, classes):
    kind, parameters = LEARNERS[name]
    schema = Schema(SCHEMA.columns, target="y", classes=list(classes))
    weights = parameters.get("class_weight")
    if weights is not None:
        parameters = parameters | {"class_weight": {c: w for c, w in weights.items() if c in classes}}
    frame = table(classes)
    X, y = frame.drop(columns="y"), frame["y"]
    for seed in range(3):
        clf = kind(epsilon=0.7, schema=schema, random_state=seed, **parameters)
        assert clf.plan().counting.way == MARGINALS
        from_marginals = clf.fit(X, y).model_
        private = PrivateCounts.from_table(X, y, schema)
        assert (
            kind(epsilon=0.7, schema=schema, random_state=seed, **parameters).fit_counts(private).model_
            == from_marginals
        )
        with monkeypatch.context() as patched:
            patched.setattr(plan_module, "FEW_PATTERNS", 10**20)
            clf = kind(epsilon=0.7, schema=schema, random_state=seed, **parameters)
            assert clf.fit(X, y).model_ == from_marginals
            assert clf.plan().counting.way == PATTERNS


@pytest.mark.parametrize("name", ["a list", "a tree in stages"])
def test_a_file_is_learned_from_like_the_table(tmp_path, name):
    kind, parameters = LEARNERS[name]
    frame = table()
    frame.to_parquet(tmp_path / "t.parquet")
    expected = kind(epsilon=0.7, schema=SCHEMA, random_state=1, **parameters).fit(frame.drop(columns="y"), frame["y"])
    found = kind(epsilon=0.7, schema=SCHEMA, random_state=1, **parameters).fit_file(tmp_path / "t.parquet")
    assert found.model_ == expected.model_
    several = "stages" in parameters  # a file may change between two looks at it, a table in memory is ours
    assert (len(found.privacy_.assumes) > len(expected.privacy_.assumes)) == several


def test_counts_of_the_parts_are_those_of_the_model():
    """With next to no noise, the released counts are the exact ones."""
    frame = table("ab")
    schema = Schema(SCHEMA.columns, target="y", classes=["a", "b"])
    X, y = frame.drop(columns="y"), frame["y"]
    for kind, parameters in (LEARNERS["a list, two rules at a time"], LEARNERS["a tree in stages"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = kind(epsilon=1e6, schema=schema, random_state=0, **parameters).fit(X, y)
        shares = clf.predict_proba(X)
        for row in np.unique(shares, axis=0):
            inside = (shares == row).all(1)
            assert row[0] == pytest.approx((y[inside] == "a").mean(), abs=1e-6)


class Stopped(BaseException):
    """Like KeyboardInterrupt, which would stop the tests."""


PREPARED = {  # what is made before anything is booked
    "a list, added up": (DPOptimalRuleListClassifier, {}, lists, "ListSums"),
    "a long list": (DPOptimalRuleListClassifier, {"max_length": 5}, envelope, "make_problem"),
    "a tree": (DPOptimalTreeClassifier, {}, trees, "WeighedTrees"),
}


@pytest.mark.parametrize("name", PREPARED)
@pytest.mark.parametrize("patterns", [False, True], ids=["from the table", "from patterns"])
@pytest.mark.parametrize("error", [Stopped, MemoryError, TimeLimitError])
def test_what_stops_before_the_draw_books_nothing(monkeypatch, name, patterns, error):
    def stops(*_, **__):
        raise error("stopped")

    kind, parameters, module, what = PREPARED[name]
    monkeypatch.setattr(module, what, stops)
    ledger, frame = Ledger(epsilon=1.0), table()
    X, y = frame.drop(columns="y"), frame["y"]
    clf = kind(epsilon=0.5, schema=SCHEMA, ledger=ledger, **parameters)
    with pytest.raises(NotEnoughMemory if error is MemoryError else error) as caught:
        clf.fit_counts(PrivateCounts.from_table(X, y, SCHEMA)) if patterns else clf.fit(X, y)
    assert ledger.entries == ()
    if error is MemoryError:
        assert "Nothing was booked" in str(caught.value)


@pytest.mark.parametrize("name", ["a list", "a tree of depth 3"])
@pytest.mark.parametrize("patterns", [False, True], ids=["from the table", "from patterns"])
def test_a_limit_of_time_that_strikes_while_all_models_are_added_up_books_nothing(name, patterns):
    kind, parameters = LEARNERS[name]
    ledger, frame = Ledger(epsilon=1.0), table()
    X, y = frame.drop(columns="y"), frame["y"]
    clf = kind(epsilon=0.5, schema=SCHEMA, ledger=ledger, time_limit=1e-9, **parameters)
    with pytest.raises(TimeLimitError, match="nothing was booked"):
        clf.fit_counts(PrivateCounts.from_table(X, y, SCHEMA)) if patterns else clf.fit(X, y)
    assert ledger.entries == ()


@pytest.mark.parametrize(
    ("name", "module", "counting"),
    [
        ("a list", counts_module, "marginals_of"),
        ("a tree of depth 3", trees, "rules_on_patterns"),
        ("a tree in stages", trees, "rules_on_patterns"),
    ],
)
def test_counting_patterns_is_not_under_the_limit_of_time_as_long_as_nothing_is_booked(
    monkeypatch, name, module, counting
):
    """How long it takes depends on the records: with one limit after the other anybody could ask for it, at no cost."""
    clock, count = [0.0], getattr(module, counting)

    def slow(patterns, *arguments):
        clock[0] += 100.0 if clock == [0.0] else 0.0
        return count(patterns, *arguments)

    monkeypatch.setattr(module, counting, slow)
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    frame, (kind, parameters) = table(), LEARNERS[name]
    private = PrivateCounts.from_table(frame.drop(columns="y"), frame["y"], SCHEMA)
    clf = kind(epsilon=0.5, schema=SCHEMA, time_limit=10.0, **parameters).fit_counts(private)
    assert clock == [100.0]
    assert clf.privacy_.proved.epsilon == 0.5


@pytest.mark.parametrize(
    ("kind", "parameters", "number"),
    [
        (DPOptimalRuleListClassifier, {"max_length": 7, "rules_per_draw": 3}, 2),
        (DPOptimalRuleListClassifier, {"max_length": 5, "exclude": ["x4", "x5", "x6"]}, 1),  # an envelope
        (DPOptimalTreeClassifier, {"stages": (2, 2)}, 2),
    ],
)
@pytest.mark.parametrize("patterns", [False, True], ids=["from the table", "from patterns"])
def test_a_limit_of_time_that_strikes_after_a_charge_leaves_the_budget_booked(
    monkeypatch, kind, parameters, number, patterns
):
    """At the second draw, or at the first one where it is not prepared."""
    charged = late_from_charge(monkeypatch, number)
    frame, ledger = table(), Ledger(epsilon=1.0)
    X, y = frame.drop(columns="y"), frame["y"]
    clf = kind(epsilon=0.5, schema=SCHEMA, ledger=ledger, time_limit=10.0, **parameters)
    with pytest.raises(TimeLimitError, match="budget stays spent"):
        clf.fit_counts(PrivateCounts.from_table(X, y, SCHEMA)) if patterns else clf.fit(X, y)
    assert len(charged) == number
    assert ledger.remaining[0] == Fraction(1, 2)


def test_an_empty_budget_is_noticed_before_the_records_are_counted(monkeypatch):
    monkeypatch.setattr(Source, "count", lambda *_: pytest.fail("the records were counted"))
    frame = table()
    with pytest.raises(BudgetError):
        DPOptimalRuleListClassifier(epsilon=2.0, schema=SCHEMA, ledger=Ledger(epsilon=1.0)).fit(
            frame.drop(columns="y"), frame["y"]
        )


def test_each_question_is_charged_and_together_they_are_what_was_booked():
    frame = table()
    for kind, parameters in LEARNERS.values():
        ledger = Ledger(epsilon=1.0)
        clf = kind(epsilon=0.5, schema=SCHEMA, ledger=ledger, **parameters).fit(frame.drop(columns="y"), frame["y"])
        assert clf.booked_ is not None
        (entry,) = ledger.entries
        assert entry.spent_epsilon == Fraction(1, 2)
