"""Version 3 of a ledger's file: lines of JSON that are only ever appended to.

The first line says what the ledger is. Each further line is an event: a reservation, its end, or a file that its model was
written to. Every line carries the sums up to and including it, so the last one is enough to decide on the next; where the last
line before it is that pays for cut points; and a checksum, so that damage is noticed and not read as something else.

Version 2 had lines without costs and sums without rho. Such a file is not rewritten: lines of version 3 are appended to it. Each
has an item that version 2 does not know, so an older reader refuses the file (as damaged) instead of spending it a second time.

A line without its line feed at the end of the file was being written when its writer was killed or the disk was full. Its
reservation was never returned to anyone, so it is cut off, unless it is complete, and then it counts.
"""

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from io import FileIO
from typing import Any

from .amounts import LARGEST, UNREADABLE, read_amount, read_pair
from .costs import Cost
from .entries import (
    ENDED,
    FINISHED,
    STOPPED,
    Booked,
    Entry,
    Totals,
    Whole,
    read_checksum,
    read_count,
    read_name,
    read_totals,
    with_costs,
)

FORMAT, VERSION, OLDER = "discreet ledger", 3, 2
MARK, OLDER_MARK = (f'{{"format":"{FORMAT}","version":{version},'.encode() for version in (VERSION, OLDER))
NEIGHBOURS = "add or remove"  # a person's records
EVENT = b'{"event":"'
CHUNK = 4096
LONGEST_LINE = 1 << 24
LINE = {"event", "number", "totals", "cut_points_before"}
RESERVE = LINE | {
    *("what", "epsilon", "delta", "proved", "when", "records_per_person", "release", "cut_points"),
}
END = LINE | {"how", "spent"}
ITEMS = {  # of the events, by the version of their line
    (VERSION, "reserve"): RESERVE | {"version", "costs", "rho"},
    (VERSION, "end"): END | {"version"},
    (VERSION, "model"): LINE | {"version", "sha256"},
    (OLDER, "reserve"): RESERVE,
    (OLDER, "end"): END,
}
FIRST = {"format", "version", "name", "epsilon", "delta", "allow_unproved"}


class DamagedError(ValueError):
    """Lines that cannot be as they were written."""


@dataclass(frozen=True)
class Line:
    """An event with the sums up to it: a reservation if it has an entry, the end of one, or a file with its model.

    ``older``: of version 2, so its sums lack what that did not count.
    """

    number: int
    totals: Totals
    cut_points_before: int | None
    entry: Entry | None = None
    end: tuple[str, Fraction, Fraction] | None = None
    model: str | None = None
    older: bool = False


@dataclass(frozen=True)
class Tail:
    """The first line, and the last one with its place. The next goes to ``end``, after a line feed if ``open_ended``."""

    whole: Whole
    last: Line | None
    last_at: int
    end: int
    open_ended: bool = False

    @property
    def totals(self) -> Totals:
        """The sums over all entries."""
        return Totals() if self.last is None else self.last.totals

    @property
    def cut_points_before(self) -> int | None:
        """Where the last line is that pays for cut points."""
        if self.last is None:
            return None
        pays = self.last.entry is not None and self.last.entry.cut_points
        return self.last_at if pays else self.last.cut_points_before

    def reservation(self, entry: Entry) -> bytes:
        """The next line: a reservation."""
        totals = self.totals.plus(entry)
        return self._line(Line(totals.entries, totals, self.cut_points_before, entry))

    def ending(self, booked: Booked, how: str, epsilon: Fraction, delta: Fraction) -> bytes:
        """The next line: the end of a reservation."""
        return self._line(Line(booked.number, self.totals, self.cut_points_before, end=(how, epsilon, delta)))

    def written_to(self, booked: Booked, checksum: str) -> bytes:
        """The next line: a file that has the model."""
        return self._line(Line(booked.number, self.totals, self.cut_points_before, model=checksum))

    def _line(self, line: Line) -> bytes:
        return (b"\n" if self.open_ended else b"") + written(line) + b"\n"


def first_line(whole: Whole) -> bytes:
    """The line that says what the ledger is."""
    data = {
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
    return _sealed(data) + b"\n"


def written(line: Line) -> bytes:
    """A line, without its line feed. ValueError if it could not be read again."""
    t, e = line.totals, line.entry
    event: dict[str, Any]
    if e is not None:
        event = {
            "event": "reserve",
            "number": line.number,
            "what": e.what,
            "epsilon": str(e.epsilon),
            "delta": str(e.delta),
            "proved": None if e.proved_epsilon is None else [str(e.proved_epsilon), str(e.proved_delta)],
            "when": e.when,
            "records_per_person": e.records_per_person,
            "release": e.release,
            "cut_points": {name: str(epsilon) for name, epsilon in e.cut_points},
            "costs": [cost.to_list() for cost in e.costs],
            "rho": str(e.rho),
        }
    elif line.end is not None:
        event = {"event": "end", "number": line.number, "how": line.end[0], "spent": [str(x) for x in line.end[1:]]}
    else:
        event = {"event": "model", "number": line.number, "sha256": line.model}
    totals = {
        "entries": t.entries,
        "spent": [str(t.epsilon), str(t.delta)],
        "proved": [str(t.proved_epsilon), str(t.proved_delta)],
        "unproved": t.unproved,
        "rho": str(t.rho),
        "records_per_person": t.records_per_person,
    }
    text = _sealed(event | {"version": VERSION, "totals": totals, "cut_points_before": line.cut_points_before})
    if len(text) >= LONGEST_LINE or read(text) != line:
        raise ValueError
    return text


def _sealed(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    return text[:-1] + b',"check":"%08x"}' % zlib.crc32(text)


def _opened(raw: bytes) -> Any:
    body, check, seal = raw[:-20] + b"}", raw[-20:-2], raw[-2:]
    if seal != b'"}' or check != b',"check":"%08x' % zlib.crc32(body):
        raise DamagedError
    return json.loads(body)


def read(raw: bytes) -> Line:
    """A line as it was written, or one of ``UNREADABLE``."""
    data = _opened(raw)
    totals, before = read_totals(data["totals"]), data["cut_points_before"]
    number, version = read_count(data["number"]), data.get("version", OLDER)
    if not 1 <= number <= totals.entries or set(data) != ITEMS.get((version, data["event"])):
        raise DamagedError
    line = Line(number, totals, None if before is None else read_count(before), older=version == OLDER)
    if data["event"] == "model":
        return replace(line, model=read_checksum(data["sha256"]))
    if data["event"] == "end":
        if data["how"] not in (FINISHED, STOPPED, ENDED):
            raise DamagedError
        return replace(line, end=(data["how"], *read_pair(data["spent"])))
    if number != totals.entries or not isinstance(data["what"], str) or not isinstance(data["when"], str):
        raise DamagedError
    records, release = data["records_per_person"], data["release"]
    epsilon, delta = read_pair((data["epsilon"], data["delta"]))
    proved = (None, None) if data["proved"] is None else read_pair(data["proved"])
    entry = Entry(
        data["what"],
        epsilon,
        delta,
        data["when"],
        proved[0],
        proved[1],
        records_per_person=None if records is None else read_count(records),
        release=None if release is None else read_name(release),
        cut_points=tuple((name, read_amount(amount)) for name, amount in data["cut_points"].items()),
    )
    if line.older:
        return replace(line, entry=with_costs(entry))
    costs, rho = tuple(map(Cost.from_list, data["costs"])), read_amount(data["rho"], LARGEST * 10**6)
    return replace(line, entry=replace(entry, costs=costs, rho=rho))


def has_lines(file: FileIO) -> bool:
    """Whether it is a ledger in lines, of version 2 or 3, by how the file begins."""
    return os.pread(file.fileno(), len(MARK), 0) in (MARK, OLDER_MARK)


def read_tail(file: FileIO) -> Tail:
    """The ends of the file, which are enough to decide on a reservation. It takes the same however many lines are between."""
    size = os.fstat(file.fileno()).st_size
    whole, start = _read_first(file)
    span = CHUNK
    while True:
        at = max(start, size - span)
        chunk = os.pread(file.fileno(), size - at, at)
        feed = chunk.rfind(b"\n")  # of the last line that has one
        before = chunk.rfind(b"\n", 0, max(feed, 0))
        if at == start or before >= 0:
            break
        if span > LONGEST_LINE:
            raise DamagedError("its end")
        span *= 4
    torn, end = chunk[feed + 1 :], at + feed + 1
    if torn and _is_complete(torn):
        return _all_summed(file, Tail(whole, read(torn), end, size, open_ended=True))
    if not _may_be_torn(torn):
        raise DamagedError("its last line")
    if feed < 0:
        return Tail(whole, None, start, start)
    return _all_summed(file, Tail(whole, _read(chunk[before + 1 : feed], "its last line"), at + before + 1, end))


def _all_summed(file: FileIO, tail: Tail) -> Tail:
    """With the sums that version 2 did not keep. Then all lines are read; not any more once one of version 3 is the last."""
    if tail.last is None or not tail.last.older:
        return tail
    return replace(tail, last=replace(tail.last, totals=Totals.of(_entries(file, tail.end))))


def _read_first(file: FileIO) -> tuple[Whole, int]:
    raw = _line_at(file, 0)
    try:
        data = _opened(raw)
        newer = data.get("version") == VERSION
        if set(data) != (FIRST | {"neighbours", "records_per_person", "rho", "rho_delta"} if newer else FIRST):
            raise DamagedError
        epsilon, delta = read_pair((data["epsilon"], data["delta"]))
        if delta >= 1 or not isinstance(data["allow_unproved"], bool):
            raise DamagedError
        whole = Whole(epsilon, delta, data["allow_unproved"], read_name(data["name"]))
        return (_with_limits(whole, data) if newer else whole), len(raw) + 1
    except UNREADABLE:
        raise DamagedError("its first line") from None


def _with_limits(whole: Whole, data: Any) -> Whole:
    """What version 2 did not have."""
    records, part = data["records_per_person"], read_amount(data["rho_delta"], 1)
    rho = None if data["rho"] is None else read_amount(data["rho"])
    if data["neighbours"] != NEIGHBOURS or part > whole.delta or (records is not None and read_count(records) < 1):
        raise DamagedError
    return replace(whole, rho=rho, rho_delta=part, records_per_person=records)


def _read(raw: bytes, which: str) -> Line:
    try:
        return read(raw)
    except UNREADABLE:
        raise DamagedError(which) from None


def _line_at(file: FileIO, at: int) -> bytes:
    """The line that begins there."""
    span = CHUNK
    while span <= 4 * LONGEST_LINE:
        chunk = os.pread(file.fileno(), span, at)
        if b"\n" in chunk:
            return chunk[: chunk.index(b"\n")]
        if len(chunk) < span:
            break
        span *= 4
    raise DamagedError("one of its lines")


def _is_complete(torn: bytes) -> bool:
    try:
        return bool(read(torn))
    except UNREADABLE:
        return False


def _may_be_torn(torn: bytes) -> bool:
    """Whether this is the beginning of an event, or the zeros that a file system leaves after a power failure."""
    return torn.startswith(EVENT[: len(torn)]) or not torn.strip(b"\0")


def cut_points_in(file: FileIO, tail: Tail, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """What was booked for cut points of these names: from line to line that pays for some, until it is enough."""
    known = dict.fromkeys(names, Fraction(0))
    at, limit = tail.cut_points_before, tail.end
    while at is not None and any(known[name] < epsilon for name, epsilon in names.items()):
        last = tail.last if at == tail.last_at else None
        line = last or _read(_line_at(file, at), "one of its lines")
        if at >= limit or line.entry is None or not line.entry.cut_points:
            raise DamagedError("one of its lines")
        for name, epsilon in line.entry.cut_points:
            if name in known:
                known[name] += epsilon
        limit = at
        at = line.cut_points_before
    return known


def read_whole(file: FileIO) -> tuple[Whole, list[Entry]]:
    """All entries, once every line and every sum is checked."""
    tail = read_tail(file)
    return tail.whole, _entries(file, tail.end)


def _entries(file: FileIO, end: int) -> list[Entry]:
    entries: list[Entry] = []
    totals = Totals()
    before: int | None = None
    for number, at, raw in _lines(file, end):
        which = f"its line {number}"
        line = _read(raw, which)
        if line.entry is not None:
            entries.append(line.entry)
            totals = totals.plus(line.entry)
        said = (
            replace(line.totals, rho=totals.rho, records_per_person=totals.records_per_person)
            if line.older
            else line.totals
        )
        if said != totals or line.cut_points_before != before:
            raise DamagedError(which)
        if line.entry is not None and line.entry.cut_points:
            before = at
        i = line.number - 1
        if line.end is not None:
            how, *spent = line.end
            entries[i] = replace(entries[i], how=how, spent_epsilon=spent[0], spent_delta=spent[1])
        if line.model is not None:
            entries[i] = replace(entries[i], models=(*entries[i].models, line.model))
    return entries


def _lines(file: FileIO, end: int) -> Iterator[tuple[int, int, bytes]]:
    """(number, place, line) of all but the first, up to ``end``."""
    start, number, rest, at = 0, 1, b"", 0
    while start < end:
        chunk = os.pread(file.fileno(), min(1 << 20, end - start), start)
        if not chunk:
            raise DamagedError("its end")
        start += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for raw in lines:
            if number > 1:
                yield number, at, raw
            number, at = number + 1, at + len(raw) + 1
    if rest:  # complete, but for its line feed
        yield number, at, rest


def from_entries(whole: Whole, entries: list[Entry]) -> Iterator[bytes]:
    """The lines of a ledger with these entries."""
    head = first_line(whole)
    tail = Tail(whole, None, len(head), len(head))
    yield head
    for number, entry in enumerate(entries, 1):
        opened = replace(
            entry, how=None, spent_epsilon=None, spent_delta=None
        )  # of version 1, which knew no files of models
        line = tail.reservation(opened)
        yield line
        tail = Tail(whole, read(line[:-1]), tail.end, tail.end + len(line))
        if entry.spent_epsilon is not None and entry.spent_delta is not None:
            booked = Booked(whole.name or "", number, entry.release or "")
            line = tail.ending(booked, entry.how or ENDED, entry.spent_epsilon, entry.spent_delta)
            yield line
            tail = Tail(whole, read(line[:-1]), tail.end, tail.end + len(line))
