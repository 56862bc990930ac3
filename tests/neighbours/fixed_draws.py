"""Doors that do all their work and then give a public answer: whatever still differs between two tables is no draw."""

import functools
import itertools
import sys
from collections import defaultdict
from datetime import datetime

import numpy as np


def fix_draws():
    """For the rest of this process. Random names become numbers, too, and the clock of ledgers stands still."""
    import discreet.evaluation.measuring
    from discreet.private.queries.card_doors import CardDoors
    from discreet.private.queries.cut_doors import CutDoors
    from discreet.private.queries.greedy_doors import GreedyDoors
    from discreet.private.queries.greedy_tree_doors import GreedyTreeDoors
    from discreet.private.queries.list_doors import ListDoors
    from discreet.private.queries.summed_doors import SummedListDoors, SummedTreeDoors
    from discreet.private.queries.tree_doors import TreeDoors

    _replace(ListDoors, "sample_list", lambda _, doors, prefix, lengths: _some_list(prefix, len(lengths) - 1))
    _replace(SummedListDoors, "_draw", lambda _, doors, sums: _some_summed_list(sums))
    for doors in (ListDoors, SummedListDoors, GreedyDoors):
        _replace(doors, "histogram", lambda drawn, *_: tuple(10.0 for _ in drawn))
    _replace(TreeDoors, "_draw", lambda drawn, doors, problem, depth: _some_tree(problem.score, depth))
    _replace(SummedTreeDoors, "_draw", lambda drawn, doors, weighed: _some_tree(doors._score, weighed._depth))
    for doors in (TreeDoors, SummedTreeDoors, GreedyTreeDoors):
        _replace(doors, "count", lambda drawn, *_: _with_some_counts(drawn))
    _replace(GreedyDoors, "exceeds", _some_support)
    _replace(GreedyDoors, "select", lambda _, doors, prefix: _unused(prefix, 1)[0])
    _replace(GreedyTreeDoors, "exceed", lambda passed, doors, nodes: [True] * len(passed))
    _replace(GreedyTreeDoors, "select", lambda chosen, doors, nodes: [len(path) for path in nodes])
    _replace(CardDoors, "choose", lambda chosen, doors, how_many: [list(range(how_many)) for _ in chosen])
    _replace(CardDoors, "count", lambda drawn, *_: [[_some_counts(h) for h in own] for own in drawn])
    _replace(CardDoors, "count_totals", lambda drawn, *_: _some_counts(drawn))
    _replace(CutDoors, "cut", lambda _, doors, stretches: [s.first for s in stretches])
    _replace(discreet.evaluation.measuring, "noisy_histograms", lambda drawn, *_: [_some_counts(h) for h in drawn])
    fix_names()


def fix_names():
    """Random names become numbers, and the clock of ledgers stands still."""
    import secrets
    import tempfile
    import uuid

    import discreet.accounting.budget_request

    discreet.accounting.budget_request.datetime = StoppedClock
    asked = defaultdict(itertools.count)
    secrets.token_hex = lambda n=32: f"{next(asked[_caller()]):0{2 * n}x}"
    uuid.uuid4 = lambda: uuid.UUID(int=next(asked[_caller()]))
    tempfile._name_sequence = (f"name{i}" for i in itertools.count())
    # the file by which a folder for temporary files is tried out, once in a process: made and removed all the same
    tempfile._RandomNameSequence = lambda: (f"tried{i}" for i in itertools.count())


class StoppedClock(datetime):
    """It is always the same moment."""

    @classmethod
    def now(cls, zone=None):
        return cls(2020, 1, 1, tzinfo=zone)


def _caller():
    """Each module has numbers of its own, so that two ways to the same release give it the same name."""
    return sys._getframe(2).f_globals["__name__"]


def _replace(owner, name, answer):
    real = getattr(owner, name)

    @functools.wraps(real)
    def door(*args, **kwargs):
        return answer(real(*args, **kwargs), *args, **kwargs)

    setattr(owner, name, door)


def _some_support(passed, doors, prefix):
    """Two rules at most, where there is a minimum support; where there is none, nothing was drawn."""
    return len(prefix) < 2 if doors._mechanism.needs_support else passed


def _unused(prefix, n):
    return list(itertools.islice((i for i in itertools.count() if i not in prefix), n))


def _some_summed_list(sums):
    """Rules that are not in the list yet: those have a weight in the prior."""
    unused = sorted(int(rule) for rule, weight in zip(sums._order, sums._worth.tests, strict=True) if weight > 0)
    n_rules = min(len(unused), len(sums._log_lengths) - 1)
    return unused[:n_rules], [i % 2 for i in range(n_rules + 1)]


def _some_tree(score, depth):
    """A test at every place, and labels in turn; none where they are not drawn."""
    from discreet.rules.numbered_tree import Fork, Leaf

    labels = itertools.cycle([0, 1] if score == "accuracy" else [None])
    trees = [Leaf(next(labels)) for _ in range(2**depth)]
    for test in range(depth):
        trees = [Fork(test, *pair) for pair in zip(trees[::2], trees[1::2], strict=True)]
    return trees[0]


def _with_some_counts(tree):
    from discreet.rules.numbered_tree import Leaf, with_leaves

    counts = itertools.cycle([(10.0, 5.0), (5.0, 10.0)])
    return with_leaves(tree, lambda _, leaf: Leaf(leaf.label, next(counts)))


def _some_list(prefix, n_rules):
    return _unused(prefix, n_rules), [i % 2 for i in range(n_rules + 1)]


def _some_counts(histogram):
    return (70 - 40 * (np.arange(histogram.size) % 2)).reshape(histogram.shape)
