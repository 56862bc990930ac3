"""What has to be said first of a model about which nothing is proved."""

from ...evaluation.evaluated import NoisyEvaluation
from ...models.saved import SavedModel

NOTHING_PROVED = "NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL"
TREAT_AS = "Treat it like the records themselves: it may show something about single people in the table"


def warning_of(model: SavedModel, evaluation: NoisyEvaluation | None = None) -> str | None:
    """The warning about a model and what was measured of it, with the reasons; None if something is proved about both.

    >>> from discreet import RuleList, SavedModel
    >>> print(warning_of(SavedModel(RuleList.parse("if age <= 30 then yes else no"))))
    NOTHING IS PROVED ABOUT THE PRIVACY OF THIS MODEL: it was learned without privacy. Treat it like the records themselves: ...
    """
    found = [_of_model(model), None if evaluation is None else _of_evaluation(evaluation)]
    return " ".join(filter(None, found)) or None


def _of_evaluation(evaluation: NoisyEvaluation) -> str | None:
    if evaluation.privacy.proved is not None:
        return None
    reasons = "; ".join(evaluation.privacy.because)
    return f"NOTHING IS PROVED ABOUT THE PRIVACY OF THE EVALUATION: {reasons}."


def _of_model(model: SavedModel) -> str | None:
    if model.privacy is None:
        reasons = "it was learned without privacy"
    elif model.privacy.proved is None:
        reasons = "; ".join(model.privacy.because)
    else:
        return None
    return f"{NOTHING_PROVED}: {reasons}. {TREAT_AS}."
