"""A model without discreet: the same predictions from one Python function that needs nothing but Python."""

from discreet import DPOptimalTreeClassifier
from discreet.datasets import load_compas

data = load_compas(sensitive=False)
tree = DPOptimalTreeClassifier(epsilon=1.0, max_depth=2, schema=data.schema).fit(data.data, data.target)
source = tree.tree_.to_python("predict")
print(source)
made = {}
exec(source, made)
first = data.data.iloc[0].to_dict()
print(made["predict"](first), tree.predict(data.data.head(1))[0])
