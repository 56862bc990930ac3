"""The paper's measures: accuracy and vulnerability, what a model rests on, features in common with GreedyRL, membership attacks.

They count records exactly; what they say about private ones is not private. A model is a ``RuleList`` or another one of discreet.
"""

from typing import Any

import numpy as np

from discreet import GreedyRuleListClassifier

from .membership import membership_attack
from .splits import Split

FALSE_POSITIVE_RATES = np.geomspace(1e-3, 1.0, 61)  # where true positive rates are kept


def measured(model: Any, split: Split) -> dict[str, float | int]:
    """Accuracies, and both readings of the paper's vulnerability, from the records of each class in each part."""
    captured = split.captured(model.model_)
    classes = list(split.schema.classes or ())
    labels = np.array([classes.index(answer.label) for answer in model.model_.answers])
    correct = captured[:, labels, np.arange(len(labels))].sum(1) / captured.sum((1, 2))
    return {
        "train_accuracy": correct[1],
        "test_accuracy": correct[0],
        "vulnerability": vulnerability_of_counts(captured[1], captured[0]),
        "vulnerability_joint": vulnerability_of_counts(captured[1], captured[0], joint=True),
        "n_rules": len(labels),
    }


def overlaps(model: Any, split: Split, max_literals: int, min_support: float, max_length: int) -> dict[str, float]:
    """With GreedyRL on the same split: of the five and seven most important features, and of those above 0."""
    reference = split.remember(
        ("reference", max_literals, min_support, max_length),
        lambda: GreedyRuleListClassifier(
            max_length=max_length + 1,
            min_support=min_support,
            candidates=split.candidates(max_literals),
            schema=split.schema,
        ).fit(split.X_train, split.y_train),
    )
    pair = reference.rule_list_, model.rule_list_, split.X_test, split.y_test
    return {
        "overlap_top5": feature_overlap(*pair, k=5),
        "overlap_top7": feature_overlap(*pair, k=7),
        "overlap_positive": feature_overlap(*pair, k=7, positive_only=True),
    }


def attacked(model: Any, split: Split, seed: int) -> dict[str, Any]:
    """Both attacks of the Adversarial Robustness Toolbox: how often they are right, their areas, and the curve of the first."""
    records = split.X_train, split.y_train, split.X_test, split.y_test
    black_box = membership_attack(model.rule_list_, *records, kind="black-box", random_state=seed)
    label_only = membership_attack(model.rule_list_, *records, kind="label-only", random_state=seed)
    return {
        "black_box_accuracy": black_box.accuracy,
        "black_box_auc": black_box.auc,
        "black_box_tpr": np.interp(FALSE_POSITIVE_RATES, black_box.fpr, black_box.tpr),
        "label_only_accuracy": label_only.accuracy,
        "label_only_auc": label_only.auc,
    }


def vulnerability(model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any, joint: bool = False) -> float:
    """Distributional overfitting: how differently a model's rules capture training records and others.

    V = 1/2 + 1/2 sum_y P[y] tau(y), with tau(y) = 1/2 sum_r ``|P[r | y, M=1] - P[r | y, M=0]|``, where r is the rule (or the
    default) that captures a record, y its label, and M tells training records from others (Ly et al.).
    P[y] is the share of class y among the training records. 0.5 is a coin flip: no attack that sees a record's label and
    rule would be better than guessing. Two samples of one population differ by chance, so on few records V is above 0.5
    for any model.

    ``joint`` takes joint probabilities P[r, y | M] in place of P[r | y, M] in tau. It is not what the formula says, but what the
    published numbers were computed with; it also sees a difference in the shares of the classes.
    """
    inside, outside = (_counts(model, X, y) for X, y in ((X_train, y_train), (X_test, y_test)))
    if not joint and (inside.any(axis=1) & ~outside.any(axis=1)).any():
        raise ValueError("a class has training records but no test records; leave it out of both")
    return vulnerability_of_counts(inside, outside, joint)


def vulnerability_of_counts(inside: np.ndarray, outside: np.ndarray, joint: bool = False) -> float:
    """The same from how many training records, and others, of each class (row) each rule (column) captures."""
    # P[r, y] or P[r | y]; where there is no record of class y, 0: it weighs nothing
    totals = (counts.sum() if joint else counts.sum(axis=1, keepdims=True) for counts in (inside, outside))
    a, b = (counts / np.maximum(total, 1) for counts, total in zip((inside, outside), totals, strict=True))
    return float(1 / 2 + inside.sum(axis=1) / inside.sum() @ (np.abs(a - b).sum(axis=1) / 2) / 2)


def _counts(model: Any, X: Any, y: Any) -> np.ndarray:
    """How many records of each class (row) each rule (column) captures."""
    captured, labels = model.captures(X), np.asarray(y)
    return np.array([np.bincount(captured[labels == c], minlength=len(model.answers)) for c in model.classes])


def feature_importance(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Permutation importance of each column: the accuracy that is lost, on average, when its values are shuffled.

    It is the number that ``sklearn.inspection.permutation_importance`` tends to with more and more repeats, but exact: in a
    random permutation each record gets the value of any record with the same probability, and a model tells only the
    few bins of a column apart. So there are no repeats and no seed. A column that no rule uses has importance 0; one
    that misleads the model has a negative one.
    """
    by_name = dict(zip(model.schema.names, X.T, strict=True)) if isinstance(X, np.ndarray) else X
    columns, labels = {name: np.asarray(by_name[name]) for name in by_name}, np.asarray(y)

    def accuracy(columns: dict[str, np.ndarray]) -> float:
        return float((model.predict(columns) == labels).mean())

    def accuracy_when_shuffled(name: str) -> float:
        """The mean over all permutations: over the column's bins, each given to all records, by their shares."""
        values = columns[name]
        _, first, counts = np.unique(model.schema[name].encode(values, False), return_index=True, return_counts=True)
        alike = (columns | {name: np.repeat(values[i : i + 1], len(values))} for i in first)
        return float(np.average(list(map(accuracy, alike)), weights=counts))

    whole = accuracy(columns)
    return {name: whole - accuracy_when_shuffled(name) if name in model.used_columns else 0.0 for name in columns}


def feature_overlap(reference: Any, model: Any, X: Any, y: Any, k: int, positive_only: bool = False) -> float:
    """The share of the k most important columns that two models have in common, the paper's I_k.

    I_k = ``|top_k(reference) & top_k(model)| / k``, by ``feature_importance`` on the records X, y.

    A short rule list uses fewer than k columns. The others all have importance 0, and it is their order that decides which of
    them are among the first k: **of equally important columns the later one of X counts as more important**, as with
    ``numpy.argsort(importances)[-k:]``, which gives the published numbers. Two models may so agree on columns that
    neither uses. ``positive_only`` does not count those; it is still divided by k, so it can stay below 1 for a model compared
    with itself.
    """
    tops = []
    for importances in [feature_importance(m, X, y) for m in (reference, model)]:
        names, best = list(importances), np.argsort(list(importances.values()), kind="stable")[-k:]
        tops.append({names[i] for i in best if importances[names[i]] > 0 or not positive_only})
    return len(tops[0] & tops[1]) / k
