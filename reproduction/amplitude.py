"""The paper's Figure 1: how much noise a choice gets, with smooth and with global sensitivity, over the number of records."""

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def smooth_sensitivity(n: int, min_support: int, beta: float) -> float:
    """The paper's Theorem IV.1 by its definition: the maximum over k of ``exp(-beta k) g(n - k)``, ``g(x) = 2x / (x + 1)^2``."""
    x = np.arange(min(n, min_support), n + 1.0)
    values: Array = np.exp(-beta * (n - x)) * 2.0 * np.maximum(x, min_support) / (np.maximum(x, min_support) + 1.0) ** 2
    return float(values.max())


def scales(
    sizes: list[int], epsilon: float = 1.0, max_length: int = 5, share: float = 0.05
) -> dict[str, list[tuple[int, float]]]:
    """The scale of the Laplace noise at the first node of a table of each size, for both kinds of sensitivity."""
    curves: dict[str, list[tuple[int, float]]] = {"smooth sensitivity": [], "global sensitivity": []}
    for n in sizes:
        node = epsilon / (3 * max_length - 1)
        beta = node / (2.0 * math.log(2.0 * n**2 * (max_length - 1)))
        smooth = smooth_sensitivity(n, max(1, math.floor(share * n)), beta)
        curves["smooth sensitivity"].append((n, 2.0 * smooth / node))
        curves["global sensitivity"].append((n, 0.5 * (2 * max_length - 1) / epsilon))
    return curves
