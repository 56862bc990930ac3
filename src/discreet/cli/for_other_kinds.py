"""Options that are for other kinds of models than the one that is learned: which there are, and what to do about each."""

from collections.abc import Mapping
from typing import Any

import click

LIST, TREE, CARD = "list", "tree", "card"
SAY_OR_LEAVE = "say that, or leave it out"
LEAVE = "leave it out"
# By the kinds that an option is for: its parameter's name, and what to do where another kind is learned
FOR: dict[tuple[str, ...], dict[str, dict[str, str]]] = {
    (LIST,): {
        "max_length": {TREE: "for a tree say --max-depth", CARD: "for a card say --max-columns"},
        "max_card": {
            TREE: "a split of a tree is a single condition: leave it out",
            CARD: "a row of a card is about a single column: leave it out",
        },
        "joint": {TREE: "for a tree say --stages", CARD: LEAVE},
    },
    (TREE,): {
        "max_depth": {
            LIST: "say that, or for a list --max-length",
            CARD: "for a tree before the card say --tree-depth",
        },
        "stages": {LIST: "say that, or for a list --joint", CARD: "for a tree before the card say --tree-depth"},
        **{name: {LIST: SAY_OR_LEAVE, CARD: LEAVE} for name in ("criterion", "split", "prior")},
    },
    (CARD,): {
        "max_columns": {LIST: "say that, or for a list --max-length", TREE: "say that, or for a tree --max-depth"},
        "tree_depth": {LIST: SAY_OR_LEAVE, TREE: "say that, or for a tree --max-depth"},
        **{name: {LIST: SAY_OR_LEAVE, TREE: SAY_OR_LEAVE} for name in ("points", "counting")},
    },
    (LIST, TREE): {
        "learner": {CARD: "a card is learned in one way: leave it out"},
        "mechanism": {CARD: "a card is learned in one way: leave it out"},
        "delta": {CARD: "a card needs none: leave it out"},
        "min_support": {CARD: LEAVE},
        "weights": {CARD: "a card says how likely each class is, and mistakes can be weighed with that: leave it out"},
        "forbid": {CARD: "a card adds up all of its columns; one that may not be used at all is for --exclude"},
    },
}
CALLED = {"weights": "class-weight"}


def check_options(model: str, options: Mapping[str, Any]) -> None:
    """Complain about what is for another kind of model."""
    for kinds, names in FOR.items():
        if model in kinds:
            continue
        for name, instead in names.items():
            value = options.get(name)
            if value not in (None, ()) and value is not False:  # 0 was given, too
                called = CALLED.get(name, name.replace("_", "-"))
                listed = " or ".join(f"--model {kind}" for kind in kinds)
                raise click.UsageError(f"--{called} is for {listed}; {instead[model]}")
