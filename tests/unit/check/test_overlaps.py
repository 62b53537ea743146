"""Sections that may list one item twice, and those that cannot."""

import time

import pytest

from tests.packs import load_pack
from tests.unit.check.lint import codes, excerpts, lint, messages

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["notes", "others", "who", "mode", "now"],
    "properties": {
        "who": {"type": "string", "maxLength": 20},
        "mode": {"enum": ["a", "b"]},
        "now": {"type": "integer"},
        "story": {"type": "string", "default": ""},
        "others": {"type": "array", "maxItems": 9, "items": {"type": "string"}},
        "notes": {
            "type": "array",
            "maxItems": 9,
            "items": {
                "type": "object",
                "required": ["kind", "status", "text", "id", "level", "at"],
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"enum": ["fact", "vow", "debt"]},
                    "status": {"type": "string"},
                    "level": {"type": "integer", "minimum": 1, "maximum": 5},
                    "at": {"type": "integer"},
                    "text": {"type": "string"},
                    "pinned": {"type": "boolean", "default": False},
                },
            },
        },
    },
}
_LIST = "{{id: {id}, {more} items: {{limit: 3, from: {source!r}, {items} text: '{form}'}}}}"


_SAME = ("state.notes", "state.notes")
_FORMS = ("{{ item.text }}", "- {{ item.text }}")


def _two(
    folder, first, second, *, sources=("state.notes", "state.notes"), more=("", ""), forms=("{{ item.text }}", "- {{ item.text }}"), head=""
):
    """Two sections with these filters (empty: none)."""
    rows = [
        _LIST.format(id=name, source=sources[at], items=f"where: {where!r}," if where else "", more=more[at], form=forms[at])
        for at, (name, where) in enumerate((("one", first), ("two", second)))
    ]
    return lint(folder, f"{head}\nsections: [{', '.join(rows)}]", schema=SCHEMA)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("item.pinned", ""),
        ("", ""),
        ("item.kind == 'vow'", "item.kind != 'debt'"),
        ("item.kind in ['vow', 'fact']", "item.kind in ['debt', 'vow']"),
        ("item.kind == 'vow'", "item.status == 'open'"),
        ("item.level >= 3", "item.level <= 3"),
        ("item.pinned", "not item.pinned or item.level == 5"),
        ("item.at > state.now", "item.at >= state.now"),
        ("item.kind == 'vow' and item.level > 2", "item.kind == 'vow' and item.level < 4"),
        ("this.number > 3", "this.number <= 3 or item.pinned"),
        ("item.id in state.others", "item.pinned"),
    ],
)
def test_what_may_stand_twice(tmp_path, first, second):
    found = _two(tmp_path, first, second)
    assert messages(found, "PC0670") == ["`one` and `two` may both list the same item of `state.notes`"]
    assert excerpts(found, "PC0670")[0].startswith("'state.notes'")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("item.kind == 'vow'", "item.kind == 'fact'"),
        ("item.kind == 'vow'", "item.kind != 'vow'"),
        ("item.kind == 'vow' and item.status == 'open'", "item.kind == 'vow' and item.status == 'done'"),
        ("item.kind in ['vow', 'fact']", "item.kind == 'debt'"),
        ("item.kind in ['vow', 'fact']", "item.kind not in ['vow', 'fact']"),
        ("item.kind != 'vow' and item.kind != 'fact'", "item.kind != 'debt'"),
        ("item.level > 3", "item.level <= 3"),
        ("item.level > 4", "item.level < 5"),
        ("item.pinned", "not item.pinned"),
        ("item.at > state.now", "item.at <= state.now"),
        ("item.at > state.now", "state.now >= item.at"),
        ("(state.now - item.at) < 48", "(state.now - item.at) >= 48"),
        ("item.status | lower == 'open'", "item.status | lower == 'done'"),
        ("item.id in state.others", "item.id not in state.others"),
        ("item.pinned", "item.id not in state.others"),
        ("item.kind == 'vow' or item.kind == 'debt'", "item.kind == 'fact'"),
        ("item.text | mentions([state.who])", "not (item.text | mentions([state.who]))"),
    ],
)
def test_what_cannot(tmp_path, first, second):
    found = codes(_two(tmp_path, first, second))
    assert "PC0670" not in found and "PC0671" not in found


@pytest.mark.parametrize(
    ("sources", "head", "twice"),
    [
        (("state.notes", "state.notes | sort(attribute='at')"), "", True),
        (("state.notes", "state.notes | selectattr('pinned') | list"), "", True),
        (("state.notes | selectattr('kind', 'equalto', 'vow')", "state.notes | selectattr('kind', 'equalto', 'debt')"), "", False),
        (("state.notes | selectattr('kind', 'in', ['vow'])", "state.notes | rejectattr('kind', 'in', ['vow', 'debt'])"), "", False),
        (("state.notes | selectattr('pinned')", "state.notes | rejectattr('pinned')"), "", False),
        (("notes", "state.notes"), "let: {notes: state.notes | sort(attribute='at')}", True),
        (("first", "rest"), "let: {first: state.notes | selectattr('pinned'), rest: state.notes | rejectattr('pinned')}", False),
        (("state.notes[:3]", "state.notes[3:]"), "", False),
        (("[] + state.notes", "state.notes"), "", True),
        (("state.notes if state.who else []", "state.notes"), "", True),
    ],
)
def test_lists_that_are_one(tmp_path, sources, head, twice):
    assert ("PC0670" in codes(_two(tmp_path, "", "", sources=sources, head=head))) is twice


def test_another_list_is_another_list(tmp_path):
    assert codes(_two(tmp_path, "", "", sources=("state.notes", "state.others"), forms=("{{ item.text }}", "{{ item }}"))) == []


def test_parts_that_are_not_the_same_are_no_repetition(tmp_path):
    assert "PC0670" not in codes(_two(tmp_path, "", "", forms=("{{ item.text }}", "{{ item.level }}")))
    assert "PC0670" in codes(_two(tmp_path, "", "", forms=("{{ item.text }}", "{{ item | json }}")))


@pytest.mark.parametrize(
    ("whens", "twice"),
    [
        (("when: state.mode == 'a',", "when: state.mode == 'b',"), False),
        (("when: state.now > 5,", "when: state.now <= 5,"), False),
        (("when: state.now > 5,", ""), True),
    ],
)
def test_sections_that_are_never_on_together(tmp_path, whens, twice):
    assert ("PC0670" in codes(_two(tmp_path, "item.pinned", "", more=whens))) is twice


def test_one_that_is_off_in_a_variant(tmp_path):
    body = """
        variants: {mode: {select: state.mode, cases: {a: {sections: {two: {when: false}}}, b: {sections: {one: {when: false}}}}}}
        sections:
          - {id: one, items: {from: state.notes, limit: 2, text: "{{ item.text }}"}}
          - {id: two, items: {from: state.notes, limit: 3, text: "- {{ item.text }}"}}
    """
    assert "PC0670" not in codes(lint(tmp_path, body, schema=SCHEMA))


def test_against_is_the_way_out(tmp_path):
    body = """
        sections:
          - {id: one, items: {from: state.notes, where: item.pinned, limit: 2, text: "{{ item.text }}"}}
          - {id: two, items: {from: state.notes, limit: 3, text: "- {{ item.text }}", dedupe: {by: item.text, against: [one]}}}
    """
    assert "PC0670" not in codes(lint(tmp_path, body, schema=SCHEMA))


# --- repeats ---


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("'{{ state.story }}'", "'{{ state.story }}'", "both have the same text"),
        ("'{{ state.story }}'", "'{{state.story}}'", "both have the same text"),
        ("Be kind.", "Be kind.", "both have the same text"),
        ("'{{ state.story }}'", "'Story: {{ state.story | one_line }}'", "both contain only `state.story`"),
        (
            '"## Story\\n{{ state.story }}"',
            "'{% if state.story %}{{ state.story | trim }}{% endif %}'",
            "both contain only `state.story`",
        ),
        ("\"{{ state.others | join(', ') }}\"", "\"Others: {{ state.others | join('; ') }}\"", "both contain only `state.others`"),
        ("'{{ state.story }}'", "'{{ state.story | length }}'", ""),
        ("'{{ state.who }}'", "'Name: {{ state.who }}'", ""),
        ("'{{ state.now }}'", "'Now: {{ state.now }}'", ""),
        ("'{{ state.story }}'", "'{{ state.story }} and {{ state.who }}'", ""),
        ("'{{ state.story }}'", "'You once said that {{ state.story }}'", ""),
        ("'{{ section.title }}'", "'{{ section.title }}'", ""),
        ("''", "''", ""),
    ],
)
def test_texts(tmp_path, first, second, why):
    found = messages(lint(tmp_path, f"sections: [{{id: one, text: {first}}}, {{id: two, text: {second}}}]", schema=SCHEMA), "PC0671")
    assert found == ([f"`two` repeats `one`: {why}"] if why else [])


def test_texts_that_are_never_there_together(tmp_path):
    body = "sections: [{id: one, when: state.mode == 'a', text: x}, {id: two, when: state.mode == 'b', text: x}]"
    assert codes(lint(tmp_path, body, schema=SCHEMA)) == []


def test_a_text_that_is_there_many_times_is_told_once_a_section(tmp_path):
    """Each section repeats the first one that may be on together with it, with or without patches."""
    rows = [
        "{id: one, when: state.mode == 'a', text: x}",
        "{id: two, when: state.mode == 'b', text: x}",
        "{id: three, when: state.mode == 'b', text: x}",
        "{id: four, text: x}",
    ]
    found = lint(
        tmp_path, f"sections: [{', '.join(rows)}]\npatches: {{p: {{budget: 900}}, q: {{sections: {{four: {{text: y}}}}}}}}", schema=SCHEMA
    )
    told = ["`three` repeats `two`: both have the same text", "`four` repeats `one`: both have the same text"]
    assert messages(found, "PC0671") == told


@pytest.mark.parametrize(
    ("row", "code", "count"),
    [
        ("{{id: a{at}, text: x}}", "PC0671", 299),
        ("{{id: a{at}, when: state.who == '{at}', text: x}}", "PC0671", 0),
        ("{{id: a{at}, items: {{limit: 3, from: state.notes, text: '{at} {{{{ item.text }}}}'}}}}", "PC0670", 1 + 2 + 3 + 4 * 296),
    ],
)
def test_many_sections_are_told_in_a_line_each(tmp_path, row, code, count):
    """Neither the findings nor the work grow with the square of their number."""
    begun = time.process_time()
    found = lint(tmp_path, f"sections: [{', '.join(row.format(at=at) for at in range(300))}]", schema=SCHEMA)
    assert len(messages(found, code)) == count and time.process_time() - begun < 20


def test_files_are_compared_by_what_stands_in_them(tmp_path):
    body = "sections: [{id: one, template: a.md.j2}, {id: two, template: b.md.j2}, {id: three, template: c.md}, {id: four, template: d.md}]"
    files = {"a.md.j2": "{{ state.who }}!\n", "b.md.j2": "{{ state.who}}!\n", "c.md": "Rules.\n", "d.md": "Other rules.\n"}
    assert messages(lint(tmp_path, body, schema=SCHEMA, files=files), "PC0671") == ["`two` repeats `one`: both have the same text"]


def test_a_list_that_is_there_twice_is_told_once(tmp_path):
    found = _two(tmp_path, "item.kind == 'vow'", "item.kind=='vow'", forms=("{{ item.text }}", "{{item.text}}"))
    assert messages(found, "PC0671") == ["`two` repeats `one`: both list the same items in the same form"] and "PC0670" not in codes(found)


def test_segments_and_chunks(tmp_path):
    body = """
        stores: {{main: {{url: "sqlite:s.db"}}}}
        sections:
          - {{id: one, items: {{limit: 2, from: {{segments: {{scope: rules, ref: state.who}}}}, text: "{{{{ item.content }}}}"}}}}
          - {{id: two, items: {{limit: 2, from: {{segments: {{scope: {scope}, ref: {ref}}}}}, text: "{{{{ item.content }}}}"}}}}
    """
    for scope, ref, twice in (("rules", "state.who", True), ("world", "state.who", False), ("rules", "state.mode", False)):
        found = lint(tmp_path, body.format(scope=scope, ref=ref), schema=SCHEMA)
        assert ("PC0671" in codes(found)) is twice


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["sentinel", "whispercross", "worldarchitect", "companion", "tidepool"])
def test_the_packs_that_are_shipped_say_nothing_twice(name):
    from promptc.check.registry import check_pack

    found = check_pack(load_pack(f"packs/{name}").model)
    assert [one.message for one in found if one.code in ("PC0670", "PC0671", "PC0672", "PC0673") and one.level != "note"] == []
