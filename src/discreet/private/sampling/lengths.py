"""What the prior gives to lists of each length. It is public."""

import math
from collections.abc import Sequence

import numpy as np

from ..counts.cells import Array


def log_lengths(lengths: Sequence[float], weights: Array, n_classes: int) -> Array:
    """The logarithm of the weight that a labelled list of each length gets, apart from its rules' weights.

    Lists of l rules without repetition have the weights l! e_l in all, e_l the elementary symmetric polynomial; each has
    n_classes^(l+1) labellings. Lengths that cannot be, for want of rules, are left out of the prior.
    """
    longest = min(len(lengths) - 1, len(weights))
    scale = float(weights.mean()) if len(weights) else 1.0  # keeps the polynomial in range
    symmetric = np.zeros(longest + 1)
    symmetric[0] = 1.0
    for weight in weights / scale:
        symmetric[1:] += weight * symmetric[:-1]
    prior = np.array(lengths[: longest + 1], np.float64)
    logs = np.full(longest + 1, -np.inf)
    for length in np.flatnonzero(prior / prior.sum() > 0):
        lists = math.lgamma(length + 1) + math.log(symmetric[length]) + length * math.log(scale)
        logs[length] = math.log(prior[length] / prior.sum()) - lists - (length + 1) * math.log(n_classes)
    return logs[: int(np.flatnonzero(np.isfinite(logs)).max(initial=0)) + 1]
