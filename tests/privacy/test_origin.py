"""A release that builds on a model asks where the model came from."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    ScoreCardClassifier,
    noisy_evaluation,
)
from discreet._utils.errors import PrivacyWarning
from discreet.accounting.ledger import UnprovedError
from discreet.accounting.statement import INFERRED, SEEDED, Guarantee
from discreet.cli import main
from tests.support.paid_schemas import paid

SCHEMA = Schema((Boolean("a"), Boolean("b")), target="y", classes=["no", "yes"])
# `a` and `b` say the class of all records but one each, so that the best list is a tie; without record 18 it is none
X = pd.DataFrame({"a": [True] * 9 + [False] * 9 + [True, False], "b": [True] * 9 + [False] * 9 + [False, True]})
Y = np.array(["yes"] * 9 + ["no"] * 9 + ["yes", "yes"])


def exact(X, y, learner=OptimalRuleListClassifier):
    return learner(max_length=2, schema=SCHEMA).fit(X, y)


def private(schema=SCHEMA, **given):
    return DPOptimalRuleListClassifier(max_length=2, schema=schema, **given).fit(X, Y), X


@pytest.mark.parametrize("learner", [OptimalRuleListClassifier, GreedyRuleListClassifier])
def test_an_exact_model_of_the_same_records_tells_neighbours_apart_so_no_pair_is_printed(learner):
    lists = [str(exact(X.drop(index=i), np.delete(Y, i), learner)) for i in (18, 19)]
    assert (
        lists[0] != lists[1]
    )  # both are neighbours of the whole table: with certainty one of them has another list than it
    with pytest.warns(PrivacyWarning, match="learned without privacy"):
        found = noisy_evaluation(exact(X, Y, learner), X, Y, 0.1)
    assert found.privacy.proved is None
    assert "epsilon = " not in str(found)
    assert "epsilon = " not in str(found.privacy)
    assert "learned without privacy" in str(found)


def test_a_proved_model_keeps_its_pair_and_says_what_adds_up():
    model, _ = private(epsilon=2.0)
    for known in (model, SavedModel.of(model), SavedModel.from_json(SavedModel.of(model).to_json())):
        found = noisy_evaluation(known, X, Y, 0.1)
        assert found.privacy.proved.epsilon == 0.1
        assert "epsilon = 2" in str(found.privacy)
        assert "own statement" in found.privacy.assumes[-1]


@pytest.mark.parametrize("bare", [lambda m: m.rule_list_, lambda m: RuleList.from_json(m.rule_list_.to_json())])
def test_a_bare_list_does_not_know_where_it_came_from(bare):
    rules = bare(private()[0])
    found = noisy_evaluation(rules, X, Y, 0.1)
    assert found.privacy.proved is None
    assert "SavedModel" in str(found)
    vouched = noisy_evaluation(rules, X, Y, 0.1, model_is_public=True).privacy
    assert vouched.proved.epsilon == 0.1
    assert "model_is_public" in vouched.assumes[-1]


def test_a_ledger_refuses_what_is_not_proved_or_books_that_nothing_is():
    with pytest.raises(UnprovedError, match="without privacy"):
        noisy_evaluation(exact(X, Y), X, Y, 0.25, ledger=Ledger(epsilon=1.0))
    ledger = Ledger(epsilon=1.0, allow_unproved=True)
    noisy_evaluation(exact(X, Y), X, Y, 0.25, ledger=ledger)
    assert ledger.spent[0] == Fraction(1, 4)
    assert ledger.proved[0] == math.inf


def test_every_origin_has_its_reason():
    model, _ = private()
    seeded = private(random_state=0)[0]
    loose = GreedyRuleListClassifier(max_length=2).fit(X, Y)
    mined = private(candidates=["a", "b"])[0]
    made = DPGreedyRuleListClassifier(infer_schema=True).fit(X, Y)
    expected = {
        None: [model, SavedModel.of(model)],
        f"nothing is proved about the model that was measured ({SEEDED}": [seeded, SavedModel.of(seeded)],
        "may have been mined from the records)": [mined, SavedModel.of(mined)],
        "was learned without privacy": [exact(X, Y), SavedModel.of(exact(X, Y))],
        INFERRED: [loose, made, SavedModel.of(made), loose.rule_list_],
        "nothing is known about where the rule list came from": [model.rule_list_, SavedModel(model.rule_list_)],
    }
    for reason, models in expected.items():
        for m in models:
            found = noisy_evaluation(m, X, Y, 1.0).privacy
            assert (found.proved is not None) == (reason is None)
            assert [reason in told for told in found.because] == [True] * (reason is not None)


def test_vouching_for_a_model_does_not_vouch_for_a_schema_made_from_records_or_take_a_seed_back():
    loose = GreedyRuleListClassifier(max_length=2).fit(X, Y)
    assert noisy_evaluation(loose, X, Y, 1.0, model_is_public=True).privacy.because == (INFERRED,)
    vouched = noisy_evaluation(exact(X, Y), X, Y, 1.0, model_is_public=True, random_state=0)
    assert vouched.privacy.because == (SEEDED,)


def test_a_schema_counts_once_and_is_booked_where_nobody_did():
    model, columns = private(schema=paid(SCHEMA, 0.5, 1e-9), epsilon=1.0)
    assert model.privacy_.proved == Guarantee(1.5, 1e-9)
    own = noisy_evaluation(model, columns, Y, 0.1).privacy  # its statement has counted the schema
    assert own.proved == Guarantee(0.1, 0.0)
    assert any("the model's schema, which its own statement counts" in a for a in own.assumes)
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    vouched = noisy_evaluation(model.rule_list_, columns, Y, 0.1, ledger=ledger, model_is_public=True)
    assert vouched.privacy.proved == Guarantee(0.6, 1e-9)
    assert vouched.privacy.for_schema == Guarantee(0.5, 1e-9)
    assert any("the model's schema, which this promise counts" in a for a in vouched.privacy.assumes)
    (entry,) = ledger.entries
    spent = Fraction(6, 10), Fraction(1, 10**9)
    assert ledger.spent == spent == (entry.spent_epsilon, entry.spent_delta)
    again = noisy_evaluation(model.rule_list_, columns, Y, 0.1, ledger=ledger, model_is_public=True)
    assert again.privacy.proved == Guarantee(0.6, 1e-9)
    assert ledger.spent == (Fraction(7, 10), spent[1])


def run(model, tmp_path, *options):
    SavedModel.of(model, "y").save(tmp_path / "model.json")
    X.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    given = [str(tmp_path / "model.json"), str(tmp_path / "table.csv"), "--epsilon", "0.1", *options]
    answer = CliRunner().invoke(main, ["evaluate", *given])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_the_command_line_says_so(tmp_path):
    assert "not private: the model that was measured was learned without privacy" in run(exact(X, Y), tmp_path)
    for said in (run(exact(X, Y), tmp_path, "--model-is-public"), run(private()[0], tmp_path)):
        assert "records. epsilon = 0.1" in said
        assert "not private" not in said
    assert json.loads(run(exact(X, Y), tmp_path, "--json"))["proved"] is False
    wrong = CliRunner().invoke(main, ["evaluate", str(tmp_path / "model.json"), str(tmp_path / "table.csv"), "--public",
                                      "--model-is-public"])  # fmt: skip
    assert wrong.exit_code == 2


def test_a_fit_looks_where_its_schema_and_candidates_came_from():
    loose = GreedyRuleListClassifier(max_length=2).fit(X, Y)
    schema = replace(loose.rule_list_.schema, classes=("no", "yes"))
    assert DPOptimalRuleListClassifier(max_length=2, schema=schema).fit(X, Y).privacy_.because == (INFERRED,)
    taken = [Rule(rule.antecedent) for rule in exact(X, Y).rule_list_.rules]
    (reason,) = private(candidates=taken)[0].privacy_.because
    assert "mined" in reason


@pytest.mark.parametrize("learner", [OptimalTreeClassifier, ScoreCardClassifier])
def test_a_fitted_exact_tree_or_card_is_known_to_be_learned_without_privacy(learner):
    (reason,) = noisy_evaluation(learner(schema=SCHEMA).fit(X, Y), X, Y, 1.0).privacy.because
    assert "without privacy" in reason
