"""JSON is read strictly, and every value can be found again."""

import json

import pytest

from promptc.diag.findings import PromptcError
from promptc.frontend.json import load_json, load_plain


def load(text):
    return load_json(text if isinstance(text, bytes) else text.encode(), "state.json")


def findings(text):
    with pytest.raises(PromptcError) as caught:
        load(text)
    return [(found.code, found.span.line, found.span.column) for found in caught.value.diagnostics]


@pytest.mark.parametrize(
    "text", ["{}", " \n[1, 2.5, -0, -0.0, 1e3]", '"a\\u00e9\\n"', "null", '{"b": {"z": 1, "y": []}, "a": true}', "\ufeff{}"]
)
def test_values_are_json(text):
    assert load(text).value == json.loads(text.removeprefix("\ufeff"))


def test_mappings_are_in_code_point_order_of_their_keys():
    value = load('{"b": 1, "a": {"é": 1, "z": 2, "Z": 3}, "\\ud83d\\ude00": 4, "\uffff": 5}').value
    assert list(value) == ["a", "b", "\uffff", "\U0001f600"]
    assert list(value["a"]) == ["Z", "z", "é"]


def test_integers_are_exact():
    assert load("12345678901234567890123456789").value == 12345678901234567890123456789
    assert load("1" * 309).value == int("1" * 309)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ('{"a":1,\n "a":2}', "PC0106", 2, 2),
        ('{"a":1, "\\u0061":2}', "PC0106", 1, 9),
        ('[{"b":[]}, {"a":1, "a":{"a":1}}]', "PC0106", 1, 20),
        ('{"a":1e400}', "PC0107", 1, 6),
        ("9" * 309, "PC0107", 1, 1),
        ("9" * 5000, "PC0107", 1, 1),
        ('{"a": NaN}', "PC0131", 1, 7),
        ("[-Infinity]", "PC0131", 1, 2),
        ('{"a":"\\ud800"}', "PC0132", 1, 6),
        ('{"a":"\\ude00\\ud83d"}', "PC0132", 1, 6),
        ('{"\\ud83d":1}', "PC0132", 1, 2),
        ('{"a":"x\\u0000y"}', "PC0133", 1, 6),
        (b'{"a":"\xed\xa0\x80"}', "PC0101", 1, 7),
        (b'\xef\xbb\xbf{"a":\xff}', "PC0101", 1, 6),
        ('{"a":1}'.encode("utf-16"), "PC0101", 1, 1),
        ("{} x", "PC0130", 1, 4),
        ("{/*x*/}", "PC0130", 1, 2),
        ('{"a":1,}', "PC0130", 1, 7),
        ("[1,\n 2,\n]", "PC0130", 2, 3),
        ("{'a':1}", "PC0130", 1, 2),
        ('{"a" 1}', "PC0130", 1, 6),
        ("[1", "PC0130", 1, 3),
        ('"x\ny"', "PC0130", 1, 3),
        ('{"a": tru}', "PC0130", 1, 7),
        ("01", "PC0130", 1, 2),
        ("\ufeff\ufeff1", "PC0130", 1, 1),
        ("", "PC0103", 1, 1),
        (" \n ", "PC0103", 1, 1),
        ("[" * 101 + "]" * 101, "PC0105", 1, 101),
        ("[" * 100_000, "PC0105", 1, 101),
        ('{"a":' * 101 + "1" + "}" * 101, "PC0105", 1, 501),
    ],
)
def test_what_is_refused_has_its_place(text, code, line, column):
    assert findings(text) == [(code, line, column)]


@pytest.mark.parametrize("text", ['{"a\\u003ab": {"c": ":"}}', f'["{"7" * 400}"]', f"[1.{'0' * 400}]", '["\\\\u0000"]'])
def test_what_only_looks_wrong_is_read(text):
    assert load(text).value == json.loads(text)
    assert load(text).canonical == json.dumps(json.loads(text), separators=(",", ":")).replace("[1.0]", "[1]").encode()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.0", 3), ("-0.0", 0), ("0e5", 0), ("1e22", 10**22), ("-2.5E1", -25), ("1e300", int(1e300)), ("1.5", 1.5), ("1e-400", 0),
        ("12345678901234567890", 12345678901234567890), ("9007199254740993.0", 9007199254740992),
    ],
)  # fmt: skip
def test_a_whole_number_is_an_integer_however_it_is_written(text, value):
    found = load(f'{{"a": [{text}]}}')
    assert found.value == {"a": [value]} and type(found.value["a"][0]) is type(value)
    assert found.canonical == f'{{"a":[{value!r}]}}'.encode()
    given = load_plain(json.loads(found.source.text), "state.json")
    if given is not None:
        assert (given.value, given.canonical) == (found.value, found.canonical) and type(given.value["a"][0]) is type(value)


def test_escaped_backslashes_are_no_escapes():
    assert load('{"a":"\\\\ud800 \\\\u0000", "b":"\\ud83d\\ude00"}').value == {"a": "\\ud800 \\u0000", "b": "\U0001f600"}


def test_a_hundred_levels_are_read():
    assert load("[" * 100 + "]" * 100).value


def test_all_findings_come_at_once():
    text = '{"a": NaN,\n "b": 1e999,\n "a": "\\ud800"}'
    assert findings(text) == [("PC0131", 1, 7), ("PC0107", 2, 7), ("PC0106", 3, 2), ("PC0132", 3, 7)]


def test_findings_are_bounded():
    assert len(findings(f"[{','.join(['NaN'] * 1000)}]")) == 50


def test_size_is_bounded(monkeypatch):
    monkeypatch.setattr("promptc.frontend.json.MAX_STATE_BYTES", 10)
    assert findings('{"a": "0123456789"}') == [("PC0102", 1, 1)]


PLACES = '{\r\n  "b": [10, {"x/y~": [true]}],\r\n  "a":\r\n    "text",\r\n  "": 0\r\n}\r\n'


@pytest.mark.parametrize(
    ("pointer", "value", "key"),
    [
        ("", (1, 1), (1, 1)),
        ("/b", (2, 8), (2, 3)),
        ("/b/0", (2, 9), (2, 9)),
        ("/b/1/x~1y~0/0", (2, 23), (2, 23)),
        ("/b/1/x~1y~0", (2, 22), (2, 14)),
        ("/a", (4, 5), (3, 3)),
        ("/", (5, 7), (5, 3)),
        ("/b/7", (2, 8), (2, 3)),
        ("/a/deeper", (4, 5), (3, 3)),
    ],
)
def test_a_pointer_has_a_place(pointer, value, key):
    document = load(PLACES)
    assert (document.span(pointer).line, document.span(pointer).column) == value
    assert (document.key_span(pointer).line, document.key_span(pointer).column) == key


def test_a_place_shows_its_line():
    assert load(PLACES).span("/a").excerpt == '    "text",'
    assert len(load(json.dumps("x" * 5000)).span("").excerpt) == 400
