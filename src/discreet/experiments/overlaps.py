"""Do two models rest on the same features?"""

from typing import Any

from .. import GreedyRuleListClassifier
from ..evaluation import feature_overlap
from .splits import Split


def overlaps(model: Any, split: Split, max_card: int, min_support: float, max_length: int) -> dict[str, float]:
    """With GreedyRL on the same split: of the five and seven most important features, and of those above 0."""
    reference = split.remember(
        ("reference", max_card, min_support, max_length),
        lambda: GreedyRuleListClassifier(
            max_length=max_length + 1,
            min_support=min_support,
            candidates=split.candidates(max_card),
            schema=split.schema,
        ).fit(split.X_train, split.y_train),
    )
    pair = reference.rule_list_, model.rule_list_, split.X_test, split.y_test
    return {
        "overlap_top5": feature_overlap(*pair, k=5),
        "overlap_top7": feature_overlap(*pair, k=7),
        "overlap_positive": feature_overlap(*pair, k=7, positive_only=True),
    }
