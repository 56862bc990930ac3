"""Level 3, piece by piece: does each sampler draw from the law that its proof is about?

Each is asked for thousands of draws with the operating system's randomness, and these are compared with the exact law. Half the
noise, a candidate without noise, or a merged rule is seen here even where whole fits would hardly show it.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import kstest

from ..private.counts.counting import NodeCounts
from ..private.counts.tuples import LARGEST
from ..private.mechanisms.base import GreedyMechanism
from ..private.mechanisms.noisy_counts import NoisyCounts
from ..private.mechanisms.published import GlExponential, GlGaussian, GlLaplace
from ..private.mechanisms.registry import MECHANISMS
from ..private.mechanisms.smooth_gini import SmCauchy, SmLaplace
from ..private.noise.discrete_laplace import log_pmf, release, scale_for
from ..private.noise.distributions import Cauchy, Gaussian, Gumbel, Laplace, log_prob
from ..private.noise.entropy import SystemEntropy
from ..private.noise.noisy_max import Exponential, Noise
from ..private.sampling.deadline import Deadline
from ..private.sampling.envelope import draw_by_envelope
from ..private.sampling.list_sums import ListSums
from ..private.sampling.problem import make_problem
from ..private.sampling.reference import law_of_draw
from ..private.sampling.trees.drawing import WeighedTrees
from ..private.sampling.trees.on_cells import TreeProblem
from ..private.sampling.trees.on_tuples import TupleTrees
from ..private.sampling.trees.reference import law_of_trees
from ..private.sampling.trees.sums import Posed
from ..private.sampling.trees.worth import SCORES
from ..rules.candidates import Candidates
from ..rules.prior import Prior
from ..rules.tree_prior import TreePrior
from .draws import counted
from .observed import misfit

# two classes; the four rules and no rule have clearly different impurities
NODE = NodeCounts(np.array([9.0, 7.0]), np.array([[9.0, 6.0, 8.0, 0.0], [0.0, 1.0, 6.0, 5.0]]))
ONE_RULE = NodeCounts(np.array([2.0, 2.0]), np.array([[1.0], [1.0]]))
# rules 0 and 1 agree, and so do 2 and 3: each must be drawn as often as its twin
TRUTH = np.array([[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1], [0, 1, 1, 0, 1]], bool)
COUNTS = np.array([[3.0, 0.0, 1.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1.0, 3.0]])
# at which epsilon choices are drawn thousands of times: no outcome may be nearly certain
EPSILONS: dict[type, str] = {
    SmLaplace: "3/2",
    GlLaplace: "3",
    NoisyCounts: "3",
    GlExponential: "6",
    GlGaussian: "12",
    SmCauchy: "15",
}


def _noise(noise: Noise, draws: int) -> float:
    return float(kstest(noise.sample(SystemEntropy(), draws), lambda z: np.exp(noise.log_cdf(z))).pvalue)


def _follows(draw: Callable[[], Any], outcomes: Iterable[Any], logs: np.ndarray, draws: int) -> float:
    """How likely so large a difference from the law is, after so many draws."""
    drawn = Counter((draw(),) for _ in range(draws))
    return misfit(drawn, {(x,): float(p) for x, p in zip(outcomes, np.exp(logs), strict=True)})


def _counts(draws: int) -> float:
    e, k = Fraction(2, 5), np.arange(-400, 401)
    drawn = iter(release(np.zeros(draws, np.int64), e, SystemEntropy()))
    return _follows(lambda: int(next(drawn)), k.tolist(), log_pmf(k, 1.0 / scale_for(e)), draws)


def _choice(mechanism: GreedyMechanism, draws: int) -> float:
    node = ONE_RULE if isinstance(mechanism, NoisyCounts) else NODE  # whose exact law is known for one rule
    selector = mechanism.selector(Fraction(EPSILONS.get(type(mechanism), "3/8")), 1e-3, 5, node.captured.shape[1])
    logs = selector.log_prob(node)
    return _follows(partial(selector.select, node, SystemEntropy()), range(len(logs)), logs, draws)


def _flips(draws: int) -> float:
    losses = np.array([0, 100, 100, 250, 400])
    flip = partial(SystemEntropy().permute_and_flip, losses, 100.0)
    return _follows(flip, range(5), log_prob(-losses / 100.0, Exponential()), draws)


def _lists(summed: bool, draws: int) -> float:
    prior, rate, entropy = Prior((1.0,) * (4 if summed else 3), np.ones(4)), 0.6, SystemEntropy()
    if summed:
        rules, tuples = counted(TRUTH, COUNTS, LARGEST, partial(Candidates.of_schema, negations=False))
        draw = partial(ListSums(tuples, rules, prior, np.ones(2), rate).draw, entropy)
    else:
        draw = partial(draw_by_envelope, make_problem(TRUTH, COUNTS, prior, rate), entropy, Deadline())
    law = law_of_draw(TRUTH, COUNTS, prior, rate)
    return _follows(lambda: tuple(map(tuple, draw())), law.lists, law.logs, draws)


def _trees(score: str, on_tuples: bool, draws: int) -> float:
    # of tests that agree each must be drawn as often as its twin; the last one is true nearly everywhere
    truth = np.vstack([TRUTH[:3], ~TRUTH[:1] | TRUTH[2]])
    problem = TreeProblem(truth, COUNTS, TreePrior(0.5, np.array([0.2, 0.2, 0.2, 0.4])), 0.6, score)
    trees, logs = law_of_trees(problem, 2)
    posed: Posed = problem
    if on_tuples:
        tests, tuples = counted(truth, COUNTS, 2, Candidates.of_tests)
        posed = TupleTrees(tuples, tests, np.ones(2), problem.prior, problem.rate, score)
    draw = partial(WeighedTrees(posed, 2).draw, SystemEntropy())
    return _follows(draw, trees, logs - np.logaddexp.reduce(logs), draws)


def samplers() -> dict[str, Callable[[int], float]]:
    """By name, functions from a number of draws to the chance of so large a difference from the exact law."""
    checks: dict[str, Callable[[int], float]] = {
        f"a choice by {name}": partial(_choice, mechanism) for name, mechanism in MECHANISMS.items()
    }
    checks["permute-and-flip (OpenDP)"] = _flips
    checks["discrete Laplace noise (OpenDP)"] = _counts
    for noise in (Laplace(), Gumbel(), Gaussian(), Cauchy()):
        checks[f"{type(noise).__name__} noise"] = partial(_noise, noise)
    checks["whole lists by envelope"] = partial(_lists, False)
    checks["whole lists by sums"] = partial(_lists, True)
    checks |= {f"whole trees by {score}": partial(_trees, score, False) for score in SCORES}
    checks |= {f"whole trees from tuples by {score}": partial(_trees, score, True) for score in SCORES}
    return checks
