"""Work in several processes, and its end: no command with workers may hang, or leave one behind."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet._utils.parallel import process_pool

INTERRUPTED_WITH_A_LOCK = """
import signal, sys, threading, time
from discreet.cli.ending import _noticing_ctrl_c
from discreet._utils.parallel import process_pool

class Interrupted(threading.Condition):
    "Once told to, the signal comes right after the main thread took the lock: nothing releases it then."
    left = None

    def __enter__(self):
        found = super().__enter__()
        if Interrupted.left is not None and threading.current_thread() is threading.main_thread():
            Interrupted.left -= 1
            if Interrupted.left == 0:
                signal.raise_signal(signal.SIGTERM)
        return found

if __name__ == "__main__":
    threading.Condition = Interrupted
    with _noticing_ctrl_c():
        try:
            with process_pool(2) as pool:
                tasks = [pool.submit(time.sleep, 0.05 if i < 2 else 60) for i in range(4)]
                Interrupted.left = int(sys.argv[1])
                [task.result() for task in tasks]
        except KeyboardInterrupt:
            sys.exit(130)
"""
AUDIT = "from discreet.cli import main\nif __name__ == '__main__':\n    main(['audit', '--quick', '--jobs', '2'])\n"


def started(script: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, script, *arguments], start_new_session=True, stderr=subprocess.DEVNULL)


def in_session_of(process: "subprocess.Popen[bytes]") -> list[int]:
    """The processes that it started, and theirs: they stay in its session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == process.pid:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found += [int(entry.name)] if state != "Z" else []
        except OSError:  # it ended meanwhile
            continue
    return [pid for pid in found if pid != process.pid]


def ends(process: "subprocess.Popen[bytes]") -> int:
    """The exit code; none of its processes may be left."""
    try:
        code = process.wait(timeout=20)
        deadline = time.monotonic() + 5
        while (left := in_session_of(process)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left
        return code
    finally:
        if process.poll() is None or in_session_of(process):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5])
def test_a_signal_that_comes_while_a_lock_is_held_ends_the_workers(tmp_path, moment):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED_WITH_A_LOCK)
    assert ends(started(script, str(moment))) == 130


@needs_proc
@pytest.mark.slow
def test_an_audit_that_is_told_to_end_at_any_moment_ends(tmp_path):
    script = tmp_path / "audit.py"
    script.write_text(AUDIT)
    for _ in range(25):
        process = started(script)
        deadline = time.monotonic() + 60
        while not in_session_of(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 5))
        process.send_signal(signal.SIGTERM)
        assert ends(process) == 130


def test_an_exception_in_any_task_is_raised_by_who_waits_for_another():
    with pytest.raises(ZeroDivisionError) as caught, process_pool(2) as pool:
        [pool.submit(time.sleep, 60), pool.submit(divmod, 1, 0)][0].result()
    assert "in _work" in caught.value.__notes__[0]


def test_tasks_come_as_they_are_done():
    with process_pool(2) as pool:
        tasks = {pool.submit(divmod, n, 7): n for n in range(30)}
        found = {tasks[task]: task.result() for task in pool.completed()}
    assert found == {n: divmod(n, 7) for n in range(30)}


def test_a_process_that_dies_is_noticed():
    with pytest.raises(RuntimeError, match="ended before its work was done"), process_pool(2) as pool:
        pool.submit(os._exit, 3).result()
