"""What is measured of a model on a split, from the records of each class that each of its rules captures."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .splits import Split

Array = npt.NDArray[np.float64]


def measured(model: Any, split: Split) -> dict[str, float | int]:
    """Accuracies, and both readings of the paper's vulnerability."""
    captured = split.captured(model.rule_list_)
    rules = [*model.rule_list_.rules, model.rule_list_.default]
    labels = np.array([int(rule.label) for rule in rules])
    correct = captured[:, labels, np.arange(len(labels))].sum(1) / captured.sum((1, 2))
    return {
        "train_accuracy": correct[1],
        "test_accuracy": correct[0],
        "vulnerability": vulnerability(captured, joint=False),
        "vulnerability_joint": vulnerability(captured, joint=True),
        "n_rules": len(labels),
    }


def vulnerability(captured: Array, joint: bool) -> float:
    """The paper's V, from test and training records of each class in each part.

    Its formula has the probabilities of a part *given* the label; its numbers were made with those of part *and* label.
    """
    share = captured / captured.sum((1, 2) if joint else 2, keepdims=True)
    distance = 0.5 * np.abs(share[1] - share[0]).sum(1)
    of_class = captured.sum((0, 2)) / captured.sum()
    return float(0.5 + 0.5 * (of_class * distance).sum())
