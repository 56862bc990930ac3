"""What is measured of a model on a split, from the records of each class that each of its rules captures."""

from typing import Any

import numpy as np

from ..evaluation import vulnerability_of_counts
from .splits import Split


def measured(model: Any, split: Split) -> dict[str, float | int]:
    """Accuracies, and both readings of the paper's vulnerability."""
    captured = split.captured(model.rule_list_)
    rules = [*model.rule_list_.rules, model.rule_list_.default]
    labels = np.array([int(rule.label) for rule in rules])
    correct = captured[:, labels, np.arange(len(labels))].sum(1) / captured.sum((1, 2))
    return {
        "train_accuracy": correct[1],
        "test_accuracy": correct[0],
        "vulnerability": vulnerability_of_counts(captured[1], captured[0]),
        "vulnerability_joint": vulnerability_of_counts(captured[1], captured[0], joint=True),
        "n_rules": len(labels),
    }
