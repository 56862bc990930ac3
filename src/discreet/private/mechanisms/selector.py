"""One choice of a rule at a node: the law that a mechanism's proof is about, and the draw that follows it."""

from abc import ABC, abstractmethod

from ..counts.cells import Array
from ..counts.counting import NodeCounts
from ..noise.entropy import Entropy
from ..noise.noisy_max import Noise, choose, log_prob


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
