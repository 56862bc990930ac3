"""The methods: ours, private classifiers of other packages, and without privacy.

Each gets the training records in the form it needs (``forms.py``), an epsilon and a seed, and answers with what it predicts for
the test records. To add one, write a function and put it into ``METHODS``; what was run before stays, only what is new is run.

Defaults everywhere, but for what privacy needs (bounds, norms, categories, classes from the public schema) and what is said here.
Private classifiers on PyPI that were looked at in November 2026, and are not here:

- diffprivlib's other models are no classifiers.
- opacus, deepee, pyvacy, dp-learning-ff, jax-privacy and tensorflow-privacy privatise the training of networks that one has to
  design and tune; they need PyTorch, JAX or TensorFlow, and have no classifier for tables.
- smartnoise-synth, dpmm, dpart, mbi and synthcity release made-up records, not classifiers; dpart and dpmm pin old
  versions of NumPy, pandas and scikit-learn.
- secretflow's boosting is for several parties, and wants pandas 1.5.
"""

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from forms import Forms

from discreet import (
    DPGreedyRuleListClassifier,
    DPOptimalRuleListClassifier,
    DPOptimalTreeClassifier,
    DPScoreCardClassifier,
)
from discreet.estimators.feasibility import estimate_seconds, is_feasible
from discreet.rules.candidates import Candidates

OURS, PEERS, OPEN = "discreet", "private peer", "without privacy"
LONGEST = (
    4.0  # seconds that the sums of a tree may take by estimate_seconds: a budget of this comparison, not of the package
)
MOST_TRUTHS = 3_300_000  # Boolean columns times records for which DP-EBM takes about five seconds


class Split(NamedTuple):
    """Which records are for training and which for testing."""

    forms: Forms
    train: np.ndarray
    test: np.ndarray


class Fitted(NamedTuple):
    """What was predicted, and how much there is to read."""

    labels: np.ndarray
    chances: np.ndarray  # a column for each class
    size: int
    seconds: float  # of the fit


class NotHere(Exception):
    """A method that does not apply to a table, and why. From public numbers only."""


class Method(NamedTuple):
    """A line of the tables of results."""

    title: str
    group: str
    fit: Callable[[Split, float, int], Fitted]
    epsilons: bool = True  # whether it takes one
    binary: bool = False  # whether it is for two classes only
    splits: int | None = None  # not more than so many


def timed(learner: Any, X: Any, y: np.ndarray) -> float:
    """Seconds of processor time that a fit takes."""
    from time import process_time

    start = process_time()
    learner.fit(X, y)
    return process_time() - start


def chances_of(learner: Any, X: Any, classes: int) -> np.ndarray:
    """A column for each class of the table, also for those that the training records did not have."""
    found = np.zeros((len(X), classes))
    found[:, np.asarray(learner.classes_, int)] = learner.predict_proba(X)
    return found


# ours


def ours(learner: type, **parameters: Any) -> Callable[[Split, float, int], Fitted]:
    """One of discreet's, on the columns themselves."""

    def fit(split: Split, epsilon: float, seed: int) -> Fitted:
        data = split.forms.data
        chosen = dict(parameters)
        check_time(data, chosen)
        model = learner(epsilon=epsilon, schema=data.schema, random_state=seed, **chosen)
        seconds = timed(model, data.X.iloc[split.train], data.y[split.train])
        X = data.X.iloc[split.test]
        return Fitted(model.predict(X), chances_of(model, X, len(data.classes)), conditions(model.model_), seconds)

    return fit


def check_time(data: Any, parameters: dict[str, Any]) -> None:
    """Leave a tree out that the package would refuse, or that takes longer than this comparison has."""
    if (depth := parameters.get("max_depth")) is None:
        return
    tests, classes = len(Candidates.of_tests(data.schema)), len(data.classes)
    seconds = estimate_seconds(tests, [depth], classes, "accuracy")
    if not is_feasible(tests, depth, classes) or (depth > 3 and seconds > LONGEST):
        raise NotHere(f"depth {depth} with {tests} tests and {classes} classes: about {seconds:.0f} s a fit")


def conditions(model: Any) -> int:
    """How many literals a list has, how many tests a tree, or how many lines with points a card."""
    if model.kind == "tree":
        return len(model) - 1
    if model.kind == "score card":
        return sum(len(table.rows) for card in model.cards for table in card.tables)
    return sum(len(rule.antecedent) for rule in model.rules)


# peers


def dp_ebm(split: Split, epsilon: float, seed: int) -> Fitted:
    """Interpret's boosted additive model, on the columns themselves."""
    named = split.forms.named
    X = named.X if any(isinstance(kind, list) for kind in named.types) else named.X.astype(float)
    return boosted_in_private(split, epsilon, seed, X, named.names, named.types, named.bounds)


def dp_ebm_boolean(split: Split, epsilon: float, seed: int) -> Fitted:
    """The same on one Boolean column for each test of the schema, as lists and trees have them."""
    X = split.forms.booleans
    if X.shape[1] * len(split.train) > MOST_TRUTHS:
        raise NotHere(f"{X.shape[1]} Boolean columns of {len(split.train):,} records: more than five seconds")
    names = [str(i) for i in range(X.shape[1])]
    bounds = dict.fromkeys(names, (0.0, 1.0))
    return boosted_in_private(split, epsilon, seed, X.astype(float), names, ["continuous"] * len(names), bounds)


def boosted_in_private(
    split: Split, epsilon: float, seed: int, X: np.ndarray, names: list[str], types: list[Any], bounds: dict[str, Any]
) -> Fitted:
    """Where the library says that it looked at records without paying, the fit fails."""
    from interpret.privacy import DPExplainableBoostingClassifier

    warnings.filterwarnings("error", "Possible privacy violation")
    model = DPExplainableBoostingClassifier(
        feature_names=names,
        feature_types=types,
        privacy_bounds=bounds,
        epsilon=epsilon,
        delta=1 / len(split.train) ** 2,
        n_jobs=1,
        random_state=seed,
    )
    seconds = timed(model, X[split.train], split.forms.data.y[split.train])
    chances = chances_of(model, X[split.test], 2)
    size = sum(np.asarray(scores).size for scores in model.term_scores_)
    return Fitted(chances.argmax(axis=1), chances, size, seconds)


XGBOOST = Path(__file__).parents[2] / ".venv-dp-xgboost" / "bin" / "python"  # made by `make compare-dp-xgboost`


def dp_xgboost(split: Split, epsilon: float, seed: int) -> Fitted:
    """Boosted trees with noise, in an environment of their own (``dp_xgboost_child.py``)."""
    X, y = split.forms.numbers.X, split.forms.data.y
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "records.npz")
        records = {"X_train": X[split.train], "y_train": y[split.train], "X_test": X[split.test]}
        np.savez(file, epsilon=epsilon, seed=seed % 2**31, **records)
        command = [str(XGBOOST), str(Path(__file__).with_name("dp_xgboost_child.py")), str(file)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        with np.load(file) as answer:
            chance = answer["chances"].astype(float)
    found = json.loads(said.splitlines()[-1])
    chances = np.column_stack([1 - chance, chance])
    return Fitted((chance > 0.5).astype(int), chances, found["size"], found["seconds"])


def diffprivlib(
    make: Callable[[Split, float, int], Any], size: Callable[[Any], int]
) -> Callable[[Split, float, int], Fitted]:
    """One of diffprivlib's, on numbers. A leak of which the library warns is an error here."""

    def fit(split: Split, epsilon: float, seed: int) -> Fitted:
        from diffprivlib.utils import PrivacyLeakWarning

        warnings.simplefilter("error", PrivacyLeakWarning)
        X, data = split.forms.numbers.X, split.forms.data
        model = make(split, epsilon, seed)
        seconds = timed(model, X[split.train], data.y[split.train])
        chances = np.nan_to_num(chances_of(model, X[split.test], len(data.classes)))
        return Fitted(np.asarray(model.predict(X[split.test])), chances, size(model), seconds)

    return fit


def bounds(split: Split) -> tuple[np.ndarray, np.ndarray]:
    """All columns are between 0 and 1."""
    width = split.forms.numbers.X.shape[1]
    return np.zeros(width), np.ones(width)


def logistic(split: Split, epsilon: float, seed: int) -> Any:
    """By objective perturbation; with several classes, one model for each with its share of epsilon."""
    from diffprivlib.models import LogisticRegression

    return LogisticRegression(epsilon=epsilon, data_norm=split.forms.numbers.norm, max_iter=1000, random_state=seed)


def naive_bayes(split: Split, epsilon: float, seed: int) -> Any:
    """Noisy means and variances."""
    from diffprivlib.models import GaussianNB

    return GaussianNB(epsilon=epsilon, bounds=bounds(split), random_state=seed)


def forest(split: Split, epsilon: float, seed: int) -> Any:
    """Random splits, noisy labels."""
    from diffprivlib.models import RandomForestClassifier

    classes = list(range(len(split.forms.data.classes)))
    return RandomForestClassifier(epsilon=epsilon, bounds=bounds(split), classes=classes, random_state=seed)


def tree(split: Split, epsilon: float, seed: int) -> Any:
    """One tree of that forest."""
    from diffprivlib.models import DecisionTreeClassifier

    classes = list(range(len(split.forms.data.classes)))
    return DecisionTreeClassifier(epsilon=epsilon, bounds=bounds(split), classes=classes, random_state=seed)


def coefficients(model: Any) -> int:
    """Numbers of a linear model."""
    return int(np.count_nonzero(model.coef_))


def inner_nodes(model: Any) -> int:
    """Tests of a tree."""
    return int((model.tree_.children_left >= 0).sum())


# without privacy


def plain(
    make: Callable[[int], Any], size: Callable[[Any], int], form: str = "numbers"
) -> Callable[[Split, float, int], Fitted]:
    """One of scikit-learn's."""

    def fit(split: Split, epsilon: float, seed: int) -> Fitted:
        data = split.forms.data
        X = split.forms.codes if form == "codes" else split.forms.numbers.X
        model = make(seed)
        if form == "codes":
            model.set_params(categorical_features=split.forms.is_category)
        seconds = timed(model, X[split.train], data.y[split.train])
        return Fitted(
            model.predict(X[split.test]), chances_of(model, X[split.test], len(data.classes)), size(model), seconds
        )

    return fit


def majority(seed: int) -> Any:
    """The most frequent class, and the shares of all."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def cart(depth: int) -> Callable[[int], Any]:
    """Of this depth at most."""

    def make(seed: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=depth, random_state=seed)

    return make


def open_logistic(seed: int) -> Any:
    """Without privacy."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def boosting(seed: int) -> Any:
    """Gradient boosting: what can be had without privacy and without reading."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def boosted_nodes(model: Any) -> int:
    """Tests of all trees."""
    return sum(int((~p.nodes["is_leaf"].astype(bool)).sum()) for stage in model._predictors for p in stage)


METHODS = {
    "list": Method("rule list", OURS, ours(DPOptimalRuleListClassifier)),
    "tree-3": Method("tree, depth 3", OURS, ours(DPOptimalTreeClassifier, max_depth=3)),
    "tree-4": Method("tree, depth 4", OURS, ours(DPOptimalTreeClassifier, max_depth=4)),
    "tree-2-2": Method("tree in stages 2, 2", OURS, ours(DPOptimalTreeClassifier, stages=(2, 2))),
    "card": Method("score card", OURS, ours(DPScoreCardClassifier)),
    "mass": Method("greedy list, mass", OURS, ours(DPGreedyRuleListClassifier, mechanism="mass")),
    "sm-laplace": Method(
        "greedy list, sm-laplace", OURS, ours(DPGreedyRuleListClassifier, mechanism="sm-laplace"), binary=True
    ),
    "dp-ebm": Method("DP-EBM", PEERS, dp_ebm, binary=True),
    "dp-ebm-boolean": Method("DP-EBM, Boolean columns", PEERS, dp_ebm_boolean, binary=True, splits=5),
    "dp-xgboost": Method("DP-XGBoost", PEERS, dp_xgboost, binary=True),
    "dp-logistic": Method("logistic regression (diffprivlib)", PEERS, diffprivlib(logistic, coefficients)),
    "dp-forest": Method(
        "forest (diffprivlib)", PEERS, diffprivlib(forest, lambda m: sum(map(inner_nodes, m.estimators_)))
    ),
    "dp-tree": Method("tree (diffprivlib)", PEERS, diffprivlib(tree, inner_nodes)),
    "dp-bayes": Method("naive Bayes (diffprivlib)", PEERS, diffprivlib(naive_bayes, lambda m: 2 * m.theta_.size)),
    "majority": Method("majority", OPEN, plain(majority, lambda m: 0), epsilons=False),
    "cart-3": Method("CART, depth 3", OPEN, plain(cart(3), inner_nodes), epsilons=False),
    "cart-4": Method("CART, depth 4", OPEN, plain(cart(4), inner_nodes), epsilons=False),
    "logistic": Method("logistic regression", OPEN, plain(open_logistic, coefficients), epsilons=False),
    "boosting": Method("gradient boosting", OPEN, plain(boosting, boosted_nodes, "codes"), epsilons=False),
}
DEFAULTS = (
    "list",
    "tree-3",
    "card",
)  # of ours, those with which wins and losses are counted: each by itself, chosen before any result


def at_hand() -> list[str]:
    """All methods, without DP-XGBoost where it is not installed."""
    return [name for name in METHODS if name != "dp-xgboost" or XGBOOST.exists()]
