"""Work in processes of their own. This one imports nothing large: its memory would count as theirs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NOW = HERE.parents[1] / "src"


class Taken(NamedTuple):
    """What a process took, from its start to its end."""

    seconds: float
    bytes: int


def run(*command: object, source: Path = NOW) -> tuple[Taken, str]:
    """A command, with the version of discreet in this folder; what it took, and its standard output."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        said = child.stdout.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a child ended with status {child.returncode}")
    return Taken(time.perf_counter() - start, usage.ru_maxrss * 1024), said


def ask(job: str, source: Path = NOW, **what: Any) -> dict[str, Any]:
    """What a job of jobs.py answers: its own seconds, without imports, and the peak of its process."""
    taken, said = run(HERE / "jobs.py", job, json.dumps(what, default=str), source=source)
    answer: dict[str, Any] = json.loads(said.splitlines()[-1])
    return answer | {"bytes": taken.bytes, "whole": taken.seconds}


def megabytes(n: float) -> str:
    """Of bytes."""
    return f"{n / 2**20:,.0f} MiB"
