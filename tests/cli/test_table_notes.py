"""What the commands note about tables, in files of the user: kept when many note at once, and never forgotten in silence."""

import multiprocessing
import os
import shutil
import stat
from fractions import Fraction
from pathlib import Path

import click
import pytest

from discreet import Ledger
from discreet.cli import table_notes

PROCESSES = multiprocessing.get_context("forkserver")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def used(tmp_path):
    """A ledger with an entry."""
    Ledger.open(tmp_path / "l.db", epsilon=1).reserve(Fraction(1, 2), Fraction(0), "a model").close()
    return tmp_path / "l.db"


TABLE = Path("people.csv")


def note(home, name, start):
    os.environ["DISCREET_HOME"] = str(home)
    start.wait()
    table_notes.note_sample(Path(name))


def test_notes_made_at_the_same_time_are_all_kept(home):
    start = PROCESSES.Barrier(8)
    workers = [PROCESSES.Process(target=note, args=(home, f"{i}.csv", start)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    for i in range(8):
        with pytest.raises(click.ClickException, match="drafted from"):
            table_notes.check_not_a_sample(Path(f"{i}.csv"), False)


def test_notes_are_for_the_user_alone(home, used):
    old = os.umask(0o022)
    try:
        table_notes.note_ledger(TABLE, used)
        assert stat.S_IMODE((home / "tables").stat().st_mode) == 0o700
        (home / "tables").chmod(0o755)
        table_notes.note_sample(TABLE)
        assert stat.S_IMODE((home / "tables").stat().st_mode) == 0o700
    finally:
        os.umask(old)


def test_notes_that_cannot_be_read_or_written_are_said(home, used, capsys):
    table_notes.note_ledger(TABLE, used)
    (note, *_) = (file for file in (home / "tables").iterdir() if b"l.db" in file.read_bytes())
    note.unlink()
    note.mkdir()
    table_notes.check_ledger(TABLE, None, False)
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert f"{note} cannot be read" in said
    table_notes.note_ledger(TABLE, used)
    assert "could not note" in capsys.readouterr().err


def test_a_note_that_was_cut_off_is_not_forgotten(home, used):
    table_notes.note_ledger(TABLE, used)
    for note in (home / "tables").iterdir():
        note.write_bytes(b"")
    with pytest.raises(click.ClickException, match="no longer at its place"):
        table_notes.check_ledger(TABLE, None, False)


def test_a_ledger_that_is_gone_is_not_forgotten(home, used):
    table_notes.note_ledger(TABLE, used)
    used.unlink()
    other = used.with_name("other.db")
    Ledger.open(other, epsilon=1)
    for ledger in (None, other):
        with pytest.raises(click.ClickException, match=r"no longer at its place.*--another-ledger"):
            table_notes.check_ledger(TABLE, ledger, False)
        table_notes.check_ledger(TABLE, ledger, True)


def test_a_ledger_that_was_moved_is_known_by_its_name_and_a_copy_is_not_the_same(home, used):
    table_notes.note_ledger(TABLE, used)
    copy = used.with_name("copy.db")
    shutil.copy(used, copy)
    with pytest.raises(click.ClickException, match="adds up"):
        table_notes.check_ledger(TABLE, copy, False)
    link = used.with_name("link.db")
    link.symlink_to(used)
    table_notes.check_ledger(TABLE, link, False)
    link.unlink()
    moved = used.rename(used.with_name("moved.db"))
    table_notes.check_ledger(TABLE, moved, False)
    with pytest.raises(click.ClickException, match="no longer at its place"):
        table_notes.check_ledger(TABLE, None, False)


def test_a_ledger_on_a_server_is_noted_by_its_address(home, monkeypatch):
    url, other = (
        "postgresql://me@127.0.0.1:1/db?connect_timeout=1",
        "postgresql://me@127.0.0.1:1/other?connect_timeout=1",
    )
    table_notes.note_ledger(TABLE, url)
    table_notes.check_ledger(TABLE, url, False)
    for ledger in (None, other):  # a server that does not answer may have entries
        with pytest.raises(click.ClickException, match="has been learned from before"):
            table_notes.check_ledger(TABLE, ledger, False)


def test_tables_of_any_name_are_noted(home, used, tmp_path):
    table = tmp_path / "\udce4\n'.csv"
    table_notes.note_ledger(table, used)
    with pytest.raises(click.ClickException, match="adds up"):
        table_notes.check_ledger(table, None, False)
