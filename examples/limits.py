"""Limits that every model keeps to: the risk never falls with prior crimes, and no answer depends on both age and sex."""

from discreet import DPOptimalTreeClassifier
from discreet.datasets import load_compas

data = load_compas()
tree = DPOptimalTreeClassifier(
    epsilon=1.0, max_depth=3, schema=data.schema, monotonic_cst={"priors_count": +1}, forbid=[("age", "sex")]
)
print(tree.fit(data.data, data.target))
print(*tree.privacy_.limits, sep="\n")
