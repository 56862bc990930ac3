"""Where the modules that version 0.5 documented, or that its pickles name, stand now.

The finder below answers for such a name with a module that asks the one of today for each of its names. ``SavedModel`` files
name no module and need none of this.
"""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "columns": "schema.columns",
    "columns.base": "schema.columns.base",
    "columns.boolean": "schema.columns.boolean",
    "columns.categorical": "schema.columns.categorical",
    "columns.numeric": "schema.columns.numeric",
    "candidates": "conditions.candidates",
    "cut_points": "releases.cut_points",
    "drafting": "schema.drafting",
    "estimators": "classifiers.greedy",
    "errors": "common.errors",
    "evaluation.audit": "audit",
    "model": "models.saved",
    "optimal_estimators": "classifiers.optimal",
    "planning": "evaluation.planning",
    "prior": "conditions.prior",
    "private_accuracy": "releases.accuracy",
    "private_base": "classifiers.private",
    "private_estimators": "classifiers.greedy",
    "rules": "models.rule_list",
    "table_check": "sources.table_check",
}


class _NowThere(Loader):
    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module, which asks the one of today for each name."""

    def exec_module(self, module: ModuleType) -> None:
        today = import_module(f"{__package__}.{MOVED[module.__name__.partition('.')[2]]}")
        vars(module)["__getattr__"] = partial(getattr, today)


class _MovedModules(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, _NowThere(), is_package=True) if package == __package__ and name in MOVED else None


def install() -> None:
    """Once, at the end of the list: a module that exists is found before."""
    sys.meta_path.append(_MovedModules())
