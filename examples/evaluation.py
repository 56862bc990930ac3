"""How good the model is on private records: measured with noise, by group, for an epsilon of its own."""

from pathlib import Path

from sklearn.model_selection import train_test_split

from discreet import DPOptimalTreeClassifier, Ledger, noisy_evaluation
from discreet.datasets import load_compas

data = load_compas()
train, test, y, y_test = train_test_split(data.data, data.target, random_state=0)
ledger = Ledger(epsilon=2.0)
model = DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, schema=data.schema, ledger=ledger).fit(train, y)
measured = noisy_evaluation(model, test, y_test, epsilon=0.5, by="sex", reliability=True, ledger=ledger)
print(measured.to_text())
Path("evaluation.html").write_text(measured.to_html(), encoding="utf-8")
