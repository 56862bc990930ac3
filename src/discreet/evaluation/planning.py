"""What to expect at which epsilon, before anything is spent: from public numbers, or measured on public tables.

**The bound.** A list is drawn with probability proportional to ``prior * exp(e * correct)``, e being epsilon without the share
for the counts. All lists that are at least t records worse than the best one together have at most the probability
``exp(-e t) / prior(best)``. So with chance 1 - b the drawn list is at most ``(ln(1/prior(best)) + ln(1/b)) / e`` records worse
than the best, whatever the records are. Usually it is much closer. For trees the same holds, with their prior.

For score cards there is no such bound. What public numbers say of them is the noise in the class counts that points come from.

**Similar tables.** How good a private model is depends above all on the number of records times epsilon, then on the number of
columns and classes. All of these are public, so a private table can be compared with public ones: how good lists, trees and cards
are on those was measured and written by `make compare`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from .._utils.parameters import read_json
from ..estimators.cards import CardPlan
from ..estimators.optimal import ListPlan
from ..estimators.plans import FitPlan
from ..estimators.trees import GINI, TreePlan
from ..models.display.summary import Chance
from ..models.partition import DOUBLING
from ..private.noise.sums import margin

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GOOD = (0.1, 0.3, 1.0)  # of which one is recommended
IN_STAGES = "tree in stages 2, 2"
READABLE = ("list", "tree", IN_STAGES, "card")  # the kinds of models, by how easy they are to read
CONFIDENCE = 0.95
LEAST_GAIN = (
    0.01  # in accuracy: a table on which boosting gains less than that on the majority says nothing about models
)
FARTHEST = 0.5  # in factors of ten, beyond the records times epsilon that a table was measured at

Curve = Mapping[float, Mapping[str, float]]  # by epsilon, for each kind of model


def attackers_chance(epsilon: float, prior: float = 0.5) -> float:
    """How sure an attacker, who was this sure before, can become that a person is in the table.

    >>> round(attackers_chance(1.0), 3)
    0.731
    """
    return Chance(epsilon).after(prior)


def worst_loss(
    epsilon: float, records: int, n_candidates: int, n_classes: int = 2, max_length: int = 4, counts_share: float = 0.1
) -> float:
    """By how much the drawn list is less accurate than the best one, at most, with a chance of 95 %.

    It is about the records that are learned from, and needs public numbers only.

    >>> round(worst_loss(1.0, records=10_000, n_candidates=100), 4)
    0.0023
    """
    rules = min(max_length - 1, n_candidates)
    log_lists = sum(math.log(n_candidates - i) for i in range(rules)) + (rules + 1) * math.log(n_classes)
    return _loss_at_most(-math.log(max_length) - log_lists, epsilon * (1.0 - counts_share), records)


def worst_loss_of_trees(
    epsilon: float,
    records: int,
    n_tests: int,
    n_classes: int = 2,
    max_depth: int = 3,
    split: float = 0.5,
    rarest: float | None = None,
    counts_share: float = 0.1,
) -> float:
    """The same for a tree, drawn at once for its accuracy, against the best tree up to that depth.

    ``rarest`` is the prior probability of the test that has the smallest; None if all are alike.

    >>> round(worst_loss_of_trees(1.0, records=10_000, n_tests=100), 4)
    0.0051
    """
    log_leaf, log_test = -math.log(n_classes), math.log(1.0 / n_tests if rarest is None else rarest)
    least = log_leaf  # the logarithm of the smallest prior probability of any tree up to a depth
    for _ in range(max_depth):
        least = min(math.log1p(-split) + log_leaf, math.log(split) + log_test + 2.0 * least)
    return _loss_at_most(least, epsilon * (1.0 - counts_share), records)


def _loss_at_most(log_prior: float, epsilon: float, records: int) -> float:
    """By the bound above, for the model with the smallest prior."""
    return min(1.0, (-log_prior + math.log(1.0 / (1.0 - CONFIDENCE))) / epsilon / records)


@dataclass(frozen=True)
class Expected:
    """At one epsilon: the attacker's chance; the loss at most; and, on a stand-in, the measured accuracy and its error.

    There is no bound on the loss (None) for a model that is drawn in stages, or not for its accuracy, nor with class weights or
    a prior of lists. ``measures`` has the mean and the error of other things that were measured on the stand-in, too.
    """

    epsilon: float
    attacker: float
    loss: float | None
    accuracy: float | None = None
    error: float | None = None
    measures: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class ExpectedOfCards(Expected):
    """For a score card also how much noise there is at most, in 95 of 100 counts: in records, and in points.

    ``columns`` is how many give points; ``noise`` is that in the class counts of each of them; ``points`` is what it makes of the
    points of a value that a tenth of the records have, half of them in each class, before points are drawn towards 0 as far as
    the noise could have moved them. A tree's leaves are thought to have equally many records.
    """

    columns: int = 0
    noise: int = 0
    points: float = 0.0


def expect(plan: FitPlan, records: int) -> Expected:
    """What public numbers say of a fit with this plan (``DPOptimalTreeClassifier(schema=schema).plan()``) on so many records."""
    epsilon, draw = float(plan.terms.price), float(plan.terms.record_price)
    found = Expected(epsilon, attackers_chance(epsilon), None)
    if isinstance(plan, CardPlan):
        each, of_class = float(plan.budget.column_epsilon), records / (1 << plan.wanted.depth) / 10 / 2
        points = DOUBLING / math.log(2) * margin(each, 2) / of_class
        return ExpectedOfCards(**vars(found), columns=plan.wanted.columns, noise=margin(each), points=points)
    if not isinstance(plan, ListPlan | TreePlan) or (plan.class_weights != 1).any() or plan.budget.draws > 1:
        return found
    n, classes = len(plan.candidates), len(plan.class_weights)
    share = float(plan.budget.counts_epsilon / plan.terms.record_price)
    if isinstance(plan, ListPlan):
        if {*plan.prior.lengths, *plan.prior.rules.tolist()} != {1.0}:
            return found
        loss = worst_loss(draw, records, n, classes, len(plan.prior.lengths), share)
    else:
        if plan.criterion == GINI:
            return found
        rarest = float(plan.prior.tests[plan.prior.tests > 0].min())
        loss = worst_loss_of_trees(draw, records, n, classes, plan.depths[0], plan.prior.split, rarest, share)
    return replace(found, loss=loss)


def measure(
    X: Any, y: np.ndarray, learn: Callable[..., Any], repeats: int, done: Callable[[], object]
) -> dict[float, dict[str, tuple[float, float]]]:
    """Means on held-out records of a public table at each epsilon, and their errors; 0 stands for no privacy.

    They are the accuracy, the balanced accuracy, and the recall of each class. ``learn(epsilon=..., random_state=...)`` makes a
    classifier. ``done`` is called after each.
    """
    n, classes = len(y), np.unique(y)
    found: dict[float, list[dict[str, float]]] = {epsilon: [] for epsilon in (*EPSILONS, 0.0)}
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(n)
        train, test = order[: int(0.7 * n)], order[int(0.7 * n) :]
        for epsilon, rows in found.items():
            # at an enormous epsilon the draw is the best model; values are read as in a private fit
            clf = learn(epsilon=epsilon or 1e6, random_state=seed).fit(X.iloc[train], y[train])
            right = clf.predict(X.iloc[test]) == y[test]
            row = {f"recall of {c}": float(right[y[test] == c].mean()) for c in classes if (y[test] == c).any()}
            rows.append(
                {"accuracy": float(right.mean()), "balanced accuracy": float(np.mean(list(row.values()))), **row}
            )
            done()
    names = ("accuracy", "balanced accuracy", *(f"recall of {c}" for c in classes))
    return {e: {name: _mean([row[name] for row in rows if name in row]) for name in names} for e, rows in found.items()}


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its error; of a class that was in the test records once or never, nothing is known."""
    if len(values) < 2:
        return math.nan, math.nan
    return float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5)


@dataclass(frozen=True)
class Measured:
    """A table. ``records`` are those that were learned from; ``majority``, ``boosting`` and ``boosted_area`` have no privacy."""

    title: str
    records: int
    columns: int
    classes: int
    majority: float
    boosting: float
    boosted_area: float
    accuracy: Curve
    area: Curve

    def beyond(self, records: int, epsilon: float) -> float:
        """How far so many records times epsilon are outside of what was measured, in factors of ten."""
        place = math.log10(records * epsilon / self.records)
        low, high = (math.log10(end(self.accuracy)) for end in (min, max))
        return max(0.0, low - place, place - high)

    def at(self, curve: Curve, model: str, records: int, epsilon: float) -> float:
        """The accuracy or area of a model at the epsilon that has as many records times epsilon here, between those measured.

        Not a number if the model was not measured.
        """
        known = sorted(e for e in curve if model in curve[e])
        if not known:
            return math.nan
        place = math.log(records * epsilon / self.records)
        return float(np.interp(place, np.log(known), [curve[e][model] for e in known]))


@dataclass(frozen=True)
class OnSimilar:
    """On the nearest tables, of each kind of model.

    ``accuracy`` has the lower quartile, the mean and the upper quartile; ``behind`` how much less accurate a kind is in the mean
    than the best one at epsilon 1 on the same tables; ``areas`` the means. ``majority``, ``boosting`` and ``boosted_area`` are
    means without privacy.
    """

    nearest: tuple[str, ...]
    accuracy: Mapping[str, tuple[float, float, float]]
    behind: Mapping[str, float]
    areas: Mapping[str, float]
    majority: float
    boosting: float
    boosted_area: float


def similar(records: int, columns: int, classes: int, epsilon: float, how_many: int = 9) -> list[Measured]:
    """The nearest tables; none whose records times epsilon are another factor of three away from what was measured.

    >>> [len(similar(30_000, 12, 2, epsilon)) for epsilon in (1.0, 1e-6)]
    [9, 0]
    """

    def apart(one: float, other: float) -> float:
        return abs(math.log10(one / other))

    def distance(table: Measured) -> float:
        several = (table.classes > 2) != (classes > 2)
        alike = apart(table.columns, columns) / 2 + several / 2 + apart(table.records, records) / 4
        return table.beyond(records, epsilon) + alike

    near = [table for table in measured_tables() if table.beyond(records, epsilon) <= FARTHEST]
    return sorted(near, key=distance)[:how_many]


def on_similar(records: int, columns: int, classes: int, epsilon: float) -> OnSimilar | None:
    """What to expect of each kind of model; None if no table is alike, or most were only measured at more records times epsilon.

    The tables are the same at each epsilon, those that are nearest at epsilon 1; a larger one than was measured is taken for the
    largest that was.
    """
    near = similar(records, columns, classes, GOOD[-1])
    tables = [t for t in near if epsilon >= GOOD[-1] or t.beyond(records, epsilon) <= FARTHEST]
    if not tables or 2 * len(tables) < len(near):
        return None
    kinds = [kind for kind in READABLE if any(kind in by_kind for t in tables for by_kind in t.accuracy.values())]
    reached = {kind: np.array([t.at(t.accuracy, kind, records, epsilon) for t in tables]) for kind in kinds}
    best = max(kinds, key=lambda kind: np.nanmean([t.at(t.accuracy, kind, records, GOOD[-1]) for t in near]))
    at_best = np.array([t.at(t.accuracy, best, records, GOOD[-1]) for t in tables])

    quartiles = {kind: np.nanpercentile(values, [25, 75]).tolist() for kind, values in reached.items()}
    return OnSimilar(
        tuple(t.title for t in tables),
        {kind: (quartiles[kind][0], float(np.nanmean(reached[kind])), quartiles[kind][1]) for kind in kinds},
        {kind: float(np.nanmean(at_best - reached[kind])) for kind in kinds},
        {kind: float(np.nanmean([t.at(t.area, kind, records, epsilon) for t in tables])) for kind in kinds},
        *(float(np.mean([getattr(t, name) for t in tables])) for name in ("majority", "boosting", "boosted_area")),
    )


@cache
def measured_tables() -> tuple[Measured, ...]:
    """All tables, without those where boosting gains next to nothing."""
    found = read_json((files(__package__) / "measured_tables.json").read_text(encoding="utf-8"))
    for table in found:
        for curve in ("accuracy", "area"):
            table[curve] = {float(epsilon): by_kind for epsilon, by_kind in table[curve].items()}
    return tuple(Measured(**t) for t in found if t["boosting"] - t["majority"] >= LEAST_GAIN)


def planning_chart(expected: Sequence[Expected], best: float | None, kind: str = "list") -> str:
    """The plan as an SVG picture: what an attacker may learn, and the accuracy where it was measured (else the loss at most)."""
    left, right, top, height = 70.0, 640.0, 50.0, 260.0
    low, high = math.log10(expected[0].epsilon), math.log10(expected[-1].epsilon)

    def x(epsilon: float) -> float:
        return left + (math.log10(epsilon) - low) / (high - low) * (right - left)

    def y(share: float) -> float:
        return top + (1.0 - min(1.0, max(0.0, share))) * height

    def line(points: list[tuple[float, float]], colour: str, dash: str = "") -> str:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        marks = "".join(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{colour}"/>' for a, b in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>{marks}'

    measured = [(e.epsilon, e.accuracy) for e in expected if e.accuracy is not None]
    second = measured or [(e.epsilon, 1.0 - e.loss) for e in expected if e.loss is not None]
    name = "accuracy on the stand-in" if measured else f"accuracy kept at least, of the best {kind}'s"
    ticks = ""
    for e in expected:
        ticks += f'<text x="{x(e.epsilon):.1f}" y="{top + height + 20}" text-anchor="middle">{e.epsilon:g}</text>'

    def across(share: float, style: str) -> str:
        return f'<line x1="{left}" x2="{right}" y1="{y(share):.1f}" y2="{y(share):.1f}" {style}/>'

    levels = without = ""
    for s in (0.0, 0.25, 0.5, 0.75, 1.0):
        label = f'<text x="{left - 8}" y="{y(s) + 4:.1f}" text-anchor="end">{s:.0%}</text>'
        levels += across(s, 'stroke="#ddd"') + label
    if best is not None:
        label = f'<text x="{left + 4}" y="{y(best) - 6:.1f}">without privacy {best:.1%}</text>'
        without = across(best, 'stroke="#000" stroke-dasharray="8 4"') + label
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 380" font-family="sans-serif" font-size="13" role="img">'
        f"<title>What an attacker may learn, and {name}, over epsilon</title>"
        '<rect width="680" height="380" fill="#fff"/>'
        f"{levels}{ticks}{without}{line(second, '#0072B2')}"
        f"{line([(e.epsilon, e.attacker) for e in expected], '#D55E00', '5 4')}"
        f'<text x="{(left + right) / 2}" y="{top + height + 44}" text-anchor="middle">epsilon (log scale)</text>'
        f'<text x="{left}" y="24" fill="#0072B2">● {name}</text>'
        f'<text x="{right}" y="24" text-anchor="end" fill="#B84A00">● best certainty of an attacker, from 50 %</text>'
        "</svg>\n"
    )
