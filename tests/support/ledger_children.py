"""What the processes do that tests/test_ledger_processes.py starts, and kills."""

import resource
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from io import FileIO

import numpy as np
import pandas as pd

import discreet.classifiers.greedy
from discreet import DPGreedyRuleListClassifier, Ledger, Vault
from discreet.common import locking, writing
from discreet.privacy.ledger import BudgetError

X = pd.DataFrame({"a": np.arange(40) % 2 == 0, "b": np.arange(40) % 3 == 0})
Y = np.arange(40) % 2


def fit(path, epsilon):
    return DPGreedyRuleListClassifier(epsilon=epsilon, max_length=3, ledger=Ledger.open(path)).fit(X, Y)


def count_reads():
    """Have all looks at records counted: the vaults that are filled."""
    filled = []
    fill = Vault.filled_by.__func__

    def counted(cls, *arguments):
        filled.append(1)
        return fill(cls, *arguments)

    Vault.filled_by = classmethod(counted)
    return filled


def fit_many(path, fits, epsilon, start, report):
    """(fits that succeeded, fits that were refused, vaults that were filled, of which in a fit that was refused)."""
    filled = count_reads()
    done = refused = in_vain = 0
    start.wait()
    for _ in range(fits):
        before = len(filled)
        try:
            fit(path, epsilon)
            done += 1
        except BudgetError:
            refused += 1
            in_vain += len(filled) - before
    report.put((done, refused, len(filled), in_vain))


def stop_inside_the_fit(path, epsilon, pipe):
    """Stay in the learner for ever, after the reservation."""

    def learner(*arguments, **more):
        pipe.send("inside")
        time.sleep(600)

    discreet.classifiers.greedy.greedy = learner
    fit(path, epsilon)


def stop_inside_the_write(path, epsilon, pipe):
    """Stay for ever where half of a line is written, with the lock held."""

    class Half(FileIO):
        def write(self, data):
            super().write(data[: len(data) // 2])
            pipe.send("inside")
            time.sleep(600)

    locking.FileIO = Half
    fit(path, epsilon)


def stop_inside_the_upgrade(path, epsilon, pipe):
    """Stay for ever where the new version is written but not yet in its place."""

    def replaced(*arguments):
        pipe.send("inside")
        time.sleep(600)

    writing.os.replace = replaced
    fit(path, epsilon)


def hold(path, pipe):
    """Have the lock for ever."""
    with locking.open_locked(path):
        pipe.send("held")
        time.sleep(600)


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
    filled = count_reads()
    *limit, pipe = given
    size = limit[0] if limit else path.stat().st_size + 100  # in the middle of a line
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        fit(path, epsilon)
        pipe.send(("learned", len(filled)))
    except OSError as error:
        pipe.send((type(error).__name__, len(filled)))
