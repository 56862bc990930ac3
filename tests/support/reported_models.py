"""Models whose reports are looked at: real ones of every kind, and made-up ones that try to break a page."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from discreet import (
    Boolean,
    Categorical,
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    GreedyRuleListClassifier,
    Ledger,
    Literal,
    Numeric,
    PrivacyStatement,
    Rule,
    RuleList,
    SavedModel,
    Schema,
    Split,
    Tree,
)
from discreet.accounting.statement import Guarantee
from discreet.datasets import load_adult, load_compas
from discreet.models.partition import Answer
from discreet.rules.candidates import Candidates
from discreet.rules.rules import MOST_DEPTH


def adult():
    """The default learner at epsilon 1, on a ledger that another model was booked on."""
    data, ledger = load_adult(), Ledger(epsilon=3.0)
    DPGreedyRuleListClassifier(epsilon=0.5, schema=data.schema, ledger=ledger).fit(data.data, data.target)
    clf = DPOptimalRuleListClassifier(schema=data.schema, ledger=ledger, exclude=["sex", "race"])
    return SavedModel.of(clf.fit(data.data, data.target))


def compas():
    """A published method, seeded."""
    data = load_compas()
    clf = DPGreedyRuleListClassifier(mechanism="sm-laplace", epsilon=1.0, schema=data.schema, random_state=0)
    return SavedModel.of(clf.fit(data.data, data.target))


def proved_with_delta():
    """A published method with a pair that is proved."""
    data = load_compas()
    clf = DPGreedyRuleListClassifier(
        mechanism="sm-laplace", epsilon=1.0, delta=1e-6, min_support=300, max_length=3, schema=data.schema
    )
    return SavedModel.of(clf.fit(data.data, data.target))


def wine():
    """Three classes, few records, no ledger."""
    data = load_wine(as_frame=True)
    classes = [str(c) for c in data.target_names]
    highest = {"alcohol": 15, "flavanoids": 6, "color_intensity": 14, "proline": 1800, "hue": 2}
    columns = tuple(Numeric(n, low=0, high=h, n_cuts=19) for n, h in highest.items())
    schema = Schema(columns, target="cultivar", classes=classes)
    labels = pd.Series([classes[i] for i in data.target])
    return SavedModel.of(DPOptimalRuleListClassifier(schema=schema).fit(data.data[list(highest)], labels))


def inferred():
    """A schema from the records."""
    data = load_compas()
    clf = DPOptimalRuleListClassifier(epsilon=2.0, infer_schema=True)
    return SavedModel.of(clf.fit(data.data, data.target), target="charged again")


def bare():
    """Without counts."""
    data = load_compas()
    clf = DPOptimalRuleListClassifier(epsilon=0.1, counts_share=0, schema=data.schema)
    return SavedModel.of(clf.fit(data.data, data.target))


def unprotected():
    """Without privacy."""
    data = load_compas()
    return SavedModel.of(GreedyRuleListClassifier(schema=data.schema).fit(data.data, data.target))


MARK = "pwned"
NAMES = [
    f"<script>{MARK}=1</script>",
    f"\"><img src=x onerror='{MARK}=1'>" + "x" * 80,
    f"</style><script>{MARK}=1</script>",
    f"</title><script>{MARK}=1</script>",
    f"'onfocus={MARK}=1 autofocus='",
    f"&lt;b&gt; &#60;script> \u202e{MARK} \x00\x1b\ud800 ${{{MARK}=1}}",
]


def hostile():
    """Names that are HTML, counts below zero, an epsilon that protects nobody."""
    schema = Schema(
        (Numeric(NAMES[0], cuts=[1]), Categorical(NAMES[1], categories=[NAMES[2], NAMES[5]])),
        target=NAMES[3],
        classes=[NAMES[4], NAMES[5]],
    )
    rules = (
        Rule((Literal(NAMES[0], "<=", 1), Literal(NAMES[1], "=", NAMES[2])), NAMES[4], (-3, -2)),
        Rule((Literal(NAMES[1], "!=", NAMES[5]),), NAMES[5], (0.0, 12.5)),
    )
    statement = PrivacyStatement(
        NAMES[0], Guarantee(1.0, None), Guarantee(50.0, 1e-5), (NAMES[1],), (NAMES[2],), NAMES[3]
    )
    parameters = {NAMES[0]: NAMES[2], "exclude": [NAMES[3]], "epsilon": 50.0}
    return SavedModel(
        RuleList(rules, Rule((), NAMES[5], (5, -2.0)), schema.classes, schema),
        statement,
        NAMES[4],
        parameters,
        NAMES[3],
        None,
        NAMES[5],
    )


def tree_of(schema, depth, scale=1000.0):
    """Random tests to this depth, and noisy counts, some below zero; always the same for the same depth."""
    rng = np.random.default_rng(depth)
    literals = [rule.antecedent[0] for rule in Candidates.of_schema(schema, 1, negations=False)]

    def grown(deeper):
        if deeper:
            return Split(literals[rng.integers(len(literals))], grown(deeper - 1), grown(deeper - 1))
        counts = np.round(rng.exponential(scale, len(schema.classes)) - scale / 4)
        return Answer(schema.classes[int(counts.argmax())], counts)

    return Tree(grown(depth), schema.classes, schema)


def small_tree():
    """Proved, three classes, a leaf where counts are mostly noise."""
    columns = (Numeric("alcohol", True, [11, 12, 13]), Numeric("proline", cuts=[500, 800]), Boolean("organic", True))
    schema = Schema(columns, target="cultivar", classes=["barolo", "grignolino", "barbera"])
    root = Split(
        Literal("proline", "<=", 800),
        Split(
            Literal("alcohol", "<=", 12),
            Answer("grignolino", (2, 60.5, 3)),
            Split(Literal("organic"), Answer("barbera", (-4, 6, 50)), Answer("barolo", (1, -3, 0))),
        ),
        Answer("barolo", (55, 4, 1)),
    )
    statement = PrivacyStatement(
        "exact draw over all trees", None, Guarantee(1.0, 0.0), (), ("each person has one record",)
    )
    parameters = {"epsilon": 1.0, "counts_share": 0.5}
    return SavedModel(Tree(root, schema.classes, schema), statement, "made up", parameters, "cultivar")


def large_tree():
    """32 leaves, without privacy."""
    return SavedModel(tree_of(load_adult().schema, 5), target="income")


def deepest_tree():
    """As deep as a tree may be, without counts."""
    node = Answer(0)
    for i in range(MOST_DEPTH):
        node = Split(Literal("a" if i % 2 else "b"), node, i % 2) if i % 3 else Split(Literal("c"), 1, node)
    return SavedModel(Tree(node, (0, 1)), PrivacyStatement("mass", None, Guarantee(1.0, 0.0)))


def hostile_tree():
    """Names that are HTML."""
    schema = Schema(
        (Numeric(NAMES[0], cuts=[1]), Categorical(NAMES[1], True, categories=[NAMES[2], NAMES[5]])),
        target=NAMES[3],
        classes=[NAMES[4], NAMES[5]],
    )
    second = Split(Literal(NAMES[1], "=", NAMES[2]), Answer(NAMES[4], (-3, -2)), Answer(NAMES[5], (0.0, 12.5)))
    root = Split(Literal(NAMES[0], "<=", 1), second, Answer(NAMES[5], (5, -2.0)))
    return SavedModel(Tree(root, schema.classes, schema), None, NAMES[4], {}, NAMES[3], None, NAMES[5])


LISTS = (adult, compas, proved_with_delta, wine, inferred, bare, unprotected, hostile)
TREES = (small_tree, large_tree, deepest_tree, hostile_tree)
MAKERS = LISTS + TREES


@cache
def model(name):
    maker = next(m for m in MAKERS if m.__name__ == name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return maker()
