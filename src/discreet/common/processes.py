"""Work on several cores that ends at once when something goes wrong, or on Ctrl-C."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many fresh processes, one BLAS thread each. An exception in the block stops them, whatever they are doing."""
    for name in THREADS:
        os.environ.setdefault(name, "1")  # new processes inherit it; a process a core is enough
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_leave_ctrl_c_to_the_parent)
    try:
        yield pool
    except BaseException:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        raise
    pool.shutdown()


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
