"""A model as a data frame, and how much each column matters to it: both follow from what was released, and cost nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rules.rules import Literal
from .partition import Points, numbers_of
from .score_card import ScoreCard, lines_of_table
from .tree import Node, Split, Tree, leaves_below

if TYPE_CHECKING:
    import pandas as pd

    from .model import Model


def to_frame(model: "Model") -> "pd.DataFrame":
    """See ``Model.to_frame``."""
    import pandas as pd

    return pd.DataFrame(_points_in(model) if isinstance(model, ScoreCard) else _answers_of(model))


def _answers_of(model: "Model") -> Iterator[dict[str, object]]:
    *conditions, _ = model.answer_conditions
    texts = [" and ".join(map(str, condition)) for condition in conditions] + ["else" if conditions else "always"]
    if isinstance(model, Tree):
        texts = [" and ".join(str(test) if true else f"not ({test})" for test, true in leaf.way) for leaf in model]
    for text, answer, shares in zip(texts, model.answers, model.answer_shares.tolist(), strict=True):
        counts = {} if answer.counts is None else dict(zip(model.classes, answer.counts, strict=True))
        share = shares[model.classes.index(answer.label)]
        counted = {f"count {label}": count for label, count in counts.items()}
        yield {"rule": text or "always", "label": answer.label, **counted, "share": share}


def _points_in(model: ScoreCard) -> Iterator[dict[str, object]]:
    def points(given: Points) -> dict[str, object]:
        return (
            dict(zip([f"points {c}" for c in model.classes], given, strict=True))
            if isinstance(given, tuple)
            else {"points": given}
        )

    for card in model.cards:
        which = {"card": " and ".join(map(str, card.condition)) or "else"} if len(model.cards) > 1 else {}
        yield {**which, "column": "start", "value": "", **points(card.start)}
        for table in card.tables:
            for line in lines_of_table(table, model.schema, labels=False):
                yield {**which, "column": table.column, "value": line.value, **points(line.points)}


def importances_of(model: "Model") -> dict[str, float]:
    """How much each column matters, all together 1; see ``feature_importances_`` of the classifiers.

    >>> from discreet import Literal, Rule, RuleList
    >>> rules = Rule((Literal("a"),), 1, (0, 60)), Rule((Literal("b"), Literal("c")), 0, (40, 0))
    >>> {column: round(share, 2) for column, share in importances_of(RuleList(rules, Rule((), 1, (0, 40)))).items()}
    {'a': 0.3, 'b': 0.35, 'c': 0.35}
    """
    found: dict[str, float] = defaultdict(float)
    for columns, decrease in _ranges(model) if isinstance(model, ScoreCard) else _decreases(model):
        for column in columns:
            found[column] += decrease / len(columns)
    total = sum(found.values())
    return {column: decrease / total for column, decrease in found.items()} if total > 0 else {}


def _ranges(card: ScoreCard) -> Iterator[tuple[list[str], float]]:
    """How far apart the points of each table are."""

    def far_apart(points: Sequence[Points]) -> float:
        return float(np.ptp([numbers_of(given) for given in points], axis=0).mean())

    choosing = [literal for one in card.cards for literal in one.condition]
    yield _columns_of(choosing), far_apart([one.start for one in card.cards])
    for one in card.cards:
        for table in one.tables:
            points = [line.points for line in lines_of_table(table, card.schema)]
            yield [table.column], far_apart(points) / len(card.cards)


def _decreases(model: "Model") -> Iterator[tuple[list[str], float]]:
    """By how much each rule or test lowers the Gini impurity, times the records that reach it."""
    if any(answer.counts is None for answer in model.answers):
        raise AttributeError(f"feature_importances_ needs class counts, and this {model.kind} has none")
    if isinstance(model, Tree):
        yield from _decreases_below(model.root)
        return
    counts = [np.array(answer.positive) for answer in model.answers]
    for i, condition in enumerate(model.partitions[0].conditions[:-1]):
        yield _columns_of(condition), _decrease(counts[i], np.sum(counts[i + 1 :], axis=0))


def _columns_of(literals: Iterable[Literal]) -> list[str]:
    """Each column once and in order: a set's order differs between processes."""
    return list(dict.fromkeys(literal.column for literal in literals))


def _decreases_below(node: Node) -> Iterator[tuple[list[str], float]]:
    if isinstance(node, Split):
        true, other = (
            np.sum([leaf.answer.positive for leaf in leaves_below(side)], axis=0) for side in (node.true, node.other)
        )
        yield [node.test.column], _decrease(true, other)
        yield from _decreases_below(node.true)
        yield from _decreases_below(node.other)


def _decrease(one: np.ndarray, other: np.ndarray) -> float:
    return max(0.0, _impurity(one + other) - _impurity(one) - _impurity(other))


def _impurity(counts: np.ndarray) -> float:
    total = counts.sum()
    return float(total - (counts**2).sum() / total) if total else 0.0
