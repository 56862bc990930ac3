"""Fits classifiers of other libraries. A script for an environment that has them and not discreet, so it imports nothing of ours.

Each line of the standard input asks for fits on one split, and each is answered with a line. It ends with its input, so it does
not outlive the process that started it.

What the libraries would otherwise read from the records is given: columns are 0 or 1, classes are 0 and 1, n is public. Where a
library says that it looked at the records all the same, the fit fails.
"""

import json
import os
import signal
import sys
import time
import warnings
from typing import Any


def bounds(columns: int) -> tuple[Any, Any]:
    """Every column is between 0 and 1."""
    import numpy as np

    return np.zeros(columns), np.ones(columns)


def tree(epsilon: float, columns: int, n: int, seed: int) -> Any:
    """Random splits; a label for each leaf by permute-and-flip. Leaves share no record, so each has the whole epsilon."""
    from diffprivlib import BudgetAccountant
    from diffprivlib.models import DecisionTreeClassifier

    own = {"bounds": bounds(columns), "classes": [0, 1], "accountant": BudgetAccountant(epsilon, 0)}
    return DecisionTreeClassifier(epsilon=epsilon, random_state=seed, **own)


def forest(epsilon: float, columns: int, n: int, seed: int) -> Any:
    """Ten such trees, each on a tenth of the records."""
    from diffprivlib import BudgetAccountant
    from diffprivlib.models import RandomForestClassifier

    own = {"bounds": bounds(columns), "classes": [0, 1], "accountant": BudgetAccountant(epsilon, 0)}
    return RandomForestClassifier(epsilon=epsilon, shuffle=True, random_state=seed, **own)


def logistic(epsilon: float, columns: int, n: int, seed: int) -> Any:
    """Objective perturbation on records of norm at most 1, with a column of ones instead of an intercept.

    For such records the library's noise is that of the theorem (Chaudhuri et al. 2011). It adds less for larger norms: it has the
    norm where the proof needs its square, and an intercept that is not regularised, as the proof needs it to be.
    """
    import numpy as np
    from diffprivlib import BudgetAccountant
    from diffprivlib.models import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def within_the_unit_ball(X: Any) -> Any:
        return np.column_stack([X, np.ones(len(X))]) / np.sqrt(columns + 1)

    own = {"data_norm": 1.0, "fit_intercept": False, "max_iter": 1000, "accountant": BudgetAccountant(epsilon, 0)}
    model = LogisticRegression(epsilon=epsilon, random_state=seed, **own)
    return make_pipeline(FunctionTransformer(within_the_unit_ball), model)


def dp_ebm(epsilon: float, columns: int, n: int, seed: int) -> Any:
    """Boosted functions of one column each. Columns are given as numbers in [0, 1]: categories would be read from the records."""
    import numpy as np
    from interpret.privacy import DPExplainableBoostingClassifier

    return DPExplainableBoostingClassifier(
        feature_names=[f"column {i}" for i in range(columns)],
        feature_types=["continuous"] * columns,
        privacy_bounds=np.column_stack(bounds(columns)),
        epsilon=epsilon,
        delta=1 / n**2,
        n_jobs=1,
        random_state=seed,
    )


MAKERS = {
    "DP-EBM": dp_ebm,
    "diffprivlib tree": tree,
    "diffprivlib forest": forest,
    "diffprivlib logistic": logistic,
}


def strict() -> None:
    """A look at the records beyond the budget is an error. Seeds, which a real fit must not have, make ours repeatable."""
    from diffprivlib.utils import PrivacyLeakWarning

    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("error", PrivacyLeakWarning)
    warnings.filterwarnings("error", "Possible privacy violation")
    warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")


def answer(question: Any) -> list[dict[str, Any]]:
    """A row for each fit: {"records": a file, "fits": [[method, epsilon, seed], ...]}."""
    import numpy as np

    with np.load(question["records"]) as file:
        X_train, y_train, X_test, y_test = (file[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    X_train, X_test = X_train.astype(float), X_test.astype(float)
    found = []
    for method, epsilon, seed in question["fits"]:
        start = time.perf_counter()
        model = MAKERS[method](epsilon, X_train.shape[1], len(y_train), seed % 2**31).fit(X_train, y_train)
        seconds = time.perf_counter() - start
        accuracies = [float((model.predict(X) == y).mean()) for X, y in ((X_train, y_train), (X_test, y_test))]
        found.append(
            {"method": method, "epsilon": epsilon, "train_accuracy": accuracies[0], "test_accuracy": accuracies[1]}
            | {"seconds": seconds}
        )
    return found


def main() -> None:
    """Answer until there are no questions."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the libraries print is no answer
    strict()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
