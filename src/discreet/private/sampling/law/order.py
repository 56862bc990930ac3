"""In which order the rules of a set stand."""

import numpy as np

from ...noise.decisions import Choose
from .elements import Elements, Last, Level, keys_of


def draw_order(elements: Elements, level: Level | Last, place: int, choose: Choose) -> list[int]:
    """An order for the rules of a set, in proportion to its weight: which of them was added last, and so on back.

    **Identity.** ``W(T) = sum over l of W(T - l) * gain of l after T - l``, over all (T - l, l) that were kept; orders that were
    not kept are in other elements. So the rule that came last is l with probability (its summand) / W(T), and the order of the
    others has the law of T - l. In a part of the last level, the sum is over the parents from which that part was made: what
    comes from others is in other parts. So an order can be drawn in one way only.
    """
    problem = elements.problem
    rules: list[int] = []
    rules_now = level.sets[place]
    for t in range(len(rules_now), 0, -1):
        before = elements.levels[t - 1]
        among = level.parents if isinstance(level, Last) and not rules else range(len(before.sets))
        parents, logs = [], []
        for group in np.unique(rules_now):
            rest = rules_now.tolist()
            rest.remove(group)
            sets = np.array([rest], np.int32).reshape(1, t - 1)
            key = keys_of(problem, sets)[0]
            parent = int(np.searchsorted(before.keys, key))
            known = parent in among and before.keys[parent] == key
            if not known or not np.unpackbits(before.kept[parent])[group]:
                continue
            part = problem.alive(sets) * problem.truth.T[[group]]
            gained = problem.log_free(sets)[0, group] + problem.log_sum(problem.left(part))[0]
            parents.append((parent, int(group)))
            logs.append(before.weight[parent] + gained)
        place, group = parents[choose(np.array(logs))]
        rules.append(group)
        rules_now = before.sets[place]
    return rules[::-1]
