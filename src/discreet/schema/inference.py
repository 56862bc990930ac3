"""Schemas by looking at values: drafted from a sample that its owner says is public, or inferred from the records themselves.

A schema that is inferred looks at the records, so what it says is as private as they are; it says so itself. Non-private learners
use it when they are given no schema. Where the sample is public, the schema counts as public, too; a person has to vouch for
that, and to correct what a look at a few rows cannot tell.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._utils.errors import SchemaError, no_value_shown
from .._utils.provenance import note_sample
from .._utils.tables import Table, as_table
from . import Label, Schema
from .columns import KINDS, Column, Ignored, listed
from .columns.base import Drafted, require, tidy_labels
from .columns.categorical import ALIKE, DECIMAL_COMMAS
from .columns.seen import Profile, Seen
from .doubts import COUNTS, DECIDES, Target, doubts_of, looks_counted
from .draft import MOST_CLASSES, Draft, check_target, cuts_each, labels_of_target, variables_of, with_labels

N_CUTS = 9  # deciles


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
    drafted, doubts = [], {}
    labels = None if target is None else Target(table.column(target))
    for name, profile in seen.items():
        found = (kind.drafted(name, profile, most) for kind in reversed(KINDS.values()))
        drafted.append(next(filter(None, found), Drafted(Ignored(name))))
        if name in described:
            drafted[-1] = with_labels(drafted[-1], described[name], labels_of.get(name, ""), profile)
        if drafted[-1].column.can_be_used:
            with no_value_shown(f"column {name!r} has values that cannot be read"), np.errstate(all="ignore"):
                decides = labels is not None and labels.is_decided_by(table.column(name), profile)
            doubts[name] = [*([DECIDES] if decides else []), *doubts_of(name, profile)]
    about: dict[str, Any] = {"target": target, "classes": classes}
    if target in described and classes is not None:
        about |= labels_of_target(described[target], classes)
    return Draft.of(drafted, notes, source, "a public sample", doubts, **about)


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
    if looks_counted(profile):
        notes.append(f"{target!r} (target): {COUNTS}")
    if kind == "booleans":
        return (False, True)
    if kind == "numbers" and not profile.from_strings:
        return tuple(int(x) for x in np.unique(profile.finite))
    return tuple(sorted(profile.strings))
