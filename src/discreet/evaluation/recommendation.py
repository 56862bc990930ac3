"""Which model at which epsilon: what is known before anything is spent, the recommendation that follows, and both in words.

Recommended is the smallest epsilon of ``GOOD`` at which a kind of model is at most a point of accuracy worse than the best one at
any of them; where several kinds are, the one that is easiest to read. On similar tables, that is a mean of differences on the
same tables: these vary much less than accuracies do from table to table.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from .._utils.escaping import on_a_line
from ..estimators.plans import FitPlan
from ..models.display.wording import bound, percent
from ..schema.columns import canonical
from .planning import EPSILONS, GOOD, IN_STAGES, OnSimilar, expect, measure

CALLED = {"list": "a list", "tree": "a tree", IN_STAGES: "a tree with --stages 2,2", "card": "a card"}
CLOSE = 0.01  # in accuracy: less than that is no reason for another kind, or a larger epsilon
START = GOOD[-1]  # the epsilon to start with, if nothing else is known
UNKNOWN = "–"


def recommended(behind: Mapping[float, Mapping[str, float]]) -> tuple[float, str, tuple[str, ...]] | None:
    """Epsilon, kind, and the other kinds that are about as good, by how far each is behind the best; None if nothing is known.

    >>> recommended({0.3: {"list": 0.03, "tree": 0.009, "card": 0.002}, 1.0: {"list": 0.01, "tree": 0.0}})
    (0.3, 'tree', ('card',))
    """
    for epsilon in GOOD:
        close = [kind for kind, loss in behind.get(epsilon, {}).items() if loss <= CLOSE]
        if close:
            return epsilon, close[0], tuple(close[1:])
    every = [(loss, -epsilon, kind) for epsilon in GOOD for kind, loss in behind.get(epsilon, {}).items()]
    return (-min(every)[1], min(every)[2], ()) if every else None


@dataclass
class Recommendation:
    """What is known of models, by name and epsilon.

    ``compares``: kinds of models, and not one of them in detail. ``alike`` has the similar tables at each epsilon,
    ``weights`` those of classes, ``room`` how many more such models the ledger takes. What was measured on a stand-in goes
    before similar tables, and these before bounds.
    """

    records: int
    compares: bool
    plans: Mapping[str, Mapping[float, FitPlan]]
    alike: dict[float, OnSimilar | None]
    weights: Mapping[str, float] = field(default_factory=dict)
    room: dict[str, dict[float, int]] = field(default_factory=dict)
    without_privacy: dict[str, float] = field(default_factory=dict)
    standin: int = 0  # its records
    majority: float | None = None  # the share of its most frequent class

    def __post_init__(self) -> None:
        self.expected: dict[str, dict[float, Any]] = {
            name: {epsilon: expect(plan, self.records) for epsilon, plan in plans.items()}
            for name, plans in self.plans.items()
        }

    def measure_on(
        self, X: Any, y: np.ndarray, learn: Mapping[str, Any], repeats: int, times: float, done: Callable[[], object]
    ) -> None:
        """On a stand-in. The table has so many times the records that are learned from there, so epsilon counts so many times."""
        self.standin, self.majority = len(y), float(np.unique(y, return_counts=True)[1].max() / len(y))
        for name, make in learn.items():
            means = measure(X, y, make, repeats, done)
            self.without_privacy[name] = means[0.0]["accuracy"][0]
            for epsilon, row in self.expected[name].items():
                if at := max((e for e in EPSILONS if e <= epsilon * times * 1.0001), default=None):
                    accuracy, error = means[at]["accuracy"]
                    self.expected[name][epsilon] = replace(row, accuracy=accuracy, error=error, measures=means[at])

    @property
    def measure(self) -> str:
        """What counts: weights are there to find a rare class, of which accuracy says little."""
        return "balanced accuracy" if self.weights else "accuracy"

    @cached_property
    def choice(self) -> tuple[float, str, tuple[str, ...]] | None:
        """Epsilon, model, and others that are about as good; None if nothing is known, or the ledger has room for none."""
        worse: dict[float, dict[str, float]] = {e: {} for e in GOOD}
        for e, (name, rows) in product(GOOD, self.expected.items()):
            tables = None if self.standin else self.alike[e]
            if rows[e].measures:
                worse[e][name] = -rows[e].measures[self.measure][0]
            elif tables is not None and name in tables.behind:
                worse[e][name] = tables.behind[name]
        best = min((loss for losses in worse.values() for loss in losses.values()), default=0.0)
        if not any(worse.values()):  # all that is left are bounds
            bounds = product(GOOD, self.expected.items())
            for e, name, loss in ((e, name, rows[e].loss) for e, (name, rows) in bounds if rows[e].loss is not None):
                worse[e][name] = loss
        room = {name: self.room.get(name, dict.fromkeys(GOOD, 1)) for name in self.expected}
        return recommended({e: {n: w - best for n, w in losses.items() if room[n][e]} for e, losses in worse.items()})

    @property
    def chosen(self) -> tuple[float, str]:
        """The epsilon and the model that are shown as recommended."""
        return self.choice[:2] if self.choice else (START, next(iter(self.expected)))

    @property
    def headline(self) -> str:
        """What to take, and why."""
        epsilon, name = self.chosen
        if self.choice is None and self.room and not any(room[GOOD[0]] for room in self.room.values()):
            return f"The ledger has no room for such a model at epsilon {GOOD[0]:g} or more."
        if self.choice is None:
            why = f"an attacker's best certainty is {bound(self.expected[name][epsilon].attacker)}"
            return (
                f"Recommended: start with epsilon {START:g}: {why}. Only a public stand-in can tell how accurate it is."
            )
        said = f"{CALLED[name]} at epsilon {epsilon:g}" if self.compares else f"epsilon {epsilon:g}"
        said = f"Recommended: {said}: {self._reached(name, epsilon, in_full=True)}"
        if epsilon < START and (not self.room or self.room[name][START]):
            said += f"; a larger epsilon, up to {START:g}, gains less than a point"
        *most, last = (CALLED[other] for other in self.choice[2] or (name,)) if self.compares else ("",)
        if self.choice[2]:
            said += f"; {', '.join(most)}{' and ' if most else ''}{last} {'are' if most else 'is'} about as good"
        return f"{said}."

    def _reached(self, name: str, epsilon: float, in_full: bool = False) -> str:
        """How accurate a model is, as far as anything is known."""
        row, tables = self.expected[name][epsilon], self.alike[epsilon]
        if row.measures:
            mean, shown = row.measures[self.measure][0], _with_error(row.measures[self.measure])
            short = f"{mean:.3f}" if self.compares else shown
            return f"{self.measure} {shown} on the stand-in" if in_full else short
        if self.standin or tables is None or name not in tables.accuracy:
            return f"at most {_lost(row)} less accurate than the best {name}, in 95 of 100 fits" if in_full else UNKNOWN
        low, middle, high = map(percent, tables.accuracy[name])
        if in_full:
            n = len(tables.nearest)
            return f"about {middle} correct on the {n} public tables most like yours ({low} to {high} on half of them)"
        return middle if self.compares else f"{middle} ({low} to {high})"

    def columns(self) -> dict[str, list[str]]:
        """The columns of a table with a line for each epsilon."""
        first, rows = next(iter(self.expected.items()))
        values = list(rows.values())
        found = {"epsilon": [f"{e:g}" for e in rows], "attacker's best certainty": [bound(e.attacker) for e in values]}
        alone = f"{self.measure}, measured" if self.standin else "correct on similar tables"
        for name in self.expected:
            found[CALLED[name] if self.compares else alone] = [self._reached(name, e) for e in rows]
        if not self.compares:
            for label in self.weights if self.standin else ():
                unknown = math.nan, math.nan
                found[f"recall of {label}"] = [
                    _with_error(e.measures.get(f"recall of {label}", unknown)) for e in values
                ]
            if values[0].loss is not None:
                found["accuracy lost at most"] = list(map(_lost, values))
            if first == "card":
                found["noise in a count"] = [f"± {e.noise:,}" for e in values]
                found["in points"] = [f"± {e.points:,.{0 if e.points >= 1 else 1}f}" for e in values]
        name = self.chosen[1]
        if self.room:
            found[f"more {name.partition(' in ')[0]}s in the ledger"] = [f"{n:,}" for n in self.room[name].values()]
        return {header: cells for header, cells in found.items() if set(cells) != {UNKNOWN}}

    def lines(self, classes: Sequence[Any]) -> Iterator[str]:
        """What one has to know to read the table: two lines at most."""
        tables = self.alike[self.chosen[0]]
        if self.weights:
            yield self._weighed({canonical(c): self.weights.get(canonical(c), 1.0) for c in classes})
        if self.standin:
            best = ", ".join(f"{accuracy:.3f}" for accuracy in self.without_privacy.values())
            scaled = "" if self.records == self.standin else ", at as many records times epsilon as yours, or fewer"
            yield (
                f"Accuracy without privacy: {best}; always the most frequent class: {self.majority:.3f}. Measured by "
                f"learning from 70 % of {self.standin:,} records{scaled}."
            )
        elif tables and self.expected.keys() & tables.accuracy.keys():
            yield (
                f"These are shares of correct predictions; always guessing the most frequent class: {percent(tables.majority)}, "
                f"boosting without privacy: {percent(tables.boosting)}. Parameters are the defaults. Your table may differ: a "
                "public stand-in would tell."
            )
        if tables and self.compares and not self.weights:
            best = max(tables.areas, key=tables.areas.__getitem__)
            area = f"area under the ROC curve {tables.areas[best]:.2f}; 0.5 = chance"
            yield f"To rank records: {CALLED[best]} ({area}). To find more of a rare class: --class-weight. More: -v."

    def _weighed(self, weights: Mapping[str, float]) -> str:
        """What weights of classes mean for predictions, and what to look at."""
        most = max(weights, key=weights.__getitem__)
        said = f"With these weights, mistakes on {on_a_line(most)} count most"
        if len(weights) == 2:
            limit = percent(1 - weights[most] / sum(weights.values()))
            said = f"With these weights, {on_a_line(most)} is predicted from a share of about {limit} on, not 50\u00a0%"
        unknown = "" if self.standin else " No public table was measured with weights; a public stand-in shows both."
        more = "more of its records are found, with more false alarms"
        return f"{said}: {more}. Look at recall and balanced accuracy, not at accuracy.{unknown}"

    def details(self) -> Iterator[str]:
        """What else is known."""
        yield (
            f"The attacker knows everything but whether one person is among about {self.records:,} records, and thinks "
            "both equally likely beforehand; the odds change by a factor of e^epsilon at most. Several models from one "
            "table add up: a ledger counts, or divide epsilon by their number."
        )
        if any(rows[START].loss is not None for rows in self.expected.values()):
            yield (
                "Accuracy lost at most: against the best list of the same length, or tree of the same depth, on the "
                "same records, in 95 of 100 fits, whatever the records are. Usually it is much less."
            )
        if tables := self.alike[START]:
            areas = ", ".join(f"{called} {tables.areas[kind]:.2f}" for kind, called in CALLED.items())
            yield (
                f"The public tables most like yours: {', '.join(tables.nearest)}. Area under the ROC curve there, at "
                f"epsilon {START:g}: {areas}; boosting without privacy {tables.boosted_area:.2f}. docs/tables.md has every table."
            )
        for name, plans in self.plans.items():
            if name == "card":
                each = ", ".join(f"{row.columns} at {epsilon:g}" for epsilon, row in self.expected[name].items())
                yield (
                    "Noise in a count: 95 of 100 of the class counts behind the points are off by less. In points: "
                    "what that does to a value that a tenth of the records have, half of them in each class; 10 points "
                    f"double the odds. Fewer columns (--max-columns, --exclude) have less noise each; columns that "
                    f"give points: {each}. A card has no class weights: compare its risk with another threshold than one half."
                )
            elif name.startswith("tree"):
                yield plans[START].said

    def to_dict(self, called: str) -> dict[str, Any]:
        """As JSON: of one kind of model its values, of several their values by name."""

        def of(values: dict[str, Any]) -> Any:
            return values if self.compares else next(iter(values.values()), None)

        alike = {e: tables and vars(tables) for e, tables in self.alike.items()}
        expected = {
            name: [vars(row) | {"on similar tables": alike[e]} for e, row in rows.items()]
            for name, rows in self.expected.items()
        }
        found: dict[str, Any] = {
            "records": self.records,
            "model": None if self.compares else called,
            "recommended": self.choice,
        }
        found |= {
            "without privacy": of(self.without_privacy),
            "most frequent class": self.majority,
            "expected": of(expected),
        }
        return found | ({"ledger has room for": of(self.room)} if self.room else {})


def _lost(row: Any) -> str:
    return "all" if row.loss >= 0.5 else f"{100 * row.loss:.2f}\u00a0%"


def _with_error(measured: tuple[float, float]) -> str:
    return f"{measured[0]:.3f}\u00a0±\u00a0{2 * measured[1]:.3f}"
