"""What the processes do that tests/test_ledger_processes.py starts, and kills."""

import resource
import time
from fractions import Fraction

import numpy as np
import pandas as pd

import discreet.private_estimators
from discreet import DPGreedyRuleListClassifier, Ledger, Vault
from discreet.privacy import ledger as ledger_module
from discreet.privacy.ledger import BudgetError

X = pd.DataFrame({"a": np.arange(40) % 2 == 0, "b": np.arange(40) % 3 == 0})
Y = np.arange(40) % 2


def fit(path, epsilon):
    return DPGreedyRuleListClassifier(epsilon=epsilon, max_length=3, ledger=Ledger.open(path)).fit(X, Y)


def count_reads():
    """Have all looks at records counted: the vaults that are filled."""
    filled = []
    fill = Vault.from_table.__func__

    def counted(cls, *arguments):
        filled.append(1)
        return fill(cls, *arguments)

    Vault.from_table = classmethod(counted)
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

    discreet.private_estimators.greedy = learner
    fit(path, epsilon)


def stop_inside_the_write(path, epsilon, pipe):
    """Stay for ever where the new file is written but not yet in its place, with the lock held."""

    def replace(*arguments):
        pipe.send("inside")
        time.sleep(600)

    ledger_module.os.replace = replace
    fit(path, epsilon)


def reserve_for_ever(path, epsilon, pipe):
    """Reserve again and again, and report each that succeeded."""
    ledger = Ledger.open(path)
    while True:
        try:
            ledger.reserve(Fraction(epsilon), Fraction(0), "one")
        except BudgetError:
            pipe.send(None)
            time.sleep(600)
        pipe.send("reserved")


def fit_with_a_full_disk(path, epsilon, pipe):
    """A fit whose ledger is cut off in the middle of being written, as on a full disk."""
    filled = count_reads()
    size = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
    try:
        fit(path, epsilon)
        pipe.send(("learned", len(filled)))
    except OSError as error:
        pipe.send((type(error).__name__, len(filled)))
