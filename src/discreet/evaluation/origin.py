"""Where a model came from, for whoever builds on it.

What is measured of a model on private records is private only if the model is: an exact list, learned from the same records,
tells neighbouring tables apart before any noise is added. So a later release asks for the model's origin, and proves nothing
without one.
"""

from dataclasses import dataclass
from typing import Any

from ..accounting.statement import DRAFTED, INFERRED, SEEDED, Guarantee, PrivacyStatement
from ..models.model import Model

SAY = "say model_is_public=True if it does not depend on these records"
PUBLIC = "the model does not depend on these records: it was written by hand, or learned from others (model_is_public)"


@dataclass(frozen=True)
class Origin:
    """``kind``: "proved", "seeded", "inferred", "unproved" (private, but nothing is proved), "exact", "unknown" or "public".

    ``because`` says why nothing may be proved of what builds on the model, and is empty if something may; ``assumes`` is what
    that then rests on.
    """

    kind: str
    because: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()

    @property
    def counts_cuts(self) -> bool:
        """Whether a statement of the model's own has counted the cut points of its schema."""
        return self.kind == "proved"


def origin_of(model: Any, rules: Model, is_public: bool = False) -> Origin:
    """Of a model, a saved model or a classifier. ``is_public``: the caller vouches for a model that has no statement.

    >>> from discreet import RuleList
    >>> origin_of(rules := RuleList.parse("if age <= 30 then yes else no"), rules).kind
    'unknown'
    >>> origin_of(rules, rules, is_public=True).kind
    'public'
    """
    if rules.schema is not None and rules.schema.inferred:  # vouching for the rules does not vouch for it
        return Origin("inferred", (INFERRED,))
    statement = getattr(model, "privacy_", getattr(model, "privacy", None))
    if isinstance(statement, PrivacyStatement) and statement.proved is not None:
        return Origin("proved", (), (_in_addition(statement.proved),))
    if is_public:
        return Origin("public", (), (PUBLIC,))
    if isinstance(statement, PrivacyStatement):
        kind = "seeded" if SEEDED in statement.because else "inferred" if _is_of_records(statement) else "unproved"
        reasons = "; ".join(statement.because)
        return Origin(kind, (f"nothing is proved about the model that was measured ({reasons}); {SAY}",))
    learner = getattr(model, "learner", "unknown")  # of saved models
    if hasattr(model, "model_") or learner != "unknown":
        return Origin("exact", (f"the model that was measured was learned without privacy; {SAY}",))
    return Origin(
        "unknown",
        (
            f"nothing is known about where the {rules.kind} came from that was measured; give the fitted classifier or its "
            f"SavedModel, which know, or {SAY}",
        ),
    )


def _is_of_records(statement: PrivacyStatement) -> bool:
    return INFERRED in statement.because or DRAFTED in statement.because


def _in_addition(proved: Guarantee) -> str:
    return (
        f"what the model itself reveals is counted by its own statement ({proved}), which adds to this one if it was learned "
        "from some of these records"
    )
