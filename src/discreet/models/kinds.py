"""The kinds of models that there are: under which entry of a model's file each stands. A new kind has a line here."""

from .._utils.errors import ModelError
from .model import PartitionModel
from .rule_list import RuleList
from .score_card import ScoreCard
from .tree import Tree

KINDS: dict[str, type[PartitionModel]] = {"rule_list": RuleList, "tree": Tree, "score_card": ScoreCard}


def entry_of(model: PartitionModel) -> str:
    """Under which entry a model stands in a file."""
    for entry, kind in KINDS.items():
        if isinstance(model, kind):
            return entry
    raise ModelError(f"a {model.kind} cannot be saved: models.kinds has no line for it")
