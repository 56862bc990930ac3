"""What a look at a public sample makes one doubt: columns that may not mean what they look like, and that no look can settle.

Each is a question to a person, never a correction. A name alone is not enough: ``weight`` may be that of a patient.
"""

import re

import numpy as np
import pandas as pd

from .columns.seen import PARTS, Profile
from .columns.values import as_numbers, canonical, distinct

ENOUGH_ROWS = 50_000  # of a large sample, for what is asked of all of its rows
FEW_VALUES = 8  # so many integers are noted as such (``columns.numeric``)
LAST_YEAR = 2100
IN_ORDER, ONE_BY_ONE = 0.02, 0.1  # surprises: a good predictor has few of them in order, too

DECIDES = (
    'decides the target almost alone: if it is known only once the target is, or is made from it, set type = "ignore"'
)
WEIGHTS = (
    "looks like survey weights, which say how many people a record stands for, and are never used as weights here: set "
    'type = "ignore"'
)
CODES = "integers that look like codes, which have no order: make it categorical, with groups such as the codes' first digits"
COUNTS = (
    "looks like a count or a score, not like classes: make a few classes of it, such as none, some and many, here and in the "
    "private table"
)

# Words in names. A weight that is one by name alone: the others may be pounds
_WEIGHTS = re.compile(r"(fnl|fin|final|per|person|hh|p|a|f|nr|design|survey|sampl(e|ing))(wgt|wt|weight)s?")
_MAY_WEIGH = re.compile(r"\w*(wgt|wt|weight)s?")
_OF_SURVEYS = set("survey sample sampling final person household design expansion population replicate".split())
_CODES = set(
    "zip postal postcode plz icd cpt drg naics sic soc isco fips dept department district county tract precinct branch diagnosis "
    "procedure occupation industry store agency".split()
)


def doubts_of(name: str, seen: Profile) -> list[str]:
    """What an amount by the look of its values may be instead."""
    if seen.kind != "numbers" or seen.n_distinct <= FEW_VALUES:
        return []
    words = [part.lower() for part in PARTS.findall(name)]
    return [WEIGHTS] if _weighs(words, seen) else [CODES] if _is_code(words, seen) else []


def _weighs(words: list[str], seen: Profile) -> bool:
    """Weights stand for people: they are made to be 1 on average, or are large and differ a lot. Those of bodies are neither."""
    numbers = seen.finite
    if not len(numbers) or numbers.min() <= 0 or not any(_MAY_WEIGH.fullmatch(word) for word in words):
        return False
    if any(_WEIGHTS.fullmatch(word) for word in words) or not _OF_SURVEYS.isdisjoint(words):
        return True
    low, middle, high = np.quantile(numbers, (0, 0.5, 1)).tolist()
    return (not seen.whole and abs(float(numbers.mean()) - 1) < 0.02) or (middle >= 1000 and high / 20 >= low)


def _is_code(words: list[str], seen: Profile) -> bool:
    """By name; or large integers of one length that come again and again, with gaps, and are neither round nor years."""
    if not seen.whole or seen.finite.min() < 0:
        return False
    if any(word in _CODES or word.endswith("code") for word in words):
        return True
    values = np.unique(seen.finite)
    low, high = values[[0, -1]].tolist()
    one_length = low >= 1000 and high > LAST_YEAR and len(str(int(low))) == len(str(int(high)))
    with_gaps = len(values) * 5 < high - low and len(values) * 5 <= len(seen.finite)
    return one_length and with_gaps and bool((values % 5 == 0).mean() < 0.5)


def looks_counted(seen: Profile) -> bool:
    """Whether a target's integers, from 0 up, are ever fewer beside the most frequent one, as counts and scores are."""
    if seen.kind != "numbers" or not seen.whole or seen.n_distinct <= FEW_VALUES // 2 or seen.finite.min() < 0:
        return False
    _, n = np.unique(seen.finite, return_counts=True)
    top = int(n.argmax())
    by_chance = 2 * np.sqrt(n + 1)
    falls = (n[1:] <= n[:-1] + by_chance[:-1])[top:].all() and (n[:-1] <= n[1:] + by_chance[1:])[:top].all()
    return bool(falls and n[-1] < n[top] / 10)


class Target:
    """The labels of a public sample, for the question which columns tell them alone."""

    def __init__(self, values: np.ndarray) -> None:
        codes, found = distinct(values)
        _, same = np.unique(np.array([canonical(v) for v in found], dtype=object), return_inverse=True)
        self._classes = np.where(codes < 0, -1, np.append(same, -1)[codes])

    def is_decided_by(self, values: np.ndarray, seen: Profile) -> bool:
        """Whether the classes hold few surprises for whoever knows the column.

        A record is a surprise if its value mostly has another class. So is, of strings and of a few numbers, every value, as its
        class has to be known; of many numbers, in order, every one at which the class changes. They are compared with the records
        that do not have the most frequent class: to know that one is no knowledge of the column.
        """
        if seen.kind not in ("numbers", "strings", "booleans"):
            return False
        step = 1 + len(values) // ENOUGH_ROWS
        classes, values = self._classes[::step], values[::step]
        classes, values = classes[classes >= 0], values[classes >= 0]
        texts = seen.kind == "strings"
        keys = pd.factorize(np.array([canonical(v) for v in values], dtype=object))[0] if texts else as_numbers(values)
        _, places = np.unique(keys, return_inverse=True)
        counts = np.zeros((places.max(initial=0) + 1, classes.max(initial=0) + 1), np.int64)
        np.add.at(counts, (places, classes), 1)
        best = counts.argmax(axis=1)
        in_order = not texts and seen.n_distinct > FEW_VALUES
        new = int((best[1:] != best[:-1]).sum()) if in_order else len(best)
        surprises = len(classes) - int(counts.max(axis=1).sum()) + new
        others = len(classes) - int(counts.sum(axis=0).max())
        return 0 < surprises <= (IN_ORDER if in_order else ONE_BY_ONE) * others
