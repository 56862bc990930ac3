"""Ledgers of version 1, of discreet 0.5: read, brought up to date, and never losing an entry on the way."""

import json
import os
from fractions import Fraction

import pytest

from discreet import Boolean, DPGreedyRuleListClassifier, Ledger, Schema
from discreet.privacy import ledger_lines
from discreet.privacy.ledger import BudgetError, LedgerError

from ..support import ledger_children as children
from .test_ledger_processes import Child, files

CLOSED = {
    "what": "DPGreedyRuleListClassifier, mass",
    "epsilon": "1/4",
    "delta": "0",
    "when": "2024-05-06T07:08:09+00:00",
    "proved_epsilon": "1/4",
    "proved_delta": "0",
    "spent_epsilon": "1/5",
    "spent_delta": "0",
}
UNPROVED = CLOSED | {"proved_epsilon": None, "proved_delta": None, "spent_epsilon": None, "spent_delta": None}
CUTS = CLOSED | {"what": "cut points cuts-0123abcd of age, height", "epsilon": "1/8", "proved_epsilon": "1/8"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.json"
    data = {"format": "discreet ledger", "version": 1, "epsilon": "1", "delta": "0"}
    path.write_text(json.dumps(data | {"entries": [CLOSED, UNPROVED, CUTS]}, indent=1))
    return path


def test_an_older_ledger_is_read_without_being_changed(path):
    before = path.read_bytes()
    ledger = Ledger.open(path, epsilon=1.0)
    assert [e.what for e in ledger.entries] == [CLOSED["what"], UNPROVED["what"], CUTS["what"]]
    assert [e.how for e in ledger.entries] == ["ended", None, "ended"]
    assert ledger.remaining == (Fraction(3, 8), 0)
    assert ledger.allow_unproved
    ledger.check(Fraction(3, 8), Fraction(0))
    with pytest.raises(BudgetError):
        ledger.check(Fraction(1, 2), Fraction(0))
    assert path.read_bytes() == before
    assert files(path) == ["budget.json"]


def test_an_older_ledger_is_brought_up_to_date_by_the_first_reservation(path):
    path.chmod(0o640)
    before = Ledger.open(path).entries
    waiting = Ledger.open(path)  # opened before, and used after
    Ledger.open(path).reserve(Fraction(1, 8), Fraction(0), "new").close()
    waiting.reserve(Fraction(1, 8), Fraction(0), "newer", proved=None)  # it took such releases, and goes on
    assert path.read_bytes().startswith(ledger_lines.MARK)
    assert path.stat().st_mode & 0o777 == 0o640
    assert files(path) == ["budget.json"]
    entries = Ledger.open(path).entries
    assert entries[:3] == before
    assert [e.what for e in entries[3:]] == ["new", "newer"]
    assert Ledger.open(path).remaining == (Fraction(1, 8), 0)


def test_an_older_ledger_with_several_names_is_refused(path):
    os.link(path, path.with_name("other.json"))
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="several names"):
        children.fit(path, 0.125)
    assert path.read_bytes() == before


def test_an_upgrade_that_is_killed_leaves_the_older_ledger(path):
    before, entries = path.read_bytes(), Ledger.open(path).entries
    child = Child(children.stop_inside_the_upgrade, path, 0.125)
    assert child.hear() == "inside"
    child.kill()
    assert path.read_bytes() == before
    children.fit(path, 0.125)
    assert Ledger.open(path).entries[:3] == entries
    assert Ledger.open(path).remaining == (Fraction(1, 4), 0)


def test_several_at_once_bring_it_up_to_date_once(path):
    running = [Child(children.reserve_for_ever, path, Fraction(1, 80)) for _ in range(4)]
    said = []
    for child in running:
        while (word := child.hear()) is not None:
            said.append(word)
    for child in running:
        child.kill()
    assert len(said) == 30
    assert len(Ledger.open(path).entries) == 33
    assert Ledger.open(path).remaining == (0, 0)


def test_an_upgrade_onto_a_full_disk_leaves_the_older_ledger(path):
    before = path.read_bytes()
    child = Child(children.fit_with_a_full_disk, path, 0.125, 500)
    assert child.hear() == ("OSError", 0)
    assert path.read_bytes() == before


def test_cut_points_on_an_older_ledger_are_known(path):
    for first in (True, False):  # of version 1, and brought up to date
        schema = Schema([Boolean("a"), Boolean("b")], classes=[0, 1], released=(("cuts-0123abcd", 0.125),))
        ledger = Ledger.open(path)
        DPGreedyRuleListClassifier(epsilon=0.125, schema=schema, ledger=ledger).fit(children.X, children.Y)
        assert ledger.entries[-1].epsilon == Fraction(1, 8), first
