"""The audit as a whole: all mechanisms and learners, three levels, several processes, one report."""

import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import PrivacyWarning
from .._utils.parallel import process_pool
from ..accounting.statement import Guarantee
from ..estimators.cards import Cards
from ..private.mechanisms.registry import MECHANISMS
from .choices import Finding
from .explore import schema_of_rules
from .learners import Compared, Subject, excess, is_broken, search
from .mechanisms import audited
from .observed import Event, Outcome, Watch, best_event, lower_bound, misfit, outcomes, watch
from .pairs import Pair
from .report import Check, Report, Row
from .samplers import samplers
from .subjects import GREEDY, GREEDY_TREES, REFUTED, TREES, WHOLE, needed_parameters, subjects

KNOWN_LOSS = "mass, class counts only"  # its loss is exactly epsilon: here the fits must show nearly all of it
POWER = 0.8
TOO_UNLIKELY = 1e-6  # a difference between fits and the exact law that is too unlikely to be chance
ROUNDING = 1e-6


class Effort(NamedTuple):
    """How much is tried: pairs of tables for each learner (in chunks), fits on each of two tables, draws of each sampler."""

    pairs: int
    chunks: int
    fits: int
    fits_of_known_loss: int
    draws: int
    models: int  # draws of whole lists or trees


QUICK = Effort(pairs=60, chunks=1, fits=300, fits_of_known_loss=7_000, draws=2_000, models=300)
FULL = Effort(pairs=300, chunks=4, fits=4_000, fits_of_known_loss=10_000, draws=10_000, models=3_000)
WHOLE_PAIRS = 0.2  # of the pairs, for learners that take long to explore


def audit(quick: bool = False, jobs: int | None = None, progress: Callable[[int, int], None] | None = None) -> Report:
    """Check the promises of this package at three levels. Takes a minute or two (quick) or about ten minutes.

    ``progress(done, total)`` is called after each piece of work. ``jobs`` are the processes to use, all cores by default; a
    script that uses more than one must guard its main part with ``if __name__ == "__main__":``.

    >>> from discreet.audit import audit
    >>> report = audit(quick=True, jobs=1)      # doctest: +SKIP
    >>> report.ok                               # doctest: +SKIP
    True
    """
    effort, sound = QUICK if quick else FULL, subjects()
    everyone, kinds, choices = [*sound, *REFUTED], samplers(), audited(quick)
    # of a card no outcomes are counted yet: its points have far too many values, and the choices alone show little
    watched = [s for s in sound if not issubclass(s.classifier, Cards)]
    calls: list[Call] = [
        *((_examine, s, _pairs_for(s, effort), seed) for s in everyone for seed in range(effort.chunks)),
        *((_draw, name, effort.models if name.startswith("whole ") else effort.draws) for name in kinds),
        *((_one_choice, name, quick) for name in choices),
    ]
    jobs = jobs or os.cpu_count() or 1
    with process_pool(jobs) if jobs > 1 else nullcontext() as pool:
        done = _Done(progress or (lambda done, total: None), len(calls) + len(watched) * 2 * CHUNKS_OF_FITS)
        results = iter(done.results(pool, calls))
        examined: dict[str, list[Examined]] = {s.name: [next(results) for _ in range(effort.chunks)] for s in everyone}
        checks: list[Check] = [next(results) for _ in kinds]
        rows = [_row_of_choice(name, next(results)) for name in choices]
        watches = {
            s.name: _watch(s, max(examined[s.name], key=lambda e: e.visible).visible_pair, effort) for s in watched
        }
        fits = iter(done.results(pool, [call for watch in watches.values() for call in watch.calls]))
    for s in everyone:
        seen = [next(fits) for _ in watches[s.name].calls] if s.name in watches else []
        rows += _rows_of_fit(s, examined[s.name], watches.get(s.name), seen)
    checks += [
        Check(f"nothing is proved with {name}", "statement", not claims_too_much(p)) for name, p in unproved().items()
    ]
    order = ["one choice", "whole fit", "as published"]
    return Report(tuple(sorted(rows, key=lambda row: order.index(row.level))), tuple(checks), quick)


CHUNKS_OF_FITS = 4
Call = tuple[Any, ...]  # a function and its arguments


class _Done:
    """What was called, in the processes of a pool or here, and how much of it is done."""

    def __init__(self, progress: Callable[[int, int], None], total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def results(self, pool: Any, calls: Sequence[Call]) -> list[Any]:
        """In the order of the calls."""
        futures = [pool and pool.submit(*call) for call in calls]
        found = []
        for future, (function, *arguments) in zip(futures, calls, strict=True):
            found.append(future.result() if future else function(*arguments))
            self._done += 1
            self._progress(self._done, self._total)
        return found


def _pairs_for(subject: Subject, effort: Effort) -> int:
    greedy_list = "mechanism" in subject.parameters and "max_length" in subject.parameters
    slow = not greedy_list or subject.n_rules > 2
    return max(20, round(effort.pairs * (WHOLE_PAIRS if slow else 1.0)))


def _draw(name: str, draws: int) -> Check:
    chance = samplers()[name](draws)
    return Check(name, "sampler", chance >= TOO_UNLIKELY, chance, draws)


def _one_choice(name: str, quick: bool) -> Finding:
    return audited(quick)[name]()


class Examined(NamedTuple):
    """The worst pairs of one search: for what is proved, for what is published, and for fits to look at."""

    proved: Guarantee | None
    published: Guarantee | None
    pairs: int
    worst: Compared
    worst_published: Compared
    uncharged: float
    unpaid_checks: float
    visible: float
    visible_pair: Pair


def _examine(subject: Subject, pairs: int, seed: int) -> Examined:
    proved, published = subject.promises()
    promise = proved or published
    assert promise is not None
    found = list(search(subject, promise, pairs, seed))
    claim = published or promise
    small = [c for c in found if c.pair.n_records <= 300] or found
    candidates = sorted(small, key=lambda c: -c.epsilon(0.01))[:5]
    events = [(best_event(watch(subject, c.pair).chances, FULL.fits).expected, i) for i, c in enumerate(candidates)]
    visible, i = max(events)
    return Examined(
        proved,
        published,
        len(found),
        max(found, key=lambda c: excess(c, promise)),
        max(found, key=lambda c: excess(c, claim)),
        max(c.uncharged for c in found),
        max(c.unpaid_checks for c in found),
        visible,
        candidates[i].pair,
    )


class _Watched(NamedTuple):
    seen: Watch
    event: Event
    fits: int
    calls: list[Call]  # on the smaller table, then on the larger one

    def observed(self, delta: float, drawn: Sequence["Counter[Outcome]"]) -> tuple[float, float]:
        """The lower bound for epsilon, and how likely so large a misfit with the exact laws is."""
        tables = [sum(some, Counter[Outcome]()) for some in (drawn[:CHUNKS_OF_FITS], drawn[CHUNKS_OF_FITS:])]
        hits = [sum(n for x, n in table.items() if x in self.event.outcomes) for table in tables]
        fits = [misfit(table, {x: pq[i] for x, pq in self.seen.chances.items()}) for i, table in enumerate(tables)]
        likelier, other = (hits[1], hits[0]) if self.event.on_more else (hits[0], hits[1])
        return lower_bound(likelier, other, self.fits, delta), min(1.0, 2.0 * min(fits))


def _watch(subject: Subject, pair: Pair, effort: Effort) -> _Watched:
    chunk = (effort.fits_of_known_loss if subject.name == KNOWN_LOSS else effort.fits) // CHUNKS_OF_FITS
    seen, fits = watch(subject, pair), chunk * CHUNKS_OF_FITS
    calls = [(outcomes, subject, seen, table, chunk) for table in (pair.less, pair.more) for _ in range(CHUNKS_OF_FITS)]
    return _Watched(seen, best_event(seen.chances, fits), fits, calls)


def _row_of_choice(name: str, found: Finding) -> Row:
    holds = not is_broken(found.ratio)
    return Row(
        name, "one choice", Guarantee(found.allowed, 0.0), found.loss, 0.0, found.pairs, holds=holds, where=found.where
    )


def _rows_of_fit(
    subject: Subject, found: Sequence[Examined], watched: _Watched | None, drawn: Sequence["Counter[Outcome]"] = ()
) -> Iterator[Row]:
    proved, published = found[0].proved, found[0].published
    tried = sum(e.pairs for e in found)
    if proved is None and subject not in REFUTED:
        lost, why = published or Guarantee(math.inf, 0.0), "nothing is proved any more"
        yield Row(subject.name, "whole fit", lost, math.inf, 1.0, tried, holds=False, where=why)
    if proved is not None:
        worst = max((e.worst for e in found), key=lambda c: excess(c, proved))
        delta = proved.delta or 0.0
        holds = not is_broken(excess(worst, proved))
        if delta == 0.0:  # every way through the learner was charged for what it reveals
            holds = holds and max(e.uncharged for e in found) <= ROUNDING
        holds = holds and max(e.unpaid_checks for e in found) <= ROUNDING
        seen: dict[str, Any] = {}
        if watched is not None:
            observed, agreement = watched.observed(delta, drawn)
            power = observed / watched.event.epsilon if watched.event.epsilon > 0.01 else None
            holds = holds and observed <= proved.epsilon and agreement >= TOO_UNLIKELY
            holds = holds and (subject.name != KNOWN_LOSS or (power or 0.0) >= POWER)
            seen = {"observed": observed, "fits": 2 * watched.fits, "power": power, "agreement": agreement}
        yield _row_of_pair(subject, "whole fit", proved, worst, tried, holds=holds, **seen)
    if published is not None:
        worst = max((e.worst_published for e in found), key=lambda c: excess(c, published))
        delta = published.delta or 0.0
        is_proved = proved is not None and proved.epsilon <= published.epsilon and (proved.delta or 0.0) <= delta
        holds = not is_broken(excess(worst, published))
        yield _row_of_pair(subject, "as published", published, worst, tried, holds=holds, is_proved=is_proved)


def _row_of_pair(subject: Subject, level: str, claimed: Guarantee, worst: Compared, tried: int, **more: Any) -> Row:
    needed = worst.epsilon(claimed.delta or 0.0), worst.delta(claimed.epsilon)
    return Row(subject.name, level, claimed, *needed, tried, where=str(worst.pair), **more)


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


def claims_too_much(tried: Sequence[Parameters]) -> bool:
    """Whether a fit with such parameters says that something is proved."""
    return any(_says_proved(parameters) for parameters in tried)


def _says_proved(parameters: Parameters) -> bool:
    lists, trees = [GREEDY, WHOLE], [GREEDY_TREES, TREES]
    kinds: list[Any] = lists if "candidates" in parameters else lists + trees  # tests of a tree follow from its schema
    if "mechanism" in parameters:
        kinds = [kind for kind in kinds if kind in (GREEDY, GREEDY_TREES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fitted = [kind(**({"schema": schema_of_rules(2, 2)} | dict(parameters))).fit(X, Y) for kind in kinds]
    return any(model.privacy_.proved is not None for model in fitted)
