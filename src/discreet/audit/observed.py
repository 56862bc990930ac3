"""Level 3: many fits of the classifier as a user calls it, and what they show about its loss.

Which event to look for follows from the exact laws of level 2; how often it happens on each of the two tables is then counted.
Clopper and Pearson's bounds turn the two frequencies into a lower bound for epsilon that is wrong with probability 1/1000 at
most. It must stay below what is promised; and it must come near the exact loss on that pair, or the audit would be blind. Also
the frequencies of all outcomes must agree with the exact law: that is how a sampler shows that does not follow its own.
"""

import math
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, chisquare

from .._utils.errors import PrivacyWarning
from ..estimators.trees import Trees
from ..rules.numbered_tree import leaves_of
from .explore import Output, key_of, shifted_counts
from .explorer import Keeps
from .learners import Counts, Pair, Subject, as_table

CONFIDENCE = 0.999

# Rules or tests, labels if they were drawn, and on which side of its exact value the decisive count is
Outcome = tuple[Any, ...]


class Event(NamedTuple):
    """A set of outcomes that is likelier on one of two tables, and the loss of the event as a whole."""

    outcomes: frozenset[Outcome]
    on_more: bool  # whether it is likelier on the larger table
    epsilon: float
    expected: float  # what the fits will show, about


class Watch(NamedTuple):
    """How to tell the outcomes of fits on a pair of tables apart, with the chances of each on the two tables.

    Where labels were drawn, the class counts of a model are adjusted to them (``predict_proba`` is to agree with ``predict``), so
    there only lists and labels are looked at.
    """

    chances: dict[Outcome, tuple[float, float]]
    decisive: dict[Outcome, tuple[int, int]]  # for each list, which count differs, and its smaller exact value
    drawn_labels: bool
    numbers: dict[str, int]  # of the candidate rules

    def outcome(self, model: Any) -> Outcome:
        """Of a fitted model."""
        key: Outcome
        parts: list[Any]
        if isinstance(model, Keeps):
            key, parts = key_of(model.learned), [leaf for _, leaf in leaves_of(model.learned)]
        else:
            parts = [*model.rule_list_.rules, model.rule_list_.default]
            chosen = tuple(self.numbers[" and ".join(map(str, rule.antecedent))] for rule in parts[:-1])
            key = (chosen, tuple(int(rule.label) for rule in parts) if self.drawn_labels else None)
        if key not in self.decisive:
            return (*key, None)
        place, value = self.decisive[key]
        counts = [count for part in parts for count in part.counts]
        return (*key, bool(counts[place] > value))


def watch(subject: Subject, pair: Pair) -> Watch:
    """From the exact laws on both tables."""
    less, more = subject.laws(pair)
    chances: dict[Outcome, tuple[float, float]] = {}
    decisive: dict[Outcome, tuple[int, int]] = {}
    keys = less.outputs.keys() | more.outputs.keys()
    drawn_labels = next(iter(keys))[1] is not None
    for key in sorted(keys):
        one, two = less.outputs.get(key), more.outputs.get(key)
        p, q = (0.0 if law is None else math.exp(law.log_p) for law in (one, two))
        if one is None or two is None or drawn_labels or (place := _differing(one, two)) is None:
            chances[(*key, None)] = (p, q)
            continue
        decisive[key] = (place, min(one.released[place][0], two.released[place][0]))
        at_most = math.exp(shifted_counts(np.zeros(1), np.ones(1), np.array([one.released[place][1]]))[0][0])
        chances[(*key, False)] = (p * at_most, q * (1.0 - at_most))  # the noise is at most 0, resp. below 0
        chances[(*key, True)] = (p * (1.0 - at_most), q * at_most)
    return Watch(chances, decisive, drawn_labels, subject.numbers())


def _differing(one: Output, two: Output) -> int | None:
    pairs = enumerate(zip(one.released, two.released, strict=True))
    return next((i for i, (a, b) in pairs if a[0] != b[0]), None)


def best_event(chances: dict[Outcome, tuple[float, float]], fits: int) -> Event:
    """Of all sets of outcomes with a loss above some value, the one that so many fits will show most about."""
    best = Event(frozenset(), False, 0.0, -math.inf)
    for on_more in (False, True):
        pairs = {x: (pq[::-1] if on_more else pq) for x, pq in chances.items()}
        order = sorted(pairs, key=lambda x: -pairs[x][0] / max(pairs[x][1], 1e-300))
        p, q = np.cumsum([pairs[x] for x in order], axis=0).T
        for i in range(len(order)):
            shown = lower_bound(round(p[i] * fits), round(q[i] * fits), fits)
            if shown > best.expected:
                epsilon = math.log(p[i] / q[i]) if q[i] > 0.0 else math.inf
                best = Event(frozenset(order[: i + 1]), on_more, epsilon, shown)
    return best


def lower_bound(hits: int, hits_other: int, fits: int, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """Epsilon is at least this if an event was seen so often in so many fits on each of two tables."""
    alpha = (1.0 - confidence) / 2.0
    low = float(beta.ppf(alpha, hits, fits - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - alpha, hits_other + 1, fits - hits_other)) if hits_other < fits else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def misfit(seen: Counter[Outcome], chances: dict[Outcome, float]) -> float:
    """How likely it is that outcomes with these chances are so far from what was expected (a chi-squared test).

    A sampler that does not follow its law is seen here long before it breaks a promise.
    """
    fits = seen.total()
    if any(outcome not in chances for outcome in seen):
        return 0.0
    likely = [x for x, p in chances.items() if p * fits >= 5.0]
    hits = np.array([*(seen[x] for x in likely), fits - sum(seen[x] for x in likely)], float)
    expected = np.array([chances[x] for x in likely]) * fits
    expected = np.append(expected, max(0.0, fits - expected.sum()))
    if expected[-1] < 5.0:  # too few to be told apart: with the least likely of the others
        hits, expected = (np.append(values[:-2], values[-2:].sum()) for values in (hits, expected))
    if len(hits) < 2:
        return 1.0
    return float(chisquare(hits, expected).pvalue)


def outcomes(subject: Subject, seen: Watch, counts: Counts, fits: int) -> Counter[Outcome]:
    """What comes out of so many fits on a table, each as a user makes it."""
    X, y = as_table(counts)
    if issubclass(subject.classifier, Trees):
        subject = replace(subject, classifier=type("Kept", (Keeps, subject.classifier), {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Counter(seen.outcome(subject.make().fit(X, y)) for _ in range(fits))


class Seen(NamedTuple):
    """What fits showed: a lower bound for epsilon, also in parts of the loss of the event that was looked for."""

    epsilon: float
    power: float | None
    agreement: float  # the chance of so large a difference between fits and the exact laws


def observe(subject: Subject, pair: Pair, fits: int, delta: float) -> Seen:
    """So many fits on each of two tables."""
    seen = watch(subject, pair)
    event = best_event(seen.chances, fits)
    tables = [outcomes(subject, seen, table, fits) for table in (pair.less, pair.more)]
    chances = [misfit(drawn, {x: pq[i] for x, pq in seen.chances.items()}) for i, drawn in enumerate(tables)]
    less, more = (sum(n for x, n in drawn.items() if x in event.outcomes) for drawn in tables)
    epsilon = lower_bound(*((more, less) if event.on_more else (less, more)), fits, delta)
    power = epsilon / event.epsilon if event.epsilon > 0.01 else None
    return Seen(epsilon, power, min(1.0, 2.0 * min(chances)))
