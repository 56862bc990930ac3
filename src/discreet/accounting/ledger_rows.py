"""What a stored ledger consists of: three tables, the same ones on SQLite and on PostgreSQL.

    discreet_ledger   one row: what the ledger is, the sums over all entries, how many events there are, and the last one's seal
    discreet_events   a row for each event, never changed: a reservation, its end, or a file that its model was written to
    discreet_cuts     which events pay for cut points of a name: an index, the amounts are in the events

A database does not notice a flipped bit in what it holds. So the seal of an event is a SHA-256 of its text, its number and the
seal before it, beginning with what the ledger is; and the ledger's row has a checksum of its own. A reservation looks at that
row and at the last event, and costs the same however many there are; ``read_entries`` checks everything.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .._utils.parameters import read_json
from .costs import LARGEST, UNREADABLE, Cost, read_amount, read_pair
from .entries import FINISHED, STOPPED, Entry, Totals, Whole, read_checksum, read_count, read_name

FORMAT, VERSION = "discreet ledger", 4
NEIGHBOURS = "add or remove"  # a person's records
TABLES = {
    "discreet_ledger": "CREATE TABLE discreet_ledger (id INTEGER PRIMARY KEY, whole TEXT NOT NULL, totals TEXT NOT NULL, "
    "events INTEGER NOT NULL, seal TEXT NOT NULL, checksum TEXT NOT NULL)",
    "discreet_events": "CREATE TABLE discreet_events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, seal TEXT NOT NULL)",
    "discreet_cuts": "CREATE TABLE discreet_cuts (name TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (name, event))",
}
LONGEST_EVENT = 1 << 24
Run = Callable[..., list[tuple[Any, ...]]]  # a statement and its parameters: the rows


class DamagedError(ValueError):
    """Rows that cannot be as they were written."""


class LedgerError(ValueError):
    """A ledger that cannot be used."""


@dataclass(frozen=True)
class State:
    """The ledger's row."""

    whole: Whole
    totals: Totals
    events: int
    seal: str  # of the last event

    def row(self) -> tuple[str, str, int, str, str]:
        """As it is kept."""
        whole, totals = _whole_text(self.whole), _text(self.totals.to_dict())
        return whole, totals, self.events, self.seal, _digest(whole, totals, str(self.events), self.seal)


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("ascii")).hexdigest()  # in JSON, no part has a line feed


def create(run: Run, whole: Whole) -> None:
    """Make the tables of a new ledger."""
    for statement in TABLES.values():
        run(statement)
    state = State(whole, Totals(), 0, _digest(_whole_text(whole)))
    run("INSERT INTO discreet_ledger VALUES (1, ?, ?, ?, ?, ?)", *state.row())


def read_state(run: Run, locked: str = "") -> State:
    """The ledger's row, once it and the last event are checked. ``locked`` goes behind the SELECT."""
    rows = run(f"SELECT whole, totals, events, seal, checksum FROM discreet_ledger{locked}")
    try:
        ((whole, totals, events, seal, checksum),) = rows
        if checksum != _digest(whole, totals, str(read_count(events)), seal):
            raise ValueError
        state = State(_read_whole(whole), Totals.from_dict(read_json(totals)), events, seal)
    except UNREADABLE:
        raise DamagedError("its sums") from None
    if (_checked(run, state, events)[1] if events else _digest(_whole_text(state.whole))) != seal:
        raise DamagedError("its last event")
    if run("SELECT number FROM discreet_events WHERE number > ? LIMIT 1", events):
        raise DamagedError("its number of events")
    return state


def _checked(run: Run, state: State, number: int) -> tuple[str, str]:
    """The text and the seal of an event, compared with the event before it."""
    rows = run(
        "SELECT number, event, seal FROM discreet_events WHERE number IN (?, ?) ORDER BY number", number - 1, number
    )
    try:
        before = _digest(_whole_text(state.whole)) if number == 1 else rows.pop(0)[2]
        ((found, event, seal),) = rows
        if found != number or seal != _digest(before, str(number), event):
            raise ValueError
    except (*UNREADABLE, IndexError):
        raise DamagedError(f"its event {number}") from None
    return event, seal


def append(run: Run, state: State, event: dict[str, Any], totals: Totals) -> State:
    """Add an event, and the sums after it."""
    number, text = state.events + 1, _text(event)
    try:
        read_event(text)
        if len(text) > LONGEST_EVENT:
            raise ValueError
    except UNREADABLE:
        raise LedgerError("this entry could be written into the ledger, but not be read again") from None
    after = State(state.whole, totals, number, _digest(state.seal, str(number), text))
    run("INSERT INTO discreet_events VALUES (?, ?, ?)", number, text, after.seal)
    for name in event.get("cut_points", {}):
        run("INSERT INTO discreet_cuts VALUES (?, ?)", _key(name), number)
    run("UPDATE discreet_ledger SET whole = ?, totals = ?, events = ?, seal = ?, checksum = ?", *after.row())
    return after


def _key(name: str) -> str:
    """Of cut points: names may hold anything."""
    return _digest(_text(name))


def known_in(run: Run, state: State, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """What was booked for cut points of these names."""
    known: dict[str, Fraction] = {}
    for name in names:
        for (number,) in run("SELECT event FROM discreet_cuts WHERE name = ? ORDER BY event", _key(name)):
            if not isinstance(number, int) or not 1 <= number <= state.events:
                raise DamagedError("its list of cut points")
            entry = read_event(_checked(run, state, number)[0])
            paid = dict(entry.cut_points).get(name) if isinstance(entry, Entry) else None
            if paid is None:
                raise DamagedError("its list of cut points")
            known[name] = known.get(name, Fraction(0)) + paid
    return known


def read_entries(run: Run) -> tuple[State, list[Entry]]:
    """All entries, once every event, every seal, every sum and the list of cut points are checked."""
    state, entries, totals, cuts = read_state(run), list[Entry](), Totals(), set[tuple[str, int]]()
    seal = _digest(_whole_text(state.whole))
    rows = run("SELECT number, event, seal FROM discreet_events ORDER BY number")
    for expected, (number, text, sealed) in enumerate(rows, 1):
        try:
            seal = _digest(seal, str(expected), text)
            if number != expected or seal != sealed:
                raise ValueError
            found = read_event(text)
            if isinstance(found, Entry):
                entries.append(found)
                totals = totals.plus(found)
                cuts |= {(_key(name), number) for name, _ in found.cut_points}
            else:
                at, changes, model = found
                entry = entries[at - 1]
                entries[at - 1] = replace(entry, **changes, models=(*entry.models, *model))
        except (*UNREADABLE, IndexError):
            raise DamagedError(f"its event {expected}") from None
    if len(rows) != state.events or totals != state.totals:
        raise DamagedError("its sums")
    if cuts != set(run("SELECT name, event FROM discreet_cuts")):
        raise DamagedError("its list of cut points")
    return state, entries


# --- what stands in the rows -----------------------------------------------------------------------------------------------


def reserved(entry: Entry, number: int) -> dict[str, Any]:
    """The event of a reservation."""
    return {
        "event": "reserve",
        "number": number,
        "what": entry.what,
        "epsilon": str(entry.epsilon),
        "delta": str(entry.delta),
        "proved": None if entry.proved_epsilon is None else [str(entry.proved_epsilon), str(entry.proved_delta)],
        "when": entry.when,
        "records_per_person": entry.records_per_person,
        "release": entry.release,
        "cut_points": {name: str(epsilon) for name, epsilon in entry.cut_points},
        "costs": [cost.to_list() for cost in entry.costs],
        "rho": str(entry.rho),
    }


def ended(number: int, how: str, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """The event of its end."""
    return {"event": "end", "number": number, "how": how, "spent": [str(epsilon), str(delta)]}


def written_to(number: int, checksum: str) -> dict[str, Any]:
    """The event of a file that has its model."""
    return {"event": "model", "number": number, "sha256": read_checksum(checksum)}


def read_event(text: Any) -> Entry | tuple[int, dict[str, Any], tuple[str, ...]]:
    """An entry; or the number of one, what of it changes, and a file that has its model. Else one of ``UNREADABLE``."""
    data = read_json(text)
    number = read_count(data["number"])
    if number < 1:
        raise ValueError
    if data["event"] == "model":
        return number, {}, (read_checksum(data["sha256"]),)
    if data["event"] == "end":
        if data["how"] not in (FINISHED, STOPPED):
            raise ValueError
        epsilon, delta = read_pair(data["spent"])
        return number, {"how": data["how"], "spent_epsilon": epsilon, "spent_delta": delta}, ()
    if data["event"] != "reserve" or not isinstance(data["what"], str) or not isinstance(data["when"], str):
        raise ValueError
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    proved = (None, None) if data["proved"] is None else read_pair(data["proved"])
    return Entry(
        data["what"],
        epsilon,
        delta,
        data["when"],
        proved[0],
        proved[1],
        records_per_person=read_count(data["records_per_person"]),
        release=read_name(data["release"]),
        cut_points=tuple((read_name(name), read_amount(amount)) for name, amount in data["cut_points"].items()),
        costs=tuple(map(Cost.from_list, data["costs"])),
        rho=read_amount(data["rho"], LARGEST * 10**6),
    )


def _whole_text(whole: Whole) -> str:
    return _text(
        {
            "format": FORMAT,
            "version": VERSION,
            "name": whole.name,
            "epsilon": str(whole.epsilon),
            "delta": str(whole.delta),
            "allow_unproved": whole.allow_unproved,
            "neighbours": NEIGHBOURS,
            "records_per_person": whole.records_per_person,
            "rho": None if whole.rho is None else str(whole.rho),
            "rho_delta": str(whole.rho_delta),
        }
    )


def _read_whole(text: str) -> Whole:
    data = read_json(text)
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    records, part = data["records_per_person"], read_amount(data["rho_delta"], 1)
    rho = None if data["rho"] is None else read_amount(data["rho"])
    whole = Whole(epsilon, delta, bool(data["allow_unproved"]), read_name(data["name"]), rho, part, records)
    if delta >= 1 or part > delta or (records is not None and read_count(records) < 1) or _whole_text(whole) != text:
        raise ValueError
    return whole
