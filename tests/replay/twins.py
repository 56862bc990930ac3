"""Sessions in which a primitive is used wrongly, as it is in practice when a mechanism is wrong: the replay must tell each.

A twin changes what a primitive is asked, on both tables alike, and leaves everything above it as it is: so there is one for
every learner and release that asks this primitive, wherever it lives.
"""

from functools import cached_property

import numpy as np

from .distributions import decimal
from .draws import DrawnList, ExactDraw
from .hooks import Session


class HalvedCountNoise(Session):
    def discrete_laplace(self, values, scale):
        return super().discrete_laplace(values, scale / 2)


class HalvedChoiceNoise(Session):
    """Of permute-and-flip."""

    def permute_and_flip(self, losses, scale):
        return super().permute_and_flip(losses, scale / 2)


class HalvedMaxNoise(Session):
    """Scores are in units of the noise's scale."""

    def choose(self, scores, noise):
        return super().choose(2 * scores, noise)


class DrawnByTwiceEpsilon(ExactDraw):
    @cached_property
    def logs(self):
        found = {}
        for answer in super().logs:
            factor, power = self.weigh(self.follow(answer))
            found[answer] = decimal(factor).ln() + 2 * decimal(power)
        return found


class TwiceEpsilonInDraws(Session):
    """Whole lists and trees are drawn by prior * exp(2 epsilon score)."""

    exact_draw = DrawnByTwiceEpsilon

    def drawn_list_distribution(self, truth, counts, lengths, rules, rate):
        return DrawnList(truth, counts, lengths, rules, 2 * rate)


class CountedTwice(Session):
    """Charged once: the mean of two noisy counts, for less noise."""

    def discrete_laplace(self, values, scale):
        both = super().discrete_laplace(values, scale), super().discrete_laplace(values, scale)
        return sum(both) // 2


class ChosenTwice(Session):
    """Charged once: the first choice is thrown away, but it was looked at."""

    def permute_and_flip(self, losses, scale):
        super().permute_and_flip(losses, scale)
        return super().permute_and_flip(losses, scale)

    def choose(self, scores, noise):
        super().choose(scores, noise)
        return super().choose(scores, noise)


class DrawnTwice(Session):
    """Charged once: so is the first draw."""

    def draw_exactly(self, *question):
        super().draw_exactly(*question)
        return super().draw_exactly(*question)

    def drawn_list(self, problem):
        super().drawn_list(problem)
        return super().drawn_list(problem)


class SharedNoise(Session):
    """What was added to a histogram is added to others of its size as well."""

    _before = None

    def discrete_laplace(self, values, scale):
        if self._before is not None and self._before[0].size == values.size:
            exact, noisy = self._before
            return values + noisy - exact
        self._before = values, super().discrete_laplace(values, scale)
        return self._before[1]


class OneBareCount(Session):
    """All counts but one have noise."""

    def discrete_laplace(self, values, scale):
        noisy = super().discrete_laplace(values, scale)
        bare = int(np.argmax(values))
        noisy[bare] = values[bare]
        return noisy


class BareCounts(Session):
    def discrete_laplace(self, values, scale):
        return values.copy()


class BareChoices(Session):
    def permute_and_flip(self, losses, scale):
        return int(np.argmin(losses))

    def choose(self, scores, noise):
        return int(np.argmax(scores))


class AsksByWhatItSaw(Session):
    """Another query where there is an odd number of records: its answer is harmless, that it is asked is not."""

    def discrete_laplace(self, values, scale):
        if values.sum() % 2:
            super().discrete_laplace(np.zeros(1, np.int64), scale)
        return super().discrete_laplace(values, scale)
