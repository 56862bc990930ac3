"""What the pages say about themselves and the code: how long, what they link to, what their examples print."""

import re
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

import discreet
from discreet.datasets import load_adult
from tests.test_walls import FLOORS

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md")])
CODE = re.compile(r"^```.*?^```$|^( {4}|\t).*?$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def heading_anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_readme_has_at_most_450_words_beside_its_code():
    prose = re.sub(
        r"^```.*?^```$", "", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    prose = re.sub(r"<[^>]+>|\]\([^)]*\)", " ", prose)  # tags and addresses are not read
    words = [word for word in prose.split() if re.search(r"\w", word)]
    assert 100 < len(words) <= 450


def test_the_readmes_lines_go_from_a_data_frame_to_a_model(tmp_path, monkeypatch):
    (code,) = re.findall(
        r"^```python\n(.+?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    table = load_adult().frame.rename(columns={"income": "outcome"})
    table.to_csv(tmp_path / "private.csv", index=False)
    monkeypatch.chdir(tmp_path)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, {})
    assert re.fullmatch(r"(if .+\n( *(if|else).+\n)*)?\S.*\nepsilon = 1, delta = 1e-09\n", printed.getvalue())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_within_the_repository_lead_somewhere(page):
    for match in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = (match[1] or match[2]).partition("#")
        if not path.startswith(("http:", "https:", "mailto:")):
            target = (page.parent / path) if path else page
            assert target.exists(), f"{path} is not there"
            assert not anchor or anchor in heading_anchors(target), f"{path} has no heading #{anchor}"


def test_every_page_has_a_place_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert sorted(re.findall(r": (\S+\.md)$", navigation, re.MULTILINE)) == sorted(
        page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")
    )


def table_rows(page: str, cells: int) -> list[list[str]]:
    """The rows of a page's tables of so many columns, by records times epsilon."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").replace("*", "").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if len(row) == cells and re.match(r"below|above|1,?0+ to", row[0])]


def test_the_page_on_estimators_has_the_medians_of_the_public_tables():
    shown = table_rows("which-estimator.md", cells=9)
    measured = [[row[0], row[2], row[3], row[6], row[7]] for row in table_rows("tables.md", cells=16)]
    assert len(shown) == 4
    assert shown == [[*share, *area[1:]] for share, area in zip(measured[:4], measured[4:], strict=True)]


def test_the_map_for_contributors_has_every_package_on_its_floor():
    rows = re.findall(r"^\| (\d) \| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted((int(floor), name) for floor, name in rows) == sorted(
        (floor, name) for floor, names in enumerate(FLOORS) for name in names
    )


def test_the_version_is_the_same_wherever_it_stands():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {project["version"], citation[1], changes[0]} == {discreet.__version__}


def test_changes_are_sorted_by_added_changed_and_fixed():
    headings = re.findall(r"^(##+) (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    kinds = [text for level, text in headings if level == "###"]
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert len(kinds) > sum(level == "##" for level, _ in headings)


def test_every_picture_is_shown_somewhere():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in [*ROOT.glob("docs/*.svg"), *ROOT.glob("docs/*.png")]:
        assert picture.name in text, f"{picture.name} is shown on no page"
        if picture.suffix == ".svg":
            # a browser shows nothing after the first mistake
            ElementTree.fromstring(picture.read_text(encoding="utf-8"))


def test_every_file_of_code_that_a_page_names_is_there():
    made_up = {"prototype/plain_search.py", "private/mechanisms/errors.py"}  # of the paper's notes; of an example
    named = {
        (page.name, path) for page in PAGES for path in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text("utf-8"))
    }
    assert len(named) > 150
    missing = {
        (page, path)
        for page, path in named
        if "NAME" not in path
        and path not in made_up
        and not any((base / path).exists() for base in (ROOT, ROOT / "src/discreet"))
    }
    assert not missing
