"""Level 1: which mechanisms are audited, and at which sizes."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

from ..mechanisms import published
from ..mechanisms.mass import MassSelector
from .choices import Finding, Price, worst_choice
from .counts import worst_check, worst_count
from .lists import largest_disagreement, worst_draw
from .noisy_counts import worst_noisy_choice

E = Fraction(2)  # the epsilon of one choice
SUPPORT = 20
LARGE = (1, 2, 20, 21, 40, 400, 10_000)  # sizes at which only extreme nodes are looked at, with many rules
COPIES = ((1, 1), (1, 30))  # rules like the first and like the second
AGREES = 1e-9


def price_of(selector: Any) -> Price:
    """What a choice costs, by the number of records at the smaller node and the number of rules."""
    if isinstance(selector, published.SmoothSelector):
        prices = selector.prices()
        return lambda n, rules: float(prices[min(n, selector.min_support)])
    if isinstance(selector, MassSelector):
        return lambda n, rules: float(selector.epsilon)
    return lambda n, rules: float(selector.price(rules))


def _choice(selector: Any, sizes: Iterable[int], large: Iterable[int], n_classes: int = 2) -> Finding:
    price = price_of(selector)
    found = list(worst_choice(selector, price, list(sizes), n_classes=n_classes))
    if large := list(large):
        found += worst_choice(selector, price, large, copies=COPIES, thin=True)
    return _worst(found)


def _worst(found: Iterable[Finding]) -> Finding:
    found = list(found)
    return max(found, key=lambda f: f.ratio)._replace(pairs=sum(f.pairs for f in found))


def _draw(most: int) -> Finding:
    if largest_disagreement(0.5, 30, 40, seed=0) > AGREES:
        raise RuntimeError("the samplers are handed another law than that of the exponential mechanism")
    return _worst(worst_draw(0.5, most))


def audited(quick: bool) -> dict[str, Callable[[], Finding]]:
    """The mechanisms by name; each call takes seconds (quick) to a minute and compares over a million pairs (not quick)."""
    sizes, large = (range(9), (1, 20, 400)) if quick else (range(18), LARGE)
    few, many = [n for n in large if n < SUPPORT], [n for n in large if n >= SUPPORT]
    sm_laplace, sm_cauchy = published.sm_laplace(E, 1e-6, SUPPORT), published.sm_cauchy(E, SUPPORT)
    small = published.sm_laplace(E, 1e-6, 5), published.sm_cauchy(E, 5)  # a support within reach of all nodes
    return {
        "mass": partial(_choice, MassSelector(E), sizes, large),
        "mass, three classes": partial(_choice, MassSelector(E), range(5 if quick else 10), (), 3),
        "a draw of a whole list": partial(_draw, 4 if quick else 7),
        "released counts": partial(worst_count, E, 1_000_000),
        "support check": partial(worst_check, E, 1_000_000),
        "gl-laplace": partial(_choice, published.gl_laplace(E), sizes, large),
        "gl-exponential": partial(_choice, published.gl_exponential(E), sizes, large),
        "gl-gaussian": partial(_choice, published.gl_gaussian(E, 1e-3), sizes, large),
        "noisy-counts": partial(worst_noisy_choice, published.NoisyCountsSelector(E, 1), 12 if quick else 24),
        "sm-laplace, below the support": partial(_choice, sm_laplace, sizes, few),
        "sm-laplace, support 5 or 20": partial(_both, small[0], sm_laplace, [n for n in sizes if n >= 5], many),
        "sm-cauchy, below the support": partial(_choice, sm_cauchy, sizes, few),
        "sm-cauchy, support 5 or 20": partial(_both, small[1], sm_cauchy, [n for n in sizes if n >= 5], many),
    }


def _both(small: Any, large: Any, sizes: Iterable[int], large_sizes: Iterable[int]) -> Finding:
    """At least as many records as the support says: all nodes for a small one, extreme nodes for a large one."""
    return _worst(
        [
            _choice(small, sizes, ()),
            _worst(worst_choice(large, price_of(large), list(large_sizes), copies=COPIES, thin=True)),
        ]
    )
