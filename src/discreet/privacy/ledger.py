"""What was spent on what, in exact fractions. A ledger refuses to overspend, before anything is computed.

A fit reserves its whole (epsilon, delta) as one entry; the doors it opens draw from the reservation. What early stopping
leaves over is shown as unused, and not returned: whether a fit stopped early depends on the data.

Two sums are kept, and neither may exceed the budget: of what was asked for, as the methods' authors count it, and of what is
proved. A release about which nothing is proved is refused, unless the ledger was made to take such releases.

``Ledger(...)`` lives in memory and is shared by identity: scikit-learn's ``clone`` and deepcopy keep the same ledger, and
it refuses to be pickled, so that several processes must use ``Ledger.open(path)`` (ledger_file.py), a file that is locked and
written before any data is touched.
"""

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from .amounts import UNREADABLE as UNREADABLE
from .amounts import exact as exact
from .entries import STOPPED, Booked, Totals, Whole
from .entries import Entry as Entry
from .entries import LedgerSnapshot as LedgerSnapshot
from .reservation import BudgetError as BudgetError
from .reservation import Reservation as Reservation

if TYPE_CHECKING:
    from .ledger_file import FileLedger

AsReserved = Literal["as reserved"]  # what is proved about a release is the pair that is reserved for it


class NoDeltaError(BudgetError):
    """A release that needs a delta, for a ledger that was made without one."""


class UnprovedError(BudgetError):
    """A release about which nothing is proved, for a ledger that does not take such releases."""


class LedgerError(ValueError):
    """A ledger file that cannot be read."""


@dataclass(frozen=True)
class Wish:
    """What somebody would like to reserve.

    ``because`` says why nothing is proved, if nothing is. ``rests_on`` are the cut points that the release was made with, with
    what they cost a person: what the ledger does not know of is booked with the release. ``pays_for`` are cut points that are
    themselves the release.
    """

    what: str
    epsilon: Fraction
    delta: Fraction
    proved: tuple[Fraction, Fraction] | None
    because: tuple[str, ...]
    records: int
    release: str
    rests_on: Mapping[str, Fraction]
    pays_for: Mapping[str, Fraction]

    def owed(self, known: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What is to be booked for cut points, where the ledger knows of these."""
        nothing = Fraction(0)
        return {n: e - known.get(n, nothing) for n, e in self.rests_on.items() if e > known.get(n, nothing)}

    def granted(self, whole: Whole, totals: Totals, known: Mapping[str, Fraction]) -> Entry:
        """The entry to be made, or BudgetError."""
        owed = self.owed(known)
        before = sum(owed.values(), Fraction(0))
        proved = None if self.proved is None else (self.proved[0] + before, self.proved[1])
        _refuse_more_than_left(whole, totals, (self.epsilon + before, self.delta), proved)
        if proved is None and not whole.allow_unproved:
            why = f" ({'; '.join(self.because)})" if self.because else ""
            raise UnprovedError(
                f"nothing is proved about this release{why}, so the ledger cannot count what it reveals, and refuses it. For "
                "experiments there are ledgers that take such releases, and then prove nothing about the whole: "
                "Ledger(epsilon, delta, allow_unproved=True), or discreet ledger create NEW --epsilon 3 --allow-unproved"
            )
        what = self.what + "".join(f", and cut points {name}" for name in owed)
        return Entry(
            what,
            self.epsilon + before,
            self.delta,
            datetime.now(UTC).isoformat(timespec="seconds"),
            None if proved is None else proved[0],
            None if proved is None else proved[1],
            records_per_person=self.records,
            release=self.release,
            cut_points=(*self.pays_for.items(), *owed.items()),
        )


def _refuse_more_than_left(
    whole: Whole, totals: Totals, asked: tuple[Fraction, Fraction], proved: tuple[Fraction, Fraction] | None
) -> None:
    """Both sums must stay within the budget: that of what is asked for, and that of what is proved."""
    pairs = [("", asked, (totals.epsilon, totals.delta))]
    if proved is not None:
        pairs.append((" of what is proved", proved, (totals.proved_epsilon, totals.proved_delta)))
    for kind, (epsilon, delta), spent in pairs:
        left = whole.epsilon - spent[0], whole.delta - spent[1]
        if epsilon > left[0] or delta > left[1]:
            message = (
                f"the ledger has epsilon {float(left[0]):.6g} and delta {float(left[1]):.6g} left{kind}, "
                f"this needs epsilon {float(epsilon):.6g} and delta {float(delta):.6g}"
            )
            if delta and not whole.delta:
                raise NoDeltaError(f"{message} (the ledger was made without a delta)")
            raise BudgetError(message)


class Ledger:
    """A budget for all releases from one table.

    Parameters
    ----------
    epsilon, delta : float
        For all releases together.
    allow_unproved : bool, default=False
        Whether to take releases about which nothing is proved (seeded ones, say). For experiments.

    Examples
    --------
    >>> ledger = Ledger(epsilon=3.0, delta=1e-6)
    >>> ledger.reserve(Fraction(1), Fraction(0), "first model").close()
    >>> ledger.remaining
    (Fraction(2, 1), Fraction(1, 1000000))
    >>> ledger.reserve(Fraction(5, 2), Fraction(0), "second model")
    Traceback (most recent call last):
    discreet.privacy.reservation.BudgetError: the ledger has epsilon 2 and delta 1e-06 left, this needs epsilon 2.5 and delta 0
    """

    def __init__(self, epsilon: float | Fraction, delta: float | Fraction = 0, allow_unproved: bool = False) -> None:
        name = secrets.token_hex(8)
        self._whole = Whole(exact("epsilon", epsilon), exact("delta", delta), bool(allow_unproved), name)
        self._kept: list[
            tuple[Entry, Totals]
        ] = []  # with the sums up to each entry: one step, however it is interrupted
        self._ends: dict[int, tuple[str, Fraction, Fraction]] = {}
        self._lock = Lock()
        self._process = os.getpid()

    @staticmethod
    def open(
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float = 0,
        allow_unproved: bool = False,
    ) -> "FileLedger":
        """The ledger in a file. One that does not exist yet is made, and then needs an epsilon."""
        from .ledger_file import FileLedger

        return FileLedger(path, epsilon, delta, allow_unproved)

    @property
    def epsilon(self) -> Fraction:
        """The whole epsilon."""
        return self._now()[0].epsilon

    @property
    def delta(self) -> Fraction:
        """The whole delta."""
        return self._now()[0].delta

    @property
    def allow_unproved(self) -> bool:
        """Whether releases are taken about which nothing is proved."""
        return self._now()[0].allow_unproved

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All reservations, oldest first. From a file, all of it is read for that."""
        return tuple(_ended(entry, self._ends.get(i)) for i, (entry, _) in enumerate(self._kept, 1))

    @property
    def n_entries(self) -> int:
        """How many reservations there are."""
        return self._now()[1].entries

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum of what was reserved, as the methods' authors count it. ``proved`` is what can be relied on."""
        return self.snapshot().spent

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """What is left, of what was asked for or of what is proved, whichever is less."""
        return self.snapshot().remaining

    @property
    def proved(self) -> tuple[float, float]:
        """By basic composition, what is proved about all releases together; infinite if nothing is about one of them."""
        return self.snapshot().proved

    def snapshot(self, own: Booked | None = None) -> LedgerSnapshot:
        """What the ledger says now and anyone may know, for the model whose own entry is given. See LedgerSnapshot."""
        return self._summary(*self._now(), own)

    def _summary(self, whole: Whole, totals: Totals, own: Booked | None) -> LedgerSnapshot:
        mine = own is not None and own.ledger == whole.name
        number, release = (own.number, own.release) if own is not None and mine else (None, None)
        return LedgerSnapshot(whole.epsilon, whole.delta, totals, whole.name, number, release)

    def reserve(
        self,
        epsilon: Fraction,
        delta: Fraction,
        what: str,
        proved: tuple[float, float] | AsReserved | None = "as reserved",
        records: int = 1,
        *,
        because: Sequence[str] = (),
        release: str | None = None,
        rests_on: Mapping[str, Fraction] | None = None,
        pays_for: Mapping[str, Fraction] | None = None,
    ) -> Reservation:
        """Set aside a budget, or raise BudgetError. It is on record before this returns.

        ``proved`` is the pair that is proved about the release, None if nothing is; left out, it is the pair reserved.
        ``because`` says why nothing is. ``records`` is how many a person may have; epsilon is then that of a person.
        ``release`` names what is released, by default at random. ``rests_on`` are cut points that it is made with, by name, with
        their epsilon for a person: those that no entry pays for are booked with it. ``pays_for`` are cut points that are the
        release itself.
        """
        wish = _wish(epsilon, delta, what, proved, records, because, release, rests_on, pays_for)
        booked, entry = self._book(wish)
        before = sum((e for name, e in entry.cut_points if name not in wish.pays_for), Fraction(0))
        return Reservation(entry.epsilon, entry.delta, self, booked, records, before)

    def check(
        self,
        epsilon: Fraction,
        delta: Fraction,
        proved: tuple[float, float] | AsReserved | None = "as reserved",
        *,
        because: Sequence[str] = (),
        rests_on: Mapping[str, Fraction] | None = None,
    ) -> None:
        """Raise BudgetError if ``reserve`` would. Nothing is set aside.

        >>> Ledger(epsilon=1.0).check(Fraction(1, 2), Fraction(0))
        """
        wish = _wish(epsilon, delta, "", proved, 1, because, "", rests_on, None)
        wish.granted(*self._now(), self._known(wish.rests_on))

    def _now(self) -> tuple[Whole, Totals]:
        return self._whole, self._kept[-1][1] if self._kept else Totals()

    def _known(self, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """What was booked for cut points of these names."""
        return known_cut_points((entry for entry, _ in self._kept), names) if names else {}

    def _book(self, wish: Wish) -> tuple[Booked, Entry]:
        self._check_process()
        with self._lock:  # this very statement: a function around it could be interrupted before it lets go
            whole, totals = self._now()
            entry = wish.granted(whole, totals, self._known(wish.rests_on))
            self._kept.append((entry, totals.plus(entry)))
        assert whole.name is not None
        return Booked(whole.name, totals.entries + 1, wish.release), entry

    def _end(self, booked: Booked, how: str, epsilon: Fraction, delta: Fraction) -> None:
        self._check_process()
        self._ends[booked.number] = how, epsilon, delta

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
            unused += " (stopped)" if e.how == STOPPED else ""
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
        unproved = ", allow_unproved=True" if self.allow_unproved else ""
        return f"Ledger(epsilon={float(self.epsilon):g}, delta={float(self.delta):g}{unproved})"

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: Any) -> "Ledger":
        return self  # a copy would let the same budget be spent twice

    def __reduce__(self) -> Any:
        self._refuse()

    def _check_process(self) -> None:
        """A forked copy is refused before it waits for a lock that nobody in its process will free."""
        if os.getpid() != self._process:
            self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            "a ledger in memory cannot be pickled or used in another process: each would spend it whole. "
            "Use Ledger.open(path), or n_jobs=1"
        )


def _wish(
    epsilon: Fraction,
    delta: Fraction,
    what: str,
    proved: tuple[float, float] | AsReserved | None,
    records: int,
    because: Sequence[str],
    release: str | None,
    rests_on: Mapping[str, Fraction] | None,
    pays_for: Mapping[str, Fraction] | None,
) -> Wish:
    if not isinstance(what, str):
        raise TypeError(f"what must be a string that says what is released, not {type(what).__name__}")
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    pair: tuple[Fraction, Fraction] | None = (epsilon, delta)
    if not isinstance(proved, str):
        pair = None if proved is None else (exact("epsilon", proved[0]), Fraction(repr(float(proved[1]))))
    if pair is not None and pair[1] < 0:
        raise ValueError("a proved delta must be at least 0: a negative one would give budget back")
    if pair is not None and pair[0] != epsilon and float(pair[0]) == math.nextafter(float(epsilon), math.inf):
        pair = epsilon, pair[1]  # k * (epsilon / k) in floating point: what is proved is the fraction
    named = secrets.token_hex(6) if release is None else release
    return Wish(what, epsilon, delta, pair, tuple(because), records, named, rests_on or {}, pays_for or {})


def _ended(entry: Entry, end: tuple[str, Fraction, Fraction] | None) -> Entry:
    return entry if end is None else replace(entry, how=end[0], spent_epsilon=end[1], spent_delta=end[2])


def known_cut_points(entries: Any, names: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """What these entries pay for cut points of these names."""
    known: dict[str, Fraction] = {}
    for entry in entries:
        for name, epsilon in entry.cut_points:
            if name in names:
                known[name] = known.get(name, Fraction(0)) + epsilon
    return known


def reserve(
    ledger: Ledger | None,
    epsilon: Fraction,
    delta: Fraction,
    what: str,
    proved: tuple[float, float] | None,
    records: int = 1,
    *,
    because: Sequence[str] = (),
    release: str | None = None,
    rests_on: Mapping[str, Fraction] | None = None,
    pays_for: Mapping[str, Fraction] | None = None,
) -> Reservation:
    """Set aside a budget, in the ledger if there is one."""
    if ledger is None:
        return Reservation(epsilon, delta, records=records)
    return ledger.reserve(
        *(epsilon, delta, what, proved, records),
        because=because,
        release=release,
        rests_on=rests_on,
        pays_for=pays_for,
    )
