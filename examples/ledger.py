"""One budget for all models from a table: a ledger refuses what would exceed it."""

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Ledger
from discreet.datasets import load_compas

data = load_compas(sensitive=False)
ledger = Ledger(epsilon=2.0)  # in memory; Ledger.open("ledger.db", epsilon=2.0) keeps it in a file
for Learner in (DPOptimalRuleListClassifier, DPOptimalTreeClassifier):
    Learner(epsilon=0.75, schema=data.schema, ledger=ledger).fit(data.data, data.target)
    print(f"{Learner.__name__}: epsilon {float(ledger.remaining[0])} left")
try:
    DPOptimalTreeClassifier(epsilon=0.75, schema=data.schema, ledger=ledger).fit(data.data, data.target)
except ValueError as error:
    print("refused:", error)
