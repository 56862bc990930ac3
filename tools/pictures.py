"""Makes list.png, report.png, tree.png, plan.svg and fit.svg in docs/ from real private fits: `python -m tools.pictures`.

Chromium takes the screenshots (Debian: `apt-get install chromium`). The fits are private, so they have no seed: each run of this
program shows other draws, whose counts have other noise. `python -m tools.pictures tree` makes that one alone.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from discreet import DPOptimalRuleListClassifier, DPOptimalTreeClassifier, Ledger
from discreet.datasets import load_adult
from discreet.report.html import to_html
from discreet.schema.inference import draft_schema

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


def terminal() -> None:
    """What `discreet plan` and `discreet fit` print for the tutorial's table (docs/tutorial.md), 92 characters wide."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME
    from rich.text import Text

    plan = "discreet plan --schema schema.toml --records 48000"
    fit = "discreet fit list adult.csv --schema schema.toml --epsilon 1 --ledger ledger.db -x race -x sex --out model.json"
    look = re.sub(r"@font-face {{.*?}}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)  # a picture loads nothing
    with tempfile.TemporaryDirectory() as folder:
        frame = load_adult().frame
        frame.to_csv(f"{folder}/adult.csv", index=False)
        sample = frame.sample(500, random_state=1).drop(columns="fnlwgt")
        draft_schema(sample, "income").schema.save(f"{folder}/schema.toml")
        Ledger.open(f"{folder}/ledger.db", 3.0)
        for name, command in (("plan", plan), ("fit", fit)):
            started = [sys.executable, "-c", "from discreet.cli import main; main()", *command.split()[1:]]
            given = os.environ | {"COLUMNS": "92", "FORCE_COLOR": "1", "DISCREET_HOME": folder}
            printed = subprocess.run(started, cwd=folder, env=given, check=True, capture_output=True, text=True).stdout
            console = Console(record=True, width=92, file=io.StringIO())
            console.print(Text(f"$ {command}", "bold"), Text.from_ansi(printed), sep="\n")
            look_of = {"theme": DEFAULT_TERMINAL_THEME, "code_format": look, "unique_id": name}
            console.save_svg(str(DOCS / f"{name}.svg"), title="", **look_of)


if __name__ == "__main__":
    pictures = {"list": list_and_report, "tree": tree, "terminal": terminal}
    for name in sys.argv[1:] or pictures:
        pictures[name]()
