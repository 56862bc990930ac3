"""Peak memory of turning 10 million records into patterns, above that of the chunks themselves.

Two tables of eight attributes, each given in chunks of a million records: one of 5 levels an attribute, where patterns
collapse to at most 390,625, and one of so many levels that nearly every record is a pattern of its own. Each runs in a process of
its own, which reports the peak of its resident memory before the patterns are filled (holding one chunk) and after.

    python benchmarks/memory.py            both, with their limits; exit status 1 if one is passed
    python benchmarks/memory.py collapse   one of them, as JSON
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from discreet import Categorical, Numeric
from discreet._utils.tables import as_table
from discreet.private.counts.patterns import PatternsInProgress
from discreet.sources.memory import blocks_of

CHUNK, N_CLASSES, ATTRIBUTES = 1_000_000, 2, 8


def chunks(kind: str, records: int):
    rng = np.random.default_rng(0)
    for _ in range(records // CHUNK):
        levels = 5 if kind == "collapse" else 200
        yield (
            {f"a{i}": rng.integers(levels, size=CHUNK, dtype=np.int16) for i in range(ATTRIBUTES)},
            rng.integers(N_CLASSES, size=CHUNK, dtype=np.int8),
        )


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(kind: str, records: int) -> dict[str, float]:
    if kind == "collapse":
        columns = [Categorical(f"a{i}", categories=tuple(range(5))) for i in range(ATTRIBUTES)]
    else:
        columns = [Numeric(f"a{i}", cuts=tuple(range(200))) for i in range(ATTRIBUTES)]
    warm = PatternsInProgress(columns, N_CLASSES)  # imports and first-use buffers are not the patterns' memory
    table, labels = next(iter(chunks(kind, CHUNK)))
    _add(warm, {k: v[:1000] for k, v in table.items()}, labels[:1000])
    warm.finish()
    before, start = peak_bytes(), time.perf_counter()
    patterns = PatternsInProgress(columns, N_CLASSES)
    for table, labels in chunks(kind, records):
        _add(patterns, table, labels)
        del table, labels  # before the next chunk is made
    filled = patterns.finish()
    assert filled.counts.sum() == records
    return {"patterns": len(filled), "seconds": time.perf_counter() - start, "bytes": peak_bytes() - before}


def _add(patterns, table, labels):
    for bins, numbers in blocks_of(as_table(table), patterns.columns, labels, strict=True):
        patterns.add(bins, numbers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=["collapse", "distinct"])
    parser.add_argument("--records", type=int, default=10_000_000)
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(measure(args.kind, args.records)))
        return 0
    limits = {"collapse": 150e6, "distinct": 2 * (8 + 4 * N_CLASSES) * args.records}
    failed = False
    for kind, limit in limits.items():
        command = [sys.executable, __file__, kind, "--records", str(args.records)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        failed |= found["bytes"] > limit
        print(
            f"memory, {args.records:,} records, {kind}: {found['patterns']:,} patterns in {found['seconds']:.1f} s, "
            f"peak {found['bytes'] / 1e6:.0f} MB above the input; limit {limit / 1e6:.0f} MB"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
