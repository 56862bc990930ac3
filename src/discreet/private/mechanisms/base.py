"""What every mechanism states about itself. docs/new-mechanism.md adds one, step by step."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...accounting.costs import DISCRETE_LAPLACE, PURE, Cost, repeated
from ...accounting.ledger import exact
from ...accounting.statement import Guarantee
from .selector import PermuteAndFlip, Selector


class Mechanism(ABC):
    """A way to learn from records with noise. Its name stands in the statement of every model that it made."""

    name: str

    def counts_epsilon(self, parameters: Mapping[str, Any]) -> Fraction:
        """What each released class count costs, from the public parameters of a saved model, for a single record.

        What a person's records share is divided by their number.
        """
        share, epsilon = exact("counts_share", parameters["counts_share"]), exact("epsilon", parameters["epsilon"])
        return share * epsilon / int(parameters.get("records_per_person", 1))


@dataclass(frozen=True)
class Settings:
    """The public settings of a greedy fit. ``epsilon`` is that of a single record, ``max_length`` the paper's K.

    A record takes part in up to K - 1 choices: one for each rule of a list, or for each level of a ``tree`` (Theorem 21a). A
    ``delta`` of None stands for 1/n^2, and a ``min_support`` below 1 for that share of n, as published: both then follow the
    private number n of records.
    """

    epsilon: Fraction
    max_length: int
    delta: Fraction | None = None
    min_support: float = 1
    confidence: float = 0.99
    counts_share: Fraction = Fraction(1, 2)
    tree: bool = False


@dataclass(frozen=True)
class GreedyBudget:
    """How (epsilon, delta) is split over the queries of a greedy fit, in exact fractions.

    ``counts_epsilon`` buys the class counts of all parts together, or of each part if the mechanism charges for each.
    """

    settings: Settings
    choice_epsilon: Fraction
    counts_epsilon: Fraction
    check_epsilon: Fraction = Fraction(0)  # of each check of the support
    delta: Fraction = Fraction(0)  # of the whole fit
    choice_delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """Of the whole fit."""
        return self.settings.epsilon

    @property
    def charged(self) -> Guarantee:
        """Where every query costs no more than it is charged: a fit cannot be charged more than epsilon, by its reservation."""
        return Guarantee.of(self.epsilon, 0.0)

    @property
    def most_choices(self) -> int:
        """In how many a record takes part, at most: for the default, or a leaf, there is none."""
        return self.settings.max_length - 1

    def threshold(self, min_support: int) -> int:
        """What a noisy support must reach for another rule to be chosen."""
        return min_support + confidence_threshold(self.settings.confidence, float(self.check_epsilon))


def confidence_threshold(confidence: float, check_epsilon: float) -> int:
    """The paper's Algorithm 3: how far above the minimum support a noisy support must be.

    >>> confidence_threshold(0.98, 0.1)     # the paper prints 7 here; its formula gives 33
    33
    """
    return math.floor(-(math.log(2) + math.log(1 - confidence)) / check_epsilon) + 1


class GreedyMechanism(Mechanism):
    """A way for the greedy learner to choose its rules one by one.

    The defaults are for a mechanism whose choice is e-DP at a node of any size, for any number of classes.
    """

    binary_only = False  # only for two classes
    needs_delta = False
    needs_support = False  # a choice is cheap only where many records are left, so that is checked before
    uses_counts_share = True  # the user says which share of epsilon goes to the class counts
    counts_together = True  # one charge for the class counts of all parts of a list (Lemma 7), or one for each part
    exact_choices = False  # by exact coins on integers; else the statement assumes that rounding does not matter

    def split(self, settings: Settings) -> GreedyBudget:
        """A share for all class counts together, the rest for up to ``max_length - 1`` choices; with none, all for the counts."""
        epsilon, choices = settings.epsilon, settings.max_length - 1
        if choices == 0:
            return GreedyBudget(settings, Fraction(0), epsilon)
        share = settings.counts_share
        return GreedyBudget(settings, (1 - share) * epsilon / choices, share * epsilon)

    @abstractmethod
    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> Selector:
        """A choice at one node. ``delta`` and ``min_support`` are for mechanisms that need them."""

    def published(self, settings: Settings) -> Guarantee | None:
        """What its authors' accounting gives for a whole fit; None if only what is proved is claimed."""
        return None

    @abstractmethod
    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """What is proved about a whole fit with a public ``delta`` and ``min_support``."""

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """The same as costs for a ledger, for a single record. A mechanism that states its parts is charged less."""
        return self.proved(budget, candidates).costs

    def reasons_for_no_proof(self, settings: Settings) -> list[str]:
        """Why nothing is proved with such settings."""
        because = []
        if self.needs_delta and settings.delta is None:
            because.append("delta = 1/n^2 follows the private number of records n; give a delta")
        if self.needs_support and settings.min_support < 1:
            because.append("min_support is a share of the private number of records; give a whole number")
        return because

    def counts_epsilon(self, parameters: Mapping[str, Any]) -> Fraction:
        """As ``split`` has it."""
        share = exact("counts_share", parameters["counts_share"]) if self.uses_counts_share else Fraction(1, 2)
        tree = "max_depth" in parameters
        length = int(parameters["max_depth"]) + 1 if tree else int(parameters["max_length"])
        whole = Settings(exact("epsilon", parameters["epsilon"]), length, counts_share=share, tree=tree)
        return self.split(whole).counts_epsilon / int(parameters.get("records_per_person", 1))


class ChoosesByCoins(GreedyMechanism):
    """By permute-and-flip on integers. Class counts are paid once, choices are at most K - 1: charges add up to epsilon."""

    exact_choices = True
    choice: type[PermuteAndFlip]

    def selector(self, epsilon: Fraction, delta: float, min_support: int, candidates: int) -> PermuteAndFlip:
        """The same at every node."""
        return self.choice(epsilon)

    def proved(self, budget: GreedyBudget, candidates: int) -> Guarantee:
        """Charges add up."""
        return budget.charged

    def costs(self, budget: GreedyBudget, candidates: int) -> tuple[Cost, ...]:
        """Choices by permute-and-flip are pure."""
        counts = repeated(DISCRETE_LAPLACE, budget.counts_epsilon, 1)
        return (*repeated(PURE, budget.choice_epsilon, budget.most_choices), *counts)
