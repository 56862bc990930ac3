"""Broken versions of the queries of rule lists and trees (private/queries/lists.py, trees.py), and of what they count.

Each takes the place of the sound queries once these are prepared; what was added up before is then added up anew, by the twin.
"""

from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from discreet import DPOptimalRuleListClassifier
from discreet.audit import draws
from discreet.audit.explore import worst_of
from discreet.audit.explorer import ListsOnMarginals, TreesOnMarginals, explored
from discreet.audit.learners import Pair, Subject
from discreet.audit.subjects import LISTS
from discreet.private.counts.division import OUTSIDE, Division, column_numbers
from discreet.private.queries.lists import ListQueries
from discreet.private.queries.trees import TreeQueries, size_for
from discreet.rules.candidates import NumberedLeaf, leaves_of

COUNTS_OF_LISTS = {"epsilon": 1.0, "max_length": 3, "rules_per_draw": 1, "counts_share": 0.5}


class Free:
    """A reservation that charges nobody."""

    def draw(self, *_):
        pass


class Louder:
    """Twice the rate that is paid for."""

    @contextmanager
    def _twice(self):
        noise, self._noise = self._noise, replace(self._noise, draw_epsilon=2 * self._noise.draw_epsilon)
        try:
            yield
        finally:
            self._noise = noise


class LouderLists(Louder, ListQueries):
    def _weighed(self, prefix, lengths):
        with self._twice():
            return super()._weighed(prefix, lengths)


class LouderTrees(Louder, TreeQueries):
    def _leaves(self, tree):
        with self._twice():
            return super()._leaves(tree)


class HeavierLists(ListQueries):
    """A class weight of 3."""

    def _weighed(self, prefix, lengths):
        self._class_weights = np.array([1.0, 3.0])
        return super()._weighed(prefix, lengths)


class HeavierTrees(TreeQueries):
    def _leaves(self, tree):
        self._class_weights = np.array([1.0, 3.0])
        return super()._leaves(tree)


class CountsPartsTwice:
    """Marginals that count the records of a part twice."""

    def __init__(self, counts):
        self._counts = counts

    def joint(self, columns, size, division=None):
        counted = self._counts.joint(columns, size, division)
        if division is not None:
            for tables in counted._parts:
                tables.counts = 2 * tables.counts
        return counted


class ListsWithPartsTwice(ListQueries):
    def _weighed(self, prefix, lengths):
        counts, self._counts = self._counts, CountsPartsTwice(self._counts)
        try:
            return super()._weighed(prefix, lengths)
        finally:
            self._counts = counts


class CountsThatOverlap(ListQueries):
    """Class counts of all that a rule captures, earlier rules or not."""

    def _part(self, prefix, rule):
        return ListQueries._weighed(self, (), (1.0,)).parts_of([] if rule is None else [rule])[0]


class DrawsOfAllRecords(ListQueries):
    """A later draw looks at all records instead of what was left."""

    def _weighed(self, prefix, lengths):
        prior, self._prior = self._prior, replace(self._prior, rules=self._prior.rules.copy())
        self._prior.rules[list(prefix)] = 0.0
        try:
            return super()._weighed((), lengths)
        finally:
            self._prior = prior


class ListsOfAllRecords(DrawsOfAllRecords, CountsThatOverlap):
    """And so do the class counts of its rules, for one charge."""


class SoundCounts(TreeQueries):
    """Leaves get their own class counts, whatever they were drawn from."""

    def _keep(self, path, leaf, tree):
        (root,) = TreeQueries._leaves(self, NumberedLeaf())
        for inner, _ in leaves_of(tree):
            self._exact[(*path, *inner)] = root.exact_counts((*path, *inner))


class TreesOfAllRecords(SoundCounts):
    """A later stage draws in each leaf from all records, for one charge."""

    def _leaves(self, tree):
        (root,) = super()._leaves(NumberedLeaf())
        return [root for _ in leaves_of(tree)]


class CountsOfTheFirstPart(ListQueries):
    """Every part is said to have the class counts of the first one."""

    def _part(self, prefix, rule):
        return next(iter(self._exact.values()))


class TreesWithPartsTwice(SoundCounts):
    def _leaves(self, tree):
        counts, self._counts = self._counts, CountsPartsTwice(self._counts)
        try:
            return super()._leaves(tree)
        finally:
            self._counts = counts


class LeavesOfTheFirstPart(SoundCounts):
    """Every leaf is drawn from the records of the first one."""

    def _leaves(self, tree):
        return [replace(leaf, part=0) for leaf in super()._leaves(tree)]


class CountsOfTheFirstLeaf(TreeQueries):
    """Every leaf is said to have the class counts of the first one."""

    def count(self, tree):
        first, _ = next(leaves_of(tree))
        self._exact = {path: self._exact[first] for path, _ in leaves_of(tree)}
        return super().count(tree)


class LeavesThatOverlap(SoundCounts):
    """A stage counts in both branches of a test what it is not true of: missing values, say."""

    def _leaves(self, tree):
        if isinstance(tree, NumberedLeaf):
            return super()._leaves(tree)
        found, numbers = [], column_numbers(self._tests.columns, self._tests)
        for path, _ in leaves_of(tree):
            columns = [(numbers[i], self._tests.truths[i]) for i, side in path if not side]
            box = {column: ~true for column, true in columns}  # of the tests that are true nothing is asked
            division = Division([(box, 0)], OUTSIDE)
            counted = self._counts.joint(self._tests.columns, size_for(self._stages), division)
            found.append(replace(super()._leaves(NumberedLeaf())[0], marginals=counted))
        return found


class Uncharged:
    """A query that forgets to charge for a draw."""

    @contextmanager
    def _free(self):
        reservation, self._reservation = self._reservation, Free()
        try:
            yield
        finally:
            self._reservation = reservation

    def sample_list(self, prefix, lengths):
        with self._free():
            return super().sample_list(prefix, lengths)

    def grow(self, tree, depth):
        with self._free():
            return super().grow(tree, depth)


class Late(Uncharged):
    """A query that answers first, and charges then."""

    def sample_list(self, prefix, lengths):
        answer = super().sample_list(prefix, lengths)
        self._reservation.draw(self._noise.draw_epsilon, Fraction(0), "draw of a list")
        return answer

    def grow(self, tree, depth):
        answer = super().grow(tree, depth)
        self._reservation.draw(self._noise.draw_epsilon, Fraction(0), "draw of a tree")
        return answer


class LateCounts(ListQueries):
    """Class counts are given out first, and charged then."""

    def histogram(self, prefix, rule):
        charged, self._reservation = self._reservation, Free()
        counts = super().histogram(prefix, rule)
        self._reservation = charged
        if rule is None:
            charged.draw(self._noise.counts_epsilon, Fraction(0), "class counts")
        return counts


UNCHARGED_LISTS = type("UnchargedLists", (Uncharged, ListQueries), {})
UNCHARGED_TREES = type("UnchargedTrees", (Uncharged, TreeQueries), {})
LATE_LISTS = type("LateLists", (Late, ListQueries), {})
LATE_TREES = type("LateTrees", (Late, TreeQueries), {})


def put_in_place(queries, twin):
    queries.__class__, queries._first = twin, None
    return queries


def with_queries(kind, twin):
    """An explored classifier with broken queries."""

    def explore(self, queries):
        kind.explore(self, queries)
        put_in_place(queries, twin)

    return type(f"{kind.__name__} with {twin.__name__}", (kind,), {"explore": explore})


def summed_fit_twins(pairs):
    """name, the sound subject, its broken twin, pairs to try."""
    lists = Subject("optimal rule lists", LISTS, {"epsilon": 1.0, "max_length": 2})
    later = Subject("optimal rule lists, rules_per_draw=1", LISTS, COUNTS_OF_LISTS)
    draws = Subject("optimal rule lists, rules_per_draw=1, no counts", LISTS, COUNTS_OF_LISTS | {"counts_share": 0.0})
    counted = replace(lists, parameters=lists.parameters | {"counts_share": 0.5})
    marginals = Subject("optimal rule lists from marginals", ListsOnMarginals, COUNTS_OF_LISTS)
    for name, sound, twin, tried in (
        ("summed lists: rate doubled", lists, LouderLists, pairs),
        ("summed lists: a class weight above 1", lists, HeavierLists, pairs),
        ("summed lists: records of a part counted twice", draws, ListsWithPartsTwice, pairs[:6]),
        ("summed lists: a later draw that looks at all records", later, ListsOfAllRecords, pairs[:6]),
        ("summed lists: the same, counted again from the table", marginals, ListsOfAllRecords, pairs[:6]),
        ("summed lists: the counts of another part", counted, CountsOfTheFirstPart, pairs),
        ("summed lists: class counts of parts that overlap", later, CountsThatOverlap, pairs[:6]),
        ("summed lists: a query that forgets to charge", lists, UNCHARGED_LISTS, pairs[:6]),
        ("summed lists: a query that charges when it has answered", lists, LATE_LISTS, pairs[:6]),
        ("summed lists: class counts that are charged when they are out", counted, LateCounts, pairs[-4:]),
    ):
        yield name, sound, replace(sound, explored=with_queries(explored(sound.classifier), twin)), tried


def summed_tree_fit_twins(pairs, apart):
    whole = Subject("optimal trees", TreesOnMarginals, {"epsilon": 1.0, "max_depth": 1, "counts_share": 0.2})
    stages = {"epsilon": 1.0, "stages": (1, 1), "criterion": "gini", "counts_share": 0.1}
    staged = Subject("stages", TreesOnMarginals, stages)
    counted = replace(whole, parameters=whole.parameters | {"counts_share": 0.5})
    told = [*apart, Pair(apart[0].less, (3, 0))]  # a stranger in the first part that the second test tells apart
    for name, sound, twin, tried in (
        ("summed trees: rate doubled", whole, LouderTrees, pairs),
        ("summed trees: a class weight above 1", whole, HeavierTrees, pairs),
        ("summed trees: records of a part counted twice", staged, TreesWithPartsTwice, told),
        ("summed trees: a later stage that looks at all records", staged, TreesOfAllRecords, told),
        ("summed trees: the counts of another leaf", counted, CountsOfTheFirstLeaf, pairs),
        ("summed trees: missing values in both branches", staged, LeavesThatOverlap, told),
        ("summed trees: a query that forgets to charge", whole, UNCHARGED_TREES, pairs),
        ("summed trees: a query that charges when it has answered", whole, LATE_TREES, pairs),
    ):
        yield name, sound, replace(sound, explored=with_queries(explored(sound.classifier), twin)), tried


# -- level 1 ------------------------------------------------------------------------------------------------------------


def summed_choice_twins():
    """name, and what finds it out."""
    yield "summed lists: rate doubled", _worst_of_sums


def _worst_of_sums():
    return worst_of(draws.worst_draw(0.5, 1, draws.list_distributions_by_sums(2 * 0.5), draws.LISTS))


# -- level 3 ------------------------------------------------------------------------------------------------------------


class WithQueries:
    """A plan whose queries are changed once they are prepared."""

    def __init__(self, plan, change):
        self._plan, self._change = plan, change

    def __getattr__(self, name):
        return getattr(self._plan, name)

    def queries(self, counts):
        return self._change(self._plan.queries(counts).prepare())

    def run(self, queries):
        return self._plan.run(queries)


class LoudSampler:
    """Says and computes everything right, and then adds up and draws at twice the rate: only fits can show it."""

    def _plan(self, *public):
        return WithQueries(super()._plan(*public), self._louder)

    @staticmethod
    def _louder(queries):
        return put_in_place(queries, LouderLists if isinstance(queries, ListQueries) else LouderTrees)


class LoudSums(LoudSampler, DPOptimalRuleListClassifier):
    pass


class LoudTreesOnMarginals(LoudSampler, TreesOnMarginals):
    pass


def summed_observed_twins(hits):
    """Mostly models without a rule or test, whose label shows most of what one record changes."""
    common = {"epsilon": 1.0, "counts_share": 0.0}
    lists = Subject("optimal rule lists", LISTS, common | {"max_length": 2, "prior": [99, 1]}, n_rules=1)
    stump = Subject("stump", TreesOnMarginals, common | {"max_depth": 1, "split": 0.01}, n_rules=1)
    first = Pair(np.zeros((2, 2), int), (0, 0))
    yield (
        "summed lists: a sampler with half the noise of its distribution",
        partial(hits, lists, LoudSums, first, 3_000),
    )
    yield (
        "summed trees: a sampler with half the noise of its distribution",
        partial(hits, stump, LoudTreesOnMarginals, first, 3_000),
    )
