"""Draws how a fit gets from `fit` to its first random bit, before and after a change: `python -m tools.walk OLD/src src`.

Counts, for each learner, what a reader of the code has to follow until then: calls that are open at the first random bit,
modules that were entered, and the places in the code where one package calls another. Writes docs/walk.svg, one lane for
each package, with the open calls from the top down.
"""

import json
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

PICTURE = Path(__file__).parent.parent / "docs" / "walk.svg"
LEARNERS = {
    "DPOptimalTreeClassifier": "a tree",
    "DPOptimalRuleListClassifier": "a list",
    "DPScoreCardClassifier": "a card",
}
LANE, STEP, LEFT, TOP = 66, 19, 14, 74

WALK = """
import json, sys
import discreet
from discreet.datasets import load_compas
data = load_compas(sensitive=False)
modules, crossings, stack = set(), set(), []

def name(frame):
    return frame.f_globals.get("__name__", "")

def place(frame):
    return name(frame), frame.f_code.co_qualname

def note(frame, event, argument):
    if event != "call" or stack or not name(frame).startswith("discreet.") or frame.f_code.co_name == "<module>":
        return
    modules.add(name(frame))
    caller = frame.f_back
    while caller and not name(caller).startswith("discreet."):
        caller = caller.f_back
    if caller and name(caller).split(".")[1] != name(frame).split(".")[1]:
        crossings.add((place(caller), place(frame)))
    drawn = ("bits", "uniform", "permute_and_flip", "discrete_laplace")
    if name(frame).endswith("noise.entropy") and frame.f_code.co_name in drawn:
        while frame:
            if name(frame).startswith("discreet."):
                stack.append(place(frame))
            frame = frame.f_back

learner = getattr(discreet, sys.argv[1])(schema=data.schema)
sys.setprofile(note)
learner.fit(data.data, data.target)
sys.setprofile(None)
print(json.dumps({"modules": len(modules), "crossings": len(crossings), "stack": stack[::-1]}))
"""


def walk(source: str, learner: str) -> dict[str, Any]:
    """What one fit passes until its first random bit, in the code of that folder."""
    command = [sys.executable, "-W", "ignore", "-c", WALK, learner]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": source})
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def drawn(before: dict[str, Any], after: dict[str, Any], title: str, top: int) -> tuple[list[str], int]:
    """Both walks of one learner, side by side, and the height that they take."""
    lines = []
    x, height = LEFT, 0
    for heading, found in ((f"{title}, before", before), (f"{title}, now", after)):
        packages = list(dict.fromkeys(module.split(".")[1] for module, _ in found["stack"]))
        said = f"{len(found['stack'])} open calls, {found['modules']} modules, {found['crossings']} crossings"
        lines.append(f'<text x="{x}" y="{top + 14}" class="title">{heading}</text>')
        lines.append(f'<text x="{x}" y="{top + 30}" class="said">{said}</text>')
        bottom = top + TOP + STEP * (len(found["stack"]) - 1)
        for i, package in enumerate(packages):
            lane = x + LANE * i + LANE // 2
            lines.append(f'<text x="{lane}" y="{top + 50}" class="lane">{package}</text>')
            lines.append(f'<line x1="{lane}" y1="{top + 56}" x2="{lane}" y2="{bottom + 10}" class="lane"/>')
        points = [
            (x + LANE * packages.index(module.split(".")[1]) + LANE // 2, top + TOP + STEP * i)
            for i, (module, _) in enumerate(found["stack"])
        ]
        lines.append(f'<polyline points="{" ".join(f"{a},{b}" for a, b in points)}" class="path"/>')
        lines += [
            f'<circle cx="{a}" cy="{b}" r="4"><title>{module}: {escape(function)}</title></circle>'
            for (a, b), (module, function) in zip(points, found["stack"], strict=True)
        ]
        height = max(height, bottom + 30 - top)
        x += 620
    return lines, height


def main() -> None:
    """Draw, and print the numbers."""
    old, new = (str(Path(folder).resolve()) for folder in sys.argv[1:3])
    lines, y = [], 10
    for learner, title in LEARNERS.items():
        before, after = walk(old, learner), walk(new, learner)
        for said, found in (("before", before), ("now", after)):
            packages = [module.split(".")[1] for module, _ in found["stack"]]
            print(f"{title}, {said}: {len(packages)} open calls in {len(set(packages))} packages,", end=" ")
            print(f"{found['modules']} modules, {found['crossings']} places where a package calls another")
        more, height = drawn(before, after, title, y)
        lines += more
        y += height
    style = (
        "text{font:12px sans-serif;fill:#333}.title{font-weight:bold;font-size:14px}.lane{text-anchor:middle}"
        "line.lane{stroke:#ccc}.path{fill:none;stroke:#7a1f3d;stroke-width:2}circle{fill:#7a1f3d}"
    )
    PICTURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1100 {y}" role="img" '
        f'aria-label="Calls that are open at the first random bit of a fit, before and now">\n'
        f'<style>{style}</style>\n<rect width="1100" height="{y}" fill="white"/>\n' + "\n".join(lines) + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
