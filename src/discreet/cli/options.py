"""The options of ``discreet fit`` and ``discreet plan``, made from the tables of the estimators' parameters."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import click

from ..estimators import parameters as of
from ..estimators.parameters import DEEPEST, MOST_STAGES
from .common import named
from .ending import Commands

SHORT = {"epsilon": "-e", "max_length": "-k", "exclude": "-x", "verbose": "-v"}


class Learner(NamedTuple):
    """What can be learned. ``tree``: what with ``--tree``, if that can be said."""

    name: str
    help: str
    estimator: str
    table: of.ParameterTable
    tree: "Learner | None" = None

    @property
    def called(self) -> str:
        """What such a model is called."""
        return "greedy list" if self.tree is not None else self.name

    @property
    def options(self) -> dict[str, of.Parameter]:
        """What can be said of it."""
        return self.table.options | ({} if self.tree is None else self.tree.table.options)

    def make(self, **parameters: Any) -> Any:
        """The estimator."""
        from importlib import import_module

        return getattr(import_module("..", __package__), self.estimator)(**parameters)


KINDS = (
    Learner(
        "list",
        "a rule list, drawn as a whole: the first rule that holds decides",
        "DPOptimalRuleListClassifier",
        of.DP_OPTIMAL_LISTS,
    ),
    Learner("tree", "a decision tree, drawn as a whole", "DPOptimalTreeClassifier", of.DP_OPTIMAL_TREES),
    Learner("card", "a score card: points that add up to a risk", "DPScoreCardClassifier", of.DP_CARDS),
    Learner(
        *("greedy", "a list or a tree built greedily, by any mechanism"),
        *("DPGreedyRuleListClassifier", of.DP_GREEDY_LISTS),
        Learner("greedy tree", "", "DPGreedyTreeClassifier", of.DP_GREEDY_TREES),
    ),
)
NAMES = ", ".join(kind.name for kind in KINDS[:-1]) + f" or {KINDS[-1].name}"


class Kinds(Commands):
    """A command for each kind of model. Without one, it says which there are."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, whose own words for this differ from version to version."""
        if not args:
            raise self._lacks_a_kind(ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does. What stands in the place of a kind may be a table's URL, and is not repeated."""
        if self.get_command(ctx, args[0]) is None:
            raise self._lacks_a_kind(ctx)
        return super().resolve_command(ctx, args)

    def _lacks_a_kind(self, ctx: click.Context) -> click.UsageError:
        path = ctx.command_path
        return click.UsageError(
            f"say first which kind of model: {NAMES}, as in `{path} list`; `{path} --help` has more", ctx
        )


class _Stages(click.ParamType):  # type: ignore[type-arg]  # older versions of click have no argument
    """Depths, as in 2,2."""

    name = "depths"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        with suppress(ValueError):
            depths = tuple(map(int, value.split(",")))
            param.parameter.check(param.name, depths)
            return depths
        rule = f"must be up to {MOST_STAGES} depths of at least 1, which add up to at most {DEEPEST}, as in 2,2"
        self.fail(rule, param, ctx)


class Names(click.Choice):  # type: ignore[type-arg, unused-ignore]  # generic from click 8.2 on
    """Names that are asked for when they are needed: until then the command line starts without NumPy."""

    case_sensitive = True

    def __init__(self, one: of.OneOf) -> None:
        self._one = one

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """All of them."""
        return tuple(self._one.names())


class _Option(click.Option):
    """The option of a parameter, with its names and its default in the help."""

    def __init__(self, names: Sequence[str], parameter: of.Parameter) -> None:
        self.parameter = parameter
        name, kind = parameter.name, parameter.typed or parameter.check
        given: dict[str, Any] = {"type": float, "metavar": "X"}
        if parameter.default is False:
            given = {"is_flag": True}
        elif name in REPEATED:
            given = {"multiple": True, "metavar": REPEATED[name][0]}
        elif name == "stages":
            given = {"type": _Stages(), "metavar": "DEPTHS"}
        elif isinstance(kind, of.Integer):
            given = {"type": click.IntRange(kind.least, kind.most), "metavar": "N"}
        elif isinstance(kind, of.OneOf):
            given = {"type": Names(kind), "metavar": "NAME"}
        elif isinstance(kind, Mapping):
            given = {"type": click.Choice(list(kind))}
        super().__init__(names, required=parameter is of.EPSILON, **given)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help, default = self.parameter.help, self.parameter.default
        if isinstance(self.type, Names):
            self.help = f"{self.help.rstrip('.')}: {', '.join(self.type.choices)}."
        typed = not (isinstance(default, float) and isinstance(self.type, click.IntRange))
        if default not in (None, (), False) and typed and not self.required:
            self.help = f"{self.help.rstrip('.')}; {default} by default."
        return super().get_help_record(ctx)


def _names(parameter: of.Parameter) -> list[str]:
    called = f"--{(parameter.option or parameter.name).replace('_', '-')}"
    return [SHORT[parameter.name], called] if parameter.name in SHORT else [called]


def options_of(kind: Learner, but: Sequence[str] = ()) -> Callable[[Any], Any]:
    """The options of what can be learned, but for some parameters."""

    def decorated(command: Any) -> Any:
        for name, parameter in reversed(kind.options.items()):
            option = click.option(*_names(parameter), name, cls=_Option, parameter=parameter)
            command = command if name in but else option(command)
        if kind.tree is not None:
            what = "Grow a tree, level by level, instead of a list, rule by rule."
            command = click.option("--tree", "as_tree", is_flag=True, help=what)(command)
        return command

    return decorated


def chosen(kind: Learner, options: dict[str, Any]) -> tuple[Learner, dict[str, Any]]:
    """What is learned, and the parameters that were given for it; they are taken out of the options.

    >>> chosen(KINDS[1], {"max_depth": None, "monotonic_cst": ["age:-1"], "forbid": ["race,sex"], "prior": "tests"})[1]
    {'monotonic_cst': {'age': -1}, 'forbid': [('race', 'sex')]}
    """
    values = {name: options.pop(name, None) for name in kind.options}
    as_tree = options.pop("as_tree", False)
    learned = kind if kind.tree is None or not as_tree else kind.tree
    given = {name: value for name, value in values.items() if value not in (None, ()) and value is not False}
    for name in given:
        if name not in learned.table.options:
            where = "a list: leave it out, or --tree" if as_tree else "a tree: say --tree, or leave it out"
            raise click.UsageError(f"{_names(kind.options[name])[-1]} is for {where}")
    for name, value in given.items():
        typed = kind.options[name].typed
        if isinstance(typed, Mapping):
            given[name] = typed[value]
        elif name in REPEATED:
            given[name] = REPEATED[name][1](value)
    if "stages" in given and "max_depth" in given:
        raise click.UsageError("--stages says how deep each draw goes: leave --max-depth out, or --stages")
    if "mechanism" in given:
        _check_mechanism(given)
    return learned, {name: value for name, value in given.items() if value is not None}


def _forbid(texts: Sequence[str]) -> list[tuple[str, ...]]:
    sets = [tuple(next(csv.reader([text], skipinitialspace=True), ())) for text in texts]
    for columns, text in zip(sets, texts, strict=True):
        if len(set(columns)) < 2 or not all(columns):
            raise click.UsageError(
                f"--forbid must be two or more columns, as in race,sex, not {text!r}; one that may not be used at all is for "
                "--exclude"
            )
    return sets


def _class_weights(texts: Sequence[str]) -> dict[str, float]:
    said = "a class and a weight above 0, as in ill=5 ('balanced' ones would be read off the private records)"
    return named("--class-weight", said, lambda text: w if 0 < (w := float(text)) < math.inf else None, texts)


def _monotonic(texts: Sequence[str]) -> dict[str, int]:
    signs = {"+1": 1, "1": 1, "-1": -1}
    return named("--monotonic-cst", "a column and +1 or -1, as in priors_count:+1", signs.get, texts, sign=":")


REPEATED: dict[str, tuple[str, Callable[[Sequence[str]], Any]]] = {  # how they look, and how they are read
    **{"class_weight": ("CLASS=WEIGHT", _class_weights), "monotonic_cst": ("COLUMN:+1", _monotonic)},
    **{"forbid": ("COLUMN,COLUMN", _forbid), "exclude": ("COLUMN", tuple)},
}


def _check_mechanism(given: Mapping[str, Any]) -> None:
    """Whether it needs what is given, and has what it needs."""
    from ..private.mechanisms.registry import MECHANISMS

    mechanism = given["mechanism"]
    if "counts_share" in given and not MECHANISMS[mechanism].uses_counts_share:
        those = ", ".join(name for name, one in MECHANISMS.items() if one.uses_counts_share)
        raise click.UsageError(f"--counts-share is for --mechanism {those}, not {mechanism}")
    if "delta" not in given and MECHANISMS[mechanism].needs_delta:
        raise click.UsageError(f"--mechanism {mechanism} needs a public --delta, 1e-6 for example; mass needs none")
