"""A report as plain values: everything that a renderer says about a model, computed once, from what was released.

Nothing here looks at records: all numbers follow from the released model, its statement and public parameters.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._utils.errors import ModelError
from ...accounting.statement import DRAFTED, INFERRED, NEIGHBOURS, SEEDED, Guarantee, PrivacyStatement
from ...private.noise.sums import LEVEL, margin
from ...schema import Schema
from ..model import Model
from ..partition import Ends
from ..saved import SavedModel
from ..score_card import Card, ScoreCard, ranges_of_totals
from ..tree import Node, Split, Tree
from .wording import Phrase, classes_called, in_words, otherwise, phrases, reason_for_label, target_called

CONFIDENCE = LEVEL  # how surely a count is within the margin that is shown
WEAK = 10  # an epsilon above this offers almost no protection, as the statement says itself


@dataclass(frozen=True)
class Step:
    """A rule of the model, or its default, or a leaf, or a range of totals, with what the released counts say about it.

    Of a leaf, ``tests`` are all that its records were put to, or the opposite where they were not true; a range has none.
    ``counts`` are as released: noisy ones may be negative. For everything else
    a negative count is taken as 0. ``support`` is their sum, ``shares`` their parts of it,
    ``reaching`` the support of this step and all later ones, and ``taken`` the part of what reaches this step that it takes (of
    a leaf: the support of all leaves, and its part of that).
    Without counts, and where all of them are 0, they are None; but ``shares`` are there if the model says them itself.
    """

    number: int
    tests: tuple[Phrase, ...]
    label: str
    counts: tuple[float, ...] | None = None
    support: float | None = None
    shares: tuple[float, ...] | None = None
    reaching: float | None = None
    taken: float | None = None
    faint: bool = False  # so few records that the shares are mostly noise
    # from where to where the exact numbers are, each with 95 %; None where counts are exact or the noise is not known
    count_ends: tuple[Ends, ...] | None = None
    support_ends: Ends | None = None
    reason: str = ""  # why the label is not the class with the largest count, where that is so

    @property
    def opening(self) -> str:
        """The word that its line begins with, in a list of rules."""
        if self.number == 1:
            return "if" if self.tests else "always"
        return "else if" if self.tests else "else"


@dataclass(frozen=True)
class Fork:
    """A test of a tree in words, what is below it, and how many records reach it (None without counts)."""

    test: Phrase
    true: "Fork | Step"
    other: "Fork | Step"
    support: float | None


@dataclass(frozen=True)
class Chance:
    """What an attacker can get out of any release at one epsilon. All numbers are upper bounds.

    The attacker knows all other records, and asks whether one person's record is in the table. ``fifty`` is the best chance to be
    right when that is as likely as not beforehand, ``after`` what a smaller belief can become.
    """

    epsilon: float
    delta: float = 0.0

    @property
    def factor(self) -> float:
        """By how much the odds of a belief can grow: e^epsilon."""
        return math.exp(min(self.epsilon, 700))

    @property
    def fifty(self) -> float:
        """From 50 %. With a delta, Kairouz, Oh and Viswanath's bound (e^epsilon + delta) / (e^epsilon + 1)."""
        return (self.factor + self.delta) / (self.factor + 1)

    def after(self, before: float) -> float:
        """From any chance above 0 and below 1."""
        odds = self.factor * before / (1 - before)
        return odds / (1 + odds)


@dataclass(frozen=True)
class Verdict:
    """The first thing to read. ``kind``: "proved", "weak", "unproved", "broken" (seeded, or a schema from records), "none".

    A headline is what people repeat, so what a promise rests on stands beside it.
    """

    kind: str
    headline: str
    text: str
    reasons: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()  # what a promise rests on


@dataclass(frozen=True)
class Summary:
    """A report before it has a form: a model, whatever it promises, and what was released with it."""

    released: SavedModel
    model: Model
    target: str | None
    classes: tuple[str, ...]
    steps: tuple[Step, ...]
    root: Fork | Step | None  # of a tree, whose leaves are the steps; None of any other model
    cards: tuple[Card, ...]  # of a score card; none of any other model
    ranges: tuple[str, ...]  # of a score card, the totals of each step
    unit: str  # what reads a column: a tree has tests, a score card tables, other models have rules
    by_class: bool  # whether points are one number for each class
    has_counts: bool  # whether the model released class counts
    has_shares: bool  # whether it says how likely classes are: by its counts, or without any
    total: float  # the noisy number of records, by the released counts
    is_private: bool  # whether anything is proved
    verdict: Verdict
    chance: Chance | None  # at the model's own epsilon: the proved one, or else the one that was asked for
    margin: int | None  # a count is off by at most this, in 19 cases of 20
    columns: dict[str, tuple[str, ...]]  # those "used" by a rule or test, "offered" but not used, "excluded", "ignored"
    parameters: tuple[tuple[str, str], ...]

    @property
    def right(self) -> float | None:
        """The share of the table's records that the model labels rightly, by its own counts."""
        if not self.has_counts or not self.total:
            return None
        return sum(a.positive[self.model.classes.index(a.label)] for a in self.model.answers) / self.total

    @property
    def most_frequent(self) -> tuple[str, float] | None:
        """The class that most records have, by the released counts, and its share: what a constant answer would get."""
        if not self.has_counts or not self.total:
            return None
        totals = [sum(counts) for counts in zip(*(answer.positive for answer in self.model.answers), strict=True)]
        return self.classes[totals.index(max(totals))], max(totals) / self.total


def summarize(model: Any) -> Summary:
    """The report of a saved model, or of a fitted classifier, as plain values.

    >>> from discreet import RuleList, SavedModel
    >>> summary = summarize(SavedModel(RuleList.parse("if age <= 30 then yes else no")))
    >>> summary.verdict.headline, summary.steps[0].tests
    ('Learned without privacy', (Phrase(column='age', words='is at most', value='30', besides=''),))
    """
    if not hasattr(model, "released"):
        raise ModelError("a report is made of a SavedModel, or of a fitted classifier of this package")
    released: SavedModel = model.released()
    shown, noise = released.model, released.counts_epsilon
    steps, card = _steps(shown, noise), shown if isinstance(shown, ScoreCard) else None
    return Summary(
        released,
        shown,
        target_called(shown, released.target),
        classes_called(shown),
        steps,
        root=_drawn(shown.root, shown.schema, iter(steps)) if isinstance(shown, Tree) else None,
        cards=card.cards if card else (),
        ranges=tuple(ranges_of_totals(card.cards, card.limits)) if card and not card.has_points_by_class else (),
        unit="table" if card else "test" if isinstance(shown, Tree) else "rule",
        by_class=shown.has_points_by_class,
        has_counts=all(step.counts is not None for step in steps),
        has_shares=all(step.counts is not None or step.shares is not None for step in steps),
        total=steps[0].reaching or 0.0,
        is_private=released.privacy is not None and released.privacy.proved is not None,
        verdict=verdict_of(released.privacy),
        chance=chance_of(released),
        margin=margin(noise) if noise else None,
        columns=_columns(released),
        parameters=tuple((name, _shown(value)) for name, value in released.parameters.items()),
    )


def _tests(model: Model) -> list[tuple[Phrase, ...]]:
    """What is asked before each answer; nothing before the ranges of a score card."""
    if isinstance(model, Tree):
        return [
            tuple((in_words if true else otherwise)(test, model.schema) for test, true in leaf.way) for leaf in model
        ]
    conditions = [()] * len(model.answers) if model.has_points else model.partitions[0].conditions
    return [phrases(condition, model.schema) for condition in conditions]


def _steps(model: Model, counts_epsilon: float | None) -> tuple[Step, ...]:
    """The rules that give answers, and the default; or the leaves; with their supports, from the released counts."""
    called = dict(zip(model.classes, classes_called(model), strict=True))
    everyone = list(zip(_tests(model), model.answers, strict=True))
    if any(answer.counts is None for _, answer in everyone):
        return tuple(Step(i, t, called[a.label], shares=a.shares) for i, (t, a) in enumerate(everyone, 1))
    supports = [sum(answer.positive) for _, answer in everyone]
    steps: list[Step] = []
    for i, (tests, answer) in enumerate(everyone):
        support, reaching = supports[i], sum(supports if isinstance(model, Tree) else supports[i:])
        steps.append(
            Step(
                i + 1,
                tests,
                called[answer.label],
                answer.counts,
                support,
                answer.shares or (tuple(c / support for c in answer.positive) if support else None),
                reaching,
                support / reaching if reaching else None,
                faint=bool(counts_epsilon) and support < 2 * margin(counts_epsilon or 1.0),
                count_ends=answer.count_intervals(counts_epsilon) if counts_epsilon else None,
                support_ends=answer.support_interval(counts_epsilon) if counts_epsilon else None,
                reason=reason_for_label(model, answer, bool(counts_epsilon)),
            )
        )
    return tuple(steps)


def _drawn(node: Node, schema: Schema | None, steps: Iterator[Step]) -> Fork | Step:
    """A tree in words, with these steps as its leaves."""
    if not isinstance(node, Split):
        return next(steps)
    true, other = (_drawn(below, schema, steps) for below in (node.true, node.other))
    known = true.support is not None and other.support is not None
    support = (true.support or 0.0) + (other.support or 0.0) if known else None
    return Fork(in_words(node.test, schema), true, other, support)


def _columns(model: SavedModel) -> dict[str, tuple[str, ...]]:
    schema, used = model.model.schema, set(model.model.used_columns)
    given = model.parameters.get("exclude") or ()
    excluded = {name for name in given if isinstance(name, str)} if isinstance(given, list | tuple) else set()
    columns: dict[str, tuple[str, ...]] = dict.fromkeys(("used", "offered", "excluded", "ignored"), ())
    for column in () if schema is None else schema.columns:
        role = "used" if column.name in used else "offered"
        if not column.can_be_used:
            role = "excluded" if column.name in excluded else "ignored"
        columns[role] += (column.called,)
    return columns


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(part)}" for key, part in value.items()) or "none"
    if value is None or isinstance(value, bool):
        return {None: "not given", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def verdict_of(statement: PrivacyStatement | None) -> Verdict:
    """What a reader has to know first."""
    if statement is None:
        return Verdict(
            "none",
            "Learned without privacy",
            "The model and its counts come straight from the records, and may reveal something about single "
            "people in the table. Publish it only if the records themselves may be published.",
        )
    proved = statement.proved
    if proved is None:
        broken = {SEEDED, INFERRED, DRAFTED} & set(statement.because)
        return Verdict(
            "broken" if broken else "unproved",
            "Not private" if broken else "No privacy is proved",
            "Treat this model as if it were learned without any privacy: nothing is promised to the people in "
            "the table."
            if broken
            else "Noise was used, but nothing is proved about how much it protects. Do not rely on it.",
            statement.because,
        )
    people = (
        f"each person has one record in the table; {proved.of_several}"
        if statement.neighbours == NEIGHBOURS
        else "no person has more records in the table than stated"
    )
    weak = proved.epsilon > WEAK
    return Verdict(
        "weak" if weak else "proved",
        f"Almost no protection: {proved}" if weak else f"Private, with {proved}",
        "The promise is proved, but an epsilon this large offers almost no protection to the people in the table."
        if weak
        else "Whether or not a person's record was in the table, anything that someone could conclude about that person from "
        f"this model has the same probability {proved.in_words}. This is proved by the authors of the package, not "
        "measured: under the stated assumptions it holds against everyone, whatever else they know.",
        assumes=(*statement.assumes, people),
    )


def chance_of(model: SavedModel) -> Chance | None:
    """At the model's own epsilon: the proved one, or else the one that was asked for."""
    if model.privacy is None:
        return None
    pair = model.privacy.proved or model.privacy.published
    if pair is None:  # ours, but not proved: what was asked for
        asked = model.parameters.get("epsilon")
        if isinstance(asked, int | float) and not isinstance(asked, bool):
            pair = Guarantee(float(asked), 0.0)
    return None if pair is None or not pair.epsilon > 0 else Chance(pair.epsilon, pair.delta or 0.0)
