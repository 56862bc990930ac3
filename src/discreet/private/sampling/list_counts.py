"""What lists of up to three single literals capture, all of them at once: from joint counts, by inclusion and exclusion.

With x the records of a part (their class counts, or the difference of two classes), the rules a, b, c after each other have the
parts

    x(a),    x(b) - x(ab),    x(c) - x(ac) - x(bc) + x(abc),    and the rest.

Literals stand in the order of ``JointCounts``.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from ..counts.cells import Array
from ..counts.division import Bins, joined
from ..counts.joint import JointCounts


class ListCounts(JointCounts):
    """Counts of the parts of lists, in one part of the records."""

    @cached_property
    def place(self) -> dict[int, int]:
        """Where each candidate stands."""
        return {rule: i for i, rule in enumerate(self.order.tolist())}

    def classes_of(self, rules: Sequence[int]) -> list[Array]:
        """Class counts of the parts of a list of rules, given by their candidate numbers; the default last."""
        before: list[tuple[int, Bins]] = []
        parts = []
        for rule in map(self.place.__getitem__, rules):
            group, true = self.group_of[rule], self.truth(rule)
            parts.append(self.classes_in(joined([*before, (group, true)])))
            before.append((group, ~true))
        return [*parts, self.classes_in(joined(before))]

    def second_rules(self) -> tuple[Array, Array]:
        """(channels, a, b): what b captures after a, and what both leave."""
        of_b = self.one[:, None, :] - self.two
        return of_b, (self.none[:, None] - self.one)[:, :, None] - of_b

    def third_rules(self, a: int, b: int) -> tuple[Array, Array]:
        """(channels, c): what each c captures after a and b; and what these leave."""
        i, j = self.group_of[a], self.group_of[b]
        joint = self.three(i, j)[:, a - self.slices[i].start, b - self.slices[j].start]
        one, first, second = self.one, self.two[:, a], self.two[:, b]
        return one - first - second + joint, self.none - one[:, a] - one[:, b] + first[:, b]

    def third_rules_after(self, i: int, j: int, most: int) -> Iterator[tuple[slice, slice, Array]]:
        """What each c captures after all a of group i and b of group j, which is not before it: for some a at a time, all b."""
        columns, start = self.slices[j], self.slices[i].start
        for some, of_c in self.parts_of_three(i, j, most):
            rows = slice(start + some.start, start + some.stop)
            of_c += self.one[:, None, None, :]
            of_c -= self.two[:, rows, None, :]
            of_c -= self.two[:, None, columns, :]
            yield rows, columns, of_c
