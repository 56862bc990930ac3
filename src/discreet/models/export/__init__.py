"""A model in the languages and formats of other systems: SQL, Python, PMML, ONNX."""

from collections.abc import Callable
from operator import methodcaller
from typing import Any

# For whoever writes a model in every format: what a file is called, and what writes a model in it, as text or as bytes. A model
# that a format cannot hold is a RuleError; ONNX without the package `onnx`, which is an extra, an ImportError.
FORMATS: dict[str, Callable[[Any], str | bytes]] = {
    **{f"model.{dialect}.sql": methodcaller("to_sql", dialect) for dialect in ("duckdb", "postgresql", "spark")},
    "model.py": methodcaller("to_python"),
    "model.pmml": methodcaller("to_pmml"),
    "model.onnx": methodcaller("to_onnx"),
}
