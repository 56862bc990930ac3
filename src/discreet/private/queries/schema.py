"""What a private schema is made of: noisy histograms of columns, and texts with noisy counts. Each is charged, then answered."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...schema.columns import Column
from ..mechanisms.schema_histograms import CLASSES, SchemaBudget
from ..noise.entropy import Integers
from .base import Queries


class SchemaQueries(Queries):
    """``counts`` has ``first``, exact histograms of some columns, and can count by other bins, and texts (sources/columns.py)."""

    _noise: SchemaBudget

    def __init__(self, counts: Any, noise: SchemaBudget) -> None:
        self._counts, self._noise, self._looks = counts, noise, 0

    def first_look(self) -> list[Integers]:
        """A noisy histogram of each column."""
        self._once(0)
        self._charge(Fraction(0), "normal noise", self._noise.delta - self._noise.delta_for_texts)
        return [self._histogram(exact, self._noise.first) for exact in self._counts.first]

    def look_closer(
        self, columns: Sequence[Column], texts: Sequence[str]
    ) -> tuple[list[Integers], list[dict[str, int]]]:
        """Noisy histograms of columns by their bins, and the texts of others that reach the threshold.

        All that is left is shared by them, so this can be asked once.
        """
        self._once(1)
        noise = self._noise
        share, delta = noise.each_closer(len(columns) + len(texts)), noise.part_of_delta(len(texts))
        exact = self._counts.by_bins(columns) if columns else []
        return [self._histogram(counts, share) for counts in exact], [self._texts(n, share, delta) for n in texts]

    def classes(self) -> dict[str, int]:
        """The labels that reach the threshold."""
        if not self._noise.with_classes:
            raise RuntimeError("the classes are public: this is a bug in the learner")
        return self._texts(None, CLASSES, self._noise.part_of_delta(1))

    def _texts(self, name: str | None, share: Fraction, delta: Fraction) -> dict[str, int]:
        self._charge(self._noise.charge(share), "counts of texts", delta)
        least, threshold = self._noise.thresholds(share, delta)
        exact = sorted(self._counts.texts(name, least).items())  # the order of records is nobody's business
        noisy = self._noise.noisy(np.array([count for _, count in exact], np.int64), share, self._entropy)
        return {text: int(n) for (text, _), n in zip(exact, noisy, strict=True) if n >= threshold}

    def _histogram(self, exact: Integers, share: Fraction) -> Integers:
        self._charge(self._noise.charge(share), "histogram of a column")
        return self._noise.noisy(exact, share, self._entropy)

    def _once(self, looks: int) -> None:
        if self._looks != looks:
            raise RuntimeError("the histograms of a schema can be asked for once: this is a bug in the learner")
        self._looks += 1
