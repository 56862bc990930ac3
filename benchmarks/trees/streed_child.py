"""The best tree by pystreed. A script for a Python that has it: the file of records and the depth; prints JSON."""

import json
import sys
import time

import numpy as np
from pystreed import STreeDClassifier

with np.load(sys.argv[1]) as file:
    X, y = file["X"].astype(int), file["y"].astype(int)
times = []
for _ in range(3):
    model = STreeDClassifier("accuracy", max_depth=int(sys.argv[2]), time_limit=600)
    start = time.process_time()
    model.fit(X, y)
    times.append(time.process_time() - start)
print(json.dumps({"correct": int((model.predict(X) == y).sum()), "seconds": min(times)}))
