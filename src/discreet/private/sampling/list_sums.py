"""Rule lists of up to three rules by complete summation: all of them are weighed, and one is drawn. No envelope, no rejection.

A list's weight follows from counts of at most three rules (counts/joint.py): it is the product of the weights of its parts
(trees/log_weights.py) and of the prior. The weight of the third rule and the rest, summed over all c, depends on the rules a and
b before them but not on their order: it is a tree with one split, in the part that a and b leave. So all lists of three rules
are R^2 / 2 such sums of R terms.

**Exactness.** Nothing is bounded, merged or left out: every list of different rules is a term of one sum, and its probability is
its term divided by the sum. A rule that is in the list already captures nothing, which is a factor of 1; so it adds to the sum
over c the weight of the part itself, times the rule's prior, and this is subtracted. (What remains is never small: for C
classes, each other c adds at least 1 / C of that, times its prior.)

How much work this is follows from the number of candidates and classes, which are public.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from math import log, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._utils.parallel import mapped
from ...rules.candidates import Candidates
from ...rules.prior import Prior, log_lengths
from ..counts.joint import ListCounts
from ..counts.marginals import LARGEST, MarginalTables
from ..counts.patterns import Array
from ..counts.secret import Secret
from ..noise.decisions import Choose, draw_exactly, excess
from ..noise.entropy import Entropy
from .deadline import Deadline
from .trees.log_weights import SumProduct, TwoClassSumProduct

Drawn = tuple[list[int], list[int]]  # rules, and labels
Numbers = npt.NDArray[np.intp]
BLOCK = 1 << 15  # numbers looked at together: they should stay in the processor's cache


class ListSums(Secret):
    """The weights of all lists of up to three rules that are single literals, for one part of the records."""

    def __init__(
        self,
        marginals: MarginalTables,
        candidates: Candidates,
        prior: Prior,
        class_weights: Array,
        rate: float,
        deadline: Deadline | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        """``progress`` is told how many pairs of rules were looked at."""
        self._class_weights, self._deadline, self._progress = class_weights, deadline or Deadline(), progress
        channels = self._log_weights_by(rate, prior.rules, np.arange(len(candidates))).channels(np.diag(class_weights))
        self._counts = ListCounts(marginals, candidates, channels)
        self._order = self._counts.order
        weights = prior.rules[self._order] / prior.rules.sum()  # only their ratios matter
        self._log_weights = self._log_weights_by(rate, weights, self._order)
        # the prior of labels is part of a leaf's weight here, not of the list's prior
        self._log_lengths = self._lengths_by(prior, weights)
        if len(self._log_lengths) - 1 > LARGEST:
            raise AssertionError("lists of so many rules cannot be summed: this is a bug in the learner")
        self._all = class_weights * self._counts.classes_in({})
        with np.errstate(all="ignore"):  # weights may underflow, and whether they do depends on the records
            self._logs = self._weigh()

    @cached_property
    def _error(self) -> float:
        return self._log_weights.error(self._all)

    def _log_weights_by(self, rate: float, weights: Array, order: Numbers) -> SumProduct:
        """How lists of these candidates are added up."""
        return (TwoClassSumProduct if len(self._class_weights) == 2 else SumProduct)(rate, weights)

    def _lengths_by(self, prior: Prior, weights: Array) -> Array:
        return log_lengths(prior.lengths, weights[weights > 0], n_classes=1)

    def draw(self, entropy: Entropy) -> Drawn:
        """Rules, by their candidate numbers, and labels, the default's last, in proportion to the list's weight in real numbers.

        How weights were rounded decides only how often it is tried again (private/noise/decisions.py).
        """
        with np.errstate(all="ignore"):
            return draw_exactly(self.draw_by, self._weight, self._log_most, self._doubt(), entropy)

    def draw_by(self, choose: Choose) -> Drawn:
        """What choices between weights lead to, given by their logarithms; the audit multiplies all of them out.

        **Identity.** The first rules and the length are drawn by the sum of all lists that begin so, and the third rule by its
        terms in that sum: the probabilities multiply to the weight of the list over the sum of all weights. Labels are
        independent given the rules: a sum over all labels of a product over parts is a product of sums.
        """
        with np.errstate(all="ignore"):
            length, rules = self._first_rules(choose)
            if length == LARGEST:
                rules.append(choose(self._third_rules(*rules)))
            chosen = [int(self._order[rule]) for rule in rules]
            parts = [self._class_weights * counts for counts in self.parts_of(chosen)]
            labels = [choose(self._log_weights.rate * counts) for counts in parts]
        return chosen, labels

    def _first_rules(self, choose: Choose) -> tuple[int, list[int]]:
        """The length of the list, and its first rules, up to two."""
        place, length = choose(np.concatenate([logs.ravel() for logs in self._logs])), 0
        while place >= self._logs[length].size:
            place -= self._logs[length].size
            length += 1
        return length, [place] if length == 1 else list(divmod(place, len(self._order))) if length else []

    def _weight(self, drawn: Drawn) -> tuple[Fraction, Fraction]:
        """``prior * exp(rate * score)`` without error, as a factor and an exponent. The prior of a length is what was computed.

        Counts are exact: class weights are multiples of 2^-20 (docs/theory/rounding.md).
        """
        rules, labels = drawn
        weights = [Fraction(float(self._log_weights.tests[self._counts.place[rule]])) for rule in rules]
        factor = Fraction(1, len(self._class_weights) ** len(labels)) * prod(weights)
        counts = [self._class_weights[y] * part[y] for y, part in zip(labels, self.parts_of(rules), strict=True)]
        score = sum(Fraction(float(count)) for count in counts)
        return factor, Fraction(self._log_weights.rate) * score + Fraction(float(self._log_lengths[len(rules)]))

    def _log_most(self) -> float:
        """The logarithm of the sum of all weights, and a margin: docs/theory/rounding.md, Theorem 29."""
        top = max(float(logs.max()) for logs in self._logs)
        total = sum(float(np.exp(logs - top).sum()) for logs in self._logs)
        return top + log(total) + self._log_weights.left_out(self._all) + self._margin()

    def _doubt(self) -> float:
        """The margin, and what rounding may put the choices above the weight: docs/theory/rounding.md, Theorem 29a."""
        others = float(np.sort(self._log_weights.tests)[:-2].sum()) / len(self._class_weights)  # after any two rules
        return 2.0 * self._margin() + 5.0 * self._error / max(others, 1e-300)

    def _margin(self) -> float:
        return 16.0 * self._error + 2.0 * excess(sum(map(np.size, self._logs))) + 5.0 * excess(self._most_choices)

    @property
    def _most_choices(self) -> int:
        """How many things can be chosen from after the first rules."""
        return len(self._order) + len(self._class_weights)

    def parts_of(self, rules: Sequence[int]) -> list[Array]:
        """Class counts of the parts of a list of rules, given by their candidate numbers; the default last."""
        return self._counts.classes_of(rules)

    def _weigh(self) -> list[Array]:
        """Logarithms of the weights: of the empty list, of [a] for each a, of [a, b], and of all [a, b, c] for each a and b."""
        log_weights, lengths, rules = self._log_weights, self._log_lengths, np.arange(len(self._order))
        total = self._counts.none[:, None]
        logs = [lengths[0] + self._of_any(log_weights.leaf(total))]
        if len(lengths) == 1:
            return logs
        one = self._counts.one
        first = log_weights.leaf(one)
        alone = np.where(self._may_follow(), log_weights.log_tests, -np.inf)
        logs.append(lengths[1] + alone + self._of_any(self._before(first, rules, log_weights.leaf(total - one))))
        if len(lengths) == 2:
            return logs
        of_b, left = self._counts.second_rules()
        second = log_weights.leaf(of_b)
        prior = alone[:, None] + np.where(self._may_follow(rules), log_weights.log_tests, -np.inf)
        np.fill_diagonal(prior, -np.inf)  # no rule twice

        def of_pairs(rest: Array) -> Array:
            after_a = self._before(second, rules[None, :], rest)
            pairs: Array = prior + self._of_any(self._before(first[:, None], rules[:, None], after_a))
            return pairs

        logs.append(lengths[2] + of_pairs(log_weights.leaf(left)))
        if len(lengths) > LARGEST:
            logs.append(lengths[3] + of_pairs(self._sums_of_thirds(left)))
        return logs

    def _before(self, part: Array, rules: Numbers, rest: Array) -> Array:
        """Log weights of what these rules capture together with what follows them."""
        return part + rest

    def _of_any(self, logs: Array) -> Array:
        """Log weights of lists, whatever labels they have."""
        return logs

    def _may_follow(self, *before: Numbers) -> Any:
        """Which rules may follow others."""
        return True

    def _sums_of_thirds(self, left: Array) -> Array:
        """For all a and b, the logarithm of the sum over c of the prior of c times the weights of c and the rest."""
        counts, sums = self._counts, np.empty((*left.shape[1:], *self._log_weights.shape))

        def look_at(pair: tuple[int, int]) -> Array:
            with np.errstate(all="ignore"):  # which holds for one thread only
                parts = counts.third_rules_after(*pair, BLOCK)
                return np.concatenate([self._sum_over(left[:, a, b], of_c, a, b) for a, b, of_c in parts])

        pairs = [(i, j) for at, i in enumerate(counts.used) for j in counts.used[at:]]
        for (i, j), found in zip(pairs, mapped(look_at, pairs), strict=True):
            self._deadline.check()
            sums[counts.slices[i], counts.slices[j]] = found
            sums[counts.slices[j], counts.slices[i]] = found.swapaxes(0, 1)
            self._progress(len(found) * found.shape[1] if i != j else len(found) * (len(found) + 1) // 2)
        return sums

    def _sum_over(self, left: Array, of_c: Array, rows: slice, columns: slice) -> Array:
        """The sum over all c that are neither a nor b, for some a and b."""
        log_weights = self._log_weights
        used = log_weights.tests[rows, None] + log_weights.tests[columns]
        sums = log_weights.one_split(left, of_c)
        # below 0 by rounding, or where a and b are the same and nothing is asked for; not too small (docs/theory, Theorem 29)
        return sums + np.log(np.maximum(1.0 - used * np.exp(log_weights.leaf(left) - sums), 0.0) + 2.0 * self._error)

    def _third_rules(self, a: int, b: int) -> Array:
        """For each c, the logarithm of its prior times the weights of c and the rest, after a and b."""
        of_c, left = self._counts.third_rules(a, b)
        leaf = self._log_weights.leaf
        logs: Array = self._log_weights.log_tests + leaf(of_c) + leaf(left[:, None] - of_c)
        logs[[a, b]] = -np.inf
        return logs
