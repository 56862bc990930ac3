"""The house has walls: imports go one way, and only the vault and its sources touch cells."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

HOME = Path(discreet.__file__).parent

# Each module may import those on earlier lines, and its own folder.
FLOORS = [
    ["errors", "locking", "processes", "writing"],
    ["columns", "tables", "unseen"],
    ["samples"],
    ["schema"],
    ["rule_text"],
    ["rules"],
    ["candidates", "drafting", "inference", "privacy"],
    ["model"],
    ["report"],
    ["prior"],
    ["vault"],
    ["sources"],
    ["learners"],
    ["estimators"],
    ["origin", "private_base", "table_check"],
    ["cut_points", "private_accuracy", "private_estimators", "optimal_estimators"],
    ["datasets", "evaluation", "planning"],
    ["experiments"],
    ["cli"],
]
# A vault is filled through a source, and a source fills cells: so sources stand between two floors of the vault.
# A rule list is what people hold in their hands, so its methods lead up to what writes it in other languages.
STAIRS = {
    ("vault.vault", "sources.memory"),
    ("vault.vault", "sources.engine"),
    ("vault.at_source", "sources.engine"),
    ("rules", "report.sql"),
    ("rules", "report.python_source"),
    ("rules", "report.notebook"),
}
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names}
# Who may name what is inside the vault, and which of its modules. Estimators carry cells from a source to the doors unopened.
DOORS = {
    "estimators": {"vault.cells", "vault.exact"},
    "sources": {"vault.cells"},
    "learners": {"vault.mechanisms"},  # their prices, which need no data
    "private_base": {"vault.vault", "vault.at_source", "vault.entropy"},
    "private_accuracy": {"vault.accuracy", "vault.entropy", "vault.vault"},
    "private_estimators": {"vault.vault", "vault.mass_doors", "vault.entropy"},
    "optimal_estimators": {"vault.vault", "vault.exact", "vault.list_doors", "vault.entropy"},
    "cut_points": {"vault.vault", "vault.entropy", "vault.cut_doors"},
    "cli": {"vault.vault"},  # has a vault filled from a file, and hands it over
    # the audit opens everything, and fills vaults with tables that it made up: it takes no data
    "evaluation": {
        *("vault.vault", "vault.cells", "vault.packing", "vault.counting", "vault.entropy", "vault.list_doors"),
        *("vault.mechanisms", "vault.sampler"),
    },
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
        if importer == ("__init__",) or not imported:
            continue
        a, b = importer[0], imported[0]
        if (".".join(importer), ".".join(imported)) in STAIRS:
            continue
        assert a == b or FLOOR[b] < FLOOR[a], f"{'.'.join(importer)} may not import {'.'.join(imported)}"
        seen += 1
    assert seen > 20


def test_only_the_vault_and_those_it_names_touch_cells():
    for importer, imported in imports():
        if imported[:1] == ("vault",) and importer[0] not in ("vault", "__init__"):
            assert ".".join(imported[:2]) in DOORS.get(importer[0], set()), (
                f"{'.'.join(importer)} reaches into the vault"
            )


def test_experiments_use_public_names_only():
    allowed = {("candidates",), ("datasets",), ("evaluation",), ("processes",)}
    for importer, imported in imports():
        if importer[0] == "experiments" and imported and imported[0] != "experiments":
            assert imported[:1] in allowed, f"{'.'.join(importer)} imports {'.'.join(imported)}"


def test_measures_of_models_take_data_and_so_stay_out_of_the_vault():
    for importer, imported in imports():
        if importer[0] == "evaluation" and importer[1] != "audit":
            assert imported[:1] != ("vault",), f"{'.'.join(importer)} takes data and reaches into the vault"


def test_the_vault_does_not_know_names_of_tables():
    """Nothing in the vault prints, logs or writes."""
    for parts, tree in modules():
        if parts[0] == "vault":
            called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not called & {"print", "open", "warn"}, parts
            used = {n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
            assert not used & {"logging", "warnings", "pickle", "json"}, parts


@pytest.mark.parametrize("heavy", ["sklearn", "pandas", "rich", "numpy"])
def test_the_command_line_starts_without_heavy_imports(heavy):
    code = f"import sys, discreet.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_names_of_evaluation_are_imported_when_they_are_used():
    code = "import sys, discreet.evaluation; sys.exit(bool({'numpy', 'sklearn', 'art'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_exist():
    for name in discreet.__all__:
        assert getattr(discreet, name).__name__ == name
    assert set(discreet.__all__) <= set(dir(discreet))
    with pytest.raises(AttributeError, match="no attribute"):
        discreet.nothing  # noqa: B018
