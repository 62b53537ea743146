"""JSON is read strictly, its values can be found again and set, and its parts are shared."""

import contextlib
import gc
import json
import sys
from collections import OrderedDict
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, UsageError
from promptc.frontend import json as module
from promptc.frontend.json import InternedJson, copy_plain, load_json
from promptc.frontend.state import set_values
from promptc.text.json import digest_canonical_json, render_canonical_json, render_digest


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


# contract 3.13
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


@pytest.mark.parametrize("text", ['{"q":1', "[1", '{"q"', "[1 2]", '"a', '"\\x"', '{"a":1,}', "{1:2}"])
def test_what_is_not_json_is_refused_before_anybody_has_imported_its_error(text, monkeypatch):
    """Python's scanner looks for `json.decoder` among the imported modules only, and a warm render imports no `json`."""
    for load in (load_json, InternedJson().load):
        for name in [name for name in sys.modules if name.partition(".")[0] == "json"]:
            monkeypatch.delitem(sys.modules, name)
        with pytest.raises(PromptcError):
            load(text.encode(), "state.json")


@pytest.mark.parametrize("text", ['{"a\\u003ab": {"c": ":"}}', f'["{"7" * 400}"]', f"[1.{'0' * 400}]", '["\\\\u0000"]'])
def test_what_only_looks_wrong_is_read(text):
    assert load(text).value == json.loads(text)
    assert load(text).canonical == json.dumps(json.loads(text), separators=(",", ":")).replace("[1.0]", "[1]").encode()


# contract 3.12
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
    copied = copy_plain(json.loads(found.source.text))
    if copied is not None:
        assert copied.value == found.value and type(copied.value["a"][0]) is type(value)


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.floats(-9, 9).map(round).map(float),
    st.text(),
    st.text(max_size=2),
)
_PLAIN = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def _holds_long_numbers(value):
    """Numbers of more than 18 digits: of those the text is looked at."""
    if type(value) is dict:
        return any(map(_holds_long_numbers, value.values()))
    return any(map(_holds_long_numbers, value)) if type(value) in (list, tuple) else type(value) is int and abs(value) >= 10**18


# contract 3.13
@given(plain=st.dictionaries(st.text("ab\0\ud800\u00e9", max_size=2), _PLAIN, max_size=4))
@example(plain={"b": {"z": 1.0, "a": ("x",)}, "a": [-0.0, "\U0001f600"]})
@example(plain={"a": "\0"})
@example(plain={"a": "\ud800"})
@example(plain={"a": [float("nan")]})
def test_plain_data_is_copied_as_its_text_is_read(plain):
    text = json.dumps(plain)
    copied = copy_plain(plain)
    try:
        found = load(text)
    except PromptcError:
        assert copied is None
        return
    assert (copied is None) == _holds_long_numbers(plain)
    if copied is not None:
        assert repr(copied.value) == repr(found.value)
        assert copied.size <= len(found.canonical.decode())


class Own(str):
    """A text that is not only one."""


_COLUMNS = (
    st.text("ab", max_size=2),
    st.text("a\u00e9", max_size=2),
    st.integers(-(10**18) + 1, 10**18 - 1),
    st.booleans(),
    st.none(),
    st.floats(-2, 2),
    st.builds(list),
    st.builds(dict),
    st.lists(st.text("ab", max_size=1), max_size=9),
    st.builds(lambda: [{"b": "x", "a": n} for n in range(9)]),
)
_ODD = ("\0", "\ud800", "\u00e9", Own("a"), 10**18, -(10**18), 1.5, None, [], ["\0"], {"b": 1, "a": []}, OrderedDict(a=1), Decimal(1))


@st.composite
def _draw_rows(draw):
    """Many mappings that are alike, but perhaps for a few keys, values, and orders."""
    names = draw(st.lists(st.sampled_from(["b", "a", "c", "\u00e9"]), unique=True, max_size=4))
    columns = {name: draw(st.sampled_from(_COLUMNS)) for name in names}
    rows = [{name: draw(column) for name, column in columns.items()} for _ in range(draw(st.integers(7, 12)))]
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(rows))
        changed = {name: row[name] for name in draw(st.permutations([*row]))}
        how = draw(st.sampled_from(["order", "fewer", "more", "other", "odd", "odd"]))
        if how in ("fewer", "other") and changed:
            changed.popitem()
        if how in ("more", "other"):
            changed[draw(st.sampled_from(["d", "", "\0", Own("e"), 1]))] = "x"
        if how == "odd" and changed:
            changed[draw(st.sampled_from([*changed]))] = draw(st.sampled_from(_ODD))
        row.clear()
        row.update(changed)
    return draw(st.sampled_from([rows, rows, [rows, rows], [row.get("a") for row in rows], tuple(rows)]))


def _list_holders(value):
    if type(value) is dict or type(value) is list:
        yield id(value)
        for one in value.values() if type(value) is dict else value:
            yield from _list_holders(one)


@given(rows=_draw_rows(), depth=st.sampled_from([0, 0, 0, 0, 96, 97, 98, 99]))
@example(rows=[*({"a": "x"} for _ in range(8)), {"a": "\0"}], depth=0)
@example(rows=[*({"a": n} for n in range(8)), {"a": 10**18}], depth=0)
@example(rows=[*({"a": n} for n in range(8)), {"a": -(10**18)}], depth=0)
@example(rows=[{"a": []} for _ in range(9)], depth=0)
@example(rows=[{"a": []} for _ in range(9)], depth=98)
@example(rows=[{"a": 1} for _ in range(9)], depth=98)
@example(rows=[{"a": 1} for _ in range(9)], depth=99)
@example(rows=[*({"a": []} for _ in range(8)), {"a": ["x"]}], depth=0)
@example(rows=[*({"a": n, "\u00e9": n} for n in range(8)), {"a": 1, "b": 2}], depth=0)
@example(rows=[*({"a": n, "\u00e9": n} for n in range(8)), {"a": 1}], depth=0)
def test_many_alike_are_copied_as_one_by_one(rows, depth):
    plain = {"a": rows}
    for _ in range(depth - 1):
        plain = {"a": plain}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_MANY", 3)
        patched.setattr(module, "_ROWS", 5)
        together = copy_plain(plain)
        patched.setattr(module, "_MANY", 10**6)
        assert repr(together) == repr(copy_plain(plain))
    if together is not None:
        assert repr(together.value) == repr(load(json.dumps(plain)).value)
        held = [*_list_holders(together.value)]
        assert len({*held}) == len(held) and {*held}.isdisjoint(_list_holders(plain))


def test_what_is_copied_is_the_callers_no_more():
    plain = {"a": [{"b": "c"}]}
    copied = copy_plain(plain)
    plain["a"][0]["b"] = "d"
    assert copied is not None and copied.value == {"a": [{"b": "c"}]}


@pytest.mark.parametrize("plain", [{1: "a"}, {"a": {1}}, {"a": Decimal(1)}, OrderedDict(a=1), {"a": b"b"}])
def test_what_is_no_plain_data_is_not_copied(plain):
    assert copy_plain(plain) is None


def test_a_hundred_levels_are_copied():
    plain = {}
    for _ in range(99):
        plain = {"a": plain}
    assert copy_plain(plain) is not None and copy_plain({"a": plain}) is None
    plain["a"] = plain
    assert copy_plain(plain) is None


@pytest.mark.parametrize("text", ["abc", '\n"\\\x01', "\u00e9", "\U0001f600"])
@pytest.mark.parametrize("value", [None, True, 1, -(10**17), -1.2345678901234567e-300, [], {}, ["x", 1]])
def test_as_much_is_copied_as_is_read_of_its_text(text, value, monkeypatch):
    """A state near the bound is measured, and none beyond it passes."""
    plain = {text: [text, value, *[{text * 99: ""}] * 9]}
    for beyond in (0, 1):
        monkeypatch.setattr(module, "MAX_STATE_BYTES", len(json.dumps(plain)) - beyond)
        assert (copy_plain(plain) is None) == bool(beyond)


def test_escaped_backslashes_are_no_escapes():
    assert load('{"a":"\\\\ud800 \\\\u0000", "b":"\\ud83d\\ude00"}').value == {"a": "\\ud800 \\u0000", "b": "\U0001f600"}


_BITS = st.sampled_from([
    "\\\\", "\\ud83d", "\\uDE00", "\\uD800", "\\u0000", "\\u00e9", "\\n", '\\"', "ud83d", "ude00", "u0000", "d", "u", ":", " ", "\U0001f600"
])  # fmt: skip
_LONG = st.integers(300, 320).map("7".__mul__)
_WORDS = st.one_of(
    _LONG,
    st.builds("{}.{}e{}".format, st.integers(-9, 9), _LONG, st.integers(-9, 9)),
    st.sampled_from(["1e308", "1e309", "-1e999", "NaN", "-Infinity", "0", "[]", "{}", '{"a": 1, "a": 2}', '{"a": 1, "b": {"a": []}}']),
)
_TEXTS = st.lists(_BITS, max_size=5).map(lambda bits: f'"{"".join(bits)}"')


@given(st.lists(_TEXTS | _WORDS, max_size=6), _TEXTS, st.integers(0, 40))
@example(['"\\\\ud83d\\ude00"'], '"a"', 0)
@example(['"\\ud83d\\\\ude00"'], '"a"', 0)
def test_no_fault_is_missed_because_a_text_looks_sound(values, key, spaces):
    """A few looks at a text tell whether it may hold a fault; the walk that finds the places of faults goes by every token."""
    text = f"{' ' * spaces}[{', '.join(values)}, {{{key}: 0}}]" if values else f"{{{key}: 0}}"
    faults = list(module._list_faults(text, module.JsonPlaces("state.json", text)))
    if not faults:
        assert load(text).value == json.loads(text)
        return
    with pytest.raises(PromptcError) as caught:
        load(text)
    assert list(caught.value.diagnostics) == faults


@given(st.dictionaries(st.text(max_size=2), _PLAIN.filter(lambda plain: type(plain) is not tuple), max_size=4))
@example({"a": [1, 2, 3], "": {"b": [[1, 2, 3], {}, "\u00e9"]}, "c": []})
def test_a_digest_is_that_of_the_whole_text(plain):
    plain = json.loads(json.dumps(plain).replace("NaN", "0").replace("-Infinity", "0").replace("Infinity", "0"))
    plain = json.loads(json.dumps(plain).encode("ascii", "replace").decode().replace("\\ud", "\\ue"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptc.text.json._PIECE", 2)
        assert digest_canonical_json(plain) == render_digest(render_canonical_json(plain).encode())


def test_the_collector_rests_while_much_is_read_and_goes_on_after(monkeypatch):
    monkeypatch.setattr(module, "_MUCH", 10)
    seen = []
    scan = module._JsonReading.scan

    def spy(self, text, at):
        seen.append(gc.isenabled())
        return scan(self, text, at)

    monkeypatch.setattr(module._JsonReading, "scan", spy)
    assert gc.isenabled()
    for text in ('{"a": 1}', '{"a": 12345678}', '{"a": 12345678'):
        with contextlib.suppress(PromptcError):
            load(text)
        assert gc.isenabled()
    gc.disable()
    try:
        load('{"a": 12345678}')
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [True, False, False, False]


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


# --- Values set in a state before it is validated ---
STATE = b'{"b": {"c": 1, "~/": 2},\n "a": [10, {"x": "y"}], "": 3}'


def _set(*changes):
    return set_values(load_json(STATE, "state.json"), changes)


@pytest.mark.parametrize(
    ("pointer", "text", "at"),
    [
        ("/b/c", "7", lambda value: value["b"]["c"]),
        ("/b/~0~1", "7", lambda value: value["b"]["~/"]),
        ("/a/0", "7", lambda value: value["a"][0]),
        ("/a/1/x", "7", lambda value: value["a"][1]["x"]),
        ("/a/-", "7", lambda value: value["a"][2]),
        ("/a/-/deep/er", "7", lambda value: value["a"][2]["deep"]["er"]),
        ("/new/key", "7", lambda value: value["new"]["key"]),
        ("/", "7", lambda value: value[""]),
        ("", '{"z": 7}', lambda value: value["z"]),
    ],
)
def test_a_value_is_put_where_the_pointer_leads(pointer, text, at):
    assert at(_set((pointer, text)).value) == 7


def test_what_was_there_stays_as_it_was():
    document = load_json(STATE, "state.json")
    before = str(document.value)
    changed = set_values(document, [("/a/1/x", "1"), ("/b/c", "2")])
    assert str(document.value) == before
    assert changed.value == {"": 3, "a": [10, {"x": 1}], "b": {"c": 2, "~/": 2}}


def test_keys_stay_in_code_point_order():
    assert list(_set(("/aa", "1"), ("/Z", "1"), ("/b/a", "1")).value) == ["", "Z", "a", "aa", "b"]
    assert list(_set(("/b/a", "1")).value["b"]) == ["a", "c", "~/"]


def test_later_changes_see_earlier_ones():
    assert _set(("/n", "[]"), ("/n/-", "1"), ("/n/-", "2"), ("/n/0", "3")).value["n"] == [3, 2]
    assert _set(("/b", "1"), ("/b", '{"q": 4}')).value["b"] == {"q": 4}


def test_places_are_those_of_the_newest_text():
    document = _set(("/a/-", '{"k":\n [1, 2]}'), ("/b/c", "7"))
    assert str(document.span("/a/2/k/1")) == "--set /a/-:2:6"
    assert str(document.key_span("/a/2/k")) == "--set /a/-:1:2"
    assert str(document.span("/b/c")) == "--set /b/c:1:1"
    assert str(document.span("/a/1/x")) == "state.json:2:18"
    assert str(document.key_span("/b/~0~1")) == "state.json:1:16"


@pytest.mark.parametrize(
    ("pointer", "says", "place"),
    [
        ("b/c", "begins with `/`", "state.json:1:1"),
        ("/a/2", "none at `2`; its elements are 0 to 1", "state.json:2:7"),
        ("/a/x", "none at `x`", "state.json:2:7"),
        ("/a/01234567890123", "none at", "state.json:2:7"),
        ("/a/0000000009", "none at `0000000009`", "state.json:2:7"),
        ("/a/01", "none at `01`; its elements are 0 to 1", "state.json:2:7"),
        ("/a/²", "none at", "state.json:2:7"),
        ("/b/c/d", "`/b/c` is neither a list nor a mapping", "state.json:1:13"),
    ],
)
def test_a_pointer_that_leads_nowhere(pointer, says, place):
    with pytest.raises(UsageError) as wrong:
        _set((pointer, "1"))
    found = wrong.value.diagnostics[0]
    assert found.code == "PC0722" and says in found.message and str(found.span) == place


@pytest.mark.parametrize("text", ["", "calm", "{", "1 2", "NaN", '"\ud800"'])
def test_a_text_that_is_no_json(text):
    with pytest.raises(UsageError) as wrong:
        _set(("/b", text))
    assert wrong.value.exit_code == 2 and str(wrong.value.diagnostics[0].span).startswith("--set /b:1:")


def test_what_is_made_on_the_way_stands_where_the_value_does():
    changed = _set(("/new/deep/er", "7"))
    assert changed.key_span("/new").file == changed.span("/new/deep").file == "--set /new/deep/er"
    assert _set(("/b/d", "1")).span("/b").file == "state.json" and _set(("/new/a", "1")).span("/none").file == "state.json"


# --- JSON that shares its parts with what was read before is the JSON that it is ---
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
