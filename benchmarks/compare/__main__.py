"""Twenty tables and more: ours, private peers and methods without privacy on public tables; one thread a fit.

    python benchmarks/compare                   all fits that are not done yet, then the pages in docs/
    python benchmarks/compare --quick           two splits, epsilon 1
    python benchmarks/compare --tables titanic chess --methods list dp-ebm
    python benchmarks/compare --pages           only the pages, from the fits that are there
    python benchmarks/compare --again failed    forget the fits that failed (or: late, skipped, or a method's name), then do them

`make compare` installs what is needed and starts the first. It may be stopped at any time (Control-C) and started again: each fit
is appended to the results, comparison/results.jsonl, when it is done. Fits are seeded, so that they can be repeated, and so not
private.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # before NumPy comes
sys.dont_write_bytecode = True
ROOT = Path(__file__).parents[2]


def main() -> None:
    """The fits, then the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int, help="fewer than there are")
    parser.add_argument("--tables", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--again", metavar="WHAT")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--results", type=Path, default=ROOT / "comparison" / "results.jsonl")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the pages are")
    advice = ROOT / "src" / "discreet" / "evaluation" / "measured_tables.json"
    parser.add_argument("--advice", type=Path, default=advice, help="what `discreet plan` knows of these tables")
    args = parser.parse_args()

    import page
    import run
    from methods import METHODS, at_hand
    from tables import find

    tables = find(args.tables)
    if unknown := set(args.methods) - set(METHODS):
        parser.error(f"no such method: {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    args.results.parent.mkdir(parents=True, exist_ok=True)
    if args.again:
        run.forget(args.results, args.again)
    if not args.pages:
        splits, epsilons = (args.splits or 2, (1.0,)) if args.quick else (args.splits, run.EPSILONS)
        methods = args.methods or at_hand()
        todo = {table.name: run.jobs_of(table, splits, epsilons, methods) for table in tables}
        try:
            run.run(args.results, tables, todo, args.processes)
        except KeyboardInterrupt:
            raise SystemExit("\nstopped: what is done is kept, and the same command goes on from there") from None
    done = run.read(args.results)
    everything = {job for table in find([]) for job in run.jobs_of(table, None, run.EPSILONS, at_hand())}
    page.write(done, args.docs, args.advice, len(everything - done.keys()))


if __name__ == "__main__":
    main()
