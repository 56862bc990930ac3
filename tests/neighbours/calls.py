"""Every public function that takes private records, called on a table of every form; and what can be seen of its answer."""

import gc
import hashlib
import pickle
import warnings
from pathlib import Path

from discreet.private.mechanisms.registry import MECHANISMS

from . import tables


def observed(job):
    """The value of a call, or its exception, and the warnings on the way, in words."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        X, y = FORMS[job["form"]](job.get("extra"), job.get("n", 40))
        said.clear()  # what making the table said is not ours
        try:
            answer = CALLS[job["call"]](X, y)
        except Exception as error:
            answer = "raised " + " <- ".join(_chain(error))
        del X, y
        gc.collect()
    return "\n".join([answer, *(f"{w.category.__name__}: {w.message} ({Path(w.filename).name})" for w in said)])


def _chain(error):
    """The exception and everything that hangs on it, as a debugger, a logger or a test runner would show it."""
    while error is not None:
        yield f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or error.__context__


def _schema():
    from discreet import Schema

    Path("schema.toml").write_text(tables.SCHEMA, encoding="utf-8")
    return Schema.load("schema.toml")


def _released(clf):
    """Everything of a fitted classifier that leaves: as a text, a file, a pickle, a prediction."""
    from discreet import SavedModel

    model = SavedModel.of(clf)
    Path("model.json").write_text(model.to_json(), encoding="utf-8")
    public = {"age": [20.0, None], "job": ["cook", "spy"], "member": [True, None], "note": ["", ""]}
    import pandas as pd

    frame = pd.DataFrame(public)
    predicted = clf.predict(frame).tolist(), clf.predict_proba(frame).tolist()
    kept = {name: value for name, value in sorted(vars(clf).items()) if name.endswith("_")}
    digest = hashlib.sha256(pickle.dumps(clf)).hexdigest()
    return f"{clf!r}\n{clf}\n{clf.privacy_}\n{kept!r}\n{predicted}\n{digest}"


LIMITS = {"monotonic_cst": {"age": 1, "member": -1}, "forbid": [("age", "job")]}


def _optimal(**parameters):
    from discreet import DPOptimalRuleListClassifier

    return DPOptimalRuleListClassifier(schema=_schema(), max_length=3, **parameters)


def _tree(**parameters):
    from discreet import DPOptimalTreeClassifier

    return DPOptimalTreeClassifier(schema=_schema(), **{"max_depth": 2} | parameters)


def _greedy(mechanism, **parameters):
    from discreet import DPGreedyRuleListClassifier

    if mechanism.startswith("sm-"):
        parameters |= {"min_support": 5}
    if mechanism in ("sm-laplace", "gl-gaussian"):
        parameters |= {"delta": 1e-6}
    return DPGreedyRuleListClassifier(mechanism=mechanism, schema=_schema(), max_length=3, **parameters)


def _greedy_tree(**parameters):
    from discreet import DPGreedyTreeClassifier

    return DPGreedyTreeClassifier(schema=_schema(), max_depth=2, **parameters)


def _card(**parameters):
    from discreet import DPScoreCardClassifier

    return DPScoreCardClassifier(schema=_schema(), **parameters)


def _fit(clf, X, y):
    return _released(clf.fit_source(X, verbose=True) if y is None else clf.fit(X, y))


def _fit_file(clf, X, y):
    return _released(clf.fit_file(_in_file(X, y)))


def _in_file(X, y):
    if y is not None and not hasattr(X, "assign"):
        X = X.append_column("outcome", y).to_pandas()
        y = X.pop("outcome")
    if y is not None:
        X.assign(outcome=y).to_parquet("table.parquet")
    return "table.parquet"


def _fit_marginals(clf, X, y):
    """Joint counts of columns, which an engine counts if it can."""
    if y is not None:
        return _fit(clf, X, y)
    return clf.plan_source(X, counting="marginals") + _released(clf.fit_source(X, counting="marginals", verbose=True))


def _fit_counts(clf, X, y):
    from discreet import PrivateCounts

    private = PrivateCounts.from_source(X, _schema()) if y is None else PrivateCounts.from_table(X, y, _schema())
    return f"{private!r} {private}\n" + _released(clf.fit_counts(private))


def _ledger(X, y):
    from discreet import Ledger

    ledger = Ledger.open("ledger.json", epsilon=3.0)
    told = _fit(_optimal(epsilon=1.0, ledger=ledger), X, y)
    return f"{told}\n{ledger!r} {ledger.remaining} {ledger.snapshot()}"


def _rules():
    from discreet import RuleList

    return RuleList.parse("if age > 50 then yes\nelse no", schema=_schema())


def _some_card():
    from discreet import Literal, ScoreCard
    from discreet.models.partition import Answer
    from discreet.models.score_card import Card, PointsTable

    ages = PointsTable("age", (((Literal("age", "<=", 50),), 7), ((), 0)))
    members = PointsTable("member", (((Literal("member", "is true"),), 3), ((), 0)))
    answers = (Answer("no", shares=(0.8, 0.2)), Answer("yes", shares=(0.4, 0.6)))
    return ScoreCard((Card(-5, (ages, members)),), (0,), answers, ("no", "yes"), _schema())


def _noisy_evaluation(model, X, y):
    from discreet import noisy_evaluation

    found = noisy_evaluation(model, X, y, epsilon=1.0, by=["job", "member", "age"])
    return f"{found!r}\n{found}\n{found.to_dict()}\n{found.to_html()}\n{found._repr_html_()}\n{found.privacy}"


def _private_schema(X, y, **given):
    from discreet import Ledger, private_schema

    ledger = Ledger.open("ledger.json", epsilon=3.0, delta=1e-6)
    labels = {"target": "outcome"} if y is None else {"y": y}
    found = private_schema(X, **labels, epsilon=1.0, ledger=ledger, **given)
    return f"{found!r}\n{found.to_toml()}\n{found.privacy}\n{ledger.snapshot()}", found


def _fit_with_its_schema(X, y):
    from discreet import DPOptimalTreeClassifier, PrivateSchema

    shape = {"max_depth": 1, "epsilon": 2.0}
    if y is None:
        told, found = _private_schema(X, y)
        return told + _released(DPOptimalTreeClassifier(schema=found, **shape).fit_source(X))
    how = PrivateSchema(bounds={"age": (0, 100)}, categories={"job": ["cook", "7"]})
    return "".join(_released(DPOptimalTreeClassifier(schema=s, **shape).fit(X, y)) for s in ("private", how))


def _plan_source(X, y):
    return _greedy("mass").plan_source(X) if y is None else ""


CALLS = {
    "fit optimal rule lists": lambda X, y: _fit(_optimal(), X, y),
    "fit optimal rule lists in two draws": lambda X, y: _fit(
        _optimal(rules_per_draw=1, max_literals=2, verbose=True), X, y
    ),
    "fit optimal trees": lambda X, y: _fit(_tree(), X, y),
    "fit optimal trees in two stages": lambda X, y: _fit(_tree(stages=(1, 2), criterion="gini", verbose=True), X, y),
    "fit optimal rule lists, a rule at a time": lambda X, y: _fit(_optimal(rules_per_draw=1, verbose=True), X, y),
    "fit optimal rule lists from marginals": lambda X, y: _fit_marginals(
        _optimal(rules_per_draw=1, verbose=True), X, y
    ),
    "fit optimal trees from marginals": lambda X, y: _fit_marginals(
        _tree(stages=(1, 2), criterion="gini", verbose=True), X, y
    ),
    "fit optimal trees with limits": lambda X, y: _fit(_tree(**LIMITS), X, y),
    "fit optimal rule lists with limits": lambda X, y: _fit(_optimal(rules_per_draw=1, verbose=True, **LIMITS), X, y),
    "fit_file": lambda X, y: _fit_file(_optimal(verbose=True), X, y),
    "fit_file, a tree in stages": lambda X, y: _fit_file(_tree(stages=(1, 2)), X, y),
    "fit greedy trees": lambda X, y: _fit(_greedy_tree(), X, y),
    "fit greedy trees with support checks": lambda X, y: _fit(
        _greedy_tree(mechanism="sm-laplace", delta=1e-6, min_support=5), X, y
    ),
    "fit cards": lambda X, y: _fit(_card(verbose=True), X, y),
    "fit cards of few columns": lambda X, y: _fit(_card(max_columns=2, points="decimals", counts_share=0), X, y),
    "fit cards with limits": lambda X, y: _fit(_card(monotonic_cst=LIMITS["monotonic_cst"]), X, y),
    "fit cards after a tree": lambda X, y: _fit(_card(tree_depth=1, max_columns=2, verbose=True), X, y),
    "fit cards from marginals": lambda X, y: _fit_marginals(_card(tree_depth=2, verbose=True), X, y),
    "fit_file, a card": lambda X, y: _fit_file(_card(verbose=True), X, y),
    "fit_file, a card after a tree": lambda X, y: _fit_file(_card(tree_depth=2, max_columns=1), X, y),
    "fit with a ledger": _ledger,
    "fit_counts": lambda X, y: _fit_counts(_optimal(), X, y),
    "fit_counts, a card": lambda X, y: _fit_counts(_card(max_columns=2), X, y),
    "noisy_evaluation": lambda X, y: _noisy_evaluation(_rules(), X, y),
    "noisy_evaluation of a card": lambda X, y: _noisy_evaluation(_some_card(), X, y),
    "private_schema": lambda X, y: _private_schema(X, y)[0],
    "private_schema of a file": lambda X, y: _private_schema(_in_file(X, y), None)[0],
    "private_schema without texts": lambda X, y: _private_schema(X, y, delta=0, classes=["no", "yes"])[0],
    "fit trees with a private schema": _fit_with_its_schema,
    "plan_source": _plan_source,
} | {f"fit {mechanism}": lambda X, y, mechanism=mechanism: _fit(_greedy(mechanism), X, y) for mechanism in MECHANISMS}


def _values(extra, n):
    records = [tables.as_values(r) for r in tables.base(n)]
    if extra is not None and extra != "broken text":
        records.append(tables.as_values(tables.PLAIN) | tables.ODD_VALUES[extra])
    return records


def _objects(extra, n):
    """Columns that may hold anything."""
    import numpy as np
    import pandas as pd

    records = [tables.as_values(r) for r in tables.base(n)]
    if extra is not None:
        odd = tables.odd_objects() | tables.ODD_VALUES
        records.append(tables.as_values(tables.PLAIN) | odd[extra])
    columns = {}
    for name in tables.COLUMNS:
        columns[name] = np.empty(len(records), dtype=object)
        for i, record in enumerate(records):
            columns[name][i] = record[name]
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return frame.drop(columns="outcome"), frame["outcome"]


def _lists(extra, n):
    """Plain Python lists."""
    frame, y = _objects(extra, n)
    return {name: list(frame[name].to_numpy()) for name in frame.columns}, list(y.to_numpy())


def _rows(extra, n):
    """A list of rows."""
    columns, y = _lists(extra, n)
    return [list(row) for row in zip(*columns.values(), strict=True)], y


def _arrow(extra, n):
    table = tables.arrow_table(_values(extra, n), broken_text=extra == "broken text")
    return table.drop_columns("outcome"), table["outcome"]


def _arrow_dictionary(extra, n):
    X, y = _arrow(extra, n)
    place = X.column_names.index("job")
    return X.set_column(place, "job", X["job"].dictionary_encode()), y


def _pandas(extra, n):
    """Columns of pandas' usual types."""
    import pandas as pd

    frame = pd.DataFrame({name: [r[name] for r in _values(extra, n)] for name in tables.COLUMNS})
    types = {"age": "float64", "member": "boolean", "job": "string", "note": "string", "outcome": "string"}
    frame = frame.astype(types)
    return frame.drop(columns="outcome"), frame["outcome"]


def _pandas_arrow(extra, n):
    import pandas as pd

    X, y = _arrow(extra, n)
    return X.to_pandas(types_mapper=pd.ArrowDtype), pd.Series(pd.arrays.ArrowExtensionArray(y))


def _polars(extra, n):
    import polars as pl

    types = {"age": pl.Float64, "member": pl.Boolean}
    records = _values(extra, n)
    frame = pl.DataFrame(
        {name: pl.Series([r[name] for r in records], dtype=types.get(name, pl.String)) for name in tables.COLUMNS}
    )
    return frame.drop("outcome"), frame["outcome"]


def _ibis(extra, n):
    import ibis

    return ibis.memtable(tables.arrow_table(_values(extra, n))), None


def _parquet(extra, n):
    import pyarrow.parquet

    from discreet import open_table

    table = tables.arrow_table(_values(extra, n), broken_text=extra == "broken text")
    pyarrow.parquet.write_table(table, "table.parquet")
    return open_table("table.parquet"), None


def _texts(extra, n):
    """A CSV file, as its records have it: what is read of it has the types that a library finds."""
    extras = [] if extra is None else [tables.PLAIN | tables.ODD_TEXTS[extra]]
    tables.write_csv("table.csv", [*tables.base(n), *extras])


def _by_pandas(extra, n):
    import pandas as pd

    _texts(extra, n)
    frame = pd.read_csv("table.csv")
    return frame.drop(columns="outcome"), frame["outcome"]


def _by_pyarrow(extra, n):
    from pyarrow import csv

    _texts(extra, n)
    at_once, lines = csv.ReadOptions(block_size=1 << 25), csv.ParseOptions(newlines_in_values=True)
    table = csv.read_csv("table.csv", read_options=at_once, parse_options=lines)
    return table.drop_columns("outcome"), table["outcome"]


def _parquet_by_pandas(extra, n):
    import pandas as pd

    from discreet import open_table

    _texts(extra, n)
    pd.read_csv("table.csv").to_parquet("table.parquet")
    return open_table("table.parquet"), None


FORMS = {
    "inferred by pandas": _by_pandas,
    "inferred by pyarrow": _by_pyarrow,
    "Parquet inferred by pandas": _parquet_by_pandas,
    "objects": _objects,
    "lists": _lists,
    "rows": _rows,
    "pandas": _pandas,
    "pandas on Arrow": _pandas_arrow,
    "polars": _polars,
    "pyarrow": _arrow,
    "pyarrow dictionary": _arrow_dictionary,
    "ibis": _ibis,
    "Parquet in DuckDB": _parquet,
}
