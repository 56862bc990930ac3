"""What the audit found, as values, as a table, and as JSON."""

import json
import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

from ..accounting.statement import Guarantee


class Finding(NamedTuple):
    """The worst of many pairs of nodes, or of tables of a few records: its loss, what may be lost there, and the two nodes."""

    loss: float
    allowed: float
    pairs: int
    where: str

    @property
    def ratio(self) -> float:
        """Above 1 the promise is broken."""
        if self.allowed == 0.0:
            return 0.0 if self.loss < 1e-9 else math.inf
        return self.loss / self.allowed


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    what: str
    level: str  # "one choice", "whole fit", "as published"
    claimed: Guarantee
    exact: float  # epsilon needed at the claimed delta, on the worst pair of tables that was found
    delta_needed: float  # at the claimed epsilon, there
    tried: int  # pairs of tables
    observed: float | None = None
    fits: int = 0
    power: float | None = None  # observed, in parts of the loss of the event that was looked for
    agreement: float | None = None  # the chance of so large a difference between fits and the exact law
    holds: bool = True
    is_proved: bool = True
    where: str = ""

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.level == "as published":
            return "REFUTED" if not self.holds else "proved" if self.is_proved else "not refuted"
        return "held" if self.holds else "BROKEN"


@dataclass(frozen=True)
class Check:
    """One thing that is so or not, without an epsilon: a sampler that follows its law, a statement that claims nothing."""

    what: str
    level: str  # "sampler", "statement"
    holds: bool
    chance: float | None = None  # of so large a difference between draws and the exact law
    draws: int = 0

    @property
    def verdict(self) -> str:
        """In a word."""
        return "held" if self.holds else "BROKEN"


@dataclass(frozen=True)
class Report:
    """What was found. ``str(report)`` is the table."""

    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    quick: bool

    @property
    def ok(self) -> bool:
        """Whether everything that is proved held at all levels. Published claims may fail; that is reported, not an error."""
        proved = [row for row in self.rows if row.level != "as published"]
        return bool(proved) and all(row.holds for row in proved) and all(check.holds for check in self.checks)

    def to_json(self) -> str:
        """The same for machines. A loss without a bound is the string "Infinity"."""
        found = json.dumps({"ok": self.ok, "quick": self.quick} | asdict(self))
        return json.dumps(json.loads(found, parse_constant=str), indent=1)

    def table(self) -> list[tuple[str, ...]]:
        """A heading, then a line for each row. Numbers are epsilons, in brackets deltas."""
        lines: list[tuple[str, ...]] = [("level", "what", "claimed", "exact", "observed", "pairs", "fits", "verdict")]
        for row in self.rows:
            claimed, exact = f"{row.claimed.epsilon:.4g}", f"{row.exact:.4g}"
            if row.claimed.delta:
                claimed += f" ({row.claimed.delta:.1e})"
                exact += f" ({row.delta_needed:.1e})" if row.delta_needed else " (0)"
            observed = "" if row.observed is None else f"{max(0.0, row.observed):.3g}"
            fits = f"{row.fits:,}" if row.fits else ""
            lines.append((row.level, row.what, claimed, exact, observed, f"{row.tried:,}", fits, row.verdict))
        return lines

    def __str__(self) -> str:
        lines = self.table()
        for check in self.checks:
            chance = "" if check.chance is None else f"chance {check.chance:.2g}"
            draws = f"{check.draws:,}" if check.draws else ""
            lines.append((check.level, check.what, "", "", chance, "", draws, check.verdict))
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)
