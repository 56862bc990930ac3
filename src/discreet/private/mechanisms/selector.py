"""One choice of a rule at a node: the distribution that a mechanism's proof is about, and the draw that follows it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..counts.counting import NodeCounts
from ..counts.patterns import Array
from ..noise.discrete_laplace import scale_for
from ..noise.distributions import log_prob
from ..noise.entropy import Entropy, Integers
from ..noise.noisy_max import Exponential, Noise, choose


class Selector(ABC):
    """A way to choose between the candidates of a node and "no rule", which is the last outcome."""

    @abstractmethod
    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The chosen candidate's number; the number of candidates stands for no rule."""

    @abstractmethod
    def log_prob(self, node: NodeCounts) -> Array:
        """The exact logarithm of each outcome's probability. The audit compares it between neighbours, and with draws."""

    @abstractmethod
    def price(self, n: int, rules: int) -> float:
        """What a choice between so many rules costs if the smaller of two neighbouring nodes has at least n records.

        It needs no look at the data.
        """


class NoisyMaxSelector(Selector):
    """The candidate with the largest score after noise: ``argmax (score + noise)``, "no rule" included."""

    noise: Noise

    @abstractmethod
    def scores(self, node: NodeCounts) -> Array:
        """Of every candidate, then of no rule, in units of the noise's scale; larger is better."""

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """The index of the noisy maximum."""
        return choose(self.scores(node), self.noise, entropy)

    def log_prob(self, node: NodeCounts) -> Array:
        """By quadrature."""
        return log_prob(self.scores(node), self.noise)


@dataclass(frozen=True)
class PermuteAndFlip(NoisyMaxSelector):
    """A candidate of small loss, in integers and by exact coins: the distribution of a noisy maximum with exponential noise
    (mass.py).

    **e-DP** at a node of any size, by Theorem 5 of ``noisy_max`` with h = 1, if one record changes all losses by numbers that lie
    in one interval of length ``width``: this is for a mechanism to prove.
    """

    epsilon: Fraction
    noise = Exponential()
    width: ClassVar[int]

    @abstractmethod
    def losses(self, node: NodeCounts) -> Integers:
        """Of every candidate, then of no rule."""

    @property
    def scale(self) -> float:
        """Of the noise, in units of the losses; at least width / e."""
        return scale_for(self.epsilon / self.width)

    def select(self, node: NodeCounts, entropy: Entropy) -> int:
        """By exact coins."""
        return entropy.permute_and_flip(self.losses(node), self.scale)

    def scores(self, node: NodeCounts) -> Array:
        """What would be compared after adding exponential noise; larger is better."""
        losses = self.losses(node)
        scores: Array = (losses.min() - losses) / self.scale
        return scores

    def price(self, n: int, rules: int) -> float:
        """At a node of any size."""
        return float(self.epsilon)
