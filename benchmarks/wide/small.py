"""The three datasets, before and now: two processes that take turns, round by round, on one thread each."""

import json
import os
import subprocess
import sys
from pathlib import Path

from children import HERE, NOW


def compare(before: Path | None, rounds: int) -> None:
    """Processor time of each fit, the best of some rounds."""
    if before is None:
        raise SystemExit("--small needs --before, the src folder of an earlier version")
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    children = {
        name: subprocess.Popen(
            [sys.executable, HERE / "jobs.py", "small", "{}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | one_thread | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        for name, source in (("before", before), ("now", NOW))
    }
    best: dict[str, dict[str, float]] = {"before": {}, "now": {}}
    for _ in range(rounds):
        for name, child in children.items():
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"again\n")
            child.stdin.flush()
            for case, seconds in json.loads(child.stdout.readline()).items():
                best[name][case] = min(seconds, best[name].get(case, seconds))
    for child in children.values():
        child.communicate()
    print(f"{'processor time, best of ' + str(rounds):45} {'before':>10} {'now':>10}   before / now")
    for case, seconds in best["before"].items():
        now = best["now"][case]
        print(f"{case:45} {seconds * 1000:7.1f} ms {now * 1000:7.1f} ms {seconds / now:8.2f}")
