"""What the envelope draws from: a finite set of labelled rule lists, each with a weight.

Rules that are true in the same patterns are one *group*; a list of groups stands for all lists of their members. The
distribution over concrete rules is unchanged because members are counted: the k-th rule taken from a group of size g can be one
of g - k + 1.

A labelled list with rules r_1 ... r_l has the weight

    length[l] * rule[r_1] * ... * rule[r_l] * exp(rate * score),     score = sum over parts of counts[label, part]

where ``length`` and ``rule`` are public (the prior, normalised), ``rate`` is epsilon, and ``counts`` are the records of each
class in each pattern, times public class weights of at most 1 (multiples of 2^-20, so that no sum is rounded). So adding a
record changes no score by more than 1, and none downwards: a draw in proportion to the weights costs epsilon, once
(docs/theory/lists-and-trees.md, Theorem 13).

What is the same for every list is left out: each pattern's smallest class count is subtracted from all of its classes, and
patterns where nothing remains are dropped.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...rules.prior import Prior, log_lengths
from ..counts.patterns import Array
from ..counts.secret import Secret

Sets = npt.NDArray[np.int32]
EXACT_IN_FLOAT32 = 2**24  # sums of integers up to here
ROWS = 1024  # sets looked at together
NUMBERS = 1 << 24  # of sets times patterns, held at once


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Secret):
    """Groups of rules over patterns, class counts, and the prior."""

    truth: Array  # (patterns, groups), 1 where a group's rules are true
    counts: Array  # (classes, patterns)
    members: tuple[npt.NDArray[np.intp], ...]  # of each group, the numbers of its rules
    rule_weights: Array  # (groups,), the prior weight of one of its rules
    log_length: Array  # (longest + 1,), see above; -inf for lengths that cannot be
    rate: float

    @cached_property
    def outside(self) -> npt.NDArray[np.bool_]:
        """(groups, patterns): where a group's rules are not true."""
        return np.ascontiguousarray(self.truth.T == 0)

    @cached_property
    def _spans(self) -> list[slice]:
        """For each class, where its records are: patterns of the same class are neighbours (``make_problem``)."""
        there = [np.flatnonzero(count) for count in self.counts]
        return [slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0) for at in there]

    @property
    def longest(self) -> int:
        """The most rules in a list."""
        return len(self.log_length) - 1

    @property
    def n_classes(self) -> int:
        """How many labels a part can have."""
        return len(self.counts)

    @property
    def n_groups(self) -> int:
        """How many groups the rules form."""
        return int(self.truth.shape[1])

    def parts(self, n_sets: int) -> Iterator[slice]:
        """So many sets in parts, with which ``alive`` is not too large: at least one part."""
        step = min(ROWS, max(1, NUMBERS // max(1, len(self.truth))))
        return (slice(start, min(start + step, n_sets)) for start in range(0, max(1, n_sets), step))

    def alive(self, sets: Sets) -> Array:
        """For each row of groups, the patterns (as 0 and 1) that none of them captures."""
        alive = np.ones((len(sets), len(self.truth)), bool)
        for column in sets.T:
            alive &= self.outside[column]
        return alive.astype(self.truth.dtype)

    def parts_of(self, lists: npt.NDArray[np.integer]) -> Iterator[Array]:
        """(rows, patterns), as 0 and 1: of lists in the order of their groups, what each rule captures, and last what is left."""
        alive = np.ones((len(lists), len(self.truth)), self.truth.dtype)
        for column in lists.T:
            part = alive * self.truth.T[column]
            yield part
            alive -= part
        yield alive

    def captured(self, alive: Array) -> Array:
        """(classes, rows, groups): the counts of what each group captures of the patterns alive in each row."""
        found = np.empty((self.n_classes, len(alive), self.n_groups), self.truth.dtype)
        for there, count, inside in zip(self._spans, self.counts, found, strict=True):
            np.matmul(alive[:, there] * count[there], self.truth[there], out=inside)
        return found

    def left(self, alive: Array) -> Array:
        """(classes, rows): the counts of all patterns alive in each row."""
        left: Array = self.counts @ alive.T
        return left

    @cached_property
    def log_rule(self) -> Array:
        """(groups,): the logarithm of the prior weight of one rule of each group."""
        return np.log(self.rule_weights)

    @cached_property
    def log_members(self) -> Array:
        """(groups,): the logarithm of the prior weight of all members of each group."""
        return self.log_rule + np.log(self.sizes)

    @cached_property
    def log_rules(self) -> float:
        """The logarithm of the prior weight of all rules together."""
        return float(log_sum_exp(self.log_members)) if self.n_groups else -math.inf

    @cached_property
    def sizes(self) -> Array:
        """(groups,): how many rules each group has."""
        return np.array([float(len(m)) for m in self.members])

    def log_free(self, sets: Sets) -> Array:
        """(rows, groups): the same, of the members that a list which used these groups can still take."""
        log = np.tile(self.log_members, (len(sets), 1))
        rows = np.arange(len(sets))
        for column in sets.T:
            used = (sets == column[:, None]).sum(1)
            free = np.maximum(self.sizes[column] - used, 0.0)
            with np.errstate(divide="ignore"):
                log[rows, column] = self.log_rule[column] + np.log(free)
        return log

    def log_sum(self, counts: Array) -> Array:
        """``log sum over labels of exp(rate * count)``, classes in the first axis.

        In double precision: ``rate * count`` in single precision would be off by more than a record's share of it.
        """
        logs = self.rate * counts.astype(np.float64)
        top = logs.max(0)
        if len(logs) == 2:
            log: Array = top + np.log1p(np.exp(logs.min(0) - top))
            return log
        log = top + np.log(np.exp(logs - top).sum(0))
        return log


def log_sum_exp(logs: Array) -> Array:
    """Along the last axis; -inf where there is nothing else. (``np.logaddexp.reduce`` rounds a large number for each term.)"""
    top = np.maximum(logs.max(-1, keepdims=True), np.finfo(np.float64).min)
    with np.errstate(divide="ignore"):
        found: Array = top[..., 0] + np.log(np.exp(logs - top).sum(-1))
    return found


def blocks(n: int) -> Iterator[slice]:
    """All rows, not more than ROWS at once."""
    return (slice(i, min(i + ROWS, n)) for i in range(0, n, ROWS))


def make_problem(truth: npt.NDArray[np.bool_], counts: Array, prior: Prior, rate: float) -> Problem:
    """From which rules are true in which patterns (rules, patterns) and the (weighted) class counts (classes, patterns)."""
    counts = counts - counts.min(0)
    matters = np.flatnonzero(counts.any(0))
    order = matters[np.argsort(counts[:, matters].argmax(0), kind="stable")]  # by class: see ``Problem.captured``
    truth, counts = truth[:, order], counts[:, order]
    packed = np.packbits(truth, axis=1)
    places: dict[tuple[bytes, float], list[int]] = {}
    for rule, weight in enumerate(prior.rules.tolist()):
        if weight > 0.0:
            places.setdefault((packed[rule].tobytes(), weight), []).append(rule)
    wide_first = sorted(places.values(), key=lambda rules: -int(truth[rules[0]].sum()))  # see best_split_after
    members = tuple(np.array(rules) for rules in wide_first)
    firsts = [int(rules[0]) for rules in members]
    whole = bool((counts == np.floor(counts)).all()) and counts.sum() < EXACT_IN_FLOAT32
    dtype = np.float32 if whole else np.float64
    weights = prior.rules[prior.rules > 0]
    return Problem(
        np.ascontiguousarray(truth[firsts].T, dtype),
        counts.astype(dtype),
        members,
        prior.rules[firsts],
        log_lengths(prior.lengths, weights, len(counts)),
        rate,
    )
