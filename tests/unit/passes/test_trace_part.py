"""What made each part of an output: also of what steps made, cut and put there."""

from pathlib import Path

import pytest

import promptc
from promptc.explain.output import LineTracer, PartTracer, join_pieces
from tests.size import SMALL_PARTS, take_part

ROOT = Path(__file__).resolve().parents[3]
KEEP = ROOT / "tests" / "cli" / "keep"
BASE = ROOT / "fixtures" / "sentinel" / "base"
HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 400\n"


def _trace(tmp_path, sections, state, more="", **flags):
    """By owner and section: what each piece is, its text, its code and its keys."""
    (tmp_path / "pack.yaml").write_text(f"{HEAD}{more}\nsections:\n{sections}\n", encoding="utf-8")
    outcome = promptc.load(tmp_path).compile(state, **flags)
    parts = outcome.emitted.parts
    tracer = PartTracer(outcome.fitted, parts)
    found = {}
    for at, part in enumerate(parts):
        pieces = tracer.trace(at)
        assert join_pieces(pieces) == part.text
        assert not any(piece.made is None and piece.what == "template" for piece in pieces)
        found.setdefault((part.owner, part.section), []).append([_tell(piece) for piece in pieces if piece.what != "line end"])
    return found


def _tell(piece):
    made = piece.made
    return (piece.what, piece.text, piece.code) if made is None else (piece.text, made.code, *made.pointers)


def test_let_names_and_variants_have_the_keys_they_were_made_of(tmp_path):
    more = """\
let:
  tone: state.who.tone | upper
  loud: {band: state.level, of: {low: 0, high: 5}}
  both: tone ~ loud
  rows: state.log | reverse
variants: {mood: {select: state.mood, default: calm, cases: {calm: {}, grim: {}}}}"""
    sections = '  - {id: one, text: "{{ tone }}{{ both }}{{ variant.mood }}{{ rows[0].n }}{{ strain is defined }}"}'
    state = {"who": {"tone": "dry"}, "level": 7, "mood": "grim", "log": [{"n": 1}, {"n": 2}]}
    assert _trace(tmp_path, sections, state, more)["item", "one"] == [
        [
            ("DRY", "{{ tone }}", "/who/tone"),
            ("DRYhigh", "{{ both }}", "/who/tone", "/level"),
            ("grim", "{{ variant.mood }}", "/mood"),
            ("2", "{{ rows[0].n }}", "/log/1/n"),
            ("True", "{{ strain is defined }}"),
        ]
    ]
    asked = _trace(tmp_path, sections, state | {"mood": "none"}, more)["item", "one"][0]
    assert ("calm", "{{ variant.mood }}") in asked


def test_groups_item_fences_and_scalars(tmp_path):
    sections = """\
  - id: one
    items:
      from: state.log
      text: "{{ item.t }}"
      group: {by: item.who, header: "{{ group }}:"}
      fence: {open: "<i {{ item.t }}>", close: "</i>"}
  - {id: two, items: {from: state.names, text: "{{ item }}"}, separator: ", "}"""
    state = {"log": [{"who": "a", "t": "x"}, {"who": "b", "t": "y"}], "names": ["p", "q"]}
    found = _trace(tmp_path, sections, state)
    assert found["group", "one"] == [[("a", "{{ group }}", "/log/0/who"), (":", "")], [("b", "{{ group }}", "/log/1/who"), (":", "")]]
    assert found["item", "one"][0] == [
        ("<i ", ""),
        ("x", "{{ item.t }}", "/log/0/t"),
        (">", ""),
        ("x", "{{ item.t }}", "/log/0/t"),
        ("</i>", ""),
    ]
    assert found["item", "two"] == [[("p", "{{ item }}", "/names/0"), ("separator", ", ", "separator")], [("q", "{{ item }}", "/names/1")]]


def test_cuts_are_where_they_were_made(tmp_path):
    sections = """\
  - id: one
    budget: {chars: 30}
    items: {from: state.log, text: "- {{ item.t }}", trim_each: {to: {chars: 24}, at: word, marker: "..."}}
    overflow: [{trim: {at: word, floor: {chars: 5}, marker: " [cut]"}}]
  - {id: two, text: "{{ state.long }}", budget: {chars: 20}, overflow: [{trim: {at: word, from: start}}]}"""
    state = {"log": [{"t": "one two three four five six seven"}], "long": "one two three four five six seven"}
    found = _trace(tmp_path, sections, state)
    assert found["item", "one"] == [[("- ", ""), ("one two three four", "{{ item.t }}", "/log/0/t"), ("cut", " ...", "trim_each")]]
    assert found["item", "two"] == [[("cut", "", "two.overflow[0]"), ("four five six seven", "{{ state.long }}", "/long")]]
    small = _trace(tmp_path, sections.replace("chars: 30", "chars: 20"), state)["item", "one"]
    assert small == [[("- ", ""), ("one two", "{{ item.t }}", "/log/0/t"), ("cut", " [cut]", "one.overflow[0]")]]


def test_what_steps_made_is_made_by_their_templates(tmp_path):
    (tmp_path / "recap.md.j2").write_text("{% for one in items %}{{ one.t | first }}{% endfor %}; {{ text | length }}\n", encoding="utf-8")
    sections = """\
  - id: one
    budget: 12
    items: {from: state.log, text: "{{ item.t * 20 }}"}
    overflow: [{recap: {older: 0.7, template: recap.md.j2}}]
  - id: two
    budget: 14
    items: {from: state.log, forms: [{text: "{{ item.t * 20 }}"}, {text: "{{ item.t }}"}]}
    overflow: [{shorten: {}}]
  - id: three
    budget: 14
    items: {from: state.log, text: "{{ item.t * 20 }}"}
    overflow: [{evict: {marker: "{{ removed }} gone, {{ state.why }}"}}]"""
    state = {"log": [{"t": "x"}, {"t": "y"}, {"t": "z"}], "why": "old"}
    found = _trace(tmp_path, sections, state)
    recap, last = found["item", "one"]
    assert recap == [
        ("x", "{{ one.t | first }}", "/log/0/t"),
        ("y", "{{ one.t | first }}", "/log/1/t"),
        ("; ", ""),
        ("41", "{{ text | length }}", "/log/0", "/log/1"),
    ]
    assert last == [("z" * 20, "{{ item.t * 20 }}", "/log/2/t")]
    assert found["item", "two"][0] == [("x", "{{ item.t }}", "/log/0/t")]
    assert found["marker", "three"] == [[("1", "{{ removed }}"), (" gone, ", ""), ("old", "{{ state.why }}", "/why")]]


def test_a_marker_is_one_line_however_it_is_written(tmp_path):
    sections = """\
  - id: one
    budget: 10
    items: {from: state.log, text: "{{ item.t * 20 }}"}
    overflow: [{evict: {marker: "{{ removed }}   gone: {{ state.why }}"}}]"""
    found = _trace(tmp_path, sections, {"log": [{"t": "x"}, {"t": "y"}], "why": "too\n old"})
    space = ("separator", " ", "")
    assert found["marker", "one"] == [
        [("1", "{{ removed }}"), space, ("gone:", ""), space, ("too", "{{ state.why }}", "/why"), space, ("old", "{{ state.why }}", "/why")]
    ]


def test_messages_are_traced_to_their_content(tmp_path):
    message = "{role: item.role, content: item.content, parts: [text, tool_use, tool_result]}"
    sections = f"  - {{id: one, items: {{from: state.log, message: {message}}}}}"
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    state = {
        "log": [
            {"role": "user", "content": "hello\nthere"},
            {"role": "assistant", "content": [{"type": "text", "text": "so <|im|>"}, use]},
        ]
    }
    found = _trace(tmp_path, sections, state, "output: {messages: each}", format="messages")
    assert found["item", "one"] == [
        [("hello\nthere", "item.content", "/log/0/content")],
        [
            ("so <", "item.content", "/log/1/content/0/text"),
            ("guard", "\\", ""),
            ("|im|>", "item.content", "/log/1/content/0/text"),
            ('{"id":"t","input":{},"name":"f","type":"tool_use"}', "item.content", "/log/1/content/1"),
        ],
    ]


@pytest.mark.dear
def test_every_line_of_the_packs_is_told_to_its_end():
    """Nothing coarse: each piece has its own place, and every expression's keys are there in the state."""
    for pack, states in ((KEEP, [KEEP / "state.json"]), (ROOT / "packs" / "sentinel", take_part(sorted(BASE.glob("*.json")), SMALL_PARTS))):
        for state in states:
            for format in ("text", "messages"):
                outcome = promptc.load(pack).compile(state.read_bytes(), format=format)
                tracer = LineTracer(outcome.fitted, outcome.emitted.parts)
                for message in range(tracer.count_messages()):
                    for number in range(1, tracer.count_lines(message) + 1):
                        _hold_line(tracer.trace(message, number))


def _hold_line(line):
    pieces = [piece for _, found in line.parts for piece in found]
    assert join_pieces(pieces) == (line.text or "\n")
    assert not [piece for piece in pieces if piece.what == "template" and piece.made is None], line
    for piece in pieces:
        if piece.made is not None and not piece.made.code:
            span = piece.made.span
            assert span.excerpt[span.column - 1 - span.skipped :].startswith(piece.text[: 400 - span.column + span.skipped].split("\n")[0])
