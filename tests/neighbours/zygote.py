"""Runs calls and commands in new processes, and tells everything that could be seen from outside.

A process that has imported everything, and done nothing, forks for each call: so a call takes milliseconds, and none sees what
another left behind. What is seen: exit code, stdout, stderr, every file that is left (name, mode, content), the name of every
file that was opened for writing or made on the way; of a Python call its value, or its exception with all that it carries, and
the warnings.
"""

import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import traceback
from pathlib import Path

SECONDS = 120


class Zygote:
    """The process that forks. ``run`` starts one call in a folder and returns what was seen."""

    def __init__(self):
        environment = os.environ | {
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.neighbours.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=Path(__file__).parents[2],
        )

    def run(self, folder, job):
        """``job``: {"command": [...]} or {"call": name, ...}.

        For both, {"constants": {name: value}} sets constants of modules, {"fault": name} lets something go wrong, and
        {"leak": name} makes a hole, to test the harness. With {"seed": n} draws are real, from a seed, in place of fixed ones.
        """
        print(json.dumps({"folder": str(folder), **job}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the process that forks has ended"
        return json.loads(answer)

    def close(self):
        self._process.kill()
        self._process.communicate()


def _serve():
    _import_everything()
    gc.collect()
    gc.freeze()  # so that a fork does not copy what it never touches
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(_seen(Path(job["folder"]), job)), flush=True)


def _import_everything():
    import duckdb  # noqa: F401
    import ibis
    import opendp.measurements  # noqa: F401
    import pandas  # noqa: F401
    import polars  # noqa: F401
    import pyarrow.feather
    import pyarrow.parquet  # noqa: F401

    import discreet

    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    assert ibis.duckdb
    import rich.console
    import rich.panel  # noqa: F401

    from . import calls  # noqa: F401


def _seen(folder, job):
    aside = folder.parent / "aside"  # what is seen is not among what is looked at
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    before = _files(folder)
    pid = os.fork()
    if pid == 0:
        _child(folder, aside, job)
    code = _wait(pid)
    seen = {"exit code": code}
    for file in sorted(aside.iterdir()):
        seen[file.name] = _plain(file.read_bytes())
    after = _files(folder)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            seen[f"file {name}"] = _plain(after.get(name, b"(gone)"))
    return seen


def _wait(pid):
    import time

    for _ in range(SECONDS * 100):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "did not end"


def _files(folder):
    """Of every file its mode and content, of every folder its mode."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = f"{path.lstat().st_mode:o} ".encode()
        found[str(path.relative_to(folder))] = mode + (path.read_bytes() if path.is_file() else b"")
    return found


def _plain(content):
    return content.decode("utf-8", "backslashreplace")


def _child(folder, aside, job):
    code = 99
    try:
        os.chdir(folder)
        (folder / "tmp").mkdir(exist_ok=True)
        os.environ |= {"TMPDIR": str(folder / "tmp"), "HOME": str(folder), "DISCREET_HOME": str(folder / "home")}
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(aside / name, os.O_CREAT | os.O_WRONLY, 0o600), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.stdin = os.fdopen(0)
        code = _run(aside, job)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _run(aside, job):
    from . import faults, leaks
    from .fixed_draws import fix_draws

    made = []
    fix_draws() if job.get("seed") is None else _seed(job["seed"])
    for name, value in job.get("constants", {}).items():
        module, _, constant = f"discreet.{name}".rpartition(".")
        assert hasattr(importlib.import_module(module), constant), f"there is no {name} any more"
        setattr(sys.modules[module], constant, value)
    for kind, holes in (("fault", faults), ("leak", leaks)):
        if kind in job:
            getattr(holes, job[kind])()
    sys.addaudithook(lambda event, args: made.append(_made(event, args)))
    try:
        if "command" in job:
            return _command(job["command"])
        from . import calls

        (aside / "value").write_text(calls.observed(job))
        return 0
    finally:
        names = [name for name in made if name and str(aside) not in name and "__pycache__" not in name]
        (aside / "files made").write_text("\n".join(names))


def _seed(seed):
    """Real draws, from a seed; random names and the clock stand still as they do with fixed draws."""
    from ..support.seeded_system import seed_the_system
    from .fixed_draws import fix_names

    fix_names()
    seed_the_system(seed)


def _made(event, args):
    """The name of a file that is opened for writing, made, renamed or removed."""
    if event == "open" and isinstance(args[0], int):  # a descriptor, which has no name; threads make their number vary
        return None
    if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return f"open {args[0]}"
    if event in ("os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "tempfile.mkstemp", "tempfile.mkdtemp"):
        return f"{event} {args[0]} {args[1] if event in ('os.rename', 'os.link', 'os.symlink') else ''}"
    return None


def _command(arguments):
    from discreet.cli import main

    sys.argv = ["discreet", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # as Python itself would do it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _serve()
