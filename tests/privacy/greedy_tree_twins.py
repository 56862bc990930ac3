"""Broken versions of the queries of greedy trees (private/queries/greedy.py)."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np

from discreet.audit.explorer import explored
from discreet.audit.learners import Pair, Subject
from discreet.audit.subjects import GREEDY_TREES, leftover
from discreet.private.mechanisms.mass import MassSelector
from discreet.private.queries.greedy import GreedyTreeQueries

from .summed_twins import Free


class Broken(explored(GREEDY_TREES)):
    """Queries that are of another class, or are given something else, once they are prepared."""

    kind = GreedyTreeQueries

    def explore(self, queries):
        self._break(queries)
        super().explore(queries)
        queries.__class__ = self.kind

    def _break(self, queries):
        pass


class NodesShareRecords(GreedyTreeQueries):
    def select(self, nodes):
        everything = self._count([()])
        with patch.object(self, "_count", lambda nodes: everything * len(nodes)):
            return super().select(nodes)


class LeavesShareRecords(GreedyTreeQueries):
    def count(self, tree):
        counts = self._count
        with patch.object(self, "_count", lambda nodes: [counts([path[-1:]])[0] for path in nodes]):
            return super().count(tree)


class ForgetsToCharge(GreedyTreeQueries):
    def select(self, nodes):
        with patch.object(self, "_reservation", Free()):
            return super().select(nodes)


class Unchecked(GreedyTreeQueries):
    def exceed(self, nodes):
        return [True] * len(nodes)


class LooksForTests(GreedyTreeQueries):
    """Only tests that tell records of the node apart are offered: what "undecided" would be by the records."""

    def _select(self, path, node):
        captured, size = node.captured.sum(0), node.left.sum()
        useful = np.flatnonzero((captured > 0) & (captured < size))
        with patch.object(self, "_undecided", lambda path: useful):
            return super()._select(path, node)


class Shares(Broken):
    """At each node of a level a test is chosen from all records, for one charge."""

    kind = NodesShareRecords


class LeavesShare(Broken):
    """Class counts of all records that the last test on the way says so of, whatever was asked before: for one charge."""

    kind = LeavesShareRecords


class Forgetful(Broken):
    """A level is not charged."""

    kind = ForgetsToCharge


class WithoutCheck(Broken):
    """The minimum support is used in the scale of the noise, and whether a node has it is not checked."""

    kind = Unchecked


class Mined(Broken):
    """Tests that no record of a node answers differently are left out."""

    kind = LooksForTests


class Louder(Broken):
    """Choices with half the noise that is paid for."""

    def _break(self, queries):
        queries._selector = MassSelector(2 * queries._selector.epsilon)


class QuietCounts(GreedyTreeQueries):
    def _noisy(self, exact, epsilon):
        return super()._noisy(exact, 2 * epsilon)


class QuietLeaves(Broken):
    """Class counts with half the noise that is paid for."""

    kind = QuietCounts


def greedy_tree_fit_twins(pairs):
    """name, the sound subject, its broken twin, pairs to try."""
    mass = Subject("mass", GREEDY_TREES, {"mechanism": "mass", "epsilon": 2.0, "max_depth": 2, "counts_share": 0.2})
    smooth = Subject(
        "sm-laplace",
        GREEDY_TREES,
        {"mechanism": "sm-laplace", "epsilon": 4.0, "delta": 1e-6, "max_depth": 2, "min_support": 250},
    )
    gl = Subject("gl-exponential", GREEDY_TREES, {"mechanism": "gl-exponential", "epsilon": 2.0, "max_depth": 2})
    # a hundred records of one class on each side of the first test, and a stranger that the second tells apart, or not
    apart = [Pair(np.array([[100, 0], [0, 0], [0, 100], [0, 0]]), place) for place in ((0, 1), (1, 0), (2, 0), (3, 1))]
    leftovers = [leftover(n) for n in (2, 5, 100, 5050)]
    for name, sound, twin, tried in (
        ("mass: nodes of a level that share records", mass, Shares, [*pairs, *apart]),
        ("mass: class counts of leaves that overlap", mass, LeavesShare, pairs),
        ("mass: a level that is not charged", mass, Forgetful, pairs),
        ("mass: tests that the records decide are left out", mass, Mined, pairs),
        ("mass: noise of choices halved", mass, Louder, [*pairs, *apart]),
        ("mass: noise of class counts halved", mass, QuietLeaves, pairs),
        ("gl-exponential: noise of class counts halved", gl, QuietLeaves, pairs),
        ("sm-laplace: minimum support used without its check", smooth, WithoutCheck, leftovers),
    ):
        yield f"greedy trees by {name}", sound, replace(sound, explored=twin), tried
