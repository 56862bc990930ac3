"""Queries that do all their work and then give a public answer: whatever still differs between two tables is no draw."""

import functools
import itertools
import sys
from collections import defaultdict
from datetime import datetime

import numpy as np


def fix_draws():
    """For the rest of this process. Random names become numbers, too, and the clock of ledgers stands still."""
    from discreet.private.queries.cards import CardQueries
    from discreet.private.queries.evaluation import EvaluationQueries
    from discreet.private.queries.greedy import GreedyQueries, GreedyTreeQueries
    from discreet.private.queries.lists import ListQueries
    from discreet.private.queries.schema import SchemaQueries
    from discreet.private.queries.trees import TreeQueries
    from discreet.private.sampling.envelope import PatternLists
    from discreet.private.sampling.list_sums import ListSums
    from discreet.private.sampling.trees.drawing import WeighedTrees

    for kind in (ListSums, PatternLists):
        _replace(kind, "draw", lambda _, lists, entropy: _some_list(lists))
    for kind in (ListQueries, GreedyQueries):
        _replace(kind, "histogram", lambda drawn, *_: tuple(10.0 for _ in drawn))
    _replace(WeighedTrees, "draw", lambda drawn, weighed, entropy: _some_tree(drawn, weighed._depth))
    for kind in (TreeQueries, GreedyTreeQueries):
        _replace(kind, "count", lambda drawn, *_: _with_some_counts(drawn))
    _replace(GreedyQueries, "exceeds", _some_support)
    _replace(GreedyQueries, "select", lambda _, queries, prefix: _unused(prefix, 1)[0])
    _replace(GreedyTreeQueries, "exceed", lambda passed, queries, nodes: [True] * len(passed))
    _replace(GreedyTreeQueries, "select", lambda chosen, queries, nodes: [len(path) for path in nodes])
    _replace(CardQueries, "choose", lambda chosen, queries, how_many: [list(range(how_many)) for _ in chosen])
    _replace(CardQueries, "count", lambda drawn, *_: [[_some_counts(h) for h in own] for own in drawn])
    _replace(CardQueries, "count_totals", lambda drawn, *_: _some_counts(drawn))
    _replace(EvaluationQueries, "histograms", lambda drawn, *_: [_some_counts(h) for h in drawn])
    _replace(SchemaQueries, "first_look", lambda drawn, *_: [_some_look(i, h) for i, h in enumerate(drawn)])
    _replace(SchemaQueries, "look_closer", _some_closer_looks)
    _replace(SchemaQueries, "classes", lambda *_: {"no": 700, "yes": 700})
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
    def query(*args, **kwargs):
        return answer(real(*args, **kwargs), *args, **kwargs)

    setattr(owner, name, query)


def _some_support(passed, queries, prefix):
    """Two rules at most, where there is a minimum support; where there is none, nothing was drawn."""
    return len(prefix) < 2 if queries._mechanism.needs_support else passed


def _unused(prefix, n):
    return list(itertools.islice((i for i in itertools.count() if i not in prefix), n))


def _some_list(lists):
    """As many rules as there may be that are not in the list yet: those have a weight in the prior."""
    from discreet.private.sampling.envelope import PatternLists

    if isinstance(lists, PatternLists):
        unused = sorted(int(rule) for members in lists.problem.members for rule in members)
        longest = lists.problem.longest
    else:
        unused = sorted(
            int(rule) for rule, weight in zip(lists._order, lists._log_weights.tests, strict=True) if weight > 0
        )
        longest = len(lists._log_lengths) - 1
    n_rules = min(len(unused), longest)
    return unused[:n_rules], [i % 2 for i in range(n_rules + 1)]


def _some_tree(drawn, depth):
    """A test at every place, and labels in turn; none where they are not drawn."""
    from discreet.rules.candidates import NumberedFork, NumberedLeaf, leaves_of

    labels = itertools.cycle([0, 1] if next(leaves_of(drawn))[1].label is not None else [None])
    trees = [NumberedLeaf(next(labels)) for _ in range(2**depth)]
    for test in range(depth):
        trees = [NumberedFork(test, *pair) for pair in zip(trees[::2], trees[1::2], strict=True)]
    return trees[0]


def _with_some_counts(tree):
    from discreet.rules.candidates import NumberedLeaf, with_leaves

    counts = itertools.cycle([(10.0, 5.0), (5.0, 10.0)])
    return with_leaves(tree, lambda _, leaf: NumberedLeaf(leaf.label, next(counts)))


def _some_counts(histogram):
    return (70 - 40 * (np.arange(histogram.size) % 2)).reshape(histogram.shape)


def _some_look(number, histogram):
    """Of columns in turn: numbers, most of them close together; texts; truth values; texts. All of them may be missing."""
    from discreet.schema.columns.unknown import EDGES, TEXTS

    look = np.zeros_like(histogram)
    look[-1] = 500
    numbers = {(20.0, 50.0): 900, (50.0, 100.0): 200} if number % 4 == 0 else {(-1e-6, 0.0): 600, (0.5, 1.0): 600}
    if number % 2:
        look[TEXTS] = 900
    else:
        for (_, high), count in numbers.items():
            look[TEXTS + 1 + 2 * EDGES.index(high)] = count
    return look


def _some_closer_looks(drawn, queries, columns, texts):
    return [70 * np.arange(h.size) for h in drawn[0]], [{"clerk": 900, "cook": 800} for _ in drawn[1]]
