"""Whatever divides the records into parts is a model: a tree, and a score card, go where a rule list goes."""

import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

from discreet import (
    Boolean,
    Card,
    Categorical,
    GreedyRuleListClassifier,
    Literal,
    Numeric,
    PointsTable,
    PrivacyStatement,
    RuleList,
    SavedModel,
    Schema,
    ScoreCard,
    Split,
    Tree,
    noisy_evaluation,
)
from discreet._utils.errors import ModelError, PrivacyWarning, RuleError
from discreet.accounting.ledger import Reservation
from discreet.accounting.statement import Guarantee
from discreet.cli import main
from discreet.models.display.summary import summarize
from discreet.models.display.wording import answers_of
from discreet.models.export.python_source import LONGEST_CHAIN
from discreet.models.partition import Answer, Partition
from discreet.models.saved import KINDS, checksum
from discreet.private.queries.evaluation import EvaluationQueries, Grouping
from discreet.report.html import to_html
from discreet.rules.rules import truth
from discreet.sources.memory import PrivateCounts

from ..models.test_exports import check_python, check_sql, load
from ..report.test_report import Page
from ..support.scorers import Onnx, ReadPmml

COLUMNS = (
    Numeric("age", cuts=[25, 40], missing=True, low=0, high=99, outside="missing"),
    Categorical("job", categories=["cook", "clerk", "nurse"], missing=True, outside="other"),
    Boolean("member", missing=True),
)
SCHEMA = Schema(COLUMNS, target="ill", classes=["no", "yes"])
CLASSES = ("no", "yes")
YOUNG, MIDDLE = Literal("age", "<=", 25), Literal("age", "<=", 40)
COOK, MEMBER = Literal("job", "=", "cook"), Literal("member")

TREE = Tree(
    Split(
        MIDDLE,
        Split(COOK, Answer("yes", (1.0, 9.0)), Split(YOUNG, Answer("no", (30.0, 10.0)), Answer("yes", (5.0, 15.0)))),
        Split(MEMBER, Answer("yes", (-2.0, 8.0)), Answer("no", (20.0, 0.0))),
    ),
    CLASSES,
    SCHEMA,
)
CARD = ScoreCard(
    (
        Card(
            0.5,
            (
                PointsTable("age", (((YOUNG,), 3), ((MIDDLE,), 1.5), ((), -0.25))),
                PointsTable("job", (((COOK, MEMBER), 2), ((COOK,), -1), ((), 0))),
            ),
        ),
    ),
    (1.0, 3.5),
    (Answer("no", None, (0.9, 0.1)), Answer("no", None, (0.625, 0.375)), Answer("yes", None, (0.25, 0.75))),
    CLASSES,
    SCHEMA,
)
COUNTED = replace(
    CARD, answers=tuple(Answer(a.label, c) for a, c in zip(CARD.answers, [(9, 1), (5, 3), (1, 3)], strict=True))
)
MODELS = {"tree": TREE, "card": CARD, "counted card": COUNTED}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)

AGES = [None, -1.0, 0.0, 25.0, 25.5, 40.0, 41.0, 99.0, 100.0]
JOBS = ["cook", "clerk", "pilot", None]
MEMBERS = [True, False, None]
RECORDS = [{"age": a, "job": j, "member": m} for a in AGES for j in JOBS for m in MEMBERS]
X = {name: np.array([record[name] for record in RECORDS], dtype=object) for name in ("age", "job", "member")}
TABLE = pa.table(
    {
        "age": pa.array(X["age"].tolist(), pa.float64()),
        "job": pa.array(X["job"].tolist(), pa.string()),
        "member": pa.array(X["member"].tolist(), pa.bool_()),
    }
)
Y = np.array(["yes" if i % 3 == 0 else "no" for i in range(len(RECORDS))])


def is_true(literal, record):
    """By the schema's own words for one value, without partitions."""
    value = np.array([record[literal.column]], dtype=object)
    return bool(truth(SCHEMA, literal)[SCHEMA[literal.column].encode(value)][0])


def walked(tree, record):
    """The leaf that a record falls into, from the root down."""
    node = tree.root
    while isinstance(node, Split):
        node = node.true if is_true(node.test, record) else node.other
    return node


def added(card, record):
    """The answer for a record's total, as somebody with a pencil would find it."""
    total = card.cards[0].start
    for table in card.cards[0].tables:
        total += next(points for condition, points in table.rows if all(is_true(x, record) for x in condition))
    return card.answers[sum(limit <= total for limit in card.limits)]


def answer_of(model, record):
    return walked(model, record) if model is TREE else added(model, record)


@every_model
def test_answers_are_those_of_a_walk_from_the_root_or_of_a_sum_by_hand(model):
    expected = [answer_of(model, record) for record in RECORDS]
    assert [model.answers[i] for i in model.captures(X)] == expected
    assert set(model.captures(X)) == set(range(len(model.answers)))  # the records tell all of them apart
    assert model.predict(X).tolist() == [answer.label for answer in expected]


def test_shares_are_those_given_or_those_of_the_counts():
    at = {tuple(record.values()): i for i, record in enumerate(RECORDS)}
    leaf = at[41.0, "clerk", True]  # noisy counts -2 and 8
    assert TREE.predict_proba(X)[leaf].tolist() == [0.0, 1.0]
    assert TREE.predict_proba(X)[at[25.0, "clerk", None]].tolist() == [0.75, 0.25]
    low = at[None, "cook", False]  # -0.25 - 1 + 0.5 points
    assert CARD.predict_proba(X)[low].tolist() == COUNTED.predict_proba(X)[low].tolist() == [0.9, 0.1]


@every_model
def test_a_tables_columns_are_read_by_the_schema_strictly_if_told_so(model):
    strict = model.with_schema(
        Schema((replace(COLUMNS[0], outside="error"), *COLUMNS[1:]), target="ill", classes=CLASSES)
    )
    with pytest.raises(ValueError, match="age"):
        strict.predict(X, strict=True)
    assert model.used_columns == ["age", "job", "member"]


@every_model
def test_sql_gives_the_same_labels_and_shares(model, engine):
    load(engine, TABLE)
    check_sql(engine, model, TABLE)


@every_model
def test_python_gives_the_same_labels_and_shares(model):
    check_python(model, X, len(RECORDS))


@every_model
def test_onnx_gives_the_same_labels_and_shares(model):
    labels, shares = Onnx()(model, X)
    assert labels == model.predict(X).tolist()
    assert shares.tolist() == model.predict_proba(X).tolist()


@every_model
def test_pmml_of_a_tree_is_a_tree_and_of_points_is_a_scorecard(model):
    labels, shares = ReadPmml()(model, X)
    assert labels == model.predict(X).tolist()
    assert shares.tolist() == model.predict_proba(X).tolist()
    assert ("<TreeModel" if model is TREE else "<Scorecard") in model.to_pmml()


def test_points_are_added_in_the_same_order_everywhere(duckdb_engine):
    """0.1 + 0.2 + 0.3 is above 0.6, 0.3 + 0.2 + 0.1 is not."""
    limits = (math.nextafter(0.6, 1.0),)
    assert 0.1 + 0.2 + 0.3 == limits[0] > 0.3 + 0.2 + 0.1
    columns = tuple(Boolean(name) for name in "abc")
    everyone = dict.fromkeys("abc", X["member"])
    table = pa.table(dict.fromkeys("abc", TABLE["member"]))
    pairs = list(zip(columns, (0.1, 0.2, 0.3), strict=True))
    for order in (pairs, pairs[::-1]):
        tables = tuple(PointsTable(c.name, (((Literal(c.name),), points), ((), 0.0))) for c, points in order)
        card = ScoreCard((Card(0.0, tables),), limits, (Answer("no"), Answer("yes")), CLASSES, Schema(columns))
        expected = ["yes" if m and order is pairs else "no" for m in X["member"]]
        assert card.predict(everyone).tolist() == expected
        load(duckdb_engine, table)
        check_sql(duckdb_engine, card, table)
        check_python(card, everyone, len(RECORDS))
        assert Onnx()(card, everyone)[0] == expected


def test_a_column_may_be_called_as_the_sum_is_in_python():
    columns = tuple(Boolean(name) for name in ("total", "points_1"))
    tables = tuple(PointsTable(c.name, (((Literal(c.name),), 1.0), ((), 0.0))) for c in columns)
    card = ScoreCard((Card(0.0, tables),), (2.0,), (Answer("no"), Answer("yes")), CLASSES, Schema(columns))
    check_python(card, {"total": [True, True, False], "points_1": [True, False, True]}, 3)
    assert card.predict({"total": [True, True], "points_1": [True, False]}).tolist() == ["yes", "no"]


def test_a_table_of_points_may_be_very_long_in_python():
    cuts = list(range(3 * LONGEST_CHAIN))
    table = PointsTable("x", (*(((Literal("x", "<=", c),), float(c)) for c in cuts), ((), -1.0)))
    card = ScoreCard(
        (Card(0.0, (table,)),), (100.0,), (Answer(0), Answer(1)), (0, 1), Schema((Numeric("x", cuts=cuts),))
    )
    values = [-5.0, 99.0, 99.5, 299.0, 300.0]
    check_python(card, {"x": np.array(values, dtype=object)}, len(values))
    assert card.predict({"x": values}).tolist() == [0, 0, 1, 1, 0]


@every_model
def test_a_saved_model_of_any_kind_is_read_back(model, tmp_path):
    saved = SavedModel(model, learner="by hand", target="ill")
    saved.save(tmp_path / "model.json")
    again = SavedModel.load(tmp_path / "model.json")
    assert again == saved
    assert type(model).from_json(model.to_json()) == model
    assert str(again) == str(model)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    with pytest.raises(AttributeError, match=f"is a {model.kind}"):
        again.rule_list  # noqa: B018


@every_model
def test_a_kind_that_is_not_known_is_named_and_what_to_do(model, monkeypatch):
    text = SavedModel(model).to_json()
    monkeypatch.delitem(KINDS, "tree" if model is TREE else "score_card")
    with pytest.raises(
        ModelError, match=r"of a kind that this discreet .* does not know .'(tree|score_card)'.; update"
    ):
        SavedModel.from_json(text)
    with pytest.raises(ModelError, match=f"a {model.kind} cannot be saved"):
        SavedModel(model).to_json()
    changed = text.replace("yes", "no")
    with pytest.raises(ModelError, match="neither the model nor what it says"):
        SavedModel.from_json(changed)


def test_a_file_with_two_models_or_none_is_refused():
    data = json.loads(SavedModel(TREE).to_json())
    del data["checksum"]
    two = data | {"rule_list": json.loads(RuleList.parse("always yes").to_json())}
    none = {name: value for name, value in data.items() if name != "tree"}
    damaged = data | {"tree": data["tree"] | {"root": {}}}
    for content, message in ((two, "does not belong"), (none, "lacks an entry"), (damaged, "tree cannot be read")):
        with pytest.raises(ModelError, match=message):
            SavedModel.from_json(json.dumps(content | {"checksum": checksum(content)}))


def test_a_rule_list_is_known_by_its_name():
    rules = RuleList.parse("if age <= 30 then yes else no")
    saved = SavedModel(rules, target="ill")
    assert saved.rule_list is saved.model is rules
    assert replace(saved, target="well").model is rules
    assert pickle.loads(pickle.dumps(saved)) == saved
    with pytest.raises(TypeError, match="model"):
        SavedModel(target="ill")


PROVED = PrivacyStatement("made up", None, Guarantee(1.0, 0.0), (), ())


def words_of(model):
    page = Page(to_html(SavedModel(model, PROVED, "by hand", target="ill")))
    return page.text.replace("\N{MINUS SIGN}", "-")


@every_model
def test_the_report_says_what_kind_of_model_it_is_and_shows_every_condition(model):
    words = words_of(model)
    conditions = ("age is at most 40", "job is cook", "member is true")
    if model is not TREE:
        conditions = ("above 25 up to 40", "job = cook", "job = cook and member")
    for said in (f"A {model.kind}: ", f"A {model.kind} is a summary", *conditions):
        assert said in words
    assert to_html(SavedModel(model)).count(f"<h1>A {model.kind}</h1>") == 1


def test_the_report_of_a_card_has_tables_of_points_and_what_totals_mean():
    for card in (CARD, COUNTED):
        words = words_of(card)
        assert "points for 2 columns, 2 classes" in words
        for row in ("Start +0.5", "up to 25 +3", "up to 40 +1.5", "or missing -0.25", "member +2", "otherwise 0"):
            assert row in words
        for total in ("below 1 10.0 % no", "1 to below 3.5 37.5 % no", "3.5 or more 75.0 % yes"):
            assert total in words
    assert "no class counts, so how many records each range of totals takes is unknown" in words_of(CARD)
    assert "below 1 9 1 45 %" not in words_of(CARD)
    assert "below 1 9 1 45 %" in words_of(COUNTED)


def test_a_summary_of_a_card_holds_its_tables_as_plain_values():
    summary = summarize(SavedModel(CARD))
    (card,) = summary.cards
    assert card.start == 0.5
    lines = [answers_of(table, CARD.schema)[1] for table in card.tables]
    assert [[line.points for line in of_table] for of_table in lines] == [[3, 1.5, -0.25], [2, -1, 0]]
    assert [step.shares for step in summary.steps] == [answer.shares for answer in CARD.answers]
    assert summary.columns["used"] == ("age", "job", "member")


def test_only_what_knows_what_it_releases_has_a_report():
    for nothing in (CARD, "a text", None):
        with pytest.raises(ModelError, match="of a SavedModel, or of a fitted classifier"):
            to_html(nothing)
    with pytest.raises(ModelError, match="call fit first"):
        to_html(GreedyRuleListClassifier())


@every_model
def test_a_notebook_shows_it(model):
    words = Page(model._repr_html_()).text.replace("\N{MINUS SIGN}", "-")
    tree = model is TREE
    assert ("age is at most 40" in words) is tree
    assert ("above 25 up to 40 : +1.5" in words) is ("1 to below 3.5 37.5 % predict no" in words) is not tree
    assert (" records" in words) is ("no 10 %, yes 90 %" in words) is tree


def run(*arguments):
    result = CliRunner().invoke(main, [str(x) for x in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    pd.DataFrame(X).assign(ill=Y, number=range(len(Y))).to_csv("table.csv", index=False)
    return tmp_path


@every_model
def test_the_command_line_shows_it_in_every_format(model, folder):
    SavedModel(model, target="ill").save("model.json")
    text = run("show", "model.json")
    assert ("age <= 40" in text) is (model is TREE)
    assert ("above 40 or missing     -0.25" in text) is (model is not TREE)
    assert ("total 1 to below 3.5   no" in text) is (model is not TREE)
    assert "   90%" in text
    assert ("90% of" in text) is (model is not CARD)
    assert json.loads(run("show", "model.json", "--format", "json")) == json.loads(
        SavedModel(model, target="ill").to_json()
    )
    assert run("show", "model.json", "--format", "sql").strip() == model.to_sql()
    assert (
        run("show", "model.json", "--format", "python", "--share-of", "yes").strip()
        == model.to_python(share_of="yes").strip()
    )
    run("show", "model.json", "--format", "onnx", "--out", "model.onnx")
    assert (folder / "model.onnx").read_bytes() == model.to_onnx()
    assert run("show", "model.json", "--format", "pmml").strip() == model.to_pmml().strip()
    assert run("show", "model.json", "--format", "html").strip() == to_html(SavedModel(model, target="ill")).strip()
    run("show", "model.json", "--out", "model.txt")
    assert (folder / "model.txt").read_text() == f"{model}\n\nLearned without privacy.\n"


def test_onnx_goes_to_a_file_and_pmml_of_a_list_may_be_a_tree(folder):
    rules = RuleList.parse("if age <= 25 then yes else no")
    SavedModel(rules, target="ill").save("model.json")
    refused = CliRunner().invoke(main, ["show", "model.json", "--format", "onnx"])
    assert refused.exit_code == 2
    assert "--out model.onnx" in refused.output
    assert run("show", "model.json", "-f", "pmml", "--as-tree").strip() == rules.to_pmml(as_tree=True).strip()
    run("show", "model.json", "-f", "pmml", "-o", "model.pmml")
    assert (folder / "model.pmml").read_text() == rules.to_pmml()


def test_a_tree_in_the_terminal_reads_as_it_prints(folder):
    SavedModel(TREE, target="ill").save("model.json")
    inside = [line.strip("│").removeprefix("  ").rstrip() for line in run("show", "model.json").splitlines()]
    lines = str(TREE).splitlines()
    start = inside.index(lines[0])
    shown = inside[start : start + len(lines)]
    assert all(line.startswith(text) for line, text in zip(shown, lines, strict=True))
    said = [line.removeprefix(text).strip() for line, text in zip(shown, lines, strict=True)]
    assert said == ["", "90% of 10", "75% of 40", "75% of 20", "100% of 8", "100% of 20"]
    SavedModel(Tree("yes"), target="ill").save("one.json")
    assert "always yes" in run("show", "one.json")


@every_model
def test_the_command_line_predicts_with_it(model, folder):
    SavedModel(model, target="ill").save("model.json")
    rows = json.loads(run("predict", "model.json", "table.csv", "--id", "number", "--json"))
    assert [row["number"] for row in rows] == [str(number) for number in range(len(Y))]
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    shares = [[row["share of no"], row["share of yes"]] for row in rows]
    assert shares == np.round(model.predict_proba(X), 6).tolist()


@every_model
def test_the_command_line_measures_it(model, folder):
    SavedModel(model, target="ill").save("model.json")
    measured = json.loads(run("evaluate", "model.json", "table.csv", "--public", "--json"))
    assert measured["accuracy"] == (model.predict(X) == Y).mean()
    noisy = json.loads(
        run("evaluate", "model.json", "table.csv", "--epsilon", "50", "--weak", "--model-is-public", "--json")
    )
    assert noisy["proved"]
    assert noisy["accuracy"] == pytest.approx(measured["accuracy"], abs=0.05)


class Unchanged:
    """Entropy that adds no noise."""

    def discrete_laplace(self, values, scale):
        return values


@every_model
def test_what_the_counts_counts_as_right_is_what_predict_gets_right(model):
    private = PrivateCounts.from_table(pd.DataFrame(X), Y, SCHEMA)
    reservation = Reservation(Fraction(1), Fraction(0))
    right = int((model.predict(X) == Y).sum())
    places = np.array([[int(answer.label != c) for c in model.classes] for answer in model.answers])
    queries = EvaluationQueries(private, model, places, 2, [Grouping()], noise=Fraction(1))
    (found,) = queries.prepare().open(reservation, Unchanged()).histograms()
    assert found.tolist() == [[right, len(Y) - right]]


@every_model
def test_a_noisy_evaluation_asks_for_its_origin(model):
    frame = pd.DataFrame(X)
    with pytest.warns(PrivacyWarning, match="came from"):
        unknown = noisy_evaluation(model, frame, Y, epsilon=5.0)
    assert unknown.privacy.proved is None
    assert f"where the {model.kind} came from" in unknown.privacy.because[0]
    proved = noisy_evaluation(SavedModel(model, PROVED), frame, Y, epsilon=5.0)
    assert proved.privacy.proved == Guarantee(5.0, 0.0)
    assert proved.accuracy.value == pytest.approx((model.predict(X) == Y).mean(), abs=0.2)


def test_parts_that_are_no_partition_are_refused():
    for conditions in ((), ((YOUNG,),), ((), (YOUNG,), ())):
        with pytest.raises(RuleError, match="the last part"):
            Partition(conditions)
    for points in ((1.0,), (1.0, math.nan), (1.0, math.inf)):
        with pytest.raises(RuleError, match="a finite number for each part"):
            Partition(((YOUNG,), ()), points)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limits": (3.5, 1.0)}, "ascend"),
        ({"limits": (1.0, math.nan)}, "finite number"),
        ({"limits": (1.0,)}, "an answer for each part"),
        ({"answers": CARD.answers[:2]}, "an answer for each part"),
        ({"answers": (*CARD.answers[:2], Answer("perhaps"))}, "not among the classes"),
        ({"answers": (*CARD.answers[:2], Answer("yes", (1.0,)))}, "counts must be one for each class"),
        ({"answers": (*CARD.answers[:2], Answer("yes", None, (1.0,)))}, "shares must be one for each class"),
        ({"classes": ("no", "no")}, "must be different"),
        ({"schema": Schema(COLUMNS[1:])}, "does not fit the schema"),
    ],
)
def test_what_does_not_go_together_is_refused(changes, message):
    with pytest.raises(RuleError, match=message):
        replace(CARD, **changes)


def test_points_in_some_partitions_only_are_refused():
    class Mixed(ScoreCard):
        @property
        def partitions(self):
            first, *others = super().partitions
            return (replace(first, points=None), *others)

    with pytest.raises(RuleError, match="or several that all give points"):
        Mixed(CARD.cards, CARD.limits, CARD.answers, CLASSES, SCHEMA)
