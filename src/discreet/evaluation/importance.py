"""How much a model's accuracy rests on each column."""

from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.tables import Table
from .records import Records, records_of


def feature_importance(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Permutation importance of each column: the accuracy that is lost, on average, when its values are shuffled.

    It is the number that ``sklearn.inspection.permutation_importance`` tends to with more and more repeats, but exact: in a
    random permutation each record gets the value of any record with the same probability, and a model tells only the
    few bins of a column apart. So there are no repeats and no seed. A column that no rule uses has importance 0; one
    that misleads the model has a negative one.

    The measure reads records; what it says about private ones is not private.

    Parameters
    ----------
    model : classifier or RuleList
        A fitted classifier of this package, or a rule list.
    X, y
        Records and their labels.

    Returns
    -------
    dict
        The importance of each column of X, by its name, in X's order.

    Examples
    --------
    >>> from discreet import RuleList
    >>> from discreet.evaluation import feature_importance
    >>> rules = RuleList.parse("if a then 1 else 0")
    >>> feature_importance(rules, {"a": [1, 1, 0, 0], "b": [1, 0, 1, 0]}, [1, 1, 0, 0])
    {'a': 0.5, 'b': 0.0}
    """
    records = records_of(model, X, y)
    used = set(records.model.used_columns)
    accuracy = _accuracy(records)
    return {
        name: accuracy - _accuracy_when_shuffled(records, name) if name in used else 0.0 for name in records.table.names
    }


def _accuracy(records: Records) -> float:
    return float((records.predict() == records.labels).mean())


def _accuracy_when_shuffled(records: Records, name: str) -> float:
    """The mean over all permutations: over the column's bins, each given to all records, by their shares."""
    assert records.model.schema is not None  # it has a rule, which uses the column
    values = records.table.column(name)
    bins = records.model.schema[name].encode(values, records.strict)
    _, first, counts = np.unique(bins, return_index=True, return_counts=True)
    alike = (np.repeat(values[i : i + 1], len(values)) for i in first)
    accuracies = [_accuracy(replace(records, table=_with_column(records.table, name, column))) for column in alike]
    return float(np.average(accuracies, weights=counts))


def _with_column(table: Table, name: str, values: np.ndarray) -> Table:
    return Table(table.names, len(table), lambda n, rows: values[rows] if n == name else table.column(n, rows))
