"""Which prior over lengths makes a longer list never much worse than a shorter one? The table of docs/optimal.md.

    python benchmarks/list_lengths.py measure lengths.json       # a quarter of an hour on one core
    python benchmarks/list_lengths.py report lengths.json
    python benchmarks/list_lengths.py draws                      # two minutes: real draws, at once and several

No list is drawn: for each split (70/30) the expected test accuracy of a draw of exactly l rules, and the factor by which the
records make this length likelier, are computed exactly, by a sum over all lists. What any prior over lengths and any max_length
would give follows from these two numbers for each l, so that priors are compared without the noise of draws.

**The sum.** What a list leaves depends on the set of its rules only. So for sets S of rules, in the order of their size,

    F(S) = sum over r in S of F(S without r) * g(what r captures after S without r),
    g(part) = sum over labels of e^(rate * right),

is the weight of all orders of S, and the sum over S and r of F(S) * g(r after S) * g(the rest) that of all lists of one rule
more. The test records that are classified correctly are averaged with the same weights.
"""

import argparse
import json
import math
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
from small_tables import tables, votes

from discreet import DPOptimalRuleListClassifier
from discreet.datasets import load_compas
from discreet.private.sampling.reference import distribution_of_draw
from discreet.rules.prior import Prior

EPSILONS = (0.1, 0.3, 1.0, 3.0)
COUNTS_SHARE = 0.1
SIZES = (300, 1000, 3000, None)
SPLITS = 10
MOST_RULES = 7
WORK = 1.7e9  # sets * rules * patterns that a split with more than three rules may have: about two seconds
ROWS = 1024


def log_sum(logs, axis):
    top = logs.max(axis, keepdims=True)
    return np.squeeze(top + np.log(np.exp(logs - top).sum(axis, keepdims=True)), axis)


def weighed(train, test, rate):
    """Of parts with these class counts (classes first): log sum of e^(-rate * wrong), and test records right on average."""
    if len(train) == 2:  # the same with one exponential instead of four
        ahead = rate * (train[1] - train[0])
        ratio = np.exp(-np.abs(ahead))
        fewer, right = ratio / (1 + ratio), np.where(ahead > 0, test[1], test[0])
        return np.log1p(ratio) - rate * train.min(0), right + fewer * (test.sum(0) - 2 * right)
    logs = rate * (train - train.sum(0))
    log = log_sum(logs, 0)
    return log, (np.exp(logs - log) * test).sum(0)


class Mean:
    """A mean with weights given as logarithms, as it grows."""

    def __init__(self):
        self.log, self.mean = -np.inf, 0.0

    def add(self, logs, values):
        top = logs.max()
        if top == -np.inf:
            return
        weights = np.exp(logs - top)
        log = top + math.log(weights.sum())
        mean = float((weights * values).sum() / weights.sum())
        total = np.logaddexp(self.log, log)
        self.mean += (mean - self.mean) * math.exp(log - total)
        self.log = float(total)


def lengths_of(truth, train, test, rates, most_rules):
    """For each rate and each number of rules: log of the mean weight of a list, test records right on average.

    ``truth`` (rules, patterns); ``train``, ``test`` (classes, patterns). The weight is e^(-rate * wrong), labels averaged.
    """
    n_rules, n_classes = len(truth), len(train)
    inside, counts = truth.T.astype(np.float32), np.concatenate([train, test]).astype(np.float32)
    outside = 1 - truth.astype(np.float32)
    found = [[Mean() for _ in range(most_rules + 1)] for _ in rates]
    for of_rate, rate in zip(found, rates, strict=True):
        log, right = weighed(train.sum(1, keepdims=True), test.sum(1, keepdims=True), rate)
        of_rate[0].add(log, right)
    sets = np.zeros((1, 0), int)
    logs, rights = np.zeros((len(rates), 1)), np.zeros((len(rates), 1))  # of the rules of each set, in all their orders
    for size in range(most_rules):
        last_level = size + 1 == most_rules
        log_next = np.empty((len(rates), 0 if last_level else len(sets), n_rules))
        right_next = np.empty_like(log_next)
        for start in range(0, len(sets), ROWS):
            block = slice(start, start + ROWS)
            alive = np.ones((len(sets[block]), truth.shape[1]), np.float32)
            for column in sets[block].T:
                alive *= outside[column]
            captured = np.stack([(alive * c) @ inside for c in counts]).astype(float)
            rest = (counts @ alive.T).astype(float)[:, :, None] - captured
            used = np.zeros(captured.shape[1:], bool)
            for column in sets[block].T:
                used[np.arange(len(used)), column] = True
            for i, rate in enumerate(rates):
                log, right = weighed(captured[:n_classes], captured[n_classes:], rate)
                log_rest, right_rest = weighed(rest[:n_classes], rest[n_classes:], rate)
                log_all = np.where(used, -np.inf, logs[i, block, None] + log + log_rest)
                found[i][size + 1].add(log_all, rights[i, block, None] + right + right_rest)
                if not last_level:
                    log_next[i, block] = logs[i, block, None] + log
                    right_next[i, block] = rights[i, block, None] + right
        if last_level:
            break
        larger = np.array(list(combinations(range(n_rules), size + 1)))
        place = codes(sets, n_rules)  # in lexicographic order, so ascending
        last = [
            (np.searchsorted(place, codes(np.delete(larger, j, 1), n_rules)), larger[:, j]) for j in range(size + 1)
        ]
        new_logs = np.stack([log_next[:, before, rule] for before, rule in last])
        logs = log_sum(new_logs, 0)
        rights = (np.exp(new_logs - logs) * np.stack([right_next[:, before, rule] for before, rule in last])).sum(0)
        sets = larger
    lists = [math.log(math.perm(n_rules, k)) + (k + 1) * math.log(n_classes) for k in range(most_rules + 1)]
    return [[(m.log - lists[k], m.mean) for k, m in enumerate(of_rate)] for of_rate in found]


def codes(sets, n_rules):
    return sets @ (n_rules ** np.arange(sets.shape[1])[::-1]) if sets.shape[1] else np.zeros(len(sets), int)


def feasible_rules(n_rules, n_patterns):
    return max(
        k
        for k in range(1, MOST_RULES + 1)
        if k <= 3 or math.comb(n_rules, k - 1) * n_rules * (n_patterns + 700) <= WORK
    )


def cells_of(truth, y, train, test):
    """Patterns, and class counts of train and test in them."""
    both = np.concatenate([train, test])
    packed = np.packbits(truth[:, both], axis=0).T
    _, first, pattern = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    counts = np.zeros((2, y.max() + 1, len(first)))
    np.add.at(counts, (np.repeat([0, 1], [len(train), len(test)]), y[both], pattern.ravel()), 1)
    return truth[:, both][:, first], counts[0], counts[1]


def measure(out):
    results = []
    for name, truth, y in tables():
        n_patterns = len(np.unique(np.packbits(truth, axis=0).T, axis=0))
        for size in SIZES:
            if size is not None and size > 0.8 * len(y):
                continue
            most_rules = feasible_rules(len(truth), min(n_patterns, size or len(y)))
            for seed in range(SPLITS):
                order = np.random.default_rng(seed).permutation(len(y))[:size]
                train, test = order[: int(0.7 * len(order))], order[int(0.7 * len(order)) :]
                patterns = cells_of(truth, y, train, test)
                rates = [epsilon * (1 - COUNTS_SHARE) for epsilon in EPSILONS]
                for epsilon, found in zip(EPSILONS, lengths_of(*patterns, rates, most_rules), strict=True):
                    logs, right = zip(*found, strict=True)
                    results.append(
                        {
                            **{
                                "table": name,
                                "records": len(order),
                                "candidates": len(truth),
                                "classes": int(y.max()) + 1,
                            },
                            **{
                                "epsilon": epsilon,
                                "seed": seed,
                                "logs": logs,
                                "accuracy": [r / len(test) for r in right],
                            },
                        }
                    )
            print(name, size, flush=True)
        Path(out).write_text(json.dumps(results))


def check():
    """The sums against full enumeration."""
    rng = np.random.default_rng(1)
    for n_classes in (2, 3):
        truth = rng.random((4, 9)) < 0.5
        train, test = rng.integers(0, 6, (2, n_classes, 9)).astype(float)
        (found,) = lengths_of(truth, train, test, [0.3], 3)
        log, right = np.array(found).T
        lists, _, logs = distribution_of_draw(truth, train, Prior((1.0,) * 4, np.ones(4)), 0.3)
        chance, correct = np.exp(logs - np.logaddexp.reduce(logs)), []
        for rules, labels in lists:
            left, total = np.ones(9, bool), 0.0
            for rule, label in zip(rules, labels, strict=False):
                total += test[label, left & truth[rule]].sum()
                left &= ~truth[rule]
            correct.append(total + test[labels[-1], left].sum())
        length, correct = np.array([len(rules) for rules, _ in lists]), np.array(correct)
        share = np.exp(log - np.logaddexp.reduce(log))
        for k in range(4):
            here = length == k
            assert np.isclose(chance[here].sum(), share[k]), (k, chance[here].sum(), share[k])
            assert np.isclose(chance[here] @ correct[here] / chance[here].sum(), right[k])


def falling(factor):
    """Each further rule multiplies the weight of a length with this."""
    return lambda of, rules: rules * math.log(factor)


PRIORS = {
    "all lengths alike (the default)": falling(1.0),
    **{f"each rule multiplies by {factor:g}": falling(factor) for factor in (2.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)},
    "each rule divides by the candidates": lambda of, rules: -rules * math.log(of["candidates"]),
    "each rule divides by its number (1 / l!)": lambda of, rules: -np.cumsum(np.log(np.maximum(rules, 1))),
    "alike, but never no rule": lambda of, rules: np.where((rules == 0) & (len(rules) > 1), -np.inf, 0.0),
    "never no rule, then by 0.5": lambda of, rules: np.where(
        (rules == 0) & (len(rules) > 1), -np.inf, rules * math.log(0.5)
    ),
    "always the longest": lambda of, rules: np.where(rules == len(rules) - 1, 0.0, -np.inf),
}


def accuracies(splits, prior):
    """(splits, longest + 1): the expected test accuracy of one draw of up to 0, 1, ... rules."""
    found = np.empty((len(splits), len(splits[0]["logs"])))
    for row, of in zip(found, splits, strict=True):
        logs, accuracy = np.array(of["logs"]), np.array(of["accuracy"])
        for most in range(len(row)):
            rules = np.arange(most + 1)
            weighed_logs = logs[: most + 1] + prior(of, rules)
            weights = np.exp(weighed_logs - weighed_logs.max())
            row[most] = weights @ accuracy[: most + 1] / weights.sum()
    return found


def regret(scores):
    """Of all numbers of rules from 2 on: the most by which fewer would have been better, and its standard error."""
    mean = scores.mean(0)
    worst = max(
        ((mean[few] - mean[many], few, many) for many in range(2, len(mean)) for few in range(1, many)),
    )
    lost = scores[:, worst[1]] - scores[:, worst[2]]
    return worst[0], lost.std(ddof=1) / math.sqrt(len(lost))


def report(file):
    cases = {}
    for one in json.loads(Path(file).read_text()):
        cases.setdefault((one["table"], one["records"], one["epsilon"]), []).append(one)
    keys = list(cases)
    measured = {name: [accuracies(cases[key], prior) for key in keys] for name, prior in PRIORS.items()}
    alike = next(iter(measured.values()))
    small = np.array([epsilon <= 0.3 for _, _, epsilon in keys])
    trained = np.array([0.7 * records * epsilon for _, records, epsilon in keys])
    print(f"{len(keys)} cases, {len({key[0] for key in keys})} tables, {len(next(iter(cases.values())))} splits\n")
    bins = ((0, 100), (100, 1000), (1000, np.inf))
    print("| prior over lengths | up to 3 rules, against alike: mean | worst | best |", end="")
    print(
        " epsilon * records < 100 | to 1,000 | above | fewer rules better by, epsilon <= 0.3: most | cases > 0.01 |",
        end="",
    )
    print(" epsilon >= 1: most | cases > 0.01 |\n|" + "---|" * 11)
    for name, scores in measured.items():
        gain = np.array([mine[:, 3].mean() - theirs[:, 3].mean() for mine, theirs in zip(scores, alike, strict=True)])
        regrets = np.array([regret(one)[0] for one in scores])
        parts = [f"{gain[(trained >= low) & (trained < high)].mean():+.4f}" for low, high in bins]
        told = [f"{regrets[part].max():.3f} | {(regrets[part] > 0.01).sum()}" for part in (small, ~small)]
        shown = [f"{gain.mean():+.4f}", f"{gain.min():+.3f}", f"{gain.max():+.3f}", *parts, *told]
        print(f"| {name} | " + " | ".join(shown) + " |")
    for title, where in (("epsilon <= 0.3", small), ("epsilon >= 1", ~small)):
        print(
            f"\nAll lengths alike, {title}, where fewer rules are better by most; accuracy with up to 0, 1, ... rules"
        )
        found = sorted(((*regret(alike[i]), i) for i in np.flatnonzero(where)), reverse=True)
        for lost, error, i in found[:10]:
            print(f"{keys[i]}: {lost:.4f} ({error:.4f})", np.round(alike[i].mean(0), 3).tolist())
    for name in ("each rule multiplies by 0.5", "each rule multiplies by 0.1"):
        print(f"\n{name}: where it loses most and gains most against alike, up to 3 rules")
        gain = [(a - b)[:, 3].mean() for a, b in zip(measured[name], alike, strict=True)]
        order = np.argsort(gain)
        for i in (*order[:6], *order[-6:]):
            print(f"{keys[i]}: {gain[i]:+.4f}")


def draws():
    """Mean test accuracy of real fits at epsilon 0.1, 100 splits with a draw each, at once and in several draws."""
    warnings.simplefilter("ignore")  # seeds
    X, y = load_compas(binary=True, sensitive=False, return_X_y=True)
    truth, labels = votes(435, seed=1)
    cases = (("made-up votes, 435 records", truth[: len(truth) // 2].T, labels), ("COMPAS, 1,000", X.to_numpy(bool), y))
    for name, records, labels in cases:
        for max_length, rules_per_draw in ((2, None), (3, None), (4, None), (5, None), (5, 3), (5, 2), (5, 1)):
            scores = []
            for seed in range(100):
                order = np.random.default_rng(seed).permutation(len(labels))[:1000]
                train, test = order[: int(0.7 * len(order))], order[int(0.7 * len(order)) :]
                clf = DPOptimalRuleListClassifier(
                    epsilon=0.1, max_length=max_length, rules_per_draw=rules_per_draw, random_state=seed
                )
                clf.fit(records[train], np.asarray(labels)[train])
                scores.append(clf.score(records[test], np.asarray(labels)[test]))
            told = f"{np.mean(scores):.3f} ({np.std(scores, ddof=1) / 10:.3f}), one draw varies by {np.std(scores, ddof=1):.3f}"
            print(f"{name}: up to {max_length - 1} rules, rules_per_draw={rules_per_draw}: {told}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "report", "draws"])
    parser.add_argument("file", nargs="?", default="lengths.json")
    given = parser.parse_args()
    if given.what == "draws":
        draws()
    elif given.what == "report":
        report(given.file)
    else:
        check()
        measure(given.file)
