import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from discreet import DPGreedyRuleListClassifier, Ledger, Numeric, Schema
from discreet._utils.parameters import as_written, least_float
from discreet.accounting.costs import Cost
from discreet.accounting.ledger import BudgetError, LedgerError, Reservation
from discreet.accounting.statement import Guarantee
from discreet.datasets import load_compas
from discreet.private.mechanisms.registry import MECHANISMS
from discreet.private.noise.seeded import SeededEntropy
from discreet.private.queries.greedy import GreedyQueries
from discreet.rules.candidates import Candidates
from discreet.sources.memory import MemoryTable
from tests.support.counted import patterns_of
from tests.support.paid_schemas import paid
from tests.support.selectors import PUBLISHED, budget_of

DATA = load_compas(binary=True, sensitive=False)
X, Y = DATA.data, DATA.target


def classifier(mechanism="gl-laplace", **parameters):
    delta = 1e-6 if MECHANISMS[mechanism].needs_delta else None
    return DPGreedyRuleListClassifier(mechanism=mechanism, delta=delta, min_support=100, **parameters)


@pytest.mark.parametrize("mechanism", PUBLISHED)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.3])
def test_reserved_is_what_was_asked_for_and_spent_plus_unused(mechanism, epsilon):
    ledger = Ledger(epsilon=10, delta=0.5, allow_unproved=True)  # of some of these nothing is proved
    classifier(mechanism, epsilon=epsilon, ledger=ledger).fit(X, Y)
    (entry,) = ledger.entries
    assert entry.epsilon == Fraction(str(epsilon))
    assert entry.delta == (Fraction(1, 10**6) if MECHANISMS[mechanism].needs_delta else 0)
    assert entry.epsilon == entry.spent_epsilon + entry.unused_epsilon
    assert 0 <= entry.spent_delta <= entry.delta
    assert entry.spent_epsilon > 0
    assert entry.how == "finished"
    assert ledger.spent == (entry.epsilon, entry.delta)
    assert ledger.remaining[0] == 10 - max(entry.epsilon, entry.proved_epsilon or 0)
    assert ledger.remaining[1] == Fraction(1, 2) - max(entry.delta, entry.proved_delta or 0)


@pytest.mark.parametrize("mechanism", PUBLISHED)
def test_queries_charge_before_they_answer(mechanism):
    counts, candidates = patterns_of(X, Y, DATA.schema), Candidates.of_schema(DATA.schema)
    budget = budget_of(mechanism, 1, 3, "1e-6", min_support=10)
    node_epsilon = budget.choice_epsilon
    questions = [lambda q: q.select([]), lambda q: q.histogram([], None)]
    if MECHANISMS[mechanism].needs_support:
        questions.append(lambda q: q.exceeds([]))
    for ask in questions:
        reservation = Reservation(node_epsilon, Fraction(1, 10**6))
        queries = GreedyQueries(counts, candidates, MECHANISMS[mechanism], budget).prepare()
        assert reservation.spent_epsilon == 0
        queries.open(reservation, SeededEntropy(0))
        ask(queries)
        assert reservation.spent_epsilon == node_epsilon
        with pytest.raises(BudgetError):
            ask(queries)
        assert reservation.spent_epsilon == node_epsilon


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_query_that_does_not_look_does_not_charge(mechanism):
    """Without a minimum support everyone passes, and no count is asked for."""
    budget, reservation = budget_of(mechanism, 1, 3, "1e-6"), Reservation(Fraction(1), Fraction(1, 10**6))
    counts, candidates = patterns_of(X, Y, DATA.schema), Candidates.of_schema(DATA.schema)
    queries = GreedyQueries(counts, candidates, MECHANISMS[mechanism], budget).open(reservation, SeededEntropy(0))
    assert queries.exceeds([])
    assert (reservation.spent_epsilon == 0) == (not MECHANISMS[mechanism].needs_support)


def test_a_ledger_refuses_before_computing(monkeypatch):
    ledger = Ledger(epsilon=1.5)
    classifier(epsilon=1.0, ledger=ledger).fit(X, Y)
    monkeypatch.setattr(MemoryTable, "add_to", lambda *a: pytest.fail("the records were touched"))
    with pytest.raises(pytest.fail.Exception):
        classifier(epsilon=1.0).fit(X, Y)
    with pytest.raises(BudgetError, match=r"epsilon 0.5 .* needs epsilon 1 "):
        classifier(epsilon=1.0, ledger=ledger).fit(X, Y)
    assert len(ledger.entries) == 1


def test_a_fit_that_fails_after_its_reservation_shows(monkeypatch):
    ledger = Ledger(epsilon=2)

    def fails(*arguments, **more):
        raise MemoryError

    monkeypatch.setattr("discreet.estimators.greedy.greedy", fails)
    with pytest.raises(MemoryError):
        classifier(epsilon=1.0, ledger=ledger).fit(X, Y)
    (entry,) = ledger.entries
    assert entry.epsilon == 1
    assert entry.spent_epsilon == 0
    assert entry.how == "stopped"
    assert "(stopped)" in str(ledger)


def test_bad_input_reserves_nothing():
    ledger = Ledger(epsilon=2)
    for wrong in (
        lambda: classifier(epsilon=-1, ledger=ledger).fit(X, Y),
        lambda: classifier(max_length=0, ledger=ledger).fit(X, Y),
        lambda: classifier(schema=DATA.schema, ledger=ledger).fit(X.iloc[:, :3], Y),
        lambda: classifier(ledger=ledger).fit(X.astype(float), Y),
        lambda: classifier(ledger=ledger).fit(X, Y[:-1]),
        lambda: classifier("sm-laplace", ledger=ledger).set_params(delta=None).fit(X, Y),
    ):
        with pytest.raises(ValueError, match=r".+"):
            wrong()
    assert ledger.entries == ()


def test_clone_and_copies_keep_the_same_ledger():
    ledger = Ledger(epsilon=1)
    assert copy.copy(ledger) is ledger
    assert copy.deepcopy(ledger) is ledger
    assert clone(classifier(ledger=ledger)).ledger is ledger
    with pytest.raises(TypeError, match=r"Ledger.open"):
        pickle.dumps(ledger)


def test_grid_search_in_one_process():
    ledger = Ledger(epsilon=5)
    search = GridSearchCV(classifier(epsilon=0.25, ledger=ledger), {"max_length": [2, 3, 4]}, cv=3, n_jobs=1).fit(X, Y)
    assert len(ledger.entries) == 3 * 3 + 1
    assert ledger.spent[0] == 10 * Fraction(1, 4)
    assert search.best_estimator_.ledger is ledger
    short = Ledger(epsilon=1)
    with pytest.raises(BudgetError):
        GridSearchCV(classifier(epsilon=0.25, ledger=short), {"max_length": [2, 3, 4]}, cv=3, error_score="raise").fit(
            X, Y
        )
    assert short.spent[0] == 1


def test_grid_search_in_two_processes(tmp_path):
    in_memory = Ledger(epsilon=5)
    with pytest.raises(Exception, match="pickle"):
        GridSearchCV(classifier(epsilon=0.25, ledger=in_memory), {"max_length": [2, 3]}, cv=2, n_jobs=2).fit(X, Y)
    assert in_memory.entries == ()
    ledger = Ledger.open(tmp_path / "budget.db", epsilon=5)
    GridSearchCV(classifier(epsilon=0.25, ledger=ledger), {"max_length": [2, 3, 4]}, cv=3, n_jobs=2).fit(X, Y)
    assert ledger.spent[0] == 10 * Fraction(1, 4)


def reserve(path):
    try:
        Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "one").close()
    except BudgetError:
        return 0
    return 1


def test_processes_cannot_overspend_a_file(tmp_path):
    path = tmp_path / "budget.db"
    Ledger.open(path, epsilon=1.0)
    with ProcessPoolExecutor(4) as pool:
        assert sum(pool.map(reserve, [path] * 32)) == 10
    assert Ledger.open(path).remaining == (0, 0)


def test_a_file_ledger_comes_back(tmp_path):
    path = tmp_path / "budget.db"
    ledger = Ledger.open(path, epsilon=0.3, delta=1e-7)
    ledger.reserve(Fraction(1, 10), Fraction(1, 10**8), "a").close()
    ledger.reserve(Fraction(1, 10), Fraction(0), "b")  # never closed, as if the process had died
    again = pickle.loads(pickle.dumps(ledger))
    assert again.entries == ledger.entries
    assert again.remaining == (Fraction(1, 10), Fraction(9, 10**8))
    assert "(not closed)" in str(again)
    assert again.epsilon == Fraction(3, 10)
    with pytest.raises(LedgerError, match="another epsilon"):
        Ledger.open(path, epsilon=5.0)
    with pytest.raises(LedgerError, match="give its epsilon"):
        Ledger.open(tmp_path / "other.json")


@pytest.mark.parametrize("epsilon", [-1, float("nan"), float("inf"), "1", True, None])
def test_budgets_are_numbers(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        Ledger(epsilon=epsilon)


def test_a_table_of_what_was_spent():
    ledger = Ledger(epsilon=3.0, delta=1e-3)
    classifier("sm-laplace", epsilon=0.5, ledger=ledger).set_params(delta=1e-8).fit(X, Y)
    text = str(ledger)
    for expected in ("sm-laplace", "0.5", "1e-08", "unused, not returned", "spent", "left", "2.5"):
        assert expected in text
    assert repr(ledger) == "Ledger(epsilon=3, delta=0.001)"
    assert repr(Ledger(1, allow_unproved=True)) == "Ledger(epsilon=1, delta=0, allow_unproved=True)"


def test_tight_composition_is_no_more_than_the_sum():
    ledger = Ledger(epsilon=20, delta=1e-3)
    for i in range(100):
        ledger.reserve(Fraction(1, 10), Fraction(0), f"fit {i}")
    assert float(ledger.spent[0]) == 10
    assert 3.0 < ledger.tight_epsilon(1e-5) < 5.0  # about sqrt(2 k log(1/delta)) eps
    assert ledger.tight_epsilon(0) == pytest.approx(10, rel=1e-3)
    assert Ledger(epsilon=1).tight_epsilon(1e-6) == 0.0


def test_numpy_numbers_are_budgets():
    assert Ledger(epsilon=np.float64(0.1)).epsilon == Fraction(1, 10)
    assert Ledger(epsilon=np.int64(2)).epsilon == 2


AMOUNTS = {
    "negative": Fraction(-1),
    "not a number": float("nan"),
    "infinite": float("inf"),
    "a string": "1",
    "none": None,
}


@pytest.mark.parametrize("amount", AMOUNTS.values(), ids=AMOUNTS)
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_every_amount_passes_the_same_check(tmp_path, kind, amount):
    ledger = Ledger(epsilon=5) if kind == "memory" else Ledger.open(tmp_path / "budget.db", epsilon=5)
    one, none = Fraction(1), Fraction(0)
    for given in (
        {"epsilon": amount},
        {"delta": amount},
        {"proved": (amount, 0.0)},
        {"proved": (0.5, amount)},
        *({name: {"schema-1": pair}} for name in ("pays_for", "rests_on") for pair in ((amount, none), (none, amount))),
    ):
        with pytest.raises(ValueError, match=r"must be (at least 0|in \[0, 1\)|a finite number)"):
            ledger.reserve(**({"epsilon": one, "delta": none, "what": "a model"} | given))
    for of_a_cost in (("pure", amount), ("bounded range", amount), ("approximate", one, amount)):
        with pytest.raises(ValueError, match=r"of a cost must be (at least 0|a finite number)"):
            Cost(*of_a_cost)
    assert ledger.n_entries == 0
    assert ledger.remaining == (5, 0)


def test_a_schema_cannot_cost_more_than_the_release_that_it_is():
    ledger, none = Ledger(epsilon=5, delta=1e-6), Fraction(0)
    small = Fraction(1, 10**9)
    for parts in ({"a": (Fraction(3, 4), none), "b": (Fraction(1, 2), none)}, {"a": (Fraction(1), 2 * small)}):
        with pytest.raises(ValueError, match="pays_for is more than epsilon or delta"):
            ledger.reserve(Fraction(1), small, "a schema", pays_for=parts)
    ledger.reserve(Fraction(1), small, "two", pays_for={"a": (Fraction(3, 4), none), "b": (Fraction(1, 4), small)})
    assert ledger.spent == (1, small)


def test_costs_are_of_kinds_that_a_ledger_knows():
    ledger, one = Ledger(epsilon=5), Fraction(1)
    for cost in (
        ("free", one),
        ("pure", one, 0, 0),
        ("pure", one, 0, 0.5),
        ("pure", one, one / 2),
        ("approximate", one, 2),
    ):
        with pytest.raises(ValueError, match="a cost must be of one of the kinds"):
            Cost(*cost)
    with pytest.raises(ValueError, match=r"rests_on must have \(epsilon, delta\) by names"):
        ledger.reserve(Fraction(1), Fraction(0), "a model", rests_on={5: (Fraction(1), Fraction(0))})
    with pytest.raises(ValueError, match=r"rests_on must have \(epsilon, delta\)"):
        ledger.reserve(Fraction(1), Fraction(0), "a model", rests_on={"a": Fraction(1)})


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_printed_ledger_obeys_no_escape(tmp_path, kind):
    ledger = Ledger(epsilon=5) if kind == "memory" else Ledger.open(tmp_path / "budget.db", epsilon=5)
    ledger.reserve(Fraction(1), Fraction(0), "a model\x1b[2J\x07\nspent 0\u202e").close()
    shown = str(ledger)
    assert len(shown.splitlines()) == 4
    assert "a model\\x1b[2J\\x07\\nspent 0\\u202e" in shown
    assert shown.replace("\n", "").isprintable()


def test_a_total_says_what_it_assumes_beside_its_number():
    ledger = Ledger(epsilon=5, delta=1e-6)
    for _ in range(2):
        ledger.reserve(Fraction(1, 10), Fraction(0), "a model").close()
    for numerical in (False, True):
        for said in (str, repr):
            assert said(ledger.total(numerical=numerical)).startswith("epsilon 0.")
            assert "if all budgets were fixed beforehand" in said(ledger.total(numerical=numerical))


# --- fractions -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.1, 2.3])
@pytest.mark.parametrize("k", [2, 3, 6, 7, 49])
def test_what_is_proved_to_a_person_is_not_less_than_what_was_asked_for_and_spent(epsilon, k):
    clf = classifier("mass", epsilon=epsilon, records_per_person=k, ledger=(ledger := Ledger(epsilon))).fit(X, Y)
    assert clf.privacy_.proved.epsilon == epsilon
    assert f"epsilon = {epsilon:g}:" in str(clf.privacy_)
    assert ledger.entries[0].proved_epsilon == ledger.entries[0].epsilon == Fraction(str(epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 1.1, Fraction(1, 30)])
@pytest.mark.parametrize("delta", [0, 1e-9, Fraction(1, 3 * 10**9)])
def test_a_schema_is_booked_for_exactly_what_it_cost_wherever_it_was_kept(tmp_path, epsilon, delta):
    numbers, asked = (
        np.arange(100.0)[:, None] % 50,
        as_written(epsilon),
    )
    schema = paid(Schema([Numeric("x", cuts=[10, 20])], "y", [0, 1]), epsilon, delta, records=3)
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema
    for learned in (schema, Schema.load(tmp_path / "schema.toml")):
        ledger = Ledger(2, 1e-6)  # it does not know of the schema, and books it in full, once
        for already in (0, 1):
            fit = DPGreedyRuleListClassifier(epsilon=0.3, schema=learned, records_per_person=3, ledger=ledger)
            fit.fit(numbers, np.arange(100) % 2)
            assert ledger.spent == (asked + Fraction(3, 10) * (1 + already), as_written(delta))
            assert fit.privacy_.proved == Guarantee(
                least_float(asked + Fraction(3, 10)), least_float(as_written(delta))
            )
        assert ledger.entries[0].schemas == (("schema-1f3a", (asked, as_written(delta))),)
        assert ledger.entries[1].schemas == ()
