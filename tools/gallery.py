"""Run the examples, and write docs/gallery.md with their code, and their output as pictures: ``python -m tools.gallery``.

What an example prints becomes a picture of a terminal; what it saves as ``.svg`` or ``.html`` is shown in place of it. The latter
needs Chromium.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = {
    name: ROOT / "examples" / f"{name}.py"
    for name in "data_frame score_card rare_class limits ledger evaluation epsilons database python_function release".split()
}
MOST_LINES = 32


def run(example: Path, folder: str) -> str:
    """What an example prints, in this folder, and in a process of its own: statements tell of other releases of a process."""
    environment = os.environ | {"MPLBACKEND": "agg"}
    return subprocess.check_output([sys.executable, example], cwd=folder, env=environment, text=True)


def title_and_code(example: Path) -> tuple[str, str]:
    """The docstring, and what follows it."""
    found = re.fullmatch(r'"""(.*?)"""\n\n(.*)', example.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"{example.name} must begin with a docstring of one line"
    return found[1], found[2]


def page(pictures: dict[str, str]) -> str:
    """The page, from the examples and the names of their pictures."""
    parts = [
        "# Gallery\n\nTen short scripts, and what they show. Each runs as it is; they are in the folder `examples`.\n"
    ]
    for name, example in EXAMPLES.items():
        title, code = title_and_code(example)
        called, _, more = title.removesuffix(".").partition(": ")
        parts.append(f"## {called}\n\n{more[:1].upper()}{more[1:]}.\n")
        parts.append(f"![Output of {name}.py](gallery/{pictures[name]})\n\n```python\n{code}```\n")
    return "\n".join(parts)


def draw(printed: str, to: Path) -> None:
    """A picture of a terminal."""
    from rich.console import Console

    lines = printed.rstrip().split("\n")
    lines = [*lines[:MOST_LINES], *["..."] * (len(lines) > MOST_LINES)]
    console = Console(record=True, width=min(100, max(map(len, lines)) + 1), file=StringIO())
    console.print("\n".join(lines), markup=False, highlight=False)
    drawn = console.export_svg(title=to.stem, unique_id=to.stem)
    to.write_text(
        re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL), encoding="utf-8"
    )  # which load from elsewhere


def screenshot(html: Path, to: Path) -> None:
    """A page in Chromium, from its top."""
    size = ["--hide-scrollbars", "--window-size=900,1100", f"--screenshot={to}"]
    subprocess.run(["chromium", "--headless", "--no-sandbox", *size, html.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Write the page and its pictures."""
    gallery, pictures = ROOT / "docs" / "gallery", {}
    gallery.mkdir(exist_ok=True)
    for name, example in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            printed = run(example, folder)
            saved = [path for path in Path(folder).iterdir() if path.suffix in (".svg", ".html")]
            suffix = {"": ".svg", ".svg": ".svg", ".html": ".png"}[saved[0].suffix if saved else ""]
            pictures[name] = f"{name}{suffix}"
            if not saved:
                draw(printed, gallery / pictures[name])
            elif suffix == ".svg":
                shutil.copy(saved[0], gallery / pictures[name])
            else:
                screenshot(saved[0], gallery / pictures[name])
        print(name, file=sys.stderr)
    (ROOT / "docs" / "gallery.md").write_text(page(pictures), encoding="utf-8")


if __name__ == "__main__":
    main()
