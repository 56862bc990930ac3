"""Random schemas, tables, rules, rule lists and trees for property tests."""

import datetime
import math

import numpy as np
from hypothesis import strategies as st

from discreet import Boolean, Categorical, Date, Literal, Numeric, Rule, RuleList, Schema, Split, Tree
from discreet.models.partition import Answer
from discreet.rules.candidates import Candidates

names = st.text(min_size=1, max_size=8)
# awkward on purpose: reserved words, numbers, quotation marks, operators
words = st.one_of(
    names,
    st.sampled_from(
        ["if", "then", "not", "is missing", "12", "-1.5", "True", 'a "b"', "\\", "x <= 3", "é ü", "[1, 2]", "1e5"]
    ),
)
numbers = st.one_of(
    st.integers(-20, 20).map(float), st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) < 1e300)
)
categories = st.one_of(words, st.integers(-5, 5))


days = st.dates(datetime.date(1, 1, 2), datetime.date(9999, 12, 30))


@st.composite
def literals(draw, column=words):
    op = draw(
        st.sampled_from(
            ["<=", ">", "<", ">=", "in", "not in", "=", "!=", "is true", "is false", "is missing", "is not missing"]
        )
    )
    value = None
    if op in ("in", "not in"):
        value = tuple(sorted((draw(numbers), draw(numbers))))
    elif op in ("=", "!="):
        value = draw(categories)
    elif op in ("<=", ">", "<", ">="):
        value = draw(numbers | days)
    return Literal(draw(column), op, value)


labels = st.one_of(words, st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))


DRAWN = ("numeric", "categorical", "boolean", "date")  # all kinds that a rule may use: tests/schema/test_a_new_kind.py


DAYS = [datetime.date(*day) for day in ((1, 1, 2), (1969, 12, 31), (1970, 1, 1), (2024, 2, 29), (2024, 3, 1))]


@st.composite
def columns(draw, name):
    kind = draw(st.sampled_from(DRAWN))
    missing = draw(st.booleans())
    if kind == "date":
        cuts = draw(st.sets(st.sampled_from(DAYS), min_size=1, max_size=4))
        return Date(name, missing, sorted(cuts))
    if kind == "boolean":
        return Boolean(name, missing, outside=draw(st.sampled_from([None, "missing", "error"])))
    if kind == "numeric":
        cuts = sorted(draw(st.sets(st.integers(-5, 5), min_size=1, max_size=3)))
        pairs = draw(
            st.lists(
                st.tuples(st.integers(-5, 5), st.integers(-5, 5)).map(lambda p: tuple(sorted(p))),
                max_size=2,
                unique=True,
            )
        )
        if draw(st.booleans()):
            pairs.append((draw(st.integers(-5, 5)), math.inf))
        bounds = draw(st.sampled_from([(None, None), (-3, 3), (None, 2)]))
        outside = draw(st.sampled_from(["clip", "missing", "error"]))
        return Numeric(name, missing, cuts, pairs, *bounds, outside=outside)
    known = draw(st.lists(st.sampled_from(["a", "b", "c", "d", "other", 1, 2]), min_size=1, max_size=5, unique=True))
    outside = draw(st.sampled_from([None, "other", "none", "missing", "error"]))
    if draw(st.booleans()):
        return Categorical(name, missing, known, outside=outside)
    sizes = draw(
        st.lists(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True), min_size=1, max_size=3)
    )
    groups = {f"g{i}": members for i, members in enumerate(sizes)}
    return Categorical(name, missing, known, groups, draw(st.sampled_from(["other", "none"])), outside)


@st.composite
def schemas(draw, max_columns=4):
    n = draw(st.integers(1, max_columns))
    return Schema(
        tuple(draw(columns(f"c{i}")) for i in range(n)), "y", ("no", "yes", "maybe")[: draw(st.integers(2, 3))]
    )


ZONES = st.sampled_from([-12, -5.5, 0, 1, 14])


def values_for(column):
    """Values of a column, foreseen or not."""
    odd = st.sampled_from([None, math.nan])
    if isinstance(column, Date):
        near = [day + datetime.timedelta(shift) for day in DAYS for shift in (-1, 0, 1)]
        times = st.datetimes(datetime.datetime(1969, 12, 30), datetime.datetime(2024, 3, 2))
        zoned = st.builds(
            lambda t, hours: t.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=hours))), times, ZONES
        )
        texts = (st.sampled_from(near) | times | zoned).map(str)
        return st.one_of(
            st.sampled_from(near), times, zoned, texts, st.sampled_from(["2024-02-30", "yes", 20240229, 7.0, True]), odd
        )
    if isinstance(column, Numeric):
        return st.one_of(st.integers(-7, 7), st.floats(-7, 7), st.just(math.inf), odd)
    if isinstance(column, Boolean):
        return st.one_of(st.booleans(), st.sampled_from([0, 1, "yes", "no", 7, "?"]), odd)
    return st.one_of(st.sampled_from(["a", "b", "c", "d", "other", 1, 2, "1", 2.0, "zzz", 9]), odd)


@st.composite
def tables(draw, schema, max_records=25):
    """Columns of objects, and class numbers."""
    n = draw(st.integers(0, max_records))
    data = {}
    for column in schema.columns:
        drawn = draw(st.lists(values_for(column), min_size=n, max_size=n))
        data[column.name] = np.empty(n, dtype=object)
        data[column.name][:] = drawn
    y = np.array(draw(st.lists(st.integers(0, len(schema.classes) - 1), min_size=n, max_size=n)), dtype=np.int64)
    return data, y


@st.composite
def problems(draw, max_literals=3):
    """A schema with candidates, and a table."""
    schema = draw(schemas().filter(lambda s: any(len(_kept(c)) for c in s.columns)))
    candidates = Candidates.of_schema(schema, draw(st.integers(1, max_literals)), draw(st.booleans()))
    data, y = draw(tables(schema))
    return candidates, data, y


def _kept(column):
    from discreet.rules.candidates import _literals

    return _literals(column, negations=False)


@st.composite
def rule_lists(draw):
    """Lists over the literals of a schema."""
    candidates, data, _ = draw(problems(max_literals=2))
    chosen = draw(st.lists(st.integers(0, len(candidates) - 1), max_size=4))
    classes = candidates.schema.classes
    counts = st.one_of(st.none(), st.lists(st.floats(-10, 1e6), min_size=len(classes), max_size=len(classes)))
    rules = tuple(Rule(candidates[i].antecedent, draw(st.sampled_from(classes)), draw(counts)) for i in chosen)
    return RuleList(rules, Rule((), draw(st.sampled_from(classes)), draw(counts)), classes, candidates.schema), data


@st.composite
def free_rule_lists(draw):
    """Lists with names, categories and labels of any shape, and the smallest schema they need."""
    free = draw(st.lists(st.lists(literals(), min_size=1, max_size=3), max_size=4))
    # a column is of one type: keep the first use
    kinds: dict[str, str] = {}
    rules = []
    for antecedent in free:
        kept = [
            x
            for x in antecedent
            if (x.op.startswith("is ") and "missing" in x.op) or kinds.setdefault(x.column, _kind(x)) == _kind(x)
        ]
        if kept:
            rules.append(Rule(tuple(kept), draw(labels)))
    return RuleList(tuple(rules), Rule((), draw(labels)))


def _kind(literal):
    number = "d" if isinstance(literal.value, datetime.date) else "n"
    return {"=": "c", "!=": "c", "is true": "b", "is false": "b"}.get(literal.op, number)


def nodes(tests, answers, max_leaves=12):
    """Nodes of trees, of any shape."""
    return st.recursive(answers, lambda below: st.builds(Split, tests, below, below), max_leaves=max_leaves)


@st.composite
def trees(draw, max_leaves=12):
    """Trees over the literals of a schema, and a table."""
    candidates, data, _ = draw(problems(max_literals=1))
    classes = candidates.schema.classes
    counts = st.one_of(st.none(), st.lists(st.floats(-10, 1e6), min_size=len(classes), max_size=len(classes)))
    tests = st.sampled_from([rule.antecedent[0] for rule in candidates])
    answers = st.builds(Answer, st.sampled_from(classes), counts)
    return Tree(draw(nodes(tests, answers, max_leaves)), classes, candidates.schema), data


@st.composite
def free_trees(draw):
    """Trees with names, categories and labels of any shape, and the smallest schema they need."""
    kinds: dict[str, str] = {}  # a column is of one type: its first use says of which

    def of_one_kind(literal):
        if literal.op.endswith("missing") or kinds.setdefault(literal.column, _kind(literal)) == _kind(literal):
            return literal
        return Literal(literal.column, "is missing")

    def renamed(node):
        return (
            Split(of_one_kind(node.test), renamed(node.true), renamed(node.other)) if isinstance(node, Split) else node
        )

    return Tree(renamed(draw(nodes(literals(), labels.map(Answer), 8))))
