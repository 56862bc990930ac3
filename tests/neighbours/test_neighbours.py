"""Whatever can be seen of a private call or command is the same for two tables that differ by a record, but for what was drawn.

The draws are fixed (fixed_draws.py); so everything must be equal: files, stdout, stderr, warnings, exceptions and what hangs on
them, exit codes, names of temporary files (zygote.py). Run time and memory are not looked at. In the fast run every call and
command is looked at, every form of a table and every odd record, but not each with each.
"""

import shutil
from importlib.util import find_spec

import pytest

import discreet
from discreet.cli import main
from discreet.private.mechanisms.registry import MECHANISMS
from discreet.schema.columns import KINDS

from ..support.slices import pairs, some
from . import faults, leaks, tables
from .zygote import Zygote


@pytest.fixture(scope="module")
def zygote():
    running = Zygote()
    yield running
    running.close()


@pytest.fixture
def see(zygote, tmp_path):
    """Run a job in a folder that always has the same name, prepared by ``prepare(folder)``. The table itself is not looked at."""

    def run(job, prepare=lambda folder: None):
        folder = tmp_path / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        prepare(folder)
        seen = zygote.run(folder, job)
        return {key: value for key, value in seen.items() if not key.startswith(("file base.", "file table."))}

    return run


def differences(one, other):
    return {
        key: (one.get(key, "")[:300] if isinstance(one.get(key), str) else one.get(key), str(other.get(key))[:300])
        for key in one.keys() | other.keys()
        if one.get(key) != other.get(key)
    }


FAULTS = [name for name in vars(faults) if name.startswith(("memory_", "error_"))]

# -- Python ---------------------------------------------------------------------------------------------------------------------

TYPED = [*tables.ODD_VALUES]
OBJECTS = [*tables.odd_objects(), "nan", "infinity", "all missing", "a NUL"]
EXTRAS = {
    "objects": OBJECTS,
    "rows": OBJECTS,
    "pandas": TYPED,
    "pandas on Arrow": [*TYPED, "broken text"],
    "polars": TYPED,
    "pyarrow": [*TYPED, "broken text"],
    "pyarrow dictionary": [*TYPED, "broken text"],
    "ibis": TYPED,
    "Parquet in DuckDB": TYPED,
}
FEW = ["ordinary", "all missing"]  # enough for what differs by learner, not by value


@pytest.mark.parametrize("form", EXTRAS)
def test_a_fit_looks_the_same_with_a_record_of_any_kind(see, form):
    job = {"call": "fit with a ledger", "form": form}
    without = see(job)
    assert without["exit code"] == 0
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(EXTRAS[form], list(EXTRAS).index(form), of=len(EXTRAS)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


def test_counts_of_lists_looks_the_same_with_a_record_of_any_kind(see):
    job = {"call": "fit_counts", "form": "lists"}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(OBJECTS):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


INFERRED = ["inferred by pandas", "inferred by pyarrow", "Parquet inferred by pandas"]
# what every library reads as CSV
BY_TEXT = [name for name, odd in tables.ODD_TEXTS.items() if "\0" not in "".join(odd.values())]


@pytest.mark.parametrize("form", INFERRED)
def test_a_fit_looks_the_same_whatever_types_a_library_finds(see, form):
    job = {"call": "fit with a ledger", "form": form}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(BY_TEXT, INFERRED.index(form), of=len(INFERRED)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


CALLS = [
    *(
        "fit optimal rule lists",
        "fit optimal rule lists in two draws",
        "fit optimal trees",
        "fit optimal trees in two stages",
    ),
    *("fit optimal rule lists, a rule at a time", "fit_file", "fit_file, a tree in stages"),
    *("fit optimal trees with limits", "fit optimal rule lists with limits"),
    *("fit cards", "fit cards of few columns", "fit cards with limits", "fit cards after a tree"),
    *("fit_file, a card", "fit_file, a card after a tree", "fit_counts, a card", "noisy_evaluation of a card"),
    *("fit_counts", "noisy_evaluation", "plan_source"),
    *("private_schema", "private_schema without texts", "fit trees with a private schema"),
    *(f"fit {mechanism}" for mechanism in MECHANISMS),
]
# so that the schema, small as it is, counts as a wide one: records are counted by sets of columns, once for each draw
WIDE = {"sources.plan.FEW_PATTERNS": 0}
ON_TUPLES = [
    *(
        "fit optimal rule lists",
        "fit optimal rule lists from marginals",
        "fit optimal trees",
        "fit optimal trees from marginals",
    ),
    *("fit_file", "fit_file, a tree in stages", "fit optimal trees with limits"),
    *("fit cards", "fit cards of few columns", "fit cards after a tree", "fit cards from marginals"),
    *("fit_file, a card", "fit_file, a card after a tree"),
]


@pytest.mark.parametrize(("call", "form"), pairs(CALLS, INFERRED))
def test_every_call_looks_the_same_whatever_types_a_library_finds(see, call, form):
    job = {"call": call, "form": form}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    extras = ["words for missing", "no number", "an unforeseen truth value", "an unforeseen label", "all numbers"]
    for extra in some(extras, CALLS.index(call), of=len(extras)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


@pytest.mark.parametrize(("call", "form"), pairs(CALLS, ["pandas", "Parquet in DuckDB"]))
def test_every_call_looks_the_same_with_a_record_more(see, call, form):
    job = {"call": call, "form": form}
    without = see(job)
    assert without["exit code"] == 0
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(FEW, CALLS.index(call) // 2, of=len(FEW)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


@pytest.mark.parametrize(("call", "form"), pairs(ON_TUPLES, ["pandas", "Parquet in DuckDB"]))
def test_every_call_on_a_wide_table_looks_the_same_with_a_record_more(see, call, form):
    job = {"call": call, "form": form, "constants": WIDE}
    without = see(job)
    assert without["exit code"] == 0
    assert not without["value"].startswith("raised"), without["value"]
    if "verbose=True" in without["value"]:
        assert "however many records" in without["stderr"], "it is not counted by sets of columns"
    for extra in some(FEW, ON_TUPLES.index(call) // 2, of=len(FEW)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"
    assert not differences(see(job | {"n": 0}), see(job | {"n": 1}))


FROM_TUPLES = ["fit optimal rule lists from marginals", "fit optimal trees from marginals", "fit cards from marginals"]


@pytest.mark.parametrize(("call", "form"), pairs(FROM_TUPLES, ["pandas", "polars", "Parquet in DuckDB"]))
def test_a_fit_on_a_wide_table_looks_the_same_with_a_record_of_any_kind(see, call, form):
    job = {"call": call, "form": form, "constants": WIDE}
    without = see(job)
    for extra in some(EXTRAS[form], FROM_TUPLES.index(call), of=len(FROM_TUPLES)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


@pytest.mark.parametrize("form", [form for form in EXTRAS if form != "rows"])  # these may have no columns
def test_a_private_schema_looks_the_same_with_a_record_of_any_kind(see, form):
    job = {"call": "private_schema", "form": form}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(EXTRAS[form], list(EXTRAS).index(form), of=len(EXTRAS)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"
    assert not differences(see(job | {"n": 0}), see(job | {"n": 1}))


@pytest.mark.parametrize("form", INFERRED)
def test_a_private_schema_looks_the_same_whatever_types_a_library_finds(see, form):
    job = {"call": "private_schema", "form": form}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    for extra in some(BY_TEXT, INFERRED.index(form), of=len(INFERRED)):
        assert not differences(without, see(job | {"extra": extra})), f"with one more record: {extra}"


@pytest.mark.parametrize("form", EXTRAS)
def test_an_empty_table_looks_like_one_with_a_record(see, form):
    for call in some(
        ["fit optimal rule lists", "fit optimal trees", "fit cards after a tree"], list(EXTRAS).index(form), of=3
    ):
        job = {"call": call, "form": form, "n": 0}
        empty = see(job)
        assert not differences(empty, see(job | {"n": 1}))


CARDS = ["fit cards", "fit cards after a tree"]
# So many records, patterns or rows are taken at a time. Here it is as many as the smaller table has.
SLICES = [
    *("sources.memory.ROWS_AT_A_TIME", "sources.files.ROWS_AT_A_TIME", "sources.engine.ROWS_AT_A_TIME"),
    "sources.engine.RECORDS_AT_A_TIME",
    *(f"private.counts.{name}" for name in ("patterns.BLOCK", "marginals.ROWS")),
]
COUNTED = {"patterns": {}, "marginals": WIDE}
WHERE = {
    "pandas, patterns": ("pandas", {}),
    "DuckDB, marginals": ("Parquet in DuckDB", WIDE),
    "pandas, marginals": ("pandas", WIDE),
    "DuckDB, patterns": ("Parquet in DuckDB", {}),
}


@pytest.mark.parametrize(
    ("call", "where"),
    pairs(["fit optimal rule lists", "fit optimal trees", "fit mass", "fit greedy trees", *CARDS], WHERE),
)
def test_a_record_beyond_the_end_of_a_slice_is_not_noticed(see, call, where):
    form, wide = WHERE[where]
    job = {"call": call, "form": form, "constants": dict.fromkeys(SLICES, 40) | wide}
    without = see(job)
    assert not without["value"].startswith("raised"), without["value"]
    assert not differences(without, see(job | {"extra": "ordinary"}))


@pytest.mark.parametrize(("path", "counted"), pairs(["CSV", "Parquet"], COUNTED))
def test_a_record_beyond_the_end_of_a_part_of_a_file_is_not_noticed(see_command, path, counted):
    constants = dict.fromkeys(SLICES, 40) | COUNTED[counted]
    one, other = (see_command("fit", path, extra, constants=constants) for extra in (None, "ordinary"))
    assert one["exit code"] == 0
    assert not differences(one, other)


@pytest.mark.parametrize(("fault", "where"), pairs(FAULTS, WHERE))
def test_what_goes_wrong_shows_no_number_of_records(see, fault, where):
    form, wide = WHERE[where]
    calls = ["fit optimal rule lists", "fit optimal trees", "fit mass", "fit with a ledger", "private_schema", *CARDS]
    for call in some(calls, FAULTS.index(fault), of=3):
        job = {"call": call, "form": form, "fault": fault, "constants": wide}
        without = see(job)
        assert "raised" in without["value"], "the fault does not strike"
        assert not differences(without, see(job | {"extra": "ordinary"}))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_in_a_command_shows_no_number_of_records(see_command, fault):
    without = see_command("fit", "CSV", None, fault=fault)
    assert without["exit code"] != 0, "the fault does not strike"
    assert not differences(without, see_command("fit", "CSV", "ordinary", fault=fault))


# -- Commands -------------------------------------------------------------------------------------------------------------------


def _csv(folder, records, extra):
    tables.write_csv(folder / "table.csv", [*records, *([tables.PLAIN | tables.ODD_TEXTS[extra]] if extra else [])])


def _typed(write):
    def prepare(folder, records, extra):
        values = [tables.as_values(r) for r in records]
        if extra and extra != "broken text":
            values.append(tables.as_values(tables.PLAIN) | tables.ODD_VALUES[extra])
        write(folder, tables.arrow_table(values, broken_text=extra == "broken text"))

    return prepare


def _write_parquet(folder, table):
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, folder / "table.parquet")


def _write_arrow(folder, table):
    import pyarrow.feather

    pyarrow.feather.write_feather(table, folder / "table.arrow")


def _write_spss(folder, table):
    import pyreadstat

    pyreadstat.write_sav(table.to_pandas().assign(member=lambda t: t.member.astype("float64")), folder / "table.sav")


def _write_duckdb(folder, table):
    import duckdb

    with duckdb.connect(str(folder / "base.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("create table people as select * from given")
    connection.close()


# A path from the command line to the patterns: how the table is named, its options, how it is written, the odd records
PATHS = {
    "CSV": (["table.csv"], _csv, tables.ODD_TEXTS),
    "Parquet": (["table.parquet"], _typed(_write_parquet), [*TYPED, "broken text"]),
    "Parquet in DuckDB": (["table.parquet", "--engine", "duckdb"], _typed(_write_parquet), TYPED),
    "Arrow": (["table.arrow"], _typed(_write_arrow), [*TYPED, "broken text"]),
    "DuckDB": (["duckdb:///base.duckdb?table=people"], _typed(_write_duckdb), TYPED),
    "glob": (["tabl?.parquet"], _typed(_write_parquet), TYPED),
}
if find_spec("pyreadstat") is not None:
    PATHS["SPSS"] = (
        ["table.sav"],
        _typed(_write_spss),
        ["ordinary", "all missing", "infinity", "an unforeseen category"],
    )
COMMANDS = [
    "fit",
    "fit greedy",
    "fit a tree",
    "fit a card",
    "fit cards after a tree",
    "evaluate",
    "evaluate by groups",
    "evaluate as JSON",
    "schema --private",
]


def arguments(command, path):
    table, *options = PATHS[path][0]
    if command.startswith("evaluate"):
        more = {
            "evaluate": [],
            "evaluate by groups": ["--by", "job", "--by", "age=50", "-s", "schema.toml", "--report", "report.html"],
            "evaluate as JSON": ["--no-reliability", "--json"],
        }[command]
        given = [table, *options, "-e", "1", "--model-is-public", "--ledger", "ledger.json"]
        return ["evaluate", "public.json", *given, *more]
    if command == "schema --private":
        given = ["--private", "--target", "outcome", "-e", "1", "--ledger", "ledger.json", "-o", "new.toml"]
        return ["schema", table, *options, *given]
    given = [table, *options, "-s", "schema.toml", "-e", "1", "--ledger", "ledger.json"]
    if command == "fit":
        return ["fit", "list", *given, "-o", "model.json", "--report", "report.html", "-k", "3"]
    if command == "fit greedy":
        return ["fit", "greedy", *given, "-o", "model.json", "--json", "--mechanism", "mass"]
    of_kinds = {
        "fit a tree": ["tree", "--stages", "1,1", "-v"],
        "fit a card": ["card", "--monotonic-cst", "age:+1", "-v"],
        "fit cards after a tree": ["card", "--tree-depth", "1", "--max-columns", "2"],
    }
    kind, *own = of_kinds[command]
    return ["fit", kind, *given, "-o", "model.json", "--report", "report.html", *own]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """An empty ledger, to be copied: each that is made has a name of its own."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.json"
    discreet.Ledger.open(path, epsilon=3.0, delta=1e-6)
    return path


@pytest.fixture
def see_command(see, ledger):
    """Run a command on a table of some records and one more."""

    def run(command, path, extra, n=40, **job):
        def prepare(folder):
            (folder / "schema.toml").write_text(tables.SCHEMA, encoding="utf-8")
            shutil.copy(ledger, folder)
            rules = "if age > 50 then yes\nelse no"
            public = discreet.RuleList.parse(rules, schema=discreet.Schema.from_toml(tables.SCHEMA))
            discreet.SavedModel(public, target="outcome").save(folder / "public.json")
            PATHS[path][1](folder, tables.base(n), extra)

        return see({"command": arguments(command, path), **job}, prepare)

    return run


@pytest.mark.parametrize("path", PATHS)
def test_a_fit_by_command_looks_the_same_with_a_record_of_any_kind(see_command, path):
    without = see_command("fit", path, None)
    assert without["exit code"] == 0, without["stderr"]
    for extra in some(PATHS[path][2], list(PATHS).index(path), of=len(PATHS)):
        assert not differences(without, see_command("fit", path, extra)), f"with one more record: {extra}"


@pytest.mark.parametrize(("command", "path"), pairs(COMMANDS, PATHS))
def test_every_command_looks_the_same_with_a_record_more(see_command, command, path):
    without = see_command(command, path, None)
    assert without["exit code"] == 0, without["stderr"]
    for extra in some(FEW, COMMANDS.index(command), of=len(FEW)):
        assert not differences(without, see_command(command, path, extra)), f"with one more record: {extra}"


@pytest.mark.parametrize(
    ("command", "path"),
    pairs(["fit", "fit a tree", "fit a card", "fit cards after a tree"], ["CSV", "Parquet", "Parquet in DuckDB"]),
)
def test_every_command_on_a_wide_table_looks_the_same_with_a_record_more(see_command, command, path):
    without = see_command(command, path, None, constants=WIDE)
    assert without["exit code"] == 0, without["stderr"]
    for extra in some(FEW, COMMANDS.index(command), of=len(FEW)):
        assert not differences(without, see_command(command, path, extra, constants=WIDE)), f"one more record: {extra}"
    empty, one = (see_command(command, path, extra, n=0, constants=WIDE) for extra in (None, "ordinary"))
    assert not differences(empty, one)


@pytest.mark.parametrize(("command", "path"), pairs(COMMANDS, reversed(PATHS)))
def test_a_command_on_an_empty_table_looks_like_on_one_with_a_record(see_command, command, path):
    assert not differences(see_command(command, path, None, n=0), see_command(command, path, "ordinary", n=0))


@pytest.mark.parametrize("command", COMMANDS)
def test_in_memory_and_in_an_engine_a_table_gives_the_same_files(see_command, command):
    """So nobody can tell from a model how large its table was, if size was why an engine was chosen."""
    one, other = (see_command(command, path, None) for path in ("Parquet", "Parquet in DuckDB"))
    assert not {key: both for key, both in differences(one, other).items() if key != "files made"}


# -- Does the harness see anything? ---------------------------------------------------------------------------------------------

LEAKS = [name for name in vars(leaks) if name.startswith(("on_", "in_"))]


@pytest.mark.parametrize(("leak", "counted"), pairs(LEAKS, COUNTED))
def test_a_hole_made_on_purpose_is_seen(see, see_command, leak, counted):
    wide = COUNTED[counted]
    for call in ("fit optimal rule lists", "fit cards", "private_schema"):
        job = {"call": call, "form": "pandas", "leak": leak, "constants": wide}
        assert differences(see(job), see(job | {"extra": "ordinary"})), f"in Python: {call}"
    one, other = (see_command("fit", "CSV", extra, leak=leak, constants=wide) for extra in (None, "ordinary"))
    assert differences(one, other), "on the command line"


# -- Is everything looked at? ---------------------------------------------------------------------------------------------------

NO_PRIVATE_RECORDS = {
    *(kind.__name__ for kind in KINDS.values()),
    *(
        "Schema",
        "Literal",
        "Rule",
        "RuleList",
        "Tree",
        "Split",
        "ScoreCard",
        "Card",
        "PointsTable",
        "PrivacyStatement",
        "Ledger",
    ),
    *("SavedModel",),  # predicts for records, which is not covered by any promise (docs/privacy-promise.md)
    # not private, and say so
    *("GreedyRuleListClassifier", "OptimalRuleListClassifier", "OptimalTreeClassifier", "ScoreCardClassifier"),
    *("draft_schema", "draft_from_dictionary"),  # of a public sample
    *("file_dictionary",),  # of what a file says before its records
    *("check_table",),  # for the holder's eyes only, and says so
    *("write_release", "verify_release"),  # of a model's file; what is in the folder is compared below
}
LOOKED_AT = {
    *(
        "DPGreedyRuleListClassifier",
        "DPGreedyTreeClassifier",
        "DPOptimalRuleListClassifier",
        "DPOptimalTreeClassifier",
        "DPScoreCardClassifier",
        "PrivateCounts",
        "noisy_evaluation",
        "private_schema",
        "PrivateSchema",
        "open_table",
    ),
}


def test_every_public_name_is_looked_at_or_takes_no_private_records():
    assert set(discreet.__all__) == NO_PRIVATE_RECORDS | LOOKED_AT


COMMANDS_WITHOUT_PRIVATE_RECORDS = {
    *("schema", "plan", "ledger", "show", "demo", "audit"),
    *("release", "verify"),  # of a model's file; compared below
    *("predict",),  # its output is about the records it is given
    *("check",),  # for the holder's eyes only
}


def test_every_command_is_looked_at_or_takes_no_private_records():
    assert set(main.commands) == {command.split()[0] for command in COMMANDS} | COMMANDS_WITHOUT_PRIVATE_RECORDS


def test_a_release_of_neighbouring_tables_differs_by_nothing_but_what_was_drawn(see_command, tmp_path):
    """With the draws fixed, models are equal, byte by byte; and a release is a function of the model and what its holder says."""
    seen = [see_command("fit", "CSV", extra)["file model.json"] for extra in (None, "ordinary")]
    models = [model.partition(" ")[2] for model in seen]  # after the file's mode
    written = []
    for number, model in enumerate(models):
        source, folder = tmp_path / f"model {number}.json", tmp_path / f"release {number}"
        source.write_text(model, encoding="utf-8")
        discreet.write_release(source, folder, table_name="people", date="2026-11-17", allow_unproved=True)
        written.append({p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    assert "model.json" in written[0]
    assert written[0] == written[1]


def test_every_way_to_learn_is_looked_at():

    assert {f"fit {mechanism}" for mechanism in MECHANISMS} <= set(CALLS)
    whole = discreet.DPOptimalRuleListClassifier, discreet.DPOptimalTreeClassifier
    for classifier in (*whole, discreet.DPScoreCardClassifier):
        methods = {name for name in dir(classifier) if name.startswith(("fit", "plan"))}
        assert methods == {
            "fit",
            "fit_file",
            "fit_source",
            "fit_counts",
            "plan_source",
            "plan",
        }  # the last sees no table
    names = {name for name in dir(discreet.PrivateCounts) if not name.startswith("_")}
    asked_by_queries = {"joint", "totals", "of_rules", "close", "drafted"}
    assert names == {"from_table", "from_source", "from_file"} | asked_by_queries
