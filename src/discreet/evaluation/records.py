"""Labelled records for a model, as the measures of this folder need them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .._utils.errors import no_value_shown
from .._utils.tables import Table, as_array, as_table
from ..estimators.base import LABELS
from ..models.model import Model, model_of
from ..schema.columns import canonical


@dataclass(frozen=True)
class Records:
    """Records and the model that they are given to. A label is the number of its class in ``model.classes``."""

    model: Model
    table: Table
    labels: np.ndarray
    strict: bool  # whether the model's own predict stops at a value that its schema does not foresee

    def captures(self) -> np.ndarray:
        """The number of the answer that each record gets: of a list, of the rule; that of the default is the last."""
        return self.model.captures(self.table, self.strict)

    def predict(self) -> np.ndarray:
        """The predicted class of each record, as its number."""
        number: dict[Any, int] = {label: i for i, label in enumerate(self.model.classes)}
        predicted: np.ndarray = np.array([number[answer.label] for answer in self.model.answers])[self.captures()]
        return predicted


def records_of(model: Any, X: Any, y: Any) -> Records:
    """The records X with labels y, read as the model's ``predict`` reads them."""
    held = model_of(model)
    if held is None:
        raise TypeError("model must be a RuleList, or another model or a fitted classifier of this package")
    if hasattr(model, "model_"):
        table, strict = model._table(X, reset=False), model._strict
    else:
        table, strict = as_table(X, None if held.schema is None else held.schema.names), False
    with no_value_shown(LABELS):
        found, where = np.unique(column_or_1d(np.asarray(as_array(y))), return_inverse=True)
    if len(where) != len(table):
        raise ValueError(f"X and y differ in length: X has {len(table)} records, y has {len(where)} labels")
    if len(where) == 0:
        raise ValueError("X has no records; there is nothing to measure")
    number = {canonical(c): i for i, c in enumerate(held.classes)}
    labels = np.array([number.get(canonical(label), -1) for label in found])[where]
    if (labels < 0).any():
        raise ValueError("y has labels that are not among the model's classes; give a RuleList all of its classes")
    return Records(held, table, labels, strict)
