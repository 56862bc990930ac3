"""Imports go one way, and only private and sources touch exact counts."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

HOME = Path(discreet.__file__).parent

# Each package may import those on earlier lines, and its own.
FLOORS = [
    ["_utils"],
    ["schema"],
    ["accounting", "rules"],
    ["private"],
    ["models", "sources"],
    ["estimators"],
    ["evaluation"],
    ["report"],
    ["audit", "datasets"],
    ["cli"],
]
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names}
# Where exact counts are, and who else may import which modules from there. Estimators pass counts from a source to the queries
# without looking at them.
PRIVATE = {"private", "sources"}
ALLOWED = {
    # what a released count cost, from public parameters, and how far off it is
    "models": {"mechanisms.registry", "noise.sums"},
    "estimators": {
        *("counts.patterns", "counts.counts", "counts.groups", "queries", "release", "reminders"),
        *("mechanisms.base", "mechanisms.registry", "mechanisms.draws"),
        "mechanisms.schema_histograms",
        *("mechanisms.score_cards", "noise.discrete_laplace"),  # prices, which need no data
    },
    "evaluation": {"counts.counts", "noise", "queries", "release"},
    "report": {"noise.sums"},
    # has counts taken of a file, and hands them over; offers the names of mechanisms
    "cli": {"mechanisms.registry", "release"},
    # the audit opens everything, and counts tables that it made up: it takes no data
    "audit": {"counts", "mechanisms", "noise", "queries", "sampling"},
}


def modules():
    for path in sorted(HOME.rglob("*.py")):
        yield path.relative_to(HOME).with_suffix("").parts, ast.parse(path.read_text(encoding="utf-8"))


def imports():
    """(importing module, imported module) within the package, as tuples of names."""
    for parts, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = parts[: len(parts) - node.level]
                yield parts, (*base, *(node.module.split(".") if node.module else ()))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
                assert not any(n.split(".")[0] == "discreet" for n in names), f"{parts}: import relatively"


def test_imports_go_one_way():
    seen = 0
    for importer, imported in imports():
        if importer[0] == "__init__" or not imported:
            continue
        a, b = importer[0], imported[0]
        assert a == b or FLOOR[b] < FLOOR[a], f"{'.'.join(importer)} may not import {'.'.join(imported)}"
        seen += 1
    assert seen > 20
    assert len(FLOORS) <= 10


def test_only_private_sources_and_those_named_here_import_counts():
    for importer, imported in imports():
        if imported and imported[0] == "private" and importer[0] not in PRIVATE | {"__init__"}:
            allowed = ALLOWED.get(importer[0], set())
            assert {imported[1], ".".join(imported[1:3])} & allowed, f"{'.'.join(importer)} reaches into {imported}"


def test_the_reproduction_uses_public_names_only():
    for path in sorted((HOME.parent.parent / "reproduction").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module.startswith("discreet."):
                home = node.module.removeprefix("discreet.")
                allowed = home == "rules.candidates" or home.partition(".")[0] in {
                    *("_utils", "audit", "cli", "datasets")
                }
                assert allowed, f"{path.name} imports {node.module}"


def test_only_the_release_path_makes_reservations():
    """So every answer of a query was checked, priced and booked on that path: queries charge a reservation."""
    makers = set()
    for parts, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called in ("reserve", "Reservation"):
                    makers.add(".".join(parts))
    # the ledger makes them; the audit has no records, and charges nobody
    assert {name for name in makers if not name.startswith("audit.")} <= {"private.release", "accounting.ledger"}
    assert "private.release" in makers


def test_only_the_learners_without_noise_look_for_the_best_tree_or_list():
    importers = {".".join(importer) for importer, imported in imports() if imported[-1:] == ("optimum",)}
    assert importers == {"private.queries.best"}
    without_noise = set()
    for parts, tree in modules():
        for node in ast.walk(tree):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name in ("ExactGreedyQueries", "BestTreeQueries", "find_best_list") or (
                name == "CardQueries"
                and any(isinstance(given, ast.Constant) and given.value is None for given in node.args)
            ):
                without_noise.add((".".join(parts), name))
    assert without_noise == {
        ("estimators.cards", "CardQueries"),
        ("estimators.greedy", "ExactGreedyQueries"),
        ("estimators.optimal", "find_best_list"),
        ("estimators.trees", "BestTreeQueries"),
        ("private.queries.cards", "BestTreeQueries"),  # of those that are exact
    }


def test_what_an_auditor_must_read_for_one_guarantee_is_named_and_short():
    guide = (HOME / "private" / "queries" / "README.md").read_text(encoding="utf-8")
    section = guide.partition("## One guarantee")[2].partition("## All files")[0]
    entries = re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- |^$)", section, re.MULTILINE | re.DOTALL)
    limits = {
        "Rule by rule": 1200,
        "Level by level": 1200,
        "Rule lists": 1200,  # 170 lines of these, of longer lists and of trees: why rounding does not matter
        "Longer lists": 1875,
        "Trees": 1200,
        "Counts of parts": 680,
        "Score cards": 1200,
        "Private schemas": 1020,
        "Counts of lists": 1050,
        "Many releases": 1625,
    }
    path = section.partition("**the path**")[2].partition("And beside it")[0]
    without_path = {"Counts of parts", "Counts of lists", "Many releases"}
    assert [name for name, _ in entries] == list(limits)
    for name, text in entries:
        text += path * (name not in without_path)
        paths = {HOME / named for named in re.findall(r"`([\w/]+\.py)`", text)}
        assert len(paths) >= 3
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        assert lines <= limits[name], f"{name}: {lines} lines"
        print(name, lines)


def test_where_exact_counts_are_nothing_prints_logs_or_writes():
    for parts, tree in modules():
        if parts[0] == "private" and parts[:2] not in (("private", "release"), ("private", "reminders")):
            called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not called & {"print", "open", "warn"}, parts
            used = {n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
            assert not used & {"logging", "warnings", "pickle", "json"}, parts


@pytest.mark.parametrize("heavy", ["sklearn", "pandas", "rich", "numpy"])
def test_the_command_line_starts_without_heavy_imports(heavy):
    code = f"import sys, discreet.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_exist():
    for name in discreet.__all__:
        assert getattr(discreet, name).__name__ == name
    assert set(discreet.__all__) <= set(dir(discreet))
    with pytest.raises(AttributeError, match="no attribute"):
        discreet.nothing  # noqa: B018


WALK = """
import sys, warnings
import discreet
from discreet.datasets import load_compas
from discreet.private.noise import entropy
data = load_compas(sensitive=False)
frames = []

def note(frame, event, argument):
    asked = frame.f_code.co_name in ("bits", "uniform", "permute_and_flip", "discrete_laplace")
    if event == "call" and not frames and asked and frame.f_globals["__name__"] == entropy.__name__:
        while frame:
            frames.append(frame.f_globals["__name__"])
            frame = frame.f_back

learner = getattr(discreet, sys.argv[1])(schema=data.schema)
sys.setprofile(note)
learner.fit(data.data, data.target)
sys.setprofile(None)
print(sum(name.startswith("discreet") for name in frames))
"""


@pytest.mark.parametrize(
    "learner",
    [name for name in discreet.__all__ if name.startswith("DP")],
)
def test_from_fit_to_the_first_random_bit_there_are_at_most_ten_frames(learner):
    done = subprocess.run([sys.executable, "-c", WALK, learner], capture_output=True, text=True, check=True)
    assert 5 <= int(done.stdout) <= 10
