"""How many records a released model classifies correctly, and how many not, with noise.

**Privacy.** A record that comes or goes changes one of the two counts by one, and leaves the other alone; so both together cost
one epsilon (noise/discrete_laplace.py). The model is released already, or public: which records it classifies correctly
depends on them alone.
"""

from fractions import Fraction

import numpy as np

from ..conditions.partition import Model, find_answers
from ..conditions.rules import Literal, truth
from ..noise.discrete_laplace import release
from ..noise.entropy import Entropy, Integers
from ..privacy.ledger import Reservation
from .vault import Vault


def correct_and_wrong(
    vault: Vault, model: Model, epsilon: Fraction, reservation: Reservation, entropy: Entropy
) -> tuple[int, int]:
    """Noisy numbers of records that the model classifies correctly and wrongly. They may be negative."""
    reservation.draw(epsilon, Fraction(0), "accuracy")
    cells, place = vault._cells, {column.name: i for i, column in enumerate(vault.schema.used)}

    def is_true(literal: Literal) -> np.ndarray:
        return truth(vault.schema, literal)[cells.bins(place[literal.column])]

    found, correct = find_answers(model, len(cells), is_true), 0
    for number, answer in enumerate(model.answers):
        correct += int(cells.counts[found == number, vault.classes.index(answer.label)].sum())
    both: Integers = np.array([correct, int(cells.counts.sum()) - correct], np.int64)
    noisy = release(both, epsilon, entropy)
    return int(noisy[0]), int(noisy[1])
