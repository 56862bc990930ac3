"""Parameters that all classifiers have which draw whole models: class weights, the share of the counts, a limit of time."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils.parameters import finite_number
from ..schema.columns import canonical


def check_counts_share(share: Any) -> None:
    """0, or a share that leaves something for the counts and for the draw."""
    if finite_number("counts_share", share) and not 0.001 <= share <= 0.9:
        raise ValueError(f"counts_share must be 0, or from 0.001 to 0.9, not {share!r}")


def check_time_limit(seconds: Any) -> None:
    """None, or a number of seconds."""
    if seconds is not None and finite_number("time_limit", seconds) <= 0:
        raise ValueError(f"time_limit must be None or a number of seconds above 0, not {seconds!r}")


def check_class_weight(given: Any) -> None:
    """None, or public weights by class."""
    if isinstance(given, str) and given == "balanced":
        raise ValueError(
            'class_weight="balanced" reads the class frequencies off the private records; give public weights instead: '
            "class_weight={label: weight, ...}"
        )
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"class_weight must be None or a dict of weights by class, not {type(given).__name__}")


def class_weights(given: Mapping[Any, Any] | None, classes: np.ndarray) -> np.ndarray:
    """A weight for each class, the largest 1: multiples of 2^-20, so that sums of counts times weights have no error.

    >>> class_weights({"b": 3}, np.array(["a", "b"])).tolist()
    [0.33333301544189453, 1.0]
    """
    weights = _by_class(given, classes)
    return np.asarray(np.maximum(np.rint(weights / weights.max() * 2.0**20), 1.0) * 2.0**-20)


def told_weights(given: Mapping[Any, Any] | None, classes: np.ndarray) -> tuple[float, ...] | None:
    """The weights as they were given, for the model to tell; None if all classes weigh the same.

    >>> told_weights({"b": 3}, np.array(["a", "b"])), told_weights({"a": 2, "b": 2}, np.array(["a", "b"]))
    ((1.0, 3.0), None)
    """
    weights = tuple(_by_class(given, classes).tolist())
    return weights if len(set(weights)) > 1 else None


def _by_class(given: Mapping[Any, Any] | None, classes: np.ndarray) -> np.ndarray:
    """The weight of each class, 1 where none is given."""
    weights = np.ones(len(classes))
    place = {canonical(c): i for i, c in enumerate(classes.tolist())}
    for label, weight in (given or {}).items():
        if canonical(label) not in place:
            raise ValueError(f"class_weight names {label!r}, which is not one of the classes of the target")
        if not finite_number("class_weight", weight) > 0:
            raise ValueError(f"class_weight must hold weights above 0, not {weight!r}")
        weights[place[canonical(label)]] = float(weight)
    return weights
