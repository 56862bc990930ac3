"""From bins to literals, of many groups at once.

Most groups have few bins, and a product of small matrices takes no time beside what it takes to ask for it. So neighbouring
groups are multiplied at once, as a *strip*: by a matrix that is 0 where a literal is of one group and a bin of another.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .cells import Array
from .groups import Groups

STRIP = 1 << 5  # bins: less is not worth a product of its own, and of more nearly all would be zeros


class Strips:
    """Where the literals of each group are, and in which of its bins they are true (literals, bins)."""

    def __init__(self, groups: Groups, truths: Sequence[Array]) -> None:
        self._begins, self._places = groups.begins, (0, *np.cumsum([len(true) for true in truths]).tolist())
        ends = [0]
        for group in range(1, len(truths)):
            if self._begins[group + 1] - self._begins[ends[-1]] > STRIP:
                ends.append(group)
        self._strips = [(a, b, _block_diagonal(truths[a:b]).T) for a, b in pairwise([*ends, len(truths)])]

    def literals(self, counts: Array, group: int, out: Array | None = None) -> Array:
        """From the bins of all groups from this one on to their literals: both in the last of three axes."""
        bin_, place = self._begins[group], self._places[group]
        found = np.empty((*counts.shape[:-1], self._places[-1] - place)) if out is None else out
        for begin, end, true in self._strips:
            if end > group:
                low = max(begin, group)
                bins = slice(self._begins[low] - bin_, self._begins[end] - bin_)
                places = slice(self._places[low] - place, self._places[end] - place)
                some = true[self._begins[low] - self._begins[begin] :, self._places[low] - self._places[begin] :]
                np.matmul(counts[..., bins], some, out=found[..., places])
        return found


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    """One matrix of some, with zeros beside them."""
    whole = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        whole[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return whole
