"""Paths against the state's schema."""

import pytest

from promptc.check.state_shape import StateShape
from tests.unit.check.lint import codes, excerpts, lint

_PLAYER = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "additionalProperties": False,
}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "player": {"$ref": "#/$defs/player"},
        "rival": {"anyOf": [{"$ref": "#/$defs/player"}, {"type": "null"}]},
        "open": {"type": "object", "properties": {"mood": {"type": "string"}}},
        "free": {"type": "object"},
        "any": True,
        "log": {"type": "array", "maxItems": 9, "items": {"$ref": "#/$defs/block"}},
        "names": {"type": "object", "additionalProperties": {"$ref": "#/$defs/player"}},
        "loose": {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        "both": {"allOf": [{"$ref": "#/$defs/player"}, {"properties": {"age": {}}}]},
        "kind": {"if": {}, "then": {"properties": {"deep": {}}}, "properties": {"deeper": {}}},
    },
    "$defs": {
        "player": _PLAYER,
        "block": {"type": "object", "properties": {"text": {}, "type": {"enum": ["A", "B"]}}, "additionalProperties": False},
    },
}


def _reads(path: str) -> str:
    return f'sections: [{{id: lore, text: "{{{{ {path} }}}}"}}]'


@pytest.mark.parametrize(
    ("path", "says", "help"),
    [
        ("state.plyer.name", "`state.plyer`, which the schema does not allow", "did you mean `player`?"),
        ("state.player.nmae", "`state.player.nmae`", "did you mean `name`?"),
        ("state['player']['nmae']", "`state.player.nmae`", "did you mean `name`?"),
        ("state.rival.nmae", "`state.rival.nmae`", "did you mean `name`?"),
        ("state.names.anna.nmae", "`state.names.anna.nmae`", "did you mean `name`?"),
        ("state.both.nmae", "`state.both.nmae`", "did you mean `name`?"),
        ("state.player.name.first", "by the schema `state.player.name` is text", "correct the path"),
        ("state.player.tags.first", "by the schema `state.player.tags` is a list", "correct the path"),
    ],
)
def test_a_path_that_no_state_has(tmp_path, path, says, help):
    found = lint(tmp_path, _reads(path), schema=_SCHEMA)
    assert [(one.code, one.level) for one in found] == [("PC0635", "error")]
    assert says in found[0].message and help in found[0].help


@pytest.mark.parametrize(
    "path",
    [
        "state.player.name.upper()", "state.player.tags[0]", "state.rival.name", "state.free.x.y", "state.any.x", "state.names.anna.name",
        "state.loose.y", "state.both.name", "state.open.colour", "state[state.any]", "state.kind.deep.x",
        "state.log | map(attribute='x') | list",
    ],
)  # fmt: skip
def test_paths_that_may_be_there(tmp_path, path):
    assert codes(lint(tmp_path, _reads(path), schema=_SCHEMA)) == []


def test_an_undeclared_path_that_looks_like_a_slip(tmp_path):
    found = lint(tmp_path, _reads("state.open.modo"), schema=_SCHEMA)
    assert [(one.code, one.level, one.help) for one in found] == [("PC0636", "warn", "did you mean `mood`?")]
    assert codes(lint(tmp_path, _reads("state.open.modo | default('x')"), schema=_SCHEMA)) == []


def test_the_line_of_a_template_file(tmp_path):
    found = lint(
        tmp_path, "sections: [{id: lore, template: lore.md.j2}]", schema=_SCHEMA, files={"lore.md.j2": "one\n{{ state.player.nmae }}\n"}
    )
    assert [(one.span.line, one.span.excerpt) for one in found] == [(2, "{{ state.player.nmae }}")]


def test_items_of_a_declared_list(tmp_path):
    body = 'sections: [{id: log, items: {from: state.log, where: item.txt, text: "{{ item.text }} {{ item.type }}"}}]'
    found = lint(tmp_path, body, schema=_SCHEMA)
    assert [(one.code, one.help) for one in found] == [("PC0635", "did you mean `text`?")]
    assert excerpts(found, "PC0635")[0].startswith("item.txt")
    assert codes(lint(tmp_path, body.replace("state.log", "state.log + state.any"), schema=_SCHEMA)) == []


def test_limit_keys(tmp_path):
    body = 'sections: [{id: log, items: {from: state.log, text: "{{ item.text }}", limit_per: {by: item.type, caps: {%s}}}}]'
    found = lint(tmp_path, body % "A: 1, C: 2", schema=_SCHEMA)
    assert codes(found) == ["PC0637", "PC0638"]
    assert "caps `C`" in found[0].message and "no cap for `B`" in found[1].message
    assert codes(lint(tmp_path, body % "A: 1, B: 2", schema=_SCHEMA)) == []
    assert codes(lint(tmp_path, (body % "C: 1").replace("item.type", "item.text"), schema=_SCHEMA)) == []


def test_references_that_lead_nowhere_or_in_circles():
    shape = StateShape(
        {
            "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "other.json"}, "c": {"$ref": "#/$defs/none"}},
            "$defs": {"a": {"$ref": "#/$defs/a"}},
        }
    )
    for name in "abc":
        assert shape.find_missing((name, "x")) is None
        assert shape.find_undeclared((name, "x")) is None


def test_a_pack_without_a_schema(tmp_path):
    assert codes(lint(tmp_path, _reads("state.plyer.name"))) == []
