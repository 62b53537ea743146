"""What a report says an item was made of."""

import json

import pytest

import promptc

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 200\n"


def _report(tmp_path, sections, state, more="", **flags):
    (tmp_path / "pack.yaml").write_text(f"{HEAD}{more}\nsections:\n{sections}\n", encoding="utf-8")
    return {one["id"]: one["items"] for one in promptc.load(tmp_path).compile(state, **flags).report["sections"]}


def _pointers(tmp_path, source, state, more=""):
    found = _report(tmp_path, f"  - {{id: one, items: {{from: '{source}', text: '{{{{ item }}}}'}}}}", state, more)
    return [item["pointer"] for item in found["one"]]


# contract 13.10
def test_elements_of_a_list_of_the_state_have_its_pointer_and_their_place(tmp_path):
    assert _pointers(tmp_path, "state.log", {"log": ["a", 1, {"b": 1}, [], None]}) == [f"/log/{place}" for place in range(5)]
    assert _pointers(tmp_path, 'state.a["x/y~z"]', {"a": {"x/y~z": ["one"]}}) == ["/a/x~1y~0z/0"]


@pytest.mark.parametrize("source", ["state.log | reverse", "state.log[1:] + state.log[:1]", "newest"])
def test_mappings_that_an_expression_took_are_known_wherever_it_puts_them(source, tmp_path):
    state = {"log": [{"n": 1}, {"n": 2}]}
    assert _pointers(tmp_path, source, state, "let: {newest: 'state.log | sort(attribute=\"n\", reverse=true)'}") == ["/log/1", "/log/0"]


# contract 13.10
def test_text_that_an_expression_took_is_not_guessed(tmp_path):
    assert _pointers(tmp_path, "state.log | reverse", {"log": ["a long text", "a long text"]}) == [None, None]
    assert _pointers(tmp_path, 'state.log + [{"n": 1}]', {"log": [{"n": 1}]}) == ["/log/0", None]


def test_a_default_that_stands_at_several_places_has_no_pointer(tmp_path):
    inner = {"properties": {"who": {"type": "object", "default": {"name": "nobody"}}}}
    (tmp_path / "state.schema.json").write_text(json.dumps({"properties": {"log": {"type": "array", "items": inner}}}), encoding="utf-8")
    more = "state: {schema: state.schema.json}"
    state = {"log": [{}, {}, {"who": {"name": "x"}}]}
    assert _pointers(tmp_path, 'state.log | map(attribute="who")', state, more) == [None, None, "/log/2/who"]


def test_a_tools_result_stands_where_it_stands(tmp_path):
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]}
    message = "{role: item.role, content: item.content, parts: [tool_use, tool_result]}"
    found = _report(
        tmp_path,
        f"  - {{id: one, items: {{from: state.log, message: {message}}}}}",
        {"log": [use, result]},
        "output: {messages: each}",
        format="messages",
    )
    assert [(item["pointer"], item["range"][0]) for item in found["one"]] == [("/log/0", 0), ("/log/1", 1)]
    assert {item["at"] for item in found["one"]} == {"pack.yaml:8:76"}


# contract 13.10
def test_the_template_is_that_of_the_text_as_it_stands(tmp_path):
    for name in ("full", "brief"):
        (tmp_path / f"{name}.md.j2").write_text(f"{'a long ' * 60 if name == 'full' else ''}{{{{ item.n }}}}\n", encoding="utf-8")
    sections = """\
  - {id: kept, text: "{{ state.x }}", pinned: true}
  - {id: one, items: {from: state.log, forms: [full.md.j2, brief.md.j2]}, overflow: [{shorten: {}}]}
  - {id: two, items: {from: state.log, template: full.md.j2}, overflow: [{replace: {template: brief.md.j2}}]}"""
    (tmp_path / "brief.md.j2").write_text("brief {{ item.n if item is defined else items | length }}\n", encoding="utf-8")
    found = _report(tmp_path, sections, {"x": "x", "log": [{"n": 1}, {"n": 2}]}, "truncate: [one, two]")
    assert [(item["at"], item["pointer"], item.get("form")) for item in found["one"]] == [
        ("brief.md.j2:1:1", "/log/0", 1),
        ("brief.md.j2:1:1", "/log/1", 1),
    ]
    assert [(item["id"], item["at"], item["pointer"]) for item in found["two"]] == [("replace", "brief.md.j2:1:1", None)]
    assert [(item["at"], item["pointer"]) for item in found["kept"]] == [("pack.yaml:8:22", None)]
