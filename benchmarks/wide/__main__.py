"""Wide tables, in which hardly two records agree: whole fits against DuckDB's own counting and against earlier versions.

    python benchmarks/wide --drafted                1 and 10 million records of 12 columns in Parquet, a drafted schema: the
                                                    default `discreet fit` against DuckDB's GROUP BY of the bins
    python benchmarks/wide --made-up --before SRC   100,000 records of 60 columns with 10 cuts: the default list and a tree in
                                                    stages (2, 2), against the default list of an earlier version
    python benchmarks/wide --pairs                  3 million records of 40 columns with 10 cuts: a tree in stages (2, 2) and
                                                    a list with rules_per_draw=2, against DuckDB counting all pairs of columns
    python benchmarks/wide --cards                  1 and 10 million records of 12 columns in Parquet: a score card through
                                                    DuckDB, against DuckDB counting by each column by itself
    python benchmarks/wide --growth                 over records and columns: draws docs/growth-wide.svg
    python benchmarks/wide --small --before SRC     Adult, COMPAS and German Credit, against an earlier version

`--records` has other numbers of records, and SRC is the `src` folder of a checkout: `git worktree add --detach before COMMIT`.
The last commit of version 0.5 before its packages is 3964ef4, the last one before joint counts of columns 8815716.

Everything is measured in child processes, one at a time, which report the peak of their memory. Ratios are of one run. The exit
status is 1 if a limit is passed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True


def main() -> int:
    """One or several of the measurements."""
    import cards
    import drafted
    import growth
    import made_up
    import pairs
    import small

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("drafted", "made-up", "pairs", "cards", "growth", "small"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--records", type=int, nargs="+", help="in place of the numbers above")
    parser.add_argument("--columns", type=int, help="of --made-up and --pairs, in place of the numbers above")
    parser.add_argument("--before", type=Path, metavar="SRC", help="the src folder of an earlier version")
    parser.add_argument("--rounds", type=int, default=5, help="of --small")
    parser.add_argument("--folder", type=Path, help="where tables are written, for as long as it takes")
    args = parser.parse_args()
    within = True
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        if args.drafted:
            within &= drafted.compare(folder, args.records or [1_000_000, 10_000_000])
        if args.made_up:
            within &= made_up.compare(folder, (args.records or [100_000])[0], args.columns or 60, args.before)
        if args.pairs:
            for records in args.records or [3_000_000]:
                within &= pairs.compare(folder, records, args.columns or 40)
        if args.cards:
            within &= cards.compare(folder, args.records or [1_000_000, 10_000_000])
        if args.growth:
            growth.measure(folder, args.records, Path(__file__).parents[2] / "docs" / "growth-wide.svg")
        if args.small:
            small.compare(args.before, args.rounds)
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
