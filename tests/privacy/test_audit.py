"""The audit itself: its distributions are exact, its bounds are bounds, and it says when something is broken."""

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from discreet._utils.errors import LearningError
from discreet._utils.parallel import results_from_processes
from discreet.accounting.statement import Guarantee
from discreet.audit import AuditCheck, Report, Row, audit, draws, run
from discreet.audit.choices import BUDGETS, audited, noisy_max_distribution, worst_choice
from discreet.audit.draws import largest_disagreement, list_distributions, list_distributions_by_problem
from discreet.audit.explore import Loss, explore, losses, shifted_counts, worst_of
from discreet.audit.explorer import distribution_of_lists, private_counts_of, schema_of_rules
from discreet.audit.learners import Pair, as_table, compare, excess, is_broken, random_pairs, search
from discreet.audit.observed import best_event, lower_bound, misfit, outcomes, samplers, watch
from discreet.audit.run import claims_too_much, unproved
from discreet.audit.subjects import REFUTED, leftover, subjects
from discreet.cli import main
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.noisy_counts import NoisyCountsSelector
from discreet.private.noise.distributions import Cauchy, Gaussian, Gumbel, Laplace, log_prob
from discreet.private.noise.noisy_max import Exponential
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.noise.sums import log_pmf
from discreet.private.sampling.reference import distribution_of_trees
from discreet.private.sampling.trees.log_weights import SCORES
from tests.support.counted import patterns_of
from tests.support.selectors import selector
from tests.support.slices import examples, slow_but, some

from .exact_learner import Learner, divergence, output_distribution

SUBJECTS, UNPROVED = subjects(), unproved()
SUBJECT = {subject.name: subject for subject in (*SUBJECTS, *REFUTED)}


@pytest.mark.parametrize(
    "noise", [Laplace(), Gaussian(), Cauchy(), Gumbel(), Exponential()], ids=lambda n: type(n).__name__
)
def test_distributions_of_many_choices_at_once_are_those_of_single_ones(noise):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 2, (20, 3)), np.zeros((1, 3)), [[1.0, 1.0, 0.0]], [[0.0, 12.0, 3.0]]])
    for copies in ((1, 1), (1, 30), (4, 2)):
        distributions = noisy_max_distribution(noise)(rows, np.array(copies, float))
        for row, distribution in zip(rows, distributions, strict=True):
            one = log_prob(np.repeat(row, [*copies, 1]), noise)[[0, copies[0], -1]]
            assert distribution == pytest.approx(one, abs=1e-7)


def test_all_nodes_of_a_size_are_compared():
    """With n records in one class there are n + 1 splits for each of two rules, and each captures the newcomer or not."""
    found = [worst_of(worst_choice(selector("gl-laplace", 2), lambda n, rules: 2.0, [n])) for n in range(3)]
    expected = []
    for n in range(3):
        nodes = [(a + 1) * (n - a + 1) for a in range(n + 1)]
        expected.append(sum(2 * (2 * m) ** 2 for m in nodes))  # two classes of newcomers
    assert [f.pairs for f in found] == expected


def test_shifted_counts_are_told_apart_as_they_can_be():
    a = 0.7
    for value, other in ((5, 6), (6, 5), (5, 5), (3, 6)):
        logs, extra = shifted_counts(np.array([value, 9.0]), np.array([other, 9.0]), np.full(2, 1 / a))
        k = np.arange(-80, 100)
        p, q = np.exp(log_pmf(k - value, a)), np.exp(log_pmf(k - other, a))
        assert np.exp(logs).sum() == pytest.approx(1.0)
        for epsilon in (0.0, 0.3, 1.0):
            brute = np.maximum(0, p - math.exp(epsilon) * q).sum()
            assert Loss(logs, extra).delta(epsilon) == pytest.approx(brute, abs=1e-12)


def test_epsilon_and_delta_are_two_sides_of_one_curve():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
    loss = Loss(np.log(p), np.log(p / q))
    assert loss.largest == np.log(p / q).max()
    assert loss.epsilon(0.0) == loss.largest
    for delta in (1e-6, 0.01, 0.2):
        assert loss.delta(loss.epsilon(delta)) == pytest.approx(delta, abs=1e-6)
    assert loss.epsilon(0.9999) == 0.0
    impossible = Loss(np.log(np.array([0.5, 0.5])), np.array([math.inf, 0.0]))
    assert impossible.largest == math.inf
    assert impossible.epsilon(0.1) == math.inf
    assert impossible.epsilon(0.6) == 0.0


def test_made_up_counts_are_those_of_records():
    counts = np.random.default_rng(0).integers(0, 4, (4, 2))
    counts[1] = 0
    schema = schema_of_rules(2, 2)
    X, y = as_table(counts)
    one, two = private_counts_of(schema, counts).patterns, patterns_of(X, y, schema).patterns
    assert (one.counts == two.counts).all()
    assert (one._words == two._words).all()


@pytest.mark.parametrize("name", ["mass", "gl-laplace", "gl-gaussian", "sm-laplace", "sm-cauchy"])
def test_what_is_explored_is_what_the_plain_enumeration_says(name):
    """``exact_learner`` is a second, independent account of Algorithm 1."""
    subject = SUBJECT[name]
    classifier, plan = subject.make_explored(), subject.make().plan()
    budget, support = plan.budget, int(plan.budget.settings.min_support)
    plain = Learner(
        plan.mechanism.selector(budget.choice_epsilon, float(budget.choice_delta), support, len(plan.candidates)),
        float(budget.counts_epsilon),
        budget.threshold(support) if name.startswith("sm-") else None,
        3,
    )
    patterns = np.array(list(product([False, True], repeat=2)))
    rng = np.random.default_rng(1)
    for pair, _ in zip(random_pairs(rng, 2, 2, (3, 30, 600)), range(6), strict=False):
        distribution = explore(classifier, private_counts_of(classifier.schema, pair.less))
        expected = output_distribution(plain, patterns, pair.less)
        assert {key[0] for key in distribution.outputs} == set(expected)
        for key, output in distribution.outputs.items():
            assert math.exp(output.log_p) == pytest.approx(expected[key[0]], rel=1e-9, abs=1e-300)
        compared = compare(subject, pair)
        for epsilon in (0.05, 0.5):
            other = divergence(plain, patterns, pair.less, pair.more, epsilon)
            assert compared.delta(epsilon) == pytest.approx(other, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("subject", [*SUBJECTS, *REFUTED], ids=lambda s: s.name)
def test_every_distribution_adds_up_to_one(subject):
    rng = np.random.default_rng(2)
    pairs = random_pairs(rng, subject.n_rules, subject.n_classes, (3, 60))
    for pair, _ in zip(pairs, some(range(2), of=2), strict=False):
        for distribution in subject.distributions(pair):
            assert sum(math.exp(o.log_p) for o in distribution.outputs.values()) == pytest.approx(1.0, abs=1e-9)


def test_the_distribution_of_noisy_counts_is_that_of_its_draws():
    noisy = NoisyCountsSelector(Fraction(2), 1)
    entropy = SeededEntropy(0)
    for left, captured in (((4.0, 3.0), (3.0, 0.0)), ((6.0, 1.0), (1.0, 1.0))):
        node = NodeCounts(np.array(left), np.array(captured)[:, None])
        seen = np.bincount([noisy.select(node, entropy) for _ in range(4000)], minlength=2)
        distribution = np.exp(noisy.log_prob(node))
        assert distribution.sum() == pytest.approx(1.0, abs=1e-9)
        assert stats.chisquare(seen, distribution * 4000).pvalue > 1e-5
    with pytest.raises(ValueError, match="one candidate only"):
        NoisyCountsSelector(Fraction(2), 2).log_prob(node)


def test_the_samplers_get_the_distribution_of_the_exponential_mechanism():
    assert largest_disagreement(list_distributions(0.5), list_distributions_by_problem(0.5), 20, 30, seed=1) < 1e-12


def test_trees_are_drawn_from_the_distribution_of_the_exponential_mechanism():
    for weights, score in product((distribution_of_trees, draws.distribution_of_choices), SCORES):
        handed = draws.tree_distributions_by_problem(0.5, score, weights=weights)
        assert largest_disagreement(draws.tree_distributions(0.5, score), handed, 4, 30, seed=1) < 1e-12


@pytest.mark.parametrize(
    "name",
    slow_but(
        ["mass", "optimal rule lists", "gl-laplace", "optimal trees", "optimal trees by Gini"],
        ["gl-laplace", "optimal trees"],
    ),
)
def test_fits_follow_the_distribution_that_was_explored(name):
    subject, less = SUBJECT[name], np.array([[2, 0], [0, 1], [1, 1], [0, 2]])
    seen = watch(subject, Pair(less, (1, 0)))
    drawn = outcomes(subject, seen, less, 500)
    assert misfit(drawn, {x: p for x, (p, _) in seen.chances.items()}) > 1e-6


def test_outcomes_that_do_not_follow_a_distribution_are_seen():
    rng = np.random.default_rng(0)
    distribution = {("a",): 0.5, ("b",): 0.3, ("c",): 0.199, ("d",): 0.001}

    def drawn(p):
        return Counter({x: int(n) for x, n in zip(distribution, rng.multinomial(2_000, p), strict=True)})

    values = [misfit(drawn(list(distribution.values())), distribution) for _ in range(300)]
    assert stats.kstest(values, "uniform").pvalue > 1e-4
    assert misfit(drawn([0.4, 0.35, 0.249, 0.001]), distribution) < 1e-6
    assert misfit(Counter({("a",): 10, ("e",): 1}), distribution) == 0.0
    assert misfit(Counter({("a",): 10}), {("a",): 1.0}) == 1.0


def test_the_lower_bound_is_clopper_and_pearsons():
    p = stats.binomtest(80, 100).proportion_ci(0.999, "exact").low
    q = stats.binomtest(20, 100).proportion_ci(0.999, "exact").high
    assert lower_bound(80, 20, 100) == pytest.approx(math.log(p / q))
    assert lower_bound(80, 20, 100, delta=0.1) == pytest.approx(math.log((p - 0.1) / q))
    assert lower_bound(0, 20, 100) == -math.inf
    assert lower_bound(100, 100, 100) < 0


def test_the_lower_bound_is_seldom_above_the_truth():
    rng = np.random.default_rng(0)
    p, q, fits = 0.4, 0.4 * math.exp(-0.7), 500
    shown = [lower_bound(rng.binomial(fits, p), rng.binomial(fits, q), fits, confidence=0.9) for _ in range(1000)]
    assert np.mean(np.array(shown) > 0.7) < 0.1


@pytest.mark.parametrize(("fits", "share"), slow_but([(1_000, 0.7), (4_500, 0.8)], [(1_000, 0.7)]))
def test_the_audit_has_power(fits, share):
    """Within 20 % of a loss that is known: that of class counts, which is exactly epsilon. It misses once in a million runs."""
    known = SUBJECT[run.KNOWN_LOSS]
    subject = replace(known, parameters={**known.parameters, "epsilon": 2.0})
    pair = Pair(np.zeros((2, 2), int), (0, 0))
    seen = watch(subject, pair)
    event = best_event(seen.chances, fits)
    assert event.epsilon == pytest.approx(2.0)
    tables = (pair.more, pair.less) if event.on_more else (pair.less, pair.more)
    drawn = [outcomes(subject, seen, table, fits) for table in tables]
    hits = [sum(n for x, n in table.items() if x in event.outcomes) for table in drawn]
    assert lower_bound(*hits, fits) > share * 2.0
    assert lower_bound(*hits, fits, confidence=1 - 1e-6) <= 2.0


CLAIM_FAILS = {
    "greedy trees, sm-cauchy"
}  # docs/theory/published.md: a support of 250 is too large for a tree to be pure


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.name)
def test_a_slice_of_the_audit_of_whole_fits(subject):
    proved, published_claim = subject.promises()
    claim_is_broken = False
    for compared in search(subject, proved, examples(12), seed=3):
        assert not is_broken(excess(compared, proved)), compared.pair
        if not proved.delta:
            assert compared.uncharged <= 1e-6
        assert compared.unpaid_checks <= 1e-6
        if published_claim is not None:
            claim_is_broken |= is_broken(excess(compared, published_claim))
    assert claim_is_broken == (subject.name in CLAIM_FAILS)


@pytest.mark.parametrize(
    "name",
    slow_but(
        [
            *("mass", "mass, three classes", "released counts", "support check", "noisy-counts"),
            *("a draw of a tree", "a draw of a tree by Gini", *BUDGETS),
        ],
        {"mass, three classes", "released counts", "support check", "noisy-counts", "a draw of a tree"},
    ),
)
def test_a_slice_of_the_audit_of_choices(name):
    found = audited(quick=True)[name]()
    assert not is_broken(found.ratio)
    assert found.ratio > (0.7 if name.endswith("by Gini") else 0.75)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(audited(quick=False)))
def test_over_a_million_pairs_of_nodes(name):
    found = audited(quick=False)[name]()
    assert found.pairs >= 1_000_000 or name in BUDGETS  # of which one pair is all
    assert not is_broken(found.ratio)


@pytest.mark.parametrize("subject", REFUTED, ids=lambda s: s.name)
def test_published_claims_that_do_not_hold(subject):
    _, claim = subject.promises()
    compared = compare(subject, subject.known[0])
    assert is_broken(excess(compared, claim))


def test_the_counterexample_of_the_design():
    """5,050 records, K = 3, eps = 0.05: delta needed 1.9e-5, claimed 3.9e-8; from the classifier's own code."""
    compared = compare(SUBJECT["sm-laplace, 5,050 records"], leftover(5050))
    assert compared.delta(0.05) == pytest.approx(1.9e-5, rel=0.03)


def test_an_unexplored_source_of_noise_is_an_error():
    classifier = SUBJECT["gl-laplace"].make_explored()
    classifier.explore = lambda queries: None  # its selector draws as in any fit
    with pytest.raises(LearningError, match="RuntimeError"):  # which the audit reports as a failure of its own
        explore(classifier, private_counts_of(classifier.schema, np.zeros((4, 2), int)))


def test_amounts_of_noise_that_follow_the_records_have_no_bound():
    subject = SUBJECT["mass, class counts only"]
    less, more = subject.distributions(Pair(np.zeros((2, 2), int), (0, 0)))
    for output in more.outputs.values():
        output.released = tuple((value, 2 * scale) for value, scale in output.released)
    assert losses(less, more).largest == math.inf


CHECK = AuditCheck("x", "sampler", True, 0.5, 100)
ROW = Row("x", "whole fit", Guarantee(1.0, 0.0), 0.9, 0.0, 10, holds=True, where="[no records]")


def test_the_report_says_what_is_broken_and_what_is_refuted():
    published_row = replace(ROW, level="as published", claimed=Guarantee(1.0, 1e-6), delta_needed=0.1, holds=False)
    report = Report((ROW, published_row), (), quick=True)
    assert report.ok
    assert "REFUTED" in str(report)
    assert replace(published_row, holds=True).verdict == "proved"
    assert replace(published_row, holds=True, is_proved=False).verdict == "not refuted"
    broken = Report((ROW, replace(ROW, holds=False)), (), quick=True)
    assert not broken.ok
    assert "BROKEN" in str(broken)
    assert json.loads(broken.to_json())["ok"] is False
    assert not Report((), (), quick=True).ok
    assert not Report((ROW,), (replace(CHECK, holds=False),), quick=True).ok
    endless = json.loads(
        Report((replace(ROW, exact=math.inf),), (CHECK,), quick=True).to_json(), parse_constant=pytest.fail
    )
    assert endless["rows"][0]["exact"] == "Infinity"


def test_a_learner_that_loses_its_proof_is_reported(monkeypatch):
    monkeypatch.setattr("discreet.estimators.greedy.LARGEST_DELTA", 1e-30)
    subject = SUBJECT["sm-laplace"]
    assert [row.level for row in run._fits(subject, run.QUICK._replace(pairs=12)) if not row.holds] == ["whole fit"]


@pytest.mark.parametrize("name", UNPROVED)
def test_what_must_not_be_called_proved_is_not(name):
    assert not claims_too_much(UNPROVED[name])
    assert claims_too_much([{}])


@pytest.mark.parametrize("name", samplers())
def test_samplers_follow_their_distributions(name):
    assert samplers()[name](150 if name.startswith(("rule lists ", "trees ")) else 1_000) > 1e-6


def test_a_failing_audit_says_so_and_ends(monkeypatch):
    with pytest.raises(ZeroDivisionError), results_from_processes([(divmod, 1, 0)], 2) as results:
        list(results)
    monkeypatch.setattr(run, "_fits", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        audit(quick=True, jobs=1)


def test_an_audit_that_cannot_be_done_has_another_exit_status(monkeypatch):
    monkeypatch.setattr("discreet.audit.audit", lambda *_: 1 / 0)
    result = CliRunner().invoke(main, ["audit", "--quick"])
    assert result.exit_code == 70


@pytest.mark.parametrize("holds", [True, False])
def test_the_exit_status(monkeypatch, holds):
    monkeypatch.setattr("discreet.audit.audit", lambda *_: Report((replace(ROW, holds=holds),), (CHECK,), quick=True))
    result = CliRunner().invoke(main, ["audit", "--quick", "--where"])
    assert result.exit_code == (0 if holds else 1)
    assert ("Everything that is proved held" in result.output) == holds
    result = CliRunner().invoke(main, ["audit", "--json"])
    assert result.exit_code == (0 if holds else 1)
    assert '"rows"' in result.output


@pytest.mark.slow
def test_the_quick_audit():
    done = []
    report = audit(quick=True, progress=lambda *now: done.append(now))
    assert report.ok, str(report)
    assert done[-1][0] == done[-1][1]
    levels = {row.level for row in report.rows}
    assert levels == {"one choice", "whole fit", "as published"}
    assert {row.what for row in report.rows if not row.holds} == {s.name for s in REFUTED} | CLAIM_FAILS
    assert len(report.checks) == len(samplers()) + len(UNPROVED)


def test_lists_of_rules_without_weight_are_left_out():
    from discreet.private.sampling.problem import make_problem
    from discreet.rules.prior import Prior

    truth = np.array(list(product([False, True], repeat=2))).T
    problem = make_problem(truth, np.ones((2, 4)) + np.eye(2, 4), Prior((1.0, 1.0), np.array([1.0, 0.0])), 1.0)
    lists, logs = distribution_of_lists(problem)
    assert {rules for rules, _ in lists} == {(), (0,)}
    assert np.exp(logs).sum() == pytest.approx(1.0)
