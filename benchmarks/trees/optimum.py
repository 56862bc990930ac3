"""The best tree without privacy, beside pystreed's: as many records classified correctly, and the time of both."""

import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from splits import adult_20, compas_12

from discreet import OptimalTreeClassifier

CHILD = Path(__file__).with_name("streed_child.py")


def compare(python: Path | None) -> None:
    """On all records of both tables, in their published features."""
    print("| all records | correct | pystreed: correct | time | pystreed: time |\n|---|---|---|---|---|")
    for name, data in {"COMPAS, 12 features": compas_12(), "Adult, 20 features": adult_20()}.items():
        for depth in (2, 3, 4, 5):
            times = []
            for _ in range(3):
                start = time.process_time()
                clf = OptimalTreeClassifier(max_depth=depth, schema=data.schema).fit(data.X, data.y)
                times.append(time.process_time() - start)
            correct = int((clf.predict(data.X) == data.y).sum())
            assert correct == clf.certificate_.score
            peer = None if python is None else streed(python, data.X.to_numpy(), data.y, depth)
            theirs = ("", "") if peer is None else (f"{peer['correct']:,}", f"{peer['seconds']:.3f} s")
            print(
                f"| {name}, depth {depth} | {correct:,} | {theirs[0]} | {min(times):.3f} s | {theirs[1]} |", flush=True
            )
            assert peer is None or peer["correct"] == correct


def streed(python: Path, X: np.ndarray, y: np.ndarray, depth: int) -> Any:
    """What the peer finds, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "records.npz")
        np.savez(file, X=X, y=y)
        command = [str(python), str(CHILD), str(file), str(depth)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])
