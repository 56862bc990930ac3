"""From your own data frame to a private model: draft a schema from a public sample, fit, print."""

from discreet import DPOptimalTreeClassifier, draft_schema
from discreet.datasets import load_german_credit

table = load_german_credit().frame  # in your case: pandas.read_csv("private.csv")
public = table.sample(
    200, random_state=1
)  # in your case: rows that may be published, and never the private ones, as here
schema = draft_schema(public, target="credit_risk").schema

X, y = table.drop(columns="credit_risk"), table["credit_risk"]
model = DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, schema=schema).fit(X, y)
print(model)
print("proved:", model.privacy_.proved)
