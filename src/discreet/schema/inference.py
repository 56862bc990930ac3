"""Schemas by looking at values: drafted from a sample that its owner says is public, or inferred from the records themselves.

A schema that is inferred looks at the records, so what it says is as private as they are; it says so itself. Non-private learners
use it when they are given no schema. Where the sample is public, the schema counts as public, too; a person has to vouch for
that, and to correct what a look at a few rows cannot tell: columns that may not mean what they look like (doubts). Each doubt is
a question, never a correction. A name alone is not enough: ``weight`` may be that of a patient.
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import SchemaError, no_value_shown
from .._utils.provenance import note_sample
from .._utils.tables import Table, as_table
from . import Label, Schema
from .columns import KINDS, Column, Ignored, listed
from .columns.base import Drafted, require, tidy_labels
from .columns.categorical import ALIKE, DECIMAL_COMMAS
from .columns.seen import PARTS, Profile, Seen
from .columns.values import as_numbers, canonical, distinct
from .draft import MOST_CLASSES, Draft, check_target, cuts_each, labels_of_target, variables_of, with_labels

N_CUTS = 9  # deciles
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


def infer_schema(table: Table, n_cuts: int = N_CUTS, exclude: Iterable[str] = ()) -> Schema:
    """Columns as they look: numbers cut at quantiles, texts as categories, dates and free text ignored.

    >>> import pandas as pd
    >>> from discreet._utils.tables import as_table
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", "b", "a", None], "smokes": [0, 1, 1, 0]})
    >>> for column in infer_schema(as_table(frame), n_cuts=1).columns:
    ...     print(column.name, column.tests())
    age [('<=', 30.0)]
    job [('=', 'a'), ('=', 'b'), ('is missing', None)]
    smokes [('is true', None)]
    """
    exclude = listed("exclude", exclude)
    Schema(tuple(map(Ignored, table.names))).exclude(exclude)  # complains about names that are not there
    columns = tuple(Ignored(n) if n in exclude else _column(n, table.column(n), n_cuts) for n in table.names)
    return Schema(columns, inferred=True)


def _column(name: str, values: np.ndarray, n_cuts: int) -> Column:
    with no_value_shown(f"column {name!r} has values that cannot be read"):
        seen = Seen(values)
        found = (kind.inferred(name, seen, n_cuts) for kind in reversed(KINDS.values()))
        return next(filter(None, found), Ignored(name))


def draft_schema(
    sample: Any,
    target: str | None = None,
    n_cuts: int | None = None,
    source: str = "a public sample",
    dictionary: Any = None,
) -> Draft:
    """Draft a schema from a **public** sample, for a person to read and correct. Never give it private records.

    A private fit of the sample itself, or of a view of it, is noticed: nothing is then proved about it.

    Identifiers, free text and columns with one value are ignored. Numbers are cut at round points, evenly or, where they
    spread over orders of magnitude, by orders of magnitude; dates at the first days of years, quarters or months. Strings
    become categories, rare ones are left to "other". Why a column is what it is stands above it in the TOML file.

    Parameters
    ----------
    sample : data frame, or mapping of columns
        Public rows with the columns of the private table: made up, published, or long since released.
    target : str, default=None
        The column to be predicted. Its classes are those of the sample.
    n_cuts : int, default=None
        The most cuts of a numeric column. By default 20, and fewer if there are more than twelve such columns.
    source : str, default="a public sample"
        What the sample is, such as its file's name. It is written into the TOML file, for those who review it.
    dictionary : data frame, or mapping of columns, default=None
        A public data dictionary of the same columns, as in ``draft_from_dictionary``: its labels, and the values that it lists
        for a column if there are no others in the sample, become those of the schema.

    Returns
    -------
    Draft
        ``schema``, ``notes`` (a line for each thing that a person should look at) and ``to_toml()``.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import draft_schema
    >>> sample = pd.DataFrame({
    ...     "patient_id": range(1000, 1040), "age": [18, 23, 35, 41, 52, 58, 63, 69, 74, 77] * 4, "smoker": ["yes", "no"] * 20,
    ...     "ward": ["A", "B", "A", None] * 10, "ill": ["no", "yes", "yes", "no"] * 10})
    >>> draft = draft_schema(sample, target="ill", source="made_up.csv")
    >>> print(draft.schema.to_toml(header="", comments=draft.comments))
    source = "drafted from a public sample"
    <BLANKLINE>
    [target]
    name = "ill"
    classes = ["no", "yes"]
    <BLANKLINE>
    # an identifier: nearly every row has its own
    [columns.patient_id]
    type = "ignore"
    <BLANKLINE>
    [columns.age]
    type = "numeric"
    cuts = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75]
    low = 15
    high = 80
    <BLANKLINE>
    [columns.smoker]
    type = "boolean"
    <BLANKLINE>
    [columns.ward]
    type = "categorical"
    missing = true
    categories = ["A", "B"]
    <BLANKLINE>
    """
    table = as_table(sample)
    note_sample(sample)
    if not len(table) or not table.names:
        raise SchemaError("the sample has no rows; give a few hundred that are public")
    check_target(target, table.names, "the sample")
    cuts_each(n_cuts, 0)  # complains about n_cuts
    seen = {}
    for name in table.names:
        values = table.column(name)
        with no_value_shown(f"column {name!r} has values that cannot be read"), np.errstate(all="ignore"):
            seen[name] = Profile(name, values)
    notes: list[str] = []
    classes = None if target is None else _classes(target, seen.pop(target), notes)
    most = cuts_each(n_cuts, sum(profile.is_measured for profile in seen.values()))
    described = {} if dictionary is None else variables_of(dictionary)
    labels_of = tidy_labels({name: described[name].label for name in seen if name in described})
    drafted = []
    numbers = None if target is None else _class_numbers(table.column(target))
    for name, profile in seen.items():
        found = (kind.drafted(name, profile, most) for kind in reversed(KINDS.values()))
        drafted.append(next(filter(None, found), Drafted(Ignored(name))))
        if name in described:
            drafted[-1] = with_labels(drafted[-1], described[name], labels_of.get(name, ""), profile)
        if drafted[-1].column.can_be_used:
            with no_value_shown(f"column {name!r} has values that cannot be read"), np.errstate(all="ignore"):
                drafted[-1] = drafted[-1]._replace(doubts=_doubts(name, profile, numbers))
    about: dict[str, Any] = {"target": target, "classes": classes}
    if target in described and classes is not None:
        about |= labels_of_target(described[target], classes)
    return Draft.of(drafted, notes, source, "a public sample", **about)


def _classes(target: str, profile: Profile, notes: list[str]) -> tuple[Label, ...]:
    """The target's classes, or an error that says what to do."""
    kind, many = profile.kind, profile.n_distinct > MOST_CLASSES
    is_amount = kind == "numbers" and (many or not profile.whole)
    for holds, problem in (
        (kind in ("dates", "durations"), f"holds {kind}; make classes of it first, such as early and late"),
        (kind == "commas", f"has {DECIMAL_COMMAS}"),
        (kind in ("objects", "mixed"), "must hold strings or integers; make classes of it first"),
        (profile.n_distinct < 2, "has fewer than two classes in the sample; give a sample in which each class occurs"),
        (is_amount, "is a number; make classes of it first, such as low and high, here and in the private table"),
        (many, f"has more than {MOST_CLASSES} different strings; group them, or name another column"),
    ):
        require(not holds, f"target {target!r} {problem}")
    if profile.missing:
        notes.append(f"{target!r} (target): has missing values; records without a class are left out of a fit")
    if kind == "strings" and profile.differs_by_case:
        notes.append(f"{target!r} (target): classes {ALIKE}")
    if _looks_counted(profile):
        notes.append(f"{target!r} (target): {COUNTS}")
    if kind == "booleans":
        return (False, True)
    if kind == "numbers" and not profile.from_strings:
        return tuple(int(x) for x in np.unique(profile.finite))
    return tuple(sorted(profile.strings))


def _doubts(name: str, seen: Profile, classes: np.ndarray | None) -> list[str]:
    """Whether a column decides the target, and what an amount by the look of its values may be instead."""
    found = [DECIDES] if classes is not None and _decides(seen, classes) else []
    if seen.kind != "numbers" or seen.n_distinct <= FEW_VALUES:
        return found
    words = [part.lower() for part in PARTS.findall(name)]
    return found + ([WEIGHTS] if _weighs(words, seen) else [CODES] if _is_code(words, seen) else [])


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


def _looks_counted(seen: Profile) -> bool:
    """Whether a target's integers, from 0 up, are ever fewer beside the most frequent one, as counts and scores are."""
    if seen.kind != "numbers" or not seen.whole or seen.n_distinct <= FEW_VALUES // 2 or seen.finite.min() < 0:
        return False
    _, n = np.unique(seen.finite, return_counts=True)
    top = int(n.argmax())
    by_chance = 2 * np.sqrt(n + 1)
    falls = (n[1:] <= n[:-1] + by_chance[:-1])[top:].all() and (n[:-1] <= n[1:] + by_chance[1:])[:top].all()
    return bool(falls and n[-1] < n[top] / 10)


def _class_numbers(labels: np.ndarray) -> np.ndarray:
    """The labels of a public sample as numbers, -1 where one is missing."""
    codes, found = distinct(labels)
    _, same = np.unique(np.array([canonical(v) for v in found], dtype=object), return_inverse=True)
    return np.where(codes < 0, -1, np.append(same, -1)[codes])


def _decides(seen: Profile, classes: np.ndarray) -> bool:
    """Whether the classes hold few surprises for whoever knows the column.

    A record is a surprise if its value mostly has another class. So is, of strings and of a few numbers, every value, as its
    class has to be known; of many numbers, in order, every one at which the class changes. They are compared with the records
    that do not have the most frequent class: to know that one is no knowledge of the column.
    """
    if seen.kind not in ("numbers", "strings", "booleans"):
        return False
    step = 1 + len(classes) // ENOUGH_ROWS
    classes, values = classes[::step], seen.given[::step]
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
