"""The model as code, in every format there is; and whether two such files say the same."""

from pathlib import PurePath
from typing import Any

from ... import __version__
from ..._utils.errors import RuleError
from ..._utils.escaping import in_comment, on_a_line
from ...models.export import FORMATS
from ...models.labelled import classes_called, target_called
from ...models.saved import SavedModel
from .record import NOTHING_PROVED, TREAT_AS

FOLDER = "code/"
NOT_INSTALLED = "a package that writes it was not installed"
WITHOUT_A_PACKAGE = (".sql", ".py", ".pmml")  # nobody lacks what writes these
COMMENT = {".sql": "-- ", ".py": "# "}  # other formats have no place for people's words

Code = tuple[dict[str, bytes], dict[str, str]]


def code_files(model: SavedModel, sha256: str) -> Code:
    """The files by their names, and the formats that were left out, with the reason."""
    made: dict[str, bytes] = {}
    left_out: dict[str, str] = {}
    for name, write in FORMATS.items():
        try:
            code = write(model.model)
        except RuleError as error:
            left_out[FOLDER + name] = on_a_line(error)
        except ImportError:
            left_out[FOLDER + name] = NOT_INSTALLED
        else:
            text = code if isinstance(code, bytes) else code.encode("utf-8")
            if mark := COMMENT.get(PurePath(name).suffix):
                text = _header(model, sha256, mark).encode("utf-8") + text.removesuffix(b"\n") + b"\n"
            made[FOLDER + name] = text
    return made, left_out


def _header(model: SavedModel, sha256: str, mark: str) -> str:
    """What people should know, as comments. The first two lines are ours: Python looks for the name of an encoding there."""
    privacy, schema = None if model.privacy is None else model.privacy.proved, model.model.schema
    lines = [
        f"Written by discreet {__version__} from model.json, whose SHA-256 is",
        sha256,
        f"Proved to be private with {privacy}." if privacy is not None else f"{NOTHING_PROVED}. {TREAT_AS}.",
    ]
    if (target := target_called(model.model, model.target)) is not None:
        lines.append(f"It predicts {target}")
    called = dict(zip(map(str, model.classes), classes_called(model.model), strict=True))
    lines += [f"{name} is {label}" for name, label in called.items() if label != name]
    if schema is not None:
        used = model.model.used_columns
        lines += [f"{name} is {schema[name].label}" for name in used if schema[name].label]
    return "".join(f"{mark}{in_comment(line)}\n" for line in lines)


def same_graph(one: bytes, other: bytes) -> bool:
    """Whether two files of ONNX are the same graph, which another version of ``onnx`` may write in other bytes.

    An ``ImportError`` without the package ``onnx``.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    def read(data: bytes) -> Any:
        model = onnx.ModelProto()
        model.ParseFromString(data)
        model.ClearField("producer_version")
        constants = list(model.graph.initializer)
        if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in constants):
            raise ValueError  # values in another file, which nobody opens here
        arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in constants}
        if len(arrays) < len(constants):
            raise ValueError
        model.graph.ClearField("initializer")
        values = {name: (array.dtype.str, array.shape, array.tolist()) for name, array in arrays.items()}
        return model.SerializeToString(deterministic=True), values

    try:
        return bool(read(one) == read(other))
    except (DecodeError, ValueError, TypeError, KeyError, UnicodeError, AttributeError):
        return False
