"""Ledgers of versions 1 (discreet 0.5) and 2: read, brought up to date, and never losing an entry on the way."""

import hashlib
import json
import os
import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Boolean, DPGreedyRuleListClassifier, Ledger, SavedModel, Schema
from discreet.privacy import ledger_lines
from discreet.privacy.costs import Cost
from discreet.privacy.entries import Totals
from discreet.privacy.ledger import UNREADABLE, BudgetError, LedgerError
from discreet.privacy.ledger_version_1 import read_version_1

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
    assert child.hear() == ("OSError", 1)
    assert path.read_bytes() == before


def test_cut_points_on_an_older_ledger_are_known(path):
    for first in (True, False):  # of version 1, and brought up to date
        schema = Schema([Boolean("a"), Boolean("b")], classes=[0, 1], released=(("cuts-0123abcd", 0.125),))
        ledger = Ledger.open(path)
        DPGreedyRuleListClassifier(epsilon=0.125, schema=schema, ledger=ledger).fit(children.X, children.Y)
        assert ledger.entries[-1].epsilon == Fraction(1, 8), first


# --- version 2: lines without costs ----------------------------------------------------------------------------------------


@pytest.fixture
def of_version_2(tmp_path):
    """As discreet wrote it before there were costs: a pair, one that was stopped, cut points, and one that proves nothing."""
    path = tmp_path / "budget.json"
    path.write_bytes((Path(children.__file__).parent / "ledger_of_version_2.json").read_bytes())
    return path


def test_a_ledger_of_version_2_is_read_as_it_is_with_what_its_pairs_cost(of_version_2):
    before = of_version_2.read_bytes()
    ledger = Ledger.open(of_version_2, 3.0, 1e-3)
    first, second, cuts, seeded = ledger.entries
    assert (first.epsilon, first.proved_epsilon, first.records_per_person, first.how) == (
        Fraction(1, 2),
        Fraction(1, 2),
        2,
        "finished",
    )
    assert first.costs == (Cost("pure", Fraction(1, 2)),)
    assert second.costs == (Cost("approximate", Fraction(1, 4), Fraction(1, 50000)),)
    assert (second.how, cuts.cut_points) == ("stopped", (("cuts-0123abcd", Fraction(1, 8)),))
    assert seeded.costs == (Cost("nothing proved"),)
    assert ledger.snapshot().totals == Totals.of(ledger.entries)
    assert ledger.snapshot().totals.rho == sum(entry.rho for entry in ledger.entries) > 0
    assert ledger.remaining == (Fraction(43, 24), Fraction(49, 50000))
    assert ledger.snapshot().rho is None
    assert of_version_2.read_bytes() == before
    assert files(of_version_2) == ["budget.json"]


def test_a_ledger_of_version_2_goes_on_in_place_and_keeps_all_its_names(of_version_2):
    before, old = of_version_2.read_bytes(), Ledger.open(of_version_2).entries
    other = of_version_2.with_name("other.json")
    os.link(of_version_2, other)
    waiting = Ledger.open(other)
    clf = children.fit(of_version_2, 0.25)
    waiting.reserve(Fraction(1, 8), Fraction(0), "rests on cuts", rests_on={"cuts-0123abcd": Fraction(1, 8)})
    assert of_version_2.read_bytes().startswith(before), "nothing is rewritten"
    entries = Ledger.open(other).entries
    assert entries[:4] == old
    assert [e.epsilon for e in entries[4:]] == [Fraction(1, 4), Fraction(1, 8)]
    assert Ledger.open(other).snapshot().totals == Totals.of(entries)
    assert clf.booked_.number == 5


def test_every_line_that_is_written_now_is_unknown_to_version_2(of_version_2, tmp_path):
    """Its reader compared the items of a line with these two sets, and the first bytes of a file with its own; or refused."""
    known = ledger_lines.RESERVE, ledger_lines.END
    assert "version" not in known[0] | known[1]
    old = len(of_version_2.read_bytes().splitlines())
    SavedModel.of(children.fit(of_version_2, 0.25)).save(tmp_path / "model.json")
    added = of_version_2.read_bytes().splitlines()[old:]
    assert [json.loads(line)["event"] for line in added] == ["reserve", "end", "model"]
    for line in added:
        assert set(json.loads(line)) - {"check"} not in known
    new = tmp_path / "new.json"
    Ledger.open(new, epsilon=1.0)
    assert not new.read_bytes().startswith(ledger_lines.OLDER_MARK)
    with pytest.raises(UNREADABLE):
        read_version_1(new.read_bytes() + b"{}\n")


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_line_after_those_of_version_2_is_cut_off(of_version_2, cut):
    before = Ledger.open(of_version_2).entries
    Ledger.open(of_version_2).reserve(Fraction(1, 8), Fraction(0), "torn")
    whole = of_version_2.read_bytes()
    of_version_2.write_bytes(whole[:-cut] if cut > 1 else whole[:-1])
    found = Ledger.open(of_version_2)
    assert found.entries[:4] == before
    assert len(found.entries) == (5 if cut == 1 else 4), "complete but for its line feed, it counts"
    found.reserve(Fraction(1, 8), Fraction(0), "after that")
    assert [e.what for e in Ledger.open(of_version_2).entries[4:]] == ["torn"] * (cut == 1) + ["after that"]


def test_several_at_once_go_on_with_a_ledger_of_version_2(of_version_2):
    running = [Child(children.reserve_for_ever, of_version_2, Fraction(43, 24 * 30)) for _ in range(4)]
    said = []
    for child in running:
        while (word := child.hear()) is not None:
            said.append(word)
    for child in running:
        child.kill()
    assert len(said) == 30
    assert len(Ledger.open(of_version_2).entries) == 34
    assert Ledger.open(of_version_2).remaining[0] == 0


def test_damage_in_a_line_of_version_2_is_noticed_before_it_is_summed(of_version_2):
    whole = of_version_2.read_bytes()
    at = whole.index(b'"1/4"') + 1
    of_version_2.write_bytes(whole[:at] + b"2" + whole[at + 1 :])
    with pytest.raises(LedgerError, match="damaged"):
        Ledger.open(of_version_2).reserve(Fraction(1, 8), Fraction(0), "one")


def test_a_ledger_of_version_1_keeps_its_costs_through_the_upgrade(path):
    before = Ledger.open(path).snapshot().totals
    children.fit(path, 0.125)
    entries = Ledger.open(path).entries
    assert Totals.of(entries[:3]) == before
    assert [e.costs[0].kind for e in entries[:3]] == ["pure", "nothing proved", "pure"]
    assert {cost.kind for cost in entries[3].costs} == {"pure", "discrete laplace"}


def test_a_delta_above_one_on_an_older_ledger_is_brought_up_to_date(path):
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"entries": [CLOSED | {"proved_delta": "2"}]}))
    with pytest.raises(BudgetError):
        Ledger.open(path).reserve(Fraction(1, 8), Fraction(0), "new")
    assert path.read_bytes().startswith(ledger_lines.MARK)
    assert Ledger.open(path).entries[0].costs[0].delta == 1  # which promises as little
    assert Ledger.open(path).proved[1] >= 1


# --- which model an entry belongs to ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_an_entry_knows_the_files_of_its_model(tmp_path, kind):
    ledger = Ledger(3.0) if kind == "memory" else Ledger.open(tmp_path / "l.json", 3.0)
    clf = DPGreedyRuleListClassifier(epsilon=0.5, ledger=ledger)
    for name in ("a.json", "b.json"):
        saved = SavedModel.of(clf.fit(children.X, children.Y))
        saved.save(tmp_path / name)
        saved.save(tmp_path / f"again-{name}")
    sums = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("a.json", "b.json")]
    assert [entry.models for entry in ledger.entries] == [(sums[0],) * 2, (sums[1],) * 2]
    loaded = SavedModel.load(tmp_path / "a.json")
    loaded.save(tmp_path / "c.json")  # it is on no ledger that this process knows
    assert pickle.loads(pickle.dumps(saved)) == saved
    assert len(ledger.entries[1].models) == 2
    assert ledger.remaining == (2, 0)


def test_a_model_is_saved_though_its_ledger_is_gone(tmp_path):
    ledger = Ledger.open(tmp_path / "l.json", 3.0)
    saved = SavedModel.of(DPGreedyRuleListClassifier(epsilon=0.5, ledger=ledger).fit(children.X, children.Y))
    (tmp_path / "l.json").unlink()
    with pytest.warns(RuntimeWarning, match="is gone. It does not know the model's file"):
        saved.save(tmp_path / "a.json")
    assert SavedModel.load(tmp_path / "a.json") == saved


def test_a_ledger_in_a_file_has_the_rho_and_the_records_that_it_was_made_with(tmp_path):
    path = tmp_path / "l.json"
    made = Ledger.open(path, 3.0, 1e-6, rho="auto", records_per_person=2).snapshot()
    assert made.rho == Ledger(3.0, 1e-6, rho="auto").snapshot().rho == Ledger.open(path).snapshot().rho
    Ledger.open(path, 3.0, 1e-6, rho="auto", records_per_person=2)
    for other in ({"rho": 0.1}, {"records_per_person": 3}):
        with pytest.raises(LedgerError, match="open it without giving"):
            Ledger.open(path, 3.0, 1e-6, **other)
    with pytest.raises(BudgetError, match="up to 2 records"):
        children.fit(path, 0.1)
