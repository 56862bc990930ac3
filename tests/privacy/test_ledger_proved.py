"""A ledger refuses by what is proved, not only by what was asked for; and counts schemas by their names."""

import gc
import linecache
import math
import os
import pickle
import secrets
import signal
import sys
import threading
import time
import warnings
from fractions import Fraction
from functools import partial

import pytest

from discreet import Boolean, DPGreedyRuleListClassifier, Ledger, Schema, noisy_evaluation
from discreet.accounting.ledger import BudgetError, BudgetRequest, UnprovedError

from ..support import ledger_children as children
from ..support.paid_schemas import paid
from ..support.slices import slow_but, tries_everything

X, Y = children.X, children.Y
NOTHING = Fraction(0)


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    def make(*arguments, **more):
        if request.param == "memory":
            return Ledger(*arguments, **more)
        return Ledger.open(tmp_path / f"{secrets.token_hex(4)}.json", *arguments, **more)

    return make


def test_a_release_whose_proved_pair_is_too_large_is_refused(make):
    ledger = make(1.0, 1e-7)
    for proved in ((0.1, 6.5e-5), (1.5, 0.0)):
        for ask in (ledger.check, lambda *pair, proved: ledger.reserve(*pair, "a model", proved=proved)):
            with pytest.raises(BudgetError, match="left of what is proved, but this needs"):
                ask(Fraction(1, 10), Fraction(4, 10**8), proved=proved)
    assert ledger.n_entries == 0


def test_what_is_left_is_the_smaller_of_both(make):
    ledger = make(1.0, 1e-3)
    ledger.reserve(Fraction(1, 10), Fraction(1, 10**4), "a", proved=(0.3, 2e-5))
    assert ledger.remaining == (Fraction(7, 10), Fraction(9, 10**4))
    ledger.reserve(Fraction(1, 2), NOTHING, "b", proved=(0.1, 0.0))
    assert ledger.remaining == (Fraction(2, 5), Fraction(9, 10**4))


def test_sm_laplace_that_is_proved_for_less_than_it_claims_is_refused():
    """At (0.1, 4e-8) a ledger once had delta 6e-8 left, while what was proved was a delta of 6.5e-5."""
    ledger = Ledger(epsilon=1.0, delta=1e-7)
    clf = DPGreedyRuleListClassifier(
        mechanism="sm-laplace", epsilon=0.1, delta=4e-8, min_support=300, max_length=3, ledger=ledger
    )
    with pytest.raises(BudgetError, match="of what is proved"):
        clf.fit(X, Y)
    assert ledger.entries == ()


def test_a_release_about_which_nothing_is_proved_is_refused_by_default(make):
    ledger = make(3.0)
    seeded = DPGreedyRuleListClassifier(random_state=0, ledger=ledger)
    with pytest.raises(UnprovedError, match=r"the noise was seeded.*allow_unproved=True.*--allow-unproved"):
        seeded.fit(X, Y)
    schema = Schema([Boolean("a"), Boolean("b")], classes=[0, 1])
    clf = DPGreedyRuleListClassifier(schema=schema).fit(X, Y)
    with pytest.raises(UnprovedError, match="seeded"):
        noisy_evaluation(clf, X, Y, 0.1, ledger=ledger, random_state=0)
    with pytest.raises(UnprovedError):
        ledger.check(Fraction(1), NOTHING, None)
    assert ledger.entries == ()


def test_a_ledger_may_be_made_to_take_what_is_not_proved(make):
    ledger = make(3.0, allow_unproved=True)
    DPGreedyRuleListClassifier(random_state=0, ledger=ledger).fit(X, Y)
    assert ledger.proved == (math.inf, 1.0)
    assert ledger.remaining == (2, 0)


@pytest.mark.parametrize("k", slow_but(range(1, 60), {1, 2, 3, 7, 10, 49}))
def test_a_persons_epsilon_is_not_more_than_was_asked_for_by_rounding(k):
    for epsilon in (0.7, 1.0, 0.1):
        ledger = Ledger(epsilon=epsilon)
        schema = Schema([Boolean("a"), Boolean("b")], classes=[0, 1])
        clf = DPGreedyRuleListClassifier(epsilon=epsilon, schema=schema, ledger=ledger, records_per_person=k)
        clf.fit(X, Y)
        assert ledger.remaining == (0, 0)


# --- schemas ---------------------------------------------------------------------------------------------------------------

SCHEMA = Schema([Boolean("a"), Boolean("b")], classes=[0, 1])


@pytest.mark.parametrize("name", ["mass", "DPGreedyRuleListClassifier", "and", "schema", "schema-1f3a"])
def test_a_schema_of_any_name_is_booked_once(make, name):
    ledger, delta = make(20.0, 1e-6), Fraction(1, 10**9)
    DPGreedyRuleListClassifier(epsilon=1.0, ledger=ledger).fit(X, Y)  # whose entry has some of these words
    for expected in (7, 8):
        schema = paid(SCHEMA, 5.0, 1e-9, name)
        DPGreedyRuleListClassifier(epsilon=1.0, schema=schema, ledger=ledger).fit(X, Y)
        assert ledger.spent == (expected, delta)
    _, first, second = ledger.entries
    assert first.schemas == ((name, (5, delta)),)
    assert second.schemas == ()
    assert (first.proved_epsilon, first.proved_delta) == (6, delta)
    assert first.what.endswith(f", and schema {name}")


def test_a_schema_on_the_ledger_is_known_whatever_lies_between(make):
    ledger, cost = make(20.0), (Fraction(1, 10), NOTHING)
    names = [f"schema-{i}" for i in range(3)]
    for name in names:
        ledger.reserve(*cost, "a schema", release=name, pays_for={name: cost}).close()
    for i in range(5):
        ledger.reserve(Fraction(1), NOTHING, f"something else {i}").close()
    for name in names:
        assert ledger.reserve(Fraction(1), NOTHING, "a model", rests_on={name: cost}).epsilon == 1


# --- in memory -------------------------------------------------------------------------------------------------------------


def test_a_forked_copy_can_be_read_and_refuses_even_if_another_thread_was_booking(monkeypatch):
    ledger, approve, booking = Ledger(epsilon=1), BudgetRequest.approve, threading.Event()
    reservation = ledger.reserve(Fraction(1, 2), NOTHING, "before")

    def slow(*given):
        booking.set()
        time.sleep(0.3)
        return approve(*given)

    monkeypatch.setattr(BudgetRequest, "approve", slow)
    thread = threading.Thread(target=ledger.reserve, args=(Fraction(1, 4), NOTHING, "meanwhile"))
    thread.start()
    assert booking.wait(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads
        child = os.fork()
    if child == 0:
        signal.alarm(10)  # if it waits
        answers = ledger.remaining in ((Fraction(1, 2), 0), (Fraction(1, 4), 0))
        for bit, ask in enumerate((lambda: ledger.reserve(Fraction(1, 4), NOTHING, "x"), reservation.close), 1):
            try:
                ask()
            except TypeError:
                answers |= 1 << bit
        os._exit(answers)
    _, status = os.waitpid(child, 0)
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0b111
    assert ledger.remaining == (Fraction(1, 4), 0)


def test_pickling_a_ledger_in_memory_is_one_clear_line():
    with pytest.raises(TypeError, match=r"Ledger.open\(path\), or n_jobs=1") as refused:
        pickle.dumps(Ledger(epsilon=1))
    assert "\n" not in str(refused.value)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # files that nobody had a chance to close
def test_an_exception_at_any_moment_leaves_the_lock_free_and_nothing_unbooked(make, monkeypatch):
    """Ctrl-C before each line that is run for a reservation and its end, while the traceback is still being looked at."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # slow, and not what this is about
    moment, done, kept, step = 0, None, [], 1 if tries_everything() else 7
    while done is None:
        moment, ledger = moment + step, make(2.0)
        done = interrupted(partial(ledger.reserve, Fraction(1), NOTHING, "one"), moment, kept)
        other = threading.Thread(target=ledger.reserve, args=(Fraction(1), NOTHING, "after that"), daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive(), f"dead-locked by an exception at line {moment}"
        assert len(ledger.entries) >= 1 + (done is not None)
        assert ledger.spent[0] == len(ledger.entries)
    assert moment > 20
    kept.clear()
    gc.collect()


def interrupted(work, moment, kept):
    """What comes of something, with an exception before the line of this number, which is kept."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        file = frame.f_code.co_filename
        if "discreet" not in file and "contextlib" not in file:
            return None
        # no signal is taken at a try, nor between the end of a with block and a call of __exit__
        if event == "line" and not linecache.getline(file, frame.f_lineno).lstrip().startswith(("with ", "try:")):
            seen += 1
            if seen == moment:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    except KeyboardInterrupt as error:
        kept.append(error)
    finally:
        sys.settrace(before)


def test_a_negative_proved_delta_gives_no_budget_back(make):
    ledger = make(epsilon=1.0, delta=0.1)
    with pytest.raises(ValueError, match="at least 0"):
        ledger.reserve(Fraction(0), Fraction(0), "odd", proved=(0.0, -0.5))
    assert ledger.n_entries == 0
