"""A model in the languages and formats of other systems: SQL, Python, PMML, ONNX."""

from collections.abc import Callable
from operator import methodcaller
from typing import Any, NamedTuple


class Format(NamedTuple):
    """What a file in a format is called, and what writes a model in it, as text or as bytes."""

    file_name: str
    write: Callable[[Any], str | bytes]


# For whoever writes a model in every format. A model that a format cannot hold is a RuleError; ONNX without the package `onnx`,
# which is an extra, an ImportError.
FORMATS = {
    "sql": Format("model.sql", methodcaller("to_sql")),
    "python": Format("model.py", methodcaller("to_python")),
    "pmml": Format("model.pmml", methodcaller("to_pmml")),
    "onnx": Format("model.onnx", methodcaller("to_onnx")),
}
