"""Fits DP-EBM. A script for an environment that has it and not discreet (reproduction.peers_environment).

Each line of the standard input is a question, {"records": a file, "kinds": ..., "epsilons": ..., "seed": ...}, answered by a
line. ``kinds`` has, for each column, its bounds [low, high] if it is a number, or all of its categories: nothing is read from
the records. Where the library says that it looked at them all the same, the fit fails.
"""

import json
import os
import sys
import time
import warnings
from typing import Any


def answer(question: dict[str, Any]) -> list[dict[str, float]]:
    """Test accuracy, area under the ROC curve and seconds, for each epsilon."""
    import numpy as np
    from interpret.privacy import DPExplainableBoostingClassifier
    from sklearn.metrics import roc_auc_score

    with np.load(question["records"], allow_pickle=False) as file:
        X_train, y_train, X_test, y_test = (file[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    kinds = question["kinds"]
    numbers = [not isinstance(kind[0], str) for kind in kinds]
    types = ["continuous" if number else kind for number, kind in zip(numbers, kinds, strict=True)]
    bounds = {f"column {i}": kind for i, kind in enumerate(kinds) if numbers[i]}

    def columns(X: Any) -> Any:
        """Numbers as numbers, and categories by name."""
        table = X.astype(object)
        for i, kind in enumerate(kinds):
            if not numbers[i]:
                table[:, i] = np.array(kind, object)[X[:, i].astype(int)]
        return table

    if all(numbers):
        columns = lambda X: X  # noqa: E731
    found = []
    for epsilon in question["epsilons"]:
        start = time.perf_counter()
        model = DPExplainableBoostingClassifier(
            feature_names=[f"column {i}" for i in range(len(kinds))],
            feature_types=types,
            privacy_bounds=bounds,
            epsilon=epsilon,
            delta=1 / len(y_train) ** 2,
            n_jobs=1,
            random_state=question["seed"],
        ).fit(columns(X_train), y_train)
        seconds = time.perf_counter() - start
        chances = model.predict_proba(columns(X_test))[:, 1]
        accuracy = float(((chances > 0.5) == y_test).mean())
        found.append({"accuracy": accuracy, "area": float(roc_auc_score(y_test, chances)), "seconds": seconds})
    return found


def main() -> None:
    """Answer until there are no questions."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints is no answer
    warnings.filterwarnings("error", "Possible privacy violation")
    warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
