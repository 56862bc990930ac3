"""``discreet ledger`` and what other commands say of it: budgets in zCDP, files of models, exports, room, and no proof."""

import csv
import hashlib
import io
import json

import pytest

from discreet import Ledger, SavedModel

from .test_practitioner import desk as desk
from .test_practitioner import flat, run

FIT = ("fit", "list", "hospital.csv", "--schema", "schema.toml", "--epsilon", "0.1", "--out", "model.json", "--force")
CREATE = ("ledger", "create", "ledger.db", "--epsilon", "3", "--delta", "1e-6")


def test_many_small_models_fit_into_a_ledger_that_counts_in_zcdp(desk):
    assert "rho 0.1851" in run(*CREATE, "--rho", "auto")
    for _ in range(3):
        said = flat(run(*FIT, "--ledger", "ledger.db", "--report", "report.html"))
    assert "rho 0.1819 of 0.1851 left in zCDP, or epsilon 2.7 of 3 by addition" in said
    assert "; 0.3 by addition." in flat(run("ledger", "show", "ledger.db"))
    said = flat(run("show", "model.json", "--promise"))
    assert "Its ledger, when the model was saved: rho 0.1819 of 0.1851 left in zCDP" in said
    assert "it has rho = 0.001063. At the ledger's delta of 1e-06 its epsilon is 0.1." in said
    page = (desk / "report.html").read_text()
    assert "&rho; 0.182" in page
    assert "of &rho; = 0.1851 was left" in page
    shown = flat(run("ledger", "show", "ledger.db"))
    assert "rho 0.1819 of 0.1851 left" in shown
    assert SavedModel.load("model.json").privacy.concentrated.delta == 1e-6


def test_a_ledger_shows_the_file_of_a_model(desk):
    run(*CREATE)
    run(*FIT, "--ledger", "ledger.db")
    checksum = hashlib.sha256((desk / "model.json").read_bytes()).hexdigest()
    shown = json.loads(run("ledger", "show", "ledger.db", "--json"))
    assert shown["entries"][0]["models"] == [checksum]
    assert shown["entries"][0]["costs"] == [["bounded range", "9/100", "0", 1], ["discrete laplace", "1/100", "0", 1]]
    assert shown["total"][1] == 1e-6
    assert 0.09 < shown["total"][0] <= 0.1


def test_exports_for_a_table_and_for_dp_accounting(desk):
    run(*CREATE)
    run(*FIT, "--ledger", "ledger.db")
    (row,) = csv.DictReader(io.StringIO(run("ledger", "export", "ledger.db")))
    assert (row["epsilon"], row["records_per_person"], row["ended"]) == ("0.1", "1", "finished")
    (same,) = json.loads(run("ledger", "export", "ledger.db", "--format", "json"))
    assert same["epsilon"] == "1/10"
    run("ledger", "export", "ledger.db", "--format", "events", "--out", "events.json")
    events = json.loads((desk / "events.json").read_text())
    assert [e["event"] for e in events["PLDAccountant"]] == ["DiscreteLaplaceDpEvent"] * 2
    assert [e["event"] for e in events["RdpAccountant"]] == ["ZCDpEvent"] * 2
    assert "exists" in run("ledger", "export", "ledger.db", "--out", "events.json", code=2)
    assert "ledger" in run("ledger", "export", "ledger.db", "--out", "ledger.db", "--force", code=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--rho", "auto"), "needs an epsilon and a delta"),
        (("--rho", "much"), "must be a number, or auto"),
        (("--delta", "1e-6", "--rho", "9"), "rho may be up to"),
    ],
)
def test_a_ledger_that_cannot_be_is_not_made(desk, given, said):
    result = run("ledger", "create", "other.json", "--epsilon", "3", *given, code=2 if "much" in given else 1)
    assert said in flat(result)
    assert not (desk / "other.json").exists()


def test_a_ledger_for_people_with_several_records_says_so(desk):
    run("ledger", "create", "ledger.db", "--epsilon", "3", "--records-per-person", "2")
    said = flat(run(*FIT, "--ledger", "ledger.db", code=3))
    assert "people with up to 2 records" in said
    assert "Nothing was learned" in said
    run(*FIT, "--ledger", "ledger.db", "--records-per-person", "2")
    assert "people with up to 2 records" in flat(run("ledger", "show", "ledger.db"))


def test_plan_says_how_many_models_a_ledger_has_room_for(desk):
    run(*CREATE, "--rho", "auto")
    plan = ("--schema", "schema.toml", "--records", "1000", "--ledger", "ledger.db")
    shown = flat(run("plan", "list", *plan))
    assert "more lists in" in shown
    assert "17,418" in shown
    for more in (("list",), ("tree",), ("tree", "--max-depth", "2")):
        room = json.loads(run("plan", *more, *plan, "--json"))["ledger has room for"]
        assert (room["0.1"], room["1.0"], room["3.0"], room["10.0"]) == (174, 3, 1, 0)
    run(*FIT, "--ledger", "ledger.db")
    assert json.loads(run("plan", "list", *plan, "--json"))["ledger has room for"]["0.1"] == 173
    assert "more lists" not in run("plan", "list", "--schema", "schema.toml", "--records", "1000")


def test_from_a_release_that_proves_nothing_on_everything_says_that_no_total_is_promised(desk):
    run("ledger", "create", "ledger.db", "--epsilon", "3", "--delta", "1e-6", "--allow-unproved")
    # Without the columns that have SECRET among their values: a draw from an inferred schema may name them.
    inferred = (*FIT[:3], "--infer-schema", "--target", "died", "-x", "patient", "-x", "ward", *FIT[5:])
    run(*inferred, "--ledger", "ledger.db")
    said = flat(run(*FIT, "--ledger", "ledger.db", "--report", "report.html"))
    no_total = "about 1 of the releases, nor about all of them together: this ledger can promise no total."
    assert no_total in said
    assert no_total in flat(run("ledger", "show", "ledger.db"))
    assert "<dd>no total<small>can be given" in (desk / "report.html").read_text()
    assert json.loads(run("ledger", "show", "ledger.db", "--json"))["total"] is None
    assert Ledger.open("ledger.db").total() is None
