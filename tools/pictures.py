"""Makes docs/list.png, report.png and tree.png from real private fits: `python -m tools.pictures` (`make pictures`).

Chromium takes the screenshots (Debian: `apt-get install chromium`). The fits are private, so they have no seed: each run of this
program shows other draws, whose counts have other noise. `python -m tools.pictures tree` makes that one alone.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Ledger
from discreet.datasets import load_adult
from discreet.report.html import to_html

DOCS = Path(__file__).parent.parent / "docs"
SHORT_FORM = (
    '<!doctype html><meta charset="utf-8"><body style="margin: 14px; background: white; '
    'font: 15px system-ui, DejaVu Sans, sans-serif">{}</body>'
)

ONLY_THE_TREE = "header, footer, main > :not(#rules) { display: none } #rules { margin-top: 0 }"


def screenshot(page: str, picture: Path, width: int, height: int) -> None:
    """The top left of a page as Chromium shows it, a quarter larger."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *(f"--window-size={width},{height}", "--force-device-scale-factor=1.25"),
                *(f"--screenshot={picture}", file.as_uri()),
            ],
            check=True,
            capture_output=True,
        )


def list_and_report() -> None:
    """A private list: its short form, and the top of its report."""
    data = load_adult()
    sensitive = ["age", "race", "sex"]
    classifier = DPOptimalRuleListClassifier(
        epsilon=1.0, exclude=sensitive, schema=data.schema, ledger=Ledger(epsilon=3.0)
    ).fit(data.data, data.target)
    print(classifier)
    screenshot(SHORT_FORM.format(classifier._repr_html_()), DOCS / "list.png", 780, 322)
    screenshot(to_html(classifier), DOCS / "report.png", 940, 1420)


def tree() -> None:
    """A private tree, as its report draws it: the other sections are hidden."""
    data = load_adult(sensitive=False)
    classifier = DPOptimalTreeClassifier(epsilon=1.0, schema=data.schema).fit(data.data, data.target)
    print(classifier)
    page = to_html(classifier).replace("</head>", f"<style>{ONLY_THE_TREE}</style></head>")
    screenshot(page, DOCS / "tree.png", 1000, 940)


if __name__ == "__main__":
    pictures = {"list": list_and_report, "tree": tree}
    for name in sys.argv[1:] or pictures:
        pictures[name]()
