"""Everything that releases something about records, on small random tables and their neighbours."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPGreedyTreeClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
    Ledger,
    Numeric,
    PrivateSchema,
    RuleList,
    Schema,
    noisy_evaluation,
    private_schema,
)
from discreet._utils.errors import SchemaError
from discreet.private.mechanisms.registry import MECHANISMS
from discreet.private.queries.schema import SchemaQueries

COLUMNS = {
    "a": Boolean("a"),
    "b": Boolean("b"),
    "c": Numeric("c", cuts=[1.0, 2.0]),
    "d": Categorical("d", categories=["x", "y"]),
}
VALUES = {"a": [True, False], "b": [True, False], "c": [0.5, 1.5, 2.5, None], "d": ["x", "y", None]}
FEW, SOME, MANY = (2,), (2, 3), (2, 3, 5, 20)  # numbers of classes


@dataclass(frozen=True)
class Case:
    """``release(X, y, schema, epsilon, k)`` gives what leaves, and the pair (epsilon, delta) that is promised about it."""

    of: str  # a public name of the package
    name: str
    columns: str
    classes: tuple[int, ...]
    release: Callable
    pairs: int = 60  # in a long run
    persons: tuple[int, ...] = (1, 3)  # how many records a person may have

    def on(self, n_classes, epsilon, k):
        """As a function of a table, which is a list of records: their values and the number of their class."""
        labels = [f"c{i:02}" for i in range(n_classes)]
        schema = Schema([COLUMNS[name] for name in self.columns], target="y", classes=labels)

        def release(table):
            X = pd.DataFrame([values for values, _ in table], columns=list(self.columns), dtype=object)
            for name in self.columns:
                X[name] = X[name].astype({"a": bool, "b": bool, "c": float, "d": object}[name])
            return self.release(X, np.array([labels[c] for _, c in table], dtype=object), schema, epsilon, k)

        return release


def learned(classifier, **parameters):
    """By a classifier: its model with all counts."""

    def release(X, y, schema, epsilon, k):
        given = dict(parameters)
        if (weight := given.pop("first_class_counts", None)) is not None:
            given["class_weight"] = {schema.classes[0]: weight}
        clf = classifier(**given, schema=schema, epsilon=epsilon, records_per_person=k, ledger=_plenty())
        clf.fit(X, y)
        return repr(clf.model_), promise(clf.privacy_.proved, epsilon)

    return release


def promise(proved, epsilon):
    """What was asked for, if that is what is proved; the published methods prove another number."""
    asked = Fraction(repr(epsilon))
    nearly = abs(proved.epsilon - epsilon) <= 1e-12 * epsilon
    return asked if nearly else Fraction(proved.epsilon), proved.delta or 0.0


def _plenty():
    return Ledger(epsilon=1e6, delta=0.5)  # so that a process does not remember what it released


def _schema_found(delta):
    """Of numbers, with categories that are public. The proof is about all noisy counts, whatever the schema tells of them."""

    def release(X, y, schema, epsilon, k):
        epsilon, answers, histogram = max(epsilon, 0.01) if delta else epsilon, [], SchemaQueries._histogram

        def kept(*question):
            answers.append(histogram(*question).tolist())
            return np.array(answers[-1])

        given = {"categories": {"d": ["x", "y"]}, "records_per_person": k, "ledger": _plenty()}
        with patch.object(SchemaQueries, "_histogram", kept):
            found = _or_nothing(
                lambda: private_schema(X, epsilon=epsilon, delta=delta, classes=schema.classes, **given)
            )
        columns = found if isinstance(found, str) else repr(found.schema.columns)
        return (columns, answers), (Fraction(repr(epsilon)), delta)

    return release


def _fit_with_its_schema(X, y, schema, epsilon, k):
    """Both are paid for by one epsilon."""
    epsilon = max(epsilon, 1e-4)  # a fifth of less than 5e-6 is refused
    # with a column that is known there is always something to learn from, whatever the noise makes of the other
    found = PrivateSchema(delta=0, classes=schema.classes, columns=[schema["a"]])
    given = {"schema": found, "records_per_person": k, "ledger": _plenty()}
    clf = DPOptimalTreeClassifier(epsilon=epsilon, max_depth=1, **given)
    fitted = _or_nothing(lambda: repr(clf.fit(X, y).model_))
    found = repr(clf.found_schema_.schema.columns) if hasattr(clf, "found_schema_") else ""
    return (found, fitted), (Fraction(repr(epsilon)), 0.0)


def _or_nothing(find):
    try:
        return find()
    except SchemaError as error:
        if "stays spent" not in str(error):
            raise
        return str(error)


def _some_rules(schema):
    return RuleList.parse(f"if a then {schema.classes[0]}\nelse {schema.classes[1]}", schema=schema)


def _evaluation(**parameters):
    def release(X, y, schema, epsilon, k):
        given = {"epsilon": epsilon, "records_per_person": k, "model_is_public": True, "ledger": _plenty()}
        found = noisy_evaluation(_some_rules(schema), X, y, **given, **parameters)
        shown = {name: value for name, value in found.to_dict().items() if name != "privacy"}
        return repr(shown), promise(found.privacy.proved, epsilon)

    return release


def _case(classifier, name, columns, classes, parameters, **others):
    return Case(classifier.__name__, name, columns, classes, learned(classifier, **parameters), **others)


def _lists(name, columns, classes, **parameters):
    return _case(DPOptimalRuleListClassifier, f"rule list, {name}", columns, classes, parameters)


def _trees(name, columns, classes, pairs=60, **parameters):
    return _case(DPOptimalTreeClassifier, f"tree, {name}", columns, classes, parameters, pairs=pairs)


def _cards(name, columns, classes, **parameters):
    return _case(DPScoreCardClassifier, f"card, {name}", columns, classes, parameters)


def _greedy(mechanism):
    """A list and a tree by one mechanism. The published ones are for two classes, and may need a delta or a support."""
    parameters = {"mechanism": mechanism.name}
    parameters |= {"delta": 1e-6} if mechanism.needs_delta else {}
    parameters |= {"min_support": 5} if mechanism.needs_support else {}
    others = {
        "persons": (1,) if mechanism.needs_delta else (1, 3),  # how a delta grows with their records, nobody says
        "pairs": 100,
    }
    classes, name = FEW if mechanism.binary_only else MANY, mechanism.name
    rule, lists, trees = {"max_length": 2, "negations": False}, {"max_length": 3}, {"max_depth": 2}
    return [
        _case(DPGreedyRuleListClassifier, f"greedy list, {name}", "abc", classes, parameters | lists, **others),
        _case(DPGreedyRuleListClassifier, f"one greedy rule, {name}", "ab", classes, parameters | rule, **others),
        _case(DPGreedyTreeClassifier, f"greedy tree, {name}", "abd", classes, parameters | trees, **others),
    ]


LIMITS = {"monotonic_cst": {"a": 1}, "forbid": [("a", "b")]}
CASES = [
    _lists("one rule", "ab", MANY, max_length=2, negations=False, counts_share=0.5),
    _lists("two rules with negations", "a", SOME, max_length=3),
    _lists("three rules", "ad", FEW, max_length=4, negations=False),
    _lists("one rule a draw", "ab", SOME, max_length=3, rules_per_draw=1, negations=False),
    _lists("class weights and a prior", "ab", SOME, max_length=2, first_class_counts=4, prior=[1, 4], negations=False),
    _lists("limits", "ab", SOME, max_length=3, negations=False, **LIMITS),
    _lists("without counts", "c", MANY, max_length=2, negations=False, counts_share=0),
    _lists("by an envelope", "ad", MANY, max_length=3, max_literals=2),
    _lists(
        "by an envelope, several draws",
        "ab",
        MANY,
        max_length=4,
        max_literals=2,
        rules_per_draw=2,
        first_class_counts=0.1,
    ),
    _lists("of eight rules", "ab", MANY, max_length=9, negations=False),
    _trees("depth 1", "a", MANY, max_depth=1, counts_share=0.5),
    _trees("depth 2", "ab", FEW, 30, max_depth=2),
    _trees("in stages", "ab", SOME, stages=(1, 1)),
    _trees("by Gini", "abc", MANY, max_depth=1, criterion="gini"),
    _trees("by Gini, depth 2", "ab", SOME, max_depth=2, criterion="gini"),
    _trees("by Gini, on patterns", "a", SOME, 6, max_depth=4, criterion="gini"),
    _trees("class weights and a prior", "ab", SOME, max_depth=1, first_class_counts=8, prior="columns", split=0.3),
    _trees("limits", "ab", SOME, max_depth=1, **LIMITS),
    *(case for mechanism in MECHANISMS.values() for case in _greedy(mechanism)),
    _cards("at once", "acd", MANY, sequential=False),
    _cards("one by one", "acd", FEW, sequential=True),
    _cards("as the noise allows", "abd", FEW, counts_share=0.3),
    _cards("chosen columns", "abcd", MANY, max_columns=2),
    _cards("in the leaves of a tree", "ab", SOME, tree_depth=1),
    _cards(
        "chosen in the leaves of a tree", "abc", FEW, tree_depth=1, max_columns=1, monotonic_cst=None, sequential=True
    ),
    Case("private_schema", "schema", "acd", FEW, _schema_found(0)),
    Case("private_schema", "schema, Gaussian noise", "abcd", FEW, _schema_found(1e-6)),
    Case("DPOptimalTreeClassifier", "tree and its schema", "ac", FEW, _fit_with_its_schema),
    Case("noisy_evaluation", "evaluation", "ad", MANY, _evaluation()),
    Case("noisy_evaluation", "evaluation by groups", "acd", MANY, _evaluation(by=["c", "d"]), 20),
    Case("noisy_evaluation", "evaluation, classes alone", "ab", MANY, _evaluation(reliability=False)),
]


def some_record(rng, columns, n_classes):
    """Values, and a class."""
    values = tuple(VALUES[name][rng.integers(len(VALUES[name]))] for name in columns)
    return values, int(rng.integers(n_classes))


def some_pair(rng, columns, n_classes, k):
    """A table, and the same without up to k records of one person; in this order or in the other.

    A record more changes most where all others are alike, or where there are none: such tables are more frequent than others.
    """
    own = [some_record(rng, columns, n_classes) for _ in range(k)]
    if rng.random() < 0.7:
        own = own[:1] * k
    n, how = int(rng.choice([0, 1, 2, 3, 8, 25])), rng.random()
    others = [some_record(rng, columns, n_classes) for _ in range(n)]
    if how < 0.3:
        others = own[:1] * n
    elif how < 0.7:
        others = others[:1] * n
    pair = [*others, *own[: k if rng.random() < 0.7 else 1]], others
    return pair if rng.random() < 0.5 else pair[::-1]


def hard_pairs(columns, k):
    """Records that are all alike, and k of the other class that differ from them in one column, or in all.

    Where choices are tied, and a person's records decide: what is chosen tells most there.
    """
    alike = tuple(VALUES[name][0] for name in columns)
    others = [(VALUES[columns[0]][1], *alike[1:]), tuple(VALUES[name][1] for name in columns), alike]
    for n in (1, 25, 0, 2, 6):
        for values in others:
            larger, smaller = [*[(alike, 0)] * n, *[(values, 1)] * k], [(alike, 0)] * n
            yield larger, smaller
            yield smaller, larger
