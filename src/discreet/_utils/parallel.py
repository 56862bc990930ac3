"""Work on several processors: in threads, as NumPy lets others go on while it computes, or in processes.

Each thread and process multiplies matrices by itself. Small ones (and these are small) would take many times as long if several
threads, or processes, divided each of them once more.

Processes end at once when something goes wrong, on Ctrl-C, or when told to. A signal may interrupt the main thread between any
two steps. A pool of ``concurrent.futures`` shares locks with a thread of its own, and a lock that the main thread holds at that
moment is never released: the program then waits for ever, its workers alive. Here they share no locks and no thread. Each process
has a pipe, and whoever waits for a result hands out the next call.
"""

import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar, cast

from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")
Call = tuple[Any, ...]  # a function and its arguments

MOST = 8  # each thread holds a part of the work in memory
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def mapped(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """The results, in order. Only a few are computed ahead; none goes on once nobody wants more of them.

    >>> list(mapped(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    workers = min(MOST, os.cpu_count() or 1)
    with _libraries().limit(limits=1, user_api="blas"):
        if workers == 1:
            yield from map(function, items)
            return
        ahead: deque[Future[T]] = deque()
        pool = ThreadPoolExecutor(workers)
        try:
            for item in items:
                try:
                    ahead.append(pool.submit(function, item))
                except RuntimeError:  # "can't start new thread": there is no room for its stack
                    raise MemoryError("no thread can be started") from None
                if len(ahead) > 2 * workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


@cache
def _libraries() -> ThreadpoolController:
    """Those that were loaded by now: NumPy's among them."""
    return ThreadpoolController()


@contextmanager
def results_from_processes(calls: Sequence[Call], jobs: int) -> Iterator[Iterator[tuple[int, Any]]]:
    """The number of each call and its result, as they are done, in so many fresh processes of one BLAS thread each.

    What a call raises is raised here at once. When the block ends, for whatever reason, so do the processes.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")  # new processes inherit it; a process a core is enough
    processes: list[SpawnProcess] = []
    try:
        yield _results(calls, jobs, processes)
    finally:
        started = [process for process in processes if process.pid is not None]
        for process in started:
            process.kill()
        for process in started:
            process.join()


def _results(calls: Sequence[Call], jobs: int, processes: list[SpawnProcess]) -> Iterator[tuple[int, Any]]:
    waiting = deque(enumerate(calls))
    busy: dict[Connection, int] = {}

    def hand_out(pipe: Connection) -> None:
        if waiting:
            busy[pipe], call = waiting.popleft()
            with _sound_pipe():
                pipe.send(call)

    for _ in range(min(jobs, len(calls))):
        hand_out(_start(processes))
    while busy:
        pipe = cast(Connection, wait(list(busy))[0])
        number = busy.pop(pipe)
        with _sound_pipe():
            result, error = pipe.recv()
        if error is not None:
            raise error
        hand_out(pipe)
        yield number, result


def _start(processes: list[SpawnProcess]) -> Connection:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    processes.append(process)
    process.start()
    theirs.close()  # so that a process that ends closes the pipe
    return ours


@contextmanager
def _sound_pipe() -> Iterator[None]:
    """Not a broken pipe of ours: the command line would take it for a reader of its output who went away."""
    try:
        yield
    except (EOFError, ConnectionError):
        raise RuntimeError("a process ended before its work was done") from None


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    while True:
        try:
            function, *arguments = pipe.recv()
        except (EOFError, ConnectionError):  # no more work, or who started us is gone
            return
        value, failed = None, None
        try:
            value = function(*arguments)
        except Exception as error:
            error.add_note(traceback.format_exc())
            failed = error
        with suppress(ConnectionError):
            pipe.send((value, failed))
