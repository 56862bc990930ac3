"""The one path of every release: which step comes when, what is booked if one fails, and that counts are given back."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet import Ledger, Schema
from discreet._utils.errors import LearningError
from discreet._utils.tables import as_table
from discreet.accounting.costs import PURE, Cost
from discreet.accounting.ledger import BudgetError
from discreet.accounting.statement import Guarantee, PrivacyStatement
from discreet.private.queries.base import Queries
from discreet.private.release import Plan, Terms, release
from discreet.sources.memory import MemoryTable

SCHEMA = Schema.of_booleans(["a", "b"], classes=[0, 1])
STATEMENT = PrivacyStatement("made up", None, Guarantee.of(Fraction(1), 0.0), costs=(Cost(PURE, Fraction(1)),))


class Failed(Exception):
    """At the step that is to fail."""


@dataclass
class Steps:
    """What was done, one after the other. ``failing`` names a step that fails."""

    failing: str = ""
    done: list = field(default_factory=list)

    def note(self, step):
        self.done.append(step)
        if step == self.failing:
            raise Failed


class Noted(Queries):
    _noise = Fraction(1)

    def __init__(self, steps):
        self._steps = steps

    def prepare(self):
        self._steps.note("prepare")
        return self

    def open(self, reservation, entropy):
        self._steps.note("open")
        return super().open(reservation, entropy)

    def ask(self):
        self._charge(self._noise, "all of it")
        self._steps.note("answer")
        return 17


@dataclass(frozen=True, kw_only=True)
class NotedPlan(Plan):
    steps: Steps

    def check(self):
        self.steps.note("check")
        super().check()

    def queries(self, counts):
        self.steps.note("queries")
        return Noted(self.steps)

    def reserve(self):
        self.steps.note("reserve")
        return super().reserve()

    def run(self, queries):
        self.steps.note("run")
        return queries.ask()


class Table:
    """Counts that note when they are given back, of a table that notes when it is counted."""

    def __init__(self, steps):
        self._steps = steps

    def count(self, counting):
        self._steps.note("count")
        return self

    def close(self):
        self._steps.note("close")


def released(ledger, failing=""):
    steps = Steps(failing)
    plan = NotedPlan(terms=Terms(1, ledger, 1, None), schema=SCHEMA, statement=STATEMENT, counting=None, steps=steps)
    try:
        return release(plan, Table(steps)), steps.done
    except (Failed, LearningError, BudgetError) as error:
        return error, steps.done


BEFORE = ["check", "count", "queries", "prepare", "reserve"]
AFTER = ["open", "run", "answer", "close"]


def test_records_are_counted_and_queries_prepared_before_the_price_is_booked():
    ledger = Ledger(epsilon=2)
    found, done = released(ledger)
    assert done == [*BEFORE, *AFTER]
    assert found.value == 17
    assert ledger.spent[0] == 1


@pytest.mark.parametrize("failing", [*BEFORE, *AFTER[:3]])
def test_a_step_that_fails_leaves_all_booked_or_nothing_and_counts_are_given_back(failing):
    ledger = Ledger(epsilon=2)
    _, done = released(ledger, failing)
    every = [*BEFORE, *AFTER]
    was_counted = failing not in ("check", "count")
    assert done == every[: every.index(failing) + 1] + ["close"] * was_counted
    assert ledger.spent[0] == (0 if failing in BEFORE else 1)


def test_without_enough_budget_nothing_is_counted():
    error, done = released(Ledger(epsilon=0.5))
    assert isinstance(error, BudgetError)
    assert done == ["check"]


PRIVATE = [getattr(discreet, name) for name in discreet.__all__ if name.startswith("DP")]


@pytest.mark.parametrize("classifier", PRIVATE, ids=lambda c: c.__name__)
def test_queries_without_noise_are_never_opened(classifier):
    """Learners without privacy ask them; here they take the place of a private learner's own."""
    ledger, rng = Ledger(epsilon=2), np.random.default_rng(0)
    plan = replace(classifier(schema=SCHEMA, ledger=ledger).plan(), budget=None)
    records = MemoryTable(as_table(rng.random((20, 2)) < 0.5, SCHEMA.names), rng.integers(0, 2, 20), (0, 1))
    lists = classifier is discreet.DPOptimalRuleListClassifier  # whose queries cannot even be prepared without noise
    error, message = (LearningError, "Nothing was booked") if lists else (AssertionError, "got queries without noise")
    with pytest.raises(error, match=message):
        release(plan, records)
    assert ledger.entries == ()
