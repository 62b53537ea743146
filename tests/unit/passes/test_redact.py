"""What each kind finds, what stands for it, and what is left as it is."""

import json
import random

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.model.section import Redaction
from promptc.model.sources import Segment
from promptc.passes.redact import KINDS, Redactions, restore, restore_answer
from tests.pictures import PDF, encode, make_png
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small

KEY = "sk-" + "ant-api03-" + "Ab1-" * 6
PEM = "-----BEGIN RSA PRIVATE KEY-----\nab+/=\n-----END RSA PRIVATE KEY-----"
FOUND = [
    ("email", "mail ada@example.com, or 'bob.o-x+y@mail.example.co.uk'.", ["ada@example.com", "bob.o-x+y@mail.example.co.uk"]),
    ("email", "über@müller.de and ada@example.com.", ["über@müller.de", "ada@example.com"]),
    ("email", "x@y, a@1.2.3.4, a.@b.cc, @ada and ada@", []),
    ("email", "a mark is no name: +@example.com, %'-@example.com", []),
    ("phone", "+49 30 1234567 or (030) 123-4567", ["+49 30 1234567", "(030) 123-4567"]),
    ("phone", "555-867-5309, +1 (555) 867-5309, +49(0)30/1234567", ["555-867-5309", "+1 (555) 867-5309", "+49(0)30/1234567"]),
    ("phone", "Ada,+4915112345678,tel:00491711234567", ["+4915112345678", "00491711234567"]),
    ("phone", "5 030 1234567", ["030 1234567"]),
    ("phone", "2026-11-24, 01.02.2026 12 000, 192.168.100.200, 2 000 000 000, 0171 2345678x, 3.14159265358979", []),
    ("card", "2 4111 1111 1111 1111, 4111-1111-1111-1111", ["4111 1111 1111 1111", "4111-1111-1111-1111"]),
    ("card", "378282246310005", ["378282246310005"]),
    ("card", "4111111111111112, 1234 5678 9012 3456, 123456789012", []),
    ("key", f"use {KEY}, AKIAIOSFODNN7EXAMPLE.", [KEY, "AKIAIOSFODNN7EXAMPLE"]),
    ("key", f"{PEM}\nx", [PEM]),
    ("key", "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4", ["eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4"]),
    ("key", "task-lists, sk-short, AKIA and risk-abcdefghijklmnopqrstuvwxyz", []),
]  # fmt: skip
EMAIL = (Redaction("EMAIL", kind="email"),)


@pytest.mark.parametrize(("kind", "text", "found"), FOUND)
def test_what_a_kind_finds(kind, text, found):
    assert [text[start:end] for start, end in KINDS[kind](text)] == found


def _redact(value, rules=EMAIL):
    return Redactions((rules,), value, lambda steps: None).redact_value(value, rules)


# contract 10.21
def test_numbers_are_those_of_the_state():
    redactions = Redactions((EMAIL,), {"a": "x@y.de", "b": ["z@y.de", "x@y.de"]}, lambda steps: None)
    assert redactions.redact("z@y.de, new@y.de, x@y.de", EMAIL) == "[EMAIL_2], [EMAIL_3], [EMAIL_1]"


# contract 10.21
@pytest.mark.parametrize("after", ["", "walk on"])
def test_a_rule_of_another_section_does_not_hide_what_is_numbered(after, tmp_path):
    """A number depends only on what comes before it in the state: neither on `after`, nor on the order of keys in the manifest."""
    head = "promptc: 1\nname: n\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\nsections:\n"
    words = '  - {id: words, text: "{{ state.texts | join }}", redact: [{pattern: "w[a-z]+", as: word}]}\n'
    pairs = '  - {id: pairs, text: "{{ state.texts | join }}", redact: [{pattern: "wolf gate", as: pair}]}\n'
    for place, sections in enumerate((words + pairs, pairs + words)):
        (tmp_path / f"{place}.yaml").write_text(head + sections, encoding="utf-8")
        prompt = promptc.load(tmp_path / f"{place}.yaml").render({"texts": ["wolf gate, wolf, ", after]})
        assert "[WORD_1] gate, [WORD_1]" in prompt.text and "[PAIR_1], wolf" in prompt.text


def test_a_pattern_with_many_states_is_paid_for_and_has_no_other_limit():
    text = "".join(random.Random(1).choices("ab", k=20_000))
    rules, paid = (Redaction("X", pattern="(a|b)*a(a|b){60}c"),), list[int]()
    assert Redactions((rules,), text, paid.append).redact_value(text, rules) == text
    assert sum(paid) > 1_000_000


# contract 10.20
def test_matches_that_overlap():
    rules = (Redaction("SHORT", pattern="ab"), Redaction("LONG", pattern="abc"), Redaction("LATE", pattern="bcd"))
    assert _redact("abcd ab bcd", rules) == "[LONG_1]d [SHORT_1] [LATE_1]"


# contract 10.22
def test_nobody_can_write_a_placeholder():
    state = ["ada@x.org", "print [EMAIL_1] and [OTHER_1]"]
    redactions = Redactions((EMAIL,), state, lambda steps: None)
    assert redactions.redact_value(state, EMAIL) == ["[EMAIL_1]", "print [QUOTED_1] and [OTHER_1]"]
    assert restore("[QUOTED_1] is [EMAIL_1], not [EMAIL_9]", redactions.originals, is_json=False) == "[EMAIL_1] is ada@x.org, not [EMAIL_9]"


def test_an_answer_does_not_grow_without_end():
    """A state may hold a key of a megabyte, and a model may repeat its placeholder."""
    key = "x" * 1_000_000
    assert restore("[KEY_1]" * 7, {"[KEY_1]": key}, is_json=False) == key * 7
    with pytest.raises(PromptcError, match="PC0814"):
        restore("[KEY_1]" * 1_000_000, {"[KEY_1]": key}, is_json=True)
    long = "[NONE_1]" * 2_000_000
    assert restore(long, {"[KEY_1]": key}, is_json=False) == long


TICKET = (Redaction("TICKET", pattern="[A-Z][0-9]{2}"),)


def _seal(raw: bytes) -> str:
    """Base64 that contains what looks like a ticket."""
    return encode(raw + b"\0" * (-len(raw) % 3)) + "/A11"


PICTURE, SHEET, SOUND = map(_seal, (make_png(8, 8), PDF, b"ID3"))


# contract 10.23
@pytest.mark.parametrize(
    "part",
    [
        {"type": "base64", "media_type": "image/png", "data": PICTURE},
        {"type": "image", "source": {"data": PICTURE}},
        {"type": "image", "data": PICTURE, "mimeType": "image/png"},
        {"type": "image", "source": {"mimeType": "image/heic", "data": _seal(b"heic")}},
        {"mimeType": "image/png", "data": PICTURE},
        {"type": "input_audio", "input_audio": {"data": SOUND, "format": "mp3"}, "seconds": 1},
        {"type": "file", "file": {"file_data": SHEET}},
        {"type": "input_file", "file_data": SHEET, "filename": "a.pdf"},
        {"type": "file", "file": {"file_data": "DATA:application/pdf;base64," + SHEET}},
        {"url": "data:image/png;base64," + PICTURE},
        {"type": "redacted_thinking", "data": "A11"},
        {"type": "thinking", "thinking": "A11", "signature": "B22"},
    ],
)
def test_bytes_and_what_is_signed_are_left(part):
    assert "[TICKET_1]" in _redact(json.dumps(part), TICKET)
    assert _redact([part], TICKET) == [part]
    assert _redact({"type": "thinking", "thinking": "A11"}, TICKET) == {"type": "thinking", "thinking": "[TICKET_1]"}


# contract 10.23
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("data:ada@example.org,card:1", "data:[EMAIL_1],card:1"),
        ("data:text/plain;base64,ada@example.org", "data:text/plain;base64,[EMAIL_1]"),
        ("data:text/plain,ada@example.org", "data:text/plain,[EMAIL_1]"),
        ({"media_type": "text/csv", "data": "Ada,ada@example.org"}, {"media_type": "text/csv", "data": "Ada,[EMAIL_1]"}),
        ({"media_type": "image/png", "data": "ada@x.org"}, {"media_type": "image/png", "data": "[EMAIL_1]"}),
        ({"type": "base64", "data": "ada@x.org"}, {"type": "base64", "data": "[EMAIL_1]"}),
        ({"type": "image", "source": {"data": "ada@x.org"}}, {"type": "image", "source": {"data": "[EMAIL_1]"}}),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "ada@x.org"}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "[EMAIL_1]"}},
        ),
    ],
)
def test_what_is_no_base64_of_media_is_redacted(value, shown):
    assert _redact([value]) == [shown]


# contract 10.23
def test_a_number_of_a_card_is_no_base64_of_media():
    """Each digit is a character of base64, so only what a table or a text says of itself tells them apart."""
    card, number = (Redaction("CARD", kind="card"),), "4111111111111111"
    for value in (
        {"media_type": "text/csv", "data": number},
        {"media_type": "image/png", "data": number},
        {"data": number, "format": "csv"},
        {"type": "file", "file": {"file_data": number}},
        {"type": "file", "data": number},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": number}},
    ):
        assert number not in json.dumps(_redact([value], card))


# contract 10.19
def test_sources_are_asked_by_the_state_and_give_nothing(tmp_path):
    rows = [Segment("s0", "npc", "ada@x.org", "Ada writes from ada@x.org to eve@x.org", {})]
    body = (
        "stores: {main: {url: 'sqlite:a.db'}}\nredact: [email]\nsections:\n"
        "  - {id: npc, items: {from: {segments: {scope: npc, ref: state.who}}, text: '{{ item.ref_id }}: {{ item.content }}'}}\n"
    )
    outcome = compile_small(load_small(tmp_path, body), {"who": ["ada@x.org"]}, SmallSources(rows))
    assert outcome.emitted.text == "[EMAIL_1]: Ada writes from [EMAIL_1] to [EMAIL_2]\n"
    assert outcome.redactions == {"[EMAIL_1]": "ada@x.org", "[EMAIL_2]": "eve@x.org"}
    assert "x.org" not in json.dumps(outcome.report)


# contract 10.19
def test_a_section_adds_to_the_pack_and_choices_see_the_state(tmp_path):
    body = (
        "redact: [email]\nlet: {is_ours: \"state.who | lower is in ['ada@x.org']\"}\nsections:\n"
        "  - {id: one, when: is_ours, text: '{{ state.who }} {{ state.phone }}'}\n"
        "  - {id: two, redact: [phone], text: '{{ state.who }} {{ state.phone }}'}\n"
    )
    outcome = compile_small(load_small(tmp_path, body), {"who": "ada@x.org", "phone": "+49 30 1234567"}, SmallSources())
    assert outcome.emitted.text == "[EMAIL_1] +49 30 1234567\n\n[EMAIL_1] [PHONE_1]\n"


# contract 10.25
@pytest.mark.parametrize(
    "change",
    [
        "patches: {bare: {sections: {one: {redact: null}}}}\n",
        "variants: {mood: {select: state.x, cases: {a: {sections: {one: {redact: null}}}}}}\n",
    ],
)
def test_no_variation_shows_what_a_section_hides(tmp_path, change):
    pack = tmp_path / "pack.yaml"
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 99\n"
    pack.write_text(f"{head}{change}sections: [{{id: one, redact: [email], text: '{{{{ state.who }}}}'}}]\n", encoding="utf-8")
    with pytest.raises(PromptcError) as refused:
        promptc.load(pack).render({"who": "a@b.cc", "x": "a"}, patches=["bare"] if "patches" in change else ())
    assert [one.code for one in refused.value.diagnostics] == ["PC0245"]
    base, child = tmp_path / "base", tmp_path / "child"
    for folder, text in {
        base: f"{head}redact: [email]\nsections: [{{id: one, text: Hi}}]\n",
        child: "promptc: 1\nname: child\nversion: 1.0.0\nextends: ../base\nredact: null\n",
    }.items():
        folder.mkdir()
        (folder / "pack.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PromptcError) as refused:
        promptc.load(child)
    assert [one.code for one in refused.value.diagnostics] == ["PC0245"]


# contract 10.24
def test_an_answer_in_json_is_escaped(tmp_path):
    body = (
        'redact: [{pattern: "<[^>]+>", as: tag}]\nresponse: answer.json\noutput: {format: messages}\n'
        'sections: [{id: one, text: "{{ state.x }}"}]\n'
    )
    (tmp_path / "answer.json").write_text('{"type": "object", "properties": {"said": {"type": "string"}}}', encoding="utf-8")
    load_small(tmp_path, body)
    prompt = promptc.load(tmp_path).render({"x": 'say <"a"\n>'})
    assert prompt.redactions == {"[TAG_1]": '<"a"\n>'}
    assert json.loads(prompt.restore('{"said": "[TAG_1]!"}')) == {"said": '<"a"\n>!'}


def test_a_short_answer_does_not_grow_without_end():
    answer, originals = "[EMAIL_1] " * 100, {"[EMAIL_1]": "a" * 1_000_000}
    restored = restore_answer(answer, originals, is_json=False)
    assert 8_000_000 < len(restored) < 10_000_000 and restored.endswith("[EMAIL_1] ")
    with pytest.raises(PromptcError, match="PC0814"):
        restore(answer, originals, is_json=False)
