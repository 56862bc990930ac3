"""A table of fits that nobody made: plausible numbers, for tests of figures and pages."""

import numpy as np
import pandas as pd
from reproduction.measures import FALSE_POSITIVE_RATES

BEST = {"COMPAS": 0.652, "Adult": 0.791, "German Credit": 0.705}
WORST = {"COMPAS": 0.52, "Adult": 0.752, "German Credit": 0.60}
# the epsilon where a method is half-way, on COMPAS
HALF_WAY = {
    "optimal lists": 0.02,
    "optimal trees": 0.015,
    "mass": 0.06,
    "sm-laplace": 0.15,
    "sm-cauchy": 30.0,
    "gl-laplace": 150.0,
    "gl-gaussian": 250.0,
    "gl-exponential": 120.0,
    "noisy-counts": 2000.0,
}
NOISE = {"COMPAS": 0.011, "Adult": 0.0042, "German Credit": 0.03}  # the deviation of one fit
DATASETS = tuple(BEST)


PEERS = {"DP-EBM": 0.1, "diffprivlib tree": 0.01, "diffprivlib forest": 0.03, "diffprivlib logistic": 1.0}


def made_up_fits(budgets=9, seeds=5, strangers=("a stranger",), peers=False):
    """All experiments, the grid of Fig. 4 with ``budgets`` epsilons and ``seeds`` seeds; with peers only if asked for."""
    rng = np.random.default_rng(0)
    grid = np.geomspace(0.01, 100, budgets)
    wide = np.geomspace(0.1, 1e4, budgets)
    few = np.geomspace(0.01, 100, min(budgets, 20))
    methods = {**HALF_WAY, **{name: 1.0 + i for i, name in enumerate(strangers)}}
    parts = []
    for data in DATASETS:
        cards = (1,) if data == "German Credit" else (1, 2)
        at_paper = {"max_length": 5, "max_literals": cards[-1], "min_support": 0.12 if len(cards) == 1 else 0.05}
        for method in methods:
            if method != "noisy-counts":
                chosen = few if method.startswith("whole") else grid
                parts.append(_fits(rng, "accuracy", "A", data, method, methods[method], chosen, seeds, **at_paper))
        parts.append(_fits(rng, "accuracy", "A", data, "GreedyRL", 0, [np.nan], seeds, **at_paper))
        for card in cards:
            for method, half in (("GreedyRL", 0), ("gl-laplace", 150), ("noisy-counts", 40 if card == 1 else 2000)):
                chosen = [np.nan] if method == "GreedyRL" else wide
                where = at_paper | {"max_literals": card}
                parts.append(_fits(rng, "noisy-counts", "C", data, method, half, chosen, seeds, **where))
        for method, half in (("GreedyRL", 0), ("sm-laplace", 0.15)):
            chosen = [np.nan] if method == "GreedyRL" else [10.0]
            part = _fits(rng, "tables", "B", data, method, half, chosen, seeds, **at_paper | {"max_length": 7})
            leak = {"COMPAS": 0.0069, "Adult": 0.0018, "German Credit": 0.021}[data] + 0.0003 * (method == "GreedyRL")
            part["vulnerability_joint"] = 0.5 + leak + rng.normal(0, leak / 4, len(part))
            part["vulnerability"] = 0.5 + 1.7 * leak + rng.normal(0, leak / 4, len(part))
            parts.append(part)
            part = _fits(rng, "membership", "C", data, method, half, chosen, seeds, **at_paper)
            part["black_box_tpr"] = [FALSE_POSITIVE_RATES ** rng.uniform(0.8, 1.0) for _ in range(len(part))]
            part["black_box_auc"] = part["black_box_accuracy"] = part["label_only_accuracy"] = rng.normal(
                0.5, 0.01, len(part)
            )
            parts.append(part)
        for method, half in ({**PEERS, "mass": HALF_WAY["mass"]} if peers else {}).items():
            parts.append(_fits(rng, "peers", "A", data, method, half, [0.1, 1.0, 10.0], seeds))
        others = [{"max_length": k} for k in (3, 5, 7, 9)] + [{"min_support": s} for s in (0.01, 0.1, 0.2)]
        others += [{"max_literals": c} for c in (1, 2) if c != at_paper["max_literals"]]
        for method in ("GreedyRL", "sm-laplace", "gl-laplace", "mass"):
            chosen = [np.nan] if method == "GreedyRL" else [1.0, 10.0]
            for other in others:
                if method in ("sm-laplace", "GreedyRL") or "min_support" not in other:
                    half = methods.get(method, 0) * (1 + abs(other.get("max_length", 5) - 5))
                    part = _fits(rng, "hyper-parameters", "C", data, method, half, chosen, seeds, **at_paper | other)
                    parts.append(part)
    for method in ("sm-laplace", "gl-laplace"):
        part = _fits(rng, "importance", "C", "Adult", method, 1, [1.0, 10.0], seeds, **at_paper)
        part["overlap_top5"], part["overlap_positive"] = rng.uniform(0.2, 0.7, (2, len(part)))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _fits(rng, experiment, setup, dataset, method, half_way, budgets, seeds, **parameters):
    epsilon = np.repeat(budgets, seeds)
    size = {"COMPAS": 1, "Adult": 7, "German Credit": 0.15}[dataset]
    reached = np.where(np.isnan(epsilon), 1.0, 1 / (1 + (half_way / size / np.nan_to_num(epsilon, nan=1.0)) ** 0.9))
    mean = WORST[dataset] + (BEST[dataset] - WORST[dataset]) * reached
    deviation = NOISE[dataset] * (1 + 3 * (1 - reached))
    return pd.DataFrame(
        {
            "experiment": experiment,
            "setup": setup,
            "dataset": dataset,
            "method": method,
            "epsilon": epsilon,
            "seed": np.tile(np.arange(seeds), len(budgets)),
            **parameters,
            "train_accuracy": mean + 0.004 + rng.normal(0, deviation),
            "test_accuracy": mean + rng.normal(0, deviation),
            **dict.fromkeys(
                ["vulnerability", "vulnerability_joint", "overlap_top5", "overlap_top7", "overlap_positive"], np.nan
            ),
            "n_rules": 4,
            "seconds": 0.01,
        }
    )
