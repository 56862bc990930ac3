"""Work on several processors: in threads, as NumPy lets others go on while it computes, or in processes.

Each thread and process multiplies matrices by itself. Small ones (and these are small) would take many times as long if several
threads, or processes, divided each of them once more.

Processes end at once when something goes wrong, on Ctrl-C, or when told to. A signal may interrupt the main thread between any
two steps. A pool of ``concurrent.futures`` shares locks with a thread of its own, and a lock that the main thread holds at that
moment is never released: the program then waits for ever, its workers alive. Here they share no locks and no thread. Each process
has a pipe, and whoever waits for a result hands out the work.
"""

import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
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


class Task(Future[Any]):
    """A future of a pool, for the thread that submitted it: nobody else fetches its result."""

    def __init__(self, pool: "Pool", call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        super().__init__()
        self._pool, self.call = pool, call

    def result(self, timeout: float | None = None) -> Any:
        """Waits until it is there. An exception in any task of the pool is raised, not only in this one."""
        while not self.done():
            self._pool.collect()
        return super().result()


class Pool:
    """So many fresh processes, started when there is work for them."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._processes: list[SpawnProcess] = []
        self._waiting: deque[Task] = deque()
        self._idle: list[Connection] = []
        self._busy: dict[Connection, Task] = {}

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Task:
        """Do this as soon as a process is free. Those that become free get work while somebody waits for a result."""
        task = Task(self, (function, arguments))
        self._waiting.append(task)
        self._hand_out()
        return task

    def completed(self) -> Iterator[Task]:
        """Tasks as they are done, until there are no more."""
        while self._busy:
            yield self.collect()

    def collect(self) -> Task:
        """Wait until some process is done with its task, and give it another one; the task that was done."""
        pipe = cast(Connection, wait(list(self._busy))[0])
        task = self._busy.pop(pipe)
        with _sound_pipe():
            value, error = pipe.recv()
        if error is not None:
            task.set_exception(error)
            task.result()  # raised there, and so not taken for an error that this package words
        self._idle.append(pipe)
        self._hand_out()
        task.set_result(value)
        return task

    def _hand_out(self) -> None:
        if self._waiting and (self._idle or len(self._processes) < self._jobs):
            pipe = self._idle.pop() if self._idle else self._start()
            task = self._busy[pipe] = self._waiting.popleft()
            with _sound_pipe():
                pipe.send(task.call)

    def _start(self) -> Connection:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._processes.append(process)
        process.start()
        theirs.close()  # so that a process that ends closes the pipe
        return ours

    def end(self, at_once: bool = False) -> None:
        """Let the processes end by themselves, or whatever they are doing."""
        for pipe in () if at_once else (*self._idle, *self._busy):
            pipe.close()
        started = [process for process in self._processes if process.pid is not None]
        for process in started if at_once else ():
            process.kill()
        for process in started:
            process.join()


@contextmanager
def _sound_pipe() -> Iterator[None]:
    """Not a broken pipe of ours: the command line would take it for a reader of its output who went away."""
    try:
        yield
    except (EOFError, ConnectionError):
        raise RuntimeError("a process ended before its work was done") from None


@contextmanager
def process_pool(jobs: int) -> Iterator[Pool]:
    """So many fresh processes, one BLAS thread each. An exception in the block stops them, whatever they are doing."""
    for name in THREADS:
        os.environ.setdefault(name, "1")  # new processes inherit it; a process a core is enough
    pool = Pool(jobs)
    try:
        yield pool
        pool.end()
    except BaseException:
        pool.end(at_once=True)
        raise


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    while True:
        try:
            function, arguments = pipe.recv()
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
