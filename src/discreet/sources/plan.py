"""How the records of a table in an engine are counted: once, by whole patterns; or for each rule of the list, by parts of them.

A *pattern* is the bins of all columns together. A schema of many columns allows so many of them that there may be as many as
records, and then counting patterns is no summary. But a greedy learner asks less: how many records of each class each candidate
captures, among those that no rule chosen so far captures. A candidate is about one or two columns, so counts by the bins of
*sets of columns* tell it, if each candidate's columns are in one of the sets. They are asked for once for each rule of the list,
and the fewer sets, the less work for each record.

Learners of short lists and of shallow trees ask for the joint counts of every two or three columns (counts/marginals.py), once
for each of their draws.

What is chosen follows from the schema, the candidates, the learner's parameters and a size limit: public numbers, known before
anything is read.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._utils.errors import SchemaError
from ..private.counts.division import column_numbers
from ..private.counts.groups import Groups
from ..rules.candidates import Candidates
from ..schema import Schema
from ..schema.columns import Column

PATTERNS, NODES, MARGINALS = "patterns", "nodes", "marginals"
MAX_PATTERNS = 10_000_000  # a few hundred megabytes
FEW_PATTERNS = 1 << 20  # so many are counted sooner than marginals are
MANY_PASSES = 3  # over the records: so many are worth a file of their bins
MOST_COUNTS = 2e8  # of marginals, of all classes and parts: less than a gigabyte
HINT = (
    " (if there are millions of them, learning takes long, and gigabytes; fewer columns, cuts or categories help, or a learner "
    "that can do without patterns: lists of up to three single literals, trees of up to depth 3, in stages, the greedy learner)"
)
FEW_COMBINATIONS = 2**16  # as fast to count as a few; and twice as many sets take twice as long
Columns = tuple[int, ...]  # by their numbers, in order


@dataclass(frozen=True)
class Needs:
    """What would do for a learner, by public numbers."""

    nodes: bool = False  # the counts of candidates, at one node of a list after the other
    together: int = 0  # the joint counts of so many columns; 0 if these would not do,
    parts: int = 1  # in so many parts of the records,
    passes: int = 1  # counted so many times


@dataclass(frozen=True)
class Counting:
    """Which sets of columns are counted together. One set of all of them: the patterns themselves, asked for once."""

    schema: Schema
    way: str
    sets: tuple[Columns, ...]
    most: int  # how many counts there can be of each class
    passes: int = 1
    columns: tuple[Column, ...] = ()  # of marginals, and how many of them are counted together
    together: int = 0
    candidates: Candidates | None = None  # what is counted at nodes

    @classmethod
    def patterns(cls, schema: Schema) -> "Counting":
        """Distinct rows of bins, by all columns of the schema."""
        every = tuple(range(len(schema.used)))
        return cls(schema, PATTERNS, (every,), _size(every, schema.used))

    @classmethod
    def by_column(cls, schema: Schema, columns: Sequence[Column]) -> "Counting":
        """Of each column alone."""
        return _marginals(schema, tuple(columns), Needs(together=1))

    @property
    def keeps_bins(self) -> bool:
        """Whether a table that is read anew each time should be read once, and its bins kept (source.py)."""
        return self.way == MARGINALS and self.passes >= MANY_PASSES

    @property
    def _widest(self) -> str:
        return _several(max(map(len, self.sets)), "column")

    def __str__(self) -> str:
        if self.way == PATTERNS:
            said = f"once, by {self._widest}: at most {short(self.most)} patterns, and never more than records"
            return said + HINT * (self.most > MAX_PATTERNS)
        sets = f"{_several(len(self.sets), 'set')} of up to {self._widest}"
        if self.way == MARGINALS:
            times = "once" if self.passes == 1 else f"once for each of {self.passes} draws"
            return f"{times}, by {sets}: {short(self.most)} counts of each class, however many records there are"
        return f"once for each rule of the list, by {sets}: at most {short(self.most)} counts of each class at a time"


def plan_counting(
    candidates: Candidates, counting: str, max_patterns: int | None, needs: Needs, classes: int = 2
) -> Counting:
    """Choose, or complain about a schema that allows more than the limit.

    >>> from discreet.datasets import load_adult, load_compas
    >>> compas, adult = (Candidates.of_schema(load().schema) for load in (load_compas, load_adult))
    >>> print(plan_counting(compas, "auto", None, Needs(nodes=True)))
    once, by 9 columns: at most 5,406,720 patterns, and never more than records
    >>> print(plan_counting(adult, "auto", None, Needs(nodes=True)))
    once for each rule of the list, by 3 sets of up to 5 columns: at most 64,188 counts of each class at a time
    >>> print(plan_counting(adult, "auto", None, Needs(together=3)))
    once, by 220 sets of up to 4 columns: 113,511 counts of each class, however many records there are
    """
    columns, patterns = candidates.schema.used, Counting.patterns(candidates.schema)
    limit = max_patterns or MAX_PATTERNS
    unlimited = max_patterns is None and (counting == PATTERNS or not needs.nodes)
    if counting in ("auto", MARGINALS) and needs.together:
        marginals = _marginals(candidates.schema, tuple(candidates.columns), needs)
        few = marginals.most * classes <= MOST_COUNTS and (max_patterns is None or marginals.most <= limit)
        if few and (counting == MARGINALS or patterns.most > FEW_PATTERNS):
            return marginals
        if counting == MARGINALS:
            raise SchemaError(
                f"{_several(len(marginals.sets), 'set')} of up to {marginals._widest} in {needs.parts} parts have "
                f"{short(marginals.most)} counts of each class, which is too many. Use fewer columns (exclude), fewer cuts or "
                "coarser groups, or fewer rules or levels at once (rules_per_draw, stages)"
            )
    if counting != NODES and (unlimited or patterns.most <= limit):
        return patterns
    if counting != PATTERNS and needs.nodes:
        sets = _cover(candidates, limit)
        most = sum(_size(s, columns) for s in sets)
        nodes = Counting(candidates.schema, NODES, sets, most, candidates=candidates)
        if most <= limit:
            return nodes
        raise SchemaError(
            f"candidates of {nodes._widest} need {short(most)} counts of each class, more than "
            f"max_patterns = {short(limit)}. Use fewer columns (exclude), fewer cuts or coarser groups, or a smaller "
            "max_literals; or raise max_patterns, if there is memory for so many"
        )
    raise SchemaError(
        f"the schema allows {short(patterns.most)} patterns of its {len(columns)} columns, more than max_patterns = "
        f"{short(limit)}. Use fewer columns (exclude), fewer cuts or coarser groups; or leave max_patterns out, if there is "
        "memory for as many patterns as records"
    )


@lru_cache(maxsize=16)  # thousands of sets: nobody should wait for the same ones again
def _marginals(schema: Schema, columns: tuple[Column, ...], needs: Needs) -> Counting:
    """Every so many of the columns that candidates are about, by their numbers among these."""
    groups = Groups.of([column.n_bins for column in columns], needs.together)
    sets = tuple(groups.columns_of(numbers) for numbers in groups.sets)
    most = groups.count_places() * needs.parts
    return Counting(schema, MARGINALS, sets, most, needs.passes, columns, needs.together)


def _cover(candidates: Candidates, limit: int) -> tuple[Columns, ...]:
    """Few sets of columns, of which each candidate's are in one; if possible of at most ``limit`` combinations in all."""
    columns = candidates.schema.used
    of_literal = np.array([*column_numbers(columns, candidates), -1])
    rows = np.unique(np.sort(of_literal[candidates.members], axis=1), axis=0)  # -1: no literal
    needed = sorted({tuple(sorted({i for i in row if i >= 0})) for row in rows.tolist()})
    found = _pack(needed, columns, largest := FEW_COMBINATIONS)
    while largest >= 2 and sum(_size(s, columns) for s in found) > limit:
        found = _pack(needed, columns, largest := largest // 4)
    return found


def _pack(needed: Sequence[Columns], columns: Sequence[Column], largest: int) -> tuple[Columns, ...]:
    """Sets of at most ``largest`` combinations (or a single needed one), each needed one put where it adds least."""
    packed: list[tuple[int, set[int]]] = []  # with their sizes
    for one in sorted(needed, key=lambda s: -_size(s, columns)):
        grown = [(size * _size(set(one) - s, columns), size, i) for i, (size, s) in enumerate(packed)]
        fitting = [(new // size, size, i) for new, size, i in grown if new <= largest or new == size]
        if fitting:
            factor, size, i = min(fitting)
            packed[i] = size * factor, packed[i][1] | set(one)
        else:
            packed.append((_size(one, columns), set(one)))
    return tuple(sorted(tuple(sorted(s)) for _, s in packed if not any(s < other for _, other in packed)))


def _size(numbers: Iterable[int], columns: Sequence[Column]) -> int:
    return math.prod(columns[i].n_bins for i in numbers)


def _several(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def short(number: int) -> str:
    """A number that can be read: 5,406,720, or 10^13.2."""
    return f"{number:,}" if number < 10**9 else f"10^{math.log10(number):.1f}"
