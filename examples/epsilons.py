"""What epsilon costs in accuracy: a curve on public data. On private data each of these fits would spend its epsilon."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from discreet import DPGreedyRuleListClassifier, DPOptimalTreeClassifier, DPScoreCardClassifier
from discreet.datasets import load_compas

warnings.simplefilter("ignore")  # of many fits without a ledger: this table is public
data = load_compas(sensitive=False)
train, test, y, y_test = train_test_split(data.data, data.target, random_state=0)
epsilons = [0.01, 0.03, 0.1, 0.3, 1.0]
learners = {
    "tree of depth 2": DPOptimalTreeClassifier(max_depth=2, schema=data.schema),
    "score card": DPScoreCardClassifier(schema=data.schema),
    "greedy list, the paper's sm-laplace": DPGreedyRuleListClassifier(
        mechanism="sm-laplace", delta=1e-6, min_support=300, schema=data.schema
    ),
}
for name, learner in learners.items():
    scores = [[learner.set_params(epsilon=e).fit(train, y).score(test, y_test) for _ in range(8)] for e in epsilons]
    plt.errorbar(epsilons, np.mean(scores, 1), np.std(scores, 1), label=name, capsize=3)
plt.xscale("log")
plt.xlabel("epsilon")
plt.ylabel("test accuracy (mean and standard deviation of 8 fits)")
plt.legend()
plt.savefig("epsilons.svg")
