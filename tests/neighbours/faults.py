"""Things that may go wrong in the middle of a fit, with a number of records in the message. None of it may get out."""


def _fails(n):
    import numpy as np

    raise np._core._exceptions._ArrayMemoryError((314, n), np.dtype(float))


def memory_while_filling():
    from discreet.private.counts.marginals import MarginalsInProgress
    from discreet.private.counts.patterns import PatternsInProgress

    patterns, marginals = PatternsInProgress.finish, MarginalsInProgress.finish
    PatternsInProgress.finish = lambda self: _fails(int(patterns(self).counts.sum()))
    MarginalsInProgress.finish = lambda self: _fails(_records(marginals(self)))
    _fail_in_columns()


def _fail_in_columns(after=0):
    """When columns of a table without a schema are looked at, for the first time or later."""
    from discreet.sources.columns import EngineColumns, MemoryColumns

    def failing(by_bins):
        def fail(self, columns):
            counted = by_bins(self, columns)
            self.looks = getattr(self, "looks", 0) + 1
            return counted if self.looks <= after else _fails(int(counted[0].sum()))

        return fail

    for kind in (MemoryColumns, EngineColumns):
        kind.by_bins = failing(kind.by_bins)


def _records(marginals):
    """How many records were counted."""
    return int(marginals.table(()).sum())


def memory_while_adding_up():
    """Before anything is booked, where lists or trees are added up or laid out; else when the first question is asked."""
    from discreet.private.queries import greedy, lists, trees
    from discreet.private.sampling import envelope
    from discreet.rules.column_parts import ColumnParts

    ColumnParts.by_part = lambda parts, counts: _fails(int(counts.sum()))
    lists.ListSums = lambda marginals, *_: _fails(_records(marginals))
    envelope.make_problem = lambda truth, counts, *_: _fails(int(counts.sum()))
    trees.WeighedTrees = lambda problem, *_: _fails(_records(problem.marginals))
    trees.TreeProblem = lambda truth, counts, *_: _fails(int(counts.sum()))
    greedy.NodeCounts = lambda left, captured: _fails(int(left.sum()))
    _fail_in_columns()


def memory_while_drawing():
    from discreet.private.counts.counts import Marginals, Patterns
    from discreet.private.queries import greedy
    from discreet.private.sampling import envelope
    from discreet.private.sampling.list_sums import ListSums
    from discreet.private.sampling.trees.drawing import WeighedTrees

    def failing(totals):
        return lambda *given: _fails(int(totals(*given).sum()))

    for counts in (Patterns, Marginals):
        counts.totals = failing(counts.totals)
    ListSums.draw = lambda sums, *_: _fails(_records(sums._counts._marginals))
    WeighedTrees.draw = lambda weighed, *_: _fails(int(weighed._problem.total().sum()))
    envelope.draw_by_envelope = lambda problem, *_: _fails(int(problem.counts.sum()))
    greedy.NodeCounts = lambda left, captured: _fails(int(left.sum()))
    _fail_in_columns(after=1)


def error_with_a_context_while_filling():
    from discreet.private.counts.marginals import MarginalsInProgress
    from discreet.private.counts.patterns import PatternsInProgress

    def failing(finish, records):
        def fail(self):
            try:
                _fails(records(finish(self)))
            except MemoryError:
                raise ValueError("too large") from None

        return fail

    PatternsInProgress.finish = failing(PatternsInProgress.finish, lambda patterns: int(patterns.counts.sum()))
    MarginalsInProgress.finish = failing(MarginalsInProgress.finish, _records)
    _fail_in_columns()
