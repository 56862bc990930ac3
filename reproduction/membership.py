"""Membership inference attacks of the Adversarial Robustness Toolbox (ART): was this record learned from?"""

import logging.config
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve


@dataclass(frozen=True, eq=False)
class MembershipAttack:
    """How well an attack told members from others, as many of the one as of the other: 0.5 is a coin flip.

    ``fpr`` and ``tpr`` are its ROC curve: false and true positive rates, from the strictest threshold on.
    """

    accuracy: float
    auc: float
    fpr: np.ndarray
    tpr: np.ndarray

    def __repr__(self) -> str:
        return f"MembershipAttack(accuracy={self.accuracy:.4f}, auc={self.auc:.4f})"


def membership_attack(
    model: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    kind: str = "black-box",
    random_state: int | None = None,
) -> MembershipAttack:
    """Attack a model (a list or a tree): half of the records teach the attack who is a member, the other half measure it.

    As many training records as test records are used (of the more numerous, a random choice), so that guessing is right
    half of the time. That an attack fails proves nothing: see a model's ``privacy_`` for what is proved.

    Parameters
    ----------
    model : RuleList or Tree
        The model.
    X_train, y_train, X_test, y_test
        The records the model was learned from and others like them, with their labels.
    kind : {"black-box", "label-only"}, default="black-box"
        "black-box": a random forest learns from ``predict_proba`` and the true label (ART's MembershipInferenceBlackBox).
        "label-only": whatever is predicted correctly is called a member (ART's LabelOnlyGapAttack). It learns nothing, and its
        ROC curve has a single point between the corners.
    random_state : int, default=None
        Decides which records are used, which of them teach, and the forest's randomness.
    """
    if kind not in ("black-box", "label-only"):
        raise ValueError(f"kind must be black-box or label-only, not {kind!r}")
    half = min(len(y_train), len(y_test)) // 2
    rng = np.random.default_rng(random_state)
    captured, labels = [], []  # of members, of others; which answer they get is all that a model tells
    for X, y in ((X_train, y_train), (X_test, y_test)):
        rows = rng.permutation(len(y))[: 2 * half]
        captured.append(model.captures(X)[rows, None])
        labels.append((np.asarray(y)[rows, None] == np.array(model.classes)).astype(float))
    taught = captured[0][:half], labels[0][:half], captured[1][:half], labels[1][:half]
    x, y = (np.concatenate([part[half:] for part in parts]) for parts in (captured, labels))
    scores = _scores(model, kind, taught, x, y, seed=int(rng.integers(2**31)))
    truth = np.repeat([1, 0], half)
    fpr, tpr, _ = roc_curve(truth, scores)
    accuracy = float(((scores > 0.5) == truth).mean())
    return MembershipAttack(accuracy, float(roc_auc_score(truth, scores)), fpr, tpr)


def _scores(model: Any, kind: str, taught: Any, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """How sure the attack is that each record is a member, from 0 to 1."""
    inference, BlackBoxClassifier = _toolbox()
    labels = [model.classes.index(answer.label) for answer in model.answers]
    proba = model.answer_shares if kind == "black-box" else np.eye(len(model.classes))[labels]
    target = BlackBoxClassifier(lambda x: proba[x[:, 0].astype(int)], input_shape=(1,), nb_classes=len(model.classes))
    if kind == "label-only":
        gaps: np.ndarray = inference.LabelOnlyGapAttack(target).infer(x, y)
        return gaps
    attack = inference.MembershipInferenceBlackBox(target, attack_model_type="rf")
    attack.attack_model.set_params(random_state=seed)  # ART has no parameter for it
    attack.fit(*taught)
    scores: np.ndarray = attack.infer(x, y, probabilities=True).ravel()
    return scores


def _toolbox() -> tuple[Any, Any]:
    """ART, imported so that it does not set up logging for the whole process, which would close handlers of the program."""
    set_up = logging.config.dictConfig

    def of_others(config: Any) -> None:
        if "art" in config.get("loggers", {}):
            logging.getLogger("art").addHandler(logging.NullHandler())  # all it needs: not on stderr if nobody listens
        else:
            set_up(config)

    logging.config.dictConfig = of_others
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ART tells that it found no PyTorch, which nothing here needs
            import art.attacks.inference.membership_inference as inference
            from art.estimators.classification import BlackBoxClassifier
    except ImportError:
        extra = "pip install -e '.[experiments]'"
        raise ImportError(f"membership_attack needs the Adversarial Robustness Toolbox: {extra}") from None
    finally:
        logging.config.dictConfig = set_up
    return inference, BlackBoxClassifier
