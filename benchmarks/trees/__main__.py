"""Trees drawn whole, measured: speed, growth, accuracy, defaults, and the optimum without privacy; one thread.

    python benchmarks/trees --speed --numpy-trees FOLDER   against numpy_trees.py, which is not part of this repository
    python benchmarks/trees --estimate                     how far the estimate of a draw's time is off
    python benchmarks/trees --growth                       over tests, depth, records and classes: draws docs/growth-trees.svg
    python benchmarks/trees --accuracy [--peers FOLDER]    beside rule lists, and beside DP-EBM in an environment of its own
    python benchmarks/trees --ranking [--peers FOLDER]     area under the ROC curve, and what closes the gap to DP-EBM
    python benchmarks/trees --defaults                     other priors than the default
    python benchmarks/trees --optimum --streed PYTHON      OptimalTreeClassifier against pystreed, of a Python that has it

Times are processor time, the best of several runs that alternate with the peer's. Fits are seeded, so that they can be repeated,
and so not private.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # before NumPy comes
sys.dont_write_bytecode = True


def main() -> None:
    """One or several of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("speed", "estimate", "growth", "accuracy", "ranking", "defaults", "optimum"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--numpy-trees", type=Path, metavar="FOLDER", help="where numpy_trees.py is")
    parser.add_argument(
        "--peers", type=Path, metavar="FOLDER", help="an environment for DP-EBM, made if it is not there"
    )
    parser.add_argument("--streed", type=Path, metavar="PYTHON", help="a Python that has pystreed")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", default="", help="of the rows, those whose name has this in it")
    args = parser.parse_args()

    from discreet._utils.errors import SeededWarning

    warnings.simplefilter("ignore", SeededWarning)
    if args.speed:
        import speed

        speed.compare(args.numpy_trees)
    if args.estimate:
        import estimate

        estimate.compare()
    if args.growth:
        import growth

        growth.measure(Path(__file__).parents[2] / "docs" / "growth-trees.svg")
    if args.accuracy:
        import accuracy

        accuracy.compare(range(args.splits), args.peers, args.only)
    if args.ranking:
        import ranking

        ranking.compare(range(args.splits), args.peers, args.only)
    if args.defaults:
        import defaults

        defaults.compare(range(args.splits), args.only)
    if args.optimum:
        import optimum

        optimum.compare(args.streed)


if __name__ == "__main__":
    main()
