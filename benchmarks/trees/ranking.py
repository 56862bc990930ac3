"""Area under the ROC curve on all columns of Adult: what closes the gap to DP-EBM, and how far."""

from collections.abc import Iterable
from pathlib import Path

from accuracy import table, trees
from splits import EPSILONS, fine_adult, header

VARIANTS = {
    "depth 4": trees(max_depth=4),
    "depth 4, mass": trees(max_depth=4, criterion="gini"),
    "depth 4, mass, counts .2": trees(max_depth=4, criterion="gini", counts_share=0.2),
    "3 then 2, mass, counts .2": trees(stages=(3, 2), criterion="gini", counts_share=0.2),
    "3 then 3, mass, counts .2": trees(stages=(3, 3), criterion="gini", counts_share=0.2),
    "3 then 3, mass, counts .3": trees(stages=(3, 3), criterion="gini", counts_share=0.3),
    "3 then 3, mass, counts .2, split .9": trees(stages=(3, 3), criterion="gini", counts_share=0.2, split=0.9),
    "4 then 2, mass, counts .2": trees(stages=(4, 2), criterion="gini", counts_share=0.2),
    "2, 2, then 2, mass, counts .2": trees(stages=(2, 2, 2), criterion="gini", counts_share=0.2),
    "3, 3, then 2, mass, counts .2, split .9": trees(stages=(3, 3, 2), criterion="gini", counts_share=0.2, split=0.9),
}


def compare(seeds: Iterable[int], peers: Path | None, only: str) -> None:
    """A row for each variant."""
    print(f"\nAdult, all columns, fine cuts, {len(list(seeds))} splits\n\n{header(EPSILONS, area=True)}", flush=True)
    table(fine_adult(), {name: make for name, make in VARIANTS.items() if only in name}, seeds, peers)
