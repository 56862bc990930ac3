"""A model in the languages and formats of other systems: SQL, Python, PMML, ONNX."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...rules.partition import Model


class Format(NamedTuple):
    """What a file in a format is called, and what writes a model in it, as text or as bytes."""

    file_name: str
    write: "Callable[[Model], str | bytes]"


def _sql(model: "Model") -> str:
    from .sql import to_sql

    return to_sql(model)


def _python(model: "Model") -> str:
    from .python_source import to_python

    return to_python(model)


def _pmml(model: "Model") -> str:
    from .pmml import to_pmml

    return to_pmml(model)


def _onnx(model: "Model") -> bytes:
    from .onnx_graph import to_onnx

    return to_onnx(model)


# For whoever writes a model in every format. A model that a format cannot hold is a RuleError; ONNX without the package `onnx`,
# which is an extra, an ImportError.
FORMATS = {
    "sql": Format("model.sql", _sql),
    "python": Format("model.py", _python),
    "pmml": Format("model.pmml", _pmml),
    "onnx": Format("model.onnx", _onnx),
}
