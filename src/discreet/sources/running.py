"""A query that runs in a thread of its own, so that the main thread stays free: for Ctrl-C, and to say how far the query is.

(In the main thread, DuckDB does not notice Ctrl-C before the query has ended.) However a fit ends, its query is cancelled in the
engine's own way, and the thread has ended, before the fit gives up: no query goes on, and the connection is good for another.
A share of the work and seconds are all that is ever shown, never how many records there are.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, NamedTuple
from uuid import uuid4

SECONDS = 0.1  # between two looks at the clock
PATIENCE = 60.0  # seconds, with a cluster that has lost its last worker


class WorkersLost(Exception):
    """Nobody is left to do the work. The engine itself would wait for another worker, however long."""


class Query(NamedTuple):
    """What is needed of an engine to watch a query and to cancel it."""

    cancel: Callable[[], Any]
    share: Callable[[], float | None] = lambda: None  # which part is done; None if the engine does not say
    begun: Callable[[], AbstractContextManager[Any]] = nullcontext  # around the query, in its thread
    workers: Callable[[], int | None] = lambda: None  # how many there are; None if the engine has none or does not say
    thread: Callable[..., Thread] = Thread


def _duckdb(backend: Any, watched: bool, plain: bool = True) -> Query:
    """Where something is computed from the columns, DuckDB may not conclude anything from what files say of them (bins.py)."""
    connection = backend.con
    wanted = {"enable_progress_bar": "true", "enable_progress_bar_print": "false"} if watched else {}
    wanted |= {} if plain else {"disabled_optimizers": "statistics_propagation,filter_pushdown"}

    def share() -> float | None:
        percent = float(connection.query_progress())
        return percent / 100 if percent >= 0 else None

    @contextmanager
    def begun() -> Iterator[None]:
        """DuckDB keeps count of its progress while it is told to. Its settings are as before afterwards."""
        before = {name: connection.execute(f"SELECT current_setting('{name}')").fetchall()[0][0] for name in wanted}
        try:
            for name, value in wanted.items():
                connection.execute(f"SET {name} = '{value}'")
            yield
        finally:
            with suppress(Exception):  # the connection may be lost
                for name, value in before.items():
                    connection.execute(f"SET {name} = '{value}'")

    return Query(connection.interrupt, share, begun)


def _postgres(backend: Any, watched: bool, plain: bool = True) -> Query:
    """PostgreSQL does not say how far a SELECT is."""
    return Query(getattr(backend.con, "cancel_safe", backend.con.cancel))


def _spark(backend: Any, watched: bool, plain: bool = True) -> Query:
    """The jobs of the query are a group, by a name that no other has; in Spark Connect, they have a tag."""
    session, name = backend._session, f"discreet-{uuid4()}"
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return _spark_connect(session, name, watched)
    from pyspark import InheritableThread  # with the main thread's settings, such as its pool

    context = session.sparkContext

    def share() -> float | None:
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(name)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        return _part([(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage])

    def begun() -> AbstractContextManager[Any]:
        context.setJobGroup(name, "discreet")  # of this thread, which ends
        return nullcontext()

    def workers() -> int:
        return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # one is the driver

    return Query(lambda: context.cancelJobGroup(name), share, begun, workers, InheritableThread)


def _spark_connect(session: Any, name: str, watched: bool) -> Query:
    noted: list[float | None] = [None]

    def note(stages: Any, **_: Any) -> None:
        noted[0] = _part([(stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()])

    @contextmanager
    def begun() -> Iterator[None]:
        session.addTag(name)  # of this thread, which ends
        if watched:
            session.registerProgressHandler(note)
        try:
            yield
        finally:
            if watched:
                session.removeProgressHandler(note)

    return Query(lambda: session.interruptTag(name), lambda: noted[0], begun)


def _part(tasks: list[tuple[int, int]]) -> float | None:
    all_of_them = sum(n for _, n in tasks)
    return sum(done for done, _ in tasks) / all_of_them if all_of_them else None


QUERIES = {"duckdb": _duckdb, "postgres": _postgres, "pyspark": _spark}


def run(
    backend: Any, engine: str, batches: Callable[[], Iterator[Any]], verbose: bool = False, plain: bool = True
) -> Iterator[Any]:
    """The batches, fetched in a thread of their own. When nobody wants more of them, the query is cancelled."""
    if backend.name not in QUERIES:  # an engine of which nobody knows how to cancel a query
        yield from batches()
        return
    query = QUERIES[backend.name](backend, verbose, plain)
    ready: Queue[tuple[Any, BaseException | None]] = Queue(2)
    stopped = Event()

    def fetch() -> None:
        error = None
        try:
            with query.begun():
                for batch in batches():
                    ready.put((batch, None))
                    if stopped.is_set():
                        break
        except BaseException as caught:
            error = caught
        ready.put((None, error))

    thread = query.thread(target=fetch, name="discreet-query", daemon=True)
    check = _patient(query.workers)
    with ExitStack() as stack:
        say = stack.enter_context(_line(engine, query.share)) if verbose else lambda: None
        try:
            thread.start()
            while True:
                try:
                    batch, error = ready.get(timeout=SECONDS)
                except Empty:
                    say()
                    check()
                    continue
                if batch is None:
                    thread.join()
                    if error is not None:
                        raise error
                    return
                yield batch
        finally:
            stopped.set()
            while thread.is_alive():  # again, as the query may not have begun yet; a second Ctrl-C ends the waiting
                with suppress(Exception):
                    query.cancel()
                while not ready.empty():  # the thread may be waiting for a place
                    ready.get()
                thread.join(10 * SECONDS)


def _patient(workers: Callable[[], int | None]) -> Callable[[], None]:
    """Complains if there were workers, and have been none for a while. A cluster may take long to give the first one."""
    looked, seen = -math.inf, math.inf  # when we last looked, and when there was one

    def check() -> None:
        nonlocal looked, seen
        now = time.monotonic()
        if now - looked < 1.0:
            return
        looked = now
        if workers():
            seen = now
        elif now - seen > PATIENCE:
            raise WorkersLost

    return check


@contextmanager
def _line(engine: str, share: Callable[[], float | None]) -> Iterator[Callable[[], None]]:
    """A line on the stderr of a terminal, gone at the end. Elsewhere nothing."""
    from rich.console import Console

    start, console = time.monotonic(), Console(stderr=True)
    with console.status(f"{engine} counts the records ...") as status:

        def say() -> None:
            done = None
            if console.is_terminal:
                with suppress(Exception):
                    done = share()
            part = "" if done is None else f"{done:.0%}, "
            status.update(f"{engine} counts the records: {part}{time.monotonic() - start:.0f} s")

        yield say
