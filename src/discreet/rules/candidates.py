"""The public set of rules that a learner may choose from. It follows from the schema alone; no function here takes data.

Literals of one column are sets of its bins, so what can be seen without data is seen here: a conjunction that no value
satisfies (``job = clerk and job = boss``) and one that says what a shorter one says (``job = clerk and job != boss``)
are left out, and so is a literal that is always true or says the same as an earlier one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._utils.errors import CandidatesError
from ..schema import Schema
from ..schema.columns import Column
from .rules import Literal, Rule, truth

MAX_RULES = 10_000_000
MAX_CONDITIONS = 100_000  # of one column


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rules over the literals of a schema, as arrays; each rule becomes a ``Rule`` when it is asked for.

    ``members[r]`` numbers the literals of rule ``r``, filled up with -1.
    """

    schema: Schema
    literals: tuple[Literal, ...]
    members: np.ndarray

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> Rule:
        return Rule(tuple(self.literals[i] for i in self.members[index] if i >= 0))

    def __iter__(self) -> Iterator[Rule]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Candidates: {len(self)} rules over {len(self.literals)} literals>"

    @cached_property
    def truths(self) -> list[np.ndarray]:
        """For each literal, the bins of its column in which it is true."""
        return [truth(self.schema, literal) for literal in self.literals]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that rules are about, in the order of the schema."""
        names = {literal.column for literal in self.literals}
        return tuple(column for column in self.schema.used if column.name in names)

    def only(self, which: np.ndarray) -> "Candidates":
        """Some of the rules, over the literals that they use."""
        members = self.members[which]
        used = np.unique(members[members >= 0])
        place = np.full(len(self.literals) + 1, -1, members.dtype)  # -1, no literal, stays what it is
        place[used] = np.arange(len(used))
        fewer = Candidates(self.schema, tuple(self.literals[i] for i in used), place[members])
        if "truths" in self.__dict__:  # they need not be found again
            fewer.__dict__["truths"] = [self.truths[i] for i in used]
        return fewer

    @classmethod
    def of_schema(cls, schema: Schema, max_literals: int = 1, negations: bool = True) -> "Candidates":
        """All conjunctions of at most ``max_literals`` literals that differ in meaning.

        >>> from discreet.schema.columns import Categorical, Numeric
        >>> schema = Schema([Numeric("age", cuts=[25, 45]), Categorical("job", categories=["clerk", "boss"])])
        >>> [str(rule) for rule in Candidates.of_schema(schema)]
        ['age <= 25', 'age > 25', 'age <= 45', 'age > 45', 'job = clerk', 'job = boss']
        >>> len(Candidates.of_schema(schema, max_literals=2))
        15
        """
        if isinstance(max_literals, bool) or not isinstance(max_literals, int | np.integer) or max_literals < 1:
            raise CandidatesError(f"max_literals must be an integer of at least 1, not {max_literals!r}")
        if not isinstance(negations, bool | np.bool_):
            raise CandidatesError(f"negations must be True or False, not {negations!r}")
        max_literals = min(int(max_literals), sum(len(column.tests()) for column in schema.used) * 2 or 1)
        literals: list[Literal] = []
        columns: list[list[tuple[int, ...]]] = []  # for each column, its distinct conditions as tuples of literals
        for column in schema.used:
            own = _literals(column, negations)
            columns.append([tuple(len(literals) + i for i in c) for c in _conditions(column, own, max_literals)])
            literals += own
        if not literals:
            raise CandidatesError(
                "there is no literal to build rules from: no column that may be used has a cut, a category or two values"
            )
        n_rules = _count([[len(c) for c in conditions] for conditions in columns], max_literals)
        if n_rules > MAX_RULES:
            raise CandidatesError(
                f"max_literals={max_literals} gives {n_rules:,} candidate rules, more than {MAX_RULES:,}; "
                f"lower max_literals, exclude columns, give fewer cuts or categories{', or set negations=False' * negations}"
            )
        return cls(schema, tuple(literals), _combine(columns, max_literals))

    @classmethod
    def of_tests(cls, schema: Schema) -> "Candidates":
        """What a split of a tree may ask: single literals. Of two of which one is true where the other is not, the first stays.

        >>> from discreet.schema.columns import Categorical, Numeric
        >>> schema = Schema([Numeric("age", cuts=[25, 45]), Categorical("job", categories=["clerk", "boss"])])
        >>> [str(rule) for rule in Candidates.of_tests(schema)]
        ['age <= 25', 'age <= 45', 'job = clerk']
        """
        every = cls.of_schema(schema, max_literals=1, negations=False)
        sides: set[tuple[str, bytes]] = set()
        kept = []
        for number, (literal, true) in enumerate(zip(every.literals, every.truths, strict=True)):
            true = true[schema[literal.column].domain]
            if (literal.column, (~true).tobytes()) not in sides:
                sides.add((literal.column, true.tobytes()))
                kept.append(number)
        return every.only(np.array(kept))

    @classmethod
    def of_rules(cls, schema: Schema, rules: Iterable[Rule | str]) -> "Candidates":
        """An explicit set of rules. Labels they may have are of no account."""
        parsed = as_rules(rules)
        place = {literal: i for i, literal in enumerate(dict.fromkeys(x for r in parsed for x in r.antecedent))}
        members = np.full((len(parsed), max(len(r.antecedent) for r in parsed)), -1, dtype=np.int32)
        for row, rule in zip(members, parsed, strict=True):
            row[: len(rule.antecedent)] = [place[x] for x in rule.antecedent]
        candidates = cls(schema, tuple(place), members)
        candidates.truths  # noqa: B018  complains about literals that do not fit the schema
        return candidates


def as_rules(rules: Iterable[Rule | str]) -> list[Rule]:
    """An explicit set of candidates, texts parsed."""
    listed = [] if isinstance(rules, str) or not isinstance(rules, Iterable) else list(rules)
    parsed = [Rule.parse(rule) if isinstance(rule, str) else rule for rule in listed]
    if not parsed or not all(isinstance(rule, Rule) and rule.antecedent for rule in parsed):
        raise CandidatesError("candidates must be a list of at least one Rule (or its text), each with a literal")
    return parsed


def _literals(column: Column, negations: bool) -> list[Literal]:
    """The column's literals, each followed by its negation; without those that are constant or say the same as another.

    Of `sex = Male` and `sex != Female`, which say the same where there are two categories, the positive one stays.
    """
    positives = [Literal(column.name, op, value) for op, value in column.tests()]
    kept: set[Literal] = set()
    seen: set[bytes] = set()
    for literal in [*positives, *(~p for p in positives if negations)]:
        true = column.where(literal.op, literal.value)[column.domain]
        if true.any() and not true.all() and true.tobytes() not in seen:
            seen.add(true.tobytes())
            kept.add(literal)
    return [literal for positive in positives for literal in (positive, ~positive) if literal in kept]


def _conditions(column: Column, literals: Sequence[Literal], max_literals: int) -> list[tuple[int, ...]]:
    """The distinct sets of bins that conjunctions of this column's literals can single out, shortest conjunction first."""
    domain = column.domain
    truths = [column.where(x.op, x.value)[domain] for x in literals]
    newest: list[tuple[tuple[int, ...], np.ndarray]] = [((i,), true) for i, true in enumerate(truths)]
    seen = {true.tobytes() for true in truths}
    conditions = [members for members, _ in newest]
    while newest and len(conditions[-1]) < max_literals:
        longer = []
        for members, true in newest:
            for i in range(members[-1] + 1, len(literals)):
                both = true & truths[i]
                if both.any() and both.tobytes() not in seen:
                    seen.add(both.tobytes())
                    longer.append(((*members, i), both))
            if len(seen) > MAX_CONDITIONS:
                raise CandidatesError(
                    f"column {column.name!r} alone gives more than {MAX_CONDITIONS:,} conjunctions; "
                    "lower max_literals, or give it fewer cuts or categories"
                )
        newest = longer
        conditions += [members for members, _ in newest]
    return conditions


def _count(cards: list[list[int]], max_literals: int) -> int:
    """How many rules ``_combine`` will make: a product of polynomials, one per column, in the number of literals."""
    ways = np.ones(1, object)  # integers of any size
    for column in cards:
        ways = np.convolve(ways, [1, *(column.count(card) for card in range(1, max_literals + 1))])[: max_literals + 1]
    return int(sum(ways[1:]))


def _combine(columns: list[list[tuple[int, ...]]], max_literals: int) -> np.ndarray:
    """All ways to join conditions of different columns with at most ``max_literals`` literals in all; short rules first."""
    conditions = [c for column in columns for c in column]
    column = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
    card = np.array([len(c) for c in conditions])
    padded = np.full((len(conditions), max_literals), -1, dtype=np.int32)
    for row, members in zip(padded, conditions, strict=True):
        row[: len(members)] = members

    parts = [(padded, column, card)]
    for _ in range(max_literals - 1):  # join one more condition, of a later column
        rules, last, size = parts[-1]
        grown = []
        for at in range(1, max_literals):  # rules of `at` literals so far have room for the rest
            short, fitting = np.flatnonzero(size == at), np.flatnonzero(card <= max_literals - at)
            old, new = np.nonzero(last[short, None] < column[fitting])
            old, new = short[old], fitting[new]
            joined = rules[old]
            joined[:, at:] = padded[new, : max_literals - at]
            grown.append((joined, column[new], at + card[new]))
        parts.append(tuple(np.concatenate(arrays) for arrays in zip(*grown, strict=True)))  # type: ignore[arg-type]
    rules = np.concatenate([rules for rules, _, _ in parts])
    order = np.argsort(np.concatenate([size for _, _, size in parts]), kind="stable")
    return rules[order]


Counts = tuple[float, ...]
Path = tuple[tuple[int, bool], ...]  # tests, and whether they were true


@dataclass(frozen=True)
class NumberedLeaf:
    """The end of a way through the tree. Its label may still have to be found from its class counts."""

    label: int | None = None
    counts: Counts | None = None


@dataclass(frozen=True)
class NumberedFork:
    """A test, the tree for the records of which it is true, and the tree for the others (where a value is missing, too)."""

    test: int
    true: "NumberedTree"
    other: "NumberedTree"


NumberedTree = NumberedLeaf | NumberedFork


def leaves_of(tree: NumberedTree, path: Path = ()) -> Iterator[tuple[Path, NumberedLeaf]]:
    """The leaves with the way to each, the branch where a test is true first. No record takes two of these ways.

    >>> [path for path, _ in leaves_of(NumberedFork(3, NumberedLeaf(0), NumberedFork(1, NumberedLeaf(1), NumberedLeaf(0))))]
    [((3, True),), ((3, False), (1, True)), ((3, False), (1, False))]
    """
    if isinstance(tree, NumberedLeaf):
        yield path, tree
        return
    yield from leaves_of(tree.true, (*path, (tree.test, True)))
    yield from leaves_of(tree.other, (*path, (tree.test, False)))


def with_leaves(
    tree: NumberedTree, grow: Callable[[Path, NumberedLeaf], NumberedTree], path: Path = ()
) -> NumberedTree:
    """The tree with something else in place of each of its leaves, in the order of ``leaves_of``."""
    if isinstance(tree, NumberedLeaf):
        return grow(path, tree)
    true = with_leaves(tree.true, grow, (*path, (tree.test, True)))
    other = with_leaves(tree.other, grow, (*path, (tree.test, False)))
    return NumberedFork(tree.test, true, other)
