"""What must not be called proved, is not."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._utils.errors import PrivacyWarning
from ..estimators.greedy import DPGreedyRuleListClassifier
from ..estimators.greedy_trees import DPGreedyTreeClassifier
from ..estimators.optimal import DPOptimalRuleListClassifier
from ..estimators.trees import DPOptimalTreeClassifier
from ..private.mechanisms.registry import MECHANISMS
from .explore import schema_of_rules

X, Y = np.array([[True, False], [False, True], [True, True]]), np.array([0, 1, 1])

Parameters = Mapping[str, Any]


def unproved() -> dict[str, Sequence[Parameters]]:
    """By name, parameters with which nothing may be called proved."""
    mechanisms = MECHANISMS.values()
    return {
        "a seed": [{"random_state": 0}],
        "candidates that may have been mined": [{"candidates": ["r0"]}],
        "a schema made from the records": [{"schema": None, "infer_schema": True}],
        "a support that is a share of the records": [
            m.needed_parameters | {"min_support": 0.05} for m in mechanisms if m.needs_support
        ],
        "a delta of 1/n^2": [m.needed_parameters | {"delta": None} for m in mechanisms if m.needs_delta],
    }


def claims_too_much(tried: Sequence[Parameters]) -> bool:
    """Whether a fit with such parameters says that something is proved."""
    return any(_says_proved(parameters) for parameters in tried)


def _says_proved(parameters: Parameters) -> bool:
    lists: list[Any] = [DPGreedyRuleListClassifier]
    trees: list[Any] = [DPGreedyTreeClassifier]
    if "mechanism" not in parameters:
        lists.append(DPOptimalRuleListClassifier)
        trees.append(DPOptimalTreeClassifier)
    kinds = lists if "candidates" in parameters else lists + trees  # the tests of a tree follow from its schema
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fitted = [kind(**({"schema": schema_of_rules(2, 2)} | dict(parameters))).fit(X, Y) for kind in kinds]
    return any(model.privacy_.proved is not None for model in fitted)
