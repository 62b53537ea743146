"""Any bytes as a manifest or a state are read, or refused with places in the file."""

import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, Span
from promptc.files.paths import read_pack_file
from promptc.frontend.json import load_json
from promptc.frontend.shape import check_pack_shape
from promptc.frontend.yaml import load_yaml
from promptc.text.json import extend_pointer
from tests.unit.frontend.manifests import WHOLE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
SPAN = Span("pack.yaml", 1, 1)
TEXTS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
CLEAN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(-1e9, 1e9) | st.text(TEXTS, max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(TEXTS, max_size=4), inner, max_size=4),
    max_leaves=20,
)
MARKS = [*'{}[]:,"', "'", "\n", " ", "  ", "- ", "? ", "&a ", "*a", "!t ", "|\n", ">\n", "#", "%", "---\n", "...\n", "<<: ", "\t", "\r\n"]
WORDS = ["a", "b: ", "1", "-0", "1e5", "1e999", "null", "true", "NaN", "\\ud800", "\\u0000", "{{ x }}", "\x00", "\u2028", "\ufeff", "é"]
SCRAPS = st.lists(st.sampled_from(MARKS + WORDS), max_size=40).map(lambda scraps: "".join(scraps).encode())
ANY = st.binary(max_size=60) | SCRAPS


def attempt(read, *given):
    """What is read and no findings, or None and the findings."""
    try:
        return read(*given), ()
    except PromptcError as error:
        return None, error.diagnostics


def check_places(found, data):
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    for one in found:
        assert one.code.startswith("PC0")
        assert 1 <= one.span.line <= len(lines)
        assert 1 <= one.span.column <= len(lines[one.span.line - 1]) + 1


@given(ANY)
def test_any_bytes_are_json_or_refused(data):
    check_places(attempt(load_json, data, "state.json")[1], data)


@given(ANY)
def test_any_bytes_are_a_manifest_or_refused(data):
    node, found = attempt(load_yaml, data, "pack.yaml", Path())
    check_places(found if node is None else check_pack_shape(node), data)


@given(st.data())
def test_a_damaged_manifest_is_read_or_refused(data):
    """A line of a manifest that uses the whole language is lost, doubled, or takes the place of another."""
    lines = WHOLE.split("\n")
    first, second = data.draw(st.tuples(st.integers(0, len(lines) - 1), st.integers(0, len(lines) - 1)))
    how = data.draw(st.sampled_from(["lose", "double", "replace", "cut"]))
    damaged = {
        "lose": [*lines[:first], *lines[first + 1 :]],
        "double": [*lines[:first], lines[first], *lines[first:]],
        "replace": [*lines[:first], lines[second], *lines[first + 1 :]],
        "cut": lines[:first],
    }[how]
    raw = "\n".join(damaged).encode()
    node, found = attempt(load_yaml, raw, "pack.yaml", Path())
    check_places(found if node is None else check_pack_shape(node), raw)


@given(CLEAN, st.sampled_from([None, 1]))
def test_json_is_read_back_and_every_value_found(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = load_json(text.encode(), "state.json")
    assert document.value == value
    assert json.dumps(document.value, ensure_ascii=False) == json.dumps(_make_whole(value), ensure_ascii=False, sort_keys=True)
    lines = text.split("\n")
    for pointer, inner in _iter_values(value):
        span = document.span(pointer)
        rest = "\n".join([lines[span.line - 1][span.column - 1 :], *lines[span.line :]])
        assert json.JSONDecoder().raw_decode(rest)[0] == inner


def _make_whole(value):
    """The value with numbers without a fraction as whole numbers."""
    if isinstance(value, dict):
        return {key: _make_whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_make_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _iter_values(value, pointer=""):
    yield pointer, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _iter_values(inner, extend_pointer(pointer, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _iter_values(inner, f"{pointer}/{place}")


@given(JSON)
def test_the_same_value_is_read_from_escaped_and_plain_text(value):
    document, found = attempt(load_json, json.dumps(value).encode(), "state.json")
    assert {one.code for one in found} <= {"PC0132", "PC0133"}
    if document is not None:
        assert document.value == load_json(json.dumps(value, ensure_ascii=False, indent=2).encode(), "state.json").value


@given(CLEAN)
def test_json_is_yaml_too(value):
    """What JSON says, the YAML reader reads as the same, but for what it refuses."""
    node, found = attempt(load_yaml, json.dumps(value, indent=1, ensure_ascii=False).encode(), "pack.yaml", Path())
    assert {one.code for one in found} <= {"PC0103", "PC0104"}
    if node is not None:
        assert json.dumps(node.plain(), sort_keys=True) == json.dumps(_round(value), sort_keys=True)


def _round(value):
    """Whole numbers without a point are integers in YAML: `1e+16` is one."""
    if isinstance(value, dict):
        return {key: _round(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_round(inner) for inner in value]
    return int(value) if isinstance(value, float) and "." not in repr(value) and value.is_integer() and abs(value) < 2**53 else value


@given(st.text(max_size=12) | st.lists(st.sampled_from(["..", ".", "a", "out", "", "~", "C:", "con"]), max_size=5).map("/".join))
def test_no_path_leads_out_of_a_pack(relative):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "pack"
        (folder / "a").mkdir(parents=True)
        (Path(place) / "a").write_bytes(b"secret")
        (folder / "out").symlink_to("..")
        (folder / "a" / "a").write_bytes(b"inside")
        read, found = attempt(read_pack_file, folder, relative, SPAN)
        assert read == b"inside" if read is not None else found[0].span == SPAN
