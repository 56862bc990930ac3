"""The paper's Table IV: do private lists rest on the same features as GreedyRL's? (Adult, set-up C)

The text says k = 7, the published numbers are those of k = 5. GreedyRL uses about four features, so any top-k fills up with
features of importance 0; the second reading counts only those above it. The reference stops at the minimum support, as the
private learners do.
"""

from collections.abc import Iterator

from .effort import Effort
from .runner import Unit


def units(effort: Effort) -> Iterator[Unit]:
    """Adult alone, as published."""
    for seed in range(effort.seeds):
        yield Unit("importance", "C", "Adult", seed, ("sm-laplace", "gl-laplace", "mass"), (1.0, 10.0), also="overlaps")
