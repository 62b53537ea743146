"""The bounds of what is pinned: what they follow, and that each way out that a finding offers makes it go away."""

import re

import pytest

import promptc
from promptc.check.registry import check_pack
from tests.unit.check.lint import lint

_OPEN = ("PC0655", "PC0656", "PC0657")


def _schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bound(tmp_path, body, schema, budget="1000", tokenizer="cl100k_base"):
    """The code of what is said of the worst case, and the finding."""
    lint(tmp_path, body, schema=schema, budget=budget, tokenizer=tokenizer)
    [found] = [one for one in check_pack(promptc.load(tmp_path).model) if one.code in _OPEN]
    return found.code, found


def _text(text, more="pinned: true"):
    return f'sections:\n  - {{id: input, {more}, text: "{text}"}}\n'


@pytest.mark.parametrize(
    ("declared", "most"),
    [
        ({"format": "date"}, 40),
        ({"pattern": "^[A-Z]{2}-[0-9]{4}$"}, 40),
        ({"pattern": "^(red|green|dark blue)$"}, 40),
        ({"pattern": "^(?:a{3}|b?){10}$"}, 70),
        ({"pattern": "^[é]{10}$"}, 60),
        ({"pattern": "^[a-z]+$", "maxLength": 20}, 60),
        ({"format": "date-time", "maxLength": 35}, 80),
        ({"format": "time", "maxLength": 20, "pattern": "^.{0,15}$"}, 50),
        ({"allOf": [{"pattern": "^[0-9]*$"}, {"maxLength": 9}]}, 40),
    ],
)
def test_texts_that_a_schema_bounds_by_how_they_look(tmp_path, declared, most):
    code, found = _bound(tmp_path, _text("{{ state.it }}"), _schema(it={"type": "string", **declared}))
    assert code == "PC0656"
    assert int(re.search(r"at most (\d+)", found.message)[1]) <= most


@pytest.mark.parametrize(
    "declared",
    [
        {"format": "date-time"},  # a second may have any number of digits
        {"format": "email", "pattern": "@"},
        {"pattern": "^[A-Z]{2}"},
        {"pattern": "[A-Z]{2}$"},
        {"pattern": "^[A-Z]+$"},
        {"pattern": "^[A-Z]{2,}$"},
        {"pattern": "^a$|b"},
        {"pattern": "(^a)?b$"},
    ],
)
def test_texts_of_any_length(tmp_path, declared):
    code, found = _bound(tmp_path, _text("{{ state.it }}"), _schema(it={"type": "string", **declared}))
    assert code == "PC0655" and "the schema sets no limit for `it`" in found.message


def test_a_pattern_whose_characters_are_wide(tmp_path):
    schema = _schema(it={"type": "string", "pattern": "^[^a]{10}$"})
    assert "at most 71 " in _bound(tmp_path, _text("{{ state.it }}"), schema)[1].message  # 40 bytes, and what frames and escapes add


_LOOSE = _schema(it={"type": "string", "maxLength": 4000})


def _cut(found):
    return re.search(r"`(truncate_at\([^`]*\))`", found.help)[1]


def _trim(found):
    budget, overflow = re.search(r"write `(budget: \d+)` and `(overflow: [^`]*)` in place of `pinned: true`", found.help).groups()
    return f"{budget}, {overflow}"


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "chars/4"])
@pytest.mark.parametrize("budget", [200, 1000, 3000])
@pytest.mark.parametrize(
    "text", ["{{ state.it }}", "The player said:\\n{{ state.it | upper }}", "{{ state.it | truncate_at('word', tokens=900) }}"]
)
def test_what_is_offered_where_the_total_may_be_passed(tmp_path, tokenizer, budget, text):
    schema = _schema(it={"type": "string", "maxLength": 4000 if tokenizer == "cl100k_base" else 40000})
    code, found = _bound(tmp_path, _text(text), schema, str(budget), tokenizer)
    assert code == "PC0657"
    assert ("not `tokens=`" in found.help) is ("tokens=" in text)
    cut = re.sub(r" (?:\| truncate_at\([^)]*\) )?\}\}", f" | {_cut(found)} }}}}", text)
    assert _bound(tmp_path, _text(cut), schema, str(budget), tokenizer)[0] == "PC0656"
    assert lint(tmp_path, _text(text, _trim(found)), schema=schema, budget=str(budget), tokenizer=tokenizer) == ()
    assert promptc.load(tmp_path).render({"it": "long " * 790}).tokens <= budget


def test_what_is_offered_where_a_section_may_pass_its_own_cap(tmp_path):
    code, found = _bound(tmp_path, _text("{{ state.it }}", "pinned: true, budget: 300"), _LOOSE)
    assert code == "PC0657" and found.help.startswith("lower its bounds in the schema, or raise its budget")
    assert _bound(tmp_path, _text(f"{{{{ state.it | {_cut(found)} }}}}", "pinned: true, budget: 300"), _LOOSE)[0] == "PC0656"
    assert lint(tmp_path, _text("{{ state.it }}", _trim(found)), schema=_LOOSE, tokenizer="cl100k_base") == ()


def test_where_next_to_nothing_could_be_offered(tmp_path):
    others = "\n".join(f"  - {{id: more{n}, pinned: true, text: '{{{{ state.it }}}}'}}" for n in range(3))
    code, found = _bound(tmp_path, _text("{{ state.it }}") + others, _LOOSE)
    assert code == "PC0657" and found.help.endswith("; or pin less")


def test_what_is_offered_where_nothing_bounds_a_text(tmp_path):
    schema = _schema(it={"type": "string"})
    code, found = _bound(tmp_path, _text("{{ state.it }}"), schema, "4000")
    assert code == "PC0655"
    assert _bound(tmp_path, _text(f"{{{{ state.it | {_cut(found)} }}}}"), schema, "4000")[0] == "PC0656"
    assert lint(tmp_path, _text("{{ state.it }}", _trim(found)), schema=schema, budget="4000") == ()


@pytest.mark.parametrize("held", ["pinned: true", "keep: [{where: 'true', last: 1}]"])
def test_what_is_offered_where_nothing_bounds_items(tmp_path, held):
    outer, inner = (f", {held}", "") if held.startswith("pinned") else ("", f", {held}")
    schema = _schema(list={"type": "array", "items": {"type": "string"}})

    def write(more="", pin=outer):
        return f'sections:\n  - {{id: log{pin}, items: {{from: state.list, text: "{{{{ item }}}}"{inner}{more}}}}}\n'

    code, found = _bound(tmp_path, write(), schema, "4000")
    assert code == "PC0655"
    cut = re.search(r"`(trim_each: [^`]*)`", found.help)[1]
    limit = ", limit: {last: 2}" if outer else ""
    assert _bound(tmp_path, write(f", {cut}{limit}"), schema, "40000")[0] == "PC0656"
    if outer:
        budget = re.search(r"write `(budget: \d+)`", found.help)[1]
        assert lint(tmp_path, write(pin=f", {budget}"), schema=schema, budget="4000") == ()


def test_a_message_of_parts_is_bounded_whole_since_no_trim_touches_it(tmp_path):
    part = {"type": "object", "properties": {"type": {"const": "text"}, "text": {"type": "string", "maxLength": 400}}}
    parts = {"type": "array", "maxItems": 1, "items": {**part, "required": ["type", "text"], "additionalProperties": False}}
    body = """
        output: {format: messages}
        sections:
          - id: log
            items:
              from: state.log
              keep: [{where: "true", last: 1}]
              message: {role: "'user'", content: item}
              trim_each: {to: {chars: 40}}
    """
    text = {"type": "string", "maxLength": 400}
    most = {}
    for name, content in (("text", text), ("parts", parts), ("both", {"anyOf": [text, parts]})):
        found = _bound(tmp_path, body, _schema(log={"type": "array", "items": content, "maxItems": 5}), "90000")[1]
        most[name] = int(re.search(r"at most (\d+)", found.message)[1])
    assert most["text"] < 400 < 1600 < most["parts"] == most["both"]
    state = {"log": [[{"type": "text", "text": "🧿" * 400}]]}
    assert most["text"] < promptc.load(tmp_path).render(state).tokens <= most["parts"]


def test_what_is_offered_where_nothing_bounds_messages(tmp_path):
    schema = _schema(log={"type": "array", "items": {"type": "string"}})
    body = """
        output: {format: messages}
        sections: [{id: log, pinned: true, items: {from: state.log, message: {role: "'user'", content: item}}}]
    """
    help = _bound(tmp_path, body, schema)[1].help
    assert help.endswith("; or write `budget: 200` in place of `pinned: true`, so that the oldest items go")
