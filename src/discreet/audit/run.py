"""The audit as a whole: all mechanisms and learners, three levels, several processes, one report, as a table and as JSON."""

import json
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import PrivacyWarning
from .._utils.parallel import Call, results_from_processes
from ..accounting.statement import Guarantee
from ..estimators.cards import Cards
from ..private.mechanisms.registry import MECHANISMS
from .choices import audited
from .explorer import schema_of_rules
from .learners import Compared, Pair, Subject, excess, is_broken, search
from .observed import best_event, observe, samplers, watch
from .subjects import GREEDY, GREEDY_TREES, LISTS, REFUTED, TREES, needed_parameters, subjects

KNOWN_LOSS = "mass, class counts only"  # its loss is exactly epsilon: here the fits must show nearly all of it
POWER = 0.8
TOO_UNLIKELY = 1e-6  # a difference between fits and the exact distribution that is too unlikely to be chance
ROUNDING = 1e-6


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
    agreement: float | None = None  # the chance of so large a difference between fits and the exact distribution
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
class AuditCheck:
    """A yes-or-no check without an epsilon: a sampler follows its distribution, a statement claims nothing."""

    what: str
    level: str  # "sampler", "statement"
    holds: bool
    chance: float | None = None  # of so large a difference between draws and the exact distribution
    draws: int = 0

    @property
    def verdict(self) -> str:
        """In a word."""
        return "held" if self.holds else "BROKEN"


@dataclass(frozen=True)
class Report:
    """What was found. ``str(report)`` is the table."""

    rows: tuple[Row, ...]
    checks: tuple[AuditCheck, ...]
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


class Effort(NamedTuple):
    """How much is tried: pairs of tables for each learner (in chunks), fits on each of two tables, draws of each sampler."""

    pairs: int
    chunks: int
    fits: int
    fits_of_known_loss: int
    draws: int
    models: int  # draws of rule lists or trees


QUICK = Effort(pairs=60, chunks=1, fits=300, fits_of_known_loss=7_000, draws=2_000, models=300)
FULL = Effort(pairs=300, chunks=4, fits=4_000, fits_of_known_loss=10_000, draws=10_000, models=3_000)
WHOLE_PAIRS = 0.2  # of the pairs, for learners that take long to explore


def audit(quick: bool = False, jobs: int | None = None, progress: Callable[[int, int], None] | None = None) -> Report:
    """Check the promises of this package at three levels. Takes two to five minutes (quick) or about ten minutes.

    ``progress(done, total)`` is called after each piece of work. ``jobs`` are the processes to use, all cores by default; a
    script that uses more than one must guard its main part with ``if __name__ == "__main__":``.

    >>> from discreet.audit import audit
    >>> report = audit(quick=True, jobs=1)      # doctest: +SKIP
    >>> report.ok                               # doctest: +SKIP
    True
    """
    effort = QUICK if quick else FULL
    calls: list[Call] = [
        *((_fits, subject, effort) for subject in (*subjects(), *REFUTED)),
        *(
            (_draws, name, effort.models if name.startswith(("rule lists ", "trees ")) else effort.draws)
            for name in samplers()
        ),
        *((_one_choice, name, quick) for name in audited(quick)),
        *((_statement, name) for name in unproved()),
    ]
    found: dict[int, list[Row] | list[AuditCheck]] = {}
    jobs = jobs or os.cpu_count() or 1
    here = ((number, function(*arguments)) for number, (function, *arguments) in enumerate(calls))
    with results_from_processes(calls, jobs) if jobs > 1 else nullcontext(here) as results:
        for number, result in results:
            found[number] = result
            if progress is not None:
                progress(len(found), len(calls))
    order = ["one choice", "whole fit", "as published"]
    lines = [line for number in sorted(found) for line in found[number]]
    rows = sorted((row for row in lines if isinstance(row, Row)), key=lambda row: order.index(row.level))
    return Report(tuple(rows), tuple(check for check in lines if isinstance(check, AuditCheck)), quick)


def _draws(name: str, draws: int) -> list[AuditCheck]:
    chance = samplers()[name](draws)
    return [AuditCheck(name, "sampler", chance >= TOO_UNLIKELY, chance, draws)]


def _one_choice(name: str, quick: bool) -> list[Row]:
    found = audited(quick)[name]()
    holds, claimed = not is_broken(found.ratio), Guarantee(found.allowed, found.delta)
    return [Row(name, "one choice", claimed, found.loss, found.delta, found.pairs, holds=holds, where=found.where)]


def _fits(subject: Subject, effort: Effort) -> list[Row]:
    """Levels 2 and 3: the worst pairs for what is proved and for what is published, and what fits show on one of them."""
    proved, published = subject.promises()
    promise, is_sound, rows = proved or published, subject.name not in {s.name for s in REFUTED}, []
    assert promise is not None
    greedy_list = "mechanism" in subject.parameters and "max_length" in subject.parameters
    slow = not greedy_list or subject.n_rules > 2
    pairs = max(20, round(effort.pairs * (WHOLE_PAIRS if slow else 1.0)))
    chunks = [list(search(subject, promise, pairs, seed)) for seed in range(effort.chunks)]
    found = [compared for chunk in chunks for compared in chunk]
    if proved is None and is_sound:
        why = "nothing is proved any more"
        rows.append(Row(subject.name, "whole fit", promise, math.inf, 1.0, len(found), holds=False, where=why))
    if proved is not None:
        row = _row_of_pair(subject, "whole fit", proved, found)
        holds = row.holds and all(c.unpaid_checks <= ROUNDING for c in found)
        if not proved.delta:  # every way through the learner was charged for what it reveals
            holds = holds and all(c.uncharged <= ROUNDING for c in found)
        # of a card no outcomes are counted yet: its points have far too many values, and the choices alone show little
        if is_sound and not issubclass(subject.classifier, Cards):
            is_known = subject.name == KNOWN_LOSS
            fits = effort.fits_of_known_loss if is_known else effort.fits
            seen = observe(subject, _most_visible(subject, chunks), fits, proved.delta or 0.0)
            holds = holds and seen.epsilon <= proved.epsilon and seen.agreement >= TOO_UNLIKELY
            holds = holds and not (is_known and (seen.power or 0.0) < POWER)
            row = replace(row, observed=seen.epsilon, fits=2 * fits, power=seen.power, agreement=seen.agreement)
        rows.append(replace(row, holds=holds))
    if published is not None:
        epsilon, delta = published.epsilon, published.delta or 0.0
        is_proved = proved is not None and proved.epsilon <= epsilon and (proved.delta or 0.0) <= delta
        rows.append(replace(_row_of_pair(subject, "as published", published, found), is_proved=is_proved))
    return rows


def _most_visible(subject: Subject, chunks: Sequence[Sequence[Compared]]) -> Pair:
    """Of pairs that are not too large, and on which much is lost, the one on which fits will show most."""
    pairs = []
    for found in chunks:
        small = [c for c in found if c.pair.n_records <= 300] or found
        pairs += [c.pair for c in sorted(small, key=lambda c: -c.epsilon(0.01))[:5]]
    return max(pairs, key=lambda pair: best_event(watch(subject, pair).chances, FULL.fits).expected)


def _row_of_pair(subject: Subject, level: str, claimed: Guarantee, found: Sequence[Compared]) -> Row:
    worst = max(found, key=lambda c: excess(c, claimed))
    needed = worst.epsilon(claimed.delta or 0.0), worst.delta(claimed.epsilon)
    holds = not is_broken(excess(worst, claimed))
    return Row(subject.name, level, claimed, *needed, len(found), holds=holds, where=str(worst.pair))


# --- what must not be called proved, is not ----------------------------------------------------------------------------------

X, Y = np.array([[True, False], [False, True], [True, True]]), np.array([0, 1, 1])

Parameters = Mapping[str, Any]


def unproved() -> dict[str, Sequence[Parameters]]:
    """By name, parameters with which nothing may be called proved."""
    mechanisms = MECHANISMS.values()
    return {
        "a seed": [{"random_state": 0}],
        "candidates that may have been mined": [{"candidates": ["r0"]}],
        "a schema made from the records": [{"schema": None, "infer_schema": True}],
        "a support that is a share of the records": [
            needed_parameters(m) | {"min_support": 0.05} for m in mechanisms if m.needs_support
        ],
        "a delta of 1/n^2": [needed_parameters(m) | {"delta": None} for m in mechanisms if m.needs_delta],
    }


def _statement(name: str) -> list[AuditCheck]:
    return [AuditCheck(f"nothing is proved with {name}", "statement", not claims_too_much(unproved()[name]))]


def claims_too_much(tried: Sequence[Parameters]) -> bool:
    """Whether a fit with such parameters says that something is proved."""
    shared = {"schema": schema_of_rules(2, 2)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fitted = [kind(**(shared | dict(given))).fit(X, Y) for given in tried for kind in _that_take(given)]
    return any(model.privacy_.proved is not None for model in fitted)


def _that_take(parameters: Parameters) -> list[Any]:
    if "mechanism" in parameters:
        return [GREEDY, GREEDY_TREES]
    lists = [GREEDY, LISTS]
    return (
        lists if "candidates" in parameters else [*lists, GREEDY_TREES, TREES]
    )  # tests of a tree follow from its schema
