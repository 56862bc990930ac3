"""How many records a released rule list classifies correctly, and how many not, with noise.

**Privacy.** A record that comes or goes changes one of the two counts by one, and leaves the other alone; so both together cost
one epsilon (mechanisms/discrete_laplace.py). The list is released already, or public: which records it classifies correctly
depends on them alone.
"""

from fractions import Fraction

import numpy as np

from ..candidates import Candidates
from ..privacy.ledger import Reservation
from ..rules import RuleList
from .entropy import Entropy
from .mechanisms.discrete_laplace import release
from .vault import Vault


def correct_and_wrong(
    vault: Vault, model: RuleList, epsilon: Fraction, reservation: Reservation, entropy: Entropy
) -> tuple[int, int]:
    """Noisy numbers of records that the list classifies correctly and wrongly. They may be negative."""
    reservation.draw(epsilon, Fraction(0), "accuracy")
    rules = [rule for rule in model.rules if rule.antecedent]
    counter = vault._counter(Candidates.of_rules(vault.schema, rules))
    parts = [counter.part(range(i), i) for i in range(len(rules))] + [counter.part(range(len(rules)), None)]
    labels = [vault.classes.index(rule.label) for rule in [*rules, model.default]]
    correct = sum(float(part[label]) for part, label in zip(parts, labels, strict=True))
    both = np.array([correct, sum(float(part.sum()) for part in parts) - correct]).astype(np.int64)
    noisy = release(both, epsilon, entropy)
    return int(noisy[0]), int(noisy[1])
