"""Segments as items: what a section asks a store, what it does with the rows, and what is told of both."""

import pytest

from promptc.diag.findings import PromptcError
from promptc.explain.items import trace_items
from promptc.model.sources import Segment
from promptc.sources.segments import Malformed
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small, render_small

STORES = "stores: {main: {url: 'sqlite:a.db', locale: \"[state.locale, 'en']\", version: state.tone}}\n"
ROWS = [
    Segment(f"{ref}-{tier}{locale}", "npc", ref, f"{ref}{tier}{locale}", {"tier": tier, "key": tier}, locale=locale or None)
    for ref in ("ada", "bo")
    for tier in (0, 1)
    for locale in ("", "de")
]
STATE = {"locale": "fr", "tone": None}


def _section(source, more="text: '{{ item.content }}'", name="a"):
    return f"  - id: {name}\n    items:\n      from: {{segments: {{{source}}}}}\n      {more}\n"


@pytest.fixture
def load(tmp_path):
    return lambda *sections, **named: load_small(tmp_path, f"{STORES}sections:\n{''.join(sections)}", **named)


# contract 4.27
@pytest.mark.parametrize(
    ("ref", "value", "refs"),
    [
        ("state.x", "ada", ("ada",)),
        ("state.x", ["ada", "bo", "ada"], ("ada", "bo")),
        ("state.x", 7, ("7",)),
        ("[state.x, 'bo']", "ada", ("ada", "bo")),
    ],
)
def test_references_are_text_or_a_list(load, ref, value, refs):
    sources = SmallSources(ROWS)
    render_small(load(_section(f'scope: npc, ref: "{ref}"')), {**STATE, "x": value}, sources)
    assert sources.asked[0] == ("main", (("npc", refs),), ("fr", "en"), None)


# contract 4.27
@pytest.mark.parametrize("value", [None, [], "", [""]])
def test_no_reference_asks_for_nothing(load, value):
    sources = SmallSources(ROWS)
    outcome = compile_small(load(_section("scope: npc, ref: state.x")), {**STATE, "x": value}, sources)
    assert sources.asked == [] and outcome.report["sections"][0]["state"] == "empty"
    assert outcome.report["sections"][0]["source"]["asked"] == []


# contract 4.27
def test_without_a_reference_the_whole_scope_is_asked_for(load):
    sources = SmallSources(ROWS)
    assert render_small(load(_section("scope: npc")), STATE, sources) == "ada0\nada1\nbo0\nbo1\n"
    assert sources.asked[0][1] == (("npc", None),)


def test_a_section_says_otherwise_than_its_store(load):
    sources = SmallSources(ROWS)
    section = _section("scope: npc, ref: \"'ada'\", locale: \"'de-AT'\", version: \"'2.0.0'\"")
    assert render_small(load(section), STATE, sources) == "ada0de\nada1de\n"
    assert sources.asked == [("main", (("npc", ("ada",)),), ("de-AT",), "2.0.0")]


# contract 4.27
def test_each_is_bound_in_every_stage_and_asked_for_at_once(load):
    more = (
        "where: each.on\n      sort: [{by: each.rank}]\n      group: {by: each.name, header: '{{ group }}'}\n"
        "      id: each.name ~ item.id\n      text: '{{ each.name }} {{ item.content }}'"
    )
    people = [{"id": "bo", "name": "B", "rank": 2, "on": True}, {"id": "ada", "name": "A", "rank": 1, "on": True}]
    people.append({"id": "ada", "name": "off", "rank": 0, "on": False})
    sources = SmallSources(ROWS)
    section = _section("scope: npc, each: state.people, ref: each.id, where: item.metadata.tier < 1", more)
    text = render_small(load(section), {**STATE, "people": people}, sources)
    assert text == "A\nA ada0\nB\nB bo0\n"
    assert sources.asked == [("main", (("npc", ("bo",)), ("npc", ("ada",))), ("fr", "en"), None)]


def test_each_is_bound_for_an_element_that_no_window_reaches(load):
    section = _section(
        "scope: npc, each: state.people, ref: each.id",
        "id: each.name ~ item.id\n      number: item.metadata.tier + each.rank\n      window: {last: 1}\n      text: '{{ item.content }}'",
    )
    people = [{"id": "ada", "name": "A", "rank": 1}, {"id": "bo", "name": "B", "rank": 3}]
    selection = compile_small(load(section), {**STATE, "people": people}, SmallSources(ROWS)).fitted.strained.selection
    trace = trace_items(selection, selection.sections[0])
    assert [trace.name_item(place) for place in range(trace.size)] == ["Aada-0", "Aada-1", "Bbo-0", "Bbo-1"]


# contract 4.27
def test_each_is_bound_in_steps(load):
    section = _section("scope: npc, each: state.people, ref: each.id") + (
        "    budget: {chars: 9}\n    overflow: [{evict: {order: [each.far], marker: '{{ removed }}'}}]\n"
    )
    people = [{"id": "ada", "far": True}, {"id": "bo", "far": False}]
    assert render_small(load(section), {**STATE, "people": people}, SmallSources(ROWS)) == "2\nbo0\nbo1\n"


def test_preferences_of_elements_are_asked_apart(load):
    people = [{"id": "ada", "tongue": "de"}, {"id": "bo", "tongue": "fr"}, {"id": "bo", "tongue": "de"}]
    sources = SmallSources(ROWS)
    section = _section("scope: npc, each: state.people, ref: each.id, locale: each.tongue, where: item.metadata.tier == 0")
    assert render_small(load(section), {**STATE, "people": people}, sources) == "ada0de\nbo0\nbo0de\n"
    assert [(wanted, locales) for _, wanted, locales, _ in sources.asked] == [
        ((("npc", ("ada",)), ("npc", ("bo",))), ("de",)),
        ((("npc", ("bo",)),), ("fr",)),
    ]


def test_one_question_is_asked_once_however_many_sections_have_it(load):
    sources = SmallSources(ROWS)
    render_small(load(_section("scope: npc"), _section("scope: npc", name="b")), STATE, sources)
    assert len(sources.asked) == 1


def test_a_section_that_is_off_asks_nothing(load):
    sources = SmallSources(ROWS)
    render_small(load(_section("scope: npc") + "    when: false\n"), STATE, sources)
    assert sources.asked == []


# contract 4.26, 13.13 and 13.15
def test_what_is_left_out_is_counted_and_malformed_rows_are_named(load):
    malformed = tuple(Malformed(f"m{number}", "metadata is not JSON") for number in range(7))
    sources = SmallSources(ROWS, malformed, inactive=3)
    outcome = compile_small(load(_section("scope: npc, where: item.metadata.tier == 0")), STATE, sources)
    (section,) = outcome.report["sections"]
    assert section["left_out"] == {"inactive": 3, "malformed": 7, "source": 2}
    assert [one["id"] for one in section["source"]["malformed"]] == [one.id for one in malformed]
    (warning,) = outcome.warnings
    assert warning.code == "PC0553" and "`m4`" in warning.message and "`m5`" not in warning.message and "And 2 more" in warning.message


# contract 13.11, 13.13 and 13.15
def test_the_report_names_the_segments_of_the_prompt_and_what_was_read(load):
    section = _section("scope: npc, ref: \"'ada'\"") + "    budget: {chars: 5}\n"
    report = compile_small(load(section), STATE, SmallSources(ROWS)).report
    assert report["segments"] == {"npc": ["ada-1"]}
    assert report["sections"][0]["source"]["ids"] == ["ada-0", "ada-1"]
    other = compile_small(load(section), STATE, SmallSources(ROWS[::-1])).report
    assert other["digests"] == report["digests"] and other == report
    changed = [Segment("ada-0", "npc", "ada", "changed"), *ROWS[1:]]
    assert compile_small(load(section), STATE, SmallSources(changed)).report["digests"]["stores"] != report["digests"]["stores"]


@pytest.mark.parametrize(
    ("source", "value", "code"),
    [
        ("scope: npc, each: state.x", "ada", "PC0550"),
        ("scope: npc, ref: state.x", {"id": 1}, "PC0551"),
        ("scope: npc, ref: state.x", [True], "PC0551"),
        ("scope: npc, locale: state.x", [1], "PC0552"),
        ("scope: npc, version: state.x", 2, "PC0552"),
    ],
)
def test_what_is_of_another_kind_is_said(load, source, value, code):
    with pytest.raises(PromptcError) as raised:
        render_small(load(_section(source)), {**STATE, "x": value}, SmallSources(ROWS))
    assert [one.code for one in raised.value.diagnostics] == [code]


# contract 4.28
@pytest.mark.parametrize(
    ("refs", "told"),
    [
        (["adda"], "`adda`. Similar to `adda`: `ada`"),
        (["ADA", "bo"], "`ADA`. Similar to `ADA`: `ada`"),
        (["bo", "zoe", "ada", "boo", "zoe"], "`zoe`, `boo`. The scope has `ada`, `bo`. Similar to `boo`: `bo`"),
        ([f"x{number}" for number in range(7)], "`x4` and 2 more. The scope has `ada`, `bo`"),
        (["x" * 500], "xxx…`. The scope"),
    ],
)
def test_what_no_segment_answers_is_told_with_what_is_near(load, refs, told):
    sources = SmallSources(ROWS)
    outcome = compile_small(load(_section("scope: npc, ref: state.x")), {**STATE, "x": refs}, sources)
    (warning,) = outcome.warnings
    assert (warning.code, warning.level) == ("PC0557", "warn") and told in warning.message
    assert outcome.report["sections"][0]["source"]["missing"] == [ref for ref in dict.fromkeys(refs) if ref not in ("ada", "bo")]
    assert sources.asked[1:] == [("main", "npc")]


def test_what_is_there_and_cannot_be_shown_is_told_apart(load):
    rows = [*ROWS, Segment("cy", "npc", "cy", "Cy", active=False), Segment("di", "npc", "di", "Di", locale="pt")]
    outcome = compile_small(load(_section("scope: npc, ref: state.x")), {**STATE, "x": ["ada", "cy", "di"]}, SmallSources(rows))
    (warning,) = outcome.warnings
    assert all(f"The segments of `{name}` are inactive" in warning.message for name in ("cy", "di"))


def test_what_a_section_refuses_was_an_answer(load):
    section = _section("scope: npc, ref: state.x, where: item.metadata.tier > 5")
    outcome = compile_small(load(section), {**STATE, "x": "ada"}, SmallSources(ROWS))
    assert outcome.warnings == () and outcome.report["sections"][0]["source"]["missing"] == []


# contract 4.28
def test_silence_is_asked_for_and_costs_no_question(load):
    sources = SmallSources(ROWS)
    outcome = compile_small(load(_section("scope: npc, ref: state.x, missing: ignore")), {**STATE, "x": "adda"}, sources)
    assert outcome.warnings == () and outcome.report["sections"][0]["source"]["missing"] == ["adda"]
    assert len(sources.asked) == 1


# contract 4.28
def test_what_must_answer_stops_the_render(load):
    section = _section("scope: npc, each: state.x, ref: each, missing: error")
    with pytest.raises(PromptcError) as raised:
        render_small(load(section), {**STATE, "x": ["ada", "adda"]}, SmallSources(ROWS))
    assert [(one.code, one.level) for one in raised.value.diagnostics] == [("PC0557", "error")]
    assert render_small(load(section), {**STATE, "x": ["ada"]}, SmallSources(ROWS)) == "ada0\nada1\n"


def test_without_each_there_is_no_such_name(load):
    pack = load(_section("scope: npc", "text: '{{ each is defined }}'"))
    assert render_small(pack, STATE, SmallSources(ROWS[:1])) == "False\n"
    with pytest.raises(PromptcError):
        render_small(load(_section("scope: npc", "where: each\n      text: x")), STATE, SmallSources(ROWS))


# contract 4.26
def test_segments_stand_by_their_element_then_by_their_order_then_by_their_id(load):
    places = {"ada": {"z": -1, "y": None, "x": None, "a": 2}, "bo": {"b": None}}
    rows = [
        Segment(name, "npc", ref, name, {} if order is None else {"order": order})
        for ref, some in places.items()
        for name, order in some.items()
    ]
    section = _section("scope: npc, each: state.people, ref: each")
    assert render_small(load(section), {**STATE, "people": ["bo", "ada"]}, SmallSources(rows)).split() == ["b", "z", "x", "y", "a"]


LOCALIZED = _section("scope: npc, ref: state.ref, locale: state.locale, missing: ignore")


@pytest.mark.parametrize(("locale", "text"), [("de" + "-a" * 100_000, "Ada\n"), ("d" * 200_000, "")], ids=["parts", "whole"])
def test_a_form_of_a_locale_that_no_row_can_have_is_not_made(load, locale, text):
    """All forms of a tag of 100 000 parts have 10 GB together."""
    sources = SmallSources([Segment("ada", "npc", "ada", "Ada", locale="de")])
    assert render_small(load(LOCALIZED), {**STATE, "ref": "ada", "locale": locale}, sources) == text


@pytest.mark.parametrize("number", [30_000, 800_000])
def test_forms_of_locales_are_paid_for(load, number):
    locales = [f"de{'-a' * (50 if number < 100_000 else 0)}{place}" for place in range(number)]
    with pytest.raises(PromptcError) as raised:
        compile_small(load(LOCALIZED), {**STATE, "ref": "ada", "locale": locales}, SmallSources())
    assert [one.code for one in raised.value.diagnostics] == ["PC0590"]


def test_references_of_each_element_are_paid_for(load):
    """Each of n elements may name n ids of the state."""
    pack = load(_section("scope: npc, each: state.people, ref: state.ids, missing: ignore"))
    state = {**STATE, "people": list(range(3_000)), "ids": [f"n{number}" for number in range(3_000)]}
    with pytest.raises(PromptcError) as raised:
        compile_small(pack, state, SmallSources())
    assert {one.code for one in raised.value.diagnostics} <= {"PC0430", "PC0590"}
