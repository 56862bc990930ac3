"""How good a model is, what it rests on, and how differently it treats records that it has learned from.

They read records; what they say about private ones is not private.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import column_or_1d

from .._utils.errors import no_value_shown
from .._utils.parameters import check_integer
from .._utils.tables import Table, as_array, as_table
from ..estimators.base import LABELS
from ..models.model import Model, model_of
from ..schema.columns import canonical
from ..sources.memory import class_numbers

LEAST_CHANCE = 1e-6  # of what happened: a chance of 0 would make one record's loss infinite


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
    number = {label: i for i, label in enumerate(records.model.classes)}
    predicted = np.array([number[answer.label] for answer in records.model.answers])[records.captures()]
    return float((predicted == records.labels).mean())


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


def feature_overlap(reference: Any, model: Any, X: Any, y: Any, k: int, positive_only: bool = False) -> float:
    """The share of the k most important columns that two models have in common, the paper's I_k.

    I_k = ``|top_k(reference) & top_k(model)| / k``, by ``feature_importance`` on the records X, y.

    A short rule list uses fewer than k columns. The others all have importance 0, and it is their order that decides which of
    them are among the first k: **of equally important columns the later one of X counts as more important**, as with
    ``numpy.argsort(importances)[-k:]``, which gives the published numbers. Two models may so agree on columns that
    neither uses. ``positive_only=True`` does not count those.

    The measure reads records; what it says about private ones is not private.

    Parameters
    ----------
    reference, model : classifier or RuleList
        Fitted classifiers of this package, or rule lists.
    X, y
        Records and their labels.
    k : int
        How many columns, at most all of them.
    positive_only : bool, default=False
        Count only columns of importance above 0 for both. It is still divided by k, so it can stay below 1 for a model
        compared with itself.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from discreet import RuleList
    >>> from discreet.evaluation import feature_overlap
    >>> X, y = {"a": [1, 1, 0, 0], "b": [1, 1, 0, 0], "c": [0, 1, 1, 0]}, [1, 1, 0, 0]
    >>> by_a, by_b = RuleList.parse("if a then 1 else 0"), RuleList.parse("if b then 1 else 0")
    >>> feature_overlap(by_a, by_b, X, y, k=2)      # c, which neither uses
    0.5
    >>> feature_overlap(by_a, by_b, X, y, k=2, positive_only=True)
    0.0
    """
    check_integer("k", k, at_least=1)
    tops = []
    for importances in [feature_importance(m, X, y) for m in (reference, model)]:
        if k > len(importances):
            raise ValueError(f"k must be at most {len(importances)}, the number of columns, not {k}")
        names, best = list(importances), np.argsort(list(importances.values()), kind="stable")[-k:]
        tops.append({names[i] for i in best if importances[names[i]] > 0 or not positive_only})
    return len(tops[0] & tops[1]) / k


def vulnerability(model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any, joint: bool = False) -> float:
    """Distributional overfitting: how differently a model's rules capture training records and others.

    V = 1/2 + 1/2 sum_y P[y] tau(y), with tau(y) = 1/2 sum_r ``|P[r | y, M=1] - P[r | y, M=0]|``, where r is the rule (or the
    default) that captures a record, y its label, and M tells training records from others (Ly et al.).
    P[y] is the share of class y among the training records. 0.5 is a coin flip: no attack that sees a record's label and
    rule would be better than guessing. Two samples of one population differ by chance, so on few records V is above 0.5
    for any model.

    The measure reads records; what it says about private ones is not private.

    Parameters
    ----------
    model : classifier or RuleList
        A fitted classifier of this package, or a rule list.
    X_train, y_train, X_test, y_test
        The records the model was learned from and others like them, with their labels.
    joint : bool, default=False
        With True, joint probabilities P[r, y | M] in place of P[r | y, M] in tau. It is not what the formula says, but what
        the published numbers were computed with; it also sees a difference in the shares of the classes.

    Returns
    -------
    float
        From 0.5 to 1.

    Examples
    --------
    >>> from discreet import RuleList
    >>> from discreet.evaluation import vulnerability
    >>> rules = RuleList.parse("if a then 1 else 0")
    >>> vulnerability(rules, {"a": [1, 1, 0, 0]}, [1, 1, 0, 0], {"a": [1, 0, 0, 0]}, [1, 1, 0, 0])
    0.625
    """
    inside, outside = (_counts(records_of(model, X, y)) for X, y in ((X_train, y_train), (X_test, y_test)))
    weight = inside.sum(axis=1) / inside.sum()
    if not joint and (weight[outside.sum(axis=1) == 0] > 0).any():
        raise ValueError("a class has training records but no test records; leave it out of both")
    return vulnerability_of_counts(inside, outside, joint)


def vulnerability_of_counts(inside: np.ndarray, outside: np.ndarray, joint: bool = False) -> float:
    """The same from how many training records, and others, of each class (row) each rule (column) captures."""
    # P[r, y] or P[r | y]; where there is no record of class y, 0: it weighs nothing
    totals = (counts.sum() if joint else counts.sum(axis=1, keepdims=True) for counts in (inside, outside))
    a, b = (counts / np.maximum(total, 1) for counts, total in zip((inside, outside), totals, strict=True))
    return float(1 / 2 + inside.sum(axis=1) / inside.sum() @ (np.abs(a - b).sum(axis=1) / 2) / 2)


def _counts(records: Records) -> np.ndarray:
    """How many records of each class (row) each rule (column) captures."""
    counts = np.zeros((len(records.model.classes), len(records.model.answers)))
    np.add.at(counts, (records.labels, records.captures()), 1)
    return counts


def exact_numbers(model: Model, X: Any, y: Any) -> dict[str, Any]:
    """Of records that may be shown: accuracy, ranking, log loss, and each class. Records with other labels are left out."""
    truth = class_numbers(y, model.classes, len(X))
    known = truth >= 0
    predicted = np.array([model.classes.index(label) for label in model.predict(X)])[known]
    truth, chances = truth[known], model.predict_proba(X)[known]
    if not len(truth):
        raise ValueError("no record has a label that is one of the model's classes; is --target the right column?")
    # how well the model ranks each class against all others, of those that can be told apart here
    told = [i for i in range(chances.shape[1]) if 0 < (truth == i).sum() < len(truth)]
    areas = [roc_auc_score(truth == i, chances[:, i]) for i in told]
    by_class = {
        str(c): {
            "records": int((truth == i).sum()),
            "predicted": int((predicted == i).sum()),
            "recall": float((predicted[truth == i] == i).mean()) if (truth == i).any() else None,
        }
        for i, c in enumerate(model.classes)
    }
    return {
        "records": len(truth),
        "left out": int((~known).sum()),
        "accuracy": float((predicted == truth).mean()),
        "most frequent class": float(np.bincount(truth).max() / len(truth)),
        "area under the ROC curve": float(np.mean(areas)) if areas else None,
        "log loss": float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], LEAST_CHANCE)).mean()),
        "classes": by_class,
    }
