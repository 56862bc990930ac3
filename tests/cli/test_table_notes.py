"""What the commands note about tables, in a file of the user: kept when many note at once, and never forgotten in silence."""

import json
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
    Ledger.open(tmp_path / "l.json", epsilon=1).reserve(Fraction(1, 2), Fraction(0), "a model").close()
    return tmp_path / "l.json"


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
    noted = json.loads((home / "tables.json").read_text())["samples"]
    assert sorted(Path(name).name for name in noted) == [f"{i}.csv" for i in range(8)]


def test_notes_are_for_the_user_alone(home, used):
    old = os.umask(0o022)
    try:
        table_notes.note_ledger(TABLE, used)
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "tables.json").stat().st_mode) == 0o600
        (home / "tables.json").chmod(0o644)  # as version 0.5 left it
        table_notes.note_sample(TABLE)
        assert stat.S_IMODE((home / "tables.json").stat().st_mode) == 0o600
    finally:
        os.umask(old)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[" * 100_000, b"[]", b'{"ledgers": 5}', b'{"ledgers": {"a": {"b": 1}}}', b"\xff\xfe", None],
    ids=["empty", "cut off", "nested", "a list", "a number", "a dictionary", "no text", "a pipe"],
)
def test_damaged_notes_are_kept_aside_aloud(home, content, capsys):
    home.mkdir()
    file = home / "tables.json"
    if content is None:
        os.mkfifo(file)
    else:
        file.write_bytes(content)
    table_notes.check_not_a_sample(TABLE, False)
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "is damaged" in said
    assert str(home / "tables.json.damaged") in said
    assert not file.exists()
    assert content is None or (home / "tables.json.damaged").read_bytes() == content
    table_notes.note_sample(TABLE)
    with pytest.raises(click.ClickException, match="drafted from"):
        table_notes.check_not_a_sample(TABLE, False)
    assert capsys.readouterr().err == ""
    file.write_bytes(b"again")
    table_notes.note_sample(TABLE)
    assert "tables.json.damaged1" in capsys.readouterr().err


def test_a_ledger_that_is_gone_is_not_forgotten(home, used):
    table_notes.note_ledger(TABLE, used)
    used.unlink()
    other = used.with_name("other.json")
    Ledger.open(other, epsilon=1)
    for ledger in (None, other):
        with pytest.raises(click.ClickException, match=r"no longer at its place.*--another-ledger"):
            table_notes.check_ledger(TABLE, ledger, False)
        table_notes.check_ledger(TABLE, ledger, True)


def test_a_ledger_that_was_moved_is_known_by_its_name_and_a_copy_is_not_the_same(home, used):
    table_notes.note_ledger(TABLE, used)
    copy = used.with_name("copy.json")
    shutil.copy(used, copy)
    with pytest.raises(click.ClickException, match="adds up"):
        table_notes.check_ledger(TABLE, copy, False)
    link = used.with_name("link.json")
    os.link(used, link)
    table_notes.check_ledger(TABLE, link, False)
    link.unlink()
    moved = used.rename(used.with_name("moved.json"))
    table_notes.check_ledger(TABLE, moved, False)
    with pytest.raises(click.ClickException, match="no longer at its place"):
        table_notes.check_ledger(TABLE, None, False)


def test_notes_of_version_0_5_are_read(home, used):
    home.mkdir()
    (home / "tables.json").write_text(json.dumps({"ledgers": {str(TABLE.resolve()): str(used)}, "samples": {}}))
    table_notes.check_ledger(TABLE, used, False)
    with pytest.raises(click.ClickException, match="adds up"):
        table_notes.check_ledger(TABLE, None, False)
    table_notes.note_sample(TABLE)
    assert json.loads((home / "tables.json").read_text())["ledgers"] == {str(TABLE.resolve()): str(used)}
