import json

from click.testing import CliRunner

from discreet import PrivacyStatement, RuleList, Tree, __version__
from discreet.cli import main
from discreet.models.score_card import ScoreCard


def run(*arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result


def test_demo_shows_lists_without_and_with_privacy():
    output = run("demo").output
    for expected in ("COMPAS", "Adult", "German Credit", "if priors_count > 2 then 1", "else ", "accuracy"):
        assert expected in output
    for title in (
        "a list drawn whole, epsilon 1",
        "a tree drawn whole, epsilon 1",
        "a score card, epsilon 1",
        "sm-laplace, epsilon 1",
        "GreedyRL, no privacy",
    ):
        assert output.count(title) == 3
    assert output.index("a list") < output.index("a tree") < output.index("sm-laplace") < output.index("GreedyRL")
    assert output.count("proved: epsilon = 1") == 12
    assert "differentially" in output


def test_demo_as_json_holds_models_and_statements_that_can_be_read():
    results = json.loads(run("demo", "--json", "-k", "3", "--max-depth", "2").stdout)
    assert [r["dataset"] for r in results] == ["COMPAS"] * 5 + ["Adult"] * 5 + ["German Credit"] * 5
    for result in results:
        assert 0.3 < result["accuracy"]["test"] < 0.9
        if "tree" in result["learner"]:
            assert Tree.from_json(json.dumps(result["model"])).depth <= 2
        elif "score card" in result["learner"]:
            assert len(ScoreCard.from_json(json.dumps(result["model"])).columns) <= 3
        else:
            assert len(RuleList.from_json(json.dumps(result["model"]))) <= 3
        if "privacy" in result:
            assert PrivacyStatement.from_json(json.dumps(result["privacy"])).proved is not None


def test_demo_of_length_one_is_the_default_alone():
    assert "always " in run("demo", "-k", "1").output


def test_help_and_version():
    assert "demo" in run("--help").output
    assert run("--version").output == f"discreet {__version__}\n"
    wrong = CliRunner().invoke(main, ["demo", "-k", "0"])
    assert wrong.exit_code == 2
    assert "max-length" in wrong.output
    wrong = CliRunner().invoke(main, ["demo", "--epsilon", "0"])
    assert wrong.exit_code == 2
    assert "epsilon must be above 0" in wrong.output
