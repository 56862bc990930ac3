"""What exact decisions cost (private/noise/decisions.py): whole fits with them, and with plain decisions in floating point.

Both are the same code in one process and take turns, seed by seed; for the plain ones the decisions are replaced, here only: an
index by one uniform number among cumulated sums of floats, and no last coin, nor the exact weight and the margin that it needs.
From the same seed both draw the same model, which is checked. (Unless the last coin fails, once in many thousand fits or less.)
A seed's second stream, which fits without a seed do not have, is made in both. Processor time, one thread:

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/exactness_cost.py [seconds for each case]
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from math import prod
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, PrivateCounts
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.noise.entropy import Array, Entropy
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import choices, envelope, list_sums
from discreet.private.sampling.trees import drawing

SEEDS = 8
DATASETS = {"COMPAS": load_compas, "German Credit": load_german_credit, "Adult": load_adult}
MODELS: dict[str, tuple[type, dict[str, Any]]] = {
    "list": (DPOptimalRuleListClassifier, {}),
    "list, pairs of literals": (DPOptimalRuleListClassifier, {"max_literals": 2, "max_length": 2}),
    "tree, depth 3": (DPOptimalTreeClassifier, {"max_depth": 3}),
    "tree, depth 4": (DPOptimalTreeClassifier, {"max_depth": 4}),
    "tree, stages (2, 2)": (DPOptimalTreeClassifier, {"stages": (2, 2)}),
}


def plain_weights(logs: Array, top: float | None = None, n: int | None = None) -> Array:
    """Weights as floats; in units of an integer if ``n`` is given, because they are then put into an array of integers."""
    weights: Array = np.exp(logs - (logs.max(-1, keepdims=True) if top is None else top))
    return weights if n is None else weights * envelope.unit(n)


def plain_places(sums: Array, entropy: Entropy, size: int) -> np.ndarray:
    """Where uniform numbers of 53 bits fall."""
    numbers = entropy.uniform(size) * sums[..., -1]
    return np.searchsorted(sums, numbers, "right") if sums.ndim == 1 else (sums <= numbers[:, None]).sum(1)


class PlainChances:
    """Choices whose chances are not kept."""

    chance = Fraction(1)

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def choose(self, logs: Array) -> int:
        """An index."""
        sums = np.cumsum(plain_weights(logs))
        return int(np.searchsorted(sums, self._entropy.uniform(1)[0] * sums[-1], "right"))


def plain_draw(attempt: Callable[..., Any], weigh: object, log_most: object, doubt: object, entropy: Entropy) -> Any:
    """What the first attempt leads to."""
    return attempt(PlainChances(entropy).choose)


def plain_coins(logs: Array, entropy: Entropy) -> choices.Choices:
    """Coins, by floats."""
    heads = entropy.uniform(len(logs)) < np.exp(np.minimum(logs, 0.0))
    return choices.Choices(heads.astype(np.intp), heads, heads)


REPLACED: list[tuple[Any, str, Any]] = [
    (drawing, "draw_exactly", plain_draw),
    (drawing.WeighedTrees, "_doubt", lambda _: 0.0),
    (list_sums, "draw_exactly", plain_draw),
    (list_sums.ListSums, "_doubt", lambda _: 0.0),
    (choices, "whole_weights", plain_weights),
    (choices, "places", plain_places),
    (choices.Choices, "chance", lambda *_: Fraction(1)),
    (envelope, "whole_weights", plain_weights),
    (envelope, "flip_each", plain_coins),
    (envelope, "Chances", PlainChances),
    (envelope, "margin", lambda _: None),  # without one there is no last coin
]


@contextmanager
def plain() -> Iterator[None]:
    """Decisions by floats."""
    kept = [getattr(where, name) for where, name, _ in REPLACED]
    try:
        for where, name, with_this in REPLACED:
            setattr(where, name, with_this)
        yield
    finally:
        for (where, name, _), original in zip(REPLACED, kept, strict=True):
            setattr(where, name, original)


def with_both_streams(make: Callable[..., None]) -> Callable[..., None]:
    """A source of randomness that has made its second stream."""

    def made(self: SeededEntropy, seed: Any) -> None:
        make(self, seed)
        self.bits(1, more=True)

    return made


def compare(
    model: type, parameters: dict[str, Any], private: PrivateCounts, budget: float
) -> tuple[float, float, int, int]:
    """Milliseconds of plain and of exact fits, each the median over rounds, on average over seeds; rounds; models that differ."""
    taken: dict[bool, list[list[float]]] = {exact: [[] for _ in range(SEEDS)] for exact in (False, True)}
    differ, rounds, start = 0, 0, time.process_time()
    while rounds < 4 or time.process_time() - start < budget:
        for seed in range(SEEDS):
            found = {}
            for exact in (False, True) if rounds % 2 else (True, False):
                with nullcontext() if exact else plain():
                    clf, begin = model(epsilon=1.0, random_state=seed, **parameters), time.process_time()
                    found[exact] = clf.fit_counts(private).model_
                    taken[exact][seed].append(time.process_time() - begin)
            differ += found[False] != found[True]
        rounds += 1
    # the first round is left out: imports, and what private counts keeps
    before, now = (statistics.mean(statistics.median(t[1:]) for t in taken[exact]) for exact in (False, True))
    return before * 1000, now * 1000, rounds - 1, differ


def main(budget: float) -> None:
    """For each case."""
    warnings.simplefilter("ignore")
    ratios = []
    with patch.object(SeededEntropy, "__init__", with_both_streams(SeededEntropy.__init__)):
        print(f"{'processor time of fit_counts, medians':40} {'rounds':>6} {'plain':>10} {'exact':>10}    ratio")
        for name, load in DATASETS.items():
            data = load()
            private = PrivateCounts.from_table(data.data, data.target, data.schema)
            for what, (model, parameters) in MODELS.items():
                if name == "Adult" and "max_literals" in parameters:  # it had not ended after a minute and a half
                    continue
                before, now, rounds, differ = compare(model, parameters, private, budget)
                ratios.append(now / before)
                times = f"{rounds:6} {before:7.2f} ms {now:7.2f} ms {ratios[-1]:8.3f}"
                print(f"{name + ': ' + what:40} {times}{f'   {differ} models differ' * (differ > 0)}", flush=True)
    print(f"{'geometric mean':69} {prod(ratios) ** (1 / len(ratios)):8.3f}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
