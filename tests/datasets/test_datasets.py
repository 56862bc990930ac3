"""Every count that the published experiments rest on."""

import gzip
import hashlib
from importlib.resources import files

import numpy as np
import pytest

from discreet import Schema
from discreet.datasets import load_adult, load_compas, load_german_credit

SHA256 = {
    "adult": "c6c77bfbd8b6c387f5e508860cdc6595f3522e645be92e9d55612bbf046829f9",
    "compas": "33163fafd5e60f73e4e4ee601cf2a53bb8d40990ce6e3a8571ce3ca165ac5713",
    "german_credit": "f9e2a0f2a879d21413de5c2e77f53c056c0188f2cc8c805aab8af9dc2ea08f94",
}
ROWS_COLUMNS = {"adult": (48842, 16), "compas": (7214, 12), "german_credit": (1000, 21)}


@pytest.mark.parametrize("name", SHA256)
def test_raw_tables_are_those_of_the_provenance(name):
    raw = gzip.decompress((files("discreet.datasets") / "data" / f"{name}.csv.gz").read_bytes())
    assert hashlib.sha256(raw).hexdigest() == SHA256[name]
    lines = raw.decode().splitlines()
    assert (len(lines) - 1, lines[0].count(",") + 1) == ROWS_COLUMNS[name]


def check_counts(data, counts):
    assert {name: int(data.data[name].sum()) for name in counts} == counts


def test_compas():
    data = load_compas(binary=True)
    assert data.data.shape == (7214, 27)
    assert data.target.sum() == 3471
    check_counts(
        data,
        {
            "Age>=40": 2125, "Age>=45": 1576, "Gender=Male": 5819,
            "Race=African-American": 3696, "Race=Caucasian": 2454, "Race=Asian": 32,
            "Race=Hispanic": 637, "Race=Native-American": 18, "Race=Other": 377,
            "Juvenile-Felonies=0": 6932, "Juvenile-Felonies=1-3": 258, "Juvenile-Felonies>3": 24,
            "Juvenile-Crimes=0": 6241, "Juvenile-Crimes=1-3": 856, "Juvenile-Crimes>3": 117, "Juvenile-Crimes>5": 32,
            "Prior-Crimes=0": 2150, "Prior-Crimes=1-3": 2805, "Prior-Crimes>3": 2259, "Prior-Crimes>5": 1524,
            "Current-Charge-Degree=Misdemeanor": 2548,
        },
    )  # fmt: skip
    raw = load_compas()
    ages = raw.data["age"]
    for name, true in (("Age=18-20", ages <= 20), ("Age=24-40", (ages >= 24) & (ages <= 40)), ("Age>=30", ages >= 30)):
        assert (data.data[name].to_numpy() == true.to_numpy()).all()
    less = load_compas(binary=True, sensitive=False)
    assert less.data.shape == (7214, 12)
    assert len(less.data.drop_duplicates()) == 48
    assert "two_year_recid" not in raw.data  # the target by another name


def test_adult():
    data = load_adult(binary=True)
    assert data.data.shape == (48842, 24)
    assert data.target.sum() == 11687
    check_counts(
        data,
        {
            "age_high": 25148, "hours_per_week_high": 37155, "capital_gain_>0": 4035, "capital_loss_>0": 2282,
            "workclass_Self-Employed": 5557, "workclass_Private": 33906, "workclass_Government": 6549,
            "education_Masters_Doctorate": 3251, "education_Some-college": 10878, "education_Assoc": 3662,
            "education_HS-grad": 15784, "education_Bachelors": 8025, "education_School_Prof-School": 7242,
            "occupation_Blue-Collar": 15051, "occupation_White-Collar": 11697, "occupation_Service": 7594,
            "occupation_Professional": 6172, "occupation_Sales": 5504,
        },
    )  # fmt: skip
    for pair in (("gender_Female", "gender_Male"), ("age_high", "age_low"), ("capital_gain_0", "capital_gain_>0")):
        assert (data.data[pair[0]] ^ data.data[pair[1]]).all()
    assert list(data.data.columns)[:4] == ["gender_Female", "gender_Male", "age_high", "age_low"]
    assert list(data.data.columns)[-1] == "education_Bachelors"
    # the published file's order of records
    raw = load_adult()
    order = np.random.RandomState(99).permutation(48842)
    assert (data.data["age_high"].to_numpy() == (raw.data["age"].to_numpy() >= 37)[order]).all()
    assert (data.target.to_numpy() == (raw.target.to_numpy() == ">50K")[order]).all()
    less = load_adult(binary=True, sensitive=False)
    assert less.data.shape == (48842, 20)
    assert len(less.data.drop_duplicates()) == 540


def test_german_credit():
    data = load_german_credit(binary=True)
    assert data.data.shape == (1000, 112)
    assert data.target.sum() == 700
    assert [c for c in data.data if not data.data[c].any()] == ["purpose_A47", "personal_status_sex_A95"]
    for cut in (9.5, 17, 37.5):
        assert (data.data[f"duration<={cut}"] ^ data.data[f"duration>{cut}"]).all()
    assert load_german_credit().target.value_counts().to_dict() == {"good": 700, "bad": 300}


@pytest.mark.parametrize("load", [load_adult, load_compas, load_german_credit])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("sensitive", [False, True])
def test_bunches_are_consistent(load, binary, sensitive):
    data = load(binary=binary, sensitive=sensitive)
    X, y = load(binary=binary, sensitive=sensitive, return_X_y=True)
    assert X.equals(data.data)
    assert y.equals(data.target)
    assert isinstance(data.schema, Schema)
    assert data.schema.names == list(X.columns) == data.feature_names
    assert data.schema.target == y.name == data.frame.columns[-1]
    assert data.frame.shape == (len(X), X.shape[1] + 1)
    assert set(data.schema.classes) == set(y)
    assert "licensed CC BY 4.0" in data.DESCR or "ProPublica" in data.DESCR
    gone = ("age", "sex", "race", "gender")
    if not sensitive:
        assert not any(c.lower().startswith(gone) for c in X.columns)
    if binary:
        assert all(dtype.kind == "b" for dtype in X.dtypes)
