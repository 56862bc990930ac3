"""What is in a ledger's file: what it costs to use, what damage does to it, and what entries know."""

import json
import os
import resource
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet import Ledger
from discreet.privacy import ledger_lines
from discreet.privacy.entries import Entry, Totals, Whole, with_costs
from discreet.privacy.ledger import BudgetError, LedgerError

from ..support import ledger_children as children

NOTHING = Fraction(0)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.json"
    ledger = Ledger.open(path, epsilon=1.0)
    for i in range(5):
        ledger.reserve(Fraction(1, 10), NOTHING, f"number {i}", records=2).close()
    return path


def reads(path, work, monkeypatch):
    """(calls, bytes) of what is read from files while something is done."""
    read, seen = os.pread, []

    def counted(*arguments):
        data = read(*arguments)
        seen.append(len(data))
        return data

    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", counted)
        work()
    return len(seen), sum(seen)


def made(path, entries, budget=10**7):
    """A ledger with so many entries of epsilon 1."""
    whole = Whole(Fraction(budget), NOTHING, False, "a ledger")
    head = ledger_lines.first_line(whole)
    one = with_costs(Entry("one of many", Fraction(1), NOTHING, "2024-05-06T07:08:09+00:00", Fraction(1), NOTHING))
    template = None
    with open(path, "wb") as file:
        file.write(head)
        for number in range(1, entries + 1):
            so_far = Fraction(number)
            totals = Totals(number, so_far, NOTHING, so_far, NOTHING, 0, number * one.rho, 1)
            line = ledger_lines.Line(number, totals, len(head), one)
            if number == 1:
                cut = replace(one, cut_points=(("cuts-1", Fraction(1)),))
                line = ledger_lines.Line(number, totals, None, cut)
            if number < 100 or number == entries:
                data = ledger_lines.written(line)
                template = json.loads(data)
                del template["check"]
            else:
                data = _quick(template, number, number * one.rho)
            file.write(data + b"\n")
    return path


def _quick(template, number, rho):
    """What ``written`` makes of it, without reading it again."""
    so_far = {"entries": number, "spent": [str(number), "0"], "proved": [str(number), "0"], "rho": str(rho)}
    return ledger_lines._sealed(template | {"number": number, "totals": template["totals"] | so_far})


def cost(path, monkeypatch):
    """Of a reservation with cut points, and of its end; of a look at what is left."""
    ledger = Ledger.open(path)

    def use():
        ledger.reserve(Fraction(1), NOTHING, "one more", rests_on={"cuts-1": Fraction(1)}).close()
        assert ledger.remaining[0] < 10**7

    return reads(path, use, monkeypatch)


def test_a_reservation_costs_the_same_on_a_long_ledger(tmp_path, monkeypatch):
    few = cost(made(tmp_path / "few.json", 100), monkeypatch)
    many = cost(made(tmp_path / "many.json", 10_000), monkeypatch)
    assert len(Ledger.open(tmp_path / "many.json").entries) == 10_001
    assert few[0] == many[0]
    assert many[1] <= few[1] * 1.1 <= 200_000


@pytest.mark.slow
def test_a_reservation_costs_the_same_on_a_ledger_of_a_million_entries(tmp_path, monkeypatch):
    few = cost(made(tmp_path / "few.json", 100), monkeypatch)
    path = made(tmp_path / "many.json", 10**6)
    many = cost(path, monkeypatch)
    assert few[0] == many[0]
    assert many[1] <= few[1] * 1.1
    assert Ledger.open(path).n_entries == 10**6 + 1
    assert len(Ledger.open(path).entries) == 10**6 + 1


def test_a_torn_last_line_is_cut_off_and_one_that_is_complete_counts(path):
    before, whole = Ledger.open(path).entries, path.read_bytes()
    Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "the last")
    line = path.read_bytes()[len(whole) :]
    long = line[:50] + b"x" * 5_000  # of which the next line must not leave a rest
    for torn in (line[:1], line[:5], line[: len(line) // 2], line[:-3], b"\0" * 50, long):
        path.write_bytes(whole + torn)
        assert Ledger.open(path).entries == before
        assert Ledger.open(path).remaining == (Fraction(1, 2), 0)
        Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "after that")
        assert [e.what for e in Ledger.open(path).entries[5:]] == ["after that"]
    path.write_bytes(whole + line[:-1])
    assert Ledger.open(path).remaining == (Fraction(2, 5), 0)
    Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "after that", rests_on={})
    assert [e.what for e in Ledger.open(path).entries[5:]] == ["the last", "after that"]


def test_damage_is_refused_wherever_it_is(path):
    whole = path.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    noticed = 0
    for at in range(0, len(whole), 7):
        damaged = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        path.write_bytes(damaged)
        with pytest.raises(LedgerError, match=r"damaged|cannot be read"):
            Ledger.open(path).entries  # noqa: B018
        if at < whole.index(b"\n") or last <= at < len(whole) - 1:  # what a reservation looks at
            with pytest.raises(LedgerError, match=r"damaged|cannot be read"):
                Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "one")
            noticed += 1
        assert path.read_bytes() == damaged
    assert noticed > 10


@pytest.mark.parametrize("content", [b"", b"\n", b"{", b"notes\n", b"\0" * 100, b"[[[["])
def test_what_is_no_ledger_is_never_read_as_an_empty_one(tmp_path, content):
    path = tmp_path / "budget.json"
    path.write_bytes(content)
    for epsilon in (None, 1.0):
        with pytest.raises(LedgerError, match="cannot be read as a ledger"):
            Ledger.open(path, epsilon)
    assert path.read_bytes() == content


def test_text_after_the_last_line_is_damage(path):
    whole = path.read_bytes()
    for more in (b"a note", b"a note\n", b"\n", b"{}\n", b"{}"):
        path.write_bytes(whole + more)
        with pytest.raises(LedgerError, match="damaged"):
            Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "one")
        assert path.read_bytes() == whole + more


def test_a_line_that_is_missing_in_the_middle_is_noticed(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    with pytest.raises(LedgerError, match="its line 4 cannot be read"):
        Ledger.open(path).entries  # noqa: B018


def test_a_pipe_is_no_ledger_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match="not a regular file"):
        Ledger.open(tmp_path / "pipe")


def test_an_entry_knows_its_records_per_person_its_release_and_how_it_ended(path):
    clf = children.fit(path, 0.25)
    with pytest.raises(KeyboardInterrupt), Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "stopped"):
        raise KeyboardInterrupt
    *_, five, six, seven = Ledger.open(path).entries
    assert (five.records_per_person, six.records_per_person) == (2, 1)
    assert [e.how for e in (five, six, seven)] == ["finished", "finished", "stopped"]
    assert clf.booked_.number == 6
    assert clf.booked_.release == six.release


def test_sums_that_cannot_be_written_down_are_rounded_up(tmp_path):
    ledger, exact = Ledger.open(tmp_path / "l.json", epsilon=10), NOTHING
    for number in range(3, 400, 2):
        amount = Fraction(1, number**60)
        ledger.reserve(amount, NOTHING, "an odd number")
        exact += amount
    assert exact < ledger.spent[0] < exact + Fraction(1, 10**290)
    assert len(str(ledger.spent[0])) < 1000
    assert len(ledger.entries) == 199


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one page, where one may be mounted."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("needs the right to mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_books_all_that_was_granted(small_disk):
    fill_up(small_disk / "l.json")


def test_a_file_that_may_grow_no_more_books_all_that_was_granted(tmp_path):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, old[1]))
    try:
        fill_up(tmp_path / "l.json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def fill_up(path):
    ledger, granted = Ledger.open(path, epsilon=1000), 0
    with pytest.raises(OSError, match=r"ledger .* cannot be written: (No space|File too large)"):  # noqa: PT012
        while True:
            ledger.reserve(Fraction(1), NOTHING, "one")
            granted += 1
    assert granted > 5
    assert len(ledger.entries) == ledger.n_entries == granted
    assert path.read_bytes().endswith(b"\n")
    with pytest.raises(BudgetError):
        ledger.reserve(Fraction(1000), NOTHING, "too much")
