"""A schema that is found in the private records, with noise: for tables without a public sample or a data dictionary."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from .._utils.errors import SchemaError
from .._utils.parameters import check_integer, finite_number
from .._utils.provenance import was_sample
from .._utils.redaction import SEE_LEDGER, redacted
from .._utils.tables import Table, as_table
from ..accounting.budget_request import NoDeltaError, SchemaDeltaError
from ..accounting.costs import exact, pair
from ..accounting.entries import Booked
from ..accounting.ledger import Ledger
from ..accounting.statement import ASSUMES, SCHEMA, UNCHANGED, Guarantee, PrivacyStatement, neighbours_of
from ..private.mechanisms.schema_histograms import SchemaBudget
from ..private.queries.schema import SchemaQueries
from ..private.release import Plan, Terms, release
from ..schema import Label, Schema
from ..schema.columns import Categorical, Column, Ignored, Numeric
from ..schema.columns.base import Drafted
from ..schema.columns.numeric import even_cuts
from ..schema.columns.unknown import Unknown
from ..schema.draft import Draft, cuts_each
from ..schema.found import Look, classes_of, closer, column_of, look_at, looked_closer
from ..schema.releases import SchemaRelease
from ..schema.schema import check_private_schema
from ..sources.columns import ColumnCounts, EngineColumns, FileColumns, MemoryColumns
from ..sources.engine import is_engine_table
from ..sources.files import SUFFIXES, column_names
from ..sources.memory import as_labels

DELTA, LEAST_DELTA = 1e-9, Fraction(1, 10**100)
SOURCE = "found in the private records, with noise"
NOTHING_FOUND = (
    "nothing stands out from the noise: too many different texts, or too few records (dates must be written as 2020-12-31); "
    "give its bounds or categories to use it, or spend more epsilon"
)
IDENTIFIER = "an identifier, by its name and its range; give its bounds to use it"
NO_TYPE = "of a type that rules are not about, by the type alone"
NO_TEXTS = "texts, which need a delta to be found; give its categories to use it"
HEADER = """\
# Found in private records with differential privacy. What it cost stands under [released]: every model that is learned with
# this schema counts it. So it may be corrected by hand, as long as that does not go by the records.
"""
SEEDED_HEADER = "# Found in records with noise that can be repeated, for an experiment.\n"


@dataclass(frozen=True)
class PrivateSchema:
    """How a private classifier finds its own schema: ``schema=PrivateSchema(bounds={"age": (0, 120)})``; ``schema="private"`` is
    ``PrivateSchema()``.

    Parameters
    ----------
    share : float, default=0.2
        The part of the classifier's epsilon that the schema may cost.
    delta, classes, bounds, categories, columns
        As in ``private_schema``: all but ``delta`` is what is public already, and costs nothing.
    """

    share: float = 0.2
    delta: float = DELTA
    classes: Sequence[Label] | None = None
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    columns: Sequence[Column] = ()

    def known(self, names: Sequence[str]) -> dict[str, Column]:
        """The columns that need not be looked at."""
        found = {column.name: column for column in self.columns}
        for name, (low, high) in self.bounds.items():
            Numeric(name, low=low, high=high, n_cuts=1)  # or an error that names what is wrong with them
            found[name] = Numeric(name, cuts=even_cuts(low, high, cuts_each(None, len(names))), low=low, high=high)
        for name, listed in self.categories.items():
            found[name] = Categorical(name, categories=listed, outside="other")
        if unknown := found.keys() - set(names):
            raise SchemaError(f"column {min(unknown)!r} is described, but the table has no such column")
        return found

    def public(self, names: Sequence[str], target: str | None = None) -> Schema:
        """What is known; the other columns are ignored. What is wrong with it is said while it costs nothing."""
        known = self.known(names)
        schema = Schema(tuple(known.get(name, Ignored(name)) for name in names), target, self.classes)
        check_private_schema(schema)
        return schema

    @property
    def part(self) -> Fraction:
        """The share, exactly."""
        if not 0 < finite_number("share", self.share) < 1:
            raise ValueError(f"share must be between 0 and 1, not {self.share!r}")
        return exact("share", self.share)


@dataclass(frozen=True)
class FoundSchema(Draft):
    """A draft that was paid for. ``privacy`` says what it promises, ``booked`` where it stands in the ledger."""

    privacy: PrivacyStatement | None = None
    booked: Booked | None = None

    def to_toml(self) -> str:
        """The schema as TOML, with what it cost."""
        return self.schema.to_toml(HEADER if self.schema.released else SEEDED_HEADER, self.comments)


@redacted(SEE_LEDGER)
def private_schema(
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    target: str | None = None,
    delta: float = DELTA,
    classes: Sequence[Label] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    categories: Mapping[str, Sequence[str | int]] | None = None,
    columns: Sequence[Column] = (),
    records: int | None = None,
    ledger: Ledger | None = None,
    records_per_person: int = 1,
    random_state: Any = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
) -> FoundSchema:
    """Find a schema in private records, with noise: which columns are numbers, their cut points, categories and classes.

    It is paid for once, and used for any number of fits; the statement of each counts it. What is known in public anyway need not
    be paid for: say it. The proof is in ``private/mechanisms/schema_histograms.py``.

    Parameters
    ----------
    X : data frame, array, path of a file, or ibis table
        The records. A file is read a part at a time; of an ibis table (``open_table``) only counts come here.
    y : array, default=None
        The labels; or leave them out, and say which column of X is the ``target``.
    epsilon : float
        What the schema may cost.
    target : str, default=None
        The name of the column to be predicted.
    delta : float, default=1e-9
        The chance that a text which only one person has becomes public, in all columns together. 0: columns of texts are left
        out if their categories are not given, and the classes must be; the promise is then without a delta.
    classes : list, default=None
        The classes of the target, if they are public.
    bounds : dict, default=None
        Of columns of numbers, from where to where they can be: ``{"age": (0, 120)}``.
    categories : dict, default=None
        Of columns of texts, which there are: ``{"sex": ["F", "M"]}``. Others are taken as "other".
    columns : list of columns, default=()
        Columns that are described in full, such as ``Numeric("hours", cuts=[20, 40])`` or ``Ignored("name")``.
    records : int, default=None
        About how many records there are, if that is public: where nothing could be found, nothing is then spent.
    ledger, records_per_person, random_state
        As for the classifiers.
    delimiter, encoding, decimal
        How a CSV file is written.

    Returns
    -------
    FoundSchema
        ``schema``, ``notes``, ``privacy``; ``save(path)`` writes it as TOML. Classifiers take it as ``schema=``.

    Examples
    --------
    >>> from discreet import Ledger, private_schema
    >>> from discreet.datasets import load_adult
    >>> data, ledger = load_adult(), Ledger(epsilon=3, delta=1e-6)
    >>> found = private_schema(data.data[["age", "sex"]], data.target, epsilon=1, ledger=ledger)
    >>> found.schema.classes, found.schema["sex"].categories
    (('<=50K', '>50K'), ('Female', 'Male'))
    >>> print(found.privacy.proved, float(ledger.remaining[0]))
    epsilon = 1, delta = 1e-09 2.0
    """
    known = PrivateSchema(0.5, delta, classes, bounds or {}, categories or {}, columns)
    terms = Terms(epsilon, ledger, records_per_person, random_state)
    counts: ColumnCounts
    if is_engine_table(X) or isinstance(X, str | PathLike):
        if y is not None:
            raise ValueError("y must be None where X is a file or an ibis table: say which column is the target")
        path = None if is_engine_table(X) else Path(X)
        if path is not None and path.suffix.lower() not in SUFFIXES:  # a string may be a value
            raise SchemaError(
                f"X must be a table, or the path of a file whose name ends in one of {', '.join(SUFFIXES)}"
            )
        names = list(X.columns) if path is None else column_names(path, delimiter, encoding)
        if target is not None and target not in names:
            # what the columns are called is not shown: the first line of a file without a header is a record
            raise SchemaError(
                f"the table has no column {target!r}: is it spelled right, and is the first line a header?"
            )
        counts = EngineColumns(X, target) if path is None else FileColumns(path, target, delimiter, encoding, decimal)
    else:
        table = as_table(X)
        names, counts = table.names, memory_columns(X, table, y, target)
        if target is None and getattr(y, "name", None) in names:  # a column of X is no feature if it is the label
            target = y.name
    return find_schema(counts, [n for n in names if n != target], target, known, terms, was_sample(X), records)


def memory_columns(X: Any, table: Table, y: Any, target: str | None = None) -> MemoryColumns:
    """A table in memory that is to be looked at, with its labels."""
    if isinstance(X, list | tuple):
        raise SchemaError(
            "a list of rows has no columns if it is empty: give a data frame, an array, or lists by column"
        )
    if target is not None:
        as_labels(table.column(target, slice(0, 0)), 0)
        y = table.column(target)
    return MemoryColumns(table, None if y is None else as_labels(y, len(table))[0])


def find_schema(
    counts: ColumnCounts,
    names: Sequence[str],
    target: str | None,
    known: PrivateSchema,
    terms: Terms,
    drafted: bool,
    records: int | None = None,
) -> FoundSchema:
    """See ``private_schema``."""
    given = known.known(names)
    public = known.public(names, target)
    classes = public.classes
    if classes is None and not counts.has_target:
        raise ValueError("the labels are missing: give y, the name of the target, or classes=")
    delta = exact("delta", known.delta)
    if not delta and classes is None:
        raise ValueError("classes are texts, which need a delta to be found: give classes=, or a delta such as 1e-9")
    if 0 < delta < LEAST_DELTA:
        raise ValueError(f"delta must be 0, or at least 1e-100, not {known.delta!r}")
    looks = [Unknown(name) for name in names if name not in given and counts.is_readable(name)]
    budget = SchemaBudget(terms.price, delta, terms.records, len(looks), classes is None)
    if records is not None:
        check_integer("records", records, at_least=0)
        _check_enough(records, budget.stands_out(budget.first, sum(column.n_bins for column in looks)))
    because = terms.reasons_for_no_proof(None, drafted)
    proved = None if because else Guarantee.of(terms.price, float(delta))
    assumes = (*ASSUMES, UNCHANGED) if counts.is_read_anew else ASSUMES
    statement = PrivacyStatement(
        *(SCHEMA, None, proved, tuple(because), assumes, neighbours_of(terms.records)), costs=budget.costs
    )
    bought = SchemaRelease(f"schema-{secrets.token_hex(4)}", terms.price, delta, terms.records)
    plan = SchemaPlan(
        terms=terms,
        schema=public,
        statement=statement,
        counting=looks,
        delta=delta,
        kind="this schema",
        what=f"a schema, {bought.name}",
        releases_schema=bought,
        budget=budget,
        classes=classes,
    )
    with _said_what_to_do():
        released = release(plan, counts)
    drawn, found_classes = released.value
    drawn = [(look, column if counts.fits(column) else Ignored(look.name)) for look, column in drawn]
    why = {name: "" if name in given else NO_TYPE for name in names}
    for look, _ in drawn:
        no_texts = look.kind == "texts" and not delta
        why[look.name] = NO_TEXTS if no_texts else IDENTIFIER if look.is_identifier else NOTHING_FOUND
    found = given | {look.name: column for look, column in drawn}
    described = [Drafted(c := found.get(name, Ignored(name)), "" if c.can_be_used else why[name]) for name in names]
    described = [d._replace(needs_review=bool(d.why)) for d in described]
    if len(found_classes) < 2:
        raise SchemaError(
            "fewer than two classes of the target were found, and what the schema cost stays spent: say which there are "
            "(classes=, --classes), or give more epsilon"
        )
    if not any(d.column.can_be_used for d in described):
        raise SchemaError(
            "no column was found, and what the schema cost stays spent: say what is public (bounds=, categories=; --bounds, "
            "--categories), look at fewer columns, or give more epsilon"
        )
    drafted_schema = FoundSchema.of(described, [], SOURCE, "", target=target, classes=found_classes)
    schema = replace(
        drafted_schema.schema, source=SOURCE, inferred=bool(because), released=() if because else (bought,)
    )
    return replace(drafted_schema, schema=schema, privacy=released.privacy, booked=released.booked)


@dataclass(frozen=True, kw_only=True)
class SchemaPlan(Plan):
    """Looks at columns, and closer ones at some of them."""

    budget: SchemaBudget
    classes: Sequence[Label] | None

    def queries(self, counts: Any) -> SchemaQueries:
        """Of histograms and texts."""
        return SchemaQueries(counts, self.budget)

    def run(self, queries: SchemaQueries) -> tuple[list[tuple[Look, Column]], tuple[Label, ...]]:
        """Each column that was looked at, and the classes. What is asked next follows from noisy answers alone."""
        budget = self.budget
        stands_out = budget.stands_out(budget.first, sum(column.n_bins for column in self.counting))
        looks = [
            look_at(column.name, noisy, stands_out)
            for column, noisy in zip(self.counting, queries.first_look(), strict=True)
        ]
        bins = [cells for look in looks if (cells := closer(look)) is not None]
        texts = [look.name for look in looks if look.kind == "texts" and budget.delta]
        histograms, listed = queries.look_closer(bins, texts)
        each = budget.each_closer(len(bins) + len(texts))
        stands_out = budget.stands_out(each, sum(cells.n_bins for cells in bins))
        closely = {cells.name: (cells, noisy) for cells, noisy in zip(bins, histograms, strict=True)}
        looks = [
            looked_closer(look, *closely[look.name], stands_out) if look.name in closely else look for look in looks
        ]
        most = cuts_each(None, sum(look.kind == "numbers" for look in looks))
        by_name = dict(zip(texts, listed, strict=True))
        drawn = [(look, column_of(look, by_name.get(look.name, {}), most)) for look in looks]
        classes = classes_of(list(queries.classes())) if self.classes is None else tuple(self.classes)
        return drawn, classes


def check_whole(terms: Terms, how: PrivateSchema, delta: float) -> None:
    """Refuse a fit, which may need a delta of its own, and its schema together, if there is not enough for both."""
    if terms.ledger is not None:
        whole = terms.price, exact("delta", how.delta) + exact("delta", delta)
        with _said_what_to_do():
            terms.ledger.check(*whole, pair(*whole), terms.records)


@contextmanager
def _said_what_to_do() -> Iterator[None]:
    """Where a ledger has no delta."""
    try:
        yield
    except NoDeltaError:
        raise SchemaDeltaError(
            "to find categories and classes takes a delta, and the ledger was made without one: use a ledger with a delta "
            "(discreet ledger create NEW --epsilon 3 --delta 1e-6), or say what is public, categories= and classes= "
            "(--categories, --classes), and delta=0 (--delta 0)"
        ) from None


def _check_enough(records: int, least: int) -> None:
    if records < 2 * least:
        raise SchemaError(
            f"among about {records:,} records hardly anything would stand out from the noise: about {least:,} must look alike. "
            "Nothing was spent. Say what is public (bounds=, categories=; --bounds, --categories), look at fewer columns, or "
            "give more epsilon"
        )
