"""Holes put in on purpose. The harness must find each of them; each was once found in this package, or one like it."""

import os
import sys
import tempfile
import warnings
from pathlib import Path


def _when_filled(hole):
    """Do something with the number of records whenever private counts is filled."""
    from discreet.private.counts.marginals import MarginalsInProgress
    from discreet.private.counts.patterns import PatternsInProgress
    from discreet.sources.columns import MemoryColumns

    patterns, marginals, by_bins = PatternsInProgress.finish, MarginalsInProgress.finish, MemoryColumns.by_bins

    def columns_by_bins(self, columns):
        counted = by_bins(self, columns)
        hole(int(counted[0].sum()))
        return counted

    def finish_patterns(self):
        filled = patterns(self)
        hole(int(filled.counts.sum()))
        return filled

    def finish_marginals(self):
        filled = marginals(self)
        hole(int(filled.table(()).sum()))
        return filled

    PatternsInProgress.finish, MarginalsInProgress.finish = finish_patterns, finish_marginals
    MemoryColumns.by_bins = columns_by_bins


def on_stdout():
    _when_filled(lambda n: print(n))


def on_stderr():
    _when_filled(lambda n: print(n, file=sys.stderr))


def in_a_warning():
    _when_filled(lambda n: warnings.warn(f"{n} records", stacklevel=1))


def in_an_error_at_an_odd_number():
    def hole(n):
        if n % 2:
            raise ValueError("odd")

    _when_filled(hole)


def in_the_number_of_an_exit():
    _when_filled(lambda n: n % 2 and sys.exit(1))


def in_the_name_of_a_temporary_file():
    def hole(n):
        handle, name = tempfile.mkstemp(prefix=f"records-{n}-")
        os.close(handle)
        Path(name).unlink()

    _when_filled(hole)


def in_a_file_that_is_left():
    _when_filled(lambda n: Path("note.txt").write_text(str(n)))


def in_the_mode_of_a_file():
    def hole(n):
        Path("note.txt").touch()
        Path("note.txt").chmod(0o600 + n % 2)

    _when_filled(hole)
