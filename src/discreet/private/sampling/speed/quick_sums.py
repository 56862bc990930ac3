"""An upper bound on many sums of weights, in single precision."""

import numpy as np

from ...counts.cells import Array


def little_more_than_log_sum(logs: Array) -> Array:
    """``log sum exp`` of each row in single precision, and 0.001 more: never less than it is. Rows of -inf give -inf.

    **Lemma.** *Proof.* A difference d from the largest is rounded by at most |d| 2^-24, and its exponential by 2^-20 (8 units in
    the last place). Where d < -87 it may be lost: less than n e^-87 of n terms. The others are too small by a factor of 1 - 7e-6
    at most, and they are added in double precision. So the sum is above 1 - 0.0009 of what it should be.  []

    **If it were too low**, an element would be drawn more rarely than its lists deserve, and no acceptance could make up for it:
    they would come out too rarely. tests/private/test_bounds.py compares it with sums in double precision, and finds an
    acceptance above 1.
    """
    top = logs.max(1, initial=-np.inf)
    with np.errstate(invalid="ignore", under="ignore"):
        sums: Array = np.exp((logs - top[:, None]).astype(np.float32)).sum(1, dtype=np.float64)
    return np.where(np.isneginf(top), -np.inf, top + np.log(sums, where=sums > 0, out=np.zeros(len(sums))) + 0.001)
