"""A report as plain values: everything that a renderer says about a model, computed once, from what was released.

Nothing here looks at records: all numbers follow from the released model, its statement and public parameters.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from ..._utils.errors import ModelError
from ...accounting.ledger import LedgerSnapshot
from ...accounting.statement import DRAFTED, INFERRED, NEIGHBOURS, SEEDED, Guarantee, PrivacyStatement
from ...private.noise.sums import LEVEL
from ...private.noise.sums import margin as margin_of
from ...rules.rules import Condition, Literal
from ...rules.text import write_number
from ...schema import Schema
from ..cards import PointsLine, counts_as_missing, lines_of_table, ranges_of_totals
from ..labelled import classes_called, in_labels, reason_for_label, target_called
from ..model import Model
from ..partition import Ends, Points
from ..saved import SavedModel
from ..score_card import cards_of
from ..tree import Fork, Leaf, in_other_words, leaves_below, root_of

WEAK = 10  # an epsilon above this is next to no protection, as the statement says itself
CONFIDENCE = LEVEL  # how surely a count is within the margin that is shown
SCALE = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)  # the epsilons that every report shows


@dataclass(frozen=True)
class Phrase:
    """A literal in words: ``age``, ``is above``, ``30``; and ``or is missing``, where that is so."""

    column: str
    words: str
    value: str = ""
    besides: str = ""


@dataclass(frozen=True)
class Step:
    """A rule of the model, or its default, or a leaf, with what the released counts say about it.

    With points, these are the rules about the total; of a leaf, ``tests`` are all that its records were put to, or the opposite
    where they were not true. ``counts`` are as released: noisy ones may be negative. For everything else
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


@dataclass(frozen=True)
class PointsRule:
    """A rule that gives points: the first that is true of a record counts. The last of its table has no tests."""

    tests: tuple[Phrase, ...]
    points: Points


@dataclass(frozen=True)
class TablePart:
    """A table of a score card: its column, its lines, and which values count as missing though they are there ("" if none)."""

    column: str
    lines: tuple[PointsLine, ...]
    beyond: str = ""


@dataclass(frozen=True)
class CardPart:
    """A card of a score card: for which records it is (no tests: for all others), where to start, and its tables."""

    tests: tuple[Phrase, ...]
    start: Points
    tables: tuple[TablePart, ...]


@dataclass(frozen=True)
class Chance:
    """What an attacker can get out of any release at one epsilon. All numbers are upper bounds.

    The attacker knows all other records, and asks whether one person's record is in the table. ``fifty`` is the best chance to be
    right when that is as likely as not beforehand, ``ten`` and ``one`` what a belief of 10 % and 1 % can become.
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

    @property
    def ten(self) -> float:
        """From 10 %."""
        return self.after(0.1)

    @property
    def one(self) -> float:
        """From 1 %."""
        return self.after(0.01)

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
class ColumnUse:
    """A column, and its ``role``: "used" by a rule or test, "offered" but not used, "excluded" or "ignored"."""

    name: str  # its label, if it has one
    kind: str
    role: str


@dataclass(frozen=True)
class Summary:
    """A report before it has a form."""

    kind: str  # of model: "rule list"
    target: str | None
    classes: tuple[str, ...]
    points: tuple[tuple[PointsRule, ...], ...]  # tables whose points add up; none without points
    steps: tuple[Step, ...]
    root: Fork[Phrase, Step] | Step | None  # of a tree, whose leaves are the steps; None of any other model
    verdict: Verdict
    statement: PrivacyStatement | None
    chance: Chance | None  # at the model's own epsilon: the proved one, or else the one that was asked for
    noise: float | None  # epsilon of each count; None if counts are exact, absent, or the noise is not known
    margin: int | None  # a count is off by at most this, in 19 cases of 20
    right: float | None  # the share of the table's records that the model labels rightly, by its own counts
    columns: tuple[ColumnUse, ...]
    inferred: bool
    ledger: LedgerSnapshot | None
    learner: str
    parameters: tuple[tuple[str, str], ...]
    version: str
    schema: Schema | None = None
    cards: tuple[CardPart, ...] = ()  # of a score card; none of any other model
    ranges: tuple[str, ...] = ()  # of a score card, the totals of each step
    by_class: bool = False  # whether points are one number for each class
    weighted: bool = False  # whether mistakes did not count the same in all classes

    @property
    def short_kind(self) -> str:
        """A rule list is a list."""
        return self.kind.split()[-1]

    @property
    def unit(self) -> str:
        """What reads a column: a tree has tests, a score card tables, other models have rules."""
        return "table" if self.cards else "rule" if self.root is None else "test"

    @property
    def has_counts(self) -> bool:
        """Whether the model released class counts."""
        return all(step.counts is not None for step in self.steps)

    @property
    def has_shares(self) -> bool:
        """Whether the model says how likely classes are: by its counts, or without any."""
        return all(step.counts is not None or step.shares is not None for step in self.steps)

    @property
    def total(self) -> float:
        """The noisy number of records, by the released counts."""
        return self.steps[0].reaching or 0.0

    @property
    def most_frequent(self) -> tuple[str, float] | None:
        """The class that most records have, by the released counts, and its share: what a constant answer would get."""
        if not self.has_counts or not self.total:
            return None
        totals = [
            sum(max(0.0, c) for c in counts) for counts in zip(*(s.counts or () for s in self.steps), strict=True)
        ]
        most = max(totals)
        return self.classes[totals.index(most)], most / self.total

    @property
    def is_private(self) -> bool:
        """Whether anything is proved."""
        return self.verdict.kind in ("proved", "weak")


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
    described, statement = released.model, released.privacy
    counts_epsilon = released.counts_epsilon
    margin = None if not counts_epsilon else margin_of(counts_epsilon)
    inferred = described.schema is not None and described.schema.inferred
    steps = steps_of(described, counts_epsilon)
    return Summary(
        described.kind,
        target_called(described, released.target),
        classes_called(described),
        points_of(described),
        steps,
        forks_of(described, steps),
        verdict_of(statement),
        statement,
        _own_chance(released),
        counts_epsilon,
        margin,
        _right(described),
        _columns(released),
        inferred,
        released.ledger,
        released.learner,
        tuple((name, _shown(value)) for name, value in released.parameters.items()),
        released.discreet,
        described.schema,
        cards=card_parts(described),
        ranges=total_ranges(described),
        by_class=described.has_points_by_class,
        weighted=described.class_weight is not None,
    )


def card_parts(model: Model) -> tuple[CardPart, ...]:
    """The cards of a score card, in words."""
    parts = []
    for card in cards_of(model):
        tables = []
        for table in card.tables:
            column = None if model.schema is None else model.schema[table.column]
            beyond = "" if column is None else counts_as_missing(column)
            called = table.column if column is None else column.called
            tables.append(TablePart(called, tuple(lines_of_table(table, model.schema)), beyond))
        parts.append(CardPart(_tests(card.condition, model), card.start, tuple(tables)))
    return tuple(parts)


def total_ranges(model: Model) -> tuple[str, ...]:
    """The totals that each answer of a score card is for; none of any other model, and with points for each class."""
    cards = cards_of(model)
    return tuple(ranges_of_totals(cards, model.limits)) if cards and not model.has_points_by_class else ()


def points_of(model: Model) -> tuple[tuple[PointsRule, ...], ...]:
    """The tables of a model whose points add up."""
    if not model.has_points:
        return ()
    return tuple(
        tuple(
            PointsRule(_tests(c, model), p) for c, p in zip(partition.conditions, partition.points or (), strict=True)
        )
        for partition in model.partitions
    )


def steps_of(model: Model, counts_epsilon: float | None = None) -> tuple[Step, ...]:
    """The rules that give answers, and the default; or the leaves; with their supports, from the released counts.

    ``counts_epsilon`` is that of the noise in each count, if it is known.
    """
    root = root_of(model)
    called = dict(zip(model.classes, classes_called(model), strict=True))
    if root is None:
        tests = [_tests(condition, model) for condition in model.answer_conditions]
    else:
        tests = [_way(leaf, model) for leaf in leaves_below(root)]
    everyone = list(zip(tests, model.answers, strict=True))
    if any(answer.counts is None for _, answer in everyone):
        return tuple(Step(i, t, called[a.label], shares=a.shares) for i, (t, a) in enumerate(everyone, 1))
    positive = [[max(0.0, c) for c in answer.counts or ()] for _, answer in everyone]
    whole = sum(map(sum, positive))
    steps: list[Step] = []
    for i, ((phrases, answer), counts) in enumerate(zip(everyone, positive, strict=True)):
        support, reaching = sum(counts), sum(map(sum, positive[i:])) if root is None else whole
        steps.append(
            Step(
                i + 1,
                phrases,
                called[answer.label],
                answer.counts,
                support,
                answer.shares or (tuple(c / support for c in counts) if support else None),
                reaching,
                support / reaching if reaching else None,
                faint=bool(counts_epsilon) and support < 2 * margin_of(counts_epsilon or 1.0),
                count_ends=answer.count_intervals(counts_epsilon) if counts_epsilon else None,
                support_ends=answer.support_interval(counts_epsilon) if counts_epsilon else None,
                reason=reason_for_label(model, answer, bool(counts_epsilon)),
            )
        )
    return tuple(steps)


def forks_of(model: Model, steps: tuple[Step, ...]) -> Fork[Phrase, Step] | Step | None:
    """A tree as it is drawn, with these steps as its leaves. None of any other model."""
    root = root_of(model)
    left = iter(steps)
    if root is None:
        return None
    drawn: Fork[Phrase, Step] | Step = in_other_words(
        root, lambda _: next(left), lambda test, true, other: Fork(_in_words(test, model), true, other)
    )
    return drawn


def support_of(node: Fork[Phrase, Step] | Step) -> float | None:
    """How many records reach a node of a tree: the sum over the leaves below; None without counts."""
    if isinstance(node, Step):
        return node.support
    true, other = support_of(node.true), support_of(node.other)
    return None if true is None or other is None else true + other


def verdict_of(statement: PrivacyStatement | None) -> Verdict:
    """What a reader has to know before anything else."""
    if statement is None:
        return Verdict(
            "none",
            "Learned without privacy",
            "The model and its counts come straight from the records. Whoever sees this model may learn something "
            "about single people in the table. Publish it only if the records themselves may be shown.",
        )
    proved = statement.proved
    if proved is None:
        loud = {SEEDED, INFERRED, DRAFTED} & set(statement.because)
        return Verdict(
            "broken" if loud else "unproved",
            "Not private" if loud else "No privacy is proved",
            "Treat this model as if it were learned without any privacy: nothing is promised to the people in "
            "the table."
            if loud
            else "Noise was used, but nothing is proved about how much it protects. Do not rely on it.",
            statement.because,
        )
    if proved.epsilon > WEAK:
        return Verdict(
            "weak",
            f"Next to no protection: {proved}",
            "Something is proved, but an epsilon this large promises nearly nothing to the people in the table.",
            assumes=_rests_on(statement),
        )
    return Verdict(
        "proved",
        f"Private, with {proved}",
        "What anyone could conclude from this model about a person has nearly the same chance whether or not that "
        "person's record was in the table. This is proved, not measured: if what the statement assumes is so, it holds "
        "against everyone, whatever else they know.",
        assumes=_rests_on(statement),
    )


def _rests_on(statement: PrivacyStatement) -> tuple[str, ...]:
    people = (
        "each person has one record in the table; with k of them, read epsilon as k times as large"
        if statement.neighbours == NEIGHBOURS
        else "no person has more records in the table than the promise says"
    )
    return (*statement.assumes, people)


def _own_chance(model: SavedModel) -> Chance | None:
    if model.privacy is None:
        return None
    pair = model.privacy.proved or model.privacy.published
    if pair is None:  # ours, but not proved: what was asked for
        asked = model.parameters.get("epsilon")
        if isinstance(asked, int | float) and not isinstance(asked, bool):
            pair = Guarantee(float(asked), 0.0)
    return None if pair is None or not pair.epsilon > 0 else Chance(pair.epsilon, pair.delta or 0.0)


def _right(model: Model) -> float | None:
    right = whole = 0.0
    for answer in model.answers:
        if answer.counts is None:
            return None
        right += max(0.0, answer.counts[model.classes.index(answer.label)])
        whole += sum(max(0.0, c) for c in answer.counts)
    return right / whole if whole else None


def _columns(model: SavedModel) -> tuple[ColumnUse, ...]:
    schema = model.model.schema
    if schema is None:
        return ()
    used = set(model.model.used_columns)
    given = model.parameters.get("exclude") or ()
    excluded = {name for name in given if isinstance(name, str)} if isinstance(given, list | tuple) else set()
    columns = []
    for column in schema.columns:
        role = "used" if column.name in used else "offered"
        if not column.can_be_used:
            role = "excluded" if column.name in excluded else "ignored"
        columns.append(ColumnUse(column.called, column.kind, role))
    return tuple(columns)


_WORDS = {
    "<=": "is at most",
    "<": "is below",
    ">=": "is at least",
    ">": "is above",
    "=": "is",
    "!=": "is not",
    "in": "is in",
    "not in": "is not in",
}


def _tests(condition: Condition, model: Model) -> tuple[Phrase, ...]:
    return tuple(_in_words(literal, model) for literal in condition)


def _way(leaf: Leaf, model: Model) -> tuple[Phrase, ...]:
    return tuple(_in_words(test, model) if true else otherwise(test, model) for test, true in leaf.way)


def otherwise(literal: Literal, model: Model) -> Phrase:
    """What is so where a literal is not true: the opposite is, or the value is missing, of which neither is true."""
    opposite = _in_words(~literal, model)
    assert model.schema is not None
    if literal.op.endswith("missing") or not model.schema[literal.column].can_be_missing:
        return opposite
    return replace(opposite, besides="or is missing")


def _in_words(literal: Literal, model: Model) -> Phrase:
    literal = in_labels(literal, model.schema)
    if literal.value is None:
        return Phrase(literal.column, literal.op)
    if isinstance(literal.value, tuple):
        low, high = map(write_number, literal.value)
        return Phrase(literal.column, _WORDS[literal.op], f"{low} to {high}")
    value = literal.value if literal.op in ("=", "!=") else write_number(literal.value)
    return Phrase(literal.column, _WORDS[literal.op], str(value))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(part)}" for key, part in value.items()) or "none"
    if value is None or isinstance(value, bool):
        return {None: "not given", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
