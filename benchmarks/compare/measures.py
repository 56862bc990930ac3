"""What is measured of predictions for test records. Labels are 0, 1, ...; ``chances`` has a column for each class."""

import numpy as np
from sklearn.metrics import roc_auc_score

LEAST = 1e-6  # a chance of 0 for what happens would make one record's loss infinite
BINS = 10


def measures(y: np.ndarray, labels: np.ndarray, chances: np.ndarray) -> dict[str, float]:
    """All of them.

    >>> y, chances = np.array([0, 0, 1, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.2, 0.8]])
    >>> {name: round(value, 3) for name, value in measures(y, chances.argmax(axis=1), chances).items()}
    {'accuracy': 0.75, 'balanced': 0.75, 'area': 0.75, 'loss': 0.612, 'calibration': 0.275}
    """
    chances = normalised(chances)
    right = labels == y
    return {
        "accuracy": float(right.mean()),
        "balanced": float(np.mean([right[y == label].mean() for label in np.unique(y)])),
        "area": area(y, chances),
        "loss": float(-np.log(np.maximum(chances[np.arange(len(y)), y], LEAST)).mean()),
        "calibration": calibration(y, chances),
    }


def normalised(chances: np.ndarray) -> np.ndarray:
    """Rows that add up to 1, also where a method gave nothing but zeros."""
    chances = np.clip(np.nan_to_num(chances), 0.0, None)
    total = chances.sum(axis=1, keepdims=True)
    return np.where(total > 0, chances / np.where(total > 0, total, 1.0), 1 / chances.shape[1])


def area(y: np.ndarray, chances: np.ndarray) -> float:
    """Under the ROC curve; of more than two classes, the mean of each against the rest, of those that the test records have."""
    if chances.shape[1] == 2:
        return float(roc_auc_score(y, chances[:, 1]))
    return float(np.mean([roc_auc_score(y == label, chances[:, label]) for label in np.unique(y)]))


def calibration(y: np.ndarray, chances: np.ndarray) -> float:
    """How far the chance of the likeliest class is from how often it is right: in ten bins of equal width, by their records."""
    top = chances.max(axis=1)
    right = chances.argmax(axis=1) == y
    places = np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = [abs(right[places == i].mean() - top[places == i].mean()) * (places == i).mean() for i in np.unique(places)]
    return float(np.sum(gaps))
