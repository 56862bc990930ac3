"""Raw tables into Bunches; and the Boolean features that the published experiments ran on, derived from them.

The features' names are those of the published files, except two that are wrong there: COMPAS' "Age<=40" and "Age<=45" are in
fact age >= 40 and age >= 45, and are called so here.
"""

from dataclasses import replace
from importlib.resources import files
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from ..schema import Schema

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
    raw.insert(7, "juv_count", raw[["juv_fel_count", "juv_misd_count", "juv_other_count"]].sum(axis=1))
    # two_year_recid is the target by another name; age_cat is age
    raw = raw.drop(columns=["two_year_recid", "age_cat", "days_b_screening_arrest"])
    return _bunch("compas", compas_binary(raw) if binary else raw, target, sensitive, return_X_y, binary)


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
        raw, order = adult_binary(raw)
        target = (target == ">50K").astype("int64").iloc[order].reset_index(drop=True)
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
    target = good.astype("int64") if binary else good.map({True: "good", False: "bad"})
    data = german_credit_binary(raw) if binary else raw
    return _bunch("german_credit", data, target, sensitive, return_X_y, binary)


def _bunch(name: str, data: pd.DataFrame, target: pd.Series, sensitive: bool, return_X_y: bool, binary: bool) -> Any:
    schema = _schema(name)
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


def _schema(name: str) -> Schema:
    return Schema.load(files(__package__) / "schemas" / f"{name}.toml")  # type: ignore[arg-type]


def _groups(column: Any) -> dict[str, Any]:
    return dict(getattr(column, "groups", ()))


def _read(name: str) -> pd.DataFrame:
    with (files(__package__) / "data" / f"{name}.csv.gz").open("rb") as file:
        return pd.read_csv(file, compression="gzip", keep_default_na=True)


def compas_binary(raw: pd.DataFrame) -> pd.DataFrame:
    """COMPAS' 27 features."""
    age = raw["age"]
    columns = {f"Age={a}-{b}": age.between(a, b) for a, b in ((18, 20), (18, 22), (18, 25), (24, 30), (24, 40))}
    columns |= {f"Age>={a}": age >= a for a in (30, 40, 45)}
    columns["Gender=Male"] = raw["sex"] == "Male"
    races = ("African-American", "Caucasian", "Asian", "Hispanic", "Native American", "Other")
    columns |= {f"Race={race.replace(' ', '-')}": raw["race"] == race for race in races}
    for name, count, tops in (
        ("Juvenile-Felonies", raw["juv_fel_count"], (3,)),
        ("Juvenile-Crimes", raw["juv_count"], (3, 5)),
        ("Prior-Crimes", raw["priors_count"], (3, 5)),
    ):
        columns |= {f"{name}=0": count == 0, f"{name}=1-3": count.between(1, 3)}
        columns |= {f"{name}>{top}": count > top for top in tops}
    columns["Current-Charge-Degree=Misdemeanor"] = raw["c_charge_degree"] == "M"
    return pd.DataFrame(columns)


# Published groups that are not groups of the schema: which of those they consist of
ADULT_UNIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "workclass": {},
    "education": {
        "Assoc": ("Associate",),
        "Masters_Doctorate": ("Masters", "Doctorate"),
        "School_Prof-School": ("Compulsory", "Professional"),
    },
    "occupation": {"White-Collar": ("Managerial", "Clerical")},
}
ADULT_ORDER = """
    gender_Female gender_Male age_high age_low hours_per_week_high hours_per_week_low occupation_Blue-Collar
    capital_gain_>0 workclass_Self-Employed capital_gain_0 workclass_Private education_Masters_Doctorate
    capital_loss_>0 education_Some-college occupation_Sales education_Assoc workclass_Government
    occupation_Professional occupation_White-Collar education_HS-grad education_School_Prof-School capital_loss_0
    occupation_Service education_Bachelors
""".split()


def adult_binary(raw: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Adult's 24 features, in the published file's order of columns and records, and that order."""
    columns = {f"gender_{sex}": raw["sex"] == sex for sex in ("Female", "Male")}
    for name, at in (("age", 37), ("hours_per_week", 40)):
        columns |= {f"{name}_high": raw[name] >= at, f"{name}_low": raw[name] < at}
    for name in ("capital_gain", "capital_loss"):
        columns |= {f"{name}_>0": raw[name] > 0, f"{name}_0": raw[name] == 0}
    for name, unions in ADULT_UNIONS.items():
        groups = _groups(_schema("adult")[name])
        groups |= {union: [code for part in parts for code in groups.pop(part)] for union, parts in unions.items()}
        columns |= {f"{name}_{group}": raw[name].isin(members) for group, members in groups.items()}
    order = np.random.RandomState(99).permutation(len(raw))
    return pd.DataFrame(columns)[ADULT_ORDER].iloc[order].reset_index(drop=True), order


GERMAN_STEPS = {"installment_rate": 4, "residence_since": 4, "existing_credits": 4, "people_liable": 2}  # from 1 on
GERMAN_CUTS = {
    "duration": (9.5, 11.5, 12.5, 17, 21.5, 25, 37.5),
    "credit_amount": (1049.5, 1365, 1812.5, 2319.5, 3025, 3972.5, 6497.5),
    "age": (23.5, 26.5, 29.5, 32.5, 36.5, 41.5, 49.5),
}


def german_credit_binary(raw: pd.DataFrame) -> pd.DataFrame:
    """The widely used 112 features of German Credit; two of them are true of no record."""
    columns: dict[str, pd.Series] = {}
    for column in _schema("german_credit").columns:
        values, name = raw[column.name], column.name
        for cut in GERMAN_CUTS.get(name, ()):
            columns |= {f"{name}<={cut}": values <= cut, f"{name}>{cut}": values > cut}
        codes = sorted(chain(*_groups(column).values()), key=lambda code: int(code[1:]))
        steps = range(1, GERMAN_STEPS.get(name, 0) + 1)
        columns |= {f"{name}_{code}": values == code for code in (*codes, *steps)}
    return pd.DataFrame(columns)
