"""Which model is learned: the options of ``fit`` and ``plan`` that say so, and which of them go together."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..learners.trees import DEEPEST, MOST_STAGES
from .terminal import on_one_line

if TYPE_CHECKING:
    from ..schema import Label

LIST, TREE = "list", "tree"
# Options for one kind of model only, and what to do about them where the other one is learned
FOR_LISTS = {
    "learner": "a tree is always drawn whole: leave it out",
    "mechanism": "a tree is drawn whole, by a mechanism of its own: leave it out",
    "max_length": "for a tree say --max-depth",
    "max_card": "a split of a tree is a single condition: leave it out",
    "delta": "a tree needs none: leave it out",
    "min_support": "a tree needs none: leave it out",
    "joint": "for a tree say --stages",
}
FOR_TREES = {
    "max_depth": "say that, or for a list --max-length",
    "stages": "say that, or for a list --joint",
    "criterion": "say that, or leave it out",
    "split": "say that, or leave it out",
    "prior": "say that, or leave it out",
    "verbose": "how long a list takes depends on the records, so there is nothing to say: leave it out",
}


class Mechanisms(click.Choice):  # type: ignore[type-arg, unused-ignore]  # generic from click 8.2 on
    """The names of all mechanisms, asked for when they are needed: until then the command line starts without NumPy."""

    case_sensitive = True

    def __init__(self) -> None:
        pass

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """As the registry has them."""
        from ..mechanisms.registry import MECHANISMS

        return tuple(MECHANISMS)


class Stages(click.ParamType):  # type: ignore[type-arg]  # older versions of click have no argument
    """Depths, as in 2,2."""

    name = "depths"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """A tuple of depths."""
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",")]
        if all(part.isascii() and part.isdigit() and len(part) < 3 for part in parts):
            depths = tuple(map(int, parts))
            if min(depths) > 0 and sum(depths) <= DEEPEST and len(depths) <= MOST_STAGES:
                return depths
        self.fail(
            f"must be up to {MOST_STAGES} depths of at least 1, which add up to at most {DEEPEST}, as in 2,2",
            param,
            ctx,
        )


TREE_OPTIONS = (
    click.option("--model", type=click.Choice([LIST, TREE]), default=LIST, show_default=True, help="What to learn."),
    click.option(
        "--max-depth", type=click.IntRange(0, DEEPEST), help="Of a tree: the tests that a record can meet; 3 by default."
    ),
    click.option(
        "--stages", type=Stages(), help="Of a tree: draws after each other, as in 2,2, in place of --max-depth."
    ),
    click.option(
        "--criterion",
        type=click.Choice(["accuracy", "mass"]),
        help="Of a tree: correct records (accuracy, the default), or purer leaves (mass), for better probabilities.",
    ),
    click.option(
        "--split", type=float, help="Of a tree: the prior probability that a node is split; 0.5 by default."
    ),
    click.option(
        "--prior",
        type=click.Choice(["tests", "columns"]),
        help="Of a tree: all tests alike (the default), or all columns alike, whatever their number of tests.",
    ),
)  # fmt: skip


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which kind of model, and what is for trees only."""
    for option in reversed(TREE_OPTIONS):
        command = option(command)
    return command


class Chosen(NamedTuple):
    """What is to be learned, once the options go together."""

    make: Callable[..., Any]  # the classifier, given what else it needs: make(schema=...)
    parameters: dict[str, Any]
    parts: int  # how many rules or leaves there are at most
    literals: int  # that each of them adds to the model


def chosen_learner(model: str, options: Mapping[str, Any]) -> Chosen:
    """What the options say. Those that do not apply are an error, which names one and what to do."""
    check_options(model, options)
    shared = ("exclude", "records_per_person", "counts_share", "time_limit")
    given = {name: options[name] for name in shared if options.get(name) is not None}
    weights = class_weights(options.get("weights", ()))
    given |= {"class_weight": weights} if weights else {}
    if model == TREE:
        given |= tree_parameters(options) | {
            "verbose": options["verbose"] or (sys.stderr is not None and sys.stderr.isatty())
        }
        depth = sum(given.get("stages", (given.get("max_depth", 3),)))
        return Chosen(_tree, given, 1 << depth, 1)
    greedy = options["learner"] == "greedy" or (options["learner"] is None and options["mechanism"] is not None)
    of_greedy, of_whole = ("mechanism", "delta", "min_support"), ("joint", "time_limit")
    if not greedy and any(options[name] is not None for name in of_greedy):
        raise click.UsageError("--mechanism, --delta and --min-support are for --learner greedy")
    if greedy and (weights or any(options[name] is not None for name in of_whole)):
        raise click.UsageError("--joint, --time-limit and --class-weight are for --learner optimal")
    _check_mechanism(options["mechanism"], options["delta"], options["counts_share"])
    own = ("max_length", "max_card", "joint", *of_greedy)
    given |= {name: options[name] for name in own if options[name] is not None}
    make = _greedy_list if greedy else _whole_list
    return Chosen(make, given, given.get("max_length", 5), given.get("max_card", 1))


def check_options(model: str, options: Mapping[str, Any]) -> None:
    """Complain about what is for the other kind of model."""
    others, kind = (FOR_LISTS, LIST) if model == TREE else (FOR_TREES, TREE)
    for name, instead in others.items():
        value = options.get(name)
        if value is not None and value is not False:  # 0 was given, too
            raise click.UsageError(f"--{name.replace('_', '-')} is for --model {kind}; {instead}")


def tree_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the classifier, as far as they were given."""
    if options.get("stages") is not None and options.get("max_depth") is not None:
        raise click.UsageError("--stages says how deep each draw goes: leave --max-depth out, or --stages")
    if (split := options.get("split")) is not None and not 0 < split < 1:
        raise click.UsageError("--split must be a probability between 0 and 1, such as 0.5")
    if options.get("criterion") == "mass" and options.get("counts_share") == 0:
        raise click.UsageError("--criterion mass needs a --counts-share above 0: labels come from the noisy counts")
    asked = dict(options) | {"prior": "columns" if options.get("prior") == "columns" else None}
    names = ("max_depth", "stages", "criterion", "split", "prior")
    return {name: asked[name] for name in names if asked.get(name) is not None}


def maker_of(model: str) -> Callable[..., Any]:
    """The private learner of whole models of a kind."""
    return _tree if model == TREE else _whole_list


def _whole_list(**parameters: Any) -> Any:
    from ..classifiers.optimal import DPOptimalRuleListClassifier

    return DPOptimalRuleListClassifier(**parameters)


def _greedy_list(**parameters: Any) -> Any:
    from ..classifiers.greedy import DPGreedyRuleListClassifier

    return DPGreedyRuleListClassifier(**parameters)


def _tree(**parameters: Any) -> Any:
    from ..classifiers.trees import DPOptimalTreeClassifier

    return DPOptimalTreeClassifier(**parameters)


def _check_mechanism(mechanism: str | None, delta: float | None, counts_share: float | None) -> None:
    """Whether it needs what is given, and has what it needs."""
    if mechanism is None:
        return
    from ..mechanisms.registry import MECHANISMS

    if counts_share is not None and not MECHANISMS[mechanism].uses_counts_share:
        those = ", ".join(name for name, one in MECHANISMS.items() if one.uses_counts_share)
        raise click.UsageError(f"--counts-share is for --learner optimal and --mechanism {those}, not {mechanism}")
    if delta is None and MECHANISMS[mechanism].needs_delta:
        raise click.UsageError(f"--mechanism {mechanism} needs a public --delta, 1e-6 for example; mass needs none")


def class_weights(texts: Sequence[str]) -> dict[str, float] | None:
    """Weights of classes, as in ``ill=5``."""
    weights: dict[str, float] = {}
    for text in texts:
        label, _, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not label or not 0 < weight < math.inf:
            raise click.UsageError(
                f"--class-weight must be a class and a weight above 0, as in ill=5, not {text!r}. Weights are public numbers: "
                "'balanced' ones would be read off the private records"
            )
        if label in weights:
            raise click.UsageError(f"--class-weight names {label!r} twice")
        weights[label] = weight
    return weights or None


def check_class_weights(weights: Mapping[str, float] | None, classes: "Sequence[Label]") -> None:
    """Complain about a class that the schema does not have."""
    from ..schema.columns import canonical

    known = [canonical(c) for c in classes]
    for label in weights or ():
        if label not in known:
            listed = ", ".join(map(on_one_line, known))
            raise click.UsageError(f"--class-weight names {label!r}, but the schema's classes are {listed}")
