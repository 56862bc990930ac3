"""What a draft is: a schema, and what a person should know when correcting it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from ..._utils.errors import SchemaError
from ..._utils.escaping import closest, first_few
from ..._utils.writing import write_whole
from .. import Label, Schema
from ..columns import Column
from ..columns.numeric import MOST_CUTS
from ..schema import as_comment

N_CUTS = 20  # of a column, where there are few
ALL_CUTS = 240  # of all columns together, so that a draw stays quick (docs/schema.md has seconds)
FEWEST_CUTS = 5
MOST_CLASSES = 20

HEADER = """\
# A draft, made from {source}. Read it, correct it, then use it.
#
# Everything in this file counts as public, and nothing protects it. So it must not have been made from the private
# table, nor from a part of it: a sample of the private records is private. If it was, write this file from a data
# dictionary instead; or put `inferred = true` on its first line, and no model will claim to be private.
"""


class Drafted(NamedTuple):
    """One column as drafted: its facts, why (for a comment), and whether a person should look at it."""

    column: Column
    why: str = ""
    needs_review: bool = False
    description: str = ""  # of a data dictionary

    @property
    def comment(self) -> str:
        """What stands above the column."""
        return "; ".join(filter(None, (self.description, self.why)))


@dataclass(frozen=True)
class Draft:
    """A schema to be read and corrected by a person.

    ``notes`` has a line for each thing to look at and the columns it is about, with names and types only;
    ``comments``, by column, is what stands above it in the TOML file.
    """

    schema: Schema
    notes: tuple[str, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    source: str = "a public sample"

    def to_toml(self) -> str:
        """The schema as TOML. It says what it was made from, and why columns are what they are."""
        return self.schema.to_toml(HEADER.format(source=as_comment(self.source)), self.comments)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the TOML to a file."""
        write_whole(path, self.to_toml())


def put_together(
    drafted: list[Drafted],
    target: str | None,
    classes: tuple[Label, ...] | None,
    notes: list[str],
    source: str,
    kind_of_source: str,
    target_label: str = "",
    class_labels: Mapping[str, str] | None = None,
) -> Draft:
    """The draft of these columns. A schema goes into every model, so it says of what kind its source is, and not its name."""
    if not drafted:
        raise SchemaError("there is no column but the target; a rule list needs others to tell the classes apart")
    columns = tuple(d.column for d in drafted)
    schema = Schema(
        columns,
        target,
        classes,
        source=f"drafted from {kind_of_source}",
        target_label=target_label,
        class_labels={} if class_labels is None else class_labels,
    )
    alike: dict[tuple[str, str], list[str]] = {}  # what is said of several columns is said once
    for d in drafted:
        if d.needs_review:
            alike.setdefault((d.column.kind, d.why), []).append(d.column.name)
    notes = notes + [f"{first_few(names)} ({kind}): {why}" for (kind, why), names in alike.items()]
    if not any(d.column.can_be_used for d in drafted):
        notes.append("every column is ignored, so there is nothing to learn from: give some of them cuts or categories")
    return Draft(schema, tuple(notes), {d.column.name: d.comment for d in drafted if d.comment}, source)


def check_target(target: str | None, names: list[str], what: str) -> None:
    """Raise, with a name that was perhaps meant, if the target is not a column."""
    if target is None or target in names:
        return
    if not isinstance(target, str):
        raise SchemaError("target must be the name of a column")
    meant = closest(target, names)
    ask = f"it has {first_few(names)}" if meant is None else f"did you mean {meant!r}?"
    raise SchemaError(f"target {target!r} is not a column of {what}; {ask}")


def cuts_each(n_cuts: int | None, n_columns: int) -> int:
    """How many cuts a numeric column may have: as the caller says, or fewer the more such columns there are."""
    if n_cuts is None:
        return max(FEWEST_CUTS, min(N_CUTS, ALL_CUTS // max(1, n_columns)))
    if isinstance(n_cuts, bool) or not isinstance(n_cuts, int) or not 1 <= n_cuts <= MOST_CUTS:
        raise SchemaError(f"n_cuts must be None or an integer from 1 to {MOST_CUTS}")
    return n_cuts
