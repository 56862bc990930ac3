"""A small fuzzer of everything that reads a file: schemas, rules, rule lists, trees, models, statements and ledgers.

An input is a valid document, changed: its structure (a value replaced, an entry lost, renamed or moved), its words, lines or
characters; or a specimen that hurt some reader somewhere, alone or put into a valid document. Each input must be read, and then
be the same when written and read again, or be refused with the documented error, in a short message, soon.

    python -m tests.support.fuzzing                                       100,000 inputs for each reader
    python -m tests.support.fuzzing --seed 7 --reader model --only 123    one input again
"""

import argparse
import ast
import copy
import gc
import json
import os
import re
import secrets
import sqlite3
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from discreet import (
    Boolean,
    Categorical,
    Ignored,
    Ledger,
    Literal,
    Numeric,
    PrivacyStatement,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    Split,
    Tree,
    noisy_evaluation,
)
from discreet._utils.errors import ModelError, RuleError, SchemaError
from discreet.accounting import ledger_rows as rows
from discreet.accounting.costs import pair, rho_sum
from discreet.accounting.entries import Entry, LedgerBudget, Totals
from discreet.accounting.ledger import BudgetError, LedgerError, LedgerSnapshot
from discreet.accounting.statement import Guarantee
from discreet.evaluation.evaluation_file import SavedEvaluation
from discreet.models.partition import Answer
from discreet.models.saved import checksum

MOST_SECONDS = 2.0  # of CPU for one input
LONGEST_MESSAGE = 1_500

# --- valid documents -------------------------------------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Numeric("age", cuts=[25, 30.5, 40], ranges=[(18, 20), (60, float("inf"))], low=0, high=120, missing=True),
        Numeric("income", low=1, high=1e6, n_cuts=5, spacing="log", outside="missing"),
        Categorical("work place", True, ["a", "b", 3], {"office": ["a", 3], "é ü": ["x"]}, "other", "other"),
        Categorical("job", categories=["clerk", "boss", "then"], outside="none"),
        Boolean("smokes", outside="missing"),
        Ignored("name"),
    ),
    target="ill",
    classes=["no", "yes"],
)
PLAIN_SCHEMA = Schema((Boolean("a"), Numeric("b", cuts=[1])), classes=[0, 1], inferred=True)
TEXTS = [
    'if age <= 25 and "work place" = office then yes\nelse if job != clerk and not smokes then no\nelse yes',
    "if age in [18, 20] and age not in [1,2] then 1 else if smokes is missing then 0 else if age > 1e5 then -1.5 else 1",
    'always "a label"',
    'if "if" then True else if x is not missing and y >= -.5 then False else True',
]
RULES = RuleList.parse(
    'if age <= 25 and "work place" = office then yes else if job != clerk and not smokes then no else yes'
)
RULES = RuleList(
    (Rule(RULES.rules[0].antecedent, "yes", (1.5, 2)), Rule(RULES.rules[1].antecedent, "no", (3, -1))),
    Rule((), "yes", (0, 0)),
    ("no", "yes"),
    SCHEMA,
)
TREE_TEXTS = [
    'if age <= 25 then\n    if "work place" = office then yes\n    else no\nelse if not smokes then no\nelse yes',
    "if age in [18, 20] then if age not in [1,2] then 1 else if x is missing then 0 else -1.5 else 1",
    'always "a label"',
]
TREE = Tree(
    Split(
        Literal("age", "<=", 25),
        Split(Literal("work place", "=", "office"), Answer("yes", (1.5, 2)), Answer("no", (3, -1))),
        Split(Literal("smokes"), Answer("no", None, (0.75, 0.25)), Answer("yes", (0, 0))),
    ),
    ("no", "yes"),
    SCHEMA,
)
STATEMENT = PrivacyStatement(
    *("sm-laplace", Guarantee(1.0, None), Guarantee(0.9, 1e-6), (), ("nobody looks", "a seed was not used")),
    for_schema=Guarantee(0.2, 1e-9),
)
UNPROVED = PrivacyStatement("mass", None, None, ("it was seeded", "delta = 1/n^2"), ())


ENTRY = Entry(
    "a model", Fraction(1, 3), Fraction(1, 10**7), "2024-05-06", Fraction(1, 3), Fraction(0), rho=Fraction(1, 9)
)


def some_ledger(entries: int) -> str:
    """The rows of a ledger as JSON: what it is, its sums, its events."""
    events, totals = [], Totals()
    for number in range(1, entries + 1):
        schemas, costs = (
            ((f"schema-{number}", (Fraction(1, 9), Fraction(1, 10**9))),),
            pair(Fraction(1, 3), Fraction(0)),
        )
        pairs = (Fraction(1, 3), Fraction(0), "2024-05-06T07:08:09+00:00", Fraction(1, 3), Fraction(0))
        entry = Entry(
            "a model", *pairs, records_per_person=2, release="r", schemas=schemas, costs=costs, rho=rho_sum(costs)
        )
        totals = totals.plus(entry)
        events += [rows.reserved(entry, number), rows.ended(number, "finished", Fraction(1, 4), Fraction(0))]
        events.append(rows.written_to(number, "0" * 64))
    whole = LedgerBudget(Fraction(3), Fraction(1, 10**6), False, "a ledger")
    return rows._text([json.loads(rows._whole_text(whole)), totals.to_dict(), events])


def sealed_ledger(data: bytes) -> bytes:
    """The database with these rows, with checksums that fit, so that what is behind them is reached; or the bytes themselves."""
    try:
        whole, totals, events = json.loads(data)
        events = list(events)
        texts = [rows._text(event) for event in events]
        whole, totals = rows._text(whole), rows._text(totals)
    except (ValueError, TypeError, RecursionError):
        return data
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in rows.TABLES.values():
            connection.execute(statement)
        seal = rows._digest(whole)
        for number, text in enumerate(texts, 1):
            seal = rows._digest(seal, str(number), text)
            connection.execute("INSERT INTO discreet_events VALUES (?, ?, ?)", (number, text, seal))
            paid = events[number - 1].get("schemas", {}) if isinstance(events[number - 1], dict) else {}
            for name in paid if isinstance(paid, dict) else ():
                connection.execute("INSERT INTO discreet_schemas VALUES (?, ?)", (rows._key(name), number))
        row = (whole, totals, len(texts), seal, rows._digest(whole, totals, str(len(texts)), seal))
        connection.execute("INSERT INTO discreet_ledger VALUES (1, ?, ?, ?, ?, ?)", row)
        return connection.serialize()


SAVED = [
    SavedModel(
        RULES,
        STATEMENT,
        "DPGreedyRuleListClassifier",
        {"epsilon": 1.0, "exclude": ["name"], "delta": None, "class_weight": {"no": 1, "yes": 2.5}},
        "ill",
        LedgerSnapshot(Fraction(3), Fraction(1, 10**6), Totals().plus(ENTRY), "a ledger", 1, "r"),
    ),
    SavedModel(RULES.without_counts(), UNPROVED),
    SavedModel(TREE, STATEMENT, target="ill"),
]

# --- what hurts readers ----------------------------------------------------------------------------------------------------

ODD_NUMBERS = [
    0,
    -0.0,
    -1,
    2,
    1.5,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    -float("inf"),
    2**53 + 1,
    10**299,
    10**400,
]
ODD_TEXTS = [
    *(
        "",
        "a",
        " ",
        "\x00",
        "\ufeff",
        "\ud800",
        "\udcff",
        "\x7f",
        "\r",
        "\n",
        "\u2028",
        "'",
        '"',
        "\\",
        "]",
        "x" * 5_000,
    ),
    *(
        "1/0",
        "1/3",
        "-1",
        "0x10",
        "1_000",
        " 1 ",
        "1e5",
        "1e999999999",
        "١",
        "9" * 5_000,
        "nan",
        "Infinity",
        "True",
        "null",
    ),
    *(
        "if",
        "then",
        "not",
        "other",
        "missing",
        "error",
        "clip",
        "numeric",
        "categorical",
        "__class__",
        "__init__",
        "__reduce__",
    ),
    *(
        "__import__('os').system('true')",
        "cos\nsystem\n(S'true'\ntR.",
        "${HOME}",
        "%s%n",
        "{0.__class__}",
        "../../etc/passwd",
    ),
]
ODD_KEYS = [
    "",
    "type",
    "format",
    "version",
    "if",
    "then",
    "__class__",
    "__reduce__",
    "__dict__",
    "__proto__",
    "$ref",
    "\x00",
]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ODD_VALUES = [
    *(None, True, False, [], {}, [None], {"": ""}, [[]], nested(60), {"__reduce__": ["os.system", ["true"]]}),
    *({"__class__": "os.system"}, ["a", "a"], list(range(50)), {"a": {"a": {"a": 1}}}),
    *ODD_NUMBERS,
    *ODD_TEXTS,
]

SPECIMENS = [
    "[" * 100_000,
    "{" * 100_000,
    '{"a":' * 5_000,
    "a." * 20_000 + "b = 1",
    "[" + "a." * 20_000 + "b]",
    "a = " + "{a = " * 1_000,
    "[" * 500 + "]" * 500,
    "9" * 5_000,
    "a = " + "9" * 5_000,
    "a = 0x" + "f" * 20_000,
    "1e999999999",
    "a = 1e999999999",
    "if a <= " + "9" * 100_000 + " then 1 else 0",
    "if a <= " + "1" * 100_000 + "x then 1 else 0",
    "if a = " + "1" * 100_000 + "x then 1 else 0",
    "if a in [" + "1" * 50_000 + "," + "1" * 50_000 + "x then 1 else 0",
    "if " + "a and " * 5_000 + "a then 1 else 0",
    "if a then " * 5_000 + "1" + " else 0" * 5_000,
    '{"format": "discreet tree", "version": 1, "root": ' + '{"if": {"column": "a"}, "true": ' * 5_000,
    "if " + " and ".join(f"c = v{i}" for i in range(3_000)) + " then 1 else 0",
    "if " + " and ".join(f"c in [{i}, {i + 1}]" for i in range(3_000)) + " then 1 else 0",
    " else ".join(f"if c{i} then {i}" for i in range(3_000)) + " else 0",
    '"' * 100_001,
    '"\\' * 50_000,
    "\\" * 100_000,
    "x" * 1_000_000,
    " " * 1_000_000,
    "\n" * 100_000,
    "\x00" * 1_000,
    "\ufeff{}",
    "\ud800",
    "NaN",
    "-Infinity",
    "null",
    "true",
    '""',
    "[]",
    "{}",
    '{"format": "discreet ledger", "format": 1}',
    "__import__('os').system('true')",
    "!!python/object/apply:os.system ['true']",
    "cos\nsystem\n(S'true'\ntR.",
    "\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x8c\x06system\x93.",
    "import os\nos.system('true')\n",
    "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "columns = []",
    "[columns.a]\ntype = 1979-05-27",
    "[columns.a]\ntype = 'boolean'\n" * 2,
    "[[columns]]\ntype = 'boolean'",
    "[columns.a]\ntype = 'categorical'\ncategories = [" + ", ".join(map(str, range(5_000))) + "]",
]

# --- how documents are changed ---------------------------------------------------------------------------------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values of a document are."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*path, key)
        yield from places(value, (*path, key))


def change_structure(data: Any, random: Random) -> Any:
    """One value replaced, removed, doubled, renamed, moved or wrapped."""
    data = copy.deepcopy(data)
    where = list(places(data))
    if not where:
        return random.choice(ODD_VALUES)
    *path, last = random.choice(where)
    parent = data
    for key in path:
        parent = parent[key]
    what = random.randrange(7)
    if what == 0:
        del parent[last]
    elif what == 1:
        parent[last] = [parent[last]] * random.choice((1, 2, 30))
    elif what == 2 and isinstance(parent, dict):
        parent[random.choice(ODD_KEYS + ODD_TEXTS)] = parent.pop(last)
    elif what == 3:
        other = random.choice(where)
        source = data
        for key in other:
            source = source[key]
        parent[last] = copy.deepcopy(source)
    elif what == 4 and isinstance(parent, dict):
        parent[random.choice(ODD_KEYS)] = random.choice(ODD_VALUES)
    elif what == 5 and isinstance(parent[last], str):
        parent[last] = change_text(parent[last], random)
    else:
        parent[last] = random.choice(ODD_VALUES)
    return data


WORD = re.compile(r"\s+|\w+|.", re.DOTALL)


def change_text(text: str, random: Random) -> str:
    """Words, lines or characters lost, doubled, swapped, replaced, put in; or the text cut off."""
    parts: list[str] = random.choice((WORD.findall, lambda t: t.splitlines(keepends=True), list))(text)
    if not parts:
        return random.choice(ODD_TEXTS)
    i, j = random.randrange(len(parts)), random.randrange(len(parts))
    what = random.randrange(7)
    if what == 0:
        del parts[min(i, j) : min(i, j) + random.choice((1, 1, 3))]
    elif what == 1:
        parts[i:i] = parts[j : j + 5] * random.choice((1, 2, 20))
    elif what == 2:
        parts[i], parts[j] = parts[j], parts[i]
    elif what == 3:
        parts[i] = random.choice(ODD_TEXTS)
    elif what == 4:
        parts.insert(i, random.choice((*ODD_TEXTS, *map(str, ODD_NUMBERS), chr(random.randrange(0x250)))))
    elif what == 5:
        del parts[i:]
    else:
        parts[i] = "".join(chr(max(1, ord(c) ^ (1 << random.randrange(7)))) for c in parts[i])
    return "".join(parts)


def change_bytes(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        i = random.randrange(len(changed) + 1)
        changed[i : i + random.randrange(3)] = bytes(random.randrange(256) for _ in range(random.randrange(3)))
    return bytes(changed)


def to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)


def to_signed_json(data: Any) -> str:
    """With a checksum that fits, so that what is behind it is read, too."""
    if isinstance(data, dict) and "checksum" in data:
        data = data | {"checksum": checksum(data)}
    return to_json(data)


def to_toml(data: Any) -> str:
    """Any structure as TOML, or nearly so: TOML has no null."""
    if not isinstance(data, dict):
        return f"a = {_inline(data)}"
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in data.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


# --- the readers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """How to read an input, and what to ask of what was read."""

    name: str
    seeds: list[str]
    error: type[ValueError]
    read: Callable[[Any], Any]
    check: Callable[[Any], None]  # written and read again, it is the same
    parse: Callable[[str], Any] | None = None  # to change the structure
    write: Callable[[Any], str] | None = None
    as_file: bool = False
    finish: Callable[[bytes], bytes] = bytes  # what is written to a file

    def given(self, text: str) -> Any:
        """What is read, from a text."""
        return self.finish(text.encode("utf-8", "surrogatepass")) if self.as_file else text

    def make(self, seed: object, number: int) -> Any:
        """An input: a text, or the bytes of a file. The same for the same seed and number."""
        random = Random(f"{seed} {self.name} {number}")
        if number < len(SPECIMENS):
            text = SPECIMENS[number]
        elif random.random() < 0.002:
            base, specimen = random.choice(self.seeds), random.choice(SPECIMENS)
            i = random.randrange(len(base) + 1)
            text = base[:i] + specimen + base[i:]
        else:
            text = random.choice(self.seeds)
            if self.parse is not None and self.write is not None and random.random() < 0.6:
                data = self.parse(text)
                for _ in range(random.choice((1, 1, 2, 4))):
                    data = change_structure(data, random)
                try:
                    text = self.write(data)
                except (ValueError, RecursionError):  # a number that cannot be written
                    text = random.choice(SPECIMENS)
            if self.parse is None or random.random() < 0.5:
                for _ in range(random.choice((1, 1, 1, 2, 5))):
                    text = change_text(text, random)
        data = self.given(text)
        return change_bytes(data, random) if self.as_file and random.random() < 0.2 else data


def same_schema(schema: Schema) -> None:
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(schema.to_dict()) == schema


def check_refusal(error: ValueError, expected: type[ValueError]) -> None:
    allowed = isinstance(error, LedgerError) if expected is LedgerError else type(error) is expected
    assert allowed, f"another error: {type(error).__name__}"
    assert len(str(error)) <= LONGEST_MESSAGE, "a long message"
    assert error.__cause__ is None


def read_rules(text: str) -> Any:
    """As a list, a rule or a literal, whichever it is."""
    for one in (Literal, Rule):
        try:
            return one.parse(text)
        except RuleError as error:
            check_refusal(error, RuleError)
    return RuleList.parse(text)


def same_rules(rules: Any) -> None:
    assert type(rules).parse(str(rules)) == rules
    if isinstance(rules, RuleList):
        same_model(rules)


def same_model(rules: RuleList | Tree) -> None:
    assert type(rules).from_json(rules.to_json()) == rules
    assert type(rules).parse(str(rules), rules.classes, rules.schema) == rules.without_counts()
    source = rules.to_python()
    assert source.encode()
    (made,) = ast.parse(source).body  # whatever its names are, it is one function
    assert isinstance(made, ast.FunctionDef)
    for dialect in ("duckdb", "postgresql", "spark", "sqlite"):
        try:
            assert rules.to_sql(dialect).encode()
        except RuleError as error:
            check_refusal(error, RuleError)


def same_saved(model: SavedModel) -> None:
    assert SavedModel.from_json(model.to_json()) == model
    assert str(model)
    assert model.ledger is None or model.ledger.proved


def measured_model() -> SavedModel:
    label = {"label": "Age in years"}
    columns = [Numeric("age", cuts=[25, 45], **label), Categorical("job", categories=["a", "b"], labels={"a": "clerk"})]
    schema = Schema(columns, "y", [0, 1], class_labels={"0": "no", "1": "yes"})
    return SavedModel(RuleList.parse("if age <= 25 and job = a then 1 else 0", (0, 1), schema), STATEMENT)


def evaluations() -> list[str]:
    """Files of evaluations: with groups, with labels, and with neither."""
    model = measured_model()
    content, table = model.to_json().encode(), {"age": [20, 30, 50] * 20, "job": ["a", "b", "b"] * 20}
    groups = ((), "job", ["age", "job"])  # with a seed, so that inputs can be made again
    found = [noisy_evaluation(model, table, [0, 1, 0] * 20, 1.0, by=by, random_state=0) for by in groups]
    ledger = replace(Ledger(2.0).snapshot(), ledger="a ledger")
    return [
        replace(SavedEvaluation.of(one, content), ledger=known).to_json()
        for one, known in zip(found, (None, ledger, None), strict=True)
    ]


def read_evaluation(content: bytes) -> SavedEvaluation:
    return SavedEvaluation.from_bytes(content, measured_model().to_json().encode())


def same_evaluation(saved: SavedEvaluation) -> None:
    assert read_evaluation(saved.to_json().encode()) == saved
    assert saved.evaluation.to_text()
    assert saved.evaluation.to_html()


def same_statement(statement: PrivacyStatement) -> None:
    assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert str(statement)


def whole_ledger(path: Path) -> Any:
    """A ledger all of whose rows were read. Opening looks at its sums only."""
    ledger = Ledger.open(path)
    assert len(ledger.entries) == ledger.n_entries
    return ledger


def same_ledger(ledger: Any) -> None:
    """Everything that a ledger can be asked works, and a new entry leaves the old ones as they were."""
    before, text = ledger.path.read_bytes(), str(ledger)
    entries, whole = ledger.entries, (ledger.epsilon, ledger.delta)
    assert text
    assert ledger.proved
    assert ledger.path.read_bytes() == before
    try:
        ledger.reserve(Fraction(0), Fraction(0), "nothing")
    except BudgetError:
        assert ledger.entries == entries
    else:
        assert ledger.entries[:-1] == entries
    assert (ledger.epsilon, ledger.delta) == whole


def readers(folder: Path) -> list[Reader]:
    """All of them. Files are made in the folder."""
    schemas = [SCHEMA.to_toml(), PLAIN_SCHEMA.to_toml(header="")]
    models = [RULES.to_json(), RuleList.parse(TEXTS[1]).to_json(None), RuleList.parse(TEXTS[2]).to_json()]
    trees = [TREE.to_json(), *(Tree.parse(text).to_json() for text in TREE_TEXTS)]
    saved = [SAVED[0].to_json(), SAVED[1].to_json(None), SAVED[2].to_json()]
    path = folder / "file"
    return [
        Reader("schema", schemas, SchemaError, Schema.from_toml, same_schema, tomllib.loads, to_toml),
        Reader("schema file", schemas, SchemaError, Schema.load, same_schema, tomllib.loads, to_toml, as_file=True),
        Reader("rules", [*TEXTS, "age <= 3", "not a and b then 1"], RuleError, read_rules, same_rules),
        Reader("model", models, RuleError, RuleList.from_json, same_model, json.loads, to_json),
        Reader("tree text", TREE_TEXTS, RuleError, Tree.parse, same_model),
        Reader("tree", trees, RuleError, Tree.from_json, same_model, json.loads, to_json),
        Reader("model file", saved, ModelError, SavedModel.load, same_saved, json.loads, to_signed_json, as_file=True),
        Reader(
            "evaluation",
            evaluations(),
            ModelError,
            lambda path: read_evaluation(Path(path).read_bytes()),
            same_evaluation,
            json.loads,
            to_signed_json,
            as_file=True,
        ),
        Reader(
            "statement",
            [STATEMENT.to_json(), UNPROVED.to_json(None)],
            ValueError,
            PrivacyStatement.from_json,
            same_statement,
            json.loads,
            to_json,
        ),
        Reader(
            "ledger",
            [some_ledger(2), some_ledger(0)],
            LedgerError,
            lambda _: whole_ledger(path),
            same_ledger,
            json.loads,
            to_json,
            as_file=True,
            finish=sealed_ledger,
        ),
    ]


@dataclass
class Tally:
    """What came of the inputs of one reader."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    slowest_number: int = 0

    def __str__(self) -> str:
        return (
            f"{self.read + self.refused:,} inputs: {self.read:,} read, {self.refused:,} refused; "
            f"the slowest, number {self.slowest_number}, took {self.slowest:.3f} s"
        )


def try_input(reader: Reader, given: Any, folder: Path) -> bool:
    """Whether an input was read. AssertionError if anything but reading or refusing it happened."""
    path = folder / "file"
    if reader.as_file:
        path.write_bytes(given)
    try:
        value = reader.read(path if reader.as_file else given)
    except reader.error as error:
        check_refusal(error, reader.error)
        return False
    finally:
        assert not reader.as_file or path.read_bytes() == given, "the file was changed"
    reader.check(value)
    return True


def fuzz(reader: Reader, seed: object, numbers: range, folder: Path) -> Tally:
    """Try some inputs. What fails can be repeated by seed and number."""
    gc.freeze()  # what earlier tests left is not gone through again while an input is timed
    try:
        return _fuzz(reader, seed, numbers, folder)
    finally:
        gc.unfreeze()


def _fuzz(reader: Reader, seed: object, numbers: range, folder: Path) -> Tally:
    tally = Tally()
    for number in numbers:
        given = reader.make(seed, number)
        start = time.process_time()
        try:
            read = try_input(reader, given, folder)
            seconds = time.process_time() - start
            assert seconds < MOST_SECONDS, f"it took {seconds:.1f} s"
        except Exception as error:
            again = f"python -m tests.support.fuzzing --reader '{reader.name}' --seed {seed} --only {number}"
            raise AssertionError(f"{type(error).__name__}: {error}\n{given!r:.500}\nagain: {again}") from error
        tally.read += read
        tally.refused += not read
        if seconds > tally.slowest:
            tally.slowest, tally.slowest_number = seconds, number
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description="Fuzz all readers.")
    parser.add_argument("--count", type=int, default=100_000, help="inputs for each reader")
    parser.add_argument("--seed", default=str(secrets.randbelow(10**9)))
    parser.add_argument("--reader", help="one reader only")
    parser.add_argument("--only", type=int, help="one input only")
    given = parser.parse_args()
    os.fsync = lambda _: None  # files here need not survive anything
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for reader in readers(Path(folder)):
            if given.reader in (None, reader.name):
                start = time.perf_counter()
                tally = fuzz(reader, given.seed, numbers, Path(folder))
                print(f"{reader.name}: {tally}; {time.perf_counter() - start:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
