"""Work in parts, on all processors: NumPy lets other threads go on while it computes.

Each thread then multiplies matrices by itself. Small ones (and these are small) would take many times as long if several threads,
or processes, divided each of them once more.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")

MOST = 8  # each thread holds a part of the work in memory


def mapped(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """The results, in order. Only a few are computed ahead; none goes on once nobody wants more of them.

    >>> list(mapped(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield from _mapped(function, items, min(MOST, os.cpu_count() or 1))


@cache
def _libraries() -> ThreadpoolController:
    """Those that were loaded by now: NumPy's among them."""
    return ThreadpoolController()


def _mapped(function: Callable[[S], T], items: Iterable[S], workers: int) -> Iterator[T]:
    if workers == 1:
        yield from map(function, items)
        return
    ahead: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for item in items:
            ahead.append(_submitted(pool, function, item))
            if len(ahead) > 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(pool: ThreadPoolExecutor, function: Callable[[S], T], item: S) -> Future[T]:
    try:
        return pool.submit(function, item)
    except RuntimeError:  # "can't start new thread": there is no room for its stack
        raise MemoryError("no thread can be started") from None
