"""Draws against numpy_trees.py, from the same answers to the same tests, on one thread and in one run; and their memory."""

import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from problems import adult, problem_of, published

from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling.trees.drawing import WeighedTrees

RATE, ROUNDS = 0.9, 5
CASES = {
    "Adult, 41 tests, depth 4": (partial(adult, sensitive=False), 4),
    "Adult, 70 tests, depth 4": (partial(adult, sensitive=True), 4),
    "Adult, 20 features, depth 5": (published, 5),
}


def draw(X: np.ndarray, y: np.ndarray, depth: int, seed: int) -> object:
    """From answers to a tree, as the peer does it."""
    return WeighedTrees(problem_of(X, y, RATE), depth).draw(SeededEntropy(seed))


def best_times(jobs: dict[str, Callable[[int], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The processor time of each, the best of several; they take turns, so that all have the same neighbours."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for seed in range(rounds):
        for name, job in jobs.items():
            start = time.process_time()
            job(seed)
            taken[name].append(time.process_time() - start)
    return {name: min(times) for name, times in taken.items()}


def compare(peer_folder: Path | None) -> None:
    """The targets: four times as fast at depth 4; depth 5 in half of the peer's time for 70 tests."""
    jobs: dict[str, Callable[[int], object]] = {}
    for name, (load, depth) in CASES.items():
        X, y = load()
        jobs[name] = partial(draw, X, y, depth)
    if peer_folder is None:
        print("without --numpy-trees there is no peer")
    else:
        sys.path.insert(0, str(peer_folder))
        import numpy_trees

        for name, sensitive in (("Adult, 41 tests, depth 4", False), ("Adult, 70 tests, depth 4", True)):
            X, y = adult(sensitive)
            jobs[f"numpy_trees: {name}"] = lambda seed, X=X, y=y: numpy_trees.draw(
                X, y, RATE, 4, np.random.default_rng(seed)
            )
    times = best_times(jobs)
    for name in CASES:
        line = f"{name:29} {times[name]:7.3f} s, {memory_of(name):5.1f} MB beside the table"
        against = f"numpy_trees: {name}" if "depth 4" in name else "numpy_trees: Adult, 70 tests, depth 4"
        if against in times:
            line += f"; {against.replace('numpy_trees: ', 'numpy_trees, ')} {times[against]:.3f} s: "
            line += f"{times[against] / times[name]:.2f} times as long"
        print(line, flush=True)


def memory_of(name: str) -> float:
    """Megabytes that a draw takes at its peak, beyond the answers of the records, in a process of its own."""
    command = [sys.executable, __file__, name]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def peak_of_a_draw(name: str) -> float:
    """NumPy tells tracemalloc of its arrays."""
    load, depth = CASES[name]
    problem = problem_of(*load(), RATE)
    tracemalloc.start()
    WeighedTrees(problem, depth).draw(SeededEntropy(0))
    return tracemalloc.get_traced_memory()[1] / 1e6


if __name__ == "__main__":
    print(json.dumps(peak_of_a_draw(sys.argv[1])))
