"""Two lists that say one thing twice: not compared, compared by something else, or compared to the letter."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint, messages

_NOTE = {
    "type": "object",
    "required": ["id", "kind", "text"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "kind": {"enum": ["fact", "vow"]},
        "text": {"type": "string"},
        "about": {"type": "string", "default": ""},
    },
}
_FOUND = {**_NOTE, "description": "The same, otherwise explained."}
_HIT = {
    "type": "object",
    "required": ["id", "kind", "text", "score"],
    "properties": {
        "id": {"type": "string"},
        "kind": {"$ref": "#/$defs/note/properties/kind"},
        "text": {"type": "string"},
        "score": {"type": "number"},
    },
}
_ROW = {"type": "object", "required": ["id", "text"], "properties": {"id": {"type": "string"}, "text": {"type": "string"}}}


def _list(items):
    return {"type": "array", "items": items}


SCHEMA = {
    "type": "object",
    "required": ["notes", "found", "copies", "hits", "rows", "seeds", "beats"],
    "properties": {
        "notes": _list({"$ref": "#/$defs/note"}),
        "found": _list({"$ref": "#/$defs/note"}),
        "copies": _list(_FOUND),
        "hits": _list(_HIT),
        "rows": _list(_ROW),
        "seeds": _list({"type": "string"}),
        "beats": _list({"type": "string"}),
    },
    "$defs": {"note": _NOTE},
}
_LIST = "{{id: {id}, items: {{limit: 3, from: state.{source}, {items} text: '{form}'}}}}"


def _two(folder, source, items="", *, first="", own="notes", forms=("{{ item.text }}", "- {{ item.text }}")):
    """A section of `own`, and one of another list with the keys of `items`."""
    rows = [
        _LIST.format(id="one", source=own, items=first, form=forms[0]),
        _LIST.format(id="two", source=source, items=items, form=forms[1]),
    ]
    return lint(folder, f"sections: [{', '.join(rows)}]", schema=SCHEMA)


@pytest.mark.parametrize("source", ["found", "copies", "hits"])
def test_lists_of_one_kind_of_thing_are_told(tmp_path, source):
    found = _two(tmp_path, source)
    what = f"`one` lists `state.notes` and `two` lists `state.{source}`, whose elements have the same schema, and both print `item.text`"
    assert messages(found, "PC0675") == [f"{what}: the same text may appear twice"]
    assert excerpts(found, "PC0675")[0].startswith(f"state.{source}")
    assert [one.level for one in found] == ["note"]


@pytest.mark.parametrize(
    ("source", "more"),
    [
        ("rows", {}),  # another kind of thing that has a text as well
        ("hits", {"items": "dedupe: {by: item.text, against: [one]},"}),
        ("found", {"first": "where: item.kind == 'vow',", "items": "where: item.kind == 'fact',"}),
        ("found", {"forms": ("{{ item.text }}", "{{ item.about }}")}),
        ("found", {"forms": ("{{ item.kind }}", "{{ item.kind }}")}),  # a listed word may stand twice
        ("beats", {"own": "seeds", "forms": ("{{ item }}", "- {{ item }}")}),  # all texts are of one shape
    ],
)
def test_others_are_not(tmp_path, source, more):
    assert codes(_two(tmp_path, source, **more)) == []


def test_one_list_twice_is_another_finding(tmp_path):
    assert codes(_two(tmp_path, "notes", first="where: item.kind == 'vow',")) == ["PC0670"]


@pytest.mark.parametrize(("source", "level"), [("hits", "warn"), ("rows", "warn"), ("notes", "note")])
def test_a_comparison_of_what_neither_prints(tmp_path, source, level):
    found = _two(tmp_path, source, "dedupe: {by: item.id, against: [one]},", first="where: item.kind == 'vow',")
    assert messages(found, "PC0676") == [
        "`dedupe` of `two` compares `item.id` with `one`, but both sections print `item.text`: "
        "the same text under another `item.id` is printed twice"
    ]
    assert [one.level for one in found] == [level]


@pytest.mark.parametrize("source", ["hits", "rows", "notes"])
def test_a_comparison_to_the_letter(tmp_path, source):
    found = _two(tmp_path, source, "dedupe: {by: item.text, exact: true, against: [one]},", first="where: item.kind == 'vow',")
    assert codes(found) == ["PC0676"]
    assert "exactly" in found[0].message and found[0].level == "note"


@pytest.mark.parametrize(
    ("dedupe", "forms"),
    [
        ("by: item.text", None),
        ("by: item.text | lower", None),
        ("by: item.kind ~ item.text", None),
        ("by: item.text | normalize, exact: true", None),
        ("by: item.id", ("{{ item.id }} {{ item.text }}", "{{ item.id }} {{ item.text }}!")),  # what is printed differs
        ("by: item.id, exact: true", ("{{ item.text }}", "{{ item.about }}")),  # nothing is said twice
        ("by: item.id", ("{{ item.kind }}", "{{ item.kind }}!")),
    ],
)
def test_comparisons_that_find_it(tmp_path, dedupe, forms):
    more = {"forms": forms} if forms else {}
    found = _two(tmp_path, "copies", f"dedupe: {{{dedupe}, against: [one]}},", **more)
    assert not {"PC0675", "PC0676"} & {*codes(found)}
