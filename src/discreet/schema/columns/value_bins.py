"""The bins of a column as plain facts, for whoever reads values elsewhere: in an engine, in SQL, in a CSV file.

What a value can be there is a number, a text or a truth value, so the bins come in three forms. A kind of column says in which
form it has them (``Column.value_bins``); nobody else asks of what kind it is. ``Column.encode`` must put every value into the
same bin.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .matching import Matching

LETTERS = {"number": "f", "text": "U", "boolean": "b"}  # NumPy's, of types in SQL
TRUTH = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0}  # in lower case


@dataclass(frozen=True)
class NumberBins:
    """Numbers, in order: one is in bin ``first`` if the first of ``ends`` is true of it, in the next one if the second is, ...

    What is beyond ``limits`` is missing, and so is what is no number. A test must be true in neighbouring bins, or in all but
    neighbouring ones: that is what exports can say of numbers.
    """

    first: int
    ends: tuple[tuple[str, float], ...]  # "<=" or "<", and a number
    limits: tuple[float | None, float | None] = (None, None)

    @property
    def types(self) -> tuple[str, ...]:
        """What such a column may be in SQL. The first is what one would expect."""
        return ("number",)


@dataclass(frozen=True)
class TextBins:
    """Texts, as ``canonical`` has them: each listed one is in its bin, any other in ``unlisted``."""

    bin_of: Mapping[str, int]
    unlisted: int
    are_numbers: bool = False  # whether the schema lists nothing but integers

    @cached_property
    def matching(self) -> Matching:
        """Which of them a value of any type is."""
        return Matching(self.bin_of)

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The listed ones, in order."""
        return tuple(self.bin_of)

    @cached_property
    def places(self) -> np.ndarray:
        """The bin of each listed one. There may be thousands of them, and of rules about them."""
        return np.fromiter(self.bin_of.values(), np.intp, len(self.bin_of))

    @property
    def types(self) -> tuple[str, ...]:
        """What such a column may be in SQL. The first is what one would expect; no type that takes two categories for one."""
        types = ("number", "text", "boolean") if self.are_numbers else ("text", "number", "boolean")
        return tuple(kind for kind in types if self.matching.fits(LETTERS[kind]))


@dataclass(frozen=True)
class TruthBins:
    """Truth values, or texts that are words for them (``TRUTH``): false is in bin 0, true in bin 1, all else is missing."""

    @property
    def types(self) -> tuple[str, ...]:
        """What such a column may be in SQL. The first is what one would expect."""
        return ("boolean", "text", "number")


ValueBins = NumberBins | TextBins | TruthBins
