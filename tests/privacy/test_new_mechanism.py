"""A mechanism of a dozen lines, registered from here, is taken through everything; twins of it with too little noise are caught.

docs/new-mechanism.md walks through the same one.
"""

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet
from discreet import DPGreedyRuleListClassifier, DPGreedyTreeClassifier, Ledger, SavedModel
from discreet.audit.choices import audited, choices_of
from discreet.audit.learners import compare, excess, is_broken, search
from discreet.audit.observed import samplers
from discreet.audit.subjects import subjects
from discreet.cli import main
from discreet.datasets import load_compas
from discreet.models.display.summary import summarize
from discreet.private.counts.counting import NodeCounts
from discreet.private.mechanisms.base import ChoosesByCoins
from discreet.private.mechanisms.registry import MECHANISMS, RULE_LIST_DRAW, TREE_DRAW, find, register
from discreet.private.mechanisms.selector import PermuteAndFlip
from discreet.report.html import to_html

# -- the mechanism, as its file would be ------------------------------------------------------------------------------


class ErrorsSelector(PermuteAndFlip):
    """How many records every candidate, then no rule, gets wrong if each side is given its most frequent class."""

    width = 1

    def losses(self, node):
        captured = np.column_stack([node.captured, np.zeros_like(node.left)])
        sides = captured, node.left[:, None] - captured
        return sum(side.sum(0) - side.max(0) for side in sides).astype(np.int64)


class Errors(ChoosesByCoins):
    name = "errors"
    choice = ErrorsSelector


# -- twins ------------------------------------------------------------------------------------------------------------


class LoudDraws(ErrorsSelector):
    """Its distribution is sound, and its draws do not follow it."""

    def select(self, node, entropy):
        return entropy.permute_and_flip(self.losses(node), self.scale / 2)


class HalfTheNoise(LoudDraws):
    """The price of the sound one, for half its noise."""

    def scores(self, node):
        return 2 * super().scores(node)


class TooWeak(Errors):
    name = "errors, half the noise"
    choice = HalfTheNoise


class Loud(Errors):
    name = "errors, loud draws"
    choice = LoudDraws


@pytest.fixture
def registered():
    before = dict(MECHANISMS)
    for mechanism in (Errors(), TooWeak(), Loud()):
        register(mechanism)
    yield
    MECHANISMS.clear()
    MECHANISMS.update(before)


DATA = load_compas(sensitive=False)


@pytest.mark.usefixtures("registered")
def test_it_fits_states_and_books_what_it_costs():
    ledger = Ledger(epsilon=1)
    clf = DPGreedyRuleListClassifier(
        mechanism="errors", epsilon=0.5, counts_share=0.2, schema=DATA.schema, ledger=ledger
    )
    clf.fit(DATA.data, DATA.target)
    assert clf.privacy_.mechanism == "errors"
    assert (clf.privacy_.proved.epsilon, clf.privacy_.proved.delta) == (0.5, 0.0)
    assert "rounding" not in str(clf.privacy_)
    (entry,) = ledger.entries
    assert entry.what == "DPGreedyRuleListClassifier, errors"
    assert entry.epsilon == entry.proved_epsilon == Fraction(1, 2)
    again = SavedModel.from_json(SavedModel.of(clf).to_json())
    assert again.counts_epsilon == 0.1
    assert summarize(again).verdict.headline == "Private, with epsilon = 0.5"
    assert "errors" in to_html(again)


@pytest.mark.usefixtures("registered")
def test_it_grows_trees_and_is_audited_as_a_tree():
    clf = DPGreedyTreeClassifier(
        epsilon=0.5, max_depth=2, mechanism="errors", counts_share=0.2, schema=DATA.schema
    ).fit(DATA.data, DATA.target)
    assert (clf.privacy_.mechanism, clf.privacy_.proved.epsilon) == ("errors", 0.5)
    assert SavedModel.from_json(SavedModel.of(clf).to_json()).counts_epsilon == 0.1
    sound, twin = (next(s for s in subjects() if s.name == f"greedy trees, {m.name}") for m in (Errors, TooWeak))
    proved, _ = sound.promises()
    pairs = [compared.pair for compared in search(sound, proved, 20, seed=0)]
    assert max(compare(sound, pair).uncharged for pair in pairs) <= 1e-6
    assert max(compare(twin, pair).uncharged for pair in pairs) > 0.1


@pytest.mark.usefixtures("registered")
def test_the_command_line_offers_it(tmp_path):
    runner = CliRunner()
    assert "errors" in runner.invoke(main, ["fit", "greedy", "--help"]).output
    DATA.schema.save(tmp_path / "schema.toml")
    DATA.frame.to_csv(tmp_path / "table.csv", index=False)
    table, schema, out = (str(tmp_path / name) for name in ("table.csv", "schema.toml", "model.json"))
    given = ["fit", "greedy", table, "--schema", schema, "--epsilon", "0.5", "--out", out, "--public-table"]
    result = runner.invoke(main, [*given, "--mechanism", "errors", "--counts-share", "0.3"])
    assert result.exit_code == 0, result.output
    assert SavedModel.load(out).privacy.mechanism == "errors"
    result = runner.invoke(main, [*given, "--force", "--mechanism", "gl-laplace", "--counts-share", "0.3"])
    takers = [name for name, mechanism in MECHANISMS.items() if mechanism.uses_counts_share]
    assert "errors" in takers
    assert f"--mechanism {', '.join(takers)}" in " ".join(result.output.split())


def nodes(n, n_classes):
    """Two rules, all class counts in (neither, the first, the second, both) with n records."""
    for patterns in product(range(n + 1), repeat=4 * n_classes):
        if sum(patterns) == n:
            yield np.array(patterns, float).reshape(4, n_classes)


def as_node(patterns):
    return NodeCounts(patterns.sum(0), np.stack([patterns[1] + patterns[3], patterns[2] + patterns[3]], axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_record_changes_the_errors_of_a_rule_by_0_or_1(n_classes):
    """The lemma of the proof, by enumeration; and the loss of one choice with it."""
    selector, twin, worst, worst_of_twin = ErrorsSelector(Fraction(2)), HalfTheNoise(Fraction(2)), 0.0, 0.0
    for patterns in (c for n in range(3) for c in nodes(n, n_classes)):
        for place in product(range(4), range(n_classes)):
            more = patterns.copy()
            more[place] += 1
            before, after = as_node(patterns), as_node(more)
            assert set(selector.losses(after) - selector.losses(before)) <= {0, 1}
            worst = max(worst, np.abs(selector.log_prob(after) - selector.log_prob(before)).max())
            worst_of_twin = max(worst_of_twin, np.abs(twin.log_prob(after) - twin.log_prob(before)).max())
    assert 1.0 < worst <= 2.0 * (1 + 1e-9) < worst_of_twin


@pytest.mark.usefixtures("registered")
def test_the_audit_finds_that_it_keeps_its_promise_at_every_level():
    for name in ("errors", "errors, three classes"):
        found = audited(quick=True)[name]()
        assert not is_broken(found.ratio)
        assert found.ratio > 0.9
    (subject,) = (s for s in subjects() if s.name == "errors")
    proved, _ = subject.promises()
    for compared in search(subject, proved, 20, seed=0):
        assert not is_broken(excess(compared, proved))
        assert compared.uncharged <= 1e-6
    assert samplers()["a choice by errors"](1_000) > 1e-6


@pytest.mark.usefixtures("registered")
def test_the_audit_catches_a_twin_with_half_the_noise():
    assert is_broken(choices_of(TooWeak(), quick=True)[TooWeak.name]().ratio)
    (subject,) = (s for s in subjects() if s.name == TooWeak.name)
    proved, _ = subject.promises()
    assert max(compared.uncharged for compared in search(subject, proved, 20, seed=0)) > 0.1


@pytest.mark.usefixtures("registered")
def test_the_audit_catches_a_twin_whose_draws_do_not_follow_its_distribution():
    assert not is_broken(choices_of(Loud(), quick=True)[Loud.name]().ratio)
    assert samplers()[f"a choice by {Loud.name}"](3_000) < 1e-6
    (loud,) = (s for s in subjects() if s.name == Loud.name)
    pairs = [compared.pair for compared in search(loud, loud.promises()[0], 20, seed=0)]
    assert max(compare(loud, pair).uncharged for pair in pairs) > 0.1  # exact coins are explored by its own code


def test_a_name_is_given_once():
    for name in ("mass", RULE_LIST_DRAW.name, TREE_DRAW.name):

        class Again(Errors):
            pass

        Again.name = name
        with pytest.raises(ValueError, match="already"):
            register(Again())
    assert find("mass") is MECHANISMS["mass"]
    assert find(RULE_LIST_DRAW.name) is RULE_LIST_DRAW
    assert find(TREE_DRAW.name) is TREE_DRAW
    assert find("noisy evaluation") is None


def test_every_mechanism_is_in_the_docs():
    root = Path(__file__).parents[2]
    privacy = (root / "docs" / "privacy.md").read_text(encoding="utf-8")
    theory = "".join(page.read_text(encoding="utf-8") for page in (root / "docs" / "theory").glob("*.md"))
    for name in MECHANISMS:
        for place, text in (("privacy.md", privacy), ("theory", theory)):
            assert f"`{name}`" in text, f"`{name}` is not in docs/{place}"
        assert f'"{name}"' in DPGreedyRuleListClassifier.__doc__, f"{name} is not in the docstring of the classifier"


# where a mechanism may be named: as a default, as a counterexample, in a demonstration, and in figures that show some of them
NAMED = {
    ("estimators", "greedy"): {"mass"},
    ("estimators", "trees"): {"mass"},
    ("estimators", "parameters"): {"mass"},
    ("audit", "subjects"): {"sm-laplace", "sm-cauchy"},
    ("cli", "demo"): {"sm-laplace"},
}


def test_no_other_file_knows_mechanisms_by_name():
    home = Path(discreet.__file__).parent
    for path in home.rglob("*.py"):
        parts = path.relative_to(home).with_suffix("").parts
        if parts[:2] != ("private", "mechanisms"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            named = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            assert named & MECHANISMS.keys() <= NAMED.get(parts, set()), parts
