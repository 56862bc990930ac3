"""A schema drafted from a sample that its owner says is public.

``inference.infer_schema`` reads private records and says so in the schema. Here the sample is public, so the schema counts as
public, too; a person has to vouch for that, and to correct what a look at a few rows cannot tell.
"""

from typing import Any

import numpy as np

from .._utils.errors import SchemaError, no_value_shown
from .._utils.provenance import note_sample
from .._utils.tables import as_table
from . import Label
from .columns import Boolean, Categorical, Numeric
from .draft import MOST_CLASSES, Draft, Drafted, around, check_target, cuts_each, even_cuts, log_cuts
from .inference import ColumnProfile, profile_of

MOST_CATEGORIES = 30
RARE = 0.005  # of the sample: what is rarer is left to `other`

DECIMAL_COMMAS = (
    'numbers with commas or points that are not decimal separators: if they are, say --decimal , (in pandas decimal=",") and '
    "draft again; if they separate thousands, remove them from the table first"
)
USELESS = {
    "dates": "dates or times",
    "durations": "durations; make numbers of them, of days for instance, to use them in rules",
    "nothing": "only missing values in the sample",
    "objects": "neither numbers nor strings",
    "commas": DECIMAL_COMMAS,
    "mixed": "numbers and strings; if the strings stand for missing values, make them missing and draft again",
}
ALIKE = "that differ by case or spaces only; if they mean the same, spell them alike, here and in the private table"
IDENTIFIER = "an identifier: nearly every row has its own"
FEW_NUMBERS = 8  # different numbers, each of which comes again and again
CODES = "few different integers: if they are codes, not amounts, make it categorical"


def draft_schema(
    sample: Any, target: str | None = None, n_cuts: int | None = None, source: str = "a public sample"
) -> Draft:
    """Draft a schema from a **public** sample, for a person to read and correct. Never give it private records.

    A private fit of the sample itself, or of a view of it, is noticed: nothing is then proved about it.

    Identifiers, dates, free text and columns with one value are ignored. Numbers are cut at round points, evenly or, where they
    spread over orders of magnitude, by orders of magnitude. Strings become categories, rare ones are left to "other". Why a
    column is what it is stands above it in the TOML file.

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
    ...     "ward": ["A", "B", "A", None] * 10, "ill": ["no", "yes"] * 20})
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
    profiles = {}
    for name in table.names:
        values = table.column(name)
        with no_value_shown(f"column {name!r} has values that cannot be read"), np.errstate(all="ignore"):
            profiles[name] = profile_of(name, values)
    notes: list[str] = []
    classes = None if target is None else _classes(target, profiles.pop(target), notes)
    numeric = [name for name, profile in profiles.items() if _is_measured(profile)]
    most = cuts_each(n_cuts, len(numeric))
    drafted = [
        draft_numbers(name, profile, most) if name in numeric else _not_measured(name, profile)
        for name, profile in profiles.items()
    ]
    return Draft.of(drafted, target, classes, notes, source, "a public sample")


def _is_measured(profile: ColumnProfile) -> bool:
    """Whether a column holds numbers that can be cut."""
    return profile.kind == "numbers" and profile.n_distinct > 1 and not profile.is_boolean and not profile.identifies


def _not_measured(name: str, profile: ColumnProfile) -> Drafted:
    if profile.kind in USELESS:
        return Drafted.ignored(name, USELESS[profile.kind], profile.kind != "dates")
    if profile.n_distinct < 2:
        return Drafted.ignored(name, "one value only in the sample")
    if profile.is_boolean:
        return Drafted(Boolean(name, profile.missing))
    if not profile.identifies:
        return _categories(name, profile)
    if profile.is_free_text:
        return Drafted.ignored(name, "free text", False)
    if profile.kind == "strings" or profile.has_identifying_name:
        return Drafted.ignored(name, IDENTIFIER, False)
    return Drafted.ignored(name, f"{IDENTIFIER}? If it is an amount, give it cuts")


def _categories(name: str, profile: ColumnProfile) -> Drafted:
    """The categories that are not rare; what is left over is "other"."""
    order = np.argsort(-profile.counts, kind="stable")
    common = [i for i in order[:MOST_CATEGORIES].tolist() if profile.counts[i] >= RARE * profile.n_known]
    if 2 * profile.counts[common].sum() < profile.n_known:
        return Drafted.ignored(name, "too many categories; group them, and name the groups here")
    complete = len(common) == profile.n_distinct
    categories = tuple(sorted(profile.strings[i] for i in common))
    column = Categorical(name, profile.missing, categories=categories, outside=None if complete else "other")
    why = "" if complete else 'categories that are rare in the sample are left to "other"; does one of them matter?'
    if profile.has_missing_word:
        why = "a category looks like a missing value; make such values missing first"
    elif profile.differs_by_case:
        why = f"categories {ALIKE}"
    return Drafted(column, why, needs_review=bool(why))


def _classes(target: str, profile: ColumnProfile, notes: list[str]) -> tuple[Label, ...]:
    """The target's classes, or an error that says what to do."""
    problem, kind, many = "", profile.kind, profile.n_distinct > MOST_CLASSES
    if kind in ("dates", "durations"):
        problem = f"holds {kind}; make classes of it first, such as early and late"
    elif kind == "commas":
        problem = f"has {DECIMAL_COMMAS}"
    elif kind in ("objects", "mixed"):
        problem = "must hold strings or integers; make classes of it first"
    elif profile.n_distinct < 2:
        problem = "has fewer than two classes in the sample; give a sample in which each class occurs"
    elif kind == "numbers" and (many or not profile.whole):
        problem = "is a number; make classes of it first, such as low and high, here and in the private table"
    elif many:
        problem = f"has more than {MOST_CLASSES} different strings; group them, or name another column"
    if problem:
        raise SchemaError(f"target {target!r} {problem}")
    if profile.missing:
        notes.append(f"{target!r} (target): has missing values; records without a class are left out of a fit")
    if profile.kind == "strings" and profile.differs_by_case:
        notes.append(f"{target!r} (target): classes {ALIKE}")
    if profile.kind == "booleans":
        return (False, True)
    if profile.kind == "numbers" and not profile.from_strings:
        return tuple(int(x) for x in np.unique(profile.numbers))
    return tuple(sorted(profile.strings))


def draft_numbers(name: str, profile: ColumnProfile, most: int) -> Drafted:
    """Cuts between all values if they are few, else round ones."""
    finite = profile.finite
    if not len(finite):
        return Drafted.ignored(name, "no finite numbers in the sample")
    low, high = float(finite.min()), float(finite.max())
    whole = bool((np.floor(finite) == finite).all())
    values = np.unique(finite).tolist()
    why = ""
    if low == high:  # the others are infinite
        bounds: tuple[float | None, float | None] = (None, None)
        cuts = [low]
    elif len(values) <= min(FEW_NUMBERS, most + 1) and len(finite) >= 5 * len(values):
        cuts, bounds = values[:-1], (low, high)
        why = CODES if whole and len(values) > 2 else ""
    elif whole and high - low <= most:
        cuts, bounds = [low + i for i in range(int(high - low))], (low, high)  # also between values that it lacks
    else:
        cuts, why = _round_cuts(profile, low, high, most, whole)
        bounds = around(low, high, most)
        if whole and None not in bounds:
            bounds = (float(np.floor(bounds[0])), float(np.ceil(bounds[1])))  # type: ignore[arg-type]
    column = Numeric(name, profile.missing, cuts=tuple(cuts), low=bounds[0], high=bounds[1])
    return Drafted(column, why, why == CODES)


def _round_cuts(profile: ColumnProfile, low: float, high: float, most: int, whole: bool) -> tuple[list[float], str]:
    """Round cuts in the middle 98 % of the values; what lies beyond is told apart by the last ones."""
    if profile.spread is not None:
        zero = [0.0] if low == 0 and most > 1 else []
        cuts = zero + log_cuts(*profile.spread, most - len(zero))
        why = "spread over orders of magnitude, and so are the cuts"
    else:
        first, last = np.quantile(profile.finite, (0.01, 0.99), method="inverted_cdf").tolist()
        if first == last:
            first, last = low, high
        cuts = even_cuts(first, last, most, whole)
        why = ""
    if whole:
        cuts = sorted({float(np.floor(c)) for c in cuts})
    inside = [c for c in cuts if low <= c < high]
    return inside or [low], why  # x <= low is true of some, not of all
