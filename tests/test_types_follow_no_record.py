"""One record that a library reads in another way changes the type of its column, but not how other records are read."""

import io
import os
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from pyarrow import feather, parquet

from discreet import Boolean, Categorical, DPOptimalRuleListClassifier, Numeric, PrivateCounts, Schema
from discreet._utils.errors import PrivacyWarning, SchemaError
from discreet._utils.tables import as_table
from discreet.sources.memory import check_types, class_numbers

pytestmark = pytest.mark.filterwarnings("ignore::discreet._utils.errors.PrivacyWarning")
COLUMNS = {
    "codes": (Categorical("x", True, ["010", "020"], outside="other"), ["010", "020", "10", "", "30"]),
    "codes beyond floats": (
        Categorical("x", True, [2**53 + 1, 5], outside="other"),
        ["9007199254740993", "5", "", "7"],
    ),
    "truths as categories": (Categorical("x", True, ["true", "false"], outside="other"), ["true", "False", ""]),
    "ones as categories": (Categorical("x", True, ["1", "0"], outside="other"), ["1", "0", "1.0", ""]),
    "numbers": (Numeric("x", True, cuts=[0.5, 3, 2**53]), ["1", "2.0", "4", "", "9007199254740993"]),
    "truths as numbers": (Numeric("x", True, cuts=[0.5]), ["true", "False", "TRUE"]),
    "truths": (Boolean("x", True), ["true", "False", ""]),
    "ones": (Boolean("x", True), ["1", "0", "1.0", ""]),
}
OTHERS = ["n/k", "", "1.5", "7", "true", "NA", "010", "?", "x" * 100]


def by_pandas(texts):
    return pd.read_csv(io.StringIO("i,x\n" + "".join(f"0,{t}\n" for t in texts)))["x"]


def by_pyarrow(texts):
    return pa.csv.read_csv(io.BytesIO(("i,x\n" + "".join(f"0,{t}\n" for t in texts)).encode()))["x"]


@pytest.mark.parametrize("read", [by_pandas, by_pyarrow])
@pytest.mark.parametrize("name", COLUMNS)
def test_other_records_of_a_column_are_read_the_same(name, read):
    column, texts = COLUMNS[name]

    def bins(these):
        return column.encode(as_table({"x": read(these)}).column("x"))[: len(texts)].tolist()

    alone = bins(texts)
    for other in OTHERS:
        assert bins([*texts, other]) == alone, other


@pytest.mark.parametrize("read", [by_pandas, by_pyarrow])
@pytest.mark.parametrize("classes", [(0, 1), ("0", "1"), ("00", "01")])
def test_other_labels_are_read_the_same(classes, read):
    texts = ["0", "1", "1", "0"]
    for other in OTHERS:
        assert class_numbers(read([*texts, other]), classes, 5)[:4].tolist() == [0, 1, 1, 0], other


def test_one_unknown_label_is_left_out_in_silence():
    schema = Schema([Boolean("a")], classes=[0, 1])
    X = pd.DataFrame({"a": [True, False] * 20})
    for y in (
        np.array([0, 1] * 20),
        pd.Series([0, 1] * 19 + [0, "unknown"]),
        pd.Series(["0", "1"] * 19 + ["0", "unknown"]),
    ):
        DPOptimalRuleListClassifier(schema=schema).fit(X, y)
        DPOptimalRuleListClassifier().fit(X, y)


def test_a_table_of_truth_values_needs_no_schema_and_is_warned_of_alike_whatever_is_in_it():
    y = [0, 1] * 20
    said = "without a schema the columns of X are read as true"
    for last in (True, None, np.nan, "x"):
        X = pd.DataFrame({"a": [True, False] * 19 + [True, last], "b": [False] * 40})
        with pytest.warns(PrivacyWarning, match=said):
            DPOptimalRuleListClassifier().fit(X, y)
    for last in (1, np.nan):
        with pytest.warns(PrivacyWarning, match=said):
            DPOptimalRuleListClassifier().fit(np.array([[1, 0]] * 39 + [[last, 0]]), y)
    with pytest.raises(SchemaError, match="needs a schema"):
        DPOptimalRuleListClassifier().fit(pd.DataFrame({"age": [20.5] * 40}), y)


@pytest.mark.parametrize("column", [Categorical("x", categories=["08:00", "16:00"], outside="other"), Boolean("x")])
def test_times_and_dates_are_refused_by_their_type(column):
    """Written as strings they are "08:00" in one library and "08:00:00" in another."""
    for kind in (pa.time32("s"), pa.time64("us"), pa.timestamp("us"), pa.date32(), pa.duration("s")):
        for values in ([], [1], [1, None]):
            whole = pa.int32() if kind.bit_width == 32 else pa.int64()
            table = as_table(pa.table({"x": pa.array(values, whole).cast(kind)}))
            with pytest.raises(SchemaError, match="dates or times"):
                check_types(table, [column])
            with pytest.raises(SchemaError, match="dates or times"):
                column.encode(table.column("x"))


def test_a_category_that_stands_for_a_missing_value_needs_a_column_of_strings():
    """Among numbers a library reads NA as missing, and beside one other text as itself."""
    column = Categorical("x", categories=["NA", "7"])
    assert len(set(column.encode(np.array(["NA", "7", None, "n/k"], object)).tolist())) == 4
    for numbers in (np.array([7]), np.array([7.0]), np.array([True])):
        for needs in (column, Categorical("x", categories=["0x10", "7"], outside="other")):
            with pytest.raises(SchemaError, match="must hold strings"):
                needs.encode(numbers)


@pytest.mark.parametrize("y", [{0: 1}, np.array(5), 5, "abcd"])
def test_what_is_no_column_of_labels_is_said_to_be_none(y):
    with pytest.raises(ValueError, match="not one column of labels"):
        class_numbers(y, (0, 1), 3)


def test_labels_are_refused_by_their_type_whether_one_is_missing_or_not():
    for labels in ([1] * 4, [1, 1, 1, None]):
        for y in (pa.chunked_array([pa.array(labels)]), pd.Series(labels, dtype="Int64"), pl.Series(labels)):
            with pytest.raises(SchemaError, match="must hold strings"):
                class_numbers(y, ("1", "01"), 4)


def test_categories_that_are_the_same_number_need_a_column_of_strings():
    column = Categorical("x", categories=["1", "01"])
    assert column.encode(np.array(["1", "01", "1.0"], dtype=object)).tolist()[:2] in ([0, 1], [1, 0])
    with pytest.raises(SchemaError, match="must hold strings"):
        column.encode(np.array([], dtype=np.int64))
    Categorical("x", groups={"one": ["1", "01"]}, outside="other").encode(np.array([1, 2]))  # nobody tells them apart


FLIPPED = """
import sys
from contextlib import nullcontext
from discreet import Categorical, Numeric, Schema, PrivateCounts
schema = Schema([Numeric("age", cuts=[10, 40]), Categorical("job", True, ["cook", "clerk"])], "y", ["no", "yes"])
for path in sys.argv[1:]:
    try:
        PrivateCounts.from_file(path, schema)
    except ValueError as error:
        assert "cannot be read as" in str(error) or "column" in str(error) or "target" in str(error), error
print("read all")
"""


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_a_flipped_bit_in_a_file_does_not_end_the_process(tmp_path, ending):

    table = pa.table(
        {"age": [float(i) for i in range(60)], "job": ["cook", "clerk", "7"] * 20, "y": ["no", "yes"] * 30}
    )
    table = table.append_column("kind", table["job"].dictionary_encode())
    if ending == "arrow":
        feather.write_feather(table, tmp_path / "a", compression="uncompressed")
    else:
        parquet.write_table(table, tmp_path / "a", compression="none")
    rng, whole, paths = random.Random(0), (tmp_path / "a").read_bytes(), []
    for number in range(150):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        paths.append(tmp_path / f"{number}.{ending}")
        paths[-1].write_bytes(flipped)
    run = subprocess.run(
        [sys.executable, "-c", FLIPPED, *paths], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert run.stdout == "read all\n", run.stderr[-500:]


def test_a_file_with_a_text_that_is_no_utf_8_is_still_read(tmp_path):

    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\x02\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    feather.write_feather(pa.table({"job": broken, "y": [1]}), tmp_path / "a.arrow")
    PrivateCounts.from_file(tmp_path / "a.arrow", Schema([Categorical("job", True, ["cook"])], "y", [0, 1]))
