"""A query that runs in a thread of its own, so that the main thread stays free: for Ctrl-C, and to say how far the query is.

(In the main thread, DuckDB does not notice Ctrl-C before the query has ended.) However a fit ends, its query is cancelled in the
engine's own way, and the thread has ended, before the fit gives up: no query goes on, and the connection is good for another.
A share of the work and seconds are all that is ever shown, never how many records there are.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, Queue
from threading import Event
from typing import Any

from .engines.base import Engine

SECONDS = 0.1  # between two looks at the clock
PATIENCE = 60.0  # seconds, with a cluster that has lost its last worker


class WorkersLost(Exception):
    """Nobody is left to do the work. The engine itself would wait for another worker, however long."""


def run(
    engine: Engine, batches: Callable[[], Iterator[Any]], verbose: bool = False, plain: bool = True
) -> Iterator[Any]:
    """The batches, fetched in a thread of their own. When nobody wants more of them, the query is cancelled.

    ``plain``: whether they are about a table as it is (``Engine.is_plain``).
    """
    query = engine.query(verbose, plain)
    if query is None:  # nobody knows how to cancel one
        yield from batches()
        return
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
        say = stack.enter_context(_line(engine.name, query.share)) if verbose else lambda: None
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
