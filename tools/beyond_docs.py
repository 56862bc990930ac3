"""What `python -m reproduction --beyond` wrote, into docs/: its figures, and its Markdown between the marks of reproduction.md.

python -m tools.beyond_docs reproduced/beyond-full
"""

import shutil
import sys
from pathlib import Path

BEGIN, END = "<!-- beyond.md begins -->\n", "<!-- beyond.md ends -->\n"


def put(folder: Path, docs: Path) -> None:
    """Copy the figures, and replace what is between the marks."""
    page = docs / "reproduction.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    written = (folder / "beyond.md").read_text(encoding="utf-8")
    page.write_text(f"{before}{BEGIN}\n{written}\n{END}{after}", encoding="utf-8")
    for picture in sorted(folder.glob("beyond-*.svg")):
        shutil.copyfile(picture, docs / picture.name)


if __name__ == "__main__":
    put(Path(sys.argv[1]), Path(__file__).parents[1] / "docs")
