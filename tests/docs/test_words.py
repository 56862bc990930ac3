"""One word for one thing, the field's own: the old ones do not come back, and the pages stay short enough to be read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
READ = [
    ROOT / "CONTRIBUTING.md",
    *PAGES,
    *sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".py", ".txt", ".md")),
]

# What was said before, and what is said now. CHANGELOG.md tells of the old names.
OLD = {
    r"\bvaults?\b|fit_vault": "counts (PrivateCounts, fit_counts)",
    r"\bdoors?\b(?!s? of)": "queries",
    r"\b(its|the|these|all|no) papers\b|with papers": "release bundle, documents",
    r"\bCells\b|CellsInProgress|counts/cells": "patterns",
    r"\b(from|counting=.|by) \*?tuples\b|Tuples?InProgress|counts/tuples": "marginals",
    r"\bwish(es)?\b": "budget request",
    r"\bunseen\b": "redacted, escaped",
    r"\bworths\b|\b_?worth[_.]\w|_worth\b|\bthe worth of\b": "weight",
    r"\blaws?\b(?!, or common sense)": "distribution",
    r"\bposed\b|\bPosed\b": "problem",
    r"\bmax_card\b|--max-card": "max_literals",
    r"\bone_by_one\b|one-by-one": "sequential",
    r"--joint\b|`joint`|\bjoint=[0-9bN]": "rules_per_draw",
    r"--monotone\b|\bmonotone=|`monotone`": "monotonic_cst",
    r"criterion=.mass|criterion mass": "gini",
    r"\b[Ww]hole (rule )?(lists|trees)\b": "exact draws over all rule lists, over all trees",
    r"leaves? the room|way into the": "is released",
    r"next to nobody|next to no protection|this is none|[Ii]t is so that|a coin's\b": "",
    r"models that there are|told you in another way": "",
    r"attacker may become|[Pp]oints speak for|what is so\b|what it said is not shown": "",
}
MOST_WORDS = 45_000


def words_of(text):
    """How many words there are to read: not code, rows of numbers, or results that a program wrote into a page."""
    text = re.sub(r"<!-- \S+ begins -->.*?<!-- \S+ ends -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    rows = (line for line in text.split("\n") if not (line.startswith("|") and is_row_of_numbers(line)))
    return len(re.sub(r"\]\([^)]*\)|[|]", " ", "\n".join(rows)).split())


def is_row_of_numbers(row):
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    return bool(cells) and 2 * sum(bool(re.match(r"[^a-zA-Z]*[0-9.]|[-: ]*$", cell)) for cell in cells) >= len(cells)


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_old_words_are_gone(old, new):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in READ
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if re.search(old, line)
    ]
    assert not found, f"say {new or 'it plainly'}:\n" + "\n".join(found)


def test_an_old_word_would_be_found():
    assert re.search(next(iter(OLD)), "from a filled vault")


def test_the_pages_are_short_enough_to_be_read():
    counted = {
        str(path.relative_to(ROOT)): words_of(path.read_text(encoding="utf-8"))
        for path in PAGES
        if not path.name.startswith("tables")
    }
    assert sum(counted.values()) <= MOST_WORDS, sorted(counted.items(), key=lambda item: -item[1])
    assert words_of((ROOT / "README.md").read_text(encoding="utf-8")) <= 500
