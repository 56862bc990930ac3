"""What membership attacks of the Adversarial Robustness Toolbox make of a model."""

from typing import Any

import numpy as np

from ..evaluation import membership_attack
from .splits import Split

FALSE_POSITIVE_RATES = np.geomspace(1e-3, 1.0, 61)  # where true positive rates are kept


def attacked(model: Any, split: Split, seed: int) -> dict[str, Any]:
    """Both attacks: how often they are right, the area under their curves, and the curve of the first."""
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
