"""One fit of DP-XGBoost, in an environment of its own: it needs NumPy before 2, and has to be compiled.

The only argument is a file with ``X_train``, ``y_train``, ``X_test``, ``epsilon`` and ``seed``; all columns are between 0 and 1.
Prints the seconds of the fit and how many tests its trees have, and writes the chances of class 1 to the same file.

The settings are those of its authors' examples: squared error, 20 trees of depth 6, each from a fifth of the records, a leaf of
at least 500. By their formula the budget of one tree follows from epsilon. Its noise takes no seed.
"""

import json
import math
import sys
import time

import dp_xgboost
import numpy as np

TREES, PART = 20, 0.2


def main() -> None:
    """Fit, predict, answer."""
    path = sys.argv[1]
    with np.load(path, allow_pickle=False) as file:
        X_train, y_train, X_test, epsilon, seed = (file[n] for n in ("X_train", "y_train", "X_test", "epsilon", "seed"))
    bounds = {"feature_min": [0.0] * X_train.shape[1], "feature_max": [1.0] * X_train.shape[1], "nthread": 1}
    train = dp_xgboost.DMatrix(X_train.astype(np.float32), label=y_train.astype(np.float32), **bounds)
    settings = {
        "tree_method": "approxDP",
        "dp_epsilon_per_tree": math.log(1 + (math.exp(float(epsilon) / TREES) - 1) / PART),
        "subsample": PART,
        "objective": "reg:squarederror",
        "base_score": 0.5,
        "max_depth": 6,
        "learning_rate": 0.3,
        "lambda": 0.1,
        "min_child_weight": 500,
        "nthread": 1,
        "seed": int(seed),
        "verbosity": 0,
    }
    start = time.process_time()
    model = dp_xgboost.train(settings, train, num_boost_round=TREES)
    seconds = time.process_time() - start
    chances = model.predict(dp_xgboost.DMatrix(X_test.astype(np.float32), **bounds))
    tests = sum(tree.count("yes=") for tree in model.get_dump())
    np.savez(path, chances=np.clip(chances, 0.0, 1.0))
    print(json.dumps({"seconds": seconds, "size": tests}))


if __name__ == "__main__":
    main()
