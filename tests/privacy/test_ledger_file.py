"""What is in a ledger's file: what it costs to use, what damage does to it, and what entries know."""

import hashlib
import multiprocessing
import os
import pickle
import random
import re
import resource
import shutil
import sqlite3
import subprocess
from contextlib import closing
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from discreet import DPGreedyRuleListClassifier, Ledger, SavedModel
from discreet.accounting import ledger_places as sqlite_ledger
from discreet.accounting import ledger_rows as rows
from discreet.accounting.costs import CONCENTRATED, PURE, UNREADABLE, Cost
from discreet.accounting.entries import Entry, Totals
from discreet.accounting.ledger import BudgetError, LedgerError

from ..support import ledger_children as children

NOTHING = Fraction(0)
PROCESSES = multiprocessing.get_context("forkserver")
SCHEMAS = {"schema-1": (Fraction(1, 20), NOTHING)}


@pytest.fixture
def path(tmp_path):
    """A ledger with nine tenths spent, in pieces, and with a schema."""
    path = tmp_path / "budget.db"
    ledger = Ledger.open(path, epsilon=1.0)
    ledger.reserve(Fraction(1, 20), NOTHING, "a schema", release="schema-1", pays_for=SCHEMAS).close()
    for i in range(17):
        ledger.reserve(Fraction(1, 20), NOTHING, f"number {i}", records=2).close()
    return path


# --- what was seen: a ledger that granted twice ----------------------------------------------------------------------------


def test_a_copy_that_is_appended_to_a_ledger_gives_nothing_back(tmp_path):
    path = tmp_path / "budget.db"
    children.fit(Ledger.open(path, epsilon=1.0).path, 0.1)
    old = path.read_bytes()
    children.fit(path, 0.9)
    with open(path, "ab") as file:
        file.write(old)
    with pytest.raises(LedgerError, match="damaged: its length"):
        children.fit(path, 0.9)


# --- damage ----------------------------------------------------------------------------------------------------------------


def spent_after(path):
    """What the ledger says is spent, by its row and by all of it; None where it refuses. Nobody is granted too much."""
    try:
        ledger = Ledger.open(path)
        found = ledger.spent[0]
        try:
            ledger.reserve(Fraction(3, 20), NOTHING, "too much")
            found = NOTHING  # it was granted
        except BudgetError:
            pass
        try:
            ledger.reserve(
                Fraction(1, 10), NOTHING, "with a schema", rests_on=SCHEMAS | {"schema-2": (Fraction(1, 20), NOTHING)}
            )
            found = NOTHING
        except BudgetError:
            pass
    except LedgerError as error:
        refused_in_one_line(error)
        return None
    try:
        assert sum(entry.epsilon for entry in ledger.entries) == found
    except LedgerError as error:
        refused_in_one_line(error)
    return found


def refused_in_one_line(error):
    assert "\n" not in str(error)
    assert "damaged" in str(error) or "not a ledger" in str(error) or "cannot be read or written" in str(error)


def damages(whole, rounds, seed):
    """Flipped bits, and bytes that were appended, cut off, swapped and overwritten."""
    chance, pages = random.Random(seed), len(whole) // 4096
    used = [i for i, byte in enumerate(whole) if byte]
    for sums in re.finditer(
        rb'"spent":\["9/10","0"\],"proved":\["9/10"', whole
    ):  # every bit of what is compared with the budget
        for at, bit in product(range(*sums.span()), range(8)):
            yield whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
    for _ in range(rounds):
        at = chance.choice(used)
        yield whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
    for _ in range(rounds // 10):
        a, b = chance.randrange(len(whole)), chance.randrange(len(whole))
        yield whole[:a]
        yield whole + whole[a:]
        yield whole[: min(a, b)] + whole[max(a, b) :]
        yield whole[:a] + whole[b : b + 40] + whole[a + 40 :]
        one, other = sorted(chance.sample(range(pages), 2))
        page = [whole[i * 4096 : (i + 1) * 4096] for i in range(pages)]
        page[one], page[other] = page[other], page[one]
        yield b"".join(page)


def undercounted(path, rounds, seed):
    """(damages that are refused at once, that change no sum and are at most noticed by ``show``, after which less is spent)."""
    whole, found = path.read_bytes(), [0, 0, 0]
    for damaged in damages(whole, rounds, seed):
        path.write_bytes(damaged)
        spent = spent_after(path)
        found[0 if spent is None else 1 if spent == Fraction(9, 10) else 2] += 1
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    return found


def test_damage_is_refused_or_changes_nothing(path):
    refused, harmless, less = undercounted(path, 150, os.urandom(8))
    assert less == 0
    assert refused > 40
    assert harmless > 0  # a database has bytes that mean nothing


@pytest.mark.slow
def test_5000_damages_are_refused_or_change_nothing(path):
    refused, harmless, less = undercounted(path, 3400, os.urandom(8))
    assert less == 0
    assert refused > 1500
    assert harmless > 0


def test_a_ledger_whose_sums_are_not_checked_is_caught(path, monkeypatch):
    """The twin: the row is believed, as a database would."""
    monkeypatch.setattr(rows, "read_state", believed)
    assert undercounted(path, 0, 1)[2] > 0


def believed(run, locked=""):
    """``read_state`` without checksums."""
    import json

    try:
        ((whole, totals, events, seal, _),) = run(
            f"SELECT whole, totals, events, seal, checksum FROM discreet_ledger{locked}"
        )
        return rows.State(rows._read_whole(whole), rows.Totals.from_dict(json.loads(totals)), events, seal)
    except rows.UNREADABLE:
        raise rows.DamagedError("its sums") from None


def changed(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE discreet_ledger SET totals = replace(totals, '"9/10"', '"1/10"')""",
        """UPDATE discreet_ledger SET whole = replace(whole, '"epsilon":"1"', '"epsilon":"9"')""",
        "UPDATE discreet_ledger SET events = events - 1",
        "DELETE FROM discreet_events WHERE number = (SELECT max(number) FROM discreet_events)",
        "DELETE FROM discreet_ledger",
        "INSERT INTO discreet_ledger SELECT 2, whole, totals, events, seal, checksum FROM discreet_ledger",
        "INSERT INTO discreet_events SELECT number + 1, event, seal FROM discreet_events ORDER BY number DESC LIMIT 1",
        """UPDATE discreet_events SET event = replace(event, '"finished"', '"stopped"')""",
        "CREATE TRIGGER t AFTER INSERT ON discreet_events BEGIN DELETE FROM discreet_events; END",
        "DROP TABLE discreet_schemas",
    ],
)
def test_a_row_that_was_changed_is_noticed_by_the_next_reservation(path, change):
    changed(path, change)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger.open(path).reserve(Fraction(1, 20), NOTHING, "one")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM discreet_events WHERE number = 5",
        """UPDATE discreet_events SET event = replace(event, '"1/20"', '"1/90"') WHERE number = 5""",
        "UPDATE discreet_events SET number = 500 WHERE number = 5",
        "UPDATE discreet_events SET event = (SELECT event FROM discreet_events WHERE number = 7) WHERE number = 5",
        "DELETE FROM discreet_schemas",
        "INSERT INTO discreet_schemas SELECT name, 3 FROM discreet_schemas",
    ],
)
def test_showing_a_ledger_checks_every_row(path, change):
    changed(path, change)
    with pytest.raises(LedgerError, match=r"is damaged: its (event|number|list)"):
        Ledger.open(path).entries  # noqa: B018


def test_schemas_are_believed_by_their_events_alone(path):
    changed(path, "INSERT INTO discreet_schemas SELECT name, 3 FROM discreet_schemas")
    with pytest.raises(LedgerError, match="list of schemas"):
        Ledger.open(path).reserve(Fraction(1, 20), NOTHING, "one", rests_on=SCHEMAS)
    changed(path, "DELETE FROM discreet_schemas")
    with pytest.raises(BudgetError):  # what is not found is booked once more: too much, never too little
        Ledger.open(path).reserve(Fraction(1, 10), NOTHING, "one", rests_on=SCHEMAS)


@pytest.mark.parametrize("cost", [Cost(PURE, Fraction(1)), Cost(CONCENTRATED, Fraction(1), Fraction(1, 10**6))])
def test_a_rho_that_does_not_follow_from_the_costs_is_not_believed(cost):
    one = Entry("one", *cost.plain, "2024-05-06", *cost.plain, None, None, None, 1, "r", costs=(cost,), rho=cost.rho)
    event = rows.reserved(one, 1)
    assert rows.read_event(rows._text(event)) == one
    for rho in (NOTHING, cost.rho / 2, cost.rho * 2):
        with pytest.raises(UNREADABLE):
            rows.read_event(rows._text(event | {"rho": rho}))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\n", b"{", b"notes\n", b"\0" * 100, b"[[[[", b"SQLite format 3\0" + b"\0" * 5000),
        b'{"format":"discreet ledger","version":3,"name":"x","epsilon":"1"}\n',  # of an earlier development version
    ],
)
def test_what_is_no_ledger_is_never_read_as_an_empty_one(tmp_path, content):
    path = tmp_path / "budget.db"
    path.write_bytes(content)
    for epsilon in (None, 1.0):
        with pytest.raises(LedgerError, match=r"not a ledger|damaged"):
            Ledger.open(path, epsilon)
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_no_ledger(tmp_path):
    changed(tmp_path / "other.db", "CREATE TABLE people (name TEXT)")
    with pytest.raises(LedgerError, match="its tables"):
        Ledger.open(tmp_path / "other.db", epsilon=1.0)


def test_a_pipe_is_no_ledger_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match="not a regular file"):
        Ledger.open(tmp_path / "pipe")


# --- what SQLite needs -----------------------------------------------------------------------------------------------------


def test_several_names_are_refused(path):
    """A journal goes by the name of the file: who opens it by the other one would not see what a killed process left."""
    other = path.with_name("link.db")
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(LedgerError, match="several names"):
            children.fit(name, 0.1)
    other.unlink()
    soft = path.with_name("soft.db")
    soft.symlink_to(path)
    Ledger.open(soft).reserve(Fraction(1, 20), NOTHING, "by a symbolic link, which is followed")
    assert Ledger.open(path).spent[0] == Fraction(19, 20)


def asked_as_nobody(work, path):
    pipe, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=children.as_nobody, args=(partial(work, path), theirs))
    process.start()
    theirs.close()
    assert pipe.poll(60)
    found = pipe.recv()
    process.join(60)
    return found


@pytest.fixture
def open_folder(path):
    """As far as a user without rights must come."""
    for folder in path.parents:
        if folder == Path("/tmp"):
            break
        folder.chmod(0o755)
    path.chmod(0o644)
    return path


@pytest.mark.skipif(
    not str(Path(os.environ.get("TMPDIR", "/tmp"))).startswith("/tmp"), reason="folders above are not ours"
)
def test_a_read_only_ledger_is_shown_and_books_nothing(open_folder):
    path = open_folder
    if os.geteuid() != 0:
        path.chmod(0o444)
        path.parent.chmod(0o555)
    assert asked_as_nobody(children.count_entries, path) == ("done", 18)
    kind, said = asked_as_nobody(children.reserve_once, path)
    assert kind == "OutOfReachError"
    assert "is read-only, so nothing can be booked" in said
    path.with_name(f"{path.name}-journal").write_bytes(b"x" * 100) if os.geteuid() == 0 else path.parent.chmod(0o755)
    if os.geteuid() == 0:
        kind, said = asked_as_nobody(children.count_entries, path)
        assert kind == "OutOfReachError"
        assert "was killed, and left budget.db-journal" in said
    path.parent.chmod(0o755)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused(path, monkeypatch, tmp_path, kind):
    mounts = tmp_path / "mounts"
    here = str(tmp_path).replace(" ", "\\040")
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/home {here} {kind} rw 0 0\ntmpfs {here}/disk tmpfs rw 0 0\n")
    monkeypatch.setattr(sqlite_ledger, "MOUNTS", mounts)
    for refused in (
        lambda: Ledger.open(path).reserve(Fraction(1, 20), NOTHING, "one"),
        lambda: Ledger.open(tmp_path / "new.db", 1),
    ):
        with pytest.raises(LedgerError, match=rf"network file system \({kind}\).*PostgreSQL"):
            refused()
    assert Ledger.open(path).spent[0] == Fraction(9, 10)  # it may be read
    (tmp_path / "disk").mkdir()
    Ledger.open(tmp_path / "disk" / "new.db", 1)


def test_a_ledger_keeps_its_mode_and_nothing_stays_beside_it(path):
    path.chmod(0o640)
    Ledger.open(path).reserve(Fraction(1, 20), NOTHING, "one").close()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in path.parent.iterdir()] == ["budget.db"]


def test_names_of_files_may_hold_anything(tmp_path):
    for name in ("a b?mode=ro#x%41&.db", "ü\udce4.db", "'\"\n.db"):
        Ledger.open(tmp_path / name, 1.0).reserve(Fraction(1), NOTHING, "one")
        assert Ledger.open(tmp_path / name).remaining == (0, 0)


# --- what it costs ---------------------------------------------------------------------------------------------------------


def made(path, entries):
    """A ledger with so many entries of epsilon 1, and a schema in the first."""
    Ledger.open(path, epsilon=10.0**7)
    amounts, one_cost = (
        (Fraction(1), NOTHING, "2024-05-06T07:08:09+00:00", Fraction(1), NOTHING),
        Cost(PURE, Fraction(1)),
    )
    one = Entry("one of many", *amounts, records_per_person=1, costs=(one_cost,), rho=one_cost.rho)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        run = lambda sql, *given: connection.execute(sql, given).fetchall()  # noqa: E731
        connection.execute("BEGIN")
        state = rows.read_state(run)
        for number in range(1, entries + 1):
            schema = {"schema-1": ["1", "0"]} if number == 1 else {}
            event = rows.reserved(one, number) | {
                "release": f"r{number}",
                "schemas": schema,
            }
            text = rows._text(event)
            seal = rows._digest(state.seal, str(number), text)
            state = rows.State(state.whole, state.totals, number, seal)
            run("INSERT INTO discreet_events VALUES (?, ?, ?)", number, text, seal)
            for name in schema:
                run("INSERT INTO discreet_schemas VALUES (?, ?)", rows._key(name), number)
        so_far = Totals(entries, Fraction(entries), NOTHING, Fraction(entries), NOTHING, 0, entries * one_cost.rho, 1)
        state = rows.State(state.whole, so_far, entries, state.seal)
        run("UPDATE discreet_ledger SET whole = ?, totals = ?, events = ?, seal = ?, checksum = ?", *state.row())
        connection.execute("COMMIT")
    return path


def cost(path, monkeypatch):
    """Steps of SQLite's virtual machine, in thousands, of a reservation with a schema, its end, and a look at what is left."""
    ledger, connect, steps = Ledger.open(path), sqlite3.connect, []

    def counted(*given, **more):
        connection = connect(*given, **more)
        connection.set_progress_handler(lambda: steps.append(1), 10)
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", counted)
        ledger.reserve(Fraction(1), NOTHING, "one more", rests_on={"schema-1": (Fraction(1), NOTHING)}).close()
        assert ledger.remaining[0] < 10**7
    return len(steps)


def test_a_reservation_costs_the_same_on_a_long_ledger(tmp_path, monkeypatch):
    few = cost(made(tmp_path / "few.db", 100), monkeypatch)
    assert few > 20
    assert cost(made(tmp_path / "many.db", 10_000), monkeypatch) <= few * 1.1


@pytest.mark.slow
def test_a_reservation_costs_the_same_on_a_ledger_of_a_million_entries(tmp_path, monkeypatch):
    few = cost(made(tmp_path / "few.db", 100), monkeypatch)
    path = made(tmp_path / "many.db", 10**6)
    assert cost(path, monkeypatch) <= few * 1.1
    assert Ledger.open(path).n_entries == 10**6 + 1


# --- a full disk -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few pages, where one may be mounted."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("needs the right to mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_books_all_that_was_granted(small_disk):
    fill_up(small_disk / "l.db")


def test_a_file_that_may_grow_no_more_books_all_that_was_granted(tmp_path):
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    Ledger.open(tmp_path / "l.db", epsilon=1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, old[1]))
    try:
        fill_up(tmp_path / "l.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def fill_up(path):
    ledger, granted = Ledger.open(path, epsilon=1000), 0
    with pytest.raises(LedgerError, match=r"ledger .* cannot be (written: the disk is full|read or written)"):  # noqa: PT012
        while True:
            ledger.reserve(Fraction(1), NOTHING, "one")
            granted += 1
    assert granted > 5
    assert len(ledger.entries) == ledger.n_entries == granted
    assert ledger.spent[0] == granted
    with pytest.raises(BudgetError):
        ledger.reserve(Fraction(1000), NOTHING, "too much")


# --- what entries know -----------------------------------------------------------------------------------------------------


def test_an_entry_knows_its_records_per_person_its_release_and_how_it_ended(path):
    clf = children.fit(path, 0.05)
    with pytest.raises(KeyboardInterrupt), Ledger.open(path).reserve(Fraction(1, 20), NOTHING, "stopped"):
        raise KeyboardInterrupt
    *_, five, six, seven = Ledger.open(path).entries
    assert (five.records_per_person, six.records_per_person) == (2, 1)
    assert [e.how for e in (five, six, seven)] == ["finished", "finished", "stopped"]
    assert clf.booked_.number == 19
    assert clf.booked_.release == six.release


def test_sums_that_cannot_be_written_down_are_rounded_up(tmp_path):
    ledger, exact = Ledger.open(tmp_path / "l.db", epsilon=10), NOTHING
    for number in range(3, 200, 2):
        amount = Fraction(1, number**60)
        ledger.reserve(amount, NOTHING, "an odd number")
        exact += amount
    assert exact < ledger.spent[0] < exact + Fraction(1, 10**290)
    assert len(str(ledger.spent[0])) < 1000
    assert len(ledger.entries) == 99


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_an_entry_knows_the_files_of_its_model(tmp_path, kind):
    ledger = Ledger(3.0) if kind == "memory" else Ledger.open(tmp_path / "l.db", 3.0)
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
    ledger = Ledger.open(tmp_path / "l.db", 3.0)
    saved = SavedModel.of(DPGreedyRuleListClassifier(epsilon=0.5, ledger=ledger).fit(children.X, children.Y))
    (tmp_path / "l.db").unlink()
    with pytest.warns(RuntimeWarning, match="is gone. It does not know the model's file"):
        saved.save(tmp_path / "a.json")
    assert SavedModel.load(tmp_path / "a.json") == saved


def test_a_ledger_in_a_file_has_the_rho_and_the_records_that_it_was_made_with(tmp_path):
    path = tmp_path / "l.db"
    made = Ledger.open(path, 3.0, 1e-6, rho="auto", records_per_person=2).snapshot()
    assert made.rho == Ledger(3.0, 1e-6, rho="auto").snapshot().rho == Ledger.open(path).snapshot().rho
    Ledger.open(path, 3.0, 1e-6, rho="auto", records_per_person=2)
    for other in ({"rho": 0.1}, {"records_per_person": 3}):
        with pytest.raises(LedgerError, match="open it without giving"):
            Ledger.open(path, 3.0, 1e-6, **other)
    with pytest.raises(BudgetError, match="up to 2 records"):
        children.fit(path, 0.1)
