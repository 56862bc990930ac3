"""How fast a private draw of a whole rule list is, on one thread; `make bench` runs it.

The training part (70 %) of Adult and COMPAS, the published Boolean features without the sensitive ones. Times are from counts
to a fitted model. The peer is prototype/plain_search.py, if it lies beside this checkout (best-first search, one prefix
at a time, exactly `length` rules, rules that agree merged). `--plot` measures how time grows with
candidates, length and epsilon, and draws docs/growth.svg; it needs matplotlib.
"""

import argparse
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from discreet import DPOptimalRuleListClassifier, PrivateCounts, Schema
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.counts.patterns import rules_on_patterns
from discreet.rules.candidates import Candidates

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT.parent / "shared" / "prototype"), str(ROOT)]
sys.dont_write_bytecode = True


def filled(load, seed=0):
    X, y = load(binary=True, sensitive=False, return_X_y=True)
    X, y = X.astype(bool), np.asarray(y)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
    return PrivateCounts.from_table(X.iloc[train], y[train], Schema.of_booleans(list(X.columns))), X.iloc[test], y[test]


def arrays(private, max_literals):
    """(rules, patterns) and (classes, patterns), as the peers need them."""
    return rules_on_patterns(private.patterns, Candidates.of_schema(private.schema, max_literals))


def draw(private, epsilon, rules, max_literals, time_limit=None):
    clf = DPOptimalRuleListClassifier(
        epsilon=epsilon,
        max_length=rules + 1,
        max_literals=max_literals,
        counts_share=0,
        random_state=0,
        time_limit=time_limit,
    )
    start = time.perf_counter()
    clf.fit_counts(private)
    return time.perf_counter() - start, clf


def plain(private, epsilon, rules, max_literals, limit):
    """The peer's time, or None if it takes longer than the limit."""
    import plain_search

    truth, counts = arrays(private, max_literals)
    merged = np.unique(truth, axis=0)

    def give_up(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit)
    start = time.perf_counter()
    try:
        plain_search.draw_list(merged.T, counts.T, epsilon, rules, np.random.default_rng(0))
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)
    return time.perf_counter() - start


def compare():
    adult, X, y = filled(load_adult)
    compas, CX, cy = filled(load_compas)
    draw(compas, 1.0, 2, 1)  # warm up
    print("A private draw of a whole list, one thread:")
    for what, private, X_test, y_test, epsilon, rules, card, limit in (
        ("Adult, 3 single literals", adult, X, y, 1.0, 3, 1, 60),
        ("Adult, 3 pairs", adult, X, y, 1.0, 3, 2, 300),
        ("COMPAS, 4 pairs", compas, CX, cy, 10.0, 4, 2, 120),
        ("Adult, 4 pairs", adult, X, y, 1.0, 4, 2, None),
        ("Adult, 4 pairs", adult, X, y, 0.1, 4, 2, None),
        ("Adult, 5 pairs", adult, X, y, 1.0, 5, 2, None),
    ):
        seconds, clf = draw(private, epsilon, rules, card)
        line = f"  {what:26} epsilon {epsilon:4}: {seconds:8.3f} s, test accuracy {clf.score(X_test, y_test):.4f}"
        if limit and find_spec("plain_search"):
            peer = plain(private, epsilon, rules, card, limit)
            took = f"{peer:.2f} s: {peer / seconds:.0f} times slower" if peer else f"not done after {limit} s"
            line += f"   prototype/plain_search.py {took}"
        print(line, flush=True)


def growth(path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    adult, *_ = filled(load_adult)
    german, *_ = filled(load_german_credit)
    compas, *_ = filled(load_compas)
    figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharey=True)
    markers = iter("os^dvPX*")

    def plot(axis, label, xs, seconds):
        axis.plot(xs, seconds, marker=next(markers), label=label, linewidth=1.2)

    columns = list(adult.schema.names)
    for rules in (2, 3, 4):
        xs, ts = [], []
        for n in (4, 8, 12, 16, 20):
            out = columns[n:]
            clf = DPOptimalRuleListClassifier(
                epsilon=1.0, max_length=rules + 1, max_literals=2, counts_share=0, exclude=out, random_state=0
            )
            start = time.perf_counter()
            clf.fit_counts(adult)
            ts.append(time.perf_counter() - start)
            xs.append(len(Candidates.of_schema(adult.schema.exclude(out), 2)))
        plot(axes[0], f"Adult, {rules} rules", xs, ts)
        print("candidates", rules, list(zip(xs, np.round(ts, 3).tolist(), strict=True)), flush=True)
    for name, private, card, most in (
        ("COMPAS, singles", compas, 1, 7),
        ("COMPAS, pairs", compas, 2, 5),
        ("Adult, singles", adult, 1, 6),
        ("Adult, pairs", adult, 2, 4),
        ("German, singles", german, 1, 4),
    ):
        ts = [draw(private, 1.0, rules, card)[0] for rules in range(1, most + 1)]
        plot(axes[1], name, range(1, most + 1), ts)
        print("length", name, np.round(ts, 3).tolist(), flush=True)
    markers = iter("os^dvPX*")
    epsilons = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    for name, private, card, rules in (
        ("COMPAS, 4 pairs", compas, 2, 4),
        ("Adult, 3 singles", adult, 1, 3),
        ("Adult, 3 pairs", adult, 2, 3),
        ("German, 3 singles", german, 1, 3),
    ):
        ts = [draw(private, epsilon, rules, card)[0] for epsilon in epsilons]
        plot(axes[2], name, epsilons, ts)
        print("epsilon", name, np.round(ts, 3).tolist(), flush=True)
    for axis, label in zip(axes, ("candidate rules (pairs of literals)", "rules in the list", "epsilon"), strict=True):
        axis.set_xlabel(label)
        axis.set_yscale("log")
        axis.grid(alpha=0.3, which="both", linewidth=0.4)
        axis.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    axes[2].set_xscale("log")
    axes[0].set_ylabel("seconds for one draw, one core")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", action="store_true")
    growth(ROOT / "docs" / "growth.svg") if parser.parse_args().plot else compare()
