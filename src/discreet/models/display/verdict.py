"""What a statement of privacy means to people: the first thing to read, and what an attacker can get out of a release."""

import math
from dataclasses import dataclass

from ...accounting.statement import DRAFTED, INFERRED, NEIGHBOURS, SEEDED, Guarantee, PrivacyStatement
from ..saved import SavedModel

WEAK = 10  # an epsilon above this is next to no protection, as the statement says itself


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
    people = (
        "each person has one record in the table; with k of them, read epsilon as k times as large"
        if statement.neighbours == NEIGHBOURS
        else "no person has more records in the table than the promise says"
    )
    weak = proved.epsilon > WEAK
    return Verdict(
        "weak" if weak else "proved",
        f"Next to no protection: {proved}" if weak else f"Private, with {proved}",
        "Something is proved, but an epsilon this large promises nearly nothing to the people in the table."
        if weak
        else "What anyone could conclude from this model about a person has nearly the same chance whether or not that "
        "person's record was in the table. This is proved, not measured: if what the statement assumes is so, it holds "
        "against everyone, whatever else they know.",
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
