"""Values set in a state before it is validated."""

import pytest

from promptc.diag.findings import UsageError
from promptc.frontend.json import load_json
from promptc.frontend.state import set_values

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
