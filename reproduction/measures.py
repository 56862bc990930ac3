"""What is measured of a model on a split: accuracy and vulnerability, features in common with GreedyRL, membership attacks."""

from typing import Any

import numpy as np

from discreet import GreedyRuleListClassifier
from discreet.evaluation import feature_overlap, membership_attack, vulnerability_of_counts

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
