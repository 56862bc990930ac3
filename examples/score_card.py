"""A score card: points for each value of a column, which add up to a risk."""

from discreet import DPScoreCardClassifier
from discreet.datasets import load_compas

data = load_compas(sensitive=False)
card = DPScoreCardClassifier(epsilon=1.0, max_columns=3, schema=data.schema).fit(data.data, data.target)
print(card)
