"""The optimal list without privacy against CORELS, on the same training records and candidates.

CORELS minimises mistakes + c * rules, for a list of any length; ours maximises correct records over lists of at most as many
rules as CORELS' has. So ours must be at least as accurate. CORELS (`pip install corels`, or built from its source where no wheel
fits) is not in requirements.txt: it does not build on every Python. Run by hand: `python benchmarks/optimum.py`.
"""

import time
import warnings

import numpy as np

from discreet import OptimalRuleListClassifier
from discreet.datasets import load_adult, load_compas


def main():
    from corels import CorelsClassifier

    warnings.simplefilter("ignore")
    print("data    card  c      rules  CORELS train/test   s      ours train/test     s      gap")
    for name, load in (("COMPAS", load_compas), ("Adult", load_adult)):
        X, y = load(binary=True, sensitive=False, return_X_y=True)
        X, y = X.astype(bool), np.asarray(y)
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
        bits = X.to_numpy().astype(np.uint8)
        for card in (1, 2):
            for c in (0.01, 0.003, 0.001):
                start = time.perf_counter()
                peer = CorelsClassifier(c=c, n_iter=300_000, max_literals=card, min_support=0.0, verbosity=[])
                peer.fit(bits[train], y[train])
                seconds = time.perf_counter() - start
                rules = len(peer.rl().rules) - 1
                if rules > 3:
                    continue
                start = time.perf_counter()
                ours = OptimalRuleListClassifier(max_length=rules + 1, max_literals=card).fit(X.iloc[train], y[train])
                ours_seconds = time.perf_counter() - start
                theirs = [float((peer.predict(bits[part]) == y[part]).mean()) for part in (train, test)]
                mine = [ours.score(X.iloc[part], y[part]) for part in (train, test)]
                print(
                    f"{name:7} {card:4}  {c:<6} {rules:4}   {theirs[0]:.4f} / {theirs[1]:.4f} {seconds:6.2f}"
                    f"      {mine[0]:.4f} / {mine[1]:.4f} {ours_seconds:6.2f}   {ours.certificate_.gap:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
