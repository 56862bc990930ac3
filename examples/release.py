"""A release bundle: a folder with the model, its report, a model card, code and a checklist, which a receiver can verify."""

from pathlib import Path

from discreet import DPOptimalTreeClassifier, Ledger, SavedModel, verify_release, write_release
from discreet.datasets import load_compas

data = load_compas(sensitive=False)
ledger = Ledger.open("ledger.db", epsilon=3.0)
model = DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, schema=data.schema, ledger=ledger).fit(data.data, data.target)
SavedModel.of(model).save("model.json")
write_release("model.json", "release", ledger=ledger)
print(*sorted(path.name for path in Path("release").iterdir()))
print(verify_release("release").state)
