"""Everything that is measured of a model by one noisy histogram: its exact loss, its numbers, and what it promises."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, precision_score, recall_score

from discreet import (
    Boolean,
    Categorical,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    Numeric,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    Tree,
    noisy_evaluation,
)
from discreet._utils.errors import RuleError, SchemaError
from discreet.accounting.ledger import BudgetError, Reservation
from discreet.accounting.statement import INFERRED, SEEDED, Guarantee
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries import base, evaluation
from discreet.private.queries.evaluation import EvaluationQueries, Grouping
from tests.support.counted import patterns_of
from tests.support.paid_schemas import paid

SEX = Categorical("sex", categories=["f", "m"])
SCHEMA = Schema((Boolean("a"), Boolean("b"), SEX), target="y", classes=["no", "yes"])
MODEL = RuleList.parse("if a then yes\nelse if b then no\nelse yes", ["no", "yes"], SCHEMA)
COUNTED = replace(
    MODEL,
    rules=tuple(replace(rule, counts=(3.0, 7.0)) for rule in MODEL.rules),
    default=replace(MODEL.default, counts=(2.0, 8.0)),
)
PLACES = np.arange(6).reshape(3, 2)  # each answer and class has a place of its own
BY_SEX, BY_B = Grouping("sex", (0, 1, 2, 2)), Grouping("b", (0, 1, 2))
RECORDS = list(itertools.product([True, False, None], [True, False], ["f", "m", "x", None], ["no", "yes"]))


def table(records):
    frame = pd.DataFrame(list(records), columns=["a", "b", "sex", "y"], dtype=object)
    return frame[["a", "b", "sex"]], frame["y"].to_numpy()


def made_up(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.random(n) < 0.3, "b": rng.random(n) < 0.5, "sex": rng.choice(["f", "m"], n)})
    right = rng.random(n) < 0.8
    return X, np.where(right == (MODEL.predict(X) == "yes"), "yes", "no")


# -- Privacy --------------------------------------------------------------------------------------------------------------------

FAR = 10**6  # no table here has as many records: a bin that has noise is known by it


class Noted:
    """Entropy that marks what gets noise, and notes the scale."""

    def discrete_laplace(self, values, scale):
        self.scale = scale
        return values + FAR


def asked(records, divisions, epsilon=Fraction(1), reservation=None):
    noted = Noted()
    reservation = reservation or Reservation(epsilon, Fraction(0))
    queries = EvaluationQueries(filled(tuple(records)), MODEL, PLACES, 6, divisions, epsilon)
    return queries.open(reservation, noted).histograms(), noted.scale, reservation.spent_epsilon


@cache  # the same tables are asked about again and again
def filled(records):
    columns = [np.array([r[i] for r in records], dtype=object) for i in range(4)]
    return patterns_of(dict(zip(["a", "b", "sex"], columns, strict=False)), columns[3], SCHEMA)


def loss(one, other):
    """Of two answers with independent discrete Laplace noise on what is marked: exact, and infinite where there is none."""
    worst = 0.0
    for a, b in zip(one[0], other[0], strict=True):
        if a.shape != b.shape:
            return math.inf
        noisy = (a > FAR / 2) & (b > FAR / 2)
        if (a != b)[~noisy].any():
            return math.inf
        worst += float(np.abs(a - b)[noisy].sum()) / one[1]
    return worst


def worst_loss(divisions, epsilon=Fraction(1), given=asked):
    """Over all neighbours of some tables: one record of every kind is added."""
    found = []
    for some in ([], RECORDS[:1], RECORDS[::7]):
        before = given(some, divisions, epsilon)
        found += [loss(before, given([*some, record], divisions, epsilon)) for record in RECORDS]
    return max(found)


@pytest.mark.parametrize("divisions", [[Grouping()], [BY_SEX], [BY_SEX, BY_B], [BY_SEX, BY_B, Grouping()]])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_no_neighbour_loses_more_than_epsilon_and_some_lose_that(divisions, epsilon):
    assert worst_loss(divisions, epsilon) == pytest.approx(float(epsilon), rel=1e-12)
    _, scale, spent = asked(RECORDS, divisions, epsilon)
    assert spent == epsilon  # nothing is drawn that is not charged
    assert Fraction(scale) >= len(divisions) / epsilon


def test_more_than_is_reserved_is_not_drawn():
    for divisions in ([BY_SEX], [BY_SEX, BY_B]):
        with pytest.raises(BudgetError):
            asked(RECORDS, divisions, Fraction(1), Reservation(Fraction(9, 10), Fraction(0)))


def test_a_twin_with_noise_on_one_bin_only_is_caught(monkeypatch):
    release = base.release
    monkeypatch.setattr(base, "release", lambda c, *given: np.append(release(c[:1], *given), c[1:]))
    assert worst_loss([BY_SEX]) == math.inf


def test_a_twin_with_half_the_scale_is_caught(monkeypatch):
    release = base.release
    monkeypatch.setattr(base, "release", lambda counts, epsilon, entropy: release(counts, 2 * epsilon, entropy))
    assert worst_loss([BY_SEX]) == pytest.approx(2.0)


@pytest.mark.parametrize(("twin", "is_right"), [(1, True), (2, False)])
def test_noise_has_the_scale_it_should(twin, is_right, monkeypatch):
    release = base.release
    monkeypatch.setattr(base, "release", lambda counts, epsilon, entropy: release(counts, twin * epsilon, entropy))
    entropy, counts = SeededEntropy(0), filled(tuple(RECORDS))
    queries = EvaluationQueries(counts, MODEL, PLACES, 6, [Grouping()], Fraction(1, 2))
    queries.open(Reservation(Fraction(10_000), Fraction(0)), entropy)
    drawn = [queries.histograms()[0][0] for _ in range(4_000)]
    q = math.exp(-0.5)
    expected = math.sqrt(2 * q) / (1 - q)  # the deviation of discrete Laplace noise
    assert bool((np.abs(np.std(drawn, axis=0) / expected - 1) < 0.1).all()) is is_right


def test_a_twin_that_takes_its_groups_from_the_records_is_caught():
    def twin(records, divisions, epsilon):
        there = [x for x in ("f", "m", "x", None) if any(record[2] == x for record in records)] or ["f"]
        of_bin = tuple(there.index(x) if x in there else 0 for x in ("f", "m", "x", None))
        return asked(records, [Grouping("sex", of_bin)], epsilon)

    assert worst_loss([BY_SEX], given=twin) == math.inf


def test_a_twin_that_pays_for_one_of_two_histograms_is_caught(monkeypatch):
    monkeypatch.setattr(evaluation, "epsilon_each", lambda epsilon, divisions: epsilon)
    with pytest.raises(BudgetError):  # the reservation itself catches it
        asked(RECORDS, [BY_SEX, BY_B])

    class Forgetful(Reservation):
        def draw(self, epsilon, delta, what):
            if not self.spent_epsilon:
                super().draw(epsilon, delta, what)

    def twin(records, divisions, epsilon):
        return asked(records, divisions, epsilon, Forgetful(epsilon, Fraction(0)))

    assert worst_loss([BY_SEX, BY_B], given=twin) == pytest.approx(2.0)


def test_the_histogram_counts_what_predict_and_the_schema_say():
    X, y = table(RECORDS * 2)
    (by_sex, by_b), _, _ = asked(RECORDS * 2, [BY_SEX, BY_B])
    assert by_sex.shape == by_b.shape == (3, 6)
    unforeseen = [(*record[:3], label) for record, label in zip(RECORDS, itertools.cycle(["perhaps", None]))]
    assert (asked(RECORDS * 2 + unforeseen, [BY_SEX, BY_B])[0][0] == by_sex).all(), "other labels are left out"
    part, column = MODEL.captures(X), np.where(y == "yes", 1, 0)
    for drawn, groups in ((by_sex, [["f"], ["m"], ["x", None]]), (by_b, [[False], [True], [None]])):
        name = "sex" if drawn is by_sex else "b"
        for g, p, c in itertools.product(range(3), range(3), range(2)):
            exact = sum(value in groups[g] for value in X[name][(part == p) & (column == c)])
            assert drawn[g, 2 * p + c] - FAR == exact


# -- Numbers --------------------------------------------------------------------------------------------------------------------

EXACT = {"epsilon": 1e6, "random_state": 0}  # so large that there is no noise


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reliability", [True, False])
@pytest.mark.parametrize("model", [MODEL, COUNTED])
def test_numbers_without_noise_are_those_of_scikit_learn(model, reliability):
    X, y = made_up()
    found = noisy_evaluation(model, X, y, by=["sex", "b"], reliability=reliability, **EXACT)
    predicted = model.predict(X)
    assert [[c.value for c in row] for row in found.confusion] == confusion_matrix(y, predicted).tolist()
    assert found.records.value == len(y)
    assert found.accuracy.value == pytest.approx((predicted == y).mean())
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, predicted))
    for rates, score in ((found.rates.recall, recall_score), (found.rates.precision, precision_score)):
        assert [r.value for r in rates] == pytest.approx(score(y, predicted, average=None).tolist())
    assert [(g.column, g.name) for g in found.groups] == [("sex", "f"), ("sex", "m"), ("b", "false"), ("b", "true")]
    for group in found.groups:
        here = (X[group.column].astype(str).str.lower() == group.name).to_numpy()
        assert group.records.value == here.sum()
        assert group.rates.accuracy.value == pytest.approx((predicted == y)[here].mean())
        assert group.rates.predicted[1].value == pytest.approx((predicted == "yes")[here].mean())
        assert group.rates.recall[0].value == pytest.approx((predicted == "no")[here & (y == "no")].mean())
        less = (predicted == y)[here].mean() - (predicted == y)[~here].mean()
        assert group.difference.accuracy.value == pytest.approx(less)
    assert len(found.parts) == (
        3 if reliability and model is COUNTED else 0
    )  # without counts there is no share to compare
    for part in found.parts:
        here = model.captures(X) == part.number - 1
        assert part.predicted == tuple(model.predict_proba(X)[here][0])
        assert part.observed[1].value == pytest.approx((y == "yes")[here].mean())
        assert part.records.value == here.sum()


@pytest.mark.filterwarnings("ignore")
def test_three_classes_and_a_class_that_is_never_predicted():
    schema = Schema((Boolean("a"),), target="y", classes=["x", "y", "z"])
    model = RuleList.parse("if a then x else z", ["x", "y", "z"], schema)
    X, y = pd.DataFrame({"a": [True, False] * 300}), np.tile(["x", "z", "y", "z", "x", "y"], 100)
    found = noisy_evaluation(model, X, y, **EXACT)
    assert found.rates.precision[1] is None
    assert (found.rates.recall[1].low, found.rates.recall[1].high) == (0.0, 0.0)  # for sure
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, model.predict(X)))
    assert "never predicted" in str(found)
    json.dumps(found.to_dict())
    always = RuleList.parse("always y", ["x", "y", "z"], schema)
    assert noisy_evaluation(always, X, y, **EXACT).rates.recall[1].value == 1.0


@pytest.mark.filterwarnings("ignore")
def test_trees_and_cuts_of_numbers_and_missing_values():
    age = Numeric("age", cuts=[20, 30, 40], missing=True)
    tree = Tree.parse("if age <= 30 then yes\nelse no", ["no", "yes"], Schema((age,), "y", ["no", "yes"]))
    X = pd.DataFrame({"age": [15, 25, 35, 45, None] * 100})
    y = np.array(["yes", "no", "no", "no", "no"] * 100)
    found = noisy_evaluation(tree, X, y, by={"age": [30]}, **EXACT)
    assert [(g.name, g.records.value) for g in found.groups] == [("<= 30", 200), ("> 30", 200), ("missing", 100)]
    names = [g.name for g in noisy_evaluation(tree, X, y, by="age", **EXACT).groups]
    assert names == ["<= 20", "> 20 and <= 30", "> 30 and <= 40", "> 40", "missing"]


def test_a_list_without_rules_and_a_schema_without_classes():
    schema, ledger = Schema((Boolean("a"), Boolean("b"))), Ledger(epsilon=2)
    X, y = made_up(50)
    given = {"epsilon": 0.5, "ledger": ledger, "model_is_public": True}
    default = RuleList((), Rule((), "yes"), ("no", "yes"), SCHEMA)
    assert 0 <= noisy_evaluation(default, X, y, **given).accuracy.value <= 1
    bare = GreedyRuleListClassifier(schema=schema, max_length=2).fit(X[["a", "b"]], y)
    assert bare.rule_list_.schema.classes is None
    assert 0 <= noisy_evaluation(bare, X, y, **given).accuracy.value <= 1
    with pytest.raises(ValueError, match="differ in length"):
        noisy_evaluation(bare, X, np.arange(3), **given)
    assert len(ledger.entries) == 2


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_some_of_the_classes_that_its_schema_has_labels_for():
    labels = {"x": "the first", "z": "the third"}
    schema = Schema([Boolean("a")], classes=["x", "y", "z"], class_labels=labels)
    rules = RuleList.parse("if a then x else y", ("x", "y"), schema)
    found = noisy_evaluation(rules, {"a": [True, False] * 500}, ["x", "y"] * 500, 10.0)
    assert found.accuracy.value > 0.9


def test_groups_are_those_of_the_schema_whatever_is_in_the_table():
    X, y = made_up(50)
    for frame in (X, X.assign(sex="f"), X.assign(sex="x"), X.iloc[:0]):
        found = noisy_evaluation(MODEL, frame, y[: len(frame)], 1.0, by="sex", model_is_public=True)
        assert [g.name for g in found.groups] == ["f", "m"]
        shown = "\n".join(line for line in str(found).split("\n") if "by sex" in line or line.startswith("  f"))
        assert "by sex" in shown


def test_small_groups_are_said_to_be_too_small():
    X, y = made_up(3000)
    X.loc[5:, "sex"] = "m"
    found = noisy_evaluation(MODEL, X, y, 0.5, by="sex", model_is_public=True)
    few, many = found.groups
    assert (few.rates.accuracy.too_small, few.difference.accuracy.too_small) == (True, True)
    assert not many.rates.accuracy.too_small
    assert str(found).count("too small") > 3
    assert "too small" in found.to_html()


def test_intervals_hold_their_values_and_get_narrower():
    X, y = made_up(3000)
    widths = []
    for epsilon in (0.05, 0.5, 5.0):
        found = noisy_evaluation(MODEL, X, y, epsilon, by="sex", model_is_public=True)
        all_rates = [found.accuracy, found.balanced_accuracy, *found.rates.recall, *found.rates.predicted]
        assert all(0 <= r.low <= r.value <= r.high <= 1 for r in all_rates)
        for group in found.groups:
            assert group.difference.accuracy.low <= group.difference.accuracy.value <= group.difference.accuracy.high
        widths.append(found.accuracy.high - found.accuracy.low)
    assert widths[0] > widths[1] > widths[2] > 2 * 1.9 * math.sqrt(0.16 / 3000)  # sampling is always there


# -- What it promises -----------------------------------------------------------------------------------------------------------


def test_it_is_booked_once_and_refused():
    X, y = made_up(200)
    ledger = Ledger(epsilon=0.3)
    found = noisy_evaluation(MODEL, X, y, 0.2, by=["sex", "b"], ledger=ledger, model_is_public=True)
    assert found.privacy.proved.epsilon == 0.2
    assert "made with noise" in str(found.privacy)
    assert [(e.what, e.spent_epsilon) for e in ledger.entries] == [("noisy evaluation by sex, b", Fraction(1, 5))]
    with pytest.raises(BudgetError):
        noisy_evaluation(MODEL, X, y, 0.2, ledger=ledger, model_is_public=True)
    for bad in ({"by": "c"}, {"by": "y"}, {"by": {"b": [1.0]}}):
        with pytest.raises(SchemaError):
            noisy_evaluation(MODEL, X, y, 0.05, ledger=ledger, **bad)
    with pytest.raises(SchemaError, match="'sex'"):
        noisy_evaluation(MODEL, X[["a", "b"]], y, 0.05, by="sex", ledger=ledger)
    with pytest.raises(TypeError, match="by must"):
        noisy_evaluation(MODEL, X, y, 0.05, by=[3], ledger=ledger)
    with pytest.raises(RuleError, match="model"):
        noisy_evaluation("if a then b", X, y, 0.05, ledger=ledger)
    for bad in (X[["a"]], X.rename(columns={"b": "c"})):
        with pytest.raises(SchemaError, match="'b'"):
            noisy_evaluation(MODEL, bad, y, 0.05, ledger=ledger)
    with pytest.raises(ValueError, match="differ in length"):
        noisy_evaluation(MODEL, X, y[:2], 0.05, ledger=ledger)
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None])
def test_bad_parameters_are_named(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        noisy_evaluation(MODEL, *made_up(50), epsilon)


def test_several_histograms_cost_less_in_zcdp_than_one_answer_of_the_same_epsilon():
    X, y = made_up(50)
    one, two = (
        noisy_evaluation(MODEL, X, y, 0.2, by=by, ledger=Ledger(5.0, 1e-6, rho="auto"), model_is_public=True).privacy
        for by in ("sex", ["sex", "b"])
    )
    assert two.concentrated.rho < one.concentrated.rho
    assert [(c.epsilon, c.times) for c in two.costs] == [(Fraction(1, 10), 2)]


def test_a_person_pays_for_all_records():
    X, y = made_up(50)
    ledger = Ledger(epsilon=1)
    found = noisy_evaluation(MODEL, X, y, 1.0, by="sex", ledger=ledger, records_per_person=4, model_is_public=True)
    assert found.privacy.proved.epsilon == 1.0
    assert ledger.entries[0].spent_epsilon == 1
    alone = noisy_evaluation(MODEL, X, y, 1.0, by="sex", model_is_public=True)
    assert found.records.high - found.records.value >= 3 * (
        alone.records.high - alone.records.value
    )  # four times the noise


@pytest.mark.filterwarnings("ignore")
def test_it_asks_for_the_origin_of_the_model():
    X, y = made_up(100)
    assert "came from" in noisy_evaluation(MODEL, X, y, 1.0).privacy.because[0]
    assert noisy_evaluation(MODEL, X, y, 1.0, random_state=0, model_is_public=True).privacy.because == (SEEDED,)
    clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=SCHEMA).fit(X, y)
    for model in (clf, SavedModel.of(clf)):
        found = noisy_evaluation(model, X, y, 0.1).privacy
        assert found.proved.epsilon == 0.1
        assert any("own statement" in reason for reason in found.assumes)
    seeded = DPOptimalRuleListClassifier(epsilon=1.0, schema=SCHEMA, random_state=0).fit(X, y)
    assert noisy_evaluation(seeded, X, y, 0.1).privacy.proved is None
    assert "not private" in str(noisy_evaluation(seeded, X, y, 0.1))


@pytest.mark.filterwarnings("ignore")
def test_the_schema_of_the_groups_counts_too():
    X, y = made_up(100)
    X["age"] = np.random.default_rng(0).integers(0, 99, 100).astype(float)
    clf = DPOptimalRuleListClassifier(epsilon=1.0, schema=SCHEMA, exclude=["sex"]).fit(X, y)
    with pytest.raises(SchemaError, match="give another schema"):
        noisy_evaluation(clf, X, y, 0.1, by="sex")
    assert noisy_evaluation(clf, X, y, 0.1, by="sex", schema=SCHEMA).privacy.proved.epsilon == 0.1
    made = replace(SCHEMA, inferred=True)
    assert INFERRED in noisy_evaluation(clf, X, y, 0.1, by="sex", schema=made).privacy.because
    cut = paid(Schema((Numeric("age", cuts=[20, 50]),)), 0.5, 1e-9)
    found = noisy_evaluation(clf, X, y, 0.1, by="age", schema=cut).privacy
    assert found.proved == Guarantee(0.6, 1e-9)  # the schema tells of the records
    assert found.for_schema == Guarantee(0.5, 1e-9)
    with_one = DPOptimalRuleListClassifier(epsilon=1.0, schema=paid(SCHEMA, 0.3), exclude=["sex"]).fit(X, y)
    rules, public = with_one.rule_list_, {"model_is_public": True}
    with pytest.raises(SchemaError, match="names a release twice"):  # at two prices
        noisy_evaluation(rules, X, y, 0.1, by="age", schema=cut, **public)
    other = Schema((Boolean("a"), Categorical("b", categories=["true"]), SEX))
    with pytest.raises(SchemaError, match="differently"):
        noisy_evaluation(MODEL, X, y, 0.1, by="b", schema=other)
    error = Schema((Categorical("sex", categories=["f"], outside="error"),))
    with pytest.raises(SchemaError, match="outside"):
        noisy_evaluation(clf, X, y, 0.1, by="sex", schema=error)


@pytest.mark.filterwarnings("ignore")
def test_all_ways_in_give_the_same_numbers():
    X, y = made_up(300)
    frame = X.assign(y=y)
    given = {"epsilon": 1.0, "by": ["sex", "b"], "random_state": 0}
    found = noisy_evaluation(COUNTED, X, y, **given)
    assert noisy_evaluation(COUNTED, pl.DataFrame(X.to_dict("list")), y, **given) == found
    assert noisy_evaluation(COUNTED, ibis.memtable(frame), None, **given) == found
    with pytest.raises(ValueError, match="y must be None"):
        noisy_evaluation(COUNTED, ibis.memtable(frame), y, **given)


# -- For people -----------------------------------------------------------------------------------------------------------------


def test_names_cannot_do_anything_on_the_page():
    evil = '<script>alert("x")</script>'
    schema = Schema((Boolean("a"), Categorical(evil, categories=[evil, "m"])), target="y", classes=[evil, "ok"])
    model = RuleList((), evil, (evil, "ok"), schema)
    X = pd.DataFrame({"a": [True] * 50, evil: [evil, "m"] * 25})
    found = noisy_evaluation(model, X, np.array([evil, "ok"] * 25), 5.0, by=evil, model_is_public=True)
    for html in (found.to_html(evil), found._repr_html_()):
        assert "<script" not in html
        assert "&lt;script" in html
        assert "http" not in html.replace("Content-Security-Policy", "").replace("http-equiv", "")


@pytest.mark.filterwarnings("ignore")
def test_the_page_shows_a_point_for_each_part():
    X, y = made_up(3000)
    found = noisy_evaluation(COUNTED, X, y, 1.0, by="sex", random_state=0)
    page = found.to_html()
    assert page.count("<circle") == 3
    assert "part 1: predicted 70%" in page
    assert "Not private" in page  # a seed was used
    assert found._repr_html_().count("<circle") == 3
