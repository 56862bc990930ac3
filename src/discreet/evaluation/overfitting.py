"""How differently a model treats records that it has learned from: distributional overfitting."""

from typing import Any

import numpy as np

from .records import Records, records_of


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
    tau = np.abs(_probabilities(inside, joint) - _probabilities(outside, joint)).sum(axis=1) / 2
    return float(1 / 2 + inside.sum(axis=1) / inside.sum() @ tau / 2)


def _counts(records: Records) -> np.ndarray:
    """How many records of each class (row) each rule (column) captures."""
    counts = np.zeros((len(records.rules.classes), len(records.rules)))
    np.add.at(counts, (records.labels, records.captures()), 1)
    return counts


def _probabilities(counts: np.ndarray, joint: bool) -> np.ndarray:
    """P[r, y] or P[r | y]; where there is no record of class y, 0: it weighs nothing."""
    total = counts.sum() if joint else counts.sum(axis=1, keepdims=True)
    shares: np.ndarray = counts / np.maximum(total, 1)
    return shares
