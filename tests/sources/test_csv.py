"""CSV files read a part at a time give the same patterns as those read into memory, or both are refused with the same words."""

import csv
import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    Schema,
    open_table,
)
from discreet._utils.errors import TableError
from discreet.cli.common import Given
from discreet.schema.columns import canonical
from discreet.sources.files import MISSING, read_table

from ..support.marked_values import TEXT, Heard, shows_a_mark

pytest.importorskip("ibis")
from .test_conformance import READ_ELSEWHERE, content

COLUMNS = (
    Numeric("n", cuts=[-1, 0, 0.5, 1, 3, 10]),
    Numeric("bounded", low=0, high=4, cuts=[1, 2], outside="missing"),
    Boolean("b", missing=True),
    Categorical("c", True, ["a", "NA", "1", "0.5", "nan", "inf", "", "é", "10000000000000000000000"], outside="other"),
    Categorical("groups", True, groups={"low": [0, 1, "01"], "high": [2, "x y"]}, outside="missing"),
    Categorical("plain", True, ["1.0", "1", "-0", "?x"]),
)
NAMES = [column.name for column in COLUMNS]
CLASSES = [(0, 1), (0.5, 1, 2), ("0", "1"), ("1.0", "1", "01"), ("yes", "no", "true"), ("NA", "x"), (1, 2)]


def both(path, schema, **how):
    """The patterns in memory, and part by part; in place of them what is said of a file that is refused."""
    found = []
    for way in (in_memory, in_parts):
        try:
            found.append(content(way(path, schema, **how)))
        except TableError as error:
            found.append(str(error))
    assert found[0] == found[1]
    return found[0]


def in_memory(path, schema, **how):
    from click import ClickException

    try:
        given = {"delimiter": None, "encoding": "utf-8", "decimal": "."} | how
        X, y = Given(path, given).records(schema, schema.target)
    except ClickException as error:
        raise TableError(error.message) from None
    return PrivateCounts.from_table(X, y, schema)


def in_parts(path, schema, **how):
    return PrivateCounts.from_file(path, schema, **how)


def write(path, rows, names=(*NAMES, "y"), delimiter=",", end="\n", encoding="utf-8", quoting=csv.QUOTE_MINIMAL):
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
        writer.writerow(names)
        writer.writerows(rows)


WORDS = [
    *sorted(MISSING),
    *(
        "a",
        " a ",
        "\ta",
        "a\u3000",
        "\x1ca\x1f",
        "\x85a",
        "\u200ba",
        "a\nb",
        "A",
        "é",
        "e\u0301",
        '"a"',
        "'",
        "a,b",
        "x y",
    ),
    *(
        "1",
        "1.0",
        "1e0",
        "01",
        " 1 ",
        "+1",
        "1.",
        "0.50",
        ".5",
        "-0",
        "-0.0",
        "1_0",
        "2",
        "1e22",
        "1e400",
        "-inf",
        "1e-400",
    ),
    *("1,0", "1,", "0,50", ",5", "1e0,5", "1.000,5", "1,000.5", "1,5,0", "1.5", "-0,0"),
    *("true", "TRUE", "False", "yes", "No", "0x1", "?x", "nAn", "10000000000000000000001", "9007199254740993"),
    *READ_ELSEWHERE,
]


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("classes", CLASSES)
def test_every_text_means_the_same(tmp_path, classes, decimal):
    """The class of each word, and its bin in each column. The number of the record keeps records apart."""
    empty, some = [""] * len(COLUMNS), canonical(classes[-1])
    rows = [[*empty, word] for word in WORDS]
    rows += [[*empty[:i], word, *empty[i + 1 :], some] for word in WORDS for i in range(len(COLUMNS))]
    number = Numeric("number", cuts=range(len(rows)))
    write(tmp_path / "all.csv", [[*row, i] for i, row in enumerate(rows)], [*NAMES, "y", "number"])
    here = both(tmp_path / "all.csv", Schema((*COLUMNS, number), "y", classes), decimal=decimal)
    assert not isinstance(here, str)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "#", " ", "^", "]", "\\", "-"])
@pytest.mark.parametrize(("end", "encoding"), [("\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\r", "utf-8")])
def test_delimiters_line_ends_and_marks(tmp_path, delimiter, end, encoding):
    path = tmp_path / "it's [1] 100% é*?.csv"
    words = ["a", "1.0", "", "NA", "x y", "a,b", 'a "b" c', "-1", "é", "\\", "]^"]
    rows = [[words[(i * k) % len(words)] for k in range(1, 7)] + [str(i % 2)] for i in range(60)]
    write(path, rows, delimiter=delimiter, end=end, encoding=encoding)
    here = both(path, Schema(COLUMNS, "y", [0, 1]), delimiter=delimiter)
    assert not isinstance(here, str)


HEADER = "c,plain,y"
TABLES = {
    "empty lines": "\n\na,1,0\n\n\n1.0,x,1\n\n",
    "no end of the last line": "a,1,0\n1,1,1",
    "quoted lines": '"a\n\n",1,0\n"NA","1\n,""0",1\n',
    "doubled quotes": '"""a""",1,0\n"""",1,1\n',
    "empty and quoted": '"",1,0\n,"",1\n"","",""\n',
    "spaces": ' a , 1 , 0 \n\t1\t,\t1\t,\t1\t\n   , ,1\n"  a",1,0\n',
    "spaces before quotes": ' "a", "1", "0"\n1, "x, y",1\n  a,   1,  1\n',
    "quotes within": 'a"b,1,0\na"b"c",5" pipe,1\n',
    "signs": "a\0,1,0\n#1,\\,1\n\u2028,\x1a,1\n",
    "no records": "",
}
NO_TABLES = {
    "short": "a,1,0\na,1\na,1,0\n",
    "short last line": "a,1,0\na,1",
    "only spaces": "a,1,0\n \na,1,0\n",
    "long": "a,1,0,Zq7Marked\na,1,0\n",
    "long last line": "a,1,0\na,1,0,Zq7Marked",
    "a quote that never ends": 'a,1,0\na,1,"Zq7Marked',
    "nor at an end": 'a,1,0\n"Zq7Marked,1,0\na,1,0\n',
    "nor doubled": 'a,1,0\n"Zq7Marked"",1,0\n',
    "nor after spaces": 'a,1,0\n  "Zq7Marked,1,0\n',
    "nor after quotes within": 'a"",1,0\na,1,"Zq7Marked\n',
    "more after a quote": '"Zq7Marked"x,1,0\n',
}
SMALL = Schema([COLUMNS[3], COLUMNS[5]], "y", [0, 1])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", TABLES)
def test_files_that_are_tables(tmp_path, name, end):
    path = tmp_path / "table.csv"
    path.write_bytes(f"{HEADER}\n{TABLES[name]}".replace("\n", end).encode())
    here = both(path, SMALL)
    assert not isinstance(here, str)


@pytest.mark.parametrize(("many", "end"), [(0, "\n"), (0, "\r\n"), (100_000, "\n")])
@pytest.mark.parametrize("name", NO_TABLES)
def test_files_that_are_none(tmp_path, name, end, many):
    path = tmp_path / "table.csv"
    text = "\n".join([HEADER, *["a,1,1"] * many, NO_TABLES[name]])
    path.write_bytes(text.replace("\n", end).encode())
    here = both(path, SMALL)
    assert isinstance(here, str)
    ledger = Ledger(epsilon=3.0)
    heard = Heard(lambda: DPGreedyRuleListClassifier(schema=SMALL, ledger=ledger).fit_file(path))
    assert isinstance(heard.error, TableError)
    assert not shows_a_mark(heard.text)
    assert ledger.entries == ()


def test_quoted_lines_wherever_a_part_begins(tmp_path):
    """A reader on several threads would guess where a record begins."""
    path, rng = tmp_path / "table.csv", random.Random(1)
    words = ["a", 'x\ny,"1\n",0\n', "1.0", '\n"\n', "", "NA,1,1\na"]
    made = ["".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(1000)]
    write(path, ([rng.choice(made), rng.choice(words), i % 2] for i in range(300_000)), HEADER.split(","))
    assert path.stat().st_size > 2**23
    here = both(path, SMALL)
    assert not isinstance(here, str)


SIGNS = st.sampled_from(
    [*'aé10.",,"\n\n \t', '""', '"a",', ',"\n"', "1,0\n", "NA", "a,1,1\n", '"a","1",0\n', ' "', '  "']
)


@settings(suppress_health_check=list(HealthCheck))
@example(['"\t\n",", \t\n'], "\r")
@example(['1,"2""'], "\n")
@given(st.lists(SIGNS, max_size=40), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text(tmp_path, signs, end):
    path, text = tmp_path / "any.csv", f"{HEADER}\n{''.join(signs)}"
    path.write_bytes(text.replace("\n", end).encode())
    both(path, SMALL)


@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(*[st.sampled_from(WORDS) | st.text(max_size=6)] * 7), max_size=20), st.sampled_from(CLASSES))
def test_any_records(tmp_path, rows, classes):
    held = [[w.encode(errors="ignore").decode() for w in row] for row in rows]
    write(tmp_path / "any.csv", held, quoting=csv.QUOTE_ALL)  # csv forgets to quote \r
    here = both(tmp_path / "any.csv", Schema(COLUMNS, "y", classes))
    assert not isinstance(here, str)


def test_one_column(tmp_path):
    (tmp_path / "one.csv").write_text('n\n1\n\n""\n2\n\n')
    assert len(read_table(tmp_path / "one.csv")) == 3


def test_no_engine_reads_it(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n")
    with pytest.raises(TableError, match=r"a CSV file is read by this process.*fit_file"):
        open_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        ("a,b\né,1\n", {"encoding": "klingon"}, "no encoding"),
        ("a,a\n1,1\n", {}, "none twice"),
        ("", {}, "is empty"),
    ],
)
def test_what_cannot_be_opened(tmp_path, text, how, message):
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1" if how.get("encoding") == "latin-1" else "utf-8"))
    with pytest.raises(TableError, match=message):
        PrivateCounts.from_file(tmp_path / "a.csv", SMALL, **how)


ODD = {
    "lines that end in several ways": b"a,1,0\r\na,1,1\n",
    "a last line that ends in another way": b"a,1,0\na,1,1\r",
    "a long record": b"a,1,1\n%b,1,0\n" % (b"a" * (2**21 + 2**20)),
    "a long record in quotes": b'a,1,1\n"%b",1,0\n' % (TEXT.encode() * 2**21),
    "spaces before a quote": b'  "a",1,0\na,1,1\n',
    "spaces after a quote": b'"a" ,1,0\n',
    "empty fields too many": b"a,1,0,\n",
    "no UTF-8 in a column that is used": b"\xff,1,0\n",
    "no UTF-8 in one that is not": b"a,1,0\na,\xff,0\n",
    "half a sign at the end": b"a,1,0\na,1,\xc3",
}


@pytest.mark.parametrize("name", ODD)
def test_what_others_read_in_another_way_is_read_or_refused_as_in_memory(tmp_path, name):
    path = tmp_path / "a.csv"
    path.write_bytes(f"{HEADER}\n".encode() + ODD[name])
    here = both(path, Schema([COLUMNS[3]], "y", [0, 1]))
    assert isinstance(here, str) == (name in list(ODD)[5:])
    assert not shows_a_mark(str(here))


def test_other_encodings_and_delimiters(tmp_path):
    path = tmp_path / "a.csv"
    for encoding, delimiter in (("latin-1", ","), ("cp1252", ";"), ("utf-16", ","), ("utf-8", "§")):
        write(path, [["é", "1", 0], ["a", "x", 1]], HEADER.split(","), delimiter, encoding=encoding)
        here = both(path, SMALL, encoding=encoding, delimiter=delimiter)
        assert not isinstance(here, str)
