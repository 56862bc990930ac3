"""Adult by a public schema of fine cuts: round numbers of the questionnaire's scales, chosen without looking at the records.

Categories are as in the schema that comes with the dataset. Education is left out: years of schooling, with a cut at every level,
say the same. Losses end at 3,000 dollars, the most that US tax law lets a person deduct in a year.
"""

from discreet import Numeric, Schema
from discreet.datasets import load_adult

CUTS = {
    "age": range(20, 80, 5),
    "education_num": range(1, 16),
    "hours_per_week": range(10, 75, 5),
    "capital_gain": (*range(0, 11_000, 1_000), 15_000, 20_000),
    "capital_loss": range(0, 3_250, 250),
}
BOUNDS = {"age": (17, 90), "education_num": (1, 16), "hours_per_week": (1, 99)}


def fine_schema() -> Schema:
    """96 tests."""
    shipped = load_adult().schema
    columns = [
        Numeric(column.name, cuts=tuple(CUTS[column.name])) if column.name in CUTS else column
        for column in shipped.columns
        if column.name != "education"
    ]
    return Schema(columns, shipped.target, shipped.classes)
