"""70/30 splits of tables, fits on them, and what is measured: test accuracy, area under the ROC curve, seconds."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from fine_adult import fine_schema
from sklearn.metrics import roc_auc_score

from discreet import PrivateCounts, Schema
from discreet.datasets import load_adult, load_compas, load_german_credit

EPSILONS = (0.1, 1.0)


class Data(NamedTuple):
    """A table, its labels and its schema."""

    X: Any
    y: np.ndarray
    schema: Schema


class Split(NamedTuple):
    """Training records in private counts, all records, and which of them are for training and testing."""

    data: Data
    private: PrivateCounts
    train: np.ndarray
    test: np.ndarray
    seed: int


class Fit(NamedTuple):
    """What is measured of a fit."""

    accuracy: float
    area: float
    seconds: float


def boolean(load: Callable[..., Any]) -> Data:
    """The published Boolean features without sensitive ones."""
    data = load(binary=True, sensitive=False)
    return Data(data.data.astype(bool), data.target.to_numpy(), Schema.of_booleans(list(data.data.columns)))


def fine_adult() -> Data:
    """All columns of Adult, with fine cuts."""
    data, schema = load_adult(), fine_schema()
    return Data(data.data[list(schema.names)], (data.target == ">50K").to_numpy().astype(int), without_classes(schema))


def without_classes(schema: Schema) -> Schema:
    """Labels are 0 and 1 here."""
    return Schema(schema.columns, schema.target, (0, 1))


def adult_20() -> Data:
    """The 20 published features."""
    return boolean(load_adult)


def compas_12() -> Data:
    """The 12 published features."""
    return boolean(load_compas)


def german() -> Data:
    """The published features."""
    return boolean(load_german_credit)


def split_of(data: Data, seed: int) -> Split:
    """By ``default_rng(seed).permutation``."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    train, test = order[: int(0.7 * len(order))], order[int(0.7 * len(order)) :]
    return Split(data, PrivateCounts.from_table(data.X.iloc[train], data.y[train], data.schema), train, test, seed)


def fit(split: Split, learner: Any) -> Fit:
    """Of a classifier that is not fitted yet."""
    start = time.process_time()
    learner.fit_counts(split.private)
    seconds = time.process_time() - start
    X, y = split.data.X.iloc[split.test], split.data.y[split.test]
    accuracy = float(learner.score(X, y))
    area = float("nan")
    if len(learner.classes_) == 2 and learner.counts_share:
        area = float(roc_auc_score(y, learner.predict_proba(X)[:, 1]))
    return Fit(accuracy, area, seconds)


def mean(values: Iterable[float]) -> str:
    """With its standard error.

    >>> mean([0.5, 0.6])
    '0.5500 (0.0500)'
    """
    found = np.array(list(values))
    error = found.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else float("nan")
    return f"{found.mean():.4f} ({error:.4f})"


def row(name: str, columns: Sequence[Sequence[Fit]], area: bool) -> str:
    """Of a Markdown table: for each epsilon accuracy, and the area if asked for; then seconds a fit."""
    patterns = [mean(f.accuracy for f in fits) for fits in columns]
    if area:
        patterns += [mean(f.area for f in fits) for fits in columns]
    seconds = np.mean([f.seconds for fits in columns for f in fits])
    return f"| {name} | {' | '.join(patterns)} | {seconds:.2f} s |"


def header(epsilons: Sequence[float], area: bool) -> str:
    """Of that table."""
    names = [f"accuracy, epsilon {e:g}" for e in epsilons] + [f"area, epsilon {e:g}" for e in epsilons] * area
    return f"| | {' | '.join(names)} | a fit |\n|---|{'---|' * (len(names) + 1)}"
