"""Parameters of estimators that have a range or an option, each described once: its name, range, default, and its help there.

An estimator has a ``ParameterTable``. It checks what was given when it is fitted (``__init__`` does nothing), and from it
the options of ``discreet fit`` and ``discreet plan`` are made. What needs more than the parameter itself is checked where that is
known: epsilon, the ledger and the seed with every release (private/release.py), candidates and priors with the schema (rules/).

Nothing heavy is imported before it is needed, so that the command line answers at once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._utils.parameters import check_integer, finite_number

DEEPEST = 12  # of all stages together
MOST_STAGES = 8
DEEPEST_BEFORE_CARDS = 2  # a card in each leaf has to be read, too
GINI = "gini"

# -- Kinds of values -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Integer:
    """An integer in a range, or None if that means something."""

    least: int
    most: int | None = None
    or_none: bool = False

    def __call__(self, name: str, value: Any) -> None:
        """Complain about any other value."""
        if value is None and self.or_none:
            return
        check_integer(name, value, self.least)
        if self.most is not None and value > self.most:
            raise ValueError(f"{name} must be at most {self.most}, not {value!r}")


@dataclass(frozen=True)
class Number:
    """A finite number for which something holds, or None if that means something."""

    must_be: str
    holds: Callable[[Any], bool]
    or_none: bool = False

    def __call__(self, name: str, value: Any) -> None:
        """Complain about any other value."""
        if not (value is None and self.or_none) and not self.holds(finite_number(name, value)):
            raise ValueError(f"{name} must be {self.must_be}, not {value!r}")


@dataclass(frozen=True)
class OneOf:
    """One of some names; which, is asked for when it is needed."""

    names: Callable[[], Collection[str]]

    def __call__(self, name: str, value: Any) -> None:
        """Complain about any other value."""
        if not isinstance(value, str) or value not in self.names():
            raise ValueError(f"{name} must be one of {', '.join(self.names())}, not {value!r}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of one or more estimators.

    ``check`` complains about a value; without it that is done elsewhere, or not at all. ``help`` is for the command line, where
    there is an option for the parameter if it has one. ``typed`` is how it is read there, if not as ``check`` says (a mapping:
    words, and what each of them stands for), and ``option`` what it is called, if not by its name.
    """

    name: str
    default: Any
    check: Callable[[str, Any], None] | None = None
    help: str = ""
    typed: Any = None
    option: str = ""

    def __call__(self, default: Any = None, **other: Any) -> "Parameter":
        """The same for an estimator with another default, range or help."""
        return replace(self, default=self.default if default is None else default, **other)


class ParameterTable:
    """The parameters of an estimator in the order of its help on the command line, and rules about several of them."""

    def __init__(self, *parameters: Parameter, rules: Sequence[Callable[[Any], None]] = ()) -> None:
        self.parameters, self.rules = parameters, rules

    def check(self, estimator: Any) -> None:
        """Raise ValueError for the first parameter that cannot be used."""
        for parameter in self.parameters:
            if parameter.check is not None:
                parameter.check(parameter.name, getattr(estimator, parameter.name))
        for rule in self.rules:
            rule(estimator)

    @property
    def options(self) -> dict[str, Parameter]:
        """What can be said on the command line."""
        return {parameter.name: parameter for parameter in self.parameters if parameter.help}


def _is_float(value: Any) -> bool:
    import numpy as np

    return isinstance(value, float | np.floating)


def _min_support(least: int) -> Callable[[str, Any], None]:
    """A share of the records below 1, or an integer number of them; neither below ``least``, nor 0 if that is 1."""

    def check(name: str, value: Any) -> None:
        import numpy as np

        share = _is_float(value) and (0.0 < value < 1.0 or value == least == 0)
        number = not isinstance(value, bool) and isinstance(value, int | np.integer) and value >= least
        if not (share or number):
            raise ValueError(
                f"{name} must be a share {'in [0, 1)' if least == 0 else 'between 0 and 1'} "
                f"or an integer number of records of at least {least}, not {value!r}"
            )

    return check


def _confidence(name: str, value: Any) -> None:
    if not _is_float(value) or not 0.5 < value < 1:
        raise ValueError(f"{name} must be above 1/2 and below 1, not {value!r}")


def _class_weight(name: str, value: Any) -> None:
    if isinstance(value, str) and value == "balanced":
        raise ValueError(
            f'{name}="balanced" reads the class frequencies off the private records; give public weights instead: '
            f"{name}={{label: weight, ...}}"
        )
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"{name} must be None or a dict of weights by class, not {type(value).__name__}")


def _limits(name: str, value: Any) -> None:
    from ..rules import limits

    (limits.check_monotonic_cst if name == "monotonic_cst" else limits.check_forbid)(value)


def _stages(name: str, value: Any) -> None:
    import numpy as np

    if value is None:
        return
    is_list = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    if not is_list or not 1 <= len(value) <= MOST_STAGES:
        raise ValueError(f"{name} must be None or 1 to {MOST_STAGES} depths, such as (2, 2), not {value!r}")
    for depth in value:
        check_integer(name, depth, at_least=1)
    if sum(value) > DEEPEST:
        raise ValueError(f"{name} must add up to a depth of at most {DEEPEST}, not {value!r}")


def _bool_or_none(name: str, value: Any) -> None:
    if not (value is None or isinstance(value, bool)):
        raise ValueError(f"{name} must be True, False or None, not {value!r}")


def _mechanisms() -> Mapping[str, Any]:
    from ..private.mechanisms.registry import MECHANISMS

    return MECHANISMS


# -- The parameters --------------------------------------------------------------------------------------------------------------

EPSILON = Parameter("epsilon", 1.0, help="The privacy budget of this model: see `discreet plan`.", typed=float)
MECHANISM = Parameter("mechanism", "mass", OneOf(_mechanisms), "How a rule or test is chosen.")
DELTA = Parameter(
    "delta",
    None,
    Number("above 0 (from 1e-100) and below 1", lambda x: 1e-100 <= x < 1, or_none=True),
    "A public number, for sm-laplace and gl-gaussian, which promise less.",
)
MAX_LENGTH = Parameter("max_length", 5, Integer(1), "The most rules, the default rule included.")
MAX_DEPTH = Parameter("max_depth", 3, Integer(0, DEEPEST), "The most tests on the way to a leaf.")
MAX_COLUMNS = Parameter(
    "max_columns",
    None,
    Integer(1, or_none=True),
    "How many columns give points; by default all, up to 20, else more with more epsilon. If not all, a third of epsilon "
    "chooses them.",
)
MIN_SUPPORT = Parameter(
    "min_support",
    0.05,
    _min_support(1),
    "The fewest records for a rule, for sm-laplace and sm-cauchy: a public number.",
    Integer(1),
)
CONFIDENCE = Parameter("confidence", 0.99, _confidence)
COUNTS_SHARE = Parameter(
    "counts_share",
    0.1,
    Number("0, or from 0.001 to 0.9", lambda x: x == 0 or 0.001 <= x <= 0.9),
    "The share of epsilon for noisy class counts.",
)
RULES_PER_DRAW = Parameter(
    "rules_per_draw", None, Integer(1, or_none=True), "How many rules are drawn at once; all by default."
)
STAGES = Parameter(
    "stages", None, _stages, "Depths of several draws, one after the other, instead of --max-depth: 2,2."
)
CRITERION = Parameter(
    "criterion",
    "accuracy",
    OneOf(lambda: ("accuracy", GINI)),
    "What is drawn for: correct labels, or pure leaves (gini), for better probabilities.",
)
SPLIT = Parameter("split", 0.5, help="The prior probability that a node is split.", typed=float)
PRIOR_OF_TESTS = Parameter(
    "prior",
    None,
    help="Whether all tests are equally likely beforehand (the default), or all columns.",
    typed={"tests": None, "columns": "columns"},
)
POINTS = Parameter("points", "integers", OneOf(lambda: ("integers", "decimals")), "How points are written.")
TREE_DEPTH = Parameter(
    "tree_depth",
    0,
    Integer(0, DEEPEST_BEFORE_CARDS),
    "First a tree of this depth, then a card in each of its leaves; 0: none.",
)
SEQUENTIAL = Parameter(
    "sequential",
    None,
    _bool_or_none,
    "Count columns one after the other, each for what the others leave unexplained, or all in one pass.",
    {"sequential": True, "at-once": False},
    "counting",
)
CLASS_WEIGHT = Parameter(
    "class_weight", None, _class_weight, "What a mistake on a class counts, a public number: ill=5. Repeatable."
)
MAX_LITERALS = Parameter("max_literals", 1, help="The most conditions in a rule.", typed=Integer(1, 3))
MONOTONIC_CST = Parameter(
    "monotonic_cst",
    None,
    _limits,
    "A column with which predictions may only rise (:+1) or fall (:-1), from class to class. Repeatable.",
)
FORBID = Parameter("forbid", (), _limits, "Columns that no prediction may depend on together. Repeatable.")
EXCLUDE = Parameter("exclude", (), help="A column that the model may not use. Repeatable.")
RECORDS_PER_PERSON = Parameter(
    "records_per_person", 1, Integer(1), "The most records that one person has in the table."
)
TIME_LIMIT = Parameter(
    "time_limit",
    None,
    Number("None or a number of seconds above 0", lambda x: x > 0, or_none=True),
    "Give up after this many seconds, and say whether anything was booked.",
)
VERBOSE = Parameter("verbose", False, help="Say how long it may take; on a terminal always.")

# -- What goes together ----------------------------------------------------------------------------------------------------------


def _delta_is_needed(greedy: Any) -> None:
    name = greedy.mechanism
    needs_delta = _mechanisms()[name].needs_delta
    if not needs_delta and greedy.delta is not None:
        raise ValueError(f"delta must be None for {name}: this mechanism needs no delta, so leave it out")
    if needs_delta and greedy.records_per_person != 1:
        raise ValueError(
            f"records_per_person must be 1 for {name}, whose delta grows with it in a way that its authors do not "
            "say; use mass, or a whole list"
        )
    if needs_delta and greedy.ledger is not None and greedy.delta is None:
        raise ValueError("a ledger needs a public delta: 1/n^2 would write the number of records into it. Give delta")


def _is_monotone(estimator: Any) -> bool:
    return any((estimator.monotonic_cst or {}).values())  # 0 is no constraint


def _lengths_are_of_one_draw(lists: Any) -> None:
    lengths = lists.prior.get("lengths") if isinstance(lists.prior, Mapping) else lists.prior
    if lists.rules_per_draw is not None and lengths is not None and lists.rules_per_draw < lists.max_length - 1:
        raise ValueError(
            "prior: weights of lengths need rules_per_draw=None; each of several draws takes all lengths alike"
        )


def _mass_has_no_labels(trees: Any) -> None:
    if _is_monotone(trees) and trees.criterion == GINI:
        raise ValueError(
            'monotonic_cst needs criterion="accuracy": with "gini" a tree has no labels when it is drawn. Leave one of them out'
        )


def _mass_needs_counts(trees: Any) -> None:
    if trees.criterion == GINI and not trees.counts_share:
        raise ValueError('counts_share must be above 0 with criterion="gini": labels come from the noisy counts')


def _monotone_in_one_draw(trees: Any) -> None:
    if _is_monotone(trees) and trees.stages is not None and len(trees.stages) > 1:
        raise ValueError(
            "monotonic_cst needs a tree that is drawn at once: later stages would change the labels of earlier ones. Set "
            "max_depth in place of stages, or leave monotonic_cst out"
        )


def _monotone_in_one_card(cards: Any) -> None:
    if _is_monotone(cards) and cards.tree_depth:
        raise ValueError(
            "monotonic_cst needs one card: between the leaves of a tree the total may fall. Leave one of them out (tree_depth=0)"
        )


# -- The tables ------------------------------------------------------------------------------------------------------------------

LIMITS = (MONOTONIC_CST, FORBID)
COUNTS_SHARE_OF_GREEDY = COUNTS_SHARE(
    0.5,
    check=Number("from 0.001 to 0.999", lambda x: 0.001 <= x <= 0.999),
    help="The share of epsilon for class counts, of mechanisms that have one.",
)
CHOICES = (CONFIDENCE, COUNTS_SHARE_OF_GREEDY)

GREEDY_LISTS = ParameterTable(MAX_LENGTH, MAX_LITERALS, MIN_SUPPORT(0.0, check=_min_support(0)), EXCLUDE)
BEST_LISTS = ParameterTable(MAX_LENGTH(4), MAX_LITERALS, EXCLUDE, TIME_LIMIT, VERBOSE, *LIMITS)
BEST_TREES = ParameterTable(
    *(MAX_DEPTH, CRITERION, EXCLUDE, TIME_LIMIT, VERBOSE, *LIMITS),
    rules=[_mass_has_no_labels],
)
CARDS = ParameterTable(
    *(MAX_COLUMNS, POINTS, MONOTONIC_CST, TREE_DEPTH, SEQUENTIAL, EXCLUDE),
    rules=[_monotone_in_one_card],
)

DP_GREEDY_LISTS = ParameterTable(
    *(MECHANISM, EPSILON, DELTA, MAX_LENGTH, MIN_SUPPORT, *CHOICES, MAX_LITERALS, EXCLUDE, RECORDS_PER_PERSON),
    rules=[_delta_is_needed],
)
DP_GREEDY_TREES = ParameterTable(
    *(EPSILON, MAX_DEPTH, MECHANISM, DELTA, MIN_SUPPORT, *CHOICES, EXCLUDE, RECORDS_PER_PERSON),
    rules=[_delta_is_needed],
)
DP_OPTIMAL_LISTS = ParameterTable(
    *(EPSILON, MAX_LENGTH(4), RULES_PER_DRAW, MAX_LITERALS, COUNTS_SHARE, CLASS_WEIGHT),
    *(EXCLUDE, RECORDS_PER_PERSON, TIME_LIMIT, VERBOSE, *LIMITS),
    rules=[_lengths_are_of_one_draw],
)
DP_OPTIMAL_TREES = ParameterTable(
    *(EPSILON, MAX_DEPTH, STAGES, CRITERION, COUNTS_SHARE, SPLIT, CLASS_WEIGHT, PRIOR_OF_TESTS),
    *(EXCLUDE, RECORDS_PER_PERSON, TIME_LIMIT, VERBOSE, *LIMITS),
    rules=[_mass_has_no_labels, _mass_needs_counts, _monotone_in_one_draw],
)
DP_CARDS = ParameterTable(
    *(EPSILON, MAX_COLUMNS, POINTS, MONOTONIC_CST, TREE_DEPTH, SEQUENTIAL, COUNTS_SHARE),
    *(EXCLUDE, RECORDS_PER_PERSON, TIME_LIMIT, VERBOSE),
    rules=[_monotone_in_one_card],
)
