"""What a schema cost that was found in private records: every statement, ledger entry and file that rests on it counts it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Boolean,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivacyStatement,
    PrivateCounts,
    RuleList,
    SavedModel,
    Schema,
)
from discreet._utils.errors import SchemaError
from discreet._utils.tables import as_table
from discreet.accounting.costs import APPROXIMATE, CONCENTRATED, Cost, pair
from discreet.accounting.ledger import BudgetError, NoDeltaError
from discreet.accounting.statement import BUT_FOR_SCHEMA, Guarantee, Others
from discreet.private.release import release
from discreet.schema import SchemaRelease
from discreet.sources.memory import MemoryTable
from discreet.sources.plan import Counting
from tests.support.paid_schemas import paid

SCHEMA = Schema([Numeric("age", cuts=[2, 5, 8]), Boolean("smokes")], classes=[0, 1])
AGES = np.random.default_rng(0).uniform(0, 10, 300)
X = pd.DataFrame({"age": AGES, "smokes": AGES % 1 < 0.5})
Y = (AGES > 5).astype(int)
LEARNERS = {
    "optimal rule lists": lambda **p: DPOptimalRuleListClassifier(max_length=2, **p),
    "mass": lambda **p: DPGreedyRuleListClassifier(max_length=2, **p),
    "gl-laplace": lambda **p: DPGreedyRuleListClassifier(mechanism="gl-laplace", max_length=2, **p),
    "sm-laplace": lambda **p: DPGreedyRuleListClassifier(
        mechanism="sm-laplace", delta=1e-6, min_support=50, max_length=2, **p
    ),
}
DELTAS = pytest.mark.parametrize("delta", [0, 1e-9])


def fitted(name="mass", **given):
    return LEARNERS[name](**given).fit(X, Y)


# --- statements ------------------------------------------------------------------------------------------------------------


@DELTAS
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_statement_adds_what_the_schema_cost_and_a_ledger_counts_it_once(learner, delta):
    ledger, schema = Ledger(epsilon=3.0, delta=1e-3), paid(SCHEMA, 0.1, delta)
    plain = fitted(learner, epsilon=0.7, schema=SCHEMA).privacy_
    statements = [fitted(learner, epsilon=0.7, schema=schema, ledger=ledger).privacy_ for _ in range(2)]
    said = "epsilon = 0.1, delta = 1e-09" if delta else "epsilon = 0.1"
    for statement in statements:
        assert statement.proved.epsilon == pytest.approx(plain.proved.epsilon + 0.1, abs=1e-12)
        assert statement.proved.delta == pytest.approx(plain.proved.delta + delta, rel=1e-12)
        assert statement.proved.delta >= plain.proved.delta + delta or not delta
        assert statement.for_schema == Guarantee(0.1, delta)
        assert statement.alone == pytest.approx((plain.proved.epsilon, plain.proved.delta), abs=1e-20, rel=1e-6)
        assert statement.published == plain.published
        assert statement.claim_is_proved == plain.claim_is_proved
        assert f"Of this, {said} was spent before, on the schema" in str(statement)
        assert BUT_FOR_SCHEMA in statement.assumes
        assert PrivacyStatement.from_json(statement.to_json()) == statement
    assert "spent before" not in str(plain) + plain.to_json()
    assert plain.for_schema is None
    assert ledger.proved[0] == pytest.approx(2 * plain.proved.epsilon + 0.1, abs=1e-9)
    assert ledger.proved[1] == pytest.approx(2 * plain.proved.delta + delta, rel=1e-9)
    assert ledger.spent == (Fraction(15, 10), 2 * Fraction(str(plain_delta(learner))) + Fraction(str(delta)))


def plain_delta(learner):
    return "1e-6" if learner == "sm-laplace" else 0


def test_a_claim_is_proved_only_if_its_delta_is_too():
    claimed = PrivacyStatement("sm-laplace", Guarantee(1.0, 1e-6), Guarantee(1.0, 1e-6))
    before = paid(SCHEMA, 0.5, 1e-9).released
    assert claimed.after_schema(before).claim_is_proved
    for more in (Guarantee(1.0, 1.1e-6), Guarantee(1.1, 1e-6)):
        assert not replace(claimed, proved=more).after_schema(before).claim_is_proved


def test_a_statement_with_a_schema_of_a_delta_has_one_at_the_delta_of_its_ledger():
    ledger = Ledger(epsilon=3, delta=1e-6)
    statement = fitted("optimal rule lists", epsilon=0.1, schema=paid(SCHEMA, 0.1, 1e-9), ledger=ledger).privacy_
    (entry,) = ledger.entries
    assert entry.costs[-1] == Cost(APPROXIMATE, Fraction(1, 10), Fraction(1, 10**9))
    assert statement.concentrated.rho == pytest.approx(float(entry.rho))
    assert statement.concentrated.delta == 1e-6


@pytest.mark.parametrize(
    "wrong",
    [
        *('{"epsilon": -1, "delta": 0}', '{"epsilon": "1", "delta": 0}', "true", "0.125", "null", "[1, 0]"),
        *('{"epsilon": 0.125, "delta": null}', '{"epsilon": 0.125}', '{"epsilon": NaN, "delta": 0}'),
        # more than all that is proved
        *('{"epsilon": 2, "delta": 0}', '{"epsilon": 0.125, "delta": 1e-5}'),
    ],
)
def test_a_statement_with_an_odd_part_for_the_schema_is_refused(wrong):
    text = fitted(schema=paid(SCHEMA, 0.125, 1e-6)).privacy_.to_json(indent=None)
    part = '{"epsilon": 0.125, "delta": 1e-06}'
    assert PrivacyStatement.from_json(text).for_schema == Guarantee(0.125, 1e-6)
    assert text.count(part) == 1
    with pytest.raises(ValueError, match="not a discreet privacy statement"):
        PrivacyStatement.from_json(text.replace(part, wrong))


# --- ledgers ---------------------------------------------------------------------------------------------------------------


@DELTAS
def test_a_ledger_that_does_not_know_a_schema_books_it_with_the_first_model(delta):
    first, second = (paid(SCHEMA, e, delta, name) for e, name in ((0.1, "one"), (0.2, "other")))
    ledger = Ledger(epsilon=10.0, delta=1e-6)
    for schema in (first, first, second, first, second):
        statement = fitted("optimal rule lists", epsilon=1.0, schema=schema, ledger=ledger).privacy_
        assert statement.proved == Guarantee(1 + float(schema.released[0].epsilon), delta)
    assert [float(e.epsilon) for e in ledger.entries] == [1.1, 1.0, 1.2, 1.0, 1.0]
    assert [float(e.delta) for e in ledger.entries] == [delta, 0, delta, 0, 0]
    assert all(e.unused_epsilon == 0 and e.spent_delta == e.delta for e in ledger.entries)
    assert ledger.proved == (pytest.approx(5.3), 2 * delta)
    with pytest.raises(BudgetError, match=r"needs epsilon 1\.1"):
        fitted("optimal rule lists", epsilon=1.0, schema=first, ledger=Ledger(epsilon=1.0, delta=1e-6))


@DELTAS
def test_a_ledger_that_has_the_release_of_a_schema_does_not_book_it_again(tmp_path, delta):
    own, d = pair(Fraction(1, 10), Fraction(str(delta))), Fraction(str(delta))
    costs = (Cost(CONCENTRATED, Fraction(1, 10), d),) if delta else own
    ledger = Ledger.open(tmp_path / "l.db", epsilon=2.0, delta=1e-6)
    pays = {"schema-1f3a": (Fraction(1, 10), d)}
    ledger.reserve(Fraction(1, 10), d, "a schema", costs, release="schema-1f3a", pays_for=pays).close()
    fitted(schema=paid(SCHEMA, 0.1, delta), ledger=Ledger.open(tmp_path / "l.db"))
    again = Ledger.open(tmp_path / "l.db")
    assert again.spent == (Fraction(11, 10), d)
    assert again.entries[0].costs == costs
    assert again.entries[0].schemas == (("schema-1f3a", (Fraction(1, 10), d)),)
    assert again.entries[1].schemas == ()


@pytest.mark.parametrize("booked", [(1, "1e-9"), (3, 0), (2, "1e-10")])
def test_a_schema_that_was_booked_for_less_is_booked_in_full(booked):
    """A part of it would not do: in zCDP two parts are less than the whole."""
    ledger, (epsilon, delta) = Ledger(epsilon=20.0, delta=1e-6), (Fraction(one) for one in booked)
    ledger.reserve(epsilon, delta, "a schema", pays_for={"schema-1f3a": (epsilon, delta)}).close()
    fitted(schema=paid(SCHEMA, 2.0, 1e-9), ledger=ledger)
    assert ledger.spent == (epsilon + 3, delta + Fraction(1, 10**9))
    fitted(schema=paid(SCHEMA, 1.5, 1e-10), ledger=ledger)
    assert ledger.spent[0] == epsilon + 4


@pytest.mark.parametrize("given", [{}, {"delta": 1e-6, "rho": "auto"}])
def test_a_ledger_without_a_delta_for_releases_names_the_schema_and_what_to_do(given):
    ledger, schema = Ledger(3.0, **given), paid(SCHEMA, 0.1, 1e-9)
    clf = LEARNERS["mass"](schema=schema, ledger=ledger)
    cost = Fraction(1, 10), Fraction(1, 10**9)
    for ask in (lambda: clf.fit(X, Y), lambda: ledger.reserve(*cost, "s", pays_for={"schema-1f3a": cost})):
        with pytest.raises(
            NoDeltaError, match=r"the schema 'schema-1f3a' needs a delta of 1e-09.*declared, which needs none"
        ):
            ask()
    assert ledger.n_entries == 0
    fitted(schema=paid(SCHEMA, 0.1), ledger=ledger)
    assert ledger.spent == (Fraction(11, 10), 0)


def releasing(own, **given):
    """The plan of a fit, as if what it releases were a schema."""
    costs = pair(Fraction(1), own.delta)
    clf = LEARNERS["mass"](schema=SCHEMA, records_per_person=own.records_per_person, **given)
    plan = clf.plan()
    statement = replace(plan.statement, proved=Guarantee(1.0, float(own.delta)), costs=costs)
    return replace(
        plan,
        delta=own.delta,
        statement=statement,
        releases_schema=own,
        counting=Counting.patterns(SCHEMA),
    )


def released(plan):
    return release(plan, MemoryTable(as_table(X), Y, (0, 1)))


@DELTAS
def test_a_release_that_is_a_schema_pays_for_its_name_and_counts_once_beside_the_models_that_rest_on_it(delta):
    own, ledger = SchemaRelease("schema-1f3a", 1, delta, 2), Ledger(epsilon=3, delta=1e-6)
    found = released(releasing(own, ledger=ledger))
    assert found.booked.release == "schema-1f3a"
    assert ledger.entries[0].schemas == (("schema-1f3a", (1, own.delta)),)
    fitted(schema=replace(SCHEMA, released=(own,)), ledger=ledger)
    assert ledger.spent == (2, own.delta)
    assert released(releasing(own)).privacy.others is None
    assert released(releasing(SchemaRelease("other", 1, 0, 2))).privacy.others == Others(1, 0, 1.0, delta)
    learned = [fitted(schema=replace(SCHEMA, released=(own,)), records_per_person=2).privacy_ for _ in range(2)]
    assert [one.others for one in learned] == [Others(1, 0, 1.0, 0.0), Others(2, 0, 2.0, 0.0)]
    assert released(releasing(SchemaRelease("third", 1, 0, 2))).privacy.others == Others(4, 0, 4.0, delta)


def test_a_schema_that_needs_a_delta_is_refused_by_its_name_before_a_record_is_read():
    plan = releasing(SchemaRelease("schema-1f3a", 1, 1e-9), ledger=Ledger(epsilon=3))
    with pytest.raises(NoDeltaError, match=r"the schema 'schema-1f3a' needs a delta of 1e-09"):
        release(plan, None)
    assert plan.terms.ledger.n_entries == 0


# --- what keeps it ---------------------------------------------------------------------------------------------------------


@DELTAS
def test_the_schema_keeps_what_was_spent_wherever_it_goes(delta):
    schema = paid(SCHEMA, 0.1, delta)
    twice = paid(schema, Fraction(1, 30), delta, name='a 2nd, of\n"others"', records=3)
    for one in (schema, twice):
        for again in (Schema.from_toml(one.to_toml()), Schema.from_dict(one.to_dict()), one.exclude([])):
            assert again == one
        assert one.exclude(["age"]).released == one.released
        assert "every model that is learned with this schema counts it" in one.to_toml()
    model = fitted(schema=twice, exclude=["smokes"])
    assert model.privacy_.for_schema == Guarantee(0.13333333333333336, 2 * delta)
    assert RuleList.from_json(model.rule_list_.to_json()).schema.released == twice.released
    assert SavedModel.from_json(SavedModel.of(model).to_json()).privacy == model.privacy_
    by_counts = LEARNERS["mass"]().fit_counts(PrivateCounts.from_table(X, Y, twice))
    assert by_counts.privacy_ == model.privacy_


COLUMNS = '\n[columns.age]\ntype = "numeric"\ncuts = [1]\n'


def test_a_release_in_a_file_says_what_is_not_the_default():
    text = paid(SCHEMA, 0.2).to_toml()
    assert "[released.schema-1f3a]\nepsilon = 0.2\n\n" in text
    text = paid(SCHEMA, Fraction(1, 30), 1e-9, records=2).to_toml()
    assert '[released.schema-1f3a]\nepsilon = "1/30"\ndelta = 1e-09\nrecords_per_person = 2\n\n' in text
    whole = Schema.from_toml(f"[released.a]\nepsilon = 1{COLUMNS}")
    assert whole.released == (SchemaRelease("a", Fraction(1), Fraction(0), 1),)


@pytest.mark.parametrize(
    "released",
    [
        *("1", "[1]", "{ a = 0.2 }", "{ a = {} }", '{ "" = { epsilon = 1 } }', "{ a = { epsilon = 1, by = 2 } }"),
        *(f"{{ a = {{ epsilon = {e} }} }}" for e in ("0", "-1", '"1"', "true", "inf", "nan", "[1]", '"1/0"', "1e10")),
        *(f"{{ a = {{ epsilon = 1, delta = {d} }} }}" for d in ("1", "-1e-9", '"1"', "true", "nan", "2.0")),
        *(f"{{ a = {{ epsilon = 1, records_per_person = {k} }} }}" for k in ("0", "1.0", "true", '"2"')),
    ],
)
def test_what_a_schema_says_was_released_is_understood_or_refused(released):
    with pytest.raises(SchemaError, match=r"\[released\]"):
        Schema.from_toml(f"released = {released}{COLUMNS}")


def test_a_release_that_no_file_could_keep_is_refused():
    for odd in (Fraction(1, 10**70 + 1), math.pi * 1j, None, 1e-400):
        with pytest.raises(SchemaError, match=r"\[released\]"):
            paid(SCHEMA, odd)
    with pytest.raises(SchemaError, match="twice"):
        paid(paid(SCHEMA, 0.1), 0.2)
    for odd in ((("a", 1.0),), 5, "a"):
        with pytest.raises(SchemaError, match="must hold SchemaRelease objects"):
            replace(SCHEMA, released=odd)
