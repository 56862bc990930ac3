"""What every model that can be drawn keeps to: columns in which it is monotone, and columns that it may not use together.

All of it is public: it follows from parameters, the schema and the candidates. No function here takes data.

**Monotone.** With the classes in the order of the schema, a model *rises* in a column if of two records that differ in this
column alone the one with the larger value never gets an earlier class (it *falls* if never a later one). A missing value is
compared with nothing. The models that can be drawn have more than that, so that a sum over all of them is still a product of
sums:

    wherever a test puts a smaller value on one side and a larger one on the other,
    no label of the first side stands after any label of the second.

*Proof that this is enough.* Let two records differ in a rising column alone. They go the same way through a tree (or past the
same rules of a list) until a test puts them on different sides; if none does, they get one label. All other columns being
equal, that test is about this column, and puts the smaller value on one side and the larger on the other.  []

**Forbidden.** Of columns that are forbidden together, no way to an answer tests all. The way to a leaf of a tree is the tests
above it; the way to an answer of a list is its rule and all rules before, so that no list has them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.escaping import closest
from ..schema import Label, Schema
from ..schema.columns import canonical
from .candidates import Candidates
from .rules import write

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]
MONOTONE = 'monotonic_cst must be a dict of columns and +1 (rises), -1 (falls) or 0, such as {"priors_count": +1}'
FORBID = 'forbid must be a list of columns that may not be used together, such as [("race", "sex")]'
MOST_FORBIDDEN = 62  # columns: each has a bit of its own


@dataclass(frozen=True, eq=False)
class Limits:
    """Facts about candidates, by their numbers.

    ``not_above``: where the candidate is true no label may stand after a label of where it is not; ``not_below``: none before it.
    ``columns`` has a bit for each column that is forbidden with others, and ``used`` the bits of those that were used on the way
    here. ``labels`` are the classes' numbers in the order of the schema; their places in it are their *ranks*, of which those
    from ``lowest`` to ``highest`` may be given.
    """

    not_above: Flags
    not_below: Flags
    columns: npt.NDArray[np.int64]
    forbidden: tuple[int, ...]
    labels: tuple[int, ...]
    lowest: int
    highest: int
    used: int = 0
    said: tuple[str, ...] = ()  # the same for people

    @classmethod
    def of(cls, monotonic_cst: Any, forbid: Any, candidates: Candidates, classes: Sequence[Label]) -> "Limits | None":
        """From an estimator's parameters and its classes; None if there is nothing to keep to.

        >>> from discreet.schema.columns import Boolean, Numeric
        >>> schema = Schema([Numeric("age", cuts=[25, 45]), Boolean("smokes")], classes=["well", "ill"])
        >>> limits = Limits.of({"age": +1}, [("age", "smokes")], Candidates.of_tests(schema), ["ill", "well"])
        >>> limits.not_above.tolist(), limits.columns.tolist(), limits.labels
        ([True, True, False], [1, 1, 2], (1, 0))
        >>> print(*limits.said, sep=chr(10))
        age rises: of two records that differ in it alone, the larger value never gets an earlier class of well, ill
        no answer depends on both age and smokes
        """
        signs, sets = check_monotonic_cst(monotonic_cst), check_forbid(forbid)
        if not signs and not sets:
            return None
        schema = candidates.schema
        for column in signs:
            _check_column("monotonic_cst", column, schema)
            if not schema[column].ordered:
                raise ValueError(
                    f"monotonic_cst names {column!r}, but a {schema[column].kind} column has no order; make it numeric in the "
                    "schema, or leave it out"
                )
        names = sorted({column for columns in sets for column in columns})
        for column in names:
            _check_column("forbid", column, schema)
        bits = {column: 1 << i for i, column in enumerate(names)}
        ranks = {canonical(label): rank for rank, label in enumerate(schema.classes or classes)}
        labels = sorted(range(len(classes)), key=lambda label: ranks[canonical(classes[label])])
        listed = ", ".join(write(classes[label]) for label in labels)
        said = []
        for column, sign in signs.items():
            goes, never = ("rises", "an earlier") if sign > 0 else ("falls", "a later")
            alone = f"{goes}: of two records that differ in it alone, the larger value never gets {never} class"
            said.append(f"{write(column, name=True)} {alone} of {listed}")
        for columns in sets:
            *others, last = (write(column, name=True) for column in columns)
            said.append(f"no answer depends on {'all of' if others[1:] else 'both'} {', '.join(others)} and {last}")
        of_literal = [bits.get(literal.column, 0) for literal in candidates.literals] + [0]  # a last one for -1
        of_rules = np.bitwise_or.reduce(np.array(of_literal, np.int64)[candidates.members], axis=1)
        forbidden = tuple(sum(bits[column] for column in columns) for columns in sets)
        compared = _compared(candidates, signs)
        return cls(*compared, of_rules, forbidden, tuple(labels), 0, len(labels) - 1, said=tuple(said))

    @property
    def are_about_labels(self) -> bool:
        """Whether labels are compared: without a monotone column they are not."""
        return bool(self.not_above.any() or self.not_below.any())

    def flipped(self, order: Numbers, flipped: Flags) -> "Limits":
        """For other candidates: which they were, and which of them are true where they were not."""
        above, below = self.not_above[order], self.not_below[order]
        both = np.where(flipped, below, above), np.where(flipped, above, below)
        return replace(self, not_above=both[0], not_below=both[1], columns=self.columns[order])

    def after(self, candidates: Iterable[int]) -> "Limits":
        """For what comes after some candidates were used."""
        chosen = self.columns[np.fromiter(candidates, np.intp)]
        return replace(self, used=int(np.bitwise_or.reduce(chosen, initial=self.used)))

    def after_rules(self, rules: Sequence[int], labels: Sequence[int]) -> "Limits":
        """For the rest of a list that begins with these rules and labels."""
        ranks = {label: rank for rank, label in enumerate(self.labels)}
        low, high = self.lowest, self.highest
        for rule, label in zip(rules, labels, strict=True):
            low = max(low, ranks[label]) if self.not_above[rule] else low
            high = min(high, ranks[label]) if self.not_below[rule] else high
        return replace(self.after(rules), lowest=low, highest=high)

    def allowed(self, used: npt.NDArray[np.int64]) -> Flags:
        """(rows, candidates): which may follow, where the columns of these bits were used. Where too many were, all may."""
        there = used[..., None] | self.used
        grown, allowed = there | self.columns, np.ones((*used.shape, len(self.columns)), bool)
        for columns in self.forbidden:
            allowed &= ((grown & columns) != columns) | ((there & columns) == columns)
        return allowed

    def after_sets(self, sets: npt.NDArray[np.integer]) -> Flags:
        """The same for each row of candidates that were used."""
        return self.allowed(np.bitwise_or.reduce(self.columns[sets], axis=-1, dtype=np.int64))


def check_monotonic_cst(given: Any) -> dict[str, int]:
    """Columns with +1 or -1. Those with 0 are left out: it means no constraint, as in scikit-learn.

    >>> check_monotonic_cst({"age": 0, "priors": -1})
    {'priors': -1}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{MONOTONE}, not {type(given).__name__}")
    for column, sign in given.items():
        if not isinstance(column, str) or isinstance(sign, bool) or sign not in (1, -1, 0):
            raise ValueError(f"{MONOTONE}, not {column!r}: {sign!r}")
    return {column: int(sign) for column, sign in given.items() if sign}


def check_forbid(given: Any) -> tuple[tuple[str, ...], ...]:
    """Sets of two or more columns."""
    if given is None:
        return ()
    sets = (
        [tuple(dict.fromkeys(columns)) if _is_list(columns) else () for columns in given] if _is_list(given) else [()]
    )
    if not all(len(names) > 1 and all(isinstance(name, str) for name in names) for names in sets):
        raise ValueError(f"{FORBID}, not {given!r}; a single column that may not be used at all is for exclude")
    if len({name for names in sets for name in names}) > MOST_FORBIDDEN:
        raise ValueError(f"{FORBID}; more than {MOST_FORBIDDEN} columns are named")
    return tuple(sets)


def _is_list(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | Mapping)


def _check_column(parameter: str, column: str, schema: Schema) -> None:
    if column not in schema.names:
        meant = f"; did you mean {close!r}?" if (close := closest(column, schema.names)) else ""
        raise ValueError(f"{parameter} names {column!r}, but there is no such column in the schema{meant}")
    if not schema[column].can_be_used:  # kept to by every model, so whoever asks for it expects something else
        raise ValueError(
            f"{parameter} names {column!r}, but that column is ignored, or excluded: no model can use it. Leave it out of "
            f"{parameter}, or let models use it (exclude=, or the schema)"
        )


def _compared(candidates: Candidates, signs: Mapping[str, int]) -> tuple[Flags, Flags]:
    """Of each candidate, whether it puts smaller values of a rising column (or larger ones of a falling one) where it is true,
    and whether it puts them where it is not. All other columns being equal, a conjunction is its part about one column, or false.
    """
    above, below = np.zeros(len(candidates), bool), np.zeros(len(candidates), bool)
    for number, members in enumerate(candidates.members.tolist() if signs else ()):
        true: dict[str, Flags] = {}
        for i in members:
            if i >= 0 and (column := candidates.literals[i].column) in signs:
                true[column] = true.get(column, np.array(True)) & candidates.truths[i]
        for column, inside in true.items():
            values = candidates.schema[column].domain[:-1]  # the last bin is that of missing values
            here, there = np.flatnonzero(inside[:-1] & values), np.flatnonzero(~inside[:-1] & values)
            if len(here) and len(there):
                smaller, larger = here[0] < there[-1], there[0] < here[-1]
                above[number] |= smaller if signs[column] > 0 else larger
                below[number] |= larger if signs[column] > 0 else smaller
    return above, below
