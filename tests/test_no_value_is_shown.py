"""No error, warning, log or print shows a record's value, whatever the table holds and however the call goes wrong.

Marked values are sent down every path that sees records. That it is every path is measured: each ``raise`` of the package is
reached by one of the calls here, or listed with the reason why no record can get there.
"""

import ast
import copy
import logging
import pickle
import sys
import warnings
from decimal import Decimal
from itertools import chain, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import discreet
from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    GreedyRuleListClassifier,
    Ignored,
    Numeric,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
    PrivateCounts,
    RuleList,
    Schema,
    ScoreCardClassifier,
    check_table,
    draft_schema,
    noisy_evaluation,
    private_schema,
)
from discreet._utils.errors import LearningError, SchemaError, no_value_shown
from discreet._utils.tables import as_table
from discreet.audit.explorer import ListsByEnvelope, TreesOnMarginals
from discreet.evaluation.evaluation import exact_numbers
from discreet.private.release import Plan
from discreet.rules.candidates import Candidates
from discreet.schema.inference import infer_schema

from .support.marked_values import (
    DATE,
    HOSTILE,
    NUMBER,
    PLAIN,
    TEXT,
    VALUES,
    WHOLE,
    Heard,
    column_of,
    shows_a_mark,
    tables_of,
    typed_columns,
)
from .support.slices import pairs, some

HOME = Path(discreet.__file__).parent
N = 8
ORDINARY = {"n": [1, 5], "c": ["a", "b"], "b": [True, False]}
Y = ["no", "yes"] * (N // 2)
COLUMNS = (Numeric("n", cuts=[3]), Categorical("c", categories=["a", "b"]), Boolean("b"))
SCHEMA = Schema(COLUMNS, classes=["no", "yes"])
NUMBERED = Schema(COLUMNS, classes=[0, 1])
STRICT = Schema(
    (
        Numeric("n", cuts=[3], low=0, high=9, outside="error"),
        Categorical("c", categories=["a", "b"], outside="error"),
        Boolean("b", outside="error"),
    ),
    classes=["no", "yes"],
)
GRID = Schema((Numeric("n", low=0, high=9, n_cuts=8), *COLUMNS[1:]), classes=["no", "yes"])
RULES = RuleList.parse("if n <= 3 and c = a and b then yes else no", schema=SCHEMA)
STRICT_RULES = RuleList.parse("if n <= 3 and c = a and b then yes else no", schema=STRICT)
PRIVATE = {
    "mass": lambda **p: DPGreedyRuleListClassifier(max_length=2, **{"schema": SCHEMA} | p),
    "published": lambda **p: DPGreedyRuleListClassifier(
        mechanism="sm-laplace", delta=1e-6, min_support=2, max_length=2, **{"schema": SCHEMA} | p
    ),
    "optimal rule lists": lambda **p: DPOptimalRuleListClassifier(max_length=2, **{"schema": SCHEMA} | p),
    "longer lists": lambda **p: ListsByEnvelope(max_length=2, **{"schema": SCHEMA} | p),
    "optimal trees": lambda **p: DPOptimalTreeClassifier(max_depth=2, **{"schema": SCHEMA} | p),
    "optimal trees by Gini": lambda **p: DPOptimalTreeClassifier(
        stages=(1, 1), criterion="gini", **{"schema": SCHEMA} | p
    ),
    "greedy trees": lambda **p: DPGreedyTreeClassifier(max_depth=2, **{"schema": SCHEMA} | p),
    "score cards": lambda **p: DPScoreCardClassifier(max_columns=2, **{"schema": SCHEMA} | p),
    "score cards after a tree": lambda **p: DPScoreCardClassifier(tree_depth=1, **{"schema": SCHEMA} | p),
    "wide tables": lambda **p: TreesOnMarginals(stages=(1, 1), **{"schema": SCHEMA} | p),
}
OF_ITS_OWN = lambda **p: DPOptimalTreeClassifier(schema="private", epsilon=9, max_depth=1, **p)  # noqa: E731
OPEN = {
    "greedy": lambda **p: GreedyRuleListClassifier(max_length=2, **p),
    "optimal": lambda **p: OptimalRuleListClassifier(max_length=2, **p),
    "optimal tree": lambda **p: OptimalTreeClassifier(max_depth=2, **p),
    "score card": lambda **p: ScoreCardClassifier(max_columns=2, **p),
    "inferring": lambda **p: DPGreedyRuleListClassifier(max_length=2, infer_schema=True, **p),
}


def ordinary():
    return {name: [values[i % 2] for i in range(N)] for name, values in ORDINARY.items()}


FRAME = pd.DataFrame(ordinary())
FITTED = {
    **{name: make().fit(FRAME, Y) for name, make in PRIVATE.items()},
    **{name: make(schema=STRICT).fit(FRAME, Y) for name, make in OPEN.items() if name != "inferring"},
    "greedy from an array": GreedyRuleListClassifier().fit(np.eye(N), Y),
}


MEASURES = {
    "noisy evaluation": lambda model, X, y: noisy_evaluation(model, X, y, 1.0, model_is_public=True) and None,
    "exact numbers": lambda model, X, y: exact_numbers(getattr(model, "model_", model), X, y),
}


def marked_tables(value, turn, thorough):
    """The table with the value once in each column: (name of the column, name of the table, table).

    As a pandas frame and as one other kind of table, which takes turns; if ``thorough``, as all kinds.
    """
    for i, name in enumerate(ORDINARY):
        columns = ordinary()
        columns[name][3] = value
        for j, (kind, table) in enumerate(tables_of(columns)):
            if thorough or kind == "pandas objects" or j == (turn + i) % 6:
                yield name, kind, table


def marked_labels(value):
    labels = [*Y[:3], value, *Y[4:]]
    yield "list", labels
    yield "array", column_of(labels)
    yield "pandas", pd.Series(column_of(labels), dtype=object)


def calls_on_values(thorough):
    """(what is called, the call): single values among ordinary ones."""
    learners = cycle([*OPEN.items(), ("greedy by schema", lambda: GreedyRuleListClassifier(schema=STRICT))])
    fitted = cycle(FITTED.items())
    measured = cycle((name, model) for name in MEASURES for model in (RULES, FITTED["greedy"], FITTED["mass"]))
    for turn, (name, value) in enumerate(VALUES.items()):
        for column, kind, X in marked_tables(value, turn, thorough):
            where = f"{name} in {column} of {kind}"
            if thorough or kind != "pandas objects":
                yield f"PrivateCounts, {where}", lambda X=X: PrivateCounts.from_table(X, Y, SCHEMA)
                yield f"strict rules, {where}", lambda X=X: STRICT_RULES.predict(X, strict=True)
                called, model = next(fitted)
                yield f"{called}.score, {where}", lambda X=X, model=model: model.score(X, Y)
            if thorough or kind == "pandas objects":
                called, make = next(learners)
                yield f"{called}.fit, {where}", lambda X=X, make=make: make().fit(X, Y) and None
                called, model = next(fitted)
                yield f"{called}.predict, {where}", lambda X=X, model=model: model.predict(X)
                called, model = next(measured)
                yield f"{called}, {where}", lambda X=X, model=model, called=called: MEASURES[called](model, X, Y)
                yield f"check, {where}", lambda X=X: str(check_table(X, Y, SCHEMA))
                yield f"inference, {where}", lambda X=X: infer_schema(as_table(X)) and None
                yield f"private schema, {where}", lambda X=X: private_schema(X, Y, epsilon=9) and None
                yield (
                    f"drafting, {where}",
                    lambda X=X: draft_schema(X) and None,
                )  # a sample that was not public after all
                yield f"drafting a target, {where}", lambda X=X, c=column: draft_schema(X, c) and None
        for kind, y in marked_labels(value):
            where = f"{name} among labels, {kind}"
            yield f"PrivateCounts, {where}", lambda y=y: PrivateCounts.from_table(FRAME, y, SCHEMA)
            yield f"check, {where}", lambda y=y: str(check_table(FRAME, y, SCHEMA))
            yield f"private schema, {where}", lambda y=y: OF_ITS_OWN().fit(FRAME, y) and None
            for called, make in (next(learners), ("greedy by schema", lambda: GreedyRuleListClassifier(schema=SCHEMA))):
                yield f"{called}.fit, {where}", lambda y=y, make=make: make().fit(FRAME, y) and None
            called, model = next(fitted)
            if called != "greedy from an array":
                yield f"{called}.score, {where}", lambda y=y, model=model: model.score(FRAME, y)
            called, model = next(measured)
            yield f"{called}, {where}", lambda y=y, model=model, called=called: MEASURES[called](model, FRAME, y)


def calls_on_types():
    """Marked values in columns of every type, as a column, as the table and as labels."""
    alike = Schema([Categorical("n", categories=["1", "01"])], classes=["1", "01"])
    numbers = np.full(N, NUMBER)
    yield "categories that are one number", lambda: PrivateCounts.from_table({"n": numbers}, [TEXT] * N, alike)
    yield "classes that are one number", lambda: PrivateCounts.from_table({"n": [TEXT] * N}, numbers, alike)
    for name, values in typed_columns():
        mapping = {"n": values, "c": values, "b": values}
        yield f"PrivateCounts, {name}", lambda m=mapping: PrivateCounts.from_table(m, Y, SCHEMA)
        yield f"rules, {name}", lambda m=mapping: STRICT_RULES.predict(m, strict=True)
        for table in (values, *framed(values)):
            for called, make in (PRIVATE | OPEN).items():
                yield f"{called}.fit, {name} as a table", lambda t=table, make=make: make().fit(t, Y) and None
            for called, model in FITTED.items():
                yield f"{called}.predict, {name} as a table", lambda t=table, model=model: model.predict(t)
                yield f"{called}.predict_proba, {name}", lambda t=table, model=model: model.predict_proba(t)
            yield f"captures, {name} as a table", lambda t=table: RULES.captures(t)
            yield f"private schema, {name} as a table", lambda t=table: OF_ITS_OWN().fit(t, Y) and None
            yield (
                f"private schema, {name} as a target",
                lambda t=table: private_schema(t, target="c", epsilon=9) and None,
            )
            yield f"inference, {name} as a table", lambda t=table: infer_schema(as_table(t)) and None
            yield f"drafting, {name} as a table", lambda t=table: draft_schema(t, "c").notes
        for called, make in (PRIVATE | OPEN).items():
            yield f"{called}.fit, {name} as labels", lambda y=values, make=make: make().fit(FRAME, y) and None
            numbered = {} if called == "inferring" else {"schema": NUMBERED}
            yield (
                f"{called}.fit, {name} as labels for numbers",
                lambda y=values, make=make, p=numbered: make(**p).fit(FRAME, y) and None,
            )
        yield f"private schema, {name} as labels", lambda y=values: OF_ITS_OWN().fit(FRAME, y) and None
        for called, model in FITTED.items():
            X = np.eye(N) if called == "greedy from an array" else FRAME
            yield f"{called}.score, {name} as labels", lambda X=X, y=values, model=model: model.score(X, y)


def framed(values):
    """Frames with such columns, where there are any."""
    if isinstance(values, pl.Series):
        yield pl.DataFrame(dict.fromkeys(ORDINARY, values))
    elif not isinstance(values, list | str | float) and getattr(values, "ndim", 1) == 1 and not is_record(values):
        as_pandas = values.to_pandas() if hasattr(values, "to_pandas") else values
        yield pd.DataFrame({name: pd.Series(as_pandas) for name in ORDINARY})


def is_record(values):
    return isinstance(values, np.ndarray) and values.dtype.names is not None


def calls_on_files():
    """Files that are no tables, with marked values in them."""
    from discreet.sources.files import read_table

    header, row = "n,c,b\n", f"{NUMBER},{TEXT},{TEXT}\n"
    files = {
        "short.csv": header + row + f"{TEXT}",
        "short in between.csv": header + f"{TEXT}\n" + row,
        "long.csv": header + row.strip() + f",{TEXT}\n",
        "open quote.csv": header + row + f'"{TEXT}',
        "empty.csv": "",
        "no header.csv": "\n" + row,
        "row names.csv": ",c,b\n" + row,
        "names twice.csv": "n,n,b\n" + row,
        "NUL.csv": f"n\0,c,b\n{row}",
        "endless name.csv": f"{TEXT * 20_000},c,b\n{row}",
        "endless.csv": f"{TEXT}," * 1_800_000,
        "no table.parquet": row,
        "no table.arrow": row,
        "no table.sav": row,
        "no table.dta": row,
        "no table.sas7bdat": row,
        "other.xlsx": row,
    }
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            yield name, lambda path=path: read_table(path)
        path = Path(folder) / "latin.csv"
        path.write_bytes(header.encode() + f"{TEXT}é,{TEXT},1\n".encode("latin-1"))
        yield "latin", lambda: read_table(path)
        yield "an encoding", lambda: read_table(path, encoding="klingon")
        yield "a delimiter", lambda: read_table(path, delimiter="##", encoding="latin-1")
        path.write_text(header + row, encoding="utf-16")
        yield "wide", lambda: read_table(path)


def calls_on_shapes():
    """Tables that are wrong as a whole."""
    text, numbers = np.full((N, 3), TEXT), np.full((N, 3), NUMBER)
    lists = [[TEXT] * 3] * N
    tables = {
        "texts": text,
        "texts as objects": text.astype(object),
        "dicts": column_of([{TEXT: 1}] * N * 3).reshape(N, 3),
        "numbers": numbers,
        "complex": numbers + 1j * WHOLE,
        "dates": np.full((N, 3), DATE, dtype="M8[D]"),
        "one dimension": numbers[:, 0],
        "three dimensions": numbers[:, :, None],
        "too wide": np.full((N, 5), NUMBER),
        "too narrow": numbers[:, :1],
        "no columns": numbers[:, :0],
        "no records": numbers[:0],
        "sparse": csr_array(numbers),
        "lists": lists,
        "list": lists[0],
        "columns twice": pd.DataFrame(text, columns=["n", "c", "c"]),
        "columns twice, as numbers": pd.DataFrame(numbers, columns=["n", "c", "c"]),
        "columns twice in Arrow": pa.Table.from_arrays([pa.array([TEXT] * N)] * 3, names=["n", "c", "c"]),
        "other columns": pd.DataFrame(text, columns=["n", "c", "other"]),
        "columns without texts as names": pd.DataFrame(text),
        "numbers without names": pd.DataFrame(numbers),
        "empty frame": FRAME[:0],
        "lazy": pl.LazyFrame({"n": [TEXT] * N}),
        "unequal": {"n": [TEXT] * N, "c": [TEXT], "b": [TEXT]},
        "two dimensions in a column": {"n": numbers, "c": text, "b": text},
        "missing values": FRAME.assign(n=[NUMBER, None] * 4, c=[TEXT, None] * 4),
        "only missing values": FRAME.assign(c=[None, "a"] * 4),
        "only missing truths": FRAME.assign(b=column_of([None, True] * 4)),
        "beyond the bounds": FRAME.assign(n=[NUMBER, 1] * 4),
        "unlisted": FRAME.assign(c=[TEXT, "a"] * 4),
        "neither true nor false": FRAME.assign(b=[TEXT, True] * 4),
        "no truth values": FRAME.assign(b=[NUMBER, 1] * 4),
        "dates in a frame": FRAME.assign(n=pd.to_datetime([DATE] * N)),
        "nothing": None,
        "a set": {TEXT},
        "a generator": (x for x in (TEXT,)),
    }
    for name, X in tables.items():
        for called, make in (PRIVATE | OPEN).items():
            yield f"{called}.fit, {name}", lambda X=X, make=make: make().fit(X, Y) and None
        for schema in (SCHEMA, STRICT):
            for make in (GreedyRuleListClassifier, OptimalRuleListClassifier, DPGreedyRuleListClassifier):
                yield f"{make.__name__}.fit, {name}", lambda X=X, m=make, s=schema: m(schema=s).fit(X, Y) and None
            yield f"PrivateCounts, {name}", lambda X=X, schema=schema: PrivateCounts.from_table(X, Y, schema)
        for called, model in FITTED.items():
            yield f"{called}.predict, {name}", lambda X=X, model=model: model.predict(X)
        for called, measure in MEASURES.items():
            yield f"{called}, {name}", lambda X=X, measure=measure: measure(RULES, X, Y)
            yield f"{called} of a model, {name}", lambda X=X, measure=measure: measure(FITTED["greedy"], X, Y)
        for epsilon in (1, 1e6):  # nothing is found, and all that may be
            yield f"private schema, {name}", lambda X=X, e=epsilon: private_schema(X, Y, epsilon=e) and None
        yield f"rules, {name}", lambda X=X: STRICT_RULES.predict_proba(X, strict=True)
        yield f"array by rules of nothing, {name}", lambda X=X: RuleList.parse("always 1").predict(X)
        yield f"without a schema, {name}", lambda X=X: DPGreedyRuleListClassifier().fit(X, Y)
        yield f"fit_counts, {name}", lambda X=X: DPGreedyRuleListClassifier(schema=SCHEMA).fit_counts(X)
        yield f"inference, {name}", lambda X=X: infer_schema(as_table(X)) and None
        yield f"drafting, {name}", lambda X=X: draft_schema(X).notes
    labels = {
        "none": None,
        "missing": [TEXT, None] * 4,
        "one class": [TEXT] * N,
        "three classes": [TEXT, "a", "b", "a"] * 2,
        "three classes of the schema": [*Y[:-1], TEXT],
        "too few": [TEXT],
        "two columns": [[TEXT, TEXT]] * N,
        "one column": [[TEXT], ["a"]] * 4,
        "measurements": [NUMBER + i for i in range(N)],
        "decimal commas": [f"{WHOLE},5", "1,5"] * 4,
        "dates": pd.to_datetime([DATE] * N),
        "texts and numbers": [TEXT, NUMBER] * 4,
        "sets": [{TEXT}] * N,
        "a text": TEXT,
        "typed texts": pd.Series([TEXT, "a"] * 4, dtype="string"),
        "numbers": np.array([WHOLE, 1] * 4),
    }
    many = {"c": ["a", "b"] * 20, "y": [f"{TEXT}{chr(65 + i % 25)}" for i in range(40)]}
    yield "drafting, too many classes", lambda: draft_schema(many, "y")
    yield "drafting, no such target", lambda: draft_schema(many, "z")
    yield "drafting, no target", lambda: draft_schema(many, 3)
    yield "drafting, only a target", lambda: draft_schema({"y": [TEXT, "a"]}, "y")
    yield "drafting, no such number of cuts", lambda: draft_schema(many, n_cuts=0)
    for name, y in labels.items():
        for called, make in (PRIVATE | OPEN).items():
            yield f"{called}.fit, labels: {name}", lambda y=y, make=make: make().fit(FRAME, y) and None
        yield (
            f"published, labels: {name}",
            lambda y=y: (
                DPGreedyRuleListClassifier(mechanism="gl-laplace", infer_schema=True, max_length=2).fit(FRAME, y)
                and None
            ),
        )
        for schema in (SCHEMA, NUMBERED):
            yield f"greedy by schema, {name}", lambda y=y, s=schema: OPEN["greedy"](schema=s).fit(FRAME, y) and None
            yield f"PrivateCounts, labels: {name}", lambda y=y, s=schema: PrivateCounts.from_table(FRAME, y, s)
        for epsilon in (1, 1e6):
            yield f"private schema, labels: {name}", lambda y=y, e=epsilon: private_schema(FRAME, y, epsilon=e) and None
        yield f"drafting, labels: {name}", lambda y=y: draft_schema({"c": ["a", "b"] * 4, "y": y}, "y").notes
        for called, model in FITTED.items():
            if called != "greedy from an array":
                yield f"{called}.score, labels: {name}", lambda y=y, model=model: model.score(FRAME, y)
        for called, measure in MEASURES.items():
            yield f"{called}, labels: {name}", lambda y=y, measure=measure: measure(RULES, FRAME, y)
    marked = pd.DataFrame({"n": [NUMBER, 1] * 4, "c": [TEXT, "a"] * 4, "b": [True, False] * 4})
    seen = [TEXT, "other"] * 4
    for weight in ({"other": 0}, {"yes": 1}, "balanced", 3):
        yield (
            "class weights",
            lambda w=weight: DPOptimalRuleListClassifier(infer_schema=True, class_weight=w).fit(marked, seen),
        )
    for parameters in (
        {"sample_weight": np.full(N, NUMBER)},
        {"groups": seen},
    ):
        for called, make in (PRIVATE | OPEN).items():
            yield f"{called}.fit, more", lambda make=make, p=parameters: make().fit(marked, seen, **p)
    for mistake in (
        {"delta": 0},
        {"delta": 1e-200},
        {"records": 9},
        {"records": "many"},
        {"epsilon": 0.01, "classes": ["no", "yes"]},
    ):
        yield "private schema", lambda m=mistake: private_schema(marked, Y, **{"epsilon": 1} | m) and None
    pure = discreet.Ledger(epsilon=9)
    yield "private schema, no delta", lambda: private_schema(marked, Y, epsilon=1, ledger=pure) and None
    yield "no model", lambda: noisy_evaluation(marked, marked, seen, 1.0)
    yield "no records to measure", lambda: exact_numbers(RULES, FRAME[:0], [])
    three = Schema(SCHEMA.columns, classes=["no", "perhaps", "yes"])
    yield (
        "rising points for three classes",
        lambda: DPScoreCardClassifier(monotonic_cst={"n": 1}, schema=three).fit(marked, Y),
    )
    yield "no candidates", lambda: GreedyRuleListClassifier().fit(pd.DataFrame({"c": [TEXT] * N}), Y)
    yield "no candidates left", lambda: GreedyRuleListClassifier(exclude=["n", "c", "b"]).fit(marked, seen)
    yield "exclude what is not there", lambda: GreedyRuleListClassifier(exclude=["z"]).fit(marked, seen)
    yield "exclude what is no list", lambda: GreedyRuleListClassifier(exclude="z").fit(marked, seen)
    yield (
        "other candidates",
        lambda: DPGreedyRuleListClassifier(
            candidates=Candidates.of_schema(NUMBERED.exclude(["c"])),
            schema=Schema((Numeric("n", cuts=[4]), Boolean("b"))),
        ).fit(marked, Y),
    )
    yield (
        "candidates that do not fit",
        lambda: GreedyRuleListClassifier(schema=SCHEMA, candidates=["n <= 9"]).fit(marked, Y),
    )
    yield "candidates at odds", lambda: GreedyRuleListClassifier(candidates=["n <= 9", "n = 9"]).fit(marked, Y)
    yield (
        "candidates on an ignored column",
        lambda: GreedyRuleListClassifier(schema=SCHEMA, candidates=["n <= 3"], exclude=["n"]).fit(marked, Y),
    )
    yield "no schema", lambda: GreedyRuleListClassifier(schema={"n": TEXT}).fit(marked, Y)
    yield "no schema for private counts", lambda: PrivateCounts.from_table(marked, Y, {"n": TEXT})
    yield "a small time limit", lambda: OptimalRuleListClassifier(time_limit=1e-9).fit(marked, seen)
    yield "a small time limit for a tree", lambda: OptimalTreeClassifier(time_limit=1e-9).fit(marked, seen)
    yield "a column that no schema knows", lambda: RULES.schema["z"]
    private = PrivateCounts.from_table(marked, Y, SCHEMA)
    for leak in (pickle.dumps, copy.copy, copy.deepcopy, repr, str, "{}".format):
        yield "private counts", lambda leak=leak: leak(private)
    three = Schema(COLUMNS, classes=["no", "yes", "perhaps"])
    yield "three classes for two", lambda: PRIVATE["published"](schema=three).fit(marked, Y)
    yield (
        "three classes in private counts",
        lambda: PRIVATE["published"]().fit_counts(PrivateCounts.from_table(marked, Y, three)),
    )


def calls_on_failures():
    """Errors of libraries inside private code, which like to have numbers and values in them."""
    for error in (MemoryError(TEXT), ValueError(NUMBER)):
        for name, make in PRIVATE.items():
            learners = "greedy.GreedyPlan", "optimal.ListPlan", "trees.TreePlan", "cards.CardPlan"
            for learner in (f"estimators.{learner}.run" for learner in (*learners, "trees.GreedyTreePlan")):
                yield f"{name}, {error!r} while it learns", failing(f"discreet.{learner}", error, make)
            if isinstance(error, MemoryError):
                yield (
                    f"{name}, no memory for patterns",
                    failing("discreet.private.counts.patterns.PatternsInProgress.finish", error, make),
                )
                yield (
                    f"{name}, no memory for marginals",
                    failing("discreet.private.counts.marginals.MarginalsInProgress.finish", error, make),
                )


def failing(place, error, make):
    def fail(*args, **kwargs):
        raise error

    def call():
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(place, fail)
            return make().fit(FRAME, Y) and None

    return call


# Where no record can get: (module, function), or a module as a whole.
NO_RECORD_GETS_THERE = {
    ("estimators.feasibility", ""): "numbers of candidates, rules, tests and classes, and parameters",
    ("estimators.optimal", "OptimalLists._check"): "parameters and public numbers; the message is constant",
    ("estimators.parameters", ""): "parameters",
    (
        "estimators.private",
        "PrivateClassifier._ready",
    ): "a parameter; the message has the names of a class and a method",
    ("estimators.private", "PrivateClassifier._of_engine"): "parameters, before anything is read",
    ("estimators.private", "PrivateClassifier.fit_file"): "a parameter",
    ("estimators.private_schema", "PrivateSchema.known"): "names of columns, and parameters",
    ("estimators.private_schema", "PrivateSchema.part"): "a parameter",
    ("estimators.private_schema", "private_schema"): "a parameter; the message is constant",
    ("private.queries.schema", ""): "a bug in a learner; the messages are constant",
    ("private.counts.patterns", "PatternsInProgress.add_counted"): "a bug in a source; the message is constant",
    ("private.counts.counts", "Marginals.joint"): "a bug in a learner; the message is constant",
    ("private.counts.counts", "Marginals.of_rules"): "a bug in a learner; the message is constant",
    ("private.counts.marginals", "MarginalsInProgress.add_counted"): "cannot happen; the message is constant",
    (
        "private.mechanisms.noisy_counts",
        "NoisyCountsSelector.distributions",
    ): "only the audit asks, which makes its tables up",
    (
        "private.mechanisms.noisy_counts",
        "NoisyCountsSelector.log_prob",
    ): "only the audit asks, which makes its tables up",
    ("private.mechanisms.registry", "register"): "the name of a mechanism",
    ("private.noise.entropy", "Entropy.__init__"): "whether a library can be loaded; the message is constant",
    ("private.queries.list_parts", "ListParts.histogram"): "a bug in a learner; the message is constant",
    ("private.queries.cards", "CardQueries._ask"): "a bug in a learner; the message is constant",
    ("private.queries.cards", "CardQueries.count"): "a bug in a learner; the message is constant",
    ("private.queries.cards", "CardQueries.grow"): "a bug in a learner; the message is constant",
    ("private.release", "Terms.__post_init__"): "parameters",
    ("private.release", "release"): "a bug in a plan; the message is constant",
    ("private.sampling.elements", "keys_of"): "a bug in the learner; the message is constant",
    ("private.sampling.envelope", "draw_by_envelope"): "a bug in the sampler; the message is constant",
    ("private.sampling.list_sums", "ListSums.__init__"): "cannot happen; the message is constant",
    (
        "sources.source",
        "BinCache._read",
    ): "whether a file can be read; the message is constant (tests/sources/test_bin_cache.py)",
    ("sources.bins", ""): "names and types of columns",
    (
        "sources.engine",
        "",
    ): "names and types of columns; what an engine says is dropped (tests/sources/test_failures.py)",
    (
        "sources.engines.base",
        "",
    ): "a bug in an engine's file (no message), or what an engine says, for sources.urls to drop",
    ("sources.engines.base", "_patient.check"): "has no message",
    ("sources.engines.base", "run"): "what an engine says, for sources.engine to drop (tests/sources/test_failures.py)",
    ("sources.engines.duckdb", ""): "where a table is, and types of columns; messages are constant",
    ("sources.engines.spark", ""): "names of columns",
    ("sources.files", "_kind"): "the name of a file, and what is installed",
    ("sources.memory", "FileTable.__init__"): "a schema; the message is constant",
    ("sources.plan", "plan_counting"): "public numbers of the schema and the candidates",
    ("sources.statistical", "check_reader"): "the name of a file, and what is installed",
    ("sources.table_check", "check_table"): "a parameter",
    ("sources.urls", ""): "where a table is; what an engine says is dropped (tests/sources/test_urls.py)",
}


def raises(tree):
    """(function, first line, last line) of each raise statement that makes an exception."""

    def walk(node, function):
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            if isinstance(child, ast.Raise) and child.exc is not None:
                yield function, child.lineno, child.end_lineno
            yield from walk(child, f"{function}.{child.name}".lstrip(".") if named else function)

    yield from walk(tree, "")


def not_reached(path, module, reached):
    """The raise statements of a module that no call reached and no reason excuses."""
    if module.partition(".")[0] not in ("private", "sources", "estimators"):
        return  # no record gets anywhere else
    for function, first, last in raises(ast.parse(path.read_text(encoding="utf-8"))):
        excused = {(module, ""), (module, function)} & NO_RECORD_GETS_THERE.keys()
        if not excused and not any((str(path), line) in reached for line in range(first, last + 1)):
            yield f"{module}.{function}, line {first}"


def module_name(path):
    return ".".join(path.relative_to(HOME).with_suffix("").parts)


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_call_shows_a_value_and_every_error_was_tried(thorough):
    reached, leaks, failed, n = set(), [], 0, 0
    calls = calls_on_values(thorough), calls_on_types(), calls_on_shapes(), calls_on_files(), calls_on_failures()
    for name, call in chain.from_iterable(calls):
        heard = Heard(call)
        n += 1
        failed += heard.error is not None
        reached.update(heard.raised_at())
        if shows_a_mark(heard.text):
            leaks.append(f"{name}: {heard.text[-300:]}")
    assert not leaks, f"{len(leaks)} of {n} calls, such as\n" + "\n\n".join(leaks[:10])
    assert failed > n / 5
    left = [place for path in sorted(HOME.rglob("*.py")) for place in not_reached(path, module_name(path), reached)]
    assert not left, "no marked value was sent there: " + "; ".join(left)


def test_reasons_are_given_for_what_is_there():
    there = set()
    for path in HOME.rglob("*.py"):
        for function, _, _ in raises(ast.parse(path.read_text(encoding="utf-8"))):
            there |= {(module_name(path), function), (module_name(path), "")}
    assert NO_RECORD_GETS_THERE.keys() <= there


def test_a_raise_that_nothing_reaches_is_found(tmp_path):
    path = tmp_path / "twin.py"
    path.write_text("def f(x):\n    if x:\n        raise ValueError(\n            x\n        )\n    raise TypeError\n")
    assert list(not_reached(path, "private.twin", {(str(path), 6)})) == ["private.twin.f, line 3"]
    assert list(not_reached(path, "private.twin", {(str(path), 6), (str(path), 4)})) == []


@pytest.mark.parametrize("learner", ["PrivateCounts", *PRIVATE])
@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_a_private_fit_says_does_not_depend_on_a_record(learner, thorough):
    def fit(X, y):
        return (
            PrivateCounts.from_table(X, y, SCHEMA)
            if learner == "PrivateCounts"
            else PRIVATE[learner]().fit(X, y) and None
        )

    nothing = ("NoneType", "None")
    tried = VALUES if learner == "PrivateCounts" else {name: VALUES[name] for name in [*PLAIN, *list(HOSTILE)[::3]]}
    part = 0 if learner not in PRIVATE else list(PRIVATE).index(learner)
    for turn, (name, value) in some(enumerate(tried.items()), part):
        for column, kind, X in marked_tables(value, turn, thorough):
            if learner == "PrivateCounts" or not kind.startswith("mapping"):
                assert Heard(lambda X=X: fit(X, Y)).outcome == nothing, (name, column, kind)
        for kind, y in marked_labels(value):
            assert Heard(lambda y=y: fit(FRAME, y)).outcome == nothing, (name, kind)


EXTREMES = {
    "float64": [np.nan, np.inf, -np.inf, 1.7e308, 5e-324, -0.0],
    "float32": [np.nan, np.inf, 3e38],
    "float16": [np.nan, np.inf, 65504],
    "longdouble": [np.longdouble("1e4000"), np.longdouble("nan"), np.longdouble("-1e4000")],
    "int64": [2**63 - 1, -(2**63)],
    "uint64": [2**64 - 1],
    "int8": [-128],
    "complex128": [complex(np.nan, np.inf)],
    "Int64": [None, 2**63 - 1],
    "Float64": [None, np.inf],
    "boolean": [None],
    "string": [None, "", "1_000", "nan", "1e999", "9" * 5_000, "\x00"],
    "object": [None, pd.NaT, pd.NA, float("nan"), 10**400, -(10**400), "", "\ud800", b"\xff", [], {}, type, print],
    "category": [None, ""],
}


@pytest.mark.parametrize(("learner", "dtype"), pairs(PRIVATE, EXTREMES))
def test_what_a_private_fit_says_follows_from_types_alone(learner, dtype):
    """An ordinary table of these types and one with extreme values: both fits say the same, or nothing."""
    usual = [True, False] if dtype == "boolean" else ["1", "0"] if dtype in ("string", "category", "object") else [1, 0]

    def heard(values):
        in_numpy = dtype in np.sctypeDict and dtype != "object"
        column = np.array(values, dtype=dtype) if in_numpy else pd.Series(column_of(values), dtype=dtype)
        X = pd.DataFrame({"n": column, "c": column, "b": column})
        return Heard(lambda: PRIVATE[learner]().fit(X, Y) and None).outcome

    expected = heard(usual * 4)
    for value in EXTREMES[dtype]:
        assert heard([*usual, value, *usual, *usual, usual[0]]) == expected, value


@pytest.mark.parametrize("learner", PRIVATE)
def test_nor_on_what_stands_first(learner):
    """narwhals looks at the first values of pandas' object columns to tell what type they are."""
    without_schema = {"schema": None}
    for value in some(list(VALUES.values())[::2], list(PRIVATE).index(learner)):
        X = pd.DataFrame({name: pd.Series(column_of([value] * N), dtype=object) for name in ORDINARY})
        y = pd.Series(column_of([value] * N), dtype=object)
        assert Heard(lambda X=X, y=y: PRIVATE[learner]().fit(X, y) and None).outcome == ("NoneType", "None")
        # objects may be truth values; what is none counts as missing
        heard = Heard(lambda X=X: PRIVATE[learner](**without_schema).fit(X, [0, 1] * (N // 2)) and None)
        assert heard.outcome[:2] == ("NoneType", "None")
        assert "every other value counts as missing" in heard.outcome[2]


def test_no_value_changes_what_another_is_taken_for_in_any_table():
    """A value that pandas cannot ask whether it is missing once made it forget to ask the others."""
    columns = (*COLUMNS, Categorical("c", categories=["NaN", "NaT", "a"], outside="none"))
    for value in (Decimal("NaN"), np.datetime64("NaT"), pd.NaT, pd.NA, None, np.nan, complex(np.nan, 0), 1, "a", "1.0"):
        bins = {}
        for other in ("b", *list(VALUES.values())[::4], VALUES["signalling decimal"]):
            for kind, X in tables_of({"c": ["b", value, other]}):
                values = as_table(X, ["c"]).column("c")
                found = [column.encode(values)[1] for column in columns]
                assert bins.setdefault(kind, found) == found, (value, kind)


def test_lists_of_one_length_are_values_like_others():
    for lists in ([["a"]] * N, [["a"], ["a", "b"]] * 4, [["a"], None] * 4):
        X = pl.DataFrame({"n": lists, "c": lists, "b": lists})
        assert Heard(lambda X=X: PrivateCounts.from_table(X, Y, SCHEMA)).error is None


def test_the_types_of_labels_are_not_told_by_labels():
    """narwhals looks at the first labels of pandas' object columns: one number among texts once made an error go away."""
    for labels in (Y, [0, 1] * 4, ["no", 1] * 4, [None] * N):
        y = pd.Series(labels, dtype=object)
        for schema in (SCHEMA, NUMBERED):
            assert Heard(lambda y=y, s=schema: PrivateCounts.from_table(FRAME, y, s)).error is None
    PrivateCounts.from_table(FRAME, pd.Series(Y, dtype="string"), NUMBERED)  # by value, whatever the type


def kinds_of_plans(kind=Plan):
    for made in kind.__subclasses__():
        yield made
        yield from kinds_of_plans(made)


def held_by(thing, found):
    """Everything of this package that something holds, and what that holds, by its number."""
    if isinstance(thing, dict):
        inside = [*thing, *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside = list(thing)
    elif type(thing).__module__.startswith("discreet."):
        slots = {
            name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(thing, name)
        }
        inside = [*getattr(thing, "__dict__", {}).values(), *(getattr(thing, name) for name in slots)]
    else:
        return
    if id(thing) not in found:
        found[id(thing)] = thing
        for one in inside:
            held_by(one, found)


# What queries hold that is no count, nor made from one.
PUBLIC = {
    *("Packing", "_Plan", "Groups", "Grouping"),  # how bins and columns are numbered, and put together
    *("CardBudget", "DrawBudget", "GreedyBudget", "Settings", "Mass", "SmLaplace"),
    *("Deadline", "Entropy"),
    *("SumProduct", "TwoClassSumProduct"),  # how log weights are combined
}


def test_models_queries_and_all_that_they_hold_print_nothing_of_records(monkeypatch):
    marked = pd.DataFrame({"n": [NUMBER, 1] * 40, "c": [TEXT, "a"] * 40, "b": [True, False] * 40})
    seen = ["yes", TEXT] * 40
    for make in PRIVATE.values():
        model = make().fit(marked, seen)
        heard = Heard(lambda model=model: model.predict(marked), model, model.model_, model.privacy_, vars(model))
        assert heard.error is None
        assert not shows_a_mark(heard.text)
    private, opened = PrivateCounts.from_table(marked, seen, SCHEMA), []
    asked = {
        **{name: lambda make=make: make().fit(marked, seen) for name, make in PRIVATE.items()},
        "evaluation": lambda: noisy_evaluation(RULES, marked, seen, epsilon=1.0, model_is_public=True),
    }
    with monkeypatch.context() as patched:
        for plan in kinds_of_plans():
            patched.setattr(plan, "run", lambda _, queries: opened.append(queries) or 1 / 0)
        for ask in asked.values():
            with pytest.raises(LearningError):
                ask()
    kinds = {
        "GreedyQueries": ["mass", "published"],
        "ListQueries": ["optimal rule lists", "longer lists"],
        "TreeQueries": ["optimal trees", "optimal trees by Gini", "wide tables"],
        "GreedyTreeQueries": ["greedy trees"],
        "CardQueries": ["score cards", "score cards after a tree"],
        "EvaluationQueries": ["evaluation"],
    }
    names = [type(queries).__name__ for queries in opened]
    assert dict(zip(asked, names, strict=True)) == {name: kind for kind, names in kinds.items() for name in names}
    found = {}
    held_by([opened, private, private.of_rules(Candidates.of_schema(SCHEMA))], found)
    of_room = [thing for thing in found.values() if type(thing).__module__.startswith("discreet.private.")]
    shown = {type(thing).__name__ for thing in of_room if repr(thing) != f"<{type(thing).__name__}>"}
    assert shown == PUBLIC
    assert all(str(thing) == repr(thing) for thing in of_room if type(thing).__name__ not in PUBLIC)
    # all that is prepared was looked at
    holders = {
        "Patterns",
        "Marginals",
        "PatternCounts",
        "PatternCounter",
        "MarginalTables",
        "ListSums",
        "PatternLists",
        "Problem",
    }
    assert holders | {"WeighedTrees", "TreeProblem", "MarginalTrees"} <= {type(thing).__name__ for thing in of_room}


def chained(value):
    try:
        raise ValueError(value)
    except ValueError:
        raise SchemaError("a column cannot be read")  # noqa: B904  as it would be without `from None`


@pytest.mark.parametrize(
    "say",
    [
        lambda v: (_ for _ in ()).throw(SchemaError(f"column 'c' has {v!r}")),
        chained,
        lambda v: warnings.warn(f"column 'c' has {v}", stacklevel=1),
        lambda v: logging.getLogger("discreet").debug("column 'c' has %s", v),
        lambda v: print(f"column 'c' has {v}"),
        lambda v: print(v, file=sys.stderr),
    ],
    ids=["error", "chained error", "warning", "log", "output", "error output"],
)
@pytest.mark.parametrize(
    "value", [TEXT, NUMBER, np.float64(NUMBER), np.array([NUMBER]), DATE, pd.Timestamp(DATE), [TEXT]]
)
def test_a_twin_that_quotes_a_value_is_caught(monkeypatch, say, value):
    def encode(self, values, strict=False):
        if len(values):  # before that, types are looked at without records
            say(values[3])
        return np.zeros(len(values), np.uint8)

    columns = ordinary()
    columns["c"][3] = value
    X = pd.DataFrame({name: column_of(values) for name, values in columns.items()})

    def look():  # private counts lets no chained error out at all
        return RULES.predict(X) if say is chained else PrivateCounts.from_table(X, Y, SCHEMA)

    assert not shows_a_mark(Heard(look).text)
    monkeypatch.setattr(Categorical, "encode", encode)
    assert shows_a_mark(Heard(look).text)


def test_a_twin_that_prints_what_it_holds_is_caught(monkeypatch):
    monkeypatch.setattr(PrivateCounts, "__repr__", lambda self: f"<PrivateCounts: {self.shown}>")
    private = PrivateCounts.from_table(FRAME, Y, SCHEMA)
    private.shown = NUMBER
    assert shows_a_mark(Heard(lambda: private).text)


def test_a_panic_of_a_library_is_an_error_like_others():
    panic = type("PanicException", (BaseException,), {})  # as pyo3 has it
    with pytest.raises(SchemaError, match="it cannot be read"), no_value_shown("it cannot be read"):
        raise panic(TEXT)
    with pytest.raises(KeyboardInterrupt), no_value_shown("it cannot be read"):
        raise KeyboardInterrupt


def test_ignored_columns_are_not_even_read():
    schema = Schema((*COLUMNS[:2], Ignored("b")), classes=["no", "yes"])
    for value in VALUES.values():
        X = pd.DataFrame(ordinary() | {"b": pd.Series(column_of([value] * N), dtype=object)})
        assert Heard(lambda X=X: GreedyRuleListClassifier(schema=schema).fit(X, Y)).error is None
