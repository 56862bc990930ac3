"""The reference: its distribution by hand and against another enumeration, its draws, and whole fits that use it."""

import math
from collections import Counter

import numpy as np
import pytest

from discreet import DPOptimalRuleListClassifier
from discreet.audit.draws import KINDS, LISTS, N_RULES, TRUTH, list_distributions
from discreet.audit.explore import explore
from discreet.audit.explorer import explored, private_counts_of, schema_of_rules
from discreet.audit.observed import misfit
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.sampling import envelope
from discreet.private.sampling.reference import distribution_of_draw
from discreet.rules.prior import Prior

from ..support.small_problems import draw_by_enumeration, p_value, random_problem

ONE_RULE = np.array([[True, False]])
COUNTS = np.array([[3.0, 1.0], [0.0, 5.0]])


def test_the_distribution_by_hand():
    """Six lists: no rule, with two labels; one rule, with four. No rule is three times as likely as one, before any record."""
    distribution = distribution_of_draw(ONE_RULE, COUNTS, Prior((3.0, 1.0), np.ones(1)), 0.5)
    scores = {((), (0,)): 4, ((), (1,)): 5, ((0,), (0, 0)): 4, ((0,), (0, 1)): 8, ((0,), (1, 0)): 1, ((0,), (1, 1)): 5}
    assert dict(zip(distribution.lists, distribution.scores.tolist(), strict=True)) == scores
    weights = {x: (3 / 4 / 2 if not x[0] else 1 / 4 / 4) * math.exp(0.5 * score) for x, score in scores.items()}
    for x, log in zip(distribution.lists, distribution.logs.tolist(), strict=True):
        assert math.exp(log) == pytest.approx(weights[x] / sum(weights.values()), rel=1e-12)


def test_the_prior_by_hand():
    """Without records: lengths by their weights, then rules by theirs without repetition; those of weight 0 are left out."""
    truth = np.zeros((3, 1), bool)
    distribution = distribution_of_draw(
        truth, np.zeros((2, 1)), Prior((1.0, 0.0, 2.0, 5.0), np.array([1.0, 0.0, 4.0])), 1.0
    )
    p = Counter()
    for (rules, _), log in zip(distribution.lists, distribution.logs.tolist(), strict=True):
        p[rules] += math.exp(log)
    assert p == pytest.approx({(): 1 / 3, (0, 2): 1 / 3, (2, 0): 1 / 3})  # there are no three rules to take

    distribution = distribution_of_draw(truth, np.zeros((2, 1)), Prior((0.0, 1.0), np.array([1.0, 0.0, 4.0])), 1.0)
    assert dict(zip(distribution.lists, np.exp(distribution.logs), strict=True)) == pytest.approx(
        {((rule,), (a, b)): share / 4 for rule, share in ((0, 0.2), (2, 0.8)) for a in (0, 1) for b in (0, 1)}
    )


def test_the_distribution_is_that_of_the_audit_s_own_enumeration():
    tables = np.random.default_rng(0).integers(0, 4, (20, len(KINDS)))
    prior = Prior((1.0,) * (N_RULES + 1), np.ones(N_RULES))
    for table, logs in zip(tables, list_distributions(0.7)(tables), strict=True):
        counts = np.zeros((2, TRUTH.shape[1]))
        for (label, pattern), n in zip(KINDS, table, strict=True):
            counts[label, pattern] = n
        distribution = distribution_of_draw(TRUTH, counts, prior, 0.7)
        assert dict(zip(distribution.lists, distribution.logs, strict=True)) == pytest.approx(
            dict(zip(LISTS, logs, strict=True))
        )


@pytest.mark.parametrize("seed", [3, 4])
def test_its_draws_have_its_distribution(seed):
    small = random_problem(seed, longest=1, rate=0.2)
    entropy = SeededEntropy(seed)
    drawn = [draw_by_enumeration(*small, entropy) for _ in range(600)]
    assert p_value(distribution_of_draw(*small), drawn) > 1e-4
    assert p_value(distribution_of_draw(*small._replace(rate=0.4)), drawn) < 1e-4


class Noting(DPOptimalRuleListClassifier):
    """Keeps what was drawn, before rules that are out of reach are left out."""

    def _is_summed(self, candidates):
        return False  # the reference takes the place of the envelope

    def _set_model(self, candidates, learned):
        self.drawn = tuple(learned.chosen), tuple(learned.labels)
        super()._set_model(candidates, learned)


@pytest.mark.parametrize("rules_per_draw", [None, 1])
def test_whole_fits_with_the_reference_have_the_distribution_that_is_audited(monkeypatch, rules_per_draw):
    """Fits in which the reference draws, a list at once or rule by rule, beside the exact distribution of a fit."""
    schema = schema_of_rules(2, 2)
    private = private_counts_of(schema, [[5, 1], [0, 4], [2, 2], [3, 0]])
    settings = {
        "epsilon": 1.0,
        "max_length": 3,
        "rules_per_draw": rules_per_draw,
        "counts_share": 0,
        "negations": False,
        "schema": schema,
    }
    outputs = explore(explored(DPOptimalRuleListClassifier)(**settings), private).outputs
    asked = []

    def reference(*question):
        asked.append(question)
        return draw_by_enumeration(*question)

    monkeypatch.setattr(envelope, "make_problem", lambda *question: question)
    monkeypatch.setattr(envelope, "draw_by_envelope", lambda question, entropy, _: reference(*question, entropy))
    drawn = Counter(Noting(**settings, random_state=seed).fit_counts(private).drawn for seed in range(400))
    assert misfit(drawn, {key: math.exp(output.log_p) for key, output in outputs.items()}) > 1e-4
    assert len(asked) == 400 if rules_per_draw is None else 400 < len(asked) <= 800  # an empty list ends a fit
    assert {rate for *_, rate, _ in asked} == {1.0 if rules_per_draw is None else 0.5}
