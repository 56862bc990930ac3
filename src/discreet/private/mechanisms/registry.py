"""All mechanisms, by name. There is no other list of them.

A mechanism is added by a file of its own and a line in ``MECHANISMS``, or from outside by ``register`` (docs/new-mechanism.md).
"""

from typing import Any

from .base import GreedyMechanism, Mechanism
from .draws import ModelDraw
from .inverse import Inverse
from .mass import Mass
from .noisy_counts import NoisyCounts
from .published import GlExponential, GlGaussian, GlLaplace
from .purity import Purity
from .score_cards import ScoreCards
from .smooth_gini import SmCauchy, SmLaplace

# in the order in which they are offered
MECHANISMS: dict[str, GreedyMechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        *(Mass(), Purity(), Inverse()),
        *(SmLaplace(), SmCauchy(), GlLaplace(), GlGaussian(), GlExponential(), NoisyCounts()),
    )
}
RULE_LIST_DRAW, TREE_DRAW = ModelDraw("exact draw over all rule lists"), ModelDraw("exact draw over all trees")
SCORE_CARDS = ScoreCards()


def register(mechanism: GreedyMechanism) -> None:
    """Offer one more way to choose, for the rest of this process. Statements will say proved of what it says is proved."""
    if not isinstance(mechanism, GreedyMechanism) or not isinstance(getattr(mechanism, "name", None), str):
        raise TypeError("register takes an instance of a GreedyMechanism that has a name: register(MyMechanism())")
    if find(mechanism.name) is not None:
        raise ValueError(f"there is a mechanism {mechanism.name!r} already; choose another name")
    MECHANISMS[mechanism.name] = mechanism


def find_greedy(name: Any) -> GreedyMechanism | None:
    """The mechanism of this name for the greedy learner, if there is one."""
    return MECHANISMS.get(name) if isinstance(name, str) else None


def find(name: Any) -> Mechanism | None:
    """The mechanism that a statement names, if it is one that learns."""
    return next((m for m in (RULE_LIST_DRAW, TREE_DRAW, SCORE_CARDS) if m.name == name), None) or find_greedy(name)
