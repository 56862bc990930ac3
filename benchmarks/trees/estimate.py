"""How far off the estimate of a draw's time is, which follows from public numbers: measured / estimated, for many draws."""

import time
from collections.abc import Iterator

from problems import adult, made_up, problem_of, published

from discreet.estimators.feasibility import estimate_seconds
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.trees.drawing import WeighedTrees
from discreet.private.sampling.trees.log_weights import ACCURACY, GINI
from discreet.private.sampling.trees.problems import TreeProblem


def problems() -> Iterator[tuple[str, TreeProblem, int]]:
    """A name, what to draw from, and the depth."""
    for name, (X, y), depths in (
        ("Adult, 20 features", published(), (4, 5, 6)),
        ("Adult, 41 tests", adult(sensitive=False), (3, 4, 5)),
        ("Adult, 70 tests", adult(sensitive=True), (3, 4)),
    ):
        for depth in depths:
            for score in (ACCURACY, GINI):
                if score == ACCURACY or depth < 5:
                    yield f"{name}, {score}", problem_of(X, y, 0.9, score), depth
    for records in (1_000, 30_000):
        for classes in (2, 3, 5, 10):
            for score in (ACCURACY, GINI):
                X, y = made_up(records, 40, classes)
                yield f"{records:,} records, 40 tests, {classes} classes, {score}", problem_of(X, y, 0.9, score), 4
    for tests, depths in ((14, (6, 7, 8, 9)), (20, (5, 6, 7)), (80, (3, 4)), (400, (2, 3))):
        X, y = made_up(1_000, tests, 2)
        for depth in depths:
            yield f"1,000 records, {tests} tests, 2 classes, accuracy", problem_of(X, y, 0.9), depth


def compare() -> None:
    """A line for each."""
    for name, problem, depth in problems():
        taken = []
        for seed in range(3):
            start = time.process_time()
            WeighedTrees(problem, depth).draw(SeededEntropy(seed))
            taken.append(time.process_time() - start)
        seconds = min(taken)
        expected = estimate_seconds(problem.n_tests, [depth], len(problem.counts), problem.score)
        print(
            f"{name:47} depth {depth}, {problem.truth.shape[1]:6,} patterns: {seconds:7.2f} s, estimated {expected:7.2f} s: "
            f"{seconds / expected:5.2f}",
            flush=True,
        )
