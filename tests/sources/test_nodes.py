"""Counting node by node, in the engine: the same counts as from patterns, decided from public numbers, paid for honestly."""

from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    Ledger,
    Numeric,
    PrivateCounts,
    Schema,
)
from discreet._utils.errors import EngineError, SchemaError
from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.estimators.private import UNCHANGED
from discreet.rules.candidates import Candidates
from discreet.sources.plan import NODES, Needs, plan_counting

from ..models.test_exports import run_with, stored_tables
from ..support.marked_values import TEXT, Heard, shows_a_mark
from ..support.strategies import _kept, schemas

pytest.importorskip("ibis")
from discreet.private.counts.counting import PatternCounter
from discreet.schema.schema import sorted_classes
from discreet.sources.engine import EngineTable
from discreet.sources.source import SourceCounts

from .ibis_tables import stored

LOADERS = {"compas": load_compas, "adult": load_adult, "german": load_german_credit}
LEARNERS = {
    "mass": lambda **p: DPGreedyRuleListClassifier(max_length=4, random_state=7, **p),
    "pairs": lambda **p: DPGreedyRuleListClassifier(max_length=3, max_literals=2, random_state=7, **p),
    "published": lambda **p: DPGreedyRuleListClassifier(
        mechanism="sm-laplace", min_support=20, delta=1e-5, random_state=7, **p
    ),
    "a share of the records": lambda **p: DPGreedyRuleListClassifier(mechanism="sm-cauchy", random_state=7, **p),
}


def check_counts(engine, table, schema, candidates, limit, prefixes):
    there = stored(engine, table)
    sets = plan_counting(candidates, "nodes", limit, needs=Needs(nodes=True)).sets
    counted = SourceCounts(EngineTable(there, schema, sorted_classes(schema)), candidates, sets)
    expected = PatternCounter(PrivateCounts.from_table(table, table["y"], schema).patterns, candidates)
    for prefix in prefixes:
        for here, known in zip(counted.counts(prefix), expected.counts(prefix), strict=True):
            assert here.tolist() == known.tolist()
        assert counted.left(prefix).tolist() == expected.left(prefix).tolist()


def labelled(table, labels):
    return table.append_column("y", pa.array(labels, pa.string()))


def test_any_schema_any_values_any_prefix(engine):
    @settings(max_examples=run_with(engine, 60), suppress_health_check=list(HealthCheck))
    @given(schemas().filter(lambda s: any(len(_kept(c)) for c in s.columns)), st.integers(1, 3), st.data())
    def check(schema, max_literals, data):
        assume(all(getattr(column, "outside", None) != "error" for column in schema.columns))
        candidates = Candidates.of_schema(schema, max_literals)
        table, _ = data.draw(stored_tables(schema))
        labels = st.sampled_from([*schema.classes, "none of them", None])
        table = labelled(table, data.draw(st.lists(labels, min_size=len(table), max_size=len(table))))
        rules = st.lists(st.integers(0, len(candidates) - 1), max_size=4, unique=True)
        least = max(sum(_size_of(s, schema) for s in _alone(candidates)), 1)
        limit = data.draw(st.integers(least, 3 * least))
        check_counts(engine, table, schema, candidates, limit, [(), *data.draw(st.lists(rules, max_size=2))])

    check()


def _alone(candidates):
    return plan_counting(candidates, "nodes", 10**12, needs=Needs(nodes=True)).sets


def _size_of(numbers, schema):
    size = 1
    for i in numbers:
        size *= schema.used[i].n_bins
    return size


def test_rules_that_are_never_true_and_several_conditions_on_one_column(duckdb_engine):
    schema = Schema(
        [Numeric("n", cuts=[1, 2, 3]), Categorical("c", categories=["a", "b"]), Boolean("b")], "y", ["0", "1"]
    )
    rules = ["n > 1 and n <= 3", "n > 3 and n <= 1", "c = a and c = b", "n <= 2 and c != a and b", "b and n > 1"]
    table = pa.table({"n": [0.5, 1.5, 2.5, 9.0, None] * 3, "c": ["a", "b", None] * 5, "b": [True, False, None] * 5})
    table = labelled(table, ["0", "1", "1", None, "0"] * 3)
    candidates = Candidates.of_rules(schema, rules)
    for limit in (30, 10**6):
        every = [(), (0,), (1,), (2, 1), (0, 3), (4, 3, 2)]
        check_counts(duckdb_engine, table, schema, candidates, max(limit, 60), every)


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("limit", [1_000, 100_000])
def test_the_datasets(engine, name, limit):
    data = LOADERS[name]()
    table = stored(engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    for make in LEARNERS.values():
        here = make(schema=data.schema)
        least = 60_000 if here.max_literals == 2 else 1_000
        there = make(schema=data.schema).fit_source(table, counting="nodes", max_patterns=max(limit, least))
        assert there.rule_list_ == here.fit(data.data, data.target).rule_list_
        assert str(there.privacy_) == str(here.privacy_)


def test_the_statement_has_one_more_assumption(duckdb_engine):
    data = load_compas()
    table = stored(duckdb_engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    clf = DPGreedyRuleListClassifier(epsilon=0.5, schema=data.schema)
    once, often = (clf.fit_source(table, counting=how).privacy_ for how in ("patterns", "nodes"))
    assert once.proved == often.proved is not None
    assert (*once.assumes, UNCHANGED) == often.assumes


# --- the choice ---------------------------------------------------------------------------------------------------------------


@given(
    schemas(max_columns=6).filter(lambda s: any(len(_kept(c)) for c in s.columns)),
    st.integers(1, 3),
    st.integers(1, 10**6),
)
def test_every_candidate_is_in_a_set_and_all_sets_fit(schema, max_literals, limit):
    candidates = Candidates.of_schema(schema, max_literals)
    plan = None
    with suppress(SchemaError):
        plan = plan_counting(candidates, "nodes", limit, needs=Needs(nodes=True))
    if plan is None:  # then there are candidates whose columns alone are too many
        assert sum(_size_of(numbers, schema) for numbers in _alone(candidates)) > limit
        return
    names = [{schema.used[i].name for i in numbers} for numbers in plan.sets]
    assert all(any({x.column for x in rule.antecedent} <= one for one in names) for rule in candidates)
    assert sum(_size_of(numbers, schema) for numbers in plan.sets) == plan.most <= limit


def test_what_is_chosen():
    few, many = (Candidates.of_schema(load().schema) for load in (load_compas, load_adult))
    chosen = {
        (few, "auto", None, True): False,
        (few, "auto", None, False): False,
        (few, "auto", 1_000_000, True): True,
        (few, "nodes", None, True): True,
        (many, "auto", None, True): True,
        (many, "auto", None, False): False,  # a whole list needs the patterns
        (many, "patterns", None, True): False,
        (many, "auto", 10**15, True): False,
    }
    for arguments, by_node in chosen.items():
        assert (plan_counting(*arguments[:3], Needs(nodes=arguments[3])).way == NODES) is by_node
    for arguments in ((few, "patterns", 1_000_000, True), (few, "auto", 1_000_000, False)):
        with pytest.raises(SchemaError, match=r"allows 5,406,720 patterns of its 9 columns.*fewer cuts"):
            plan_counting(*arguments[:3], Needs(nodes=arguments[3]))
    with pytest.raises(SchemaError, match=r"candidates of 2 columns need .* a smaller max_literals"):
        plan_counting(Candidates.of_schema(load_adult().schema, 2), "auto", 1_000, needs=Needs(nodes=True))


def test_it_is_said_before_it_starts(duckdb_engine):
    data = load_adult()
    table = stored(duckdb_engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    nothing = table.filter(table.age < 0)
    clf = DPGreedyRuleListClassifier(schema=data.schema)
    assert clf.plan_source(table) == clf.plan_source(nothing)
    assert clf.plan_source(table).startswith("DuckDB counts the records once for each rule of the list, by 3 sets")
    assert "once, by 13 columns: at most 10^" in clf.plan_source(table, counting="patterns")
    assert "once, by 220 sets of up to 4 columns" in DPOptimalRuleListClassifier(schema=data.schema).plan_source(table)
    assert "once, by 13 columns" in DPOptimalRuleListClassifier(max_literals=2, schema=data.schema).plan_source(table)
    for bad in ("often", None, 3):
        with pytest.raises(ValueError, match="counting must be one of auto, patterns, nodes"):
            clf.fit_source(table, counting=bad)
    with pytest.raises(ValueError, match="one of auto, patterns, marginals for DPOptimal"):
        DPOptimalRuleListClassifier(schema=data.schema).fit_source(table, counting="nodes")


# --- the price ----------------------------------------------------------------------------------------------------------------

SCHEMA = Schema([Categorical("c", categories=["a", "b"]), Boolean("b")], "y", ["no", "yes"])
TABLE = pa.table({"c": [TEXT, "b", "a"], "b": [True, None, False], "y": ["no", TEXT, "yes"]})


def failing_at(monkeypatch, number, entries):
    """Let the query of this number fail, and note how many entries the ledger has at each."""
    seen, answer = [], EngineTable._answer

    def sometimes(self, *args):
        seen.append(len(entries()))
        if len(seen) == number:
            self._engine.connection.disconnect()
        return answer(self, *args)

    monkeypatch.setattr(EngineTable, "_answer", sometimes)
    return seen


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_connection_that_is_lost_at_each_query(monkeypatch, number):
    import ibis

    table = ibis.duckdb.connect().create_table("records", TABLE)
    ledger = Ledger(epsilon=3.0, allow_unproved=True)
    seen = failing_at(monkeypatch, number, lambda: ledger.entries)
    clf = DPGreedyRuleListClassifier(max_length=6, schema=SCHEMA, ledger=ledger, random_state=0)
    heard = Heard(lambda: clf.fit_source(table, counting="nodes"))
    assert isinstance(heard.error, EngineError)
    assert not shows_a_mark(heard.text)
    assert not hasattr(clf, "rule_list_")
    assert seen == [0, 1, 1][:number]
    assert len(ledger.entries) == (number > 1)
    assert ("nothing was spent" in str(heard.error)) == (number == 1)
    assert ("stays booked" in str(heard.error)) == (number > 1)


def test_an_error_says_that_the_budget_stays_booked_where_all_records_are_counted_again():
    """No learner of today asks for a node that was forgotten; what an error says of the budget must not hang on that."""
    import ibis

    table = ibis.duckdb.connect().create_table("records", TABLE)
    classes = sorted_classes(SCHEMA)
    counts = SourceCounts(EngineTable(table, SCHEMA, classes), Candidates.of_schema(SCHEMA), [(0, 1)])
    counts.counts()
    counts._memory.clear()
    table.get_backend().disconnect()
    with pytest.raises(EngineError, match="stays booked") as caught:
        counts.counts()
    assert "nothing was spent" not in str(caught.value)


def test_one_query_for_each_rule(monkeypatch, duckdb_engine):
    data = load_compas()
    table = stored(duckdb_engine, pa.Table.from_pandas(data.frame, preserve_index=False))
    ledger = Ledger(epsilon=30.0)
    seen = failing_at(monkeypatch, None, lambda: ledger.entries)
    clf = DPGreedyRuleListClassifier(epsilon=10.0, max_length=5, schema=data.schema, ledger=ledger)
    clf.fit_source(table, counting="nodes")
    rules = len(clf.rule_list_) - 1
    assert len(seen) == min(rules + 1, 4)  # no rule is chosen, or there is no place for another
    assert seen == [0, *[1] * (len(seen) - 1)]


def test_it_cannot_be_pickled_or_shown(duckdb_engine):
    import pickle

    schema = Schema([Boolean("b")], "y", ["no", "yes"])
    candidates = Candidates.of_schema(schema)
    source = EngineTable(stored(duckdb_engine, TABLE), schema, schema.classes)
    counts = source.count(plan_counting(candidates, "nodes", None, Needs(nodes=True)))
    assert repr(counts) == "<Marginals>"
    for secret in (counts, counts.of_rules(candidates)):
        with pytest.raises(TypeError):
            pickle.dumps(secret)
