"""The best short list that keeps to public limits: complete summation with a maximum in place of each sum. Not private."""

from typing import Any

import numpy as np

from ...rules.prior import Prior
from ..counts.cells import Array
from .limited_lists import LimitedListSums
from .list_sums import Numbers
from .trees.best import RangedBest


class BestLimitedList(LimitedListSums):
    """The list that classifies most records correctly, of those that keep to limits."""

    PRICE = 2.0**-4  # of a rule: all of them together cost less than a record

    def _worth_by(self, rate: float, weights: Array, n_classes: int, order: Numbers | None = None) -> Any:
        return RangedBest(rate, np.ones(len(weights)), 0.5, True, 0.0).by(self._limits_of(order))

    def _lengths_by(self, prior: Prior, weights: Array) -> Array:
        return -self.PRICE * np.arange(float(len(super()._lengths_by(prior, weights))))

    def found(self) -> tuple[list[int], list[int], float]:
        """Rules, labels, and how many records no list classifies correctly more of."""
        rules, labels = self.draw_by(lambda logs: int(np.argmax(logs)))
        return rules, labels, max(float(logs.max()) for logs in self._logs) + self.PRICE * len(rules)
