"""A list that is read only as far as the budget reaches gives the prompt of the whole list."""

import pytest

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn

TOTALS = (5, 9, 14, 20, 27, 35, 44)


def _compile(tmp_path, section, state, total, others=(), **more):
    manifest = {
        "promptc": 1,
        "name": "reach",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [section, *others],
        "truncate": ["log"],
        **more,
    }
    return load_drawn(Drawn(manifest, state), tmp_path).compile(state, budget=total)


def _render_both(tmp_path, section, state, total, **more):
    """The text with reach, and with a limit that changes nothing but that the list is read whole."""
    whole = {**section, "items": {**section["items"], "limit": 1_000_000}}
    outcomes = [_compile(tmp_path, one, state, total, **more) for one in (section, whole)]
    return [outcome.emitted.text if outcome.emitted is not None else None for outcome in outcomes]


def _section(**keys):
    return {"id": "log", "items": {"from": "state.list", "text": "{{ item.text }}"}, **keys}


@pytest.mark.parametrize(
    ("separator", "text"), [("", "a"), ("", "="), (" ", "the"), ("", "0"), (", ", "x"), ("/", "b"), ("\n", "/"), ("\n\n", " y")]
)
def test_items_that_are_joined_count_less_together_than_alone(tmp_path, separator, text):
    state = {"list": [{"text": text}] * 90}
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, _section(separator=separator), state, total)
        assert reached == whole


@pytest.mark.parametrize("step", [2, 3, 4])
def test_blocks_of_steps_are_read_whole(tmp_path, step):
    """A block read in part would be taken where the whole one stays because of the floor."""
    state = {"list": [{"text": f"some words {place}"} for place in range(30)]}
    section = _section(overflow=[{"evict": {"step": step, "floor": 3}}, {"trim": {"at": "word"}}])
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, section, state, total)
        assert reached == whole


# contract 5.36
def test_a_later_marker_tells_how_many_went_in_all(tmp_path):
    state = {"list": [{"text": f"some words {place}"} for place in range(30)]}
    section = _section(overflow=[{"evict": {"floor": 5}}, {"evict": {"marker": "({{ removed }} more)"}}])
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, section, state, total)
        assert reached == whole


# contract 5.36
@pytest.mark.parametrize("step", [{"evict": {"by": "this.id | length"}}, {"trim": {"order": ["this.id == 'a#2'"]}}], ids=["by", "order"])
def test_a_later_step_that_reads_ids(tmp_path, step):
    """The id of a new item ends in `#2` because of an old one that need not be read."""
    state = {"list": [{"id": id, "text": f"some words {id}"} for id in ("a", *map(str, range(30)), "bcd", "a")]}
    section = _section(overflow=[{"evict": {"floor": 2}}, step, {"evict": {}}])
    section["items"]["id"] = "item.id"
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, section, state, total)
        assert reached == whole


# contract 5.36
def test_a_step_that_tells_how_many_were_selected(tmp_path):
    state = {"list": [{"text": f"some words {place}"} for place in range(30)]}
    other = {"id": "sum", "text": "A long text that is replaced by a short one.", "overflow": [{"replace": {"template": "count.md.j2"}}]}
    (tmp_path / "count.md.j2").write_text("{{ selected.log }} in all", encoding="utf-8")
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, _section(), state, total, others=[other], truncate=["sum", "log"])
        assert reached == whole


def test_an_id_that_stands_twice(tmp_path):
    state = {"list": [{"text": "some words", "n": place // 4} for place in range(30)]}
    section = {"id": "log", "items": {"from": "state.list", "number": "item.n", "text": "{{ this.id }} {{ item.text }}"}}
    for total in TOTALS:
        reached, whole = _render_both(tmp_path, section, state, total)
        assert reached == whole


def test_a_watched_section_is_measured_whole(tmp_path):
    state = {"list": [{"text": f"some words {place}"} for place in range(90)]}
    other = {"id": "sum", "text": "Some text.", "budget": 100}
    strain = {"watch": {"log": "more"}, "tiers": [{"name": "calm", "at": 0}, {"name": "tense", "at": 1}]}
    outcome = _compile(tmp_path, _section(), state, 30, others=[other], strain=strain)
    assert outcome.report["flags"] == {"would_raise": {"log": ["calm", "tense"]}}


# contract 5.34 and 5.35
def test_what_was_left_out_adds_up(tmp_path):
    state = {"list": [{"text": f"some words {place}", "ok": place % 3 > 0} for place in range(90)]}
    section = _section()
    section["items"] = {**section["items"], "where": "item.ok"}
    told = _compile(tmp_path, section, state, 30).report["sections"][0]
    assert "demand_at_least" in told
    outcome = _compile(tmp_path, section, state, 30)
    assert sum(told["left_out"].values()) + len(outcome.fitted.sections["log"].entries) == 90


@pytest.mark.parametrize("truncate", [[], ["other"]])
def test_what_is_missing_is_a_lower_bound_where_not_all_was_read(tmp_path, truncate):
    state = {"list": [{"text": f"some words {place}"} for place in range(900)]}
    outcome = _compile(tmp_path, _section(), state, 30, others=[{"id": "other", "text": "Some text."}], truncate=truncate)
    assert "That is at least " in outcome.report["error"]["message"]


def test_what_is_missing_after_eviction_is_exact(tmp_path):
    state = {"list": [{"text": f"some words {place}"} for place in range(900)]}
    other = {"id": "other", "text": "Some text that is pinned. " * 9, "pinned": True}
    outcome = _compile(tmp_path, _section(), state, 30, others=[other])
    missing = outcome.report["error"]["missing"]
    assert "at least" not in outcome.report["error"]["message"]
    assert _compile(tmp_path, _section(), state, 30 + missing, others=[other]).emitted is not None
    assert _compile(tmp_path, _section(), state, 29 + missing, others=[other]).emitted is None
