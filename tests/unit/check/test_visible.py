"""What `check` says of a `visible`: marks that lists have, lose or lack, and texts that read past it."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

ENTRY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string"}, "internal": {"type": "boolean", "default": False}},
}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "log": {"type": "array", "items": ENTRY, "default": [], "maxItems": 9},
        "words": {"type": "array", "items": {"type": "string"}, "default": [], "maxItems": 9},
        "turn": {"type": "integer", "default": 1},
    },
}
LENIENT = "item.internal is undefined or not item.internal"
LOG = "{id: log, items: {from: state.log, text: '{{ item.text }}'}}"


def _look(folder, visible, *sections, more=""):
    return lint(folder, f"{more}\nvisible: {visible}\nsections: [{', '.join(sections)}]", schema=SCHEMA)


def test_marked_lists_shown_as_items_are_right(tmp_path):
    told = "{id: told, text: 'turn {{ state.turn }}, {{ selected.log }} entries'}"
    assert codes(_look(tmp_path, "not item.internal", LOG, told)) == []


@pytest.mark.parametrize("source", ["state.words", "[state.turn ~ '']"])
def test_a_list_without_the_mark_is_an_error_where_it_is_read_and_a_note_where_it_is_asked_for(tmp_path, source):
    words = f'{{id: words, items: {{from: "{source}", text: "{{{{ item }}}}"}}}}'
    assert codes(_look(tmp_path, "not item.internal", LOG, words)) == ["PC0635"]
    found = _look(tmp_path, LENIENT, LOG, words)
    assert [(one.code, one.level) for one in found] == [("PC0664", "note")]


@pytest.mark.parametrize("source", ["state.log | map(attribute='text')", "texts"])
def test_a_list_that_loses_the_mark(tmp_path, source):
    words = f'{{id: words, items: {{from: "{source}", text: "{{{{ item }}}}"}}}}'
    let = "let: {texts: \"state.log | map(attribute='text') | list\"}"
    found = [one for one in _look(tmp_path, LENIENT, LOG, words, more=let) if one.code == "PC0664"]
    assert [one.level for one in found] == ["warn"]
    assert found[0].message.startswith("`visible` can hide no item of `words`: `state.log` has the mark")


def test_that_all_may_be_seen_can_be_said(tmp_path):
    told = "{id: told, text: \"{{ state.log | map(attribute='text') | join }}\"}"
    assert codes(_look(tmp_path, "true", LOG, told)) == codes(_look(tmp_path, "'true'", LOG, told)) == []


@pytest.mark.parametrize("visible", ["false", "state.turn > 3"])
def test_a_visible_that_asks_nothing_of_items(tmp_path, visible):
    assert messages(_look(tmp_path, visible, LOG), "PC0664") == ["`visible` does not read `item`: it shows all items, or none"]


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ("{id: a, text: \"{{ state.log | map(attribute='text') | join }}\"}", "state.log | map"),
        ("{id: a, text: '{% for one in state.log %}{{ one.text }}{% endfor %}'}", "state.log %}"),
        ("{id: a, text: '{{ newest }}'}", "newest }}"),
        ("{id: a, header: '{{ state.log | length }} in all', text: hello}", "state.log | length"),
        ("{id: a, items: {from: state.words, text: '{{ item }} of {{ state.log | length }}'}}", "state.log | length"),
        ("{id: a, items: {from: '[1]', id: \"'x' ~ (state.log | length)\", text: hello}}", "state.log | length"),
        ("{id: a, text: '{{ state | json }}'}", "state | json"),
    ],
)
def test_texts_that_read_past_it(tmp_path, section, place):
    let = "let: {newest: \"state.log[-1].text if state.log else ''\"}"
    found = _look(tmp_path, LENIENT, LOG, section, more=let)
    assert [one[: len(place)] for one in excerpts(found, "PC0665")] == [place]


@pytest.mark.parametrize(
    "section",
    [
        "{id: a, when: state.log | length > 3, text: hello}",
        "{id: a, text: '{{ state.words | join }}'}",
        "{id: a, items: {from: state.log, where: state.log | length > 3, text: '{{ item.text }}'}}",
    ],
)
def test_conditions_and_other_lists_may_be_read(tmp_path, section):
    assert "PC0665" not in codes(_look(tmp_path, "not item.internal", LOG, section))


def test_a_fault_of_it_is_told_of_every_list(tmp_path):
    found = _look(tmp_path, "not item.secret", LOG, LOG.replace("log,", "more,", 1))
    told = [message.split(", reads")[0] for message in messages(found, "PC0635")]
    assert told == ["`visible`, asked of the items of `log`", "`visible`, asked of the items of `more`"]


# contract 3.18
@pytest.mark.parametrize("name", ["strain", "section", "this"])
def test_it_sees_no_name_of_a_section(tmp_path, name):
    assert "PC0631" in codes(_look(tmp_path, f'"not item.internal or {name}.id == 1"', LOG))


@pytest.mark.parametrize(
    ("each", "is_told"), [("state.log", True), ("state.log | rejectattr('internal')", False), ("open", False), ("state.words", False)]
)
def test_segments_asked_for_each_hidden_element(tmp_path, each, is_told):
    rows = f'{{id: rows, items: {{from: {{segments: {{scope: x, each: "{each}", ref: "\'a\'"}}}}, text: "{{{{ item.content }}}}"}}}}'
    more = "stores: {main: {url: 'sqlite:a.db'}}\nlet: {open: \"state.log | rejectattr('internal') | list\"}"
    found = _look(tmp_path, LENIENT, rows, more=more)
    assert [one[:9] for one in excerpts(found, "PC0665")] == ["state.log"] * is_told


@pytest.mark.parametrize(
    ("visible", "way"),
    [
        ("not item.internal", "leave out what is hidden: `state.log | rejectattr('internal')`"),
        ("not item.secret", "leave out what is hidden: `state.log | rejectattr('secret')`"),
        ("item.shown", "leave out what is hidden: `state.log | selectattr('shown')`"),
        ("not item.meta.hidden", "leave out what is hidden: `state.log | rejectattr('meta.hidden')`"),
        ("item.shown or not item.secret", "leave out what is hidden, by `secret`, `shown`: `state.log | rejectattr('secret')`"),
    ],
)
def test_what_is_to_be_left_out_is_told_by_the_packs_own_mark(tmp_path, visible, way):
    each = "{segments: {scope: x, each: state.log, ref: \"'a'\"}}"
    rows = f'{{id: rows, items: {{from: {each}, text: "{{{{ item.content }}}}"}}}}'
    more = "stores: {main: {url: 'sqlite:a.db'}}"
    found = lint(tmp_path, f"{more}\nvisible: {visible}\nsections: [{rows}]", schema={"properties": {"log": {"items": {}}}})
    assert [one.help for one in found if one.code == "PC0665"] == [way]
