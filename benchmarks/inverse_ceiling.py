"""Would a better bound make "inverse" better than "mass"? The same comparison, with losses that are too large to be private.

"inverse" loses by a number f(r, r') of records that is at most what it takes until r beats r'. Here is a larger one: the fewest
records of one kind (of one class, that come to, or leave, one side of r and one side of r') that make r beat r'. There are tables
with these class counts on which that is enough, so no bound from the class counts of two rules can exceed it. Losses from it, at
the same scale, are no mechanism: nothing bounds how they change. Prints f / g at the root for both, and by how much "inverse" and
this ceiling are ahead of "mass" in test accuracy, as inverse_accuracy.py does. Arguments: splits (0 for the roots only), draws.
"""

import sys
import warnings
from itertools import product

import inverse_accuracy
import numpy as np
from inverse_accuracy import LOADERS, accuracies, cell

from discreet import PrivateCounts
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.inverse import Inverse, InverseSelector, path_losses
from discreet.private.mechanisms.mass import UNITS, mass_units
from discreet.private.mechanisms.registry import register
from discreet.rules.candidates import Candidates

NEVER = 1e12


def mass(others, same):
    return others * same / np.maximum(others + same, 1.0)


def first_reached(gain, gap, most):
    """Some number of records, up to ``most``, that gains as much as the gap, with one fewer that does not; else ``NEVER``."""
    low, high, k = np.zeros_like(gap), np.full_like(gap, np.nan), np.ones_like(gap)
    for _ in range(60):
        tried = np.minimum(k, most)
        enough = (gain(tried) >= gap) & (tried > 0)
        low = np.where(np.isnan(high) & ~enough, tried, low)
        high = np.where(np.isnan(high) & enough, tried, high)
        if (~np.isnan(high) | (tried >= most)).all():
            break
        k = np.floor(1.7 * k + 1)
    never = np.isnan(high)
    while (~never & (high - low > 1)).any():
        middle = np.where(never, 0.0, (low + high) // 2)
        enough = gain(middle) >= gap
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(never, NEVER, high)


def ceilings(left, captured):
    """Of every candidate, then of no rule; two classes."""
    units = mass_units(NodeCounts(left, captured))
    winner, loser = np.nonzero(units[:, None] > units[None] + 1)
    gap = (units[winner] - units[loser] - 1) / UNITS
    inside = np.column_stack([captured, left])  # no rule has one side
    sides = np.stack([inside, np.column_stack([left[:, None] - captured, left])])
    fewest = np.full(len(winner), NEVER)
    for c, x, y in product((0, 1), repeat=3):
        p, o, q, u = sides[x, c, winner], sides[x, 1 - c, winner], sides[y, c, loser], sides[y, 1 - c, loser]

        def comes(k, p=p, o=o, q=q, u=u):
            return mass(u, q + k) - mass(u, q) - mass(o, p + k) + mass(o, p)

        def leaves(k, p=p, o=o, q=q, u=u):
            return mass(o, p) - mass(o, p - k) - mass(u, q) + mass(u, q - k)

        fewest = np.minimum(fewest, first_reached(comes, gap, np.full_like(gap, 4 * left.sum())))
        fewest = np.minimum(fewest, first_reached(leaves, gap, np.minimum(p, q)))
    losses = np.zeros(len(units))
    np.maximum.at(losses, winner, np.minimum(fewest, 4 * left.sum()))
    return losses.astype(np.int64)


class CeilingSelector(InverseSelector):
    def at_nodes(self, left, captured):
        return ceilings(left[:, 0], captured[:, :, 0])[:, None]


class Ceiling(Inverse):
    """For this experiment only: it is not private."""

    name = "ceiling"
    choice = CeilingSelector


def at_the_root(data):
    private = PrivateCounts.from_table(data.data, data.target, data.schema)
    node = private.of_rules(Candidates.of_schema(data.schema, 1)).counts([])
    gaps = (mass_units(node) - mass_units(node).min()) / UNITS
    behind = gaps > 0
    for paths in (path_losses(node.left[:, None], node.captured[:, :, None])[:, 0], ceilings(node.left, node.captured)):
        yield np.quantile(paths[behind] / gaps[behind], [0, 0.25, 0.5, 0.75])


def main(splits, draws):
    warnings.simplefilter("ignore")
    register(Ceiling())
    tables = {
        f"{name}, {what}": load(binary=binary, sensitive=False)
        for name, load in LOADERS.items()
        for what, binary in (("all columns", False), ("the paper's", True))
    }
    print(f"{'f / g at the root':24}{'inverse: least, 1/4, 1/2, 3/4':>34}{'ceiling':>12}")
    for name, data in tables.items():
        print(f"{name:24}  " + "  |".join("".join(f"{q:8.2f}" for q in one) for one in at_the_root(data)), flush=True)
    if splits == 0:
        return
    names = ("inverse", "ceiling")
    print(
        f"\n{splits} splits, {draws} draws\n{'data':24}{'epsilon':>8}{'mass':>8}"
        + "".join(f"{n + ' - mass':>19}" for n in names)
    )
    for name, data in tables.items():
        found = accuracies(data, splits, draws, ("mass", *names))
        for epsilon in inverse_accuracy.EPSILONS:
            base = found[epsilon, "mass"]
            ahead = "".join(f"{cell(found[epsilon, other] - base):>19}" for other in names)
            print(f"{name:24}{epsilon:8g}{base.mean():8.4f}{ahead}", flush=True)


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:]) if len(sys.argv) > 1 else (20, 4))
