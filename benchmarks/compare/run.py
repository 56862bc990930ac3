"""Every method on every table: a line of JSON for each fit, appended when it is done. What is there is never computed again.

Each fit is a process of its own, forked when the table is in memory, so that its memory is its own and its time can be limited.
Linux and macOS. A fit that takes more processor time than the limit is recorded as such, and one that failed with its error.
"""

import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
import zlib
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from forms import Forms, forms_of
from measures import measures
from methods import METHODS, NotHere, Split
from schemas import prepare
from tables import Table

EPSILONS = (0.1, 1.0, 10.0)
SPLITS, SPLITS_OF_WHOLE = 10, 5  # tables with hundreds of thousands of records vary little from split to split
LIMIT = 120  # seconds of processor time


class Job(NamedTuple):
    """One fit."""

    table: str
    method: str
    epsilon: float | None
    split: int


def jobs_of(table: Table, splits: int | None, epsilons: tuple[float, ...], methods: list[str]) -> list[Job]:
    """All fits of a table."""
    several = range(min(splits or SPLITS, SPLITS_OF_WHOLE if table.whole else SPLITS))
    levels: dict[str, tuple[float | None, ...]] = {m: epsilons if METHODS[m].epsilons else (None,) for m in methods}
    return [
        Job(table.name, m, epsilon, split)
        for split in several
        for m in methods
        for epsilon in levels[m]
        if split < (METHODS[m].splits or SPLITS)
    ]


def read(path: Path) -> dict[Job, dict[str, Any]]:
    """What is done. A line that was cut off when the program was stopped is not."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[Job(row["table"], row["method"], row["epsilon"], row["split"])] = row
    return found


def run(path: Path, tables: list[Table], todo: dict[str, list[Job]], processes: int) -> None:
    """Do the jobs of each table that are not done yet."""
    done = read(path)
    if path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
    load_libraries()
    bar = Bar(sum(map(len, todo.values())), sum(job in done for jobs in todo.values() for job in jobs))
    with path.open("a", encoding="utf-8") as file:
        for table in tables:
            missing = [job for job in todo[table.name] if job not in done]
            if not missing:
                continue
            bar.show(f"{table.name}: getting it")
            forms = forms_of(prepare(table))
            facts = facts_of(forms)
            for job, row in rows_of(forms, missing, processes):
                file.write(json.dumps({**job._asdict(), **row, **facts}) + "\n")
                file.flush()
                bar.step(table.name)
    bar.end()


def facts_of(forms: Forms) -> dict[str, Any]:
    """Of the table, for the page: it is written without the packages that have the data."""
    data = forms.data
    shares = np.bincount(data.y, minlength=len(data.classes)) / len(data.y)
    return {
        "records": data.records,
        "used": len(data.y),
        "public": data.public,
        "columns": len(data.schema.used),
        "classes": len(data.classes),
        "largest": round(float(shares.max()), 4),
        "smallest": round(float(shares.min()), 4),
    }


def load_libraries() -> None:
    """Before anything is forked, so that no fit waits for imports."""
    import sklearn.dummy
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.tree  # noqa: F401


def rows_of(forms: Forms, jobs: list[Job], processes: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    """So many at a time, each as soon as it is done."""
    context = multiprocessing.get_context("fork")
    waiting, busy = list(reversed(jobs)), {}
    try:
        while waiting or busy:
            while waiting and len(busy) < processes:
                here, there = context.Pipe(duplex=False)
                job = waiting.pop()
                child = context.Process(target=work, args=(there, forms, job), daemon=True)
                child.start()
                there.close()
                busy[here] = job, child
            for here in wait(list(busy)):
                job, child = busy.pop(here)
                yield job, answer_of(here, child)
    finally:
        for _, child in busy.values():
            child.kill()


def answer_of(here: Connection, child: Any) -> dict[str, Any]:
    """What a process found, or how it ended."""
    try:
        row = here.recv()
    except EOFError:
        row = None
    child.join()
    here.close()
    if row is not None:
        return row
    if child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"skipped": f"more than {LIMIT} s a fit", "late": True}
    return {"failed": f"the process ended with status {child.exitcode}"}


def work(there: Connection, forms: Forms, job: Job) -> None:
    """In a process of its own."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    try:
        row = fit(forms, job)
    except NotHere as reason:
        row = {"skipped": str(reason)}
    except Exception as error:
        row = {"failed": f"{type(error).__name__}: {error}"[:300]}
    there.send(row)
    there.close()


def fit(forms: Forms, job: Job) -> dict[str, Any]:
    """A 70/30 split by its number, the same for all methods; seeded, to be the same in each run, and so not private."""
    warnings.simplefilter("ignore")
    start = sum(os.times()[:4])  # of this process, and of those that it starts
    method, data = METHODS[job.method], forms.data
    if method.binary and len(data.classes) > 2:
        raise NotHere("for two classes only")
    order = np.random.default_rng(job.split).permutation(len(data.y))
    n = int(0.7 * len(order))
    seed = zlib.crc32(repr(job).encode())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = method.fit(Split(forms, order[:n], order[n:]), job.epsilon or 0.0, seed)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    scale = 1 if sys.platform == "darwin" else 1024
    numbers = measures(data.y[order[n:]], np.asarray(found.labels, int), found.chances)
    rounded = {name: round(value, 6) for name, value in numbers.items()}
    spent = sum(os.times()[:4]) - start
    taken = {"seconds": round(found.seconds, 4), "spent": round(spent, 4), "bytes": grown * scale}
    return rounded | {"size": found.size} | taken


class Bar:
    """How many fits are done, of how many, and for how long."""

    def __init__(self, total: int, done: int) -> None:
        self.total, self.done, self.before, self.start = total, done, done, time.monotonic()

    def step(self, what: str) -> None:
        """One more."""
        self.done += 1
        self.show(what)

    def show(self, what: str) -> None:
        """On a terminal, over what was there."""
        if sys.stderr.isatty():
            filled = 30 * self.done // max(1, self.total)
            line = (
                f"[{'#' * filled}{'.' * (30 - filled)}] {self.done:,} of {self.total:,} fits, {self.passed()}, {what}"
            )
            print(f"\r{line[:110]:110}", end="", file=sys.stderr, flush=True)
        elif what.endswith("getting it"):
            print(f"{self.done:,} of {self.total:,} fits, {self.passed()}, {what}", file=sys.stderr, flush=True)

    def passed(self) -> str:
        """Minutes and seconds since the start."""
        seconds = int(time.monotonic() - self.start)
        return f"{seconds // 60}:{seconds % 60:02}"

    def end(self) -> None:
        """With the time it took."""
        print(
            f"\n{self.done - self.before:,} fits in {self.passed()}; {self.done:,} of {self.total:,} done",
            file=sys.stderr,
        )


def forget(path: Path, what: str) -> None:
    """Leave out lines with this entry ("failed", "late", "skipped"), or of this method."""
    rows = [row for row in read(path).values() if what not in row and row["method"] != what]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
