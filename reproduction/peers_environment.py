"""An environment of their own for other libraries, and processes in it that fit for us.

Their requirements contradict ours, so nothing of theirs is imported here. A split goes there as a file, and its rows come back.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np

from discreet._utils.parallel import THREADS

from .runner import Unit, seed_of, write_part
from .splits import split_of

CHILD = Path(__file__).with_name("peers_child.py")


class PeersError(RuntimeError):
    """The environment could not be made, or a process in it failed."""


def environment(folder: Path) -> Path:
    """The Python of the environment in a folder, which is made if it is not there. About half a minute, once.

    What was installed is noted last, so one that was not finished, or is of older requirements, is made anew.
    """
    wanted = files(__package__).joinpath("peers-requirements.txt").read_text(encoding="utf-8")
    note, python = folder / "installed.txt", folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists() and note.exists() and note.read_text(encoding="utf-8") == wanted:
        return python
    note.unlink(missing_ok=True)
    _done([sys.executable, "-m", "venv", "--clear", str(folder)], folder)
    requirements = folder / "requirements.txt"
    requirements.write_text(wanted, encoding="utf-8")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-r", str(requirements)]
    _done(pip, folder)
    os.replace(requirements, note)
    return python


def _done(command: list[str], folder: Path) -> None:
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if result.returncode:
        raise PeersError(
            f"--peers: the environment in {folder} could not be made. What was fitted before is kept; check the network and "
            f"start again, or leave --peers out. Its last output was:\n{_end(result.stderr or result.stdout)}"
        )


def _end(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-8:])


class Child:
    """A process in the environment, asked by one thread at a time."""

    def __init__(self, python: Path, script: Path = CHILD) -> None:
        self._words = TemporaryFile()  # noqa: SIM115  # what it says on its standard error, closed with it
        self._process = subprocess.Popen(
            [str(python), "-I", str(script)],  # apart from our modules and the user's
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=os.environ | dict.fromkeys(THREADS, "1"),
            encoding="utf-8",
        )

    def ask(self, question: dict[str, Any]) -> Any:
        """A line there and a line back."""
        pipes = self._process.stdin, self._process.stdout
        assert pipes[0] is not None
        assert pipes[1] is not None
        try:
            pipes[0].write(json.dumps(question) + "\n")
            pipes[0].flush()
            line = pipes[1].readline()
        except OSError:  # it is gone
            line = ""
        if not line.endswith("\n"):
            self._words.seek(0)
            words = _end(self._words.read().decode(errors="replace"))
            raise PeersError(f"--peers: a fit failed. What was fitted before is kept. Its last output was:\n{words}")
        return json.loads(line)

    def end(self) -> None:
        """At once, whatever it is doing."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Its pipes too, when no thread waits for it any more."""
        self.end()
        for file in (self._process.stdin, self._process.stdout, self._words):
            if file is not None:
                file.close()


def fit_in(
    python: Path,
    todo: Sequence[Unit],
    parts: Path,
    jobs: int,
    progress: Callable[[int], None],
    script: Path = CHILD,
) -> None:
    """Do units in the environment, in so many processes; each that is done is a file in ``parts``, as in the runner."""
    idle: SimpleQueue[Child] = SimpleQueue()
    with TemporaryDirectory() as scratch, ExitStack() as stack:
        children = [Child(python, script) for _ in range(min(jobs, len(todo)))]
        for child in children:
            stack.callback(child.close)
            idle.put(child)
        with ThreadPoolExecutor(max(1, len(children))) as pool:
            try:
                futures = {pool.submit(_do, unit, idle, parts, Path(scratch)): unit for unit in todo}
                for future in as_completed(futures):
                    future.result()
                    progress(futures[future].fits)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in children:
                    child.end()  # so that the threads which wait for an answer do not
                raise


def _do(unit: Unit, idle: "SimpleQueue[Child]", parts: Path, scratch: Path) -> None:
    child = idle.get()
    try:
        write_part(unit, _rows_of(unit, child, scratch / f"{unit.key}.npz"), parts)
    finally:
        idle.put(child)


def _rows_of(unit: Unit, child: Child, file: Path) -> list[dict[str, Any]]:
    split = split_of(unit.dataset, unit.setup, unit.seed)
    np.savez(file, X_train=split.X_train, y_train=split.y_train, X_test=split.X_test, y_test=split.y_test)
    fits = [(method, epsilon, seed_of(unit, method, epsilon)) for method in unit.methods for epsilon in unit.epsilons]
    rows = child.ask({"records": str(file), "fits": fits})
    file.unlink()
    where = {"experiment": unit.experiment, "setup": unit.setup, "dataset": unit.dataset, "seed": unit.seed}
    return [where | row for row in rows]
