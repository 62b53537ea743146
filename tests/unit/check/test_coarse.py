"""Evictions by a value of items of which one alone may be over the cap."""

import pytest

from tests.unit.check.lint import lint


def _schema(most):
    item = {"type": "object", "properties": {"text": {"type": "string", "maxLength": most}, "rank": {"type": "integer"}}}
    return {"type": "object", "properties": {"log": {"type": "array", "maxItems": 9, "items": {**item, "required": ["text", "rank"]}}}}


def _find(folder, body, most=400):
    schema = {**_schema(most), "required": ["log"]}
    return [one for one in lint(folder, body, schema=schema, tokenizer="cl100k_base") if one.code == "PC0545"]


def _list(overflow, *, budget="budget: 80", more=""):
    items = 'items: {from: state.log, text: "{{ item.text }}"' + more + "}"
    return f"sections:\n  - {{id: log, {budget}, {items}, overflow: {overflow}}}\n"


def test_it_is_told_with_the_step_to_write(tmp_path):
    (found,) = _find(tmp_path, _list("[{evict: {by: item.rank}}]"))
    assert found.level == "note" and "a single one may be larger than 80 tokens, with 400 characters" in found.message
    assert "`trim: {by: item.rank, finest: sentence}`" in found.help


def test_what_is_written_then_is_right(tmp_path):
    assert not _find(tmp_path, _list("[{trim: {by: item.rank, finest: sentence}}, {evict: {by: item.rank}}]"))


def test_in_truncate_and_in_pools_the_section_is_named(tmp_path):
    body = _list("[{evict: {}}]", budget="when: true")
    (found,) = _find(tmp_path, body + "pools: {desk: {sections: [log], max: 80, overflow: [{evict: {section: log, by: item.rank}}]}}\n")
    assert "trim: {section: log, by: item.rank, finest: sentence}" in found.help
    (found,) = _find(tmp_path, body + "truncate: [{evict: {section: log, by: item.rank}}]\n", most=4001)
    assert "1000 tokens" in found.message


@pytest.mark.parametrize(
    ("body", "most"),
    [
        (_list("[{evict: {by: item.rank}}]"), 320),  # four characters a token
        (_list("[{evict: {by: item.rank}}]", budget="budget: {chars: 400}"), 400),
        (_list("[{evict: {}}]"), 400),  # the oldest go: no value says what matters
        (_list("[{evict: {by: item.rank}}]", more=", trim_each: {to: {chars: 100}}"), 400),
        (_list("[{evict: {by: item.rank, floor: 1}}, {trim: {at: word}}]"), 400),
    ],
)
def test_nothing_is_told_where_the_room_is_used(body, most, tmp_path):
    assert not _find(tmp_path, body, most)


def test_a_cap_in_characters_is_compared_with_characters(tmp_path):
    (found,) = _find(tmp_path, _list("[{evict: {by: item.rank}}]", budget="budget: {chars: 399}"))
    assert "larger than 399 characters" in found.message
