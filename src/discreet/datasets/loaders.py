"""Raw tables into Bunches."""

from dataclasses import replace
from importlib.resources import files
from typing import Any

import pandas as pd
from sklearn.utils import Bunch

from ..schema import Schema
from .binary import adult_binary, compas_binary, german_credit_binary

# How the names of such columns begin: of the raw ones, and of the Boolean features
SENSITIVE = {
    "adult": (("age", "marital_status", "relationship", "race", "sex", "native_country"), ("gender_", "age_")),
    "compas": (("sex", "age", "race"), ("Age", "Gender", "Race")),
    "german_credit": (
        ("personal_status_sex", "age", "foreign_worker"),
        ("personal_status_sex_", "age<", "age>", "foreign_worker_"),
    ),
}


def load_compas(binary: bool = False, sensitive: bool = True, return_X_y: bool = False) -> Any:
    """ProPublica's COMPAS table: will a defendant be charged again?

    Parameters
    ----------
    binary : bool, default=False
        The 27 Boolean features of the published experiments instead of the raw columns.
    sensitive : bool, default=True
        With False, columns on sex, age and race are left out (binary: 12 features remain).
    return_X_y : bool, default=False
        Only ``(data, target)``.

    Examples
    --------
    >>> from discreet.datasets import load_compas
    >>> load_compas().data.shape
    (7214, 9)
    >>> load_compas(binary=True, sensitive=False).data.shape
    (7214, 12)
    """
    raw = _read("compas")
    target = raw.pop("is_recid")
    if binary:
        return _bunch("compas", compas_binary(raw), target, sensitive, return_X_y, binary)
    raw.insert(7, "juv_count", raw[["juv_fel_count", "juv_misd_count", "juv_other_count"]].sum(axis=1))
    # two_year_recid is the target by another name; age_cat is age
    raw = raw.drop(columns=["two_year_recid", "age_cat", "days_b_screening_arrest"])
    return _bunch("compas", raw, target, sensitive, return_X_y, binary)


def load_adult(binary: bool = False, sensitive: bool = True, return_X_y: bool = False) -> Any:
    """UCI's Adult table: does a person of the 1994 census earn more than $50,000 a year?

    Parameters
    ----------
    binary : bool, default=False
        The 24 Boolean features of the published experiments instead of the raw columns, in that file's record order.
    sensitive : bool, default=True
        With False, columns on age, marital status, relationship, race, sex and native country are left out (binary:
        gender and age, as published; 20 features remain).
    return_X_y : bool, default=False
        Only ``(data, target)``.

    Examples
    --------
    >>> from discreet.datasets import load_adult
    >>> data = load_adult()
    >>> data.data.shape, data.schema.classes
    ((48842, 14), ('<=50K', '>50K'))
    """
    raw = _read("adult").replace("?", None)
    raw.pop("split")
    target = raw.pop("income")
    if binary:
        data, order = adult_binary(raw)
        target = (target == ">50K").astype("int64").iloc[order].reset_index(drop=True)
        return _bunch("adult", data, target, sensitive, return_X_y, binary)
    return _bunch("adult", raw, target, sensitive, return_X_y, binary)


def load_german_credit(binary: bool = False, sensitive: bool = True, return_X_y: bool = False) -> Any:
    """UCI's German credit table: is a loan a good or a bad risk?

    Parameters
    ----------
    binary : bool, default=False
        The widely used 112 Boolean features instead of the raw columns.
    sensitive : bool, default=True
        With False, columns on personal status and sex, age and foreign workers are left out.
    return_X_y : bool, default=False
        Only ``(data, target)``.

    Examples
    --------
    >>> from discreet.datasets import load_german_credit
    >>> load_german_credit(binary=True).data.shape
    (1000, 112)
    """
    raw = _read("german_credit")
    good = raw.pop("credit_risk") == 1
    if binary:
        target = good.astype("int64")
        return _bunch("german_credit", german_credit_binary(raw), target, sensitive, return_X_y, binary)
    return _bunch("german_credit", raw, good.map({True: "good", False: "bad"}), sensitive, return_X_y, binary)


def _bunch(name: str, data: pd.DataFrame, target: pd.Series, sensitive: bool, return_X_y: bool, binary: bool) -> Any:
    schema = Schema.load(files(__package__) / "schemas" / f"{name}.toml")  # type: ignore[arg-type]
    if binary:
        schema = Schema.of_booleans(data.columns, target=schema.target, classes=(0, 1))
    if not sensitive:
        kept = [c for c in data.columns if not c.startswith(SENSITIVE[name][binary])]
        data = data[kept]
        schema = replace(schema, columns=tuple(c for c in schema.columns if c.name in kept))
    target = target.rename(schema.target)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=pd.concat([data, target], axis=1),
        schema=schema,
        feature_names=list(data.columns),
        target_names=list(schema.classes or ()),
        DESCR=(files(__package__) / "descr" / f"{name}.md").read_text(encoding="utf-8"),
    )


def _read(name: str) -> pd.DataFrame:
    with (files(__package__) / "data" / f"{name}.csv.gz").open("rb") as file:
        return pd.read_csv(file, compression="gzip", keep_default_na=True)
