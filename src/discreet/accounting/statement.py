"""What a fitted model promises: in words for a lawyer, in numbers for an auditor, and as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from .._utils.parameters import as_written, least_float, read_json, rounded_up
from ..schema.releases import SchemaRelease
from .costs import NONE, NOTHING_PROVED, UNREADABLE, Cost, for_person, pair, plain_sum, rho_sum
from .summary import ADDITION, least

FORMAT, VERSION = "discreet privacy statement", 3

NEIGHBOURS = (
    "Two tables are neighbours if one of them has one record more, and they are otherwise the same. "
    "For a person who has k records in the table, multiply epsilon by k (and delta by more than k)."
)
# Why nothing is proved, where a report has to warn
SEEDED = "the noise was seeded (random_state), so it can be repeated and removed"
EVALUATED, SCHEMA = "noisy evaluation", "private schema"  # the mechanisms of statements about a measurement
MEASUREMENTS = {
    SCHEMA: "This schema was found in the records, with noise.",
    EVALUATED: "This evaluation was made with noise.",
}
INFERRED = "the schema was made from records (infer_schema, or a private schema with seeded noise)"
DRAFTED = "a schema was drafted from these very records (draft_schema); it may reveal them, and nothing protects that"
PREPARED = (
    "chosen by looking at the records (a grid search does look at them), and each record was prepared without the others "
    "(scaling or imputing by the table looks at them)"
)
SCHEMA_IS_PUBLIC = f"neither the schema nor the parameters were {PREPARED}"
BUT_FOR_SCHEMA = (
    f"apart from what was found with noise for the schema, which this promise counts, nothing was {PREPARED}"
)
UNCHANGED = "the table did not change while it was learned from: it was counted several times"
ASSUMES = (
    SCHEMA_IS_PUBLIC,
    "the noise was not seeded, and the random numbers of the operating system cannot be predicted",
    "nobody outside learns how long the fit took, or watches its memory",
)


def neighbours_of(records: int) -> str:
    """Which tables a promise compares, when a person has up to so many records."""
    if records == 1:
        return NEIGHBOURS
    return (
        f"Two tables are neighbours if one of them has the records of one person more than the other, up to {records} of them "
        "(records_per_person). The noise is that of a single record at epsilon divided by that number. "
        "For a person who has more records than that, it promises less."
    )


@dataclass(frozen=True)
class Guarantee:
    """An (epsilon, delta) pair. ``delta`` None stands for 1/n^2, where n is the private number of records.

    >>> Guarantee.of(Fraction(11, 30), 0.0).for_person(3).epsilon, 3 * float(Fraction(11, 30))
    (1.1, 1.0999999999999999)
    """

    epsilon: float
    delta: float | None

    @classmethod
    def of(cls, epsilon: Fraction, delta: float | None) -> "Guarantee":
        """With an epsilon that is carried as a fraction; what is shown of it is rounded up."""
        found = cls(least_float(epsilon), delta)
        object.__setattr__(found, "_exactly", epsilon)
        return found

    @property
    def exactly(self) -> Fraction:
        """Epsilon as a fraction; of a float, as it is written."""
        found: Fraction | None = vars(self).get("_exactly")
        return as_written(self.epsilon) if found is None else found

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The same for a ledger."""
        return pair(self.exactly, as_written(self.delta or 0.0))

    def for_person(self, records: int) -> "Guarantee":
        """The same for a person who has up to so many records in the table, as a ledger counts it (``Cost.for_person``).

        >>> print(Guarantee(0.5, 1e-6).for_person(4))
        epsilon = 2, delta = 9.85e-06
        """
        (cost,) = for_person(self.costs, records)
        return Guarantee.of(cost.epsilon, self.delta and least_float(cost.delta))

    @property
    def of_several(self) -> str:
        """What to do for a person with several records, if it is for one."""
        return (
            f"for a person with k records, multiply epsilon by k{' (and delta by more than k)' if self.delta else ''}"
        )

    @property
    def in_words(self) -> str:
        """What epsilon means: by how much the chance of an outcome may differ."""
        if self.epsilon > 10:
            return "only within a factor of more than 20,000, which is almost no protection"
        factor = f"within a factor of e^epsilon (at most {rounded_up(math.exp(self.epsilon), 3)})"
        return factor if not self.delta else f"{factor}, up to an added delta"

    def __str__(self) -> str:
        delta = "1/n^2" if self.delta is None else rounded_up(self.delta, 3)
        return f"epsilon = {rounded_up(self.epsilon, 6)}{f', delta = {delta}' if self.delta != 0 else ''}"


@dataclass(frozen=True)
class Others:
    """Releases in the same process, of a table with the same columns, that are on no ledger: what they come to for a person.

    ``epsilon`` and ``delta`` are the sum of those about which something is proved; about ``unproved`` of them nothing is.
    """

    releases: int
    unproved: int
    epsilon: float
    delta: float

    def with_this(self, proved: Guarantee) -> str:
        """What a reader of the statement has to know about them."""
        one = self.releases == 1
        said = f"In the same process, {'one other release' if one else f'{self.releases} other releases'} with these columns "
        said += f"{'was' if one else 'were'} made without a ledger"
        same = f"if {'it was' if one else 'they were'} from the same records"
        if self.unproved:
            which = "it" if one else "them" if self.unproved == self.releases else f"{self.unproved} of them"
            return f"{said}, and nothing is proved about {which}: {same}, nothing is proved about all of this together."
        theirs = Guarantee(self.epsilon, self.delta)
        whole = Guarantee(plus(self.epsilon, proved.epsilon), min(1.0, plus(self.delta, proved.delta or 0.0)))
        return (
            f"{said}, with {theirs}{'' if one else ' in all'}: {same}, what they reveal adds up to {whole}, this one included. "
            "A ledger would have counted it."
        )


@dataclass(frozen=True)
class Concentrated:
    """What the release is in zCDP, and the epsilon that is proved at a delta: that of the ledger on which it is."""

    rho: float
    epsilon: float
    delta: float

    def __str__(self) -> str:
        return (
            f"In terms of zero-concentrated differential privacy (zCDP), in which many releases add up to less, it has rho = "
            f"{rounded_up(self.rho, 4)}. At the ledger's delta of {rounded_up(self.delta, 3)} its epsilon is "
            f"{rounded_up(self.epsilon, 6)}."
        )


@dataclass(frozen=True)
class PrivacyStatement:
    """What is promised about one release.

    ``published`` is what the accounting of the mechanism's authors gives for these parameters, ``proved`` what docs/theory
    proves for this very configuration; None if nothing is proved, and ``because`` says why. ``assumes`` lists what the proof
    rests on. ``for_schema`` is the part of the proved pair that was spent before, on the schema. ``others`` is a reminder of
    other releases in the same process that are on no ledger; what is promised about this one does not depend on them.
    ``concentrated`` is there if a ledger with a delta is. ``limits``: what every model keeps to that could have been drawn.
    ``costs`` are what the proved pair is the sum of, for a ledger, and not written down with the statement.
    """

    mechanism: str
    published: Guarantee | None
    proved: Guarantee | None
    because: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()
    neighbours: str = NEIGHBOURS
    for_schema: Guarantee | None = None
    others: Others | None = field(default=None, compare=False)
    concentrated: Concentrated | None = None
    limits: tuple[str, ...] = ()
    costs: tuple[Cost, ...] = field(default=(), compare=False, repr=False)

    @property
    def price(self) -> tuple[Cost, ...]:
        """What a ledger is to count: the costs; the proved pair if they are not known."""
        if self.proved is None:
            return NOTHING_PROVED
        return self.costs or self.proved.costs

    def at_delta(self, delta: Fraction) -> "PrivacyStatement":
        """With what it is in zCDP, and at this delta, if there is one and something is proved."""
        if self.proved is None or not delta:
            return self
        rho = rho_sum(self.price)
        total = least(plain_sum(self.price), rho, delta)
        if total is None:
            return self
        epsilon = self.proved.epsilon if total.by == ADDITION else above(total.epsilon)
        return replace(self, concentrated=Concentrated(above(rho), epsilon, float(delta)))

    @property
    def claim_is_proved(self) -> bool:
        """Whether what is proved is at least as strong as what is published."""
        if self.proved is None or self.published is None or self.published.delta is None:
            return False
        before = self.for_schema or Guarantee(0.0, 0.0)  # the authors' claim is about the learning alone
        allowed = plus(self.published.epsilon, before.epsilon), plus(self.published.delta, before.delta or 0.0)
        return self.proved.epsilon <= allowed[0] and (self.proved.delta or 0.0) <= allowed[1]

    @property
    def no_proof(self) -> str:
        """That nothing is proved, and why; an empty string if something is."""
        return "" if self.proved is not None else "NO PRIVACY IS PROVED FOR IT: " + "; ".join(self.because) + "."

    @property
    def alone(self) -> tuple[float, float]:
        """What is proved without what was spent on the schema: (epsilon, delta), in floating point; nothing if nothing is."""
        whole, before = self.proved or Guarantee(0.0, 0.0), self.for_schema or Guarantee(0.0, 0.0)
        pairs = ((whole.epsilon, before.epsilon), (whole.delta or 0.0, before.delta or 0.0))
        epsilon, delta = (float(as_written(one) - as_written(other)) for one, other in pairs)
        return epsilon, delta

    def after_schema(self, releases: Sequence[SchemaRelease]) -> "PrivacyStatement":
        """The statement of this release together with those of the schema it rests on: by composition, their sum."""
        if self.proved is None or not releases:
            return self
        before = spent_on(releases)
        epsilon = self.proved.exactly + before.exactly
        whole = Guarantee.of(epsilon, min(1.0, plus(self.proved.delta or 0.0, before.delta or 0.0)))
        assumes = tuple(BUT_FOR_SCHEMA if a == SCHEMA_IS_PUBLIC else a for a in self.assumes)
        costs = (cost for one in releases for cost in pair(one.epsilon, one.delta))
        return replace(self, proved=whole, for_schema=before, assumes=assumes, costs=(*self.price, *costs))

    @property
    def parts(self) -> list[str]:
        """What it says, point by point."""
        proved, before = self.proved, self.for_schema
        parts = [MEASUREMENTS.get(self.mechanism, f"This model was learned with the mechanism {self.mechanism}.")]
        if proved is None:
            parts.append(self.no_proof)
        else:
            parts.append(
                f"It is differentially private with {proved}: whether or not a person's record was in the table, anything that "
                f"someone could conclude from it about that person has the same probability {proved.in_words}."
            )
        if proved is not None and before is not None:
            parts.append(
                f"Of this, {before} was spent before, on the schema, which was found in the records with noise. The statement of "
                "every model that uses it counts it; in a sum over several such models (as in a ledger) it counts once."
            )
        if self.concentrated is not None:
            parts.append(str(self.concentrated))
        if self.published is not None:
            verdict = "which is proved" if self.claim_is_proved else "which is not proved here"
            what = "" if before is None else " for the learning alone"
            parts.append(f"Its authors' accounting gives {self.published}{what}, {verdict}.")
        if proved is not None:
            assumed = f"This assumes that {'; that '.join(self.assumes)}."
            parts += [self.neighbours, assumed] if self.assumes else [self.neighbours]
        if self.limits:
            listed = "; ".join(self.limits)
            parts.append(f"Every model that could have been drawn, whatever the records are, keeps to this: {listed}.")
        if proved is not None and self.others is not None:
            parts.append(self.others.with_this(proved))
        return parts

    def __str__(self) -> str:
        return " ".join(self.parts)

    def to_json(self, indent: int | None = 1) -> str:
        """The statement as JSON that ``from_json`` reads back."""
        optional = ("for_schema", "others", "concentrated", "limits")
        left_out = {"costs", *(name for name in optional if not getattr(self, name))}
        data = {name: value for name, value in asdict(self).items() if name not in left_out}
        return json.dumps({"format": FORMAT, "version": VERSION} | data, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> "PrivacyStatement":
        """Read what ``to_json`` wrote."""
        try:
            data = read_json(text)
            if data.pop("format") != FORMAT or data.pop("version") != VERSION or "costs" in data:
                raise ValueError
            data = {"neighbours": NEIGHBOURS, "limits": []} | data
            pairs = dict.fromkeys(("published", "proved", "for_schema"), Guarantee)
            kinds: dict[str, type[Any]] = {**pairs, "others": Others, "concentrated": Concentrated}
            for name in kinds.keys() & data.keys():
                if data[name] is not None or name not in ("published", "proved"):
                    data[name] = _read(kinds[name], data[name])
            data |= {name: _texts(data[name]) for name in ("because", "assumes", "limits")}
            _texts([data["mechanism"], data["neighbours"]])
            found = cls(**data)
            if found.for_schema is not None and not _is_part(found.for_schema, found.proved):
                raise ValueError
            return found
        except (*UNREADABLE, OverflowError):
            raise ValueError(f"this is not a {FORMAT} of version {VERSION}") from None


def spent_on(releases: Sequence[SchemaRelease]) -> Guarantee:
    """What releases of schemas come to, rounded up."""
    epsilon, delta = (sum(amounts, NONE) for amounts in zip(*((r.epsilon, r.delta) for r in releases), strict=True))
    return Guarantee.of(epsilon, least_float(min(delta, Fraction(1))))


def _is_part(before: Guarantee, whole: Guarantee | None) -> bool:
    """Whether what was spent on a schema can be a part of what is proved."""
    if whole is None or before.delta is None:
        return False
    return 0 < before.epsilon <= whole.epsilon and before.delta <= (whole.delta or 0.0)


def plus(one: float, other: float) -> float:
    """The sum of two numbers as they are written, rounded up: 0.1 + 0.7 is 0.8."""
    return least_float(as_written(one) + as_written(other))


def _read(kind: type[Any], data: Any) -> Any:
    """Values of this kind. Anything but a number is refused: a statement may not claim what it cannot mean."""
    found = kind(**data)
    given = [
        value for name, value in vars(found).items() if value is not None or kind is not Guarantee or name != "delta"
    ]
    if not all(map(_is_number, given)) or (found.delta or 0) > 1 or (kind is Concentrated and found.delta == 1):
        raise ValueError
    if kind is Others and not (all(isinstance(n, int) for n in given[:2]) and 0 < found.releases >= found.unproved):
        raise ValueError
    return found


def above(value: Fraction) -> float:
    """The least float that is not below."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _texts(data: Any) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(x, str) for x in data):
        raise TypeError
    return tuple(data)
