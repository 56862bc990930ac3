"""Work in several processes, and its end: no command with workers may hang, or leave one behind."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from discreet._utils.parallel import results_from_processes

STOPPED = """
import signal, sys, time
from discreet.cli.ending import _noticing_ctrl_c
from discreet._utils.parallel import results_from_processes

if __name__ == "__main__":
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM))
    with _noticing_ctrl_c():
        try:
            with results_from_processes([(time.sleep, 0.05 if i < 2 else 60) for i in range(4)], 2) as results:
                signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
                list(results)
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
@pytest.mark.parametrize("seconds", [0.001, 0.03, 0.2, 0.5, 1.5])
def test_a_signal_ends_the_workers_whatever_they_are_doing(tmp_path, seconds):
    script = tmp_path / "stopped.py"
    script.write_text(STOPPED)
    assert ends(started(script, str(seconds))) == 130


def test_no_lock_is_shared_with_a_thread_that_a_signal_could_leave_taken():
    """The main thread would wait for ever for a lock that it holds itself: so a pool of concurrent.futures is not used."""
    threads = threading.active_count()
    with results_from_processes([(divmod, 7, 2)], 1) as results:
        assert threading.active_count() == threads
        assert list(results) == [(0, (3, 1))]


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


def test_an_exception_in_any_call_is_raised_while_others_go_on():
    calls = [(time.sleep, 60), (divmod, 1, 0)]
    with pytest.raises(ZeroDivisionError) as caught, results_from_processes(calls, 2) as results:
        list(results)
    assert "in _work" in caught.value.__notes__[0]


def test_every_call_has_its_result():
    with results_from_processes([(divmod, n, 7) for n in range(30)], 2) as results:
        assert sorted(results) == [(n, divmod(n, 7)) for n in range(30)]


def test_a_process_that_dies_is_noticed():
    with (
        pytest.raises(RuntimeError, match="ended before its work was done"),
        results_from_processes([(os._exit, 3)], 2) as results,
    ):
        list(results)
