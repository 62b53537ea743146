"""Moods and what they offer: templates, tools, breakpoints."""

import json

import pytest

import promptc
from promptc.check.registry import check_pack
from tests.unit.check.lint import codes, excerpts, lint, messages

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 1000\nstate: {schema: state.schema.json}\n"
SCHEMA = {"type": "object", "required": ["mood"], "properties": {"mood": {"enum": ["calm", "tense", "wild"]}}}
OUTPUT = "output: {format: messages}\n"
TEXT = "{sections: {guide: {text: other}}}"


def axis(cases: str, default: str = "") -> str:
    """A pack of one section and one axis."""
    rest = f", default: {default}" if default else ""
    return f"sections: [{{id: guide, text: hello}}]\nvariants: {{mood: {{select: state.mood{rest}, cases: {cases}}}}}\n{OUTPUT}"


def tool(name: str) -> str:
    """The file of a tool."""
    return json.dumps({"name": name, "description": "It does.", "input_schema": {"type": "object"}})


@pytest.mark.parametrize(
    ("cases", "default", "silent"),
    [
        (f"{{calm: {{}}, tense: {TEXT}, wild: {TEXT}}}", "calm", []),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {TEXT}}}", "", []),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{}}}}", "calm", ["wild"]),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{}}}}", "", ["calm", "wild"]),
        (f"{{calm: {TEXT}, tense: {TEXT}, wild: {{}}}}", "calm", ["wild"]),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{sections: {{guide: {{header: oh}}}}}}}}", "calm", ["wild"]),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{sections: {{guide: null}}}}}}", "calm", []),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{sections: {{guide: {{when: false}}}}}}}}", "calm", []),
        (f"{{calm: {{}}, tense: {TEXT}, wild: {{use: [mad]}}}}", "calm", []),
        ("{calm: {}, tense: {}, wild: {}}", "calm", []),
    ],
)
def test_a_mood_has_a_template_where_the_others_have(tmp_path, cases, default, silent):
    found = lint(tmp_path, axis(cases, default) + f"patches: {{mad: {TEXT}}}\n", schema=SCHEMA)
    assert [message.split("`")[1] for message in messages(found, "PC0645")] == [f"mood={name}" for name in silent]


@pytest.mark.parametrize(("file", "silent"), [("calm.md", ["wild"]), ("wild.md.j2", ["calm"]), ("calmer.md", ["calm", "wild"])])
def test_the_case_that_the_own_template_is_named_after_is_not_accused(tmp_path, file, silent):
    body = axis(f"{{calm: {{}}, tense: {TEXT}, wild: {{}}}}").replace("text: hello", f"template: {file}")
    found = lint(tmp_path, body, schema=SCHEMA, files={file: "hello"})
    assert [message.split("`")[1] for message in messages(found, "PC0645")] == [f"mood={name}" for name in silent]


@pytest.mark.parametrize(
    ("cases", "default", "unknown"),
    [
        ("{calm: {}, tense: {}, wild: {}}", "", []),
        ("{calm: {}, tense: {}}", "", ["wild"]),
        ("{calm: {}, tense: {}}", "calm", []),
        ("{tense: {}}", "", ["calm", "wild"]),
    ],
)
def test_every_value_of_the_schema_selects_a_case(tmp_path, cases, default, unknown):
    found = messages(lint(tmp_path, axis(cases, default), schema=SCHEMA), "PC0646")
    assert [message.split("`")[3] for message in found] == unknown


def test_a_value_that_nothing_lists_may_be_any(tmp_path):
    schema = {"type": "object", "required": ["mood"], "properties": {"mood": {"type": "string"}}}
    assert "PC0646" not in codes(lint(tmp_path, axis("{calm: {}}"), schema=schema))


def test_where_a_mood_does_not_load_nothing_is_said_of_all(tmp_path):
    files = {"a.json": tool("a"), "b.json": tool("b"), "twin.json": tool("a")}
    found = lint(tmp_path, axis("{calm: {tools: [a.json, b.json, twin.json]}, tense: {}, wild: {}}"), schema=SCHEMA, files=files)
    assert codes(found) == ["PC0286"]


def test_a_tool_is_used_by_some_mood(tmp_path):
    files = {"a.json": tool("a"), "b.json": tool("b"), "c.json": tool("c"), "d.json": '{"name": "d"}', "e.json": "[", "f.txt": tool("f")}
    body = "tools: [a.json]\n" + axis("{calm: {tools: [b.json]}, tense: {tools: null}, wild: {tools: []}}")
    found = lint(tmp_path, body, schema=SCHEMA, files=files)
    assert excerpts(found, "PC0647") == ["a.json]", "a.json]"]
    assert [message.split("`")[1] for message in messages(found, "PC0647")] == ["c.json", "a"]
    used = body.replace("tools: []", "tools: [a.json, c.json]")
    assert "PC0647" not in codes(lint(tmp_path, used, schema=SCHEMA, files=files))


def test_a_tool_that_a_patch_offers_is_used(tmp_path):
    body = "patches: {more: {tools: [a.json]}}\n" + axis("{calm: {}, tense: {}, wild: {}}")
    assert "PC0647" not in codes(lint(tmp_path, body, schema=SCHEMA, files={"a.json": tool("a")}))


@pytest.mark.parametrize(("count", "found"), [(4, []), (5, ["PC0648"])])
def test_no_more_breakpoints_than_a_provider_takes(tmp_path, count, found):
    sections = "".join(f"  - {{id: s{place}, text: x, cache: true}}\n" for place in range(count))
    off = "  - {id: off, text: x, cache: true, when: false}\n  - {id: none, text: x, cache: false}\n"
    assert [code for code in codes(lint(tmp_path, f"sections:\n{sections}{off}{OUTPUT}")) if code == "PC0648"] == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("tools: [a.json]\n", ["this pack renders text, which has no place for `tools`"]),
        ("response: b.json\n", ["this pack renders text, which has no place for `response`"]),
        ("tools: [a.json]\nresponse: b.json\n", ["this pack renders text, which has no place for `tools` and `response`"]),
        ("tools: [a.json]\n" + OUTPUT, []),
        ("tools: []\n", []),
        ("tools: [a.json]\nvariants: {mood: {select: \"'a'\", cases: {a: {}, b: {output: {format: messages}}}}}\n", []),
    ],
)
def test_tools_are_for_messages(tmp_path, body, found):
    body = "sections: [{id: guide, text: hello}]\n" + body
    assert messages(lint(tmp_path, body, files={"a.json": tool("a"), "b.json": '{"type": "object"}'}), "PC0649") == found


def test_tools_are_pinned_content(tmp_path):
    body = "sections: [{id: guide, pinned: true, text: hello, budget: 20}]\ntools: [a.json]\n"
    files = {"a.json": tool("a")}
    found = lint(tmp_path, body + OUTPUT, files=files, budget="10")
    assert messages(found, "PC0609") == ["tools alone take 18 tokens, and the total is 10"]
    found = lint(tmp_path, body.replace("tools: [a.json]", "response: b.json") + OUTPUT, files={"b.json": json.dumps(SCHEMA)}, budget="10")
    assert messages(found, "PC0609") == ["response alone takes 23 tokens, and the total is 10"]

    found = lint(tmp_path, body + OUTPUT, files=files, budget="30")
    assert messages(found, "PC0609") == ["tools with pinned sections may take 38 tokens, and the total is 30 (`guide` 20, tools 18)"]
    assert "PC0609" not in codes(lint(tmp_path, body, files=files, budget="30"))


def test_a_proof_says_what_comes_on_top(tmp_path):
    """What a provider adds is not in the sum; a pack that offers nothing needs no such word."""
    body = "sections: [{id: guide, text: hello, pinned: true}]\n" + OUTPUT
    (tmp_path / "pack.yaml").write_text(HEAD + body, encoding="utf-8")
    (tmp_path / "state.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    assert "provider" not in _prove(tmp_path)
    (tmp_path / "look.json").write_text(tool("look"), encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(f"{HEAD}tools: [look.json]\n{body}", encoding="utf-8")
    assert _prove(tmp_path).endswith("), and what a provider adds for tools")


def _prove(folder):
    (found,) = [one for one in check_pack(promptc.load(folder).model) if one.code == "PC0656"]
    return found.message


SECTIONS = """\
sections:
  - {id: rules, role: system, text: Be brief.}
  - {id: facts, %s}
  - {id: input, role: user, text: "{{ state.input }}"}
"""
MERGED, LISTED = "merge", "[{role: system, sections: [rules]}, {role: developer, sections: [facts]}, {role: user, sections: [input]}]"


@pytest.mark.parametrize(
    ("facts", "messages", "more", "is_told"),
    [
        ("role: user, text: The bell.", LISTED, "", True),
        ("text: The bell.", LISTED, "", False),  # it names none
        ("role: developer, text: The bell.", LISTED, "", False),
        ("role: user, text: The bell.", MERGED, "", False),
        ("role: user, text: '{{ section.role }}'", LISTED, "", False),
        ("role: user, text: The bell., fence: {open: '<{{ section.role }}>', close: '</>'}", LISTED, "", False),
        ("role: user, items: {from: state.log, message: {role: item.role, content: item.text}}", LISTED, "", False),
        ("role: user, text: The bell.", MERGED, f"patches: {{listed: {{output: {{messages: {LISTED}}}}}}}", False),
        ("role: user, text: The bell.", LISTED, "patches: {merged: {output: {messages: merge}}}", False),
        ("role: system, text: The bell.", LISTED, "patches: {other: {sections: {facts: {role: developer}}}}", True),
        ("text: The bell.", LISTED, "patches: {other: {sections: {facts: {role: user}}}}", True),
    ],
)
def test_a_role_that_a_list_of_messages_overrules(tmp_path, facts, messages, more, is_told):
    body = f"{SECTIONS % facts}output: {{format: messages, messages: {messages}}}\n{more}\n"
    found = lint(tmp_path, body)
    assert [one.level for one in found if one.code == "PC0680"] == ["warn"] * is_told
