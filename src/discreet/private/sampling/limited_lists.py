"""Short lists that keep to public limits (rules/limits.py), by complete summation.

A list is a tree whose true branches are leaves. So what follows some rules has a log weight for each range of its labels
(trees/ranges.py), and a rule is put before it range by range. Lists with columns that are forbidden together, or with a rule
twice, are left out term by term; nothing is subtracted.

**Exactness.** As in list_sums.py: every list is a term of one sum. Its labels have one range after each of its rules, and these
are chosen from the first rule on: there is one way to each list.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from ...rules.limits import Flags, Limits
from ..counts.marginals import LARGEST
from ..counts.patterns import Array
from ..noise.decisions import Choose
from .list_sums import Drawn, ListSums, Numbers
from .trees.log_weights import SumProduct
from .trees.ranges import RangedSumProduct, Way


class LimitedListSums(ListSums):
    """The weights of all lists of up to three rules that are single literals and keep to limits."""

    _log_weights: Any

    def __init__(self, *given: Any, limits: Limits) -> None:
        self._limits = limits
        super().__init__(*given)

    def draw_by(self, choose: Choose) -> Drawn:
        """What choices between weights lead to.

        **Identity.** The first rules and the length are drawn by the sum of all lists that begin so; then, rule by rule, its
        label together with the range of all labels after it, by the sum of the labellings that have them; with the last of these
        goes the third rule. The probabilities multiply to the weight of the list over the sum of all weights.
        """
        with np.errstate(all="ignore"):
            length, rules = self._first_rules(choose)
            chosen = [int(self._order[rule]) for rule in rules]
            *parts, rest = map(self._log_weights_of, self.parts_of(chosen))
            if length == LARGEST:
                rest = self._thirds[tuple(rules)]
            after = [rest]  # log weights of what follows each rule, by the range of its labels
            for rule, part in zip(rules[::-1], parts[::-1], strict=True):
                after.insert(0, self._before(part, np.array(rule), after[0]))
            labels, among = [], None
            for rule, part, later in zip(rules, parts, after[1:], strict=True):
                ways = [way for way in self._ways.ways_of_rules if way.allowed[rule] and among in (None, way.both)]
                way = ways[choose(np.array([part[way.true] + later[way.other] for way in ways]))]
                labels.append(self._label(way.true))
                among = way.other
            if length == LARGEST:
                third, last = self._third(rules, among, choose)
                return [*chosen, int(self._order[third])], [*labels, self._label(last.true), self._label(last.other)]
            if among is None:
                ones = [self._ways.of_one[rank] for rank in self._ways.possible]
                among = ones[choose(rest[ones])] if len(ones) > 1 else ones[0]
        return chosen, [*labels, self._label(among)]

    @property
    def _ways(self) -> Any:
        return self._log_weights.ranges

    @property
    def _most_choices(self) -> int:
        return len(self._order) * int(self._log_weights.more_choices) + len(self._class_weights)

    def _log_weights_by(self, rate: float, weights: Array, order: Numbers) -> SumProduct:
        return RangedSumProduct(rate, weights).by(self._limits_of(order))

    def _limits_of(self, order: Numbers) -> Limits:
        return self._limits.flipped(order, np.zeros(len(order), bool))

    def _log_weights_of(self, counts: Array) -> Array:
        """Of a part with these class counts, by the range of its label."""
        log_weight: Array = self._log_weights.leaf(self._log_weights.channels(self._class_weights * counts))
        return log_weight

    def _label(self, place: int) -> int:
        """The label of a range that has only one."""
        label: int = self._ways.labels[self._ways.of_one.index(place)]
        return label

    def _before(self, part: Array, rules: Numbers, rest: Array) -> Array:
        """Rules, each with any label, and what comes after them: of each range."""
        found: Array = self._log_weights.joined_by(self._ways.ways_of_rules, part, rest, rules)
        return found

    def _of_any(self, logs: Array) -> Array:
        """All ranges together."""
        total: Array = self._log_weights.put_together(np.moveaxis(logs, -1, 0))
        return total

    def _may_follow(self, *before: Numbers) -> Flags:
        """Which rules may follow where the columns of others were used."""
        used = reduce(or_, (self._limits.columns[self._order[rules]] for rules in before), np.array(0))
        return self._limits_of(self._order).allowed(np.asarray(used))

    def _sums_of_thirds(self, left: Array) -> Array:
        self._thirds = super()._sums_of_thirds(left)
        return self._thirds

    def _sum_over(self, left: Array, of_c: Array, rows: slice, columns: slice) -> Array:
        """The sum over all c that may follow a and b, for some a and b: of each range."""
        rules = np.arange(len(self._order))
        first, second = self._log_weights.leaf(of_c), self._log_weights.leaf(left[..., None] - of_c)
        logs = self._log_weights.joined(first, second, rules, leaves=True)
        a, b = rules[rows, None], rules[columns]
        logs[~self._may_follow(a, b) | (rules == a[..., None]) | (rules == b[:, None])] = -np.inf
        found: Array = self._log_weights.over_tests(logs, axis=2)
        return found

    def _third(self, rules: Sequence[int], among: int | None, choose: Choose) -> tuple[int, Way]:
        """A third rule, its label and that of the default, which have one range together."""
        a, b = rules
        of_c, left = self._counts.third_rules(a, b)
        first, second = self._log_weights.leaf(of_c), self._log_weights.leaf(left[:, None] - of_c)
        allowed = self._may_follow(np.array(a), np.array(b))
        allowed[[a, b]] = False
        ways = [way for way in self._ways.ways_of_leaves if way.both == among]
        logs = [np.where(way.allowed & allowed, first[:, way.true] + second[:, way.other], -np.inf) for way in ways]
        way, rule = divmod(choose((self._log_weights.log_tests + np.array(logs)).ravel()), len(self._order))
        return rule, ways[way]
