"""How often intervals are right: of rates, differences and balanced accuracies by noise and sampling, of counts by the noise.

    python benchmarks/evaluation_coverage.py [--releases 10000] [--json FILE]

Records are sampled (each is classified correctly with a chance p), counted, and released with discrete Laplace noise, again and
again; the share of releases whose interval holds the true value should be 95 %. ``inside``: all numbers but those that are said
to be too small, or whose interval reaches 0 or 1 in more than one release of a hundred. There the interval cannot miss on one
side, and so is right more often.
"""

import argparse
import itertools
import json

import numpy as np

from discreet.evaluation.rates import Sum, difference, mean_rate, rate
from discreet.models.partition import Answer
from discreet.private.noise.sums import margin

EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0)
SIZES = (20, 50, 200, 1000, 5000, 20000)
CHANCES = (0.5, 0.7, 0.9, 0.97)
BINS = ((1, 1), (2, 2), (1, 3), (8, 8))


class Simulation:
    """Releases of made-up tables, and how often intervals were right."""

    def __init__(self, releases, seed=0):
        self.releases, self.rng, self.found = releases, np.random.default_rng(seed), {}

    def noise(self, epsilon, bins):
        """Sums of so many discrete Laplace numbers."""
        p = -np.expm1(-epsilon)
        shape = (self.releases, bins)
        return (self.rng.geometric(p, shape) - self.rng.geometric(p, shape)).sum(axis=1)

    def pair(self, size, chance, epsilon, bins):
        """Noisy numbers of records of the one kind and of the other."""
        of = self.rng.binomial(size, chance, self.releases)
        return tuple(Sum(n + self.noise(epsilon, b), b) for n, b in zip((of, size - of), bins, strict=True))

    def note(self, kind, low, high, truth, where, epsilon, pairs=(), ends=(0.0, 1.0)):
        """How often the interval was right, and whether it is one that says something."""
        right = float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))
        reaches = float(np.mean((low <= ends[0]) | (high >= ends[1])))
        few = [np.median(a.noisy + b.noisy) < 2 * margin(epsilon, a.bins + b.bins) for a, b in pairs]
        self.found.setdefault(kind, []).append((right, reaches <= 0.01 and not any(few), where))

    def rates(self, epsilon):
        """One rate: an accuracy, a recall, a share of a part."""
        for size, chance, bins in itertools.product(SIZES, CHANCES, BINS):
            pair = self.pair(size, chance, epsilon, bins)
            _, low, high = rate(*pair, epsilon)
            self.note("rate", low, high, chance, (epsilon, size, chance, bins), epsilon, [pair])

    def combined(self, epsilon):
        """Differences of groups, and means of two and three recalls."""
        chances = ((0.8, 0.8), (0.8, 0.6), (0.95, 0.9), (0.97, 0.99), (0.9, 0.3))
        for (one, other), (p, q) in itertools.product(itertools.product(SIZES[::2], SIZES[1::2]), chances):
            a, b, c = (
                self.pair(n, chance, epsilon, bins)
                for n, chance, bins in ((one, p, (2, 2)), (other, q, (4, 4)), (other, q, (2, 2)))
            )
            where = epsilon, one, other, p, q
            less = difference(a, b, epsilon)
            at_ends = sum(np.mean((i.low <= 0) | (i.high >= 1)) for i in (rate(*a, epsilon), rate(*b, epsilon)))
            inside = (-1.0, 1.0) if at_ends <= 0.01 else (1.0, -1.0)
            self.note("difference", less.low, less.high, p - q, where, epsilon, [a, b], inside)
            for kind, pairs in (("mean of two recalls", [a, c]), ("mean of three recalls", [a, b, c])):
                mean = mean_rate(pairs, epsilon)
                at_ends = sum(np.mean((i.low <= 0) | (i.high >= 1)) for i in (rate(*x, epsilon) for x in pairs))
                truth = (p + q) / 2 if len(pairs) == 2 else (p + 2 * q) / 3
                inside = (0.0, 1.0) if at_ends <= 0.01 else (1.0, 0.0)
                self.note(kind, mean.low, mean.high, truth, where, epsilon, pairs, inside)

    def counts(self, epsilon):
        """A count, and sums of some: the noise alone."""
        for bins in (1, 2, 8, 48):
            noise, far = self.noise(epsilon, bins), margin(epsilon, bins)
            self.note(f"count of {bins} bins", noise - far, noise + far, 0, (epsilon, bins), epsilon, ends=(-1e9, 1e9))

    def released_counts(self, epsilon, times=2000):
        """Counts on a model."""
        for exact in ((5, 20), (20, 20), (20, 22), (200, 2000), (12, 10, 14)):
            right, whole = np.zeros(len(exact)), 0
            label = len(exact) - 1
            for _ in range(min(times, self.releases)):
                p = -np.expm1(-epsilon)
                noisy = exact + self.rng.geometric(p, len(exact)) - self.rng.geometric(p, len(exact))
                answer = Answer(label, tuple(map(float, noisy)))
                ends = answer.count_intervals(epsilon)
                right += [low <= n <= high for (low, high), n in zip(ends, exact, strict=True)]
                low, high = answer.support_interval(epsilon)
                whole += low <= sum(exact) <= high
            n = min(times, self.releases)
            for r in right:
                self.found.setdefault("count on a model", []).append((r / n, True, (epsilon, exact)))
            self.found.setdefault("number of records on a model", []).append((whole / n, True, (epsilon, exact)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=10_000)
    parser.add_argument("--json")
    given = parser.parse_args()
    simulation = Simulation(given.releases)
    for epsilon in EPSILONS:
        for part in (simulation.rates, simulation.combined, simulation.counts, simulation.released_counts):
            part(epsilon)
    print(
        f"{given.releases:,} releases each; {SIZES[0]} to {SIZES[-1]:,} records, epsilon {EPSILONS[0]} to {EPSILONS[-1]}\n"
    )
    print(
        f"{'interval of':30}{'cases':>6} {'right: least':>13} {'median':>7} {'most':>6}   {'inside':>6} {'least':>6} {'most':>6}"
    )
    for kind, found in simulation.found.items():
        right = [100 * r for r, _, _ in found]
        inside = [100 * r for r, counts, _ in found if counts]
        ends = f"{min(inside):6.2f} {max(inside):6.2f}" if inside else ""
        print(
            f"{kind:30}{len(right):6} {min(right):13.2f} {np.median(right):7.2f} {max(right):6.2f}   {len(inside):6} {ends}"
        )
        print(f"{'':30}least at {min(found)[2]}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(simulation.found, file, default=str)


if __name__ == "__main__":
    main()
