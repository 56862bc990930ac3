"""How good a model is, measured exactly: for records that may be shown. Nothing here is covered by a promise."""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ..models.model import Model
from ..sources.memory import class_numbers

LEAST_CHANCE = 1e-6  # of what happened: a chance of 0 would make one record's loss infinite


def exact_numbers(model: Model, X: Any, y: Any) -> dict[str, Any]:
    """Of records that may be shown: accuracy, ranking, log loss, and each class. Records with other labels are left out."""
    truth = class_numbers(y, model.classes, len(X))
    known = truth >= 0
    predicted = np.array([model.classes.index(label) for label in model.predict(X)])[known]
    truth, chances = truth[known], model.predict_proba(X)[known]
    if not len(truth):
        raise ValueError("no record has a label that is one of the model's classes; is --target the right column?")
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
        "area under the ROC curve": _area(truth, chances),
        "log loss": float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], LEAST_CHANCE)).mean()),
        "classes": by_class,
    }


def _area(truth: np.ndarray, chances: np.ndarray) -> float | None:
    """How well the model ranks: of each class against all others, the mean over those that can be told apart here."""
    told = [i for i in range(chances.shape[1]) if 0 < (truth == i).sum() < len(truth)]
    return float(np.mean([roc_auc_score(truth == i, chances[:, i]) for i in told])) if told else None
