"""What a stored ledger consists of: three tables, the same ones on SQLite and on PostgreSQL.

    discreet_ledger   one row: what the ledger is, the sums over all entries, how many events there are, and the last one's seal
    discreet_events   a row for each event, never changed: a reservation, its end, or a file that its model was written to
    discreet_schemas  which events pay for a schema of a name: an index, the amounts are in the events

A database does not notice a flipped bit in what it holds. So the seal of an event is a SHA-256 of its text, its number and the
seal before it, beginning with what the ledger is; and the ledger's row has a checksum of its own. A reservation looks at that
row and at the last event, and costs the same however many there are; ``read_entries`` checks everything.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .._utils.parameters import read_json
from .costs import UNREADABLE, Cost, read_amount, read_pair
from .entries import (
    FINISHED,
    STOPPED,
    Entry,
    LedgerBudget,
    Pair,
    Totals,
    optional,
    read_checksum,
    read_count,
    read_name,
    read_sum,
    rho_charged,
)

FORMAT, VERSION = "discreet ledger", 5
TABLES = {
    "discreet_ledger": "CREATE TABLE discreet_ledger (id INTEGER PRIMARY KEY, whole TEXT NOT NULL, totals TEXT NOT NULL, "
    "events INTEGER NOT NULL, seal TEXT NOT NULL, checksum TEXT NOT NULL)",
    "discreet_events": "CREATE TABLE discreet_events (number INTEGER PRIMARY KEY, event TEXT NOT NULL, seal TEXT NOT NULL)",
    "discreet_schemas": "CREATE TABLE discreet_schemas (name TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (name, event))",
}
EVENTS = (
    "SELECT this.number, this.event, this.seal, before.seal FROM discreet_events this "
    "LEFT JOIN discreet_events before ON before.number = this.number - 1"
)
LONGEST_EVENT = 1 << 24
Run = Callable[..., list[tuple[Any, ...]]]  # a statement and its parameters: the rows


class DamagedError(ValueError):
    """Rows that cannot be as they were written."""


class LedgerError(ValueError):
    """A ledger that cannot be used."""


@dataclass(frozen=True)
class State:
    """The ledger's row."""

    whole: LedgerBudget
    totals: Totals
    events: int
    seal: str  # of the last event

    def row(self) -> tuple[str, str, int, str, str]:
        """As it is kept."""
        whole, totals = _whole_text(self.whole), _text(self.totals.to_dict())
        return whole, totals, self.events, self.seal, _digest(whole, totals, str(self.events), self.seal)


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False, default=str)  # amounts are fractions


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("ascii")).hexdigest()  # in JSON, no part has a line feed


def _key(name: str) -> str:
    """Of a schema: names may hold anything."""
    return _digest(_text(name))


def create(run: Run, whole: LedgerBudget) -> None:
    """Make the tables of a new ledger."""
    for statement in TABLES.values():
        run(statement)
    state = State(whole, Totals(), 0, _digest(_whole_text(whole)))
    run("INSERT INTO discreet_ledger VALUES (1, ?, ?, ?, ?, ?)", *state.row())


def read_state(run: Run, locked: str = "") -> State:
    """The ledger's row, once it and the last event are checked. ``locked`` goes behind the SELECT."""
    rows = run(f"SELECT whole, totals, events, seal, checksum FROM discreet_ledger{locked}")
    try:
        ((whole, totals, events, seal, _),) = rows
        state = State(_read_whole(whole), Totals.from_dict(read_json(totals)), read_count(events), seal)
        if rows != [state.row()]:
            raise ValueError
    except UNREADABLE:
        raise DamagedError("its sums") from None
    last = [(number, sealed) for number, sealed, _ in _read_events(run, state, "WHERE this.number >= ?", events)]
    if (last or [(0, _digest(whole))]) != [(events, seal)]:
        raise DamagedError("its last event")
    return state


def _read_events(run: Run, state: State, where: str = "", *given: Any) -> Iterator[tuple[int, str, "Event"]]:
    """Numbers, seals and what some events say, once the seals are compared with those of the events before."""
    for number, text, seal, before in run(f"{EVENTS} {where} ORDER BY this.number", *given):
        try:
            if seal != _digest(_digest(_whole_text(state.whole)) if number == 1 else before, str(number), text):
                raise ValueError
            event = read_event(text)
        except UNREADABLE:
            raise DamagedError(f"its event {number}") from None
        yield number, seal, event


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
    for name in event.get("schemas", {}):
        run("INSERT INTO discreet_schemas VALUES (?, ?)", _key(name), number)
    run("UPDATE discreet_ledger SET whole = ?, totals = ?, events = ?, seal = ?, checksum = ?", *after.row())
    return after


def known_in(run: Run, state: State, names: Iterable[str]) -> dict[str, list[Pair]]:
    """What was booked for schemas of these names, each time."""
    known: dict[str, list[Pair]] = {}
    for name in names:
        for (number,) in run("SELECT event FROM discreet_schemas WHERE name = ?", _key(name)):
            found = [event for _, _, event in _read_events(run, state, "WHERE this.number = ?", number)]
            paid = dict(found[0].schemas).get(name) if found and isinstance(found[0], Entry) else None
            if paid is None:
                raise DamagedError("its list of schemas")
            known.setdefault(name, []).append(paid)
    return known


def read_entries(run: Run) -> tuple[State, list[Entry]]:
    """All entries, once every event, every seal, every sum and the list of schemas are checked."""
    state, entries, totals, schemas, last = read_state(run), list[Entry](), Totals(), set[tuple[str, int]](), 0
    for number, _, event in _read_events(run, state):
        if number != last + 1 or (not isinstance(event, Entry) and event[0] > len(entries)):
            raise DamagedError(f"its event {last + 1}")
        last = number
        if isinstance(event, Entry):
            entries.append(event)
            totals = totals.plus(event)
            schemas |= {(_key(name), number) for name, _ in event.schemas}
        else:
            at, changes = event
            more = {"models": entries[at - 1].models + changes["models"]} if "models" in changes else {}
            entries[at - 1] = replace(entries[at - 1], **changes | more)
    if last != state.events or totals != state.totals:
        raise DamagedError("its sums")
    if schemas != set(run("SELECT name, event FROM discreet_schemas")):
        raise DamagedError("its list of schemas")
    return state, entries


# --- what stands in the rows -----------------------------------------------------------------------------------------------


Event = Entry | tuple[int, dict[str, Any]]  # a reservation; or the number of one, and what of it changes
RESERVED: dict[str, Callable[[Any], Any]] = {  # what an event has of an entry, and how it is read
    "what": str,
    "epsilon": read_amount,
    "delta": read_amount,
    "when": str,
    "records_per_person": read_count,
    "release": read_name,
    "schemas": lambda data: tuple((read_name(name), read_pair(pair)) for name, pair in data.items()),
    "costs": lambda data: tuple(map(Cost.from_list, data)),
    "rho": read_sum,
}


def reserved(entry: Entry, number: int) -> dict[str, Any]:
    """The event of a reservation."""
    proved = None if entry.proved_epsilon is None else [entry.proved_epsilon, entry.proved_delta]
    kept = ("what", "when", "records_per_person", "release", "epsilon", "delta", "rho")
    data = {"event": "reserve", "number": number, "proved": proved} | {name: getattr(entry, name) for name in kept}
    return data | {"schemas": dict(entry.schemas), "costs": [cost.to_list() for cost in entry.costs]}


def ended(number: int, how: str, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    """The event of its end."""
    return {"event": "end", "number": number, "how": how, "spent": [epsilon, delta]}


def written_to(number: int, checksum: str) -> dict[str, Any]:
    """The event of a file that has its model."""
    return {"event": "model", "number": number, "sha256": read_checksum(checksum)}


def read_event(text: Any) -> Event:
    """What an event says. What cannot be read raises one of ``UNREADABLE``."""
    data = read_json(text)
    kind, number = data["event"], read_count(data["number"])
    if number < 1:
        raise ValueError
    if kind == "model":
        return number, {"models": (read_checksum(data["sha256"]),)}
    if kind == "end" and data["how"] in (FINISHED, STOPPED):
        epsilon, delta = read_pair(data["spent"])
        return number, {"how": data["how"], "spent_epsilon": epsilon, "spent_delta": delta}
    if kind != "reserve" or not isinstance(data["what"], str) or not isinstance(data["when"], str):
        raise ValueError
    proved = optional(read_pair, data["proved"]) or (None, None)
    found = {name: read(data[name]) for name, read in RESERVED.items()}
    entry = Entry(**found, proved_epsilon=proved[0], proved_delta=proved[1])
    # of what is concentrated it was found in floating point, which another machine may round otherwise
    if not math.isclose(entry.rho, rho_charged(entry.costs, entry.epsilon), rel_tol=1e-9, abs_tol=1e-12):
        raise ValueError
    return entry


def _whole_text(whole: LedgerBudget) -> str:
    kept = ("name", "epsilon", "delta", "allow_unproved", "neighbours", "records_per_person", "rho", "rho_delta")
    return _text({"format": FORMAT, "version": VERSION} | {name: getattr(whole, name) for name in kept})


def _read_whole(text: str) -> LedgerBudget:
    data = read_json(text)
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    rho, rho_delta = optional(read_amount, data["rho"]), read_amount(data["rho_delta"], 1)
    name, records = read_name(data["name"]), optional(read_count, data["records_per_person"])
    whole = LedgerBudget(epsilon, delta, bool(data["allow_unproved"]), name, rho, rho_delta, records)
    if whole.delta >= 1 or whole.delta_for_releases < 0 or whole.records_per_person == 0 or _whole_text(whole) != text:
        raise ValueError
    return whole
