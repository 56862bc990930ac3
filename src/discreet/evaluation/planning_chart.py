"""The picture that ``discreet plan --out`` writes."""

import math
from collections.abc import Sequence

from .planning import Expected


def planning_chart(expected: Sequence[Expected], best: float | None, kind: str = "list") -> str:
    """The plan as an SVG picture: what an attacker may learn, and the accuracy where it was measured (else the loss at most)."""
    left, right, top, height = 70.0, 640.0, 50.0, 260.0
    low, high = math.log10(expected[0].epsilon), math.log10(expected[-1].epsilon)

    def x(epsilon: float) -> float:
        return left + (math.log10(epsilon) - low) / (high - low) * (right - left)

    def y(share: float) -> float:
        return top + (1.0 - min(1.0, max(0.0, share))) * height

    def line(points: list[tuple[float, float]], colour: str, dash: str = "") -> str:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        marks = "".join(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{colour}"/>' for a, b in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>{marks}'

    measured = [(e.epsilon, e.accuracy) for e in expected if e.accuracy is not None]
    second = measured or [(e.epsilon, 1.0 - e.loss) for e in expected if e.loss is not None]
    name = "accuracy on the stand-in" if measured else f"accuracy kept at least, of the best {kind}'s"
    ticks = "".join(
        f'<text x="{x(e.epsilon):.1f}" y="{top + height + 20}" text-anchor="middle">{e.epsilon:g}</text>'
        for e in expected
    )
    levels = "".join(
        f'<line x1="{left}" x2="{right}" y1="{y(s):.1f}" y2="{y(s):.1f}" stroke="#ddd"/>'
        f'<text x="{left - 8}" y="{y(s) + 4:.1f}" text-anchor="end">{s:.0%}</text>'
        for s in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    without = ""
    if best is not None:
        without = (
            f'<line x1="{left}" x2="{right}" y1="{y(best):.1f}" y2="{y(best):.1f}" stroke="#000" stroke-dasharray="8 4"/>'
            f'<text x="{left + 4}" y="{y(best) - 6:.1f}">without privacy {best:.1%}</text>'
        )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 380" font-family="sans-serif" font-size="13" role="img">'
        f"<title>What an attacker may learn, and {name}, over epsilon</title>"
        '<rect width="680" height="380" fill="#fff"/>'
        f"{levels}{ticks}{without}{line(second, '#0072B2')}"
        f"{line([(e.epsilon, e.attacker) for e in expected], '#D55E00', '5 4')}"
        f'<text x="{(left + right) / 2}" y="{top + height + 44}" text-anchor="middle">epsilon (log scale)</text>'
        f'<text x="{left}" y="24" fill="#0072B2">● {name}</text>'
        f'<text x="{right}" y="24" text-anchor="end" fill="#B84A00">● how sure an attacker may become, from 50 %</text>'
        "</svg>\n"
    )
