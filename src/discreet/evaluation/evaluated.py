"""What was measured of a model, as values: rates and counts with their intervals, for programs and for people."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._utils.writing import write_whole
from ..accounting.statement import PrivacyStatement
from ..private.noise.sums import LEVEL as LEVEL
from ..schema import Label

if TYPE_CHECKING:
    from ..accounting.ledger import Ledger

RATES_COVER = "the noise and the sampling of the records"
COUNTS_COVER = "the noise alone, not the choice of the records"
TOO_SMALL = "too small"
ALL_OTHERS = "all others"  # the condition of a part that has none


@dataclass(frozen=True)
class Count:
    """A noisy number of records; the exact one is from ``low`` to ``high``, in 95 % of all cases."""

    value: int
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.value:,} ({self.low:,} to {self.high:,})"


@dataclass(frozen=True)
class Rate:
    """A share, or a difference of two. Among records like these it is from ``low`` to ``high``, in 95 % of all cases.

    ``too_small``: the noise may be half of the records that it is about, so that it says next to nothing.
    """

    value: float
    low: float
    high: float
    too_small: bool = False

    def __str__(self) -> str:
        return TOO_SMALL if self.too_small else f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    @property
    def signed(self) -> str:
        """As a difference is written."""
        return TOO_SMALL if self.too_small else f"{self.value:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


@dataclass(frozen=True)
class Rates:
    """The rates of some records, or how they differ from those of others. Tuples have an entry for each class.

    ``predicted`` is the share of records that the model says the class of, ``recall`` that of the records of the class that it
    says it of, ``precision`` that of the records it says it of that are of the class; None if it never says it.
    """

    accuracy: Rate
    predicted: tuple[Rate, ...]
    recall: tuple[Rate, ...]
    precision: tuple[Rate | None, ...]

    @property
    def shown(self) -> list[Rate]:
        """What people are shown of groups. Of two classes, the share of the first follows from that of the second."""
        return [self.accuracy, *(self.predicted[1:] if len(self.predicted) == 2 else ()), *self.recall]

    def to_dict(self, classes: Sequence[Label]) -> dict[str, Any]:
        """For JSON."""
        by_class = [
            {"class": label, "predicted": asdict(said), "recall": asdict(found), "precision": right and asdict(right)}
            for label, said, found, right in zip(classes, self.predicted, self.recall, self.precision, strict=True)
        ]
        return {"accuracy": asdict(self.accuracy), "classes": by_class}


@dataclass(frozen=True)
class Group:
    """The records of a group, and how their rates differ from those of all other groups together (None if there are none).

    ``column_called`` and ``called`` are what people call column and group: by the labels of the schema.
    """

    column: str
    name: str
    records: Count
    rates: Rates
    difference: Rates | None
    column_called: str
    called: str

    def to_dict(self, classes: Sequence[Label]) -> dict[str, Any]:
        """For JSON."""
        return {
            "column": self.column,
            "group": self.name,
            **_if_other("column_label", self.column_called, self.column),
            **_if_other("group_label", self.called, self.name),
            "records": asdict(self.records),
            "rates": self.rates.to_dict(classes),
            "difference": self.difference and self.difference.to_dict(classes),
        }


@dataclass(frozen=True)
class Part:
    """The records that get one answer of the model: what it says how likely each class is, and the share of each among them.

    ``called`` is the condition in the labels of the schema.
    """

    number: int
    condition: str
    label: Label
    records: Count
    predicted: tuple[float, ...]
    observed: tuple[Rate, ...]
    called: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "part": self.number,
            "condition": self.condition,
            **_if_other("condition_in_labels", self.called, self.condition),
            "label": self.label,
            "records": asdict(self.records),
            "predicted": list(self.predicted),
            "observed": list(map(asdict, self.observed)),
        }


Table = tuple[tuple[tuple[int, ...], ...], ...]  # by group, row and true class


@dataclass(frozen=True)
class EvaluationCounts:
    """What was drawn: a table of noisy numbers of records for each column that divides them, or one for all of them (None).

    ``epsilon`` is that of the noise in each number, for a single record. A row is an answer of the model, or, unless
    ``by_answer``, all answers of a class. Groups that the schema does not foresee come last.
    """

    epsilon: float
    by_answer: bool
    tables: tuple[tuple[str | None, Table], ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        tables = [{"column": column, "records": table} for column, table in self.tables]
        return {"epsilon": self.epsilon, "by_answer": self.by_answer, "tables": tables}


@dataclass(frozen=True)
class NoisyEvaluation:
    """How good a model is on private records, from noisy counts (``noisy_evaluation``).

    Intervals of rates cover the noise and the sampling of the records: on other records like these the rate is in them, too.
    Intervals of counts cover the noise alone. Both hold with 95 %, each by itself.

    Parameters
    ----------
    classes : tuple
        The labels, in the order of all tuples below.
    records : Count
        How many records there are.
    confusion : tuple of tuples of Count
        By true class and predicted class.
    rates : Rates
        Accuracy, and predicted share, recall and precision of each class.
    balanced_accuracy : Rate
        The mean of the classes' recalls.
    groups : tuple of Group
        The same by group, with what is different from the other groups.
    parts : tuple of Part
        By answer of the model, predicted (``predict_proba``) and observed shares. Empty if that was not asked for.
    privacy : PrivacyStatement
        What it promises.
    called : tuple of str
        What people call the classes: by the labels of the schema.
    counts : EvaluationCounts
        The noisy numbers of records that all of this follows from.
    """

    classes: tuple[Label, ...]
    records: Count
    confusion: tuple[tuple[Count, ...], ...]
    rates: Rates
    balanced_accuracy: Rate
    groups: tuple[Group, ...]
    parts: tuple[Part, ...]
    privacy: PrivacyStatement
    called: tuple[str, ...]
    counts: EvaluationCounts

    @property
    def accuracy(self) -> Rate:
        """The share of records that are classified correctly."""
        return self.rates.accuracy

    @property
    def groups_by_column(self) -> list[list[Group]]:
        """The groups of each column, in order."""
        columns = dict.fromkeys(group.column for group in self.groups)
        return [[group for group in self.groups if group.column == column] for column in columns]

    @property
    def classes_shown(self) -> range:
        """The numbers of the classes whose shares people are shown: of two, the share of the first follows from the other."""
        return range(len(self.classes) == 2, len(self.classes))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from .page import short_html

        return short_html(self)

    def to_html(self, title: str = "A model, measured with privacy") -> str:
        """A page for people, in one file that loads nothing: tables, and a picture of predicted and observed shares."""
        from .page import page

        return page(self, title)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "accuracy": self.accuracy.value,
            "low": self.accuracy.low,
            "high": self.accuracy.high,
            "interval": {"level": LEVEL, "covers": RATES_COVER},
            "interval_of_counts": {"level": LEVEL, "covers": COUNTS_COVER},
            "records": asdict(self.records),
            "balanced_accuracy": asdict(self.balanced_accuracy),
            "classes": list(self.classes),
            **_if_other("class_labels", list(self.called), [str(c) for c in self.classes]),
            "confusion": [list(map(asdict, row)) for row in self.confusion],
            "rates": self.rates.to_dict(self.classes),
            "groups": [group.to_dict(self.classes) for group in self.groups],
            "reliability": [part.to_dict() for part in self.parts],
            "counts": self.counts.to_dict(),
            "proved": self.privacy.proved is not None,
            "because": list(self.privacy.because),
        }

    def save(self, path: str | PathLike[str], model: str | PathLike[str], ledger: "Ledger | None" = None) -> None:
        """Write it to a file for ``write_release``, bound to the file of the model that was measured (``model``).

        ``ledger``, where it was booked: what all releases came to then goes into the file, too.
        """
        from .evaluation_file import SavedEvaluation

        write_whole(path, SavedEvaluation.of(self, Path(model).read_bytes(), ledger).to_json() + "\n")

    def to_text(self, written: Callable[[Any], str] = str) -> str:
        """For a terminal. ``written`` makes one line of a name that somebody else chose."""
        return "\n".join(_lines(self, written))


def _if_other(entry: str, called: Any, name: Any) -> dict[str, Any]:
    """What people call something, where that is not its name."""
    return {} if called == name else {entry: called}


def rates_shown(classes: Sequence[str], written: Callable[[Any], str] = str) -> list[str]:
    """The names of ``Rates.shown``."""
    predicted = [f"predicted {written(classes[1])}"] if len(classes) == 2 else []
    return ["accuracy", *predicted, *(f"recall of {written(c)}" for c in classes)]


def _lines(found: NoisyEvaluation, written: Callable[[Any], str]) -> Iterator[str]:
    promise = found.privacy.proved or "not private: " + "; ".join(found.privacy.because)
    yield f"accuracy {found.accuracy}   balanced accuracy {found.balanced_accuracy}"
    yield f"About {found.records} records. {promise}"
    yield f"In brackets, at {100 * LEVEL:g} %: of rates, what covers {RATES_COVER}; of counts, {COUNTS_COVER}."
    names = [written(c) for c in found.called]
    rows = zip(names, found.confusion, found.rates.recall, strict=True)
    precision = ["never predicted" if p is None else p for p in found.rates.precision]
    yield from _aligned(
        ["true class", *(f"predicted {n}" for n in names), "recall"],
        *([f"  {name}", *counts, recall] for name, counts, recall in rows),
        ["  precision", *precision, ""],
    )
    for groups in found.groups_by_column:
        shown = rates_shown(found.called, written)
        table = [[f"  {written(g.called)}", g.records, *g.rates.shown] for g in groups]
        less = [(g.called, g.difference.shown) for g in groups if g.difference is not None]
        table += [["minus the others", "", *("" for _ in shown)]] if less else []
        table += [[f"  {written(called)}", "", *(rate.signed for rate in rates)] for called, rates in less]
        yield from _aligned([f"by {written(groups[0].column_called)}", "records", *shown], *table)
    if found.parts:
        table = [["part", "records", *(x for i in found.classes_shown for x in (f"predicted {names[i]}", "observed"))]]
        for part in found.parts:
            shares = [x for i in found.classes_shown for x in (f"{part.predicted[i]:.3f}", part.observed[i])]
            table.append([f"  {part.number}. {written(part.called)}", part.records, *shares])
        yield from _aligned(*table)
    rates = (found.accuracy, found.balanced_accuracy, *(group.rates.accuracy for group in found.groups))
    if any(rate.too_small for rate in rates):
        yield f"\n{TOO_SMALL}: the noise may be half of the records behind a number. More epsilon or larger groups help."


def _aligned(*table: Sequence[Any]) -> Iterator[str]:
    """An empty line, and a table in columns."""
    rows = [[str(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield ""
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
