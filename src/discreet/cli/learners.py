"""Which model is learned: the options of ``fit`` and ``plan`` that say so, and which of them go together."""

import csv
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..estimators.algorithms.trees import DEEPEST, MOST_STAGES
from .for_other_kinds import CARD, LIST, TREE, check_options
from .saving import size_of_card, size_of_model
from .terminal import on_one_line

if TYPE_CHECKING:
    from ..schema import Label, Schema


DEEPEST_BEFORE_CARDS = 2  # as the classifier has it, which is not imported here: the command line starts without NumPy


class Mechanisms(click.Choice):  # type: ignore[type-arg, unused-ignore]  # generic from click 8.2 on
    """The names of all mechanisms, asked for when they are needed: until then the command line starts without NumPy."""

    case_sensitive = True

    def __init__(self) -> None:
        pass

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """As the registry has them."""
        from ..private.mechanisms.registry import MECHANISMS

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


ONE_BY_ONE, AT_ONCE = "one-by-one", "at-once"
MODEL_OPTIONS = (
    click.option(
        "--model",
        type=click.Choice([LIST, TREE, CARD]),
        default=LIST,
        show_default=True,
        help="What to learn: rules in order, a tree of tests, or points that add up to a risk.",
    ),
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
    click.option(
        "--max-columns",
        type=click.IntRange(min=1),
        help="Of a card: how many columns give points. By default all, if there are up to 20; else 8 times the square root of "
        "epsilon, at least 4. If not all, a third of epsilon chooses them.",
    ),
    click.option(
        "--tree-depth",
        type=click.IntRange(0, DEEPEST_BEFORE_CARDS),
        help="Of a card: first a tree of this depth, then a card in each of its leaves; 0, none, by default.",
    ),
    click.option(
        "--points", type=click.Choice(["integers", "decimals"]), help="Of a card: how points are written; integers."
    ),
    click.option(
        "--counting",
        type=click.Choice([ONE_BY_ONE, AT_ONCE]),
        help="Of a card: columns one after the other, each by what the others leave to explain, or all in one pass.",
    ),
)  # fmt: skip


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which kind of model, and what is for trees only, or for cards only."""
    for option in reversed(MODEL_OPTIONS):
        command = option(command)
    return command


LIMIT_OPTIONS = (
    click.option(
        "--monotone",
        multiple=True,
        metavar="COLUMN:+1",
        help="For whole models and cards: a column in which the model rises (:+1) or falls (:-1), from class to class. Repeat.",
    ),
    click.option(
        "--forbid",
        multiple=True,
        metavar="COLUMN,COLUMN",
        help="For whole models: columns that no answer may depend on together. Repeat.",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every model keeps to."""
    for option in reversed(LIMIT_OPTIONS):
        command = option(command)
    return command


def limits_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the classifier, as far as they were given.

    >>> limits_given({"monotone": ["age:-1"], "forbid": ["race,sex"]})
    {'monotone': {'age': -1}, 'forbid': [('race', 'sex')]}
    """
    monotone: dict[str, int] = {}
    for text in options.get("monotone", ()):
        column, _, sign = text.rpartition(":")
        if not column or sign not in ("+1", "1", "-1"):
            raise click.UsageError(f"--monotone must be a column and +1 or -1, as in priors_count:+1, not {text!r}")
        if monotone.setdefault(column, int(sign)) != int(sign):
            raise click.UsageError(f"--monotone says that {column!r} both rises and falls")
    sets = [tuple(next(csv.reader([text], skipinitialspace=True), ())) for text in options.get("forbid", ())]
    for columns, text in zip(sets, options.get("forbid", ()), strict=True):
        if len(set(columns)) < 2 or not all(columns):
            raise click.UsageError(
                f"--forbid must be two or more columns, as in race,sex, not {text!r}; one that may not be used at all is for "
                "--exclude"
            )
    return ({"monotone": monotone} if monotone else {}) | ({"forbid": sets} if sets else {})


class Chosen(NamedTuple):
    """What is to be learned, once the options go together."""

    make: Callable[..., Any]  # the classifier, given what else it needs: make(schema=...)
    parameters: dict[str, Any]
    size: "Callable[[Schema | None], int]"  # more bytes than the model will have


def chosen_learner(model: str, options: Mapping[str, Any]) -> Chosen:
    """What the options say. Those that do not apply are an error, which names one and what to do."""
    check_options(model, options)
    shared = ("exclude", "records_per_person", "counts_share", "time_limit")
    given = {name: options[name] for name in shared if options.get(name) is not None}
    weights = class_weights(options.get("weights", ()))
    given |= {"class_weight": weights} if weights else {}
    if model == CARD:
        verbose = options["verbose"] or _on_a_terminal()
        given |= {"verbose": verbose} | card_parameters(options) | limits_given(options)
        return Chosen(_card, given, partial(size_of_card, leaves=1 << given.get("tree_depth", 0)))
    greedy = options["learner"] == "greedy" or (options["learner"] is None and options["mechanism"] is not None)
    if not greedy:
        given["verbose"] = options["verbose"] or _on_a_terminal()
    elif options["verbose"]:
        raise click.UsageError("--verbose is for whole models: the greedy learner is done in a moment. Leave it out")
    of_greedy = ("mechanism", "delta", "min_support")
    of_whole = (*(("stages", "criterion", "split", "prior") if model == TREE else ("joint",)), "time_limit")
    if not greedy and any(options[name] is not None for name in of_greedy):
        raise click.UsageError("--mechanism, --delta and --min-support are for --learner greedy")
    if greedy and (weights or any(options[name] is not None for name in of_whole)):
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in of_whole)
        raise click.UsageError(f"{listed} and --class-weight are for --learner optimal")
    limits = limits_given(options)
    if greedy and limits:
        raise click.UsageError(
            "--monotone and --forbid are for --learner optimal: a greedy learner finds labels after its rules"
        )
    given |= limits
    _check_mechanism(options["mechanism"], options["delta"], options["counts_share"])
    given |= {name: options[name] for name in of_greedy if options[name] is not None}
    if model == TREE:
        given |= tree_parameters(options)
        depth = sum(given.get("stages", (given.get("max_depth", 3),)))
        size = partial(size_of_model, max_length=1 << depth, max_card=1)
        return Chosen(_greedy_tree if greedy else _tree, given, size)
    own = ("max_length", "max_card", "joint")
    given |= {name: options[name] for name in own if options[name] is not None}
    make = _greedy_list if greedy else _whole_list
    size = partial(size_of_model, max_length=given.get("max_length", 5), max_card=given.get("max_card", 1))
    return Chosen(make, given, size)


def _on_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


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


def card_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the classifier, as far as they were given."""
    if options.get("tree_depth") and options.get("monotone"):
        raise click.UsageError(
            "--monotone needs one card: between the leaves of a tree the total may fall. Leave --tree-depth out, or --monotone"
        )
    names = ("max_columns", "tree_depth", "points")
    given = {name: options[name] for name in names if options.get(name) is not None}
    if counting := options.get("counting"):
        given["one_by_one"] = counting == ONE_BY_ONE
    return given


def maker_of(model: str) -> Callable[..., Any]:
    """The private learner of a kind of models, of those that are drawn whole if there are several."""
    return {LIST: _whole_list, TREE: _tree, CARD: _card}[model]


def _card(**parameters: Any) -> Any:
    from ..estimators.cards import DPScoreCardClassifier

    return DPScoreCardClassifier(**parameters)


def _whole_list(**parameters: Any) -> Any:
    from ..estimators.optimal import DPOptimalRuleListClassifier

    return DPOptimalRuleListClassifier(**parameters)


def _greedy_list(**parameters: Any) -> Any:
    from ..estimators.greedy import DPGreedyRuleListClassifier

    return DPGreedyRuleListClassifier(**parameters)


def _greedy_tree(**parameters: Any) -> Any:
    from ..estimators.greedy_trees import DPGreedyTreeClassifier

    return DPGreedyTreeClassifier(**parameters)


def _tree(**parameters: Any) -> Any:
    from ..estimators.trees import DPOptimalTreeClassifier

    return DPOptimalTreeClassifier(**parameters)


def _check_mechanism(mechanism: str | None, delta: float | None, counts_share: float | None) -> None:
    """Whether it needs what is given, and has what it needs."""
    if mechanism is None:
        return
    from ..private.mechanisms.registry import MECHANISMS

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
