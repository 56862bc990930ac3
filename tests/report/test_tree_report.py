"""The report of a tree: drawn as it is, in its own words, with the numbers of its counts."""

import re

import pytest

from discreet import Boolean, Categorical, Literal, Numeric, PrivacyStatement, SavedModel, Schema, Split, Tree
from discreet.accounting.statement import Guarantee
from discreet.models.display.summary import Fork, Step, summarize
from discreet.models.display.wording import otherwise
from discreet.models.partition import Answer
from discreet.report.html import to_html
from discreet.report.model_part import WIDTHS

from ..support.reported_models import TREES, model, tree_of
from .test_report import Page

NAMED = [maker.__name__ for maker in TREES]
WORDS_OF_LISTS = re.compile(r"\brules?\b|\bdefault\b|first rule|\bthe list\b", re.IGNORECASE)


def drawing(text):
    """The part of a page that shows the tree, and the table of its leaves."""
    return text[text.index('<section id="rules"') : text.index('<section id="promise"')]


@pytest.mark.parametrize("name", ["small_tree", "large_tree", "deepest_tree"])
def test_a_tree_is_not_spoken_of_as_a_list(name):
    words = Page(to_html(model(name))).text
    assert not WORDS_OF_LISTS.search(words), WORDS_OF_LISTS.search(words)
    assert "leaf" in words


def test_such_words_would_be_found():
    assert WORDS_OF_LISTS.search(Page(to_html(model("wine"))).text)


def test_a_tree_says_how_large_it_is():
    def said(text):
        return Page(to_html(SavedModel(Tree.parse(text)))).text

    assert "A tree: one answer for everybody, 1 class." in said("always yes")
    assert "The tree has no tests: it gives everyone the same answer." in said("always yes")
    assert "A tree: 1 test, 2 leaves, 2 classes" in said("if a then yes else no")
    assert "A tree: 3 tests, at most 2 on the way to an answer, 4 leaves" in said(
        "if a then if b then 1 else 2 else if b then 3 else 4"
    )


@pytest.mark.parametrize("name", NAMED)
def test_every_test_and_leaf_is_drawn_once_in_its_place(name):
    tree, text = model(name).model, drawing(to_html(model(name)))
    drawn = text[text.index('<ul class="tree"') : text.index("</section>")]
    assert drawn.count('class="ask"') == len(tree) - 1
    assert drawn.count('class="answer') == len(tree)
    assert [int(n) for n in re.findall(r"leaf </span>(\d+)", drawn)] == list(range(1, len(tree) + 1))
    assert drawn.count('<span class="way yes">true</span>') == len(tree) - 1
    assert drawn.count('<span class="way no">otherwise</span>') == len(tree) - 1
    depths, deep = [], 0
    for tag in re.findall(r'<ul role="list"|</ul>|class="answer', drawn):
        deep += {"<ul role": 1, "</ul>": -1}.get(tag[:8].strip('"'), 0) if not tag.startswith("class") else 0
        if tag.startswith("class"):
            depths.append(deep)
    assert depths == [len(leaf.way) for leaf in tree]


def test_numbers_are_those_of_the_counts():
    summary = summarize(model("small_tree"))
    grignolino, barbera, noise, barolo = summary.steps
    assert summary.total == 65.5 + 56 + 1 + 60
    assert summary.right == pytest.approx((60.5 + 50 + 1 + 55) / summary.total)
    assert (grignolino.support, barbera.support, noise.support, barolo.support) == (65.5, 56, 1, 60)
    assert barbera.shares == pytest.approx((0, 6 / 56, 50 / 56))
    assert barbera.taken == pytest.approx(56 / summary.total)
    assert {step.reaching for step in summary.steps} == {summary.total}
    assert [step.faint for step in summary.steps] == [False, False, True, False]
    root = summary.root
    assert isinstance(root, Fork)
    assert root.support == summary.total
    assert root.true.other.true is barbera
    assert root.true.other.support == 57
    words = Page(to_html(model("small_tree"))).text
    for said in (
        "about 182 records",
        "89 % of about 56 records",
        "mostly noise",
        "proline is at most 800 and alcohol is above 12 or is missing and organic is true",
        "By these counts the tree is right on about 91 %",
        "Columns that tests use 3 of 3",
        "Used by tests",
    ):
        assert said in words, said


def test_lines_are_as_thick_as_the_shares_of_all_records():
    tree = Tree(Split(Literal("a"), Split(Literal("b"), Answer(1, (5, 15)), Answer(0, (20, 10))), Answer(0, (40, 10))))
    text = to_html(SavedModel(tree))
    assert re.findall(r"--true:([\d.]+);--other:([\d.]+)", text) == [("0.5000", "0.5000"), ("0.2000", "0.3000")]


def test_bars_are_as_wide_as_the_shares_of_a_leaf():
    tree = Tree(Split(Literal("a"), Answer(1, (15, 45)), Answer(0, (30, 10))), (0, 1))
    widths = [a["width"] for tag, a in Page(to_html(SavedModel(tree))).tags if tag == "rect" and "class-" in a["class"]]
    assert [float(width) for width in widths] == [25, 75, 75, 25]


@pytest.mark.parametrize(
    ("counts", "statement", "said"),
    [
        (None, None, "released no class counts, so how many records each leaf takes, and how sure it is"),
        ((1, 2), None, "These are exact counts"),
        ((-1, -2), PrivacyStatement("mass", None, Guarantee(1.0, 0.0)), "the noise hides how the tree divides"),
        ((3, 4), PrivacyStatement("unknown", None, Guarantee(1.0, 0.0)), "not exact and may be below zero"),
    ],
)
def test_what_counts_can_say_is_said(counts, statement, said):
    for root in (Split(Literal("a"), Answer(1, counts), Answer(0, counts)), Answer(1, counts)):
        words = Page(to_html(SavedModel(Tree(root, (0, 1)), statement))).text
        assert said in words
        assert ("records" in Page(Tree(root, (0, 1))._repr_html_()).text) is (counts is not None and counts[0] > 0)


def test_shares_without_counts_are_shown():
    tree = Tree(Split(Literal("a"), Answer(1, None, (0.25, 0.75)), Answer(0, None, (0.9, 0.1))), (0, 1))
    words = Page(to_html(SavedModel(tree))).text
    assert "75 %" in words
    assert "how many records each leaf takes is unknown" in words
    assert "1 25" not in words


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        (Literal("x", "<=", 3), "x is above 3"),
        (Literal("y", "<=", 3), "y is above 3 or is missing"),
        (Literal("y", "is missing"), "y is not missing"),
        (Literal("c", "=", "a"), "c is not a or is missing"),
        (Literal("b"), "b is false"),
        (Literal("b", "is false"), "b is true"),
    ],
)
def test_where_a_test_is_not_true_the_opposite_is_or_the_value_is_missing(literal, said):
    columns = Numeric("x", cuts=[3]), Numeric("y", True, [3]), Categorical("c", categories=["a"], outside="missing")
    phrase = otherwise(literal, Schema([*columns, Boolean("b")]))
    assert " ".join(filter(None, (phrase.column, phrase.words, phrase.value, phrase.besides))) == said


@pytest.mark.parametrize("depth", [0, 1, 2, 5, 6])
def test_a_tree_is_drawn_from_left_to_right_where_there_is_room_for_its_depth(depth):
    text = to_html(SavedModel(tree_of(model("large_tree").model.schema, depth)))
    assert ("--wide" in text) is (depth in WIDTHS)
    assert ('aria-label="Tests and leaves" tabindex="0"' in text) is (depth > max(WIDTHS))


def test_a_page_of_a_list_has_no_style_of_trees():
    assert ".tree" not in to_html(model("wine"))


@pytest.mark.parametrize("name", NAMED)
def test_a_notebook_shows_the_tree_as_an_outline(name):
    tree = model(name).model
    html = tree._repr_html_()
    page = Page(html)
    assert html.count("predict <bdi") == len(tree)
    assert html.count('<span class="way">otherwise</span>') == len(tree) - 1
    assert not page.scripts
    if name == "small_tree":
        assert "true alcohol is at most 12" in page.text
        assert "otherwise predict barolo" in page.text
        assert "barolo 92 %, grignolino 7 %, barbera 2 %" in page.text
        assert "60 records" in page.text


def test_a_tree_of_one_leaf_is_a_step():
    assert isinstance(summarize(SavedModel(Tree("yes"))).root, Step)
    assert summarize(model("wine")).root is None
