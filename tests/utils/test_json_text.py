"""One reader of JSON, which refuses what two programs could read in two ways."""

import pytest

from discreet import PrivacyStatement, RuleList, SavedModel
from discreet._utils.errors import ModelError, RuleError
from discreet._utils.parameters import read_json
from discreet.evaluation.evaluation_file import SavedEvaluation


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "\\u0061": 1}}]', "NaN", "[-Infinity]", "1e999", "[" * 100_000, "{", b"\xff"],
)
def test_what_can_be_read_in_two_ways_is_refused(text):
    with pytest.raises(ValueError, match=r"JSON|decode|Expecting"):
        read_json(text)


def test_what_is_plain_json_is_read():
    assert read_json(b'\xef\xbb\xbf{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


def test_no_reader_takes_a_name_twice():
    twice = '{"format": "x", "format": "discreet model"}'
    readers = {SavedModel: ModelError, PrivacyStatement: ValueError, RuleList: RuleError}
    for reader, error in readers.items():
        with pytest.raises(error):
            reader.from_json(twice)
    with pytest.raises(ModelError):
        SavedEvaluation.from_bytes(twice.encode(), b"")
    rules = RuleList.parse("if age <= 30 then yes else no")
    with pytest.raises(RuleError, match="not valid JSON"):
        RuleList.from_json(rules.to_json().replace('"version"', '"version": 1, "version"', 1))
