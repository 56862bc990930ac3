"""Forests: what they say is what their trees say together, what they cost is what is claimed, and what Fletcher's is not."""

import math

import numpy as np
import pytest
from reproduction import forests
from reproduction.measures import measured
from reproduction.random_forests import odds_of_second, random_forest, random_tests
from reproduction.splits import split_of

from discreet import DPGreedyTreeClassifier, DPOptimalTreeClassifier, Tree

pytestmark = pytest.mark.filterwarnings("ignore::discreet._utils.errors.SeededWarning")


@pytest.mark.parametrize("setup", ["A", "D"])
def test_a_forest_says_what_the_mean_of_its_trees_probabilities_says(setup):
    split = split_of("COMPAS", setup, 1)
    trees = [split.fit(forests.greedy(3)(1.0, seed), 3, seed).tree_ for seed in range(3)]
    mean = np.mean([tree.predict_proba(split.X_test)[:, 1] for tree in trees], axis=0)
    found = measured(forests.Forest.of(trees), split)["test_accuracy"]
    assert np.abs(mean - 0.5).min() > 1e-6
    assert found == pytest.approx(((mean > 0.5) == (split.y_test == 1)).mean())


def test_trees_without_counts_vote():
    trees = [Tree.parse(f"if a then {x} else 0", classes=(0, 1)) for x in (1, 1, 0)]
    forest = forests.Forest.of(trees)
    assert [partition.points for partition in forest.partitions] == [(1.0, 0.0), (1.0, 0.0), (0.0, 0.0)]
    assert forest.limits == (1.5,)


def test_every_record_is_in_one_part_and_its_part_depends_on_no_other_record():
    split = split_of("COMPAS", "A", 0)
    part = split.parts(3)
    assert len(part) == len(split.y_train)
    assert set(part) == {0, 1, 2}
    assert split.counts(3).sum() == len(part)
    np.testing.assert_array_equal(split.counts(3).sum(0), split._counts[1])
    fewer = np.random.default_rng((split.seed, 3)).integers(3, size=len(part) - 1)
    np.testing.assert_array_equal(part[:-1], fewer)  # a record more leaves those before it where they were


class Fits:
    """A split that remembers which private classifiers it was asked to fit."""

    def __init__(self, split):
        self.asked, self.schema, self._split = [], split.schema, split

    def fit(self, learner, parts=1, part=0):
        self.asked.append((learner, parts, part))
        return self._split.fit(learner, parts, part)


def test_trees_of_parts_have_all_of_epsilon_each_and_trees_of_all_records_share_it():
    split = Fits(split_of("COMPAS", "A", 0))
    forests.of_parts(split, 0.6, 7, 3, forests.whole(2))
    assert [(x.epsilon, parts, part) for x, parts, part in split.asked] == [(0.6, 3, 0), (0.6, 3, 1), (0.6, 3, 2)]
    split.asked.clear()
    forests.of_all_records(split, 0.6, 7, 3, forests.whole(2), columns=0.5)
    assert sum(x.epsilon for x, _, _ in split.asked) == pytest.approx(0.6)
    assert {(parts, part) for _, parts, part in split.asked} == {(1, 0)}
    assert len({x.random_state for x, _, _ in split.asked}) == 3


@pytest.mark.parametrize("member", [forests.whole(2), forests.greedy(2)])
def test_columns_that_a_tree_is_denied_are_not_in_it(member):
    split = split_of("COMPAS", "D", 0)
    names = [column.name for column in split.schema.used]
    for seed in range(5):
        tree = split.fit(member(5.0, seed, names[2:])).tree_
        assert set(tree.used_columns) <= set(names[:2])
    assert isinstance(member(1.0, 0), DPOptimalTreeClassifier | DPGreedyTreeClassifier)


def _chance(ahead, epsilon, how):
    return 1 / (1 + math.exp(-odds_of_second(np.array([0, ahead]), epsilon, how)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_leafs_label_costs_epsilon_as_proved_and_far_more_as_published(epsilon):
    """All leaves with up to 60 records more of one class than of the other, against those with one record more or less."""
    losses = {}
    for how in ("proved", "smooth"):
        odds = odds_of_second(np.stack([np.zeros(121), np.arange(-60.0, 61.0)], axis=1), epsilon, how)
        logs = np.stack([-np.logaddexp(0, -odds), -np.logaddexp(0, odds)])  # of the chances of both labels
        losses[how] = np.abs(np.diff(logs)).max()
    assert losses["proved"] <= epsilon + 1e-9
    assert losses["smooth"] > 4 * epsilon


def test_the_counterexample_of_the_theory_page():
    """Theorem 21d, epsilon 1: a leaf with two records, or three, all of one class. The other class is the label."""
    two, three = 1 - _chance(2, 1.0, "smooth"), 1 - _chance(3, 1.0, "smooth")
    assert two == pytest.approx(0.0243, abs=1e-4)
    assert three == pytest.approx(4.35e-5, rel=1e-2)
    assert two - math.e * three == pytest.approx(0.0242, abs=1e-4)  # the delta that it would need
    assert math.log(two / three) == pytest.approx(6.3, abs=0.05)


def test_what_the_theory_page_says_of_the_authors_cut_off_and_of_small_epsilons():
    leads = np.stack([np.zeros(101), np.arange(101.0)], axis=1)
    logs = -np.logaddexp(0, odds_of_second(leads, 1.0, "smooth"))  # of the chance of the class that is behind
    losses = np.abs(np.diff(logs))
    assert (losses.argmax(), round(losses.max(), 1)) == (4, 22.7)
    surer = odds_of_second(leads, 0.1, "proved") > odds_of_second(leads, 0.1, "smooth")
    assert np.flatnonzero(surer).tolist() == list(range(1, 45))


def test_random_trees_ask_nothing_that_the_way_to_a_node_has_decided():
    split = split_of("COMPAS", "D", 0)
    tests = random_tests(split.schema, 5, np.random.default_rng(0))
    assert len(tests) == 31
    for node in range(31):
        way = []
        while node:
            node = (node - 1) // 2
            way.append(tests[node])
        assert len(set(way)) == len(way)
    assert len(set(tests)) > 10


def test_a_random_forest_with_much_epsilon_says_what_the_majorities_of_its_leaves_say():
    split = split_of("COMPAS", "A", 0)
    sure = [random_forest(split, 1e6, seed, how, 15, 6) for seed in range(2) for how in ("proved", "smooth")]
    accuracies = {round(measured(one, split)["test_accuracy"], 2) for one in sure}
    assert accuracies <= {0.63, 0.64, 0.65, 0.66}
    noisy = measured(random_forest(split, 1e-6, 0, "proved", 15, 6), split)["test_accuracy"]
    assert noisy < min(accuracies)
