"""What was spent on what, in exact fractions. A ledger refuses to overspend, before anything is computed.

A fit reserves its whole (epsilon, delta) as one entry; the doors it opens draw from the reservation. What early stopping
leaves over is shown as unused, and not returned: whether a fit stopped early depends on the data.

``Ledger(...)`` lives in memory and is shared by identity: scikit-learn's ``clone`` and deepcopy keep the same ledger, and
it refuses to be pickled, so that several processes must use ``Ledger.open(path)``, a file that is locked and written
before any data is touched.
"""

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from numbers import Real
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

FORMAT, VERSION = "discreet ledger", 1
LARGEST = 10**300  # of a budget: sums of these are still numbers that can be shown
PUBLIC = ("what", "epsilon", "delta", "when", "proved_epsilon", "proved_delta")  # of an entry
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError)


class BudgetError(ValueError):
    """A ledger without enough left, or a door that asks for more than was reserved."""


class LedgerError(ValueError):
    """A ledger file that cannot be read."""


@dataclass(frozen=True)
class Entry:
    """One reservation. ``spent_*`` stay None until it is closed; what is charged is what was reserved.

    ``epsilon`` and ``delta`` are what was asked for, as the method's authors count it. ``proved_*`` are what is proved about
    the release, which may be less or more; None if nothing is.
    """

    what: str
    epsilon: Fraction
    delta: Fraction
    when: str
    proved_epsilon: Fraction | None
    proved_delta: Fraction | None
    spent_epsilon: Fraction | None = None
    spent_delta: Fraction | None = None

    @property
    def unused_epsilon(self) -> Fraction | None:
        """Reserved but not spent, and not returned."""
        return None if self.spent_epsilon is None else self.epsilon - self.spent_epsilon

    @property
    def unused_delta(self) -> Fraction | None:
        """Reserved but not spent, and not returned."""
        return None if self.spent_delta is None else self.delta - self.spent_delta


@dataclass(frozen=True)
class LedgerSnapshot:
    """What a ledger said at one time, as a value that goes into a model's file.

    Left out are what early stopping left over, since whether a fit stopped early may say more about the records than the list
    does, and the time of day, since the times between fits say how long they took.

    >>> ledger = Ledger(epsilon=3.0)
    >>> ledger.reserve(Fraction(1), Fraction(0), "first model").close()
    >>> ledger.snapshot().remaining
    (Fraction(2, 1), Fraction(0, 1))
    """

    epsilon: Fraction
    delta: Fraction
    entries: tuple[Entry, ...]

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum of what was reserved, as the methods' authors count it. ``proved`` is what can be relied on."""
        return sum((e.epsilon for e in self.entries), Fraction(0)), sum((e.delta for e in self.entries), Fraction(0))

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """What is left."""
        spent = self.spent
        return self.epsilon - spent[0], self.delta - spent[1]

    @property
    def proved(self) -> tuple[float, float]:
        """By basic composition, what is proved about all releases together; infinite if nothing is about one of them."""
        pairs = [(e.proved_epsilon, e.proved_delta) for e in self.entries]
        epsilons, deltas = zip(*pairs, strict=True) if pairs else ((), ())
        if None in epsilons:
            return math.inf, 1.0
        return float(sum(epsilons)), float(sum(deltas))

    def to_dict(self) -> dict[str, Any]:
        """The snapshot as JSON has it: fractions are texts."""
        entries = [{key: value for key, value in _entry_to(e).items() if key in PUBLIC} for e in self.entries]
        return {"epsilon": str(self.epsilon), "delta": str(self.delta), "entries": entries}

    @classmethod
    def from_dict(cls, data: Any) -> "LedgerSnapshot":
        """Read what ``to_dict`` wrote. What cannot be read raises one of ``UNREADABLE``."""
        rest = {"spent_epsilon": None, "spent_delta": None}
        if set(data) != {"epsilon", "delta", "entries"} or any(set(e) != set(PUBLIC) for e in data["entries"]):
            raise ValueError
        entries = tuple(_entry_from(e | rest) for e in data["entries"])
        if any(e.when != e.when[:10] for e in entries) or _fraction(data["delta"]) >= 1:
            raise ValueError
        return cls(_fraction(data["epsilon"]), _fraction(data["delta"]), entries)


class Reservation:
    """What a fit may spend. Doors draw from it before they answer. A ``with`` block closes it.

    Doors know the price of a query for one record. It is charged for each of the ``records`` that a person may have.
    """

    def __init__(
        self, epsilon: Fraction, delta: Fraction, ledger: "Ledger | None" = None, number: int = 0, records: int = 1
    ) -> None:
        self.epsilon, self.delta, self.records = epsilon, delta, records
        self.spent_epsilon, self.spent_delta = Fraction(0), Fraction(0)
        self._ledger, self._number = ledger, number

    def draw(self, epsilon: Fraction, delta: Fraction, what: str) -> None:
        """Charge a query, or refuse it."""
        spent_epsilon = self.spent_epsilon + self.records * epsilon
        spent_delta = self.spent_delta + delta if delta else self.spent_delta
        if spent_epsilon > self.epsilon or spent_delta > self.delta:
            raise BudgetError(f"a {what} asks for more than is left of the reservation: this is a bug in the learner")
        self.spent_epsilon, self.spent_delta = spent_epsilon, spent_delta

    def close(self) -> None:
        """Write down what was spent."""
        if self._ledger is not None:
            self._ledger._close(self._number, self.spent_epsilon, self.spent_delta)

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Ledger:
    """A budget for all releases from one table.

    >>> ledger = Ledger(epsilon=3.0, delta=1e-6)
    >>> ledger.reserve(Fraction(1), Fraction(0), "first model").close()
    >>> ledger.remaining
    (Fraction(2, 1), Fraction(1, 1000000))
    >>> ledger.reserve(Fraction(5, 2), Fraction(0), "second model")
    Traceback (most recent call last):
    discreet.privacy.ledger.BudgetError: the ledger has epsilon 2 and delta 1e-06 left, this needs epsilon 2.5 and delta 0
    """

    def __init__(self, epsilon: float | Fraction, delta: float | Fraction = 0) -> None:
        self._epsilon, self._delta = exact("epsilon", epsilon), exact("delta", delta)
        self._kept: list[Entry] = []
        self._lock = Lock()
        self._process = os.getpid()

    @staticmethod
    def open(path: str | os.PathLike[str], epsilon: float | None = None, delta: float = 0) -> "FileLedger":
        """The ledger in a file. One that does not exist yet is made, and then needs an epsilon."""
        return FileLedger(path, epsilon, delta)

    @property
    def epsilon(self) -> Fraction:
        """The whole epsilon."""
        return self._epsilon

    @property
    def delta(self) -> Fraction:
        """The whole delta."""
        return self._delta

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first."""
        return tuple(self._kept)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum of what was reserved, as the methods' authors count it. ``proved`` is what can be relied on."""
        return self._now().spent

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """What is left."""
        return self._now().remaining

    @property
    def proved(self) -> tuple[float, float]:
        """By basic composition, what is proved about all releases together; infinite if nothing is about one of them."""
        return self._now().proved

    def _now(self) -> "LedgerSnapshot":
        return LedgerSnapshot(self.epsilon, self.delta, self.entries)

    def snapshot(self) -> "LedgerSnapshot":
        """What the ledger says now and anyone may know. See LedgerSnapshot."""
        return LedgerSnapshot(self.epsilon, self.delta, tuple(_public(e) for e in self.entries))

    def names(self, release: str) -> bool:
        """Whether an entry is about the release of this name."""
        return any(release in re.findall(r"[\w-]+", entry.what) for entry in self.entries)

    def reserve(
        self,
        epsilon: Fraction,
        delta: Fraction,
        what: str,
        proved: tuple[float, float] | str | None = "as reserved",
        records: int = 1,
    ) -> Reservation:
        """Set aside a budget, or raise BudgetError. It is on record before this returns.

        ``proved`` is the pair that is proved about the release, None if nothing is; left out, it is the pair reserved.
        ``records`` is how many a person may have; epsilon is then that of a person.
        """
        epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
        pair: tuple[Fraction | None, Fraction | None] = (epsilon, delta)
        if not isinstance(proved, str):
            pair = (None, None) if proved is None else (exact("epsilon", proved[0]), Fraction(repr(float(proved[1]))))
        with self._changing() as entries:
            self._refuse_more_than_left(entries, epsilon, delta)
            entries.append(Entry(what, epsilon, delta, datetime.now(UTC).isoformat(timespec="seconds"), *pair))
            number = len(entries) - 1
        return Reservation(epsilon, delta, self, number, records)

    def check(self, epsilon: Fraction, delta: Fraction) -> None:
        """Raise BudgetError if this is more than is left. Nothing is set aside.

        >>> Ledger(epsilon=1.0).check(Fraction(1, 2), Fraction(0))
        """
        self._refuse_more_than_left(self.entries, exact("epsilon", epsilon), exact("delta", delta))

    def _refuse_more_than_left(self, entries: Sequence[Entry], epsilon: Fraction, delta: Fraction) -> None:
        left = self.epsilon - sum(e.epsilon for e in entries), self.delta - sum(e.delta for e in entries)
        if epsilon > left[0] or delta > left[1]:
            raise BudgetError(
                f"the ledger has epsilon {float(left[0]):.6g} and delta {float(left[1]):.6g} left, "
                f"this needs epsilon {float(epsilon):.6g} and delta {float(delta):.6g}"
                + (" (the ledger was made without a delta)" if delta and not self.delta else "")
            )

    def _close(self, number: int, epsilon: Fraction, delta: Fraction) -> None:
        with self._changing() as entries:
            if number >= len(entries):
                raise LedgerError("the ledger was replaced during a fit; its entry is gone")
            entries[number] = replace(entries[number], spent_epsilon=epsilon, spent_delta=delta)

    @contextmanager
    def _changing(self) -> Iterator[list[Entry]]:
        if os.getpid() != self._process:
            self._refuse()  # a forked copy: its parent would not know
        with self._lock:
            yield self._kept

    def tight_epsilon(self, delta: float) -> float:
        """The epsilon of all releases together at this delta, by tight composition (needs `discreet[accounting]`).

        It is about what is proved: each entry counts as just any release with its proved pair, and the answer is infinite
        if nothing is proved about one of them. Never more than the plain sum, ``proved``.
        """
        try:
            from dp_accounting.pld.common import DifferentialPrivacyParameters
            from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters
        except ImportError:
            raise ImportError("tight composition needs dp-accounting: pip install 'discreet[accounting]'") from None
        exact("delta", delta)
        total = None
        plain = self.proved[0] if self.proved[1] <= delta else math.inf
        if math.isinf(self.proved[0]):
            return math.inf
        for entry in self.entries:
            assert entry.proved_epsilon is not None
            assert entry.proved_delta is not None
            pair = DifferentialPrivacyParameters(float(entry.proved_epsilon), float(entry.proved_delta))
            one = from_privacy_parameters(pair)
            total = one if total is None else total.compose(one)
        return 0.0 if total is None else min(plain, float(total.get_epsilon_for_delta(delta)))

    def __str__(self) -> str:
        rows = [("when", "what", "epsilon", "delta", "unused, not returned", "proved")]
        for e in self.entries:
            unused = "(not closed)" if e.unused_epsilon is None else f"{float(e.unused_epsilon):.4g}"
            proved = "nothing"
            if e.proved_epsilon is not None and e.proved_delta is not None:
                proved = f"{float(e.proved_epsilon):.6g}, {float(e.proved_delta):.3g}"
            when = e.when[:16].replace("T", " ")
            rows.append((when, e.what, f"{float(e.epsilon):.6g}", f"{float(e.delta):.6g}", unused, proved))
        spent, left, (epsilon, delta) = self.spent, self.remaining, self.proved
        together = "nothing" if math.isinf(epsilon) else f"{epsilon:.6g}, {delta:.3g}"
        rows.append(("", "spent", f"{float(spent[0]):.6g}", f"{float(spent[1]):.6g}", "", together))
        rows.append(("", "left", f"{float(left[0]):.6g}", f"{float(left[1]):.6g}", "", ""))
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return f"Ledger(epsilon={float(self.epsilon):g}, delta={float(self.delta):g})"

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: Any) -> "Ledger":
        return self  # a copy would let the same budget be spent twice

    def __reduce__(self) -> Any:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            "a ledger in memory cannot be pickled or used in another process: each would spend it whole. "
            "Use Ledger.open(path), or n_jobs=1"
        )


def reserve(
    ledger: Ledger | None,
    epsilon: Fraction,
    delta: Fraction,
    what: str,
    proved: tuple[float, float] | None,
    records: int = 1,
) -> Reservation:
    """Set aside a budget, in the ledger if there is one."""
    if ledger is None:
        return Reservation(epsilon, delta, records=records)
    return ledger.reserve(epsilon, delta, what, proved, records)


class FileLedger(Ledger):
    """A ledger in a JSON file, safe to share between processes on one machine."""

    def __init__(self, path: str | os.PathLike[str], epsilon: float | None = None, delta: float = 0) -> None:
        self.path = Path(path).resolve()  # by whatever name or link it is opened
        if epsilon is None and not self.path.exists():
            raise LedgerError(f"there is no ledger at {self.path}; give its epsilon to make one")
        with self._file_lock():
            if not self.path.exists():
                assert epsilon is not None
                self._write(exact("epsilon", epsilon), exact("delta", delta), [])
        held = self._read()
        asked = (None if epsilon is None else exact("epsilon", epsilon), exact("delta", delta))
        if asked[0] is not None and (asked[0], asked[1]) != held[:2]:
            raise LedgerError(f"the ledger at {self.path} has another epsilon or delta; open it without giving them")

    @property
    def epsilon(self) -> Fraction:
        """The whole epsilon."""
        return self._read()[0]

    @property
    def delta(self) -> Fraction:
        """The whole delta."""
        return self._read()[1]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first."""
        return tuple(self._read()[2])

    @contextmanager
    def _changing(self) -> Iterator[list[Entry]]:
        with self._file_lock():  # it keeps out threads, too: each opens the file for itself
            epsilon, delta, entries = self._read()
            yield entries
            self._write(epsilon, delta, entries)

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        import fcntl

        with open(self.path.with_name(self.path.name + ".lock"), "a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                yield
            finally:  # closing is not enough: a process that was forked meanwhile has the file open, too
                fcntl.flock(handle, fcntl.LOCK_UN)

    def _read(self) -> tuple[Fraction, Fraction, list[Entry]]:
        try:
            return _parse(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise LedgerError(f"the ledger at {self.path} is gone") from None
        except UNREADABLE:
            raise LedgerError(f"{self.path} cannot be read as a ledger of version {VERSION}") from None

    def _write(self, epsilon: Fraction, delta: Fraction, entries: list[Entry]) -> None:
        """A new file in place of the old one, on disk before this returns. If that fails, the old one stays."""
        data = {"format": FORMAT, "version": VERSION, "epsilon": str(epsilon), "delta": str(delta)}
        text = json.dumps(data | {"entries": [_entry_to(e) for e in entries]}, indent=1)
        try:
            _parse(text)
        except UNREADABLE:
            raise LedgerError("this entry could be written into the ledger, but not be read again") from None
        # Only who has the lock writes, so one name is enough; what a killed process left there is written over.
        scratch = self.path.with_name(f"{self.path.name}.new")
        try:
            with open(scratch, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, self.path)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name, too
        finally:
            os.close(folder)

    def __repr__(self) -> str:
        return f"Ledger.open({str(self.path)!r})"

    def __reduce__(self) -> Any:
        return FileLedger, (self.path,)


def _parse(text: str) -> tuple[Fraction, Fraction, list[Entry]]:
    data = json.loads(text)
    if data["format"] != FORMAT or data["version"] != VERSION or not isinstance(data["entries"], list):
        raise ValueError
    delta = _fraction(data["delta"])
    if delta >= 1:
        raise ValueError
    return _fraction(data["epsilon"]), delta, [_entry_from(e) for e in data["entries"]]


def exact(name: str, value: Any) -> Fraction:
    """A budget as a fraction: decimals as they are written (0.1 is 1/10), zero allowed."""
    if isinstance(value, Fraction):
        number = value
    else:
        if isinstance(value, bool) or not isinstance(value, Real) or not _fits(value):
            raise ValueError(f"{name} must be a finite number, not {value!r}")
        number = Fraction(repr(float(value)))
    if abs(number) > LARGEST or len(f"{abs(number.numerator):x}{number.denominator:x}") > 400:
        raise ValueError(f"{name} is a number of too many digits")
    if number < 0 or (name == "delta" and number >= 1):
        raise ValueError(f"{name} must be {'in [0, 1)' if name == 'delta' else 'at least 0'}, not {value!r}")
    return number


def _fits(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _fraction(text: Any) -> Fraction:
    if not isinstance(text, str) or len(text) > 1000 or "e" in text.lower():
        raise ValueError
    number = Fraction(text)
    if not 0 <= number <= LARGEST or len(str(number)) > 1000:
        raise ValueError
    return number


def _entry_to(entry: Entry) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Fraction) else value for key, value in vars(entry).items()}


def _public(entry: Entry) -> Entry:
    return replace(entry, when=entry.when[:10], spent_epsilon=None, spent_delta=None)


def _entry_from(data: Any) -> Entry:
    optional = ("proved_epsilon", "proved_delta", "spent_epsilon", "spent_delta")
    rest = {k: None if data[k] is None else _fraction(data[k]) for k in optional}
    if not isinstance(data["what"], str) or not isinstance(data["when"], str):
        raise TypeError
    for kind in ("proved", "spent"):  # a pair, or nothing
        if (rest[f"{kind}_epsilon"] is None) != (rest[f"{kind}_delta"] is None):
            raise ValueError
    return Entry(data["what"], _fraction(data["epsilon"]), _fraction(data["delta"]), data["when"], **rest)
