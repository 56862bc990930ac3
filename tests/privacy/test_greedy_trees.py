"""Greedy trees by every mechanism: exact distributions of whole fits, the cost of a level, and the published claims."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting.ledger import Reservation
from discreet.audit.explore import explore
from discreet.audit.explorer import private_counts_of, schema_of_rules
from discreet.audit.learners import Pair, Subject, compare, excess, is_broken, random_pairs, search
from discreet.audit.observed import misfit, outcomes, watch
from discreet.audit.subjects import GREEDY_TREES, REFUTED, leftover, needed_parameters, subjects
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.base import Settings
from discreet.private.mechanisms.registry import MECHANISMS
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.noise.sums import at_least, tail
from discreet.private.queries.greedy import GreedyTreeQueries
from discreet.rules.candidates import Candidates
from tests.support.selectors import budget_of, proved_of
from tests.support.slices import examples, slow_but

TREES = [subject for subject in subjects() if subject.classifier is GREEDY_TREES]
BY_NAME = {subject.name: subject for subject in (*TREES, *REFUTED)}


def test_every_mechanism_is_audited_as_a_tree():
    assert {subject.parameters["mechanism"] for subject in TREES} == set(MECHANISMS)


# -- a second account of the learner, node by node ---------------------------------------------------------------------


def plain_distribution(classifier, counts):
    """{tests of the tree: (its probability, exact class counts of its leaves)}, by recursion over nodes instead of levels."""
    patterns = np.array(list(product([False, True], repeat=len(counts).bit_length() - 1)))
    plan = classifier.plan()
    budget, mechanism, support = plan.budget, plan.mechanism, int(max(1, classifier.min_support))
    epsilon, delta = budget.choice_epsilon, float(budget.choice_delta)
    selector = mechanism.selector(epsilon, delta, support, patterns.shape[1])

    def grown(inside, asked, levels):
        here = [((), 1.0, (tuple(counts[inside].sum(0)),))]
        if levels == 0:
            return here
        left = counts[inside].sum(0).astype(float)
        passing = 1.0
        if mechanism.needs_support:
            passing = at_least(budget.threshold(support) - int(left.sum()), float(budget.check_epsilon))
        free = [test for test in range(patterns.shape[1]) if test not in asked]
        captured = np.array([counts[inside & patterns[:, test]].sum(0) for test in free], float).reshape(-1, len(left))
        chances = passing * np.exp(selector.log_prob(NodeCounts(left, captured.T)))
        found = [((), 1.0 - passing + chances[-1], here[0][2])]
        for test, chance in zip(free, chances, strict=False):
            sides = (inside & patterns[:, test], inside & ~patterns[:, test])
            for one, two in product(*(grown(side, {*asked, test}, levels - 1) for side in sides)):
                found += [((test, one[0], two[0]), chance * one[1] * two[1], one[2] + two[2])]
        return found

    whole = grown(np.ones(len(counts), bool), frozenset(), classifier.max_depth)
    return {tests: (chance, leaves) for tests, chance, leaves in whole}


@pytest.mark.parametrize("subject", TREES, ids=lambda s: s.name)
def test_what_is_explored_is_what_the_plain_enumeration_says(subject):
    rng = np.random.default_rng(1)
    classifier = subject.make_explored()
    for pair, _ in zip(random_pairs(rng, subject.n_rules, subject.n_classes, (3, 7)), range(3), strict=False):
        distribution = explore(classifier, private_counts_of(classifier.schema, pair.less))
        expected = plain_distribution(classifier, pair.less)
        assert {key[0] for key in distribution.outputs} == set(expected)
        for (tests, labels), output in distribution.outputs.items():
            chance, leaves = expected[tests]
            assert labels is None  # they follow from the noisy counts
            assert math.exp(output.log_p) == pytest.approx(chance, rel=1e-9, abs=1e-300)
            assert [count for count, _ in output.released] == [count for leaf in leaves for count in leaf]


def needed(classifier, pair, epsilon):
    """The smallest delta for which both directions are (epsilon, delta)-DP, from the plain distributions."""
    less, more = plain_distribution(classifier, pair.less), plain_distribution(classifier, pair.more)
    e = float(classifier.plan().budget.counts_epsilon)
    up = tail(1, e)  # P(noise around a count is above it)
    deltas = []
    for distribution, other, likelier in ((less, more, 1.0 - up), (more, less, 1.0 - up)):
        # one count of one leaf differs: it is e^e times as likely on the table at hand, or e^-e times
        deltas.append(
            sum(
                max(
                    0.0,
                    share * distribution[tree][0] - math.exp(epsilon) * share * math.exp(-sign * e) * other[tree][0],
                )
                for tree in distribution
                for share, sign in ((likelier, 1.0), (1.0 - likelier, -1.0))
            )
        )
    return max(deltas)


@pytest.mark.parametrize("subject", TREES, ids=lambda s: s.name)
def test_what_is_proved_holds_on_every_table_tried(subject):
    proved, published = subject.promises()
    assert proved is not None
    assert published is None or proved.epsilon <= published.epsilon * (1 + 1e-12)
    found = list(search(subject, proved, examples(24), seed=0))
    assert max(excess(compared, proved) for compared in found) > 0.3  # it is no empty promise
    classifier = subject.make()
    for compared in found:
        assert not is_broken(excess(compared, proved))
        assert compared.unpaid_checks <= 1e-6
        assert proved.delta > 0 or compared.uncharged <= 1e-6
    for compared in found[::6]:
        for epsilon in (0.1, proved.epsilon / 2):
            assert compared.delta(epsilon) == pytest.approx(
                needed(classifier, compared.pair, epsilon), rel=1e-6, abs=1e-12
            )


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_proved_holds_for_three_levels(mechanism):
    """Three tests, so that each level has a choice; one test where the distribution is known for one only."""
    one = mechanism == "noisy-counts"  # whose distribution is known for one candidate
    parameters = needed_parameters(MECHANISMS[mechanism]) | {"epsilon": 6.0 if one else 3.0, "max_depth": 3}
    subject = Subject("three levels", GREEDY_TREES, parameters, n_rules=1 if one else 3, most=8 if one else 10**9)
    proved, _ = subject.promises()
    apart = np.zeros((8, 2), int)
    apart[0, 0] = apart[7, 1] = 60
    for pair in [Pair(np.array([[1, 1], [1, 0]]), (1, 1))] if one else [leftover(100, 3), Pair(apart, (3, 0))]:
        compared = compare(subject, pair)
        assert not is_broken(excess(compared, proved))
        assert proved.delta > 0 or compared.uncharged <= 1e-6


@pytest.mark.parametrize(
    "name",
    slow_but(
        ["greedy trees, mass", "greedy trees, gl-gaussian", "greedy trees, sm-laplace, small support"],
        ["greedy trees, gl-gaussian"],
    ),
)
def test_fits_follow_the_exact_distribution(name):
    subject = replace(BY_NAME[name], parameters=dict(BY_NAME[name].parameters))
    counts = np.array([[9, 2], [1, 7], [4, 0], [0, 12]])
    seen = watch(subject, Pair(counts, (0, 1)))
    chances = {outcome: chance for outcome, (chance, _) in seen.chances.items()}
    assert len(chances) > 5
    assert misfit(outcomes(subject, seen, counts, 400), chances) > 1e-6


# -- a level costs what a node does ------------------------------------------------------------------------------------


class Charged(Reservation):
    """Keeps what was charged."""

    def __init__(self):
        super().__init__(Fraction(10**6), Fraction(1))
        self.charges = []

    def draw(self, epsilon, delta, what):
        super().draw(epsilon, delta, what)
        self.charges.append((what, epsilon, delta))


def queries_on(counts, mechanism="mass", **settings):
    schema = schema_of_rules(len(counts).bit_length() - 1, counts.shape[1])
    budget = budget_of(mechanism, 2, 3, tree=True, **settings)
    tests, charged = Candidates.of_tests(schema), Charged()
    queries = GreedyTreeQueries(private_counts_of(schema, counts), tests, MECHANISMS[mechanism], budget)
    return queries.open(charged, SeededEntropy(0)), charged, budget


COUNTS = np.arange(1, 17).reshape(8, 2)


def test_a_level_is_charged_once_however_many_nodes_it_has():
    for mechanism in MECHANISMS:
        delta = 1e-3 if MECHANISMS[mechanism].needs_delta else None
        queries, charged, budget = queries_on(COUNTS, mechanism, delta=delta, min_support=2)
        nodes = [((0, a), (1, b)) for a in (True, False) for b in (True, False)]
        assert len(queries.exceed(nodes)) == len(queries.select(nodes)) == 4
        check = [("support checks of a level", budget.check_epsilon, 0)] * MECHANISMS[mechanism].needs_support
        assert charged.charges == [*check, ("choices of a level", budget.choice_epsilon, budget.choice_delta)]


def test_no_record_is_counted_at_two_nodes_of_a_level_whatever_is_asked():
    """Nodes that overlap: the later one gets what the earlier ones leave."""
    queries, _, _ = queries_on(COUNTS)
    nodes = [((0, True),), ((1, True),), (), ((0, False), (1, False))]
    counted = [node.left for node in queries._count(nodes)]
    assert (sum(counted) == COUNTS.sum(0)).all()
    assert (counted[0] == COUNTS[4:].sum(0)).all()
    assert (counted[1] == COUNTS[[2, 3]].sum(0)).all()
    assert (counted[3] == 0).all()  # all of them were in "everything"


def test_a_node_that_is_asked_about_twice_is_counted_once():
    """Also if its counts are known from the question before: two answers would cost two charges."""
    for known in ([()], []):
        queries, _, _ = queries_on(COUNTS)
        queries._count(known)
        counted = queries._count([(), ()])
        assert (counted[0].left == COUNTS.sum(0)).all()
        assert (counted[1].left == 0).all()
        assert (counted[1].captured == 0).all()


@pytest.mark.parametrize("overlapping", [[(), ((0, True),)], [((0, True),), ((1, True),)]])
def test_a_record_changes_what_one_node_counts(overlapping):
    for nodes in (overlapping, [((0, True), (2, True)), ((0, True), (2, False)), ((0, False),)]):
        for place in product(range(8), range(2)):
            more = COUNTS.copy()
            more[place] += 1
            before, after = queries_on(COUNTS)[0]._count(nodes), queries_on(more)[0]._count(nodes)
            changed = [
                i
                for i, (a, b) in enumerate(zip(before, after, strict=True))
                if (a.captured != b.captured).any() or (a.left != b.left).any()
            ]
            assert len(changed) <= 1
            for i in changed:
                assert np.abs(after[i].left - before[i].left).sum() == 1


def test_a_test_that_the_path_decides_is_not_chosen_again():
    queries, _, _ = queries_on(COUNTS)
    for _ in range(30):
        (chosen,) = queries.select([((0, True), (2, False))])
        assert chosen in (1, None)


def test_the_shares_of_a_tree_add_up_to_epsilon():
    for name, mechanism in MECHANISMS.items():
        for depth in range(5):
            budget = mechanism.split(Settings(Fraction(7, 5), depth + 1, Fraction(1, 100), tree=True))
            queries = depth * (budget.choice_epsilon + budget.check_epsilon) + budget.counts_epsilon
            assert queries == Fraction(7, 5), name  # nothing is paid for that is not asked
            assert depth * budget.choice_delta <= budget.delta
            parameters = {"epsilon": 1.4, "max_depth": depth, "counts_share": 0.5}
            assert mechanism.counts_epsilon(parameters) == budget.counts_epsilon


# -- the published claims, for trees -----------------------------------------------------------------------------------


def test_the_claims_of_methods_on_global_sensitivity_hold_for_trees():
    """Choices cost at most what is paid, and the leaves are counted once: nothing is left over, and nothing is missing."""
    for name, mechanism in MECHANISMS.items():
        if mechanism.needs_support:
            continue
        for depth in range(1, 8):
            delta = 1e-6 if mechanism.needs_delta else None
            budget = budget_of(name, 0.7, depth + 1, delta, tree=True)
            proved = proved_of(name, budget, 100)
            assert (proved.epsilon <= 0.7, proved.delta) == (True, 0.0), (name, depth)


@pytest.mark.parametrize(
    ("name", "at_least_so_much"),
    [("greedy trees, sm-laplace, 5,050 records", 400), ("greedy trees, sm-cauchy, 48,842 records", 2.5)],
)
def test_the_claims_of_smooth_methods_are_refuted_and_what_is_proved_holds(name, at_least_so_much):
    subject = BY_NAME[name]
    proved, published = subject.promises()
    compared = compare(subject, subject.known[0])
    assert excess(compared, published) > at_least_so_much
    assert not is_broken(excess(compared, proved))
    by_hand = needed(subject.make(), subject.known[0], published.epsilon)
    assert compared.delta(published.epsilon) == pytest.approx(by_hand, rel=1e-6)


def test_sm_cauchy_with_a_small_support_is_pure_as_claimed():
    """Where even at the smallest node a choice costs no more than its share, at any depth."""
    for depth in (1, 3, 6):
        for support, pure in ((31, True), (32, False)):
            budget = budget_of("sm-cauchy", 1, depth + 1, min_support=support, tree=True)
            assert (proved_of("sm-cauchy", budget, 100).delta == 0) == pure
