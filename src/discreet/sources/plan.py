"""How the records of a table in an engine are counted: once, by whole patterns; or for each rule of the list, by parts of them.

A *pattern* is the bins of all columns together. A schema of many columns allows so many of them that there may be as many as
records, and then counting patterns is no summary. But a greedy learner asks less: how many records of each class each candidate
captures, among those that no rule chosen so far captures. A candidate is about one or two columns, so counts by the bins of
*sets of columns* tell it, if each candidate's columns are in one of the sets. They are asked for once for each rule of the list,
and the fewer sets, the less work for each record.

What is chosen follows from the schema, the candidates and a size limit: public numbers, known before anything is read.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..common.errors import SchemaError
from ..conditions.candidates import Candidates
from ..schema.columns import Column

PATTERNS, NODES = "patterns", "nodes"
MAX_PATTERNS = 10_000_000  # a few hundred megabytes
HINT = (
    " (if there are millions of them, learning takes long, and gigabytes; fewer columns, cuts or categories help, or the greedy "
    "learner, which can do without patterns)"
)
FEW_COMBINATIONS = (
    2**16
)  # so many combinations are as fast to count as a few, and twice as many sets take twice as long
Columns = tuple[int, ...]  # by their numbers, in order


@dataclass(frozen=True)
class Plan:
    """Which sets of columns are counted together. One set of all of them: the patterns themselves, asked for once."""

    sets: tuple[Columns, ...]
    by_node: bool
    most: int  # how many counts there can be of each class

    def __str__(self) -> str:
        if not self.by_node:
            said = f"once, by {_several(len(self.sets[0]), 'column')}: at most {short(self.most)} patterns, and never more than"
            return f"{said} records{HINT * (self.most > MAX_PATTERNS)}"
        widest = max(map(len, self.sets))
        return (
            f"once for each rule of the list, by {_several(len(self.sets), 'set')} of up to {_several(widest, 'column')}: at "
            f"most {short(self.most)} counts of each class at a time"
        )


def plan_counting(candidates: Candidates, counting: str, max_patterns: int | None, greedy: bool) -> Plan:
    """Choose, or complain about a schema that allows more than the limit.

    >>> from discreet.datasets import load_adult, load_compas
    >>> compas, adult = (Candidates.of_schema(load().schema) for load in (load_compas, load_adult))
    >>> print(plan_counting(compas, "auto", None, greedy=True))
    once, by 9 columns: at most 5,406,720 patterns, and never more than records
    >>> print(plan_counting(adult, "auto", None, greedy=True))
    once for each rule of the list, by 3 sets of up to 5 columns: at most 64,188 counts of each class at a time
    """
    columns = candidates.schema.used
    patterns = Plan((tuple(range(len(columns))),), False, _size(range(len(columns)), columns))
    limit = max_patterns or MAX_PATTERNS
    unlimited = max_patterns is None and (counting == PATTERNS or not greedy)
    if counting != NODES and (unlimited or patterns.most <= limit):
        return patterns
    if counting != PATTERNS and greedy:
        sets = _cover(_needed(candidates), columns, limit)
        nodes = Plan(sets, True, sum(_size(s, columns) for s in sets))
        if nodes.most <= limit:
            return nodes
        raise SchemaError(
            f"candidates of {_several(max(map(len, sets)), 'column')} need {short(nodes.most)} counts of each class, more than "
            f"max_patterns = {short(limit)}. Use fewer columns (exclude), fewer cuts or coarser groups, or a smaller max_card; "
            "or raise max_patterns, if there is memory for so many"
        )
    raise SchemaError(
        f"the schema allows {short(patterns.most)} patterns of its {len(columns)} columns, more than max_patterns = "
        f"{short(limit)}. Use fewer columns (exclude), fewer cuts or coarser groups; or leave max_patterns out, if there is "
        "memory for as many patterns as records"
    )


def _needed(candidates: Candidates) -> list[Columns]:
    """The sets of columns that candidates are about."""
    number = {column.name: i for i, column in enumerate(candidates.schema.used)}
    of_literal = np.array([*(number[literal.column] for literal in candidates.literals), -1])
    rows = np.unique(np.sort(of_literal[candidates.members], axis=1), axis=0)  # -1: no literal
    return sorted({tuple(sorted({int(i) for i in row if i >= 0})) for row in rows})


def _cover(needed: Sequence[Columns], columns: Sequence[Column], limit: int) -> tuple[Columns, ...]:
    """Few sets of columns, of which each needed one is a part; if possible with at most ``limit`` combinations of bins in all."""
    largest = FEW_COMBINATIONS
    while True:
        found = _pack(needed, columns, largest)
        if largest < 2 or sum(_size(s, columns) for s in found) <= limit:
            return found
        largest //= 4


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


def _size(numbers: Sequence[int] | set[int] | range, columns: Sequence[Column]) -> int:
    return math.prod(columns[i].n_bins for i in numbers)


def _several(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def short(number: int) -> str:
    """A number that can be read: 5,406,720, or 10^13.2."""
    return f"{number:,}" if number < 10**9 else f"10^{math.log10(number):.1f}"
