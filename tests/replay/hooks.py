"""A fit whose noisy answers are given from outside: recorded on one table, and forced on its neighbour.

**Where it hooks in.** Every random number of the package comes from an ``Entropy``, and what becomes of it is decided by a few
primitives of ``private.noise``: discrete Laplace, discrete Gaussian, permute-and-flip, the noisy maximum, and the exact draw by
weights. While a ``Session`` is open, the code of these functions is exchanged for a call to it, so that it does not matter who
imported them from where, or how learners and queries are called. Whoever asks for random bits past them ends the test: nothing
is drawn that is not counted.

Whole lists that are not added up are drawn by an envelope, which makes thousands of decisions by what it finds in the data.
They cannot be forced one by one. There the session answers in place of the sampler, by the distribution of what it was *asked*:
rules, counts, prior and rate. That the sampler follows this distribution is shown by drawing, in ``test_distributions.py``, and
exactly by tests/private and the audit.
"""

from contextlib import contextmanager
from types import FunctionType

import numpy as np

from discreet.private.noise import decisions, discrete_gaussian, entropy, noisy_max, seeded
from discreet.private.sampling import envelope, problem

from .distributions import DiscreteGaussian, DiscreteLaplace, NoisyMax, PermuteAndFlip
from .draws import DrawnList, ExactDraw

INTEGERS_FOR_WEIGHTS = decisions.whole_weights  # a primitive as well: these integers are the chances


class Diverged(Exception):
    """On the neighbour something else is asked: another query, one more, or one less."""


class Reached(Exception):
    """The question that was waited for: the fit need not go on."""


class Session:
    """Answers all queries of a fit, and keeps their distributions. ``answer_by``: from a distribution to an answer."""

    exact_draw = ExactDraw

    def __init__(self, answer_by):
        self._answer_by = answer_by
        self.distributions, self.answers, self.diverged, self._problems = [], [], False, {}

    def ask(self, distribution):
        try:
            answer = self._answer_by(distribution)
        except Diverged:
            self.diverged = True
            raise
        self.distributions.append(distribution)
        self.answers.append(answer)
        return answer

    # -- what stands in place of the primitives ------------------------------------------------------------------------

    def discrete_laplace(self, values, scale):
        return np.array(self.ask(DiscreteLaplace(tuple(map(int, values)), scale)), np.int64)

    def discrete_gaussian(self, values, sigma):
        return np.array(self.ask(DiscreteGaussian(tuple(map(int, values)), sigma)), np.int64)

    def permute_and_flip(self, losses, scale):
        return self.ask(PermuteAndFlip(tuple(map(int, losses)), scale))

    def choose(self, scores, noise):
        return self.ask(NoisyMax(tuple(map(float, scores)), type(noise).__name__))

    def draw_exactly(self, attempt, weigh, log_most, doubt):
        distribution = self.exact_draw(attempt, weigh, log_most, doubt, INTEGERS_FOR_WEIGHTS)
        try:
            return distribution.follow(self.ask(distribution))
        except IndexError:
            self.diverged = True
            raise Diverged from None

    def make_problem(self, made, truth, counts, prior, rate):
        self._problems[id(made)] = (
            made,
            (truth, counts, tuple(map(float, prior.lengths)), tuple(map(float, prior.rules)), rate),
        )
        return made

    def drawn_list(self, problem):
        rules, labels = self.ask(self.drawn_list_distribution(*self._problems[id(problem)][1]))
        return list(rules), list(labels)

    def drawn_list_distribution(self, truth, counts, lengths, rules, rate):
        return DrawnList(truth, counts, lengths, rules, rate)


class Beginning:
    """The first answers are given; the distribution of the next is kept, and there the fit ends."""

    def __init__(self, answers):
        self._left, self.next = list(answers), None

    def __call__(self, distribution):
        if self._left:
            return self._left.pop(0)
        self.next = distribution
        raise Reached


class Replayed:
    """Answers that were given before, in the same order to the same questions."""

    def __init__(self, session):
        self._left = list(zip(session.distributions, session.answers, strict=True))

    def __call__(self, distribution):
        if not self._left:
            raise Diverged
        before, answer = self._left.pop(0)
        if (before.kind, before.size) != (distribution.kind, distribution.size):
            raise Diverged
        return answer

    @property
    def is_over(self):
        return not self._left


_open = []


def current():
    """The session that is open."""
    return _open[-1]


# Each of these takes the place of a primitive's own code, and so must find what it needs by itself.


def _discrete_laplace(self, values, scale):
    from tests.replay.hooks import current

    return current().discrete_laplace(values, scale)


def _discrete_gaussian(counts, sigma, entropy):
    from tests.replay.hooks import current

    return current().discrete_gaussian(counts, sigma)


def _permute_and_flip(self, losses, scale):
    from tests.replay.hooks import current

    return current().permute_and_flip(losses, scale)


def _choose(scores, noise, entropy):
    from tests.replay.hooks import current

    return current().choose(scores, noise)


def _draw_exactly(attempt, weigh, log_most, doubt, entropy):
    from tests.replay.hooks import current

    return current().draw_exactly(attempt, weigh, log_most, doubt)


def _make_problem(truth, counts, prior, rate):
    from tests.replay.hooks import current, make_problem_itself

    return current().make_problem(make_problem_itself(truth, counts, prior, rate), truth, counts, prior, rate)


def _drawn_list(problem, entropy, deadline):
    from tests.replay.hooks import current

    return current().drawn_list(problem)


def _bits(self, size, more=False):
    raise AssertionError(
        "random bits are drawn past all primitives: the replay does not know what is answered with them"
    )


def _uniform(self, size):
    raise AssertionError(
        "uniform numbers are drawn past all primitives: the replay does not know what is answered by them"
    )


SOURCES = entropy.Entropy, seeded.SeededEntropy
IN_PLACE_OF = [
    *((source.discrete_laplace, _discrete_laplace) for source in SOURCES),
    *((source.permute_and_flip, _permute_and_flip) for source in SOURCES),
    *((source.bits, _bits) for source in SOURCES),
    *((source.uniform, _uniform) for source in SOURCES),
    (discrete_gaussian.release, _discrete_gaussian),
    (noisy_max.choose, _choose),
    (decisions.draw_exactly, _draw_exactly),
    (problem.make_problem, _make_problem),
    (envelope.draw_by_envelope, _drawn_list),
]
make_problem_itself = FunctionType(problem.make_problem.__code__, problem.make_problem.__globals__)


@contextmanager
def opened(session):
    """All noisy answers come from the session."""
    before = [function.__code__ for function, _ in IN_PLACE_OF]
    _open.append(session)
    try:
        for function, other in IN_PLACE_OF:
            function.__code__ = other.__code__
        yield session
    finally:
        for (function, _), code in zip(IN_PLACE_OF, before, strict=True):
            function.__code__ = code
        _open.pop()
