"""How many records a released rule list classifies correctly, and how many not, with noise.

**Privacy.** A record that comes or goes changes one of the two counts by one, and leaves the other alone; so both together cost
one epsilon (mechanisms/discrete_laplace.py). The list is released already, or public: which records it classifies correctly
depends on them alone.
"""

from fractions import Fraction

import numpy as np

from ..conditions.rules import truth
from ..models.rule_list import RuleList
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy, Integers
from ..privacy.ledger import Reservation
from .vault import Vault


def correct_and_wrong(
    vault: Vault, model: RuleList, epsilon: Fraction, reservation: Reservation, entropy: Entropy
) -> tuple[int, int]:
    """Noisy numbers of records that the list classifies correctly and wrongly. They may be negative."""
    reservation.draw(epsilon, Fraction(0), "accuracy")
    cells, place = vault._cells, {column.name: i for i, column in enumerate(vault.schema.used)}
    left, correct = np.ones(len(cells), bool), 0
    for rule in model:
        captured = left.copy()
        for literal in rule.antecedent:
            captured &= truth(vault.schema, literal)[cells.bins(place[literal.column])]
        correct += int(cells.counts[captured, vault.classes.index(rule.label)].sum())
        left &= ~captured
    both: Integers = np.array([correct, int(cells.counts.sum()) - correct], np.int64)
    noisy = release(both, epsilon, entropy)
    return int(noisy[0]), int(noisy[1])
