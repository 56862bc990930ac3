"""Things that may go wrong in the middle of a fit, with a number of records in the message. None of it may get out."""


def _fails(n):
    import numpy as np

    raise np._core._exceptions._ArrayMemoryError((314, n), np.dtype(float))


def memory_while_filling():
    from discreet.vault import vault

    real = vault.CellsInProgress.finish
    vault.CellsInProgress.finish = lambda self: _fails(int(real(self).counts.sum()))


def memory_while_drawing():
    from discreet.vault import greedy_doors, list_doors, tree_doors

    list_doors.make_problem = lambda truth, counts, *_: _fails(int(counts.sum()))
    tree_doors.TreeProblem = lambda truth, counts, *_: _fails(int(counts.sum()))
    greedy_doors.NodeCounts = lambda left, captured: _fails(int(left.sum()))


def error_with_a_context_while_filling():
    from discreet.vault import vault

    def finish(self):
        try:
            _fails(int(real(self).counts.sum()))
        except MemoryError:
            raise ValueError("too large") from None

    real = vault.CellsInProgress.finish
    vault.CellsInProgress.finish = finish
