"""What a private learner asks of a schema."""

import numpy as np

from .._utils.errors import SchemaError
from .schema import Label, Schema


def check_private_schema(schema: Schema) -> None:
    """Refuse a schema by which an error would depend on a record."""
    if not isinstance(schema, Schema):
        raise SchemaError("schema must be a Schema; read one from a file with Schema.load(path)")
    for column in schema.used:
        if getattr(column, "outside", None) == "error":
            raise SchemaError(
                f'column {column.name!r} says outside = "error", but a private learner may not let an error depend on '
                "a record; say what to take such values for instead"
            )


def sorted_classes(schema: Schema) -> tuple[Label, ...]:
    """The classes in the order of scikit-learn's ``classes_``; 0 and 1 if the schema names none."""
    return tuple(np.unique(np.array(schema.classes or (0, 1))).tolist())
