"""Lists that are read whole."""

import pytest

import promptc
from promptc.check.registry import check_pack
from tests.unit.check.lint import codes, excerpts, lint

_SCHEMA = {
    "properties": {"short": {"type": "array", "maxItems": 40}, "log": {"type": "array"}, "who": {"type": "object"}, "any": {}},
    "required": ["short", "log", "who", "any"],
}


def _log(items: str, more: str = "") -> str:
    count = "{id: count, text: '{{ few | length + all | length }}'}"
    return f'let: {{few: state.short, all: state.log}}\nsections: [{{id: log, items: {{text: "{{{{ item }}}}", {items}}}{more}}}, {count}]'


# contract 5.36
@pytest.mark.parametrize(
    ("items", "more", "why"),
    [
        ("from: state.log, sort: item", "", "`sort` must see all of it"),
        ("from: state.log, dedupe: {by: item}, group: {by: item}", "", "`dedupe`, `group` must see all of it"),
        ("from: state.log", ", overflow: [{trim: {}}]", "its ladder begins with `trim`"),
        ("from: state.log", ", overflow: [{evict: {by: item}}]", "its `evict` must see all of it"),
        ("from: state.log", ", pinned: true", "it is pinned"),
        ("from: state.any, sort: item", "", "`sort` must see all of it"),
        ("from: all, sort: item", "", "`sort` must see all of it"),
        ("from: '[state.who] + state.log', sort: item", "", "`sort` must see all of it"),
        ("from: 'state.log[3:]', sort: item", "", "`sort` must see all of it"),
    ],
)
def test_a_list_that_nothing_bounds(tmp_path, items, more, why):
    found = lint(tmp_path, _log(items, more), schema=_SCHEMA)
    assert [one.code for one in found if one.code != "PC0612"] == ["PC0640"]
    finding = next(one for one in found if one.code == "PC0640")
    assert finding.message.endswith(why)
    assert excerpts(found, "PC0640")[0].startswith(items.removeprefix("from: ").split(",")[0][:6])


@pytest.mark.parametrize(
    "items",
    [
        "from: state.log",
        "from: state.log, window: {last: 9}, sort: item",
        "from: state.log, sort: item, limit: 9",
        "from: state.short, sort: item",
        "from: few, sort: item",
        "from: 'state.log[:12]', sort: item",
        "from: 'state.log[-12:]', sort: item",
        "from: \"['a', 'b']\", sort: item",
        "from: '[state.who] + state.short', sort: item",
    ],
)
def test_lists_that_are_bounded(tmp_path, items):
    assert codes(lint(tmp_path, _log(items), schema=_SCHEMA)) == []


def test_a_section_that_is_off(tmp_path):
    assert codes(lint(tmp_path, _log("from: state.log, sort: item", ", when: false"), schema=_SCHEMA)) == ["PC0643"]


_TOOLS = """
tools: {from: state.log, sort: item.name, keep: [{where: item.core}]}
sections: [{id: log, role: user, text: Go on.}]
output: {format: messages}
"""
_TOOL = {"type": "object", "required": ["name", "core"], "properties": {"name": {"type": "string"}, "core": {"type": "boolean"}}}


def test_tools_are_advised_with_keys_that_they_have(tmp_path):
    lint(tmp_path, _TOOLS, schema={"properties": {"log": {"type": "array", "items": _TOOL}}, "required": ["log"]})
    found = {one.code: one.help for one in check_pack(promptc.load(tmp_path).model)}
    assert found["PC0640"] == "give `tools` a `limit`, or its list a `maxItems` in the schema"
    assert "trim_each" not in found["PC0655"] and found["PC0655"].endswith("; or set a `limit`, or keep fewer tools")
