"""Holes put in on purpose. The harness must find each of them; each was once found in this package, or one like it."""

import os
import sys
import tempfile
import warnings
from pathlib import Path


def _when_filled(hole):
    """Do something with the number of records whenever a vault is filled."""
    from discreet.private.counts.cells import CellsInProgress
    from discreet.private.counts.tuples import TuplesInProgress

    cells, tuples = CellsInProgress.finish, TuplesInProgress.finish

    def finish_cells(self):
        filled = cells(self)
        hole(int(filled.counts.sum()))
        return filled

    def finish_tuples(self):
        filled = tuples(self)
        hole(int(filled.table(()).sum()))
        return filled

    CellsInProgress.finish, TuplesInProgress.finish = finish_cells, finish_tuples


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
