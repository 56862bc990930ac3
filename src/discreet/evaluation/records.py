"""Labelled records for a model, as the measures of this folder need them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..classifiers.base import LABELS
from ..common.errors import no_value_shown
from ..common.tables import Table, as_array, as_table
from ..models.rule_list import RuleList
from ..schema.columns import canonical


@dataclass(frozen=True)
class Records:
    """Records and the rule list that they are given to. A label is the number of its class in ``rules.classes``."""

    rules: RuleList
    table: Table
    labels: np.ndarray
    strict: bool  # whether the model's own predict stops at a value that its schema does not foresee

    def captures(self) -> np.ndarray:
        """The number of the rule that captures each record; that of the default is the last."""
        return self.rules.captures(self.table, self.strict)

    def predict(self) -> np.ndarray:
        """The predicted class of each record, as its number."""
        number: dict[Any, int] = {label: i for i, label in enumerate(self.rules.classes)}
        return np.array([number[rule.label] for rule in self.rules])[self.captures()]


def records_of(model: Any, X: Any, y: Any) -> Records:
    """The records X with labels y, read as the model's ``predict`` reads them."""
    if isinstance(model, RuleList):
        rules, table, strict = model, as_table(X, None if model.schema is None else model.schema.names), False
    elif isinstance(getattr(model, "rule_list_", None), RuleList):
        rules, table, strict = model.rule_list_, model._table(X, reset=False), model._strict
    else:
        raise TypeError("model must be a RuleList, or a fitted classifier of this package (with a rule_list_)")
    with no_value_shown(LABELS):
        found, where = np.unique(column_or_1d(np.asarray(as_array(y))), return_inverse=True)
    if len(where) != len(table):
        raise ValueError(f"X and y differ in length: X has {len(table)} records, y has {len(where)} labels")
    if len(where) == 0:
        raise ValueError("X has no records; there is nothing to measure")
    number = {canonical(c): i for i, c in enumerate(rules.classes)}
    labels = np.array([number.get(canonical(label), -1) for label in found])[where]
    if (labels < 0).any():
        raise ValueError("y has labels that are not among the model's classes; give a RuleList all of its classes")
    return Records(rules, table, labels, strict)
