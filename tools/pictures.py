"""Makes docs/list.png and docs/report.png from a real private fit: `python -m tools.pictures` (`make pictures`).

Chromium takes the screenshots (Debian: `apt-get install chromium`). The fit is private, so it has no seed: each run of this
program shows another draw, whose counts have other noise.
"""

import subprocess
import tempfile
from pathlib import Path

from discreet import DPOptimalRuleListClassifier, Ledger
from discreet.datasets import load_adult
from discreet.report.html import to_html

DOCS = Path(__file__).parent.parent / "docs"
SHORT_FORM = (
    '<!doctype html><meta charset="utf-8"><body style="margin: 14px; background: white; '
    'font: 15px system-ui, DejaVu Sans, sans-serif">{}</body>'
)


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


def main() -> None:
    """Fit, and write both pictures into docs/."""
    data = load_adult()
    sensitive = ["age", "race", "sex"]
    classifier = DPOptimalRuleListClassifier(
        epsilon=1.0, exclude=sensitive, schema=data.schema, ledger=Ledger(epsilon=3.0)
    ).fit(data.data, data.target)
    print(classifier)
    screenshot(SHORT_FORM.format(classifier._repr_html_()), DOCS / "list.png", 780, 322)
    screenshot(to_html(classifier), DOCS / "report.png", 940, 1420)


if __name__ == "__main__":
    main()
