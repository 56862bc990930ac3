"""Log weights of leaves, and how those of many trees become one number: their sum, or the largest of them (optimum.py).

A tree has the weight

    prior(tree) * exp(rate * score),      score = sum over leaves of g(class counts of the leaf, its label)

where the prior is public, ``rate`` is epsilon, and g is, for ``"accuracy"``, the number of the leaf's records that have its label
(times public class weights of at most 1); for ``"gini"``, minus the impurity mass of the leaf (``leaf_mass``), and leaves have no
labels yet. One record more changes g by at most 1, in one direction, in one leaf: so a draw costs epsilon, once
(private/mechanisms/draws.py). Trees that break public limits (rules/limits.py) have no weight.

The *log weight* of a part of the records is the logarithm of the summed weights of all that may grow there: ``leaf`` if it stays
a leaf, ``one_split`` if it is split once; ``over_tests`` and ``either`` combine what may lie below. An empty part has log weight
0 (a factor of 1) at every depth.

``SumProduct.channels`` says what is counted: the class counts, or, for accuracy and two classes, only their difference. The first
axis of an array of counts is for channels.
"""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...counts.patterns import Array

ACCURACY, GINI = "accuracy", "gini"
SCORES = (ACCURACY, GINI)
Numbers = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Part = Mapping[int, bool]  # tests, and on which side of each
SMALLEST = -690.0  # its exponential, 1e-300, is lost beside one of 0; below -708 processors get very slow
NOTHING = 1e-9  # sizes below it are what rounding leaves of an empty part, where counts are weighted


class SumProduct:
    """The sum over all trees of ``prior * exp(rate * score)``; labels have equal chances in the prior.

    It is one number, or several in a last axis of this ``shape`` (ranges.py).
    """

    shape: tuple[int, ...] = ()
    more_choices = 0  # at a node, for each test

    def __init__(self, rate: float, tests: Array, split: float = 0.5, accuracy: bool = True) -> None:
        """``tests`` are the weights of tests, ``split`` is how likely a node is to be split."""
        self.rate = rate
        with np.errstate(divide="ignore"):
            self.tests, self.log_tests = tests, np.log(tests)
        self.log_split, self.log_stop = math.log(split), math.log1p(-split)
        self.accuracy = accuracy

    def error(self, counts: Array) -> float:
        """At most so far are two ways to compute the logarithm of one sum apart, given the class counts of all records.

        docs/theory/rounding.md, Lemma 27, has the proof.
        """
        return 2.0**-48 * (len(counts) * self.rate * float(counts.sum()) + len(self.tests) + 2048.0)

    def channels(self, counts: Array) -> Array:
        """What is counted of each pattern, from its class counts."""
        return counts

    def left_out(self, counts: Array) -> float:
        """A part of the log weight that is the same for every tree, and not computed here."""
        return 0.0

    def leaf(self, counts: Array) -> Array:
        """Of a part that stays a leaf: over all labels, equal in the prior; the mass has no labels."""
        if not self.accuracy:
            return -self.rate * leaf_mass(counts)
        logs = self.rate * counts
        top = logs.max(0)
        log_weight: Array = top + np.log(_exp(logs - top).sum(0)) - math.log(len(counts))
        return log_weight

    def one_split(self, total: Array, inside: Array) -> Array:
        """Of all ways to split a part once: ``inside`` has, along its last axis, what each test takes of ``total``.

        Counts may be of single precision, where they are exact in it.
        """
        inside = inside.astype(np.float64)
        return self.over_tests(self.leaf(inside) + self.leaf(total[..., None] - inside), axis=-1)

    def over_tests(self, logs: Array, axis: int) -> Array:
        """Of all tests, by their prior, given what is below each of them."""
        top = logs.max(axis, keepdims=True)
        sums = np.tensordot(_exp(logs - top), self.tests, axes=([axis], [0]))
        total: Array = top.squeeze(axis) + np.log(sums)
        return total

    def either(self, leaf: Array, splits: Array) -> Array:
        """Of a node that is a leaf or is split, by the prior of splits."""
        total: Array = np.logaddexp(self.log_stop + leaf, self.log_split + splits)
        return total

    def joined(self, true: Array, other: Array, tests: Numbers, leaves: bool = False) -> Array:
        """Of both branches of tests, perhaps ``leaves``. ``tests`` has, or is broadcast to, all axes but that of the shape."""
        joined: Array = other + true
        return joined

    def forked(self, below: Array) -> Array:
        """Of a node that is split by each of the tests, in the last axis, given what is below them."""
        logs: Array = self.log_split + self.log_tests + below
        return logs

    def stopped(self, leaf: Array) -> Array:
        """Of a node that could be split and is a leaf."""
        return self.log_stop + leaf

    def whole(self, logs: Array) -> float:
        """Of what has this shape, together."""
        return float(logs)


class TwoClassSumProduct(SumProduct):
    """The same for accuracy and two classes, from the difference x of the two class counts alone, in half as many exponentials.

    **Identities.** With h = rate / 2 and n records in the part, a leaf weighs (e^(rate c0) + e^(rate c1)) / 2 =
    e^(h n) cosh(h x). The factors e^(h n) multiply to the same number for every tree and are left out. For a split of x into y
    and x - y, cosh(h y) cosh(h (x - y)) = (cosh(h x) + cosh(h (2 y - x))) / 2, and the first term is the same for all tests.
    """

    def channels(self, counts: Array) -> Array:
        """The difference."""
        return counts[:1] - counts[1:]

    def left_out(self, counts: Array) -> float:
        """The factors e^(h n)."""
        return 0.5 * self.rate * float(counts.sum())

    def leaf(self, counts: Array) -> Array:
        """log cosh(h x)."""
        return _log_cosh(0.5 * self.rate * np.abs(counts[0]))

    def one_split(self, total: Array, inside: Array) -> Array:
        """By the second identity."""
        h = 0.5 * self.rate
        whole = total[0].astype(inside.dtype)
        x = 2 * inside[0]
        x -= whole[..., None]
        np.abs(x, out=x)
        most = x.max(-1)
        x -= most[..., None]
        a = np.multiply(x, h, dtype=np.float64)
        np.maximum(a, SMALLEST, out=a)
        np.exp(a, out=a)
        top = h * most.astype(np.float64)
        # The sum of cosh(a) is e^top / 2 times the sums of e^(a - top), rising, and of e^(-a - top), falling, which is
        # e^(-2 top) / e^(a - top). Where a - top is below SMALLEST, top is above 690, and the falling term below e^-690 anyway.
        rising = a @ self.tests
        np.divide(1.0, a, out=a)
        falling = a @ self.tests
        falling *= np.exp(-2.0 * top)
        alike = _log_cosh(h * np.abs(total[0]))
        others: Array = top + np.log(0.5 * (rising + falling))
        log_weight: Array = np.logaddexp(alike, others) - math.log(2.0)
        return log_weight


def leaf_mass(counts: Array) -> Array:
    """The impurity mass (s - sum of s_c^2 / s) / 2 of parts with class counts s_c, perhaps weighted; an empty part has none.

    Where a part weighs less than NOTHING it is not more than that.
    """
    size = counts.sum(0)
    mass: Array = 0.5 * (size - (counts * counts).sum(0) / np.maximum(size, NOTHING))
    return mass


def _log_cosh(a: Array) -> Array:
    """Of numbers that are not below 0."""
    log_weight: Array = a + np.log1p(_exp(-2.0 * a)) - math.log(2.0)
    return log_weight


def _exp(a: Array) -> Array:
    """Exponentials of numbers that are not above 0."""
    exponentials: Array = np.exp(np.maximum(a, SMALLEST))
    return exponentials
