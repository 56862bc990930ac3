"""Forests: several private trees whose answers are added up. None of them is worth a class of its own (docs/reproduction.md).

What a forest costs (docs/theory/greedy.md, Theorem 21c): trees that see *disjoint parts* of the records cost together what the
dearest of them does; trees that see *all records* cost the sum. *Proof.* A record's part is drawn for each record by itself.
Let one table have the record x more, and draw a part for x on the other table, too, where it is not used. Given these draws,
the parts of both tables are the same but for the one that x is in, so what holds of the tree that sees it holds of all (Theorem
21a); the mean over the draws keeps that. The other case is composition.  [] (Dealing records to parts in turn, or cutting a
shuffled table into equal pieces, would need their number, which is private, and one record more would move others from part to
part.) Adding up what trees say costs nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import DPGreedyTreeClassifier, DPOptimalTreeClassifier

from .splits import Said, Split

Member = Callable[..., Any]  # (epsilon, seed, without=columns) -> a private classifier that is not fitted yet


@dataclass(frozen=True)
class Forest:
    """Trees for two classes that each give a record points; from ``limits`` on, the answer is the second class.

    Points are the trees' shares of the second class (an average of probabilities), or 0 and 1 (votes).
    """

    partitions: tuple[Any, ...]
    answers: tuple[Said, Said]
    limits: tuple[float, ...]

    @property
    def model_(self) -> "Forest":
        """Itself, as of a fitted classifier."""
        return self

    @classmethod
    def of(cls, trees: Sequence[Any]) -> "Forest":
        """From trees. Those with class counts add their shares of the second class, those without have a vote."""
        partitions = []
        for tree in trees:
            points = tuple(tree.answer_shares[:, 1].tolist())
            partitions.append(replace(tree.partitions[0], points=points))
        first, second = map(Said, trees[0].classes)
        return cls(tuple(partitions), (first, second), (len(trees) / 2,))


def whole(depth: int, criterion: str = "accuracy", counts_share: float = 0.0) -> Member:
    """Trees drawn whole; by default without class counts, so that each has one vote."""

    def make(epsilon: float, seed: int, without: Sequence[str] = ()) -> Any:
        prior = dict.fromkeys(without, 0.0) or None
        kind: dict[str, Any] = {"criterion": criterion, "counts_share": counts_share}
        return DPOptimalTreeClassifier(epsilon=epsilon, max_depth=depth, prior=prior, random_state=seed, **kind)

    return make


def greedy(depth: int, counts_share: float = 0.5) -> Member:
    """Greedy trees by impurity mass."""

    def make(epsilon: float, seed: int, without: Sequence[str] = ()) -> Any:
        kind: dict[str, Any] = {"exclude": tuple(without), "counts_share": counts_share}
        return DPGreedyTreeClassifier(epsilon=epsilon, max_depth=depth, random_state=seed, **kind)

    return make


def of_parts(split: Split, epsilon: float, seed: int, trees: int, member: Member) -> Forest:
    """Each tree sees a random part of the records, and has all of epsilon."""
    learners = [member(epsilon, int(number)) for number in _seeds(seed, trees)]
    return Forest.of([split.fit(one, trees, i).tree_ for i, one in enumerate(learners)])


def of_all_records(split: Split, epsilon: float, seed: int, trees: int, member: Member, columns: float = 1.0) -> Forest:
    """Each tree sees all records, and has an equal share of epsilon; and, if asked, a random share of the columns."""
    names = [column.name for column in split.schema.used]
    left_out = len(names) - max(1, round(columns * len(names)))
    grown = []
    for number in _seeds(seed, trees):
        without = np.random.default_rng(int(number)).choice(names, left_out, replace=False).tolist()
        grown.append(split.fit(member(epsilon / trees, int(number), without)).tree_)
    return Forest.of(grown)


def _seeds(seed: int, trees: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).integers(2**31, size=trees)
