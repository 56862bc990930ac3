"""Everything that a version says and writes, in one JSON file, to be compared with that of another version.

    python -m tests.support.recording before.json
    ... change the code ...
    python -m tests.support.recording after.json before.json     # prints what differs, exit status 1 if anything does

Models and statements of every estimator and mechanism on the three datasets, with their exports; every source of records; every
command on good and bad input. Draws come from one seeded generator in place of the operating system's: it hooks in at
private/noise/entropy.py and nowhere above, so that a recording survives a rebuild of everything else.
"""

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from tests.neighbours import tables
from tests.neighbours.fixed_draws import fix_names
from tests.neighbours.zygote import Zygote
from tests.support.seeded_system import seed_the_system

MECHANISMS = ("mass", "purity", "inverse", "sm-laplace", "sm-cauchy", "gl-laplace", "gl-gaussian", "gl-exponential")
MECHANISMS += ("noisy-counts",)


def _published(mechanism):
    more = {"min_support": 50} if mechanism.startswith("sm-") else {}
    return more | ({"delta": 1e-6} if mechanism in ("sm-laplace", "gl-gaussian") else {})


def learners():
    """Name, class and parameters of what is learned from every dataset."""
    yield "greedy", "GreedyRuleListClassifier", {"max_length": 4}
    yield "greedy pairs", "GreedyRuleListClassifier", {"max_length": 3, "max_literals": 2}
    yield "optimal", "OptimalRuleListClassifier", {"max_length": 3}
    yield "optimal tree", "OptimalTreeClassifier", {"max_depth": 2}
    yield "optimal tree by Gini", "OptimalTreeClassifier", {"max_depth": 2, "criterion": "gini"}
    yield "card", "ScoreCardClassifier", {}
    yield "card of three", "ScoreCardClassifier", {"max_columns": 3, "points": "decimals"}
    for epsilon in (0.1, 1.0):
        private = {"epsilon": epsilon, "random_state": 7}
        for more in (
            *({}, {"max_literals": 2}, {"rules_per_draw": 1}, {"counts_share": 0}, {"records_per_person": 3}),
            *({"max_length": 6}, {"class_weight": {"1": 3, "0": 1}}),
        ):
            yield f"lists {epsilon} {more}", "DPOptimalRuleListClassifier", {"max_length": 3} | private | more
        for more in (
            *({}, {"criterion": "gini"}, {"stages": (2, 1)}, {"counts_share": 0}, {"records_per_person": 3}),
            *({"split": 0.9, "prior": "columns"}, {"class_weight": {"1": 3, "0": 1}}, {"max_depth": 3}),
        ):
            yield f"trees {epsilon} {more}", "DPOptimalTreeClassifier", {"max_depth": 2} | private | more
        for more in (
            *({}, {"max_columns": 3}, {"points": "decimals"}, {"sequential": True}, {"sequential": False}),
            *({"tree_depth": 1}, {"counts_share": 0}, {"records_per_person": 3}),
        ):
            yield f"cards {epsilon} {more}", "DPScoreCardClassifier", private | more
        for m in MECHANISMS:
            more = private | _published(m) | {"mechanism": m}
            yield f"greedy lists {m} {epsilon}", "DPGreedyRuleListClassifier", more
            yield f"greedy trees {m} {epsilon}", "DPGreedyTreeClassifier", more | {"max_depth": 2}


def _limits(schema):
    """Constraints on the first column that has numbers, and on the first two columns together."""
    number = next(c.name for c in schema.columns if c.kind == "numeric")
    names = [c.name for c in schema.columns if c.kind != "ignore"][:2]
    for name in ("DPOptimalRuleListClassifier", "DPOptimalTreeClassifier"):
        depth = {"max_depth": 2} if "Tree" in name else {"max_length": 3}
        limits = {"monotonic_cst": {number: 1}, "forbid": [tuple(names)]}
        yield f"limited {name}", name, {"epsilon": 1.0, "random_state": 7} | depth | limits
    yield "limited card", "DPScoreCardClassifier", {"epsilon": 1.0, "random_state": 7, "monotonic_cst": {number: 1}}


def models():
    """JSON, texts, SQL, Python and HTML of what every learner learns from every dataset; unseeded statements, too."""
    import discreet as d
    from discreet import datasets
    from discreet.report.html import to_html

    for load in (datasets.load_compas, datasets.load_german_credit, datasets.load_adult):
        data = load(sensitive=False)
        for name, kind, parameters in (*learners(), *_limits(data.schema)):
            if parameters.get("max_literals") == 2 and load is datasets.load_german_credit:
                continue  # too many candidates for a quick look
            if "class_weight" in parameters:
                parameters = parameters | {"class_weight": dict(zip(data.schema.classes, (1, 3), strict=True))}
            clf = getattr(d, kind)(schema=data.schema, **parameters).fit(data.data, data.target)
            key, model = f"{load.__name__} {name}", d.SavedModel.of(clf)
            yield f"{key}: file", model.to_json()
            yield f"{key}: text", str(clf)
            yield f"{key}: statement", str(model.privacy)
            yield f"{key}: shares", json.dumps(clf.predict_proba(data.data)[:200].tolist())
            yield f"{key}: answers", json.dumps(clf.predict(data.data)[:200].tolist())
            if "1.0" in name or not kind.startswith("DP"):
                yield f"{key}: report", to_html(model)
                yield f"{key}: notebook", clf._repr_html_()
                learned = model.model
                for dialect in ("duckdb", "postgresql", "spark"):
                    yield f"{key}: {dialect}", learned.to_sql(dialect)
                yield f"{key}: python", learned.to_python()
            if "random_state" in parameters:
                unseeded = clf.set_params(random_state=None, ledger=d.Ledger(epsilon=9.0, delta=0.5))
                yield f"{key}: promise", unseeded.fit(data.data, data.target).privacy_.to_json()
        cut = d.Schema([c for c in data.schema.columns if c.kind == "numeric"][:1])
        yield f"{load.__name__}: draft", d.draft_schema(data.frame, target=data.schema.target).to_toml()
        yield f"{load.__name__}: schema", cut.to_toml()


def sources():
    """What is learned through every way in: tables of every library, files of every format, DuckDB."""
    import polars
    import pyarrow.feather
    import pyarrow.parquet

    import discreet as d

    schema = d.Schema.from_toml(tables.SCHEMA)
    records = tables.base(300)
    arrow = tables.arrow_table([tables.as_values(r) for r in records])
    frame = arrow.to_pandas()
    estimators = {
        "list": d.DPOptimalRuleListClassifier(max_length=3, schema=schema, random_state=7),
        "tree": d.DPOptimalTreeClassifier(max_depth=2, schema=schema, random_state=7),
        "stages": d.DPOptimalTreeClassifier(stages=(1, 1), schema=schema, random_state=7),
        "card": d.DPScoreCardClassifier(schema=schema, random_state=7),
        "card at once": d.DPScoreCardClassifier(schema=schema, random_state=7, sequential=False),
        "greedy": d.DPGreedyRuleListClassifier(schema=schema, random_state=7),
        "greedy tree": d.DPGreedyTreeClassifier(schema=schema, random_state=7, max_depth=2),
    }
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tables.write_csv(home / "t.csv", records)
        pyarrow.parquet.write_table(arrow, home / "t.parquet")
        pyarrow.feather.write_feather(arrow, home / "t.arrow", compression="uncompressed")
        _fill_duckdb(home / "t.duckdb", arrow)
        url = f"duckdb:///{home}/t.duckdb?table=people"
        for name, clf in estimators.items():
            X = frame.drop(columns="outcome")
            yield f"{name} from pandas", _said(clf.fit(X, frame["outcome"]))
            yield f"{name} from polars", _said(clf.fit(polars.from_arrow(arrow.drop(["outcome"])), arrow["outcome"]))
            yield f"{name} from pyarrow", _said(clf.fit(arrow.drop(["outcome"]), arrow["outcome"]))
            for file in ("t.csv", "t.parquet", "t.arrow"):
                yield f"{name} from {file}", _said(clf.fit_file(home / file))
            yield f"{name} from DuckDB", _said(clf.fit_source(d.open_table(url)))
        rules = d.RuleList.parse("if age > 50 then yes\nelse no", schema=schema)
        told = d.noisy_evaluation(rules, frame.drop(columns="outcome"), frame["outcome"], epsilon=1.0, by=["job"])
        yield "noisy evaluation", str(told)


def _fill_duckdb(path, arrow):
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.register("given", arrow)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")


def _said(clf):
    import discreet as d

    return d.SavedModel.of(clf).to_json() + str(clf)


FIT = ("fit", "list", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json")
TREE, CARD, GREEDY = (("fit", kind, *FIT[2:]) for kind in ("tree", "card", "greedy"))
COMMANDS = (
    "schema",
    "plan",
    "ledger",
    "check",
    "fit",
    "show",
    "predict",
    "evaluate",
    "release",
    "verify",
    "demo",
)
COMMANDS += ("audit", "reproduce")
RELEASE = ("release", "model.json", "--out", "released", "--date", "2020-01-01", "--allow-unproved")


def _flags(mechanism):
    return [
        *(["--min-support", "5"] if mechanism.startswith("sm-") else []),
        *(["--delta", "1e-6"] if mechanism in ("sm-laplace", "gl-gaussian") else []),
    ]


GOOD = {
    "help": [[]],
    "version": [["--version"]],
    **{f"help of {c}": [[c, "--help"]] for c in COMMANDS},
    **{f"help of ledger {c}": [["ledger", c, "--help"]] for c in ("create", "show", "export")},
    "schema": [["schema", "table.csv", "--target", "outcome", "--out", "new.toml"]],
    "schema json": [["schema", "table.csv", "--target", "outcome", "--json"]],
    "plan": [["plan", "list", "--schema", "schema.toml", "--records", "1000"]],
    "plan json": [["plan", "list", "--schema", "schema.toml", "--records", "1000", "--json"]],
    **{f"plan {m}": [["plan", m, "-s", "schema.toml", "-n", "1000"]] for m in ("tree", "card")},
    "plan with a stand-in": [["plan", "list", "table.csv", "-s", "schema.toml", "-n", "60", "--repeats", "2"]],
    "ledger create": [["ledger", "create", "new.ledger", "--epsilon", "3"]],
    "ledger create in zcdp": [["ledger", "create", "new.ledger", "-e", "3", "--delta", "1e-6", "--rho", "auto"]],
    "ledger show": [["ledger", "show", "a.ledger"]],
    "ledger after fits": [
        [*FIT, "--ledger", "a.ledger"],
        ["evaluate", "m.json", "table.csv", "-e", ".5", "--ledger", "a.ledger"],
        ["ledger", "show", "a.ledger"],
        *[["ledger", "export", "a.ledger", "--format", f] for f in ("csv", "json", "events")],
    ],
    "check": [["check", "table.csv", "--schema", "schema.toml"]],
    "check json": [["check", "table.csv", "--schema", "schema.toml", "--json"]],
    "fit": [[*FIT, "--ledger", "a.ledger", "--report", "r.html"]],
    "fit json": [[*FIT, "--json"]],
    "fit a tree": [[*TREE, "--max-depth", "2", "--report", "r.html"]],
    "fit a tree in stages": [[*TREE, "--stages", "1,1", "--criterion", "gini"]],
    "fit a tree with weights": [[*TREE, "--class-weight", "yes=9"]],
    "fit a card": [[*CARD, "--report", "r.html"]],
    "fit a card at once": [[*CARD, "--counting", "at-once", "--max-columns", "2"]],
    "fit with limits": [[*FIT, "--monotonic-cst", "age:+1", "--forbid", "age,job"]],
    "fit without columns": [[*FIT, "-x", "age", "-k", "3"]],
    "fit for persons": [[*FIT, "--records-per-person", "3"]],
    **{f"fit {m}": [[*GREEDY, "--mechanism", m, *_flags(m)]] for m in MECHANISMS},
    **{f"fit tree {m}": [[*GREEDY, "--tree", "--mechanism", m, *_flags(m)]] for m in MECHANISMS},
    "fit a glob": [["fit", "list", "tabl?.parquet", "-s", "schema.toml", "-e", "1", "-o", "m.json"]],
    "fit an arrow file": [["fit", "list", "table.arrow", "-s", "schema.toml", "-e", "1", "-o", "m.json"]],
    "fit from DuckDB": [
        ["fit", "list", "duckdb:///table.duckdb?table=people", "-s", "schema.toml", "-e", "1", "-o", "m.json"]
    ],
    "fit inferred": [["fit", "list", "table.csv", "--infer-schema", "-t", "outcome", "-e", "1", "-o", "m.json"]],
    **{
        f"show {m} {f}": [["show", f"{m}.json", "--format", f]]
        for m in ("model", "tree", "card")
        for f in ("text", "json", "sql", "python", "pmml", "html")
    },
    "show a share": [["show", "model.json", "--format", "sql", "--dialect", "spark", "--share-of", "yes"]],
    "predict": [["predict", "model.json", "table.csv"]],
    "predict with a tree": [["predict", "tree.json", "table.csv"]],
    "predict with a card": [["predict", "card.json", "table.csv"]],
    "predict out": [["predict", "model.json", "table.csv", "--out", "scores.csv", "--id", "note"]],
    "predict json": [["predict", "model.json", "table.parquet", "--json"]],
    "evaluate public": [["evaluate", "model.json", "table.csv", "--public"]],
    "evaluate": [["evaluate", "model.json", "table.csv", "--epsilon", "1"]],
    "evaluate by": [
        ["evaluate", "tree.json", "table.csv", "--epsilon", "1", "--by", "job", "--report", "e.html", "--out", "e.json"]
    ],
    "evaluate card": [["evaluate", "card.json", "table.csv", "--epsilon", "1", "--json"]],
    **{
        f"release {called}": [
            [*fit, "--ledger", "a.ledger"],
            ["evaluate", "m.json", "table.csv", "-e", "1", "--out", "e.json", "--ledger", "a.ledger"],
            [
                *("release", "m.json", "--out", "released", "--date", "2020-01-01", "--ledger", "a.ledger"),
                *("--evaluation", "e.json", "--table-name", "People", "--organisation", "Office", "--contact", "us"),
            ],
            ["verify", "released"],
            ["verify", "released", "--json", "--ledger", "a.ledger"],
        ]
        for called, fit in (  # as the kinds were called when the recording was made
            *(("['list']", FIT), ("['--model', 'tree']", TREE)),
            *(("['--model', 'card']", CARD), ("['--learner', 'greedy']", GREEDY)),
        )
    },
}
BAD = {
    "no such command": [["nothing"]],
    "no such option": [["fit", "list", "--nothing"]],
    "no such file": [["fit", "list", "nothing.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"]],
    "no schema": [["fit", "list", "table.csv", "-e", "1", "-o", "m.json"]],
    "bad epsilon": [["fit", "list", "table.csv", "-s", "schema.toml", "-e", "-1", "-o", "m.json"]],
    "weak epsilon": [["fit", "list", "table.csv", "-s", "schema.toml", "-e", "50", "-o", "m.json"]],
    "not enough budget": [
        ["fit", "list", "table.csv", "-s", "schema.toml", "-e", "9", "-o", "m.json", "--ledger", "a.ledger"]
    ],
    "no ledger": [[*FIT, "--ledger", "nothing.ledger"]],
    "bad schema": [["fit", "list", "table.csv", "-s", "table.csv", "-e", "1", "-o", "m.json"]],
    "bad column": [[*FIT, "-x", "agee"]],
    "bad target": [[*FIT, "-t", "agee"]],
    "no delta": [[*GREEDY, "--mechanism", "sm-laplace"]],
    "an option of another model": [[*CARD, "--max-depth", "2"]],
    "bad depth": [[*TREE, "--max-depth", "99"]],
    "bad stages": [[*TREE, "--stages", "x"]],
    "bad weight": [[*FIT, "--class-weight", "maybe=3"]],
    "bad limit": [[*FIT, "--monotonic-cst", "agee:+1"]],
    "over the table": [["fit", "list", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "table.csv", "--force"]],
    "no folder": [["fit", "list", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "nothing/m.json"]],
    "empty table": [["fit", "list", "empty.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"]],
    "no header": [["fit", "list", "headless.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"]],
    "no model": [["show", "schema.toml"]],
    "changed model": [["show", "changed.json"]],
    "evaluate without a word": [["evaluate", "model.json", "table.csv"]],
    "bad url": [
        ["fit", "list", "postgresql://me:secret@nowhere/x?table=y", "-s", "schema.toml", "-e", "1", "-o", "m.json"]
    ],
    "check of another table": [["check", "other.csv", "--schema", "schema.toml"]],
    "release of an unproved model": [["release", "model.json", "--out", "released"]],
    "release twice": [[*RELEASE], [*RELEASE]],
    "verify another folder": [["verify", "tmp"]],
    "verify no folder": [["verify", "nothing"]],
}


def commands():
    """Everything that can be seen of every command, and of several after each other in one folder."""
    running, parent = Zygote(), Path(tempfile.mkdtemp())
    folder = parent / "work"
    try:
        for name, steps in (GOOD | BAD).items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _prepare(folder)
            running.run(folder, {"command": ["ledger", "create", "a.ledger", "--epsilon", "3"], "seed": 0})
            for i, arguments in enumerate(steps):
                for key, value in running.run(folder, {"command": arguments, "seed": i}).items():
                    if not _may_differ(key):
                        yield f"discreet {name} {i}: {key}", str(value).replace(str(parent), "(folder)")
    finally:
        running.close()
        shutil.rmtree(parent)


def _may_differ(key):
    """How a ledger's file is laid out is nobody's concern: ``ledger show`` tells what it holds."""
    return key.startswith("file a.ledger") or key.startswith("file new.ledger") or key == "files made"


def _prepare(folder):
    import pyarrow.feather
    import pyarrow.parquet

    import discreet as d

    records = tables.base(60)
    (folder / "schema.toml").write_text(tables.SCHEMA, encoding="utf-8")
    tables.write_csv(folder / "table.csv", records)
    arrow = tables.arrow_table([tables.as_values(r) for r in records])
    pyarrow.parquet.write_table(arrow, folder / "table.parquet")
    pyarrow.feather.write_feather(arrow, folder / "table.arrow", compression="uncompressed")
    _fill_duckdb(folder / "table.duckdb", arrow)
    (folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "headless.csv").write_text("44,cook,true,none,yes\n", encoding="utf-8")
    schema = d.Schema.from_toml(tables.SCHEMA)
    rules = d.RuleList.parse("if age > 50 and job = cook then yes\nelse if member then yes\nelse no", schema=schema)
    model = d.SavedModel(rules, target="outcome")
    model.save(folder / "model.json")
    (folder / "changed.json").write_text(model.to_json().replace("yes", "no"), encoding="utf-8")
    frame = arrow.to_pandas()
    for name, clf in (("tree", d.OptimalTreeClassifier(max_depth=2)), ("card", d.ScoreCardClassifier())):
        clf.set_params(schema=schema).fit(frame.drop(columns="outcome"), frame["outcome"])
        d.SavedModel.of(clf).save(folder / f"{name}.json")


def record():
    warnings.simplefilter("ignore")
    fix_names()
    seed_the_system(0)
    return dict(commands()) | dict(sources()) | dict(models())


def main(out, before=None):
    said = record()
    Path(out).write_text(json.dumps(said, indent=1), encoding="utf-8")
    print(f"{len(said)} recorded")
    if before is None:
        return 0
    old = json.loads(Path(before).read_text(encoding="utf-8"))
    differ = [key for key in sorted(old.keys() | said.keys()) if old.get(key) != said.get(key)]
    for key in differ:
        print(f"== {key}\n-- before\n{old.get(key)}\n-- after\n{said.get(key)}\n")
    print(f"{len(differ)} of {len(old.keys() | said.keys())} differ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
