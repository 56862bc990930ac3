"""What the processes do that tests/privacy/test_ledger_processes.py starts, and kills."""

import os
import resource
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pandas as pd

import discreet.estimators.greedy
from discreet import DPGreedyRuleListClassifier, Ledger
from discreet.accounting import ledger_rows
from discreet.accounting.ledger import BudgetError, LedgerError
from discreet.sources.source import Source

X = pd.DataFrame({"a": np.arange(40) % 2 == 0, "b": np.arange(40) % 3 == 0})
Y = np.arange(40) % 2


def fit(path, epsilon):
    return DPGreedyRuleListClassifier(epsilon=epsilon, max_length=3, ledger=Ledger.open(path)).fit(X, Y)


def count_reads():
    """Have all looks at records counted: the tables that are."""
    looks = []
    count = Source.count

    def counted(table, counting):
        looks.append(1)
        return count(table, counting)

    Source.count = counted
    return looks


def fit_many(path, fits, epsilon, start, report):
    """(fits that succeeded, fits that were refused, looks at records, of which in a fit that was refused)."""
    looks = count_reads()
    done = refused = in_vain = 0
    start.wait()
    for _ in range(fits):
        before = len(looks)
        try:
            fit(path, epsilon)
            done += 1
        except BudgetError:
            refused += 1
            in_vain += len(looks) - before
    report.put((done, refused, len(looks), in_vain))


def stop_inside_the_fit(path, epsilon, pipe):
    """Stay in the learner for ever, after the reservation."""

    def learner(*arguments, **more):
        pipe.send("inside")
        time.sleep(600)

    discreet.estimators.greedy.greedy = learner
    fit(path, epsilon)


def stop_inside_the_write(path, epsilon, pipe):
    """Stay for ever where everything is written but for the COMMIT."""
    append = ledger_rows.append

    def stopped(*arguments):
        found = append(*arguments)
        pipe.send("inside")
        time.sleep(600)
        return found

    ledger_rows.append = stopped
    fit(path, epsilon)


def stop_inside_the_commit(path, pipe):
    """Stay for ever where half of a large change is in the file, and a hot journal beside it: the next one has to go back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # pages are written before the COMMIT
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE discreet_ledger SET totals = 'lost'")
    for number in range(1000, 3000):
        connection.execute("INSERT INTO discreet_events VALUES (?, ?, '')", (number, "x" * 1000))
    pipe.send("inside")
    time.sleep(600)


def hold(path, pipe):
    """Have the lock for ever."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    pipe.send("held")
    time.sleep(600)


def as_nobody(work, pipe):
    """Do something as a user who may not do everything, and report what it raised."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        pipe.send(("done", work()))
    except (LedgerError, OSError) as error:
        pipe.send((type(error).__name__, str(error)))


def reserve_once(path):
    """For ``as_nobody``."""
    return Ledger.open(path).reserve(Fraction(1, 10), Fraction(0), "one").booked.number


def count_entries(path):
    """For ``as_nobody``."""
    return len(Ledger.open(path).entries)


def reserve_for_ever(path, epsilon, pipe):
    """Reserve again and again, and report each that succeeded. Some are closed, too."""
    ledger = Ledger.open(path)
    while True:
        try:
            reservation = ledger.reserve(Fraction(epsilon), Fraction(0), "one")
        except BudgetError:
            pipe.send(None)
            time.sleep(600)
        pipe.send("reserved")
        if reservation.booked.number % 2:
            reservation.close()


def reserve_many(path, threads, times, epsilon, start, report):
    """(reservations that succeeded, that were refused) by several threads."""
    start.wait()

    def reserve(_):
        try:
            Ledger.open(path, 1.0).reserve(Fraction(epsilon), Fraction(0), "one").close()
        except BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(reserve, range(times)))
    report.put((done, times - done))


def fit_with_a_full_disk(path, epsilon, *given):
    """A fit whose ledger is cut off in the middle of being written, as on a full disk."""
    looks = count_reads()
    *limit, pipe = given
    size = limit[0] if limit else 4096  # the journal, and all pages of the file but the first, are behind that
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        fit(path, epsilon)
        pipe.send(("learned", len(looks)))
    except LedgerError as error:
        pipe.send((type(error).__name__, len(looks)))
