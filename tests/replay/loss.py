"""What one pair of neighbouring tables loses: the sum of the log ratios of all noisy answers.

A fit is run on D, its answers are recorded, and the same answers are forced on D'. Whatever is released is computed from the
answers, so it must come out the same: if it does not, or if other questions are asked, records reached the outside past the
noise, and the loss is infinite.
"""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from .distributions import precise
from .draws import NEVER
from .hooks import Beginning, Replayed, Session, opened

INFINITE = Decimal("Infinity")


@dataclass(frozen=True)
class Loss:
    """log P_D(answers) / P_D'(answers), what was promised about it, and of which distributions the answers were."""

    total: Decimal
    epsilon: object  # a fraction
    delta: float
    kinds: frozenset


def drawn(rng):
    """Answers from the distribution of the first table."""
    return lambda distribution: distribution.drawn(rng)


def anything(rng):
    """Answers that nobody expects: what is promised holds for any."""
    return lambda distribution: distribution.any(rng)


class Telling:
    """Answer by answer the one that tells most between both tables, given those before; in one direction (+1 or -1)."""

    def __init__(self, release, table, neighbour, sign, session=Session):
        self._answers = []
        with precise():
            while (distributions := [_next(release, some, self._answers, session) for some in (table, neighbour)])[
                0
            ] is not None:
                one, other = distributions
                if other is None or (one.kind, one.size) != (other.kind, other.size):
                    break  # the replay will find it
                self._answers.append(one.telling(other, sign))
        self._left = list(self._answers)

    def __call__(self, distribution):
        return self._left.pop(0) if self._left else distribution.any(np.random.default_rng(0))


def _next(release, table, answers, session):
    """The distribution of what is asked after these answers; None if nothing is."""
    beginning = Beginning(answers)
    with opened(session(beginning)):
        try:
            release(table)
        except Exception:
            if beginning.next is None:
                raise
    return beginning.next


def loss_of(release, table, neighbour, answer_by, session=Session):
    """``release``: from a table to what leaves, and what is promised (epsilon, delta)."""
    with precise():
        with opened(session(answer_by)) as recorded:
            one, (epsilon, delta) = release(table)
        kinds = frozenset(distribution.kind for distribution in recorded.distributions)
        replayed = Replayed(recorded)
        with opened(session(replayed)) as again:
            try:
                other, promised = release(neighbour)
            except Exception:
                if again.diverged:
                    return Loss(INFINITE, epsilon, delta, kinds)
                raise
        assert promised == (epsilon, delta), "what is promised depends on the records"
        if one != other or not replayed.is_over:
            return Loss(INFINITE, epsilon, delta, kinds)
        return Loss(sum_of_log_ratios(recorded, again), epsilon, delta, kinds)


def sum_of_log_ratios(recorded, again):
    """log P_D / P_D', of all answers together."""
    total = Decimal(0)
    for here, there, answer in zip(recorded.distributions, again.distributions, recorded.answers, strict=True):
        log = there.log_prob(answer)
        if log == NEVER:
            return INFINITE
        total += here.log_prob(answer) - log
    return total
