"""JSON that shares its parts with what was read before is the JSON that it is."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError
from promptc.frontend import json as module
from promptc.frontend.json import InternedJson, load_json

_PARTS = [
    '{"b": 1, "a": [2]}', '{"b": 1, "a": [2]} ', '[1, {"z": 0, "y": 0}]', '"text"', '"te\\"xt"', "1", "12", "1.0", "-0.0",
    "true", "null", "{}", "[]", '""',
    # refused, or looked at twice
    '{"a": 1, "a": 2}', "NaN", "-Infinity", "[1e999]", "1" + "0" * 400, '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', "[" * 99 + "]" * 99,
    "[" * 100 + "]" * 100, '["open', "{", "", "01", '"tab\tin it"',
]  # fmt: skip
_KEYS = ['"a"', '"b"', '"é"', '"\\u0061"', '"c\\n"', '""', "c", '"open']
_SPACES = st.sampled_from(["", " ", "\n  ", "\t", "\r\n", "\u00a0"])
_OBJECTS = st.lists(
    st.tuples(_SPACES, st.sampled_from(_KEYS[:3]) | st.sampled_from(_KEYS), _SPACES, _SPACES, st.sampled_from(_PARTS), _SPACES), max_size=4
).map(lambda entries: "{" + ",".join(f"{a}{key}{b}:{c}{part}{d}" for a, key, b, c, part, d in entries) + "}")
_TEXTS = st.tuples(_SPACES, _OBJECTS | st.sampled_from(_PARTS), _SPACES | st.sampled_from([",", "}", "x"])).map("".join)


def _describe(load, text):
    try:
        found = load(text.encode(), "state.json")
    except PromptcError as error:
        return error.diagnostics
    return json.dumps(found.value), found.canonical, found.source, found.span("/a"), found.key_span("/b")


@given(st.lists(_TEXTS, min_size=1, max_size=6))
@example(['{"a": {"b": 1}}', '{"a": {"b": 1} }', '{"a": {"b": 1}, "a": {"b": 1}}', '{"a": {"b": 1}x}', '{"a": {"b": 1}'])
@example(['{"a": ["x"]}', '{"a": ["x"]]}', '{"a": ["x"] "b": 1}', '{"a": ["x"],}'])
@example(['{"a": 1}', '{"a": 12}', '{"a": "1"}', '{"a": "1""}'])
def test_it_reads_what_the_reader_reads(texts):
    """Value, places and findings, whatever was read before."""
    parts = InternedJson()
    for text in (*texts, *texts):
        assert _describe(parts.load, text) == _describe(load_json, text)


def test_what_reads_alike_at_a_key_is_one_object():
    parts = InternedJson()
    first, second, third = (
        parts.load(text, "state.json").value
        for text in (b'{"log": [1, 2], "who": {"n": 1}}', b'{"who":{"n": 1},\n "log" : [1, 2]}', b'{"log": [1,2], "who": {"n": 2}}')
    )
    assert first == second and first["log"] is second["log"] and first["who"] is second["who"]
    assert third["log"] is not first["log"] and third["log"] == first["log"] and third["who"] == {"n": 2}


@pytest.mark.parametrize(("bound", "value"), [("_MOST_PARTS", 40), ("_MOST_ALIKE", 2)])
def test_what_is_kept_is_bounded(bound, value, monkeypatch):
    monkeypatch.setattr(module, bound, value)
    parts = InternedJson()
    texts = [json.dumps({"log": [number, "x" * 10]}).encode() for number in range(20)]
    for text in (*texts, *texts):
        assert parts.load(text, "state.json").value == json.loads(text)
    kept = [part for known in parts._by_key.values() for part, _ in known]
    assert 0 < len(kept) <= 2 and sum(map(len, kept)) <= 40
