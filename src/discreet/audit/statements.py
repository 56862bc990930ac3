"""What must not be called proved, is not."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..classifiers.greedy import DPGreedyRuleListClassifier
from ..classifiers.optimal import DPOptimalRuleListClassifier
from ..common.errors import PrivacyWarning
from .explore import schema_of_rules

X, Y = np.array([[True, False], [False, True], [True, True]]), np.array([0, 1, 1])

SMOOTH = {"mechanism": "sm-laplace", "delta": 1e-6, "min_support": 5}
UNPROVED: Mapping[str, Mapping[str, Any]] = {
    "a seed": {"random_state": 0},
    "candidates that may have been mined": {"candidates": ["r0"]},
    "a schema made from the records": {"schema": None, "infer_schema": True},
    "a support that is a share of the records": SMOOTH | {"min_support": 0.05},
    "a delta of 1/n^2": SMOOTH | {"delta": None},
}


def claims_too_much(parameters: Mapping[str, Any]) -> bool:
    """Whether a fit with such parameters says that something is proved."""
    kinds: list[Any] = [DPGreedyRuleListClassifier]
    if "mechanism" not in parameters:
        kinds.append(DPOptimalRuleListClassifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fitted = [kind(**({"schema": schema_of_rules(2, 2)} | dict(parameters))).fit(X, Y) for kind in kinds]
    return any(model.privacy_.proved is not None for model in fitted)
