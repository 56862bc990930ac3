"""Made-up records with every kind of odd value, scored by every format and compared with ``predict``.

    python -m tests.support.made_up_records [RECORDS] [SCORER ...]

draws a million by default, for a list and a tree over columns of every kind.
"""

import math
import sys
import time
from importlib.util import find_spec

import numpy as np

from discreet import Boolean, Categorical, Numeric, Rule, RuleList, Schema, Split, Tree
from discreet.models.partition import Answer
from discreet.rules.candidates import Candidates

from .scorers import IN_JAVA, NEEDS, SCORERS, ReadPmml

WORDS = ["a", "b", "other", 'a "b"', "<&>", "é ü 漢 🦆", "a\nb", " a", "a ", "", "1", "01", "nan", "x" * 60]
GROUPS = {"g": ["a", "<&>"], "h": ["1", "", " a"]}
CUTS = {"cuts": [-4, -3, 0, 1.5, 2, 5], "ranges": [(-5, -4), (-3, 2), (1, math.inf)]}
SCHEMA = Schema(
    (
        *(Numeric(f"number {o}", True, **CUTS, low=-3, high=3, outside=o) for o in ("clip", "missing", "error")),
        Numeric("number without bounds", True, **CUTS),
        *(Categorical(f"text {o}", True, WORDS, outside=o) for o in ("other", "none", "missing", "error")),
        *(Categorical(f"group {o}", True, WORDS, GROUPS, "other", o) for o in ("other", "none", "missing")),
        Categorical("code", True, [0, 1, 2, 17], outside="other"),
        Boolean("truth", True),
    ),
    "y & <z>",
    ["no", "yes", "may be"],
)
EDGES = np.array([-5, -4, -3, 0, 1, 1.5, 2, 3, 5, 17])
ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e16, 1e300, -1e300])


def drawn_numbers(n, rng):
    """On and beside every cut and bound, odd ones, and others."""
    near = np.nextafter(EDGES[rng.integers(len(EDGES), size=n)], rng.choice([-np.inf, np.inf], n))
    kinds = [EDGES[rng.integers(len(EDGES), size=n)], near, ODD[rng.integers(len(ODD), size=n)], rng.normal(0, 4, n)]
    return np.choose(rng.choice(4, n, p=[0.4, 0.3, 0.15, 0.15]), kinds)


def drawn_texts(n, rng):
    """Listed ones, the same in other spellings, others, and none."""
    known = np.empty(0, object)
    for word in WORDS:
        known = np.append(known, [word, word.upper(), f" {word}", f"{word}\t"])
    known = np.append(known, [None, None, None, "zzz", "true", "NaN", "None", "NULL", "1.0", "\\"])
    return known[rng.integers(len(known), size=n)]


def drawn_records(n, rng):
    """Columns of plain values."""
    columns = {}
    for column in SCHEMA.columns:
        if isinstance(column, Boolean):
            columns[column.name] = np.array([True, False, None], object)[rng.integers(3, size=n)]
        else:
            draw = drawn_texts if column.name.startswith(("text", "group")) else drawn_numbers
            columns[column.name] = draw(n, rng)
    return columns


def drawn_models(rng):
    """A list of two dozen rules and a tree of depth five, with noisy counts."""
    candidates = Candidates.of_schema(SCHEMA, 1, negations=True)
    literals = [rule.antecedent[0] for rule in candidates]
    classes = SCHEMA.classes

    def some():
        return literals[rng.integers(len(literals))]

    def answer():
        return classes[rng.integers(3)], tuple(rng.normal(5, 10, 3).tolist())

    def grown(deeper):
        return Split(some(), grown(deeper - 1), grown(deeper - 1)) if deeper else Answer(*answer())

    def pair():
        one, two = some(), some()
        return (one,) if one.column == two.column else (one, two)

    rules = [Rule(pair(), *answer()) for _ in range(24)]
    return RuleList(tuple(rules), Rule((), *answer()), classes, SCHEMA), Tree(grown(5), classes, SCHEMA)


def differences(scorer, model, columns, labels, shares):
    """How many labels and how many shares are not what ``predict`` and ``predict_proba`` say."""
    found, given = scorer(model, {name: columns[name] for name in model.used_columns})
    wrong = int((np.array(found, object) != labels).sum())
    return wrong, None if given is None else int((given != shares).any(axis=1).sum())


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    wanted = sys.argv[2:]
    rng = np.random.default_rng(17)
    columns, models = drawn_records(n, rng), drawn_models(rng)
    expected = [(model.predict(columns).astype(object), model.predict_proba(columns)) for model in models]
    for scorer in [*SCORERS[:1], *IN_JAVA] if not wanted else [s for s in (*SCORERS, *IN_JAVA) if s.name in wanted]:
        if find_spec(NEEDS.get(type(scorer), "onnxruntime")) is None:
            print(f"{scorer.name:18} not installed")
            continue
        for model, (labels, shares) in zip(models, expected, strict=True):
            if isinstance(model, Tree) and isinstance(scorer, ReadPmml) and scorer.as_tree:
                continue  # a tree is one anyway
            start = time.perf_counter()
            wrong, other = differences(scorer, model, columns, labels, shares)
            took = time.perf_counter() - start
            print(
                f"{scorer.name:18} {model.kind:10} {n:,} records, {len(np.unique(model.captures(columns)))} of "
                f"{len(model.answers)} answers: {wrong} other labels, "
                f"{'no' if other is None else other} other shares, {took:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
