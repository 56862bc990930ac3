"""The second sampler: an exact draw of a whole rule list by best-first search on perturbed bounds. Any number of rules.

Every labelled list x, of prior weight w(x), gets Gumbel noise of its own, located at log w(x); the list with the largest
``rate * score + noise`` is the answer. It has the law w(x) exp(rate * score(x)), and is found without looking at all lists. A
*node* is the beginning of a list: some rules with labels; it stands for all lists that begin so. The largest noise of its lists
is drawn first, and divided among its children afterwards (``gumbel.py``; Maddison, Tarlow & Minka, A* Sampling, 2014).
A node's lists cannot do better than

    rate * (score so far + a bound on the score that can follow) + its largest noise,

and the search opens the node with the largest such bound. A list that is at least as good as every bound left is the answer.

**Exactness** (docs/theory.md, Theorem 17). The noise of a list is the same whenever it is revealed. So the order of opening and
the bounds change how long this takes, and not the law of the answer, as long as the bounds hold and no node is lost.

**Multiplicity.** A node's rules are groups; it stands for every choice of their members, and w counts them.

Exponential noise in place of Gumbel noise (permute-and-flip over whole lists) was tried: docs/theory.md, section 8.
"""

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from ...counts.cells import Array
from ...counts.secret import Secret
from ...noise.decisions import Chances
from ...noise.entropy import Entropy
from ..problem import Problem, Sets
from ..speed.deadline import Deadline
from ..speed.reach import Reach
from ..speed.thresholds import BATCH
from .choices import choose_each, concrete, weighed
from .gumbel import Completions, gumbel, share


class _Nodes(NamedTuple):
    """Beginnings of lists, best bound first."""

    bound: Array  # on rate * score + noise
    rules: Sets  # (nodes, longest), -1 after the last
    labels: Sets
    score: Array  # so far
    weight: Array  # the logarithm of the prior weight of their rules, members counted
    noise: Array  # the largest of their lists

    def at(self, where: Any) -> "_Nodes":
        """Some of them."""
        return _Nodes._make(array[where] for array in self)


def draw_by_search(problem: Problem, entropy: Entropy, deadline: Deadline) -> tuple[list[int], list[int]]:
    """Rules (by their numbers) and labels (the default's last) of one list."""
    groups, labels = _Search(problem, entropy, deadline).run()
    return concrete(problem, groups, Chances(entropy).choose), labels


class _Search(Secret):
    def __init__(self, problem: Problem, entropy: Entropy, deadline: Deadline) -> None:
        self._problem, self._entropy, self._deadline = problem, entropy, deadline
        self._reach = Reach(problem, deadline, tables=0)
        self._completions = Completions(problem)
        self._best = -math.inf
        self._found: tuple[list[int], list[int]] = ([], [0])

    def run(self) -> tuple[list[int], list[int]]:
        """Groups and labels of the best list."""
        empty = np.full((1, self._problem.longest), -1, np.int32)
        noise = gumbel(np.array([self._completions.of_everything]), self._entropy.uniform(1))
        queue: list[tuple[float, int, int, _Nodes]] = []  # runs of nodes, by the bound of the first that is left
        root = _Nodes(np.full(1, np.inf), empty, empty, np.zeros(1), np.zeros(1), noise)
        number = 0
        heapq.heappush(queue, (-math.inf, number, 0, root))
        while queue and -queue[0][0] > self._best:
            self._deadline.check()
            for children in self._open(self._take(queue)):
                if len(children.bound):
                    number += 1
                    heapq.heappush(queue, (-float(children.bound[0]), number, 0, children))
        return self._found

    def _take(self, queue: list[tuple[float, int, int, _Nodes]]) -> _Nodes:
        """The nodes of the largest bounds, up to a batch of them. All others stay in the queue."""
        taken: list[_Nodes] = []
        room = BATCH
        while queue and room and -queue[0][0] > self._best:
            _, number, start, nodes = heapq.heappop(queue)
            limit = -queue[0][0] if queue else -math.inf
            limit = max(limit, self._best)
            # at least one, and as many more as stay ahead of the next run
            stop = start + max(1, int(np.searchsorted(-nodes.bound[start : start + room], -limit)))
            stop = min(stop, start + room)
            taken.append(nodes.at(slice(start, stop)))
            room -= stop - start
            if stop < len(nodes.bound):
                heapq.heappush(queue, (-float(nodes.bound[stop]), number, stop, nodes))
        return _Nodes._make(np.concatenate(arrays) for arrays in zip(*taken, strict=True))

    def _open(self, nodes: _Nodes) -> list[_Nodes]:
        """The children that may still win; lists that end are compared at once."""
        depth = (nodes.rules >= 0).sum(1)
        return [self._open_depth(nodes.at(depth == t), int(t)) for t in np.unique(depth)]

    def _open_depth(self, nodes: _Nodes, t: int) -> _Nodes:
        """The same for nodes of t rules.

        The children of a node are the lists that end there, one for each label, and the beginnings with one more rule and
        a label for it. All labels weigh alike, so the heir's rule (or end) and its label are drawn apart. A child cannot win if
        its bound with the noise of its *parent* is not above the best list; then its own noise is never drawn.
        """
        problem = self._problem
        n, classes = len(nodes.score), problem.n_classes
        sets = nodes.rules[:, :t]
        alive = problem.alive(sets)
        left = problem.left(alive)
        # weights of the children: first the lists that end here, then those that go on with each group (for any one label)
        weights = np.full((n, 1 + problem.n_groups), -np.inf)
        weights[:, 0] = nodes.weight + problem.log_length[t]
        if t < problem.longest:
            weights[:, 1:] = nodes.weight[:, None] + problem.log_free(sets) + self._completions.after_next(sets)
        heirs = choose_each(weighed(weights), self._entropy, n).chosen
        heir_labels = (self._entropy.uniform(n) * classes).astype(int)
        # lists that end here
        row, label = np.divmod(np.arange(n * classes), classes)
        inherits = (heirs[row] == 0) & (heir_labels[row] == label)
        noise = share(nodes.noise[row], weights[row, 0], inherits, self._entropy.uniform(len(row)))
        value = problem.rate * (nodes.score[row] + left[label, row]) + noise
        value[np.isneginf(weights[row, 0])] = -np.inf
        if value.max() > self._best:
            i = int(value.argmax())
            self._best = float(value[i])
            self._found = (sets[row[i]].tolist(), [*nodes.labels[row[i], :t].tolist(), int(label[i])])
        if t == problem.longest:
            return nodes.at(slice(0))
        # lists that go on: their noise is at most that of the node
        captured = problem.captured(alive)
        score = nodes.score[:, None] + captured  # (classes, rows, groups)
        bound = problem.rate * (score + self._after_next(sets, alive, left, captured)).astype(np.float64)
        possible = (bound + nodes.noise[:, None] > self._best) & ~np.isneginf(weights[:, 1:])
        label, row, rule = np.nonzero(possible)
        inherits = (heirs[row] == rule + 1) & (heir_labels[row] == label)
        noise = share(nodes.noise[row], weights[row, rule + 1], inherits, self._entropy.uniform(len(row)))
        bounds = bound[label, row, rule] + noise
        order = np.argsort(-bounds)[: np.count_nonzero(bounds > self._best)]
        label, row, rule, noise = label[order], row[order], rule[order], noise[order]
        rules, labels = nodes.rules[row], nodes.labels[row]
        rules[:, t], labels[:, t] = rule, label
        weight = nodes.weight[row] + problem.log_free(sets)[row, rule]
        return _Nodes(bounds[order], rules, labels, score[label, row, rule].astype(np.float64), weight, noise)

    def _after_next(self, sets: Sets, alive: Array, left: Array, captured: Array) -> Array:
        """A bound on the score that can follow a child."""
        s = self._problem.longest - sets.shape[1] - 1
        if s == 0:
            rest: Array = (left[:, :, None] - captured).max(0)
            return rest
        return self._reach.after_next(sets, alive, s)
