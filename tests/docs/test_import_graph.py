"""The picture of the house in docs/how-it-works.md is the one that the code gives."""

from tools.import_graph import PICTURE, drawn, without_implied


def test_the_committed_picture_is_the_one_that_the_code_gives():
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "packages import otherwise than drawn: make import-graph"


def test_only_what_follows_from_other_imports_is_left_out():
    assert without_implied({("a", "b"), ("b", "c"), ("a", "c")}) == {("a", "b"), ("b", "c")}
    assert without_implied({("a", "b"), ("a", "c")}) == {("a", "b"), ("a", "c")}
