"""Where in a manifest a place is that is being written, against the reader of whole ones; and what names mean in half of a template."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.frontend.yaml import load_yaml
from promptc.template.signatures import FILTERS
from promptc.workshop.desk import Desk
from promptc.workshop.hints import Cursor, complete, describe, find_open_scalar, list_targets
from tests.contract.sources import ROOT

MANIFESTS = sorted((*ROOT.glob("packs/*/pack.yaml"), *ROOT.glob("starters/*/pack.yaml")))


def _iter_scalars(node, path=()):
    """Every key and every scalar with the path to it, where it stands, and the keys before it."""
    if isinstance(node.value, dict):
        for at, (key, value) in enumerate(node.value.items()):
            yield path, key, node.key_span(key), frozenset([*node.value][:at])
            yield from _iter_scalars(value, (*path, key))
    elif isinstance(node.value, tuple):
        for at, value in enumerate(node.value):
            yield from _iter_scalars(value, (*path, at))
    else:
        yield path, None, node.span, frozenset()


def _list_scalars(text):
    return list(_iter_scalars(load_yaml(text.encode(), "pack.yaml", "")))


def _cut(text, span, count):
    lines = text.split("\n")
    return "\n".join([*lines[: span.line - 1], lines[span.line - 1][: span.column - 1 + count]])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("broken", ["", "half:\n  - [wr\n", "half\n", "half: {a: 1\n"], ids=["whole", "list", "word", "mapping"])
def test_a_place_is_where_the_reader_of_manifests_has_it(path, broken):
    """Whatever cannot be read before it."""
    text = path.read_text(encoding="utf-8")
    top = text.index("\nsections:") + 1
    first = {(span.line, span.column): (place, key, span, keys) for place, key, span, keys in reversed([*_list_scalars(text)])}
    tried = 0
    for place, key, span, keys in sorted(first.values(), key=lambda one: (one[2].line, one[2].column))[:: 5 if broken else 1]:
        whole = _cut(text, span, len(key) if key is not None else 1)
        if len(whole) <= top or (whole[-1] in "|>&*" if key is None else not whole.endswith(key)):
            continue
        found = find_open_scalar(text[:top] + broken + whole[top:], is_key=key is not None)
        assert found is not None and (found.path, found.is_key) == (place, key is not None)
        if key is not None:
            assert (found.keys - {"half"}, found.before) == (keys, key)
        tried += 1
    assert tried > 10


@given(st.data())
def test_no_text_is_too_broken(data):
    text = data.draw(st.sampled_from(MANIFESTS)).read_text(encoding="utf-8")
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    inner = data.draw(
        st.text(max_size=12) | st.sampled_from(["\n", "\t", "{", "[", "'", '"', "|", ">", "- ", "? ", "&a ", "*a", "!!x ", "%", "\ue000"])
    )
    find_open_scalar(text[:start] + inner + text[stop:][:200])
    find_open_scalar(inner + text[start:stop], is_key=True)


@pytest.fixture
def ask(tmp_path):
    """What may stand at the end of a template, of a pack whose state has a list of people."""
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: x\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 400\nstate: {schema: state.schema.json}\n"
        "sections:\n  - {id: a, template: a.j2}\n",
        encoding="utf-8",
    )
    (tmp_path / "state.schema.json").write_text(
        '{"type": "object", "additionalProperties": false, "required": ["people"], "properties": {"people": {"type": "array", "items": '
        '{"type": "object", "additionalProperties": false, "properties": {"name": {"type": "string"}, "pets": {"type": "array", "items": '
        '{"type": "object", "additionalProperties": false, "properties": {"kind": {"type": "string"}}}}}}}}}',
        encoding="utf-8",
    )
    (tmp_path / "a.j2").write_text("x", encoding="utf-8")
    desk = Desk()
    (pack,) = desk.hold(str(tmp_path / "pack.yaml"), (tmp_path / "pack.yaml").read_text(encoding="utf-8"))
    assert pack.load()

    def cursor(text):
        lines = text.split("\n")
        return Cursor(pack, str(tmp_path / "a.j2"), lines, len(lines) - 1, len(lines[-1]))

    return cursor


@pytest.fixture
def write(tmp_path):
    """A cursor behind a mark of a manifest that is the one of the starter `game` with more at its end."""
    text = (ROOT / "starters" / "game" / "pack.yaml").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "starters" / "game", tmp_path / "game")
    manifest, desk = str(tmp_path / "game" / "pack.yaml"), Desk()
    (pack,) = desk.hold(manifest, text)
    assert pack.load()

    def cursor(old, new, mark):
        assert old in text
        lines = text.replace(old, new, 1).split("\n")
        line = next(at for at, one in enumerate(lines) if mark in one)
        return Cursor(pack, manifest, lines, line, lines[line].index(mark) + len(mark))

    return cursor


@pytest.mark.parametrize("written", ["sections:\n           re", "sections: {re", "sections: {rules: {when: false}, re"])
@pytest.mark.parametrize("end", ["", ": {}"])
def test_the_keys_of_what_changes_sections_are_their_ids(write, written, end):
    close = "}" if "{" in written else ""
    new = f"strain:\n  tiers:\n    - name: x\n      {written}{end}{close}\n"
    cursor = write("truncate:", f"{new}truncate:", written.rpartition("\n")[2])
    found = {one.label: one.insert for one in complete(cursor)}
    assert found["recent"] == ("recent" if end else "recent: ")
    assert ("rules" in found) is ("rules" not in written)
    assert "tokenizer" not in found


def test_a_key_that_is_the_id_of_a_section_leads_to_the_section(write):
    cursor = write("truncate:", "patches: {p: {sections: {recent: {pinned: true}}}}\ntruncate:", "sections: {rec")
    (found,) = list_targets(cursor)
    assert cursor.lines[found.line - 1].strip().startswith("- id: recent")


def test_a_mapping_may_stand_where_an_expression_may(write):
    cursor = write("from: state.", "from:\n        re\n      # state.", "        re")
    found = {one.label: one.insert for one in complete(cursor)}
    assert found["retrieve"] == "retrieve: " and "state" in found
    assert "retrieve" not in {one.label for one in complete(write("from: state.", "from: state.re", "from: state.re"))}


_EACH = "{% for one in state.people %}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ state.", {"people"}),
        (f"{_EACH}{{{{ one.", {"name", "pets"}),
        (f"{_EACH}{{% for pet in one.pets %}}{{{{ pet.", {"kind"}),
        (f"{_EACH}{{% endfor %}}{{{{ one.", set()),
        (f"{_EACH}{{% if one.name %}}a{{% else %}}{{% set pet = one.pets | first %}}{{{{ pet.", {"kind"}),
        (f"{_EACH}{{# {{% endfor %}} #}}{{{{ one.", {"name", "pets"}),
        (f"{_EACH}{{% set text %}}{{{{ one.", {"name", "pets"}),
        (f"{_EACH}{{% if one.", {"name", "pets"}),
        ("{% with one = state.people[0] %}{{ one.", {"name", "pets"}),
        ("{% macro say(who) %}{{ who.", set()),
        ("{% macro say(who) %}{{ state.", {"people"}),
        ("{% if %}{{ state.", {"people"}),
        ("{{ state.people | joni(', ') }}{{ state.", {"people"}),
        (f"{_EACH}{{{{ 1 if one.name is dfeined(1) }}}}{{{{ one.", {"name", "pets"}),
        ("{% for one in state.people | sort(attribute='name') | reverse %}\n{{ one.name }}: {{ one.", {"name", "pets"}),
        ("plain state.", set()),
        ("{# state.", set()),
        ("{{ state.people }} state.", set()),
    ],
)
def test_parts_are_those_of_what_stands_there(ask, text, names):
    assert {one.label for one in complete(ask(text))} == names


@pytest.mark.parametrize(
    "text", ["{{ " + "a" * 300_000, "{% if " * 50_000 + "{{ state.", "{# " * 100_000 + "{{ state.", "{{ state." * 50_000]
)
def test_a_long_text_takes_no_time(ask, text):
    cursor = ask(text)
    complete(cursor)
    describe(cursor)
    list_targets(cursor)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("safe", "| safe()\n```\n\nConvert the value to the text that it prints as.\n\nA filter of Jinja. [Templates]"),
        (
            "days_since",
            "\n\nCount the whole days of 24 hours from the time to `now`, rounded down. Both are ISO 8601 times.\n\nA filter of",
        ),
        ("max", "Of equal elements, return the first.\nThe result is undefined if there are no elements.\n\nA filter of Jinja."),
    ],
)
def test_a_filter_is_described_to_authors(ask, name, shown):
    assert shown in describe(ask(f"{{{{ state.people | {name}")).text


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_no_description_of_a_filter_speaks_of_the_compiler(ask, name):
    text = describe(ask(f"{{{{ state.people | {name}")).text
    assert not [word for word in ("Fault", "compiler", "`value`", "`run`") if word in text]
