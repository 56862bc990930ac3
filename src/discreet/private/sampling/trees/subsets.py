"""Subsets of the tests 0 ... m - 1 in lexicographic order, by their numbers."""

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

Sets = npt.NDArray[np.intp]


def subsets(m: int, size: int) -> Sets:
    """All subsets of a size, one a row, ascending.

    >>> subsets(4, 2).tolist()
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    """
    flat = np.fromiter((x for s in combinations(range(m), size) for x in s), np.intp, comb(m, size) * size)
    return flat.reshape(comb(m, size), size)


def numbers_of(sets: Sets, m: int) -> Sets:
    """The number of each subset among those of its size.

    >>> numbers_of(subsets(5, 3), 5).tolist() == list(range(10))
    True
    """
    size = sets.shape[1]
    number = np.full(len(sets), comb(m, size) - 1, np.intp)
    for place in range(size):
        # those that agree up to this place and have a larger test there
        larger = np.array([comb(m - 1 - test, size - place) for test in range(m)], np.intp)
        number -= larger[sets[:, place]]
    return number
