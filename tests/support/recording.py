"""Everything that a version says and writes, in one JSON file, to be compared with that of another version.

    python -m tests.support.recording before.json
    ... change the code ...
    python -m tests.support.recording after.json before.json     # prints what differs, exit status 1 if anything does

Models and statements of every learner and mechanism on the three datasets (seeded), their exports, and every command on good and
bad input (with draws that are fixed, tests/neighbours/fixed_draws.py).
"""

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from discreet.mechanisms.registry import MECHANISMS
from tests.neighbours import tables
from tests.neighbours.zygote import Zygote


def learners():
    """Name and a function from a schema to an unfitted classifier."""
    import discreet as d

    yield "greedy", lambda s: d.GreedyRuleListClassifier(max_length=4, schema=s)
    yield "greedy pairs", lambda s: d.GreedyRuleListClassifier(max_length=3, max_card=2, schema=s)
    yield "optimal", lambda s: d.OptimalRuleListClassifier(max_length=3, schema=s)
    for epsilon in (0.1, 1.0):
        for k in ({}, {"max_card": 2, "max_length": 3}, {"joint": 1}, {"counts_share": 0}, {"records_per_person": 3}):
            yield (
                f"whole lists {epsilon} {k}",
                lambda s, e=epsilon, k=k: d.DPOptimalRuleListClassifier(
                    epsilon=e, schema=s, random_state=7, **{"max_length": 3} | k
                ),
            )
        for m in MECHANISMS:
            more = {"min_support": 50} if m.startswith("sm-") else {}
            more |= {"delta": 1e-6} if m in ("sm-laplace", "gl-gaussian") else {}
            yield (
                f"{m} {epsilon}",
                lambda s, e=epsilon, m=m, more=more: d.DPGreedyRuleListClassifier(
                    mechanism=m, epsilon=e, schema=s, random_state=7, **more
                ),
            )


def models():
    """JSON, texts, SQL, Python and HTML of what every learner learns from every dataset; unseeded statements, too."""
    import discreet as d
    from discreet import datasets
    from discreet.report.html import to_html

    for load in (datasets.load_compas, datasets.load_german_credit, datasets.load_adult):
        data = load(sensitive=False)
        for name, make in learners():
            clf = make(data.schema)
            if "max_card=2" in repr(clf) and load is datasets.load_german_credit:
                continue  # too many candidates for a quick look
            clf.fit(data.data, data.target)
            key, model = f"{load.__name__} {name}", d.SavedModel.of(clf)
            yield f"{key}: file", model.to_json()
            yield f"{key}: text", str(clf)
            yield f"{key}: statement", str(model.privacy)
            if "1.0" in name or "optimal" in name:
                yield f"{key}: report", to_html(model)
                yield f"{key}: notebook", clf._repr_html_()
                for dialect in ("duckdb", "postgres", "spark"):
                    yield f"{key}: {dialect}", model.rule_list.to_sql(dialect)
                yield f"{key}: python", model.rule_list.to_python()
                yield f"{key}: shares", json.dumps(clf.predict_proba(data.data)[:200].tolist())
            if hasattr(clf, "random_state"):
                unseeded = clf.set_params(random_state=None, ledger=d.Ledger(epsilon=9.0, delta=0.5)).fit(
                    data.data, data.target
                )
                yield f"{key}: promise", unseeded.privacy_.to_json()
        cut = d.Schema([c for c in data.schema.columns if c.kind == "numeric"][:1])
        yield f"{load.__name__}: draft", d.draft_schema(data.frame, target=data.schema.target).to_toml()
        yield f"{load.__name__}: schema", cut.to_toml()


GOOD = {
    "help": [],
    "version": ["--version"],
    **{f"help of {c}": [c, "--help"] for c in ("schema", "plan", "ledger", "check", "cuts", "fit", "show", "predict")},
    **{f"help of {c}": [c, "--help"] for c in ("evaluate", "demo", "audit", "reproduce")},
    "schema": ["schema", "table.csv", "--target", "outcome", "--out", "new.toml"],
    "plan": ["plan", "--schema", "schema.toml", "--records", "1000"],
    "plan json": ["plan", "--schema", "schema.toml", "--records", "1000", "--json"],
    "ledger create": ["ledger", "create", "new.json", "--epsilon", "3"],
    "ledger show": ["ledger", "show", "ledger.json"],
    "check": ["check", "table.csv", "--schema", "schema.toml"],
    "cuts": ["cuts", "table.csv", "-s", "schema.toml", "-c", "age=3", "-e", "1", "-o", "new.toml"],
    "fit": [
        "fit",
        "table.csv",
        "-s",
        "schema.toml",
        "-e",
        "1",
        "-o",
        "m.json",
        "--ledger",
        "ledger.json",
        "--report",
        "r.html",
    ],
    "fit json": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "--json"],
    **{
        f"fit {m}": [
            *("fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "--mechanism", m),
            *(["--min-support", "5"] if m.startswith("sm-") else []),
            *(["--delta", "1e-6"] if m in ("sm-laplace", "gl-gaussian") else []),
        ]
        for m in MECHANISMS
    },
    "fit a glob": ["fit", "tabl?.parquet", "-s", "schema.toml", "-e", "1", "-o", "m.json"],
    "fit inferred": ["fit", "table.csv", "--infer-schema", "-t", "outcome", "-e", "1", "-o", "m.json"],
    **{f"show {f}": ["show", "model.json", "--format", f] for f in ("text", "json", "sql", "python", "html")},
    "predict": ["predict", "model.json", "table.csv"],
    "predict out": ["predict", "model.json", "table.csv", "--out", "scores.csv", "--id", "note"],
    "predict json": ["predict", "model.json", "table.parquet", "--json"],
    "evaluate public": ["evaluate", "model.json", "table.csv", "--public"],
    "evaluate": ["evaluate", "model.json", "table.csv", "--epsilon", "1"],
}
BAD = {
    "no such command": ["nothing"],
    "no such option": ["fit", "--nothing"],
    "no such file": ["fit", "nothing.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"],
    "no schema": ["fit", "table.csv", "-e", "1", "-o", "m.json"],
    "bad epsilon": ["fit", "table.csv", "-s", "schema.toml", "-e", "-1", "-o", "m.json"],
    "weak epsilon": ["fit", "table.csv", "-s", "schema.toml", "-e", "50", "-o", "m.json"],
    "not enough budget": [
        "fit",
        "table.csv",
        "-s",
        "schema.toml",
        "-e",
        "9",
        "-o",
        "m.json",
        "--ledger",
        "ledger.json",
    ],
    "no ledger": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "--ledger", "nothing.json"],
    "bad schema": ["fit", "table.csv", "-s", "table.csv", "-e", "1", "-o", "m.json"],
    "bad column": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "-x", "agee"],
    "bad target": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "-t", "agee"],
    "no delta": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json", "--mechanism", "sm-laplace"],
    "over the table": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "table.csv", "--force"],
    "no folder": ["fit", "table.csv", "-s", "schema.toml", "-e", "1", "-o", "nothing/m.json"],
    "empty table": ["fit", "empty.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"],
    "no header": ["fit", "headless.csv", "-s", "schema.toml", "-e", "1", "-o", "m.json"],
    "bad cuts": ["cuts", "table.csv", "-s", "schema.toml", "-c", "job=3", "-e", "1", "-o", "new.toml"],
    "no model": ["show", "schema.toml"],
    "changed model": ["show", "changed.json"],
    "evaluate without a word": ["evaluate", "model.json", "table.csv"],
    "bad url": ["fit", "postgresql://me:secret@nowhere/x?table=y", "-s", "schema.toml", "-e", "1", "-o", "m.json"],
    "check of another table": ["check", "other.csv", "--schema", "schema.toml"],
}


def commands():
    """Everything that can be seen of every command."""
    running, parent = Zygote(), Path(tempfile.mkdtemp())
    folder = parent / "work"
    try:
        for name, arguments in (GOOD | BAD).items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _prepare(folder)
            for key, value in running.run(folder, {"command": arguments}).items():
                yield f"discreet {name}: {key}", str(value).replace(str(parent), "(folder)")
    finally:
        running.close()
        shutil.rmtree(parent)


def _prepare(folder):
    import pyarrow.parquet

    import discreet as d

    records = tables.base(60)
    (folder / "schema.toml").write_text(tables.SCHEMA, encoding="utf-8")
    tables.write_csv(folder / "table.csv", records)
    pyarrow.parquet.write_table(tables.arrow_table([tables.as_values(r) for r in records]), folder / "table.parquet")
    (folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "headless.csv").write_text("44,cook,true,none,yes\n", encoding="utf-8")
    d.Ledger.open(folder / "ledger.json", epsilon=3.0)
    schema = d.Schema.from_toml(tables.SCHEMA)
    rules = d.RuleList.parse("if age > 50 and job = cook then yes\nelse if member then yes\nelse no", schema=schema)
    model = d.SavedModel(rules, target="outcome")
    model.save(folder / "model.json")
    (folder / "changed.json").write_text(model.to_json().replace("yes", "no"), encoding="utf-8")


def record():
    warnings.simplefilter("ignore")
    return dict(commands()) | dict(models())


def main(out, before=None):
    said = record()
    Path(out).write_text(json.dumps(said, indent=1), encoding="utf-8")
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
