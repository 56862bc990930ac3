"""How much faster the paper's grid is than with a plain implementation, in one run.

Reads rows of a finished `python -m reproduction` (a row has the seconds of its fit), times the peer on two splits of each dataset
in the same process, and extrapolates: every private method of the authors evaluates all rules on all remaining records at every
step, as the peer does. One thread.

    python benchmarks/reproduce.py reproduction/full/results.parquet
"""

import sys

import pandas as pd
from greedy import median_seconds, plain_peer
from reproduction.setups import MAX_LITERALS
from reproduction.splits import split_of

SPLITS = 2


def main():
    fits = pd.read_parquet(sys.argv[1])
    fits = fits[(fits.experiment == "accuracy") & (fits.method != "optimal lists")]
    ours, theirs = 0.0, 0.0
    for dataset, rows in fits.groupby("dataset"):
        seconds = []
        for seed in range(SPLITS):
            split = split_of(dataset, "A", seed)
            candidates = split.candidates(MAX_LITERALS[dataset])
            name, plain, _ = plain_peer(split.X_train.astype(bool), split.y_train, candidates, split.schema.names)
            seconds.append(median_seconds(plain, 2)[0])
        each, plain_each = rows.seconds.mean(), sum(seconds) / SPLITS
        ours, theirs = ours + rows.seconds.sum(), theirs + plain_each * len(rows)
        peer = f"{name} {plain_each * 1000:.0f} ms: {plain_each / each:.0f} times"
        print(f"{dataset}: {len(rows):,} fits, {each * 1000:.2f} ms each; {peer}")
    print(
        f"the grid: {ours / 60:.1f} minutes of one core; extrapolated {theirs / 3600:.1f} hours: {theirs / ours:.0f} times"
    )


if __name__ == "__main__":
    main()
