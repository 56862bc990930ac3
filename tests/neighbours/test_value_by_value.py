"""What a record is taken for, and whether there is an error, depends on no other record, whatever a column is made of."""

import collections
import warnings
from concurrent.futures import ThreadPoolExecutor

import ibis
import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    Categorical,
    Date,
    DPOptimalRuleListClassifier,
    Ignored,
    Numeric,
    PrivateCounts,
    RuleList,
    Schema,
    noisy_evaluation,
)
from discreet._utils.tables import as_table
from discreet.sources.memory import check_types, class_numbers

from .columns import BIG, COLUMNS, as_frames
from .tables import Hostile

CATEGORIES = ["0", "1", "7", "cook", str(BIG), str(BIG - 1), "0.1", "nan", "None", "0j", "[1]"]
KINDS = [
    Numeric("c", True, cuts=(0.05, 0.5, 1.5, 10.0)),
    Categorical("c", True, categories=CATEGORIES, outside="other"),
    Boolean("c", True),
    Date("c", True, ["2020-01-01", "2020-01-02"]),
    Numeric("month of c", True, cuts=[1]),
    Categorical("weekday of c", True, ["Wednesday"], outside="other"),
]


def taken_for(column):
    """The bins and classes of each record, by each way to count, or what is said instead; and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = [_or_error(_bins, frame, kind) for frame in as_frames(column) for kind in KINDS]
        labels = [column, *as_frames(column)]
        found += [_or_error(_classes, y, len(column), c) for y in labels for c in (CATEGORIES, [0, 1, 7, BIG, 0.1])]
    return [*found, [str(w.message) for w in said] or ""]


def _bins(frame, kind):
    table = as_table(frame, ["c"])
    check_types(table, [kind])
    return kind.encode(table.column(kind.name)).tolist()


def _classes(labels, n, classes):
    return class_numbers(labels, classes, n).tolist()


def _or_error(call, *args):
    try:
        return call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", COLUMNS)
def test_what_a_record_is_taken_for_depends_on_no_other(name):
    values, make = COLUMNS[name]
    nobody = taken_for(make([]))
    alone = [taken_for(make([value])) for value in values]
    some = [values, values[::-1], values[:-1], *([v, w] for v in values[:4] for w in values[-4:] if v is not w)]
    for chosen in some:
        expected = [alone[_place(values, v)] for v in chosen]
        for i, found in enumerate(taken_for(make(chosen))):
            if isinstance(found, str):
                assert found == nobody[i], chosen
            else:
                assert found == [one[i][0] for one in expected], chosen


def _place(values, value):
    return next(i for i, v in enumerate(values) if v is value)


def test_threads_that_learn_at_once_leave_the_filters_of_warnings_as_they_are():
    before = list(warnings.filters)
    labels = np.array(["no", "yes"] * 20_000, dtype=object)
    tables = [
        ibis.duckdb.connect().create_table("t", pd.DataFrame({"x": [1.0] * 40_000, "y": labels})) for _ in range(8)
    ]
    schema = Schema([Numeric("x", cuts=[5])], "y", ["no", "yes"])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: class_numbers(labels, ["no", "yes"], len(labels)), range(16)))
        list(pool.map(lambda table: PrivateCounts.from_source(table, schema), tables))
    assert warnings.filters == before


def _told(call):
    return _or_error(lambda: call() and "")


SCHEMA = Schema([Numeric("x", low=0, high=9, n_cuts=8), Ignored("tags")], "y", ["no", "yes"])
RULES = RuleList.parse("if x <= 4 then yes\nelse no", schema=SCHEMA)
Row = collections.namedtuple("Row", "x tags")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "learn",
    [
        lambda X, y: DPOptimalRuleListClassifier(schema=SCHEMA, max_length=2).fit(X, y),
        lambda X, y: PrivateCounts.from_table(X, y, SCHEMA),
        lambda X, y: noisy_evaluation(RULES, X, y, 1.0),
    ],
)
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[1, "a"]],
        [Row(1, "a"), Row(2, Hostile())],
        [[[1], ["a"]], [[2], ["b"]]],
        [[[1], ["a"]], [[2], ["b", "c"]]],
    ],
)
def test_a_list_of_rows_is_learned_from_whatever_they_hold(learn, rows):
    assert _told(lambda: learn(rows, ["no"] * len(rows))) == ""


@pytest.mark.parametrize("tags", [[["a"], ["b"]], [["a"], ["b", "c"]], [Hostile(), ["b"]]])
def test_a_column_of_lists_is_one_however_long_they_are(tags):
    assert PrivateCounts.from_table({"x": [1, 2], "tags": tags}, [["no"], ["yes"]], SCHEMA)


@pytest.mark.parametrize(("dtype", "told"), [("boolean", ""), ("Int64", "SchemaError"), ("Float64", "SchemaError")])
def test_without_a_schema_a_missing_value_in_columns_without_names_makes_no_difference(dtype, told):
    for values in ([1, 0], [1, 0, None]):
        frame = pd.DataFrame({0: pd.array(values, dtype=dtype)})
        learner = DPOptimalRuleListClassifier(max_length=2)
        assert _told(lambda f=frame, clf=learner: clf.fit(f, np.zeros(len(f), int))).partition(":")[0] == told
