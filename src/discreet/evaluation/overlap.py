"""Whether two models rest on the same columns."""

from typing import Any

import numpy as np

from .._utils.parameters import check_integer
from .importance import feature_importance


def feature_overlap(reference: Any, model: Any, X: Any, y: Any, k: int, positive_only: bool = False) -> float:
    """The share of the k most important columns that two models have in common, the paper's I_k.

    I_k = ``|top_k(reference) & top_k(model)| / k``, by ``feature_importance`` on the records X, y.

    A short rule list uses fewer than k columns. The others all have importance 0, and it is their order that decides which of
    them are among the first k: **of equally important columns the later one of X counts as more important**, as with
    ``numpy.argsort(importances)[-k:]``, which gives the published numbers. Two models may so agree on columns that
    neither uses. ``positive_only=True`` does not count those.

    The measure reads records; what it says about private ones is not private.

    Parameters
    ----------
    reference, model : classifier or RuleList
        Fitted classifiers of this package, or rule lists.
    X, y
        Records and their labels.
    k : int
        How many columns, at most all of them.
    positive_only : bool, default=False
        Count only columns of importance above 0 for both. It is still divided by k, so it can stay below 1 for a model
        compared with itself.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from discreet import RuleList
    >>> from discreet.evaluation import feature_overlap
    >>> X, y = {"a": [1, 1, 0, 0], "b": [1, 1, 0, 0], "c": [0, 1, 1, 0]}, [1, 1, 0, 0]
    >>> by_a, by_b = RuleList.parse("if a then 1 else 0"), RuleList.parse("if b then 1 else 0")
    >>> feature_overlap(by_a, by_b, X, y, k=2)      # c, which neither uses
    0.5
    >>> feature_overlap(by_a, by_b, X, y, k=2, positive_only=True)
    0.0
    """
    check_integer("k", k, at_least=1)
    importances = [feature_importance(m, X, y) for m in (reference, model)]
    if k > len(importances[0]):
        raise ValueError(f"k must be at most {len(importances[0])}, the number of columns, not {k}")
    return len(_top(importances[0], k, positive_only) & _top(importances[1], k, positive_only)) / k


def _top(importances: dict[str, float], k: int, positive_only: bool) -> set[str]:
    names = list(importances)
    best = np.argsort(list(importances.values()), kind="stable")[-k:]
    return {names[i] for i in best if importances[names[i]] > 0 or not positive_only}
