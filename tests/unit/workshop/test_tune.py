"""Budgets over many states: what is measured is what plain renders come to, and what is suggested keeps more of states never seen."""

import json
import shutil
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.api import Pack
from promptc.diag.findings import PromptcError, UsageError
from promptc.explain.items import count_tokens_held
from promptc.frontend.manifest import load_manifest
from promptc.golden.cases.discover import choose_places
from promptc.workshop.page import iter_cases
from promptc.workshop.splice import list_unwritable, write_values
from promptc.workshop.tune import (
    Tuner,
    Wishes,
    list_knobs,
    load_tuned,
    make_tuned,
    measure_state,
    measure_use,
    round_up,
    split_states,
    sweep_total,
)

LARDER = "fixtures/larder"
FIXTURES = sorted(
    one.parent
    for pattern in ("packs/*/pack.yaml", "fixtures/*/pack.yaml", "fixtures/*/base/pack.yaml")
    for one in Path().glob(pattern)
    if one.parts[1] not in ("larder", "ledger")  # the first has tests of its own, the other no state that its pack takes
)
SHIPPED = sorted(one for top in ("packs", "starters") for one in Path(top).iterdir() if (one / "pack.yaml").is_file())


def _quiet(done, total):
    assert done > 0 and total


@cache
def _load_larder():
    pack = Pack.load(LARDER)
    states = [json.loads(line) for line in Path(LARDER, "states.jsonl").read_text().splitlines()]
    return pack, states, [make_tuned(str(at), [pack.load_state(one)], {}) for at, one in enumerate(states)]


def _tune(wishes=None):
    pack, _, tuned = _load_larder()
    return Tuner(pack, LARDER, tuned, [measure_state(one, pack) for one in tuned], wishes or Wishes())


def _count_kept(path, states, tries, weights):
    """The content kept, told by plain renders of a pack that was loaded for it."""
    kept, pack = 0, Pack.load(path, tries=tries)
    for state in states:
        outcome = pack.compile(state)
        for one in outcome.report["sections"] if outcome.tokens is not None else ():
            kept += weights.get(one["id"], 1) * min(one["demand"], count_tokens_held(outcome.fitted, one["id"]))
    return kept


# --- what is measured ---


@pytest.mark.parametrize("weights", [{}, {"talk": 5}, {"stock": 0, "guests": 2}])
def test_what_a_suggestion_keeps_is_what_plain_renders_keep(weights):
    _, states, _ = _load_larder()
    tuner = _tune(Wishes(weights, most_total=200))
    found = tuner.search(_quiet)
    train, judge = split_states(tuner._measured)
    assert found.changes
    for half, scores in ((train, found.trained), (judge, found.held)):
        for tries, score in zip(((), found.tries), scores, strict=True):
            assert score.kept == _count_kept(LARDER, [states[at] for at in half], tries, weights)


@given(st.data())
def test_a_state_is_rendered_again_where_a_value_matters_to_it(data):
    """What is taken from an earlier render is what a render with these values comes to."""
    pack, _, tuned = _load_larder()
    tuner = _tune(Wishes(most_total=300))
    for _ in range(4):
        values = {knob: data.draw(st.integers(20 if knob.owner == "budget" else 1, 200)) for knob in list_knobs(pack.model.manifest)}
        values = {knob: values[knob] for knob in data.draw(st.lists(st.sampled_from(list(values)), unique=True))}
        at = data.draw(st.integers(0, len(tuned) - 1))
        with pack.tried([(knob.path, knob.spell(value)) for knob, value in values.items()]) as tried:
            told, made = tuner._measure(at, values, tried), measure_state(tuned[at], tried)
        assert [_list_told(one) for one in told] == [_list_told(one) for one in made]


def _list_told(prompt):
    return prompt.tokens, {name: (one.wanted, one.held, one.to_total) for name, one in prompt.sections.items()}


def test_what_is_wasted_and_what_is_starved():
    pack, _, tuned = _load_larder()
    uses = {one.name: one for one in measure_use(pack, [measure_state(one, pack) for one in tuned])}
    assert uses["orders"].wasted == uses["orders"].cap - uses["orders"].most > 0 == uses["orders"].cut
    assert (uses["stock"].by, uses["guests"].by, uses["talk"].by) == ("its cap", "its cap", "the total")
    assert uses["guests"].unit == "chars" and uses["guests"].most > uses["guests"].cap == 60
    for name, one in uses.items():
        assert one.kept <= one.wanted and (one.kept < one.wanted) == (one.cut > 0), name
    kept = sum(one.kept for one in uses.values() if one.kind == "section")
    assert kept == _count_kept(LARDER, _load_larder()[1], (), {})


def test_what_a_tier_takes_is_not_taken_by_the_cap(tmp_path):
    items = {"from": "state.talk", "text": "{{ item }}"}
    section = {"id": "talk", "budget": 40, "items": items, "overflow": [{"evict": {}}]}
    done = [{"recap": {"section": "talk", "older": 0.5, "template": "older.md"}}]
    tiers = [{"name": "calm", "at": 0}, {"name": "late", "at": 0.5, "do": done}]
    manifest = {"promptc": 1, "name": "inn", "version": "1.0.0", "tokenizer": "chars/4", "budget": 900, "strain": {"tiers": tiers}}
    (tmp_path / "older.md").write_text("Earlier.")
    (tmp_path / "pack.yaml").write_text(json.dumps({**manifest, "sections": [section]}))
    pack = Pack.load(tmp_path)
    for length, by in ((8, "its tier"), (20, "its cap")):
        states = [make_tuned("one", [pack.load_state({"talk": ["Somebody spoke."] * length})], {})]
        assert measure_use(pack, [measure_state(one, pack) for one in states])[0].by == by


def test_what_a_share_cuts_is_cut_by_its_cap(tmp_path):
    section = {"id": "talk", "budget": {"grow": 1}, "items": {"from": "state.talk", "text": "{{ item }}"}, "overflow": [{"evict": {}}]}
    manifest = {"promptc": 1, "name": "inn", "version": "1.0.0", "tokenizer": "chars/4", "budget": 20, "sections": [section]}
    (tmp_path / "pack.yaml").write_text(json.dumps(manifest))
    pack = Pack.load(tmp_path)
    states = [make_tuned("one", [pack.load_state({"talk": ["Somebody spoke."] * 20})], {})]
    assert measure_use(pack, [measure_state(one, pack) for one in states])[0].by == "its cap"


def test_a_pool_is_told_with_what_its_sections_want():
    pack = Pack.load("fixtures/keeper")
    state = pack.load_state(Path("fixtures/keeper/state.json").read_bytes())
    measured = [measure_state(make_tuned("", [state], {}), pack.tried([("pools.memory.max", "60")]))]
    pool = next(one for one in measure_use(pack, measured) if one.kind == "pool")
    assert (pool.name, pool.cap, pool.cut) == ("memory", 60, 1) and pool.most > 60 == pool.kept


def test_the_knee_is_the_least_total_that_keeps_all_that_is_kept():
    pack, states, tuned = _load_larder()
    found = sweep_total(pack, tuned, 110, {}, _quiet)
    kept = {one.budget: one.kept for one in found.points}
    assert (
        kept[110] == _count_kept(LARDER, states, (), {}) == sum(one.count_kept({}) for each in tuned for one in measure_state(each, pack))
    )
    assert kept[found.knee] == max(kept.values()) > _count_kept(LARDER, states, (("budget", str(found.knee - 10)),), {})
    assert sorted(kept.values()) == list(kept.values())


# --- halves ---


def test_a_total_that_fits_is_found_where_no_prompt_fits(tmp_path):
    rules = "Be kind, and answer in the words of the one who asks. " * 20
    section = {"id": "rules", "text": rules, "pinned": True}
    manifest = {"promptc": 1, "name": "log", "version": "1.0.0", "tokenizer": "o200k_base", "budget": 10, "sections": [section]}
    (tmp_path / "pack.yaml").write_text(json.dumps(manifest))
    pack = Pack.load(tmp_path)
    states = [make_tuned(str(at), [pack.load_state({"at": at})], {}) for at in range(2)]
    measured = [measure_state(one, pack) for one in states]
    wanted = pack.render({}, budget=1000).tokens
    assert [(one.name, one.wanted, one.kept, one.cut) for one in measure_use(pack, measured)] == [
        ("rules", 2 * wanted, 0, 2),
        ("budget", 2 * wanted, 0, 2),
    ]
    found = sweep_total(pack, states, 10, {}, _quiet)
    assert (found.points[-1].budget, found.points[-1].kept, found.points[-1].unfit) == (round_up(wanted), 2 * wanted, 0)
    assert found.knee is None and found.points[0].kept == 0


def test_halves_depend_on_no_order_and_equal_states_stay_together():
    pack, states, _ = _load_larder()
    measured = [measure_state(make_tuned("", [pack.load_state(one)], {}), pack) for one in [*states, states[0]]]
    sides = [[measured[at][0].digest for at in half] for half in split_states(measured)]
    turned = [[measured[::-1][at][0].digest for at in half] for half in split_states(measured[::-1])]
    assert sides == turned and not {*sides[0]} & {*sides[1]}
    assert sorted(sides[0] + sides[1]) == sorted(one[0].digest for one in measured)


@given(st.lists(st.sampled_from(range(12)), min_size=2, unique=True))
def test_neither_half_is_nearly_empty(chosen):
    tuner = _tune()
    halves = split_states([tuner._measured[at] for at in chosen])
    assert min(map(len, halves)) * 3 >= len(chosen) - 1 and all(halves)


def test_one_state_has_no_halves():
    measured = _tune()._measured
    assert not all(split_states([measured[0], measured[0]]))


# --- what is suggested ---


def test_pins_stay():
    found = _tune(Wishes({"talk": 5}, ("sections.stock", "sections.orders"))).search(_quiet)
    assert {one.path for one in found.changes} == {"sections.guests.budget.chars"}
    assert all(found.held[1].sections[name] >= found.held[0].sections[name] for name in ("stock", "orders", "rules"))


def test_the_total_stays_unless_it_may_change():
    assert all(one.path != "budget" for one in _tune(Wishes({"talk": 9})).search(_quiet).changes)
    grown = next(one for one in _tune(Wishes(most_total=133)).search(_quiet).changes if one.path == "budget")
    assert 110 < int(grown.new) <= 133


def test_what_cannot_be_written_is_not_suggested(tmp_path):
    text = Path(LARDER, "pack.yaml").read_text().replace("budget: 40", "budget: &stock 40").replace("max: 60", "max: *stock")
    (tmp_path / "pack.yaml").write_text(text)
    shutil.copy(f"{LARDER}/state.schema.json", tmp_path)
    pack, states = Pack.load(tmp_path), _load_larder()[1]
    tuned = [make_tuned("", [pack.load_state(one)], {}) for one in states]
    found = Tuner(pack, str(tmp_path), tuned, [measure_state(one, pack) for one in tuned], Wishes({"talk": 5})).search(_quiet)
    assert [path for path, _ in found.fixed] == ["sections.stock.budget", "sections.orders.budget.max"]
    assert [one.path for one in found.changes] == ["sections.guests.budget.chars"]


def test_what_helps_one_half_alone_is_not_suggested():
    tuner = _tune(Wishes({"stock": 9}, pins=("sections.orders", "sections.guests")))
    starved = [at for at in range(12) if any(one.sections["stock"].to_cap for one in tuner._measured[at])]
    tuner._train, tuner._judge = starved, [at for at in range(12) if at not in starved]
    found = tuner.search(_quiet)
    assert not found.changes and found.held[0] == found.held[1]
    assert [one.path for one in found.unproven] == ["sections.stock.budget"]
    chosen, best = tuner._improve({}, found.trained[0], lambda _: None)
    assert [knob.path for knob in chosen] == ["sections.stock.budget"] and best.kept > found.trained[0].kept


def _make_crowded(folder, count):
    """A pack and many states, of which one has room for only a little more of section `a`."""
    (folder / "pack.yaml").write_text(
        "promptc: 1\nname: log\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 200\nsections:\n"
        "  - {id: q, text: '{{ state.q }}', pinned: true}\n"
        "  - {id: a, budget: 50, items: {from: state.a, text: '{{ item }}'}}\n"
        "  - {id: c, items: {from: state.c, text: '{{ item }}'}}\ntruncate: [c]\n"
    )
    pack = Pack.load(folder)
    for at in range(count):
        state = {"q": f"question {at} " + "word " * (0 if at else 120), "a": ["alpha beta gamma delta epsilon zeta eta"] * 10}
        state["c"] = ["one two three four five"] * (1 if at or count > 200 else 10)
        yield make_tuned(str(at), [pack.load_state(state)], {})


# contract 12.12
@pytest.mark.parametrize(("count", "total"), [(24, 400), (24, 0), pytest.param(240, 0, marks=pytest.mark.dear)])
def test_no_state_at_all_loses_a_prompt_that_fits(tmp_path, count, total):
    """Neither where a change was only safe beside another one, nor where the state is on neither side."""
    tuned = list(_make_crowded(tmp_path, count))
    pack = Pack.load(tmp_path)
    measured = [measure_state(one, pack) for one in tuned]
    assert all(one.tokens is not None for prompts in measured for one in prompts)
    tuner = Tuner(pack, str(tmp_path), tuned, measured, Wishes(most_total=total))
    assert count < 200 or 0 not in tuner._train + tuner._judge
    found = tuner.search(_quiet)
    with pack.tried(found.tries) as tried:
        assert all(one.tokens is not None for state in tuned for one in measure_state(state, tried))
    assert [(one.path, one.new) for one in found.changes] == [("sections.a.budget", "75")]
    assert ("sections.a.budget", "90") in found.lossy or (total == 0 and count < 200)


def test_a_pinned_section_loses_nothing_to_others():
    """Stock that counts nine times would push the talk out."""
    free = _tune(Wishes({"stock": 9})).search(_quiet)
    pinned = _tune(Wishes({"stock": 9}, ("sections.talk",))).search(_quiet)
    assert free.held[1].sections["talk"] < free.held[0].sections["talk"]
    assert pinned.held[1].sections["talk"] >= pinned.held[0].sections["talk"]
    assert pinned.trained[1].sections["talk"] >= pinned.trained[0].sections["talk"]


def _make_list_pack(folder, budget):
    (folder / "pack.yaml").write_text(
        "promptc: 1\nname: list\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 50\nsections:\n"
        f"  - {{id: lines, budget: {budget}, items: {{from: state.lines, text: '{{{{ item }}}}'}}}}\ntruncate: [lines]\n"
    )
    pack = Pack.load(folder)
    tuned = [make_tuned("", [pack.load_state({"lines": [f"this is line {at} of many" for at in range(80)]})], {})]
    return pack, Tuner(pack, str(folder), tuned, [measure_state(one, pack) for one in tuned], Wishes(most_total=900))


def test_a_list_that_was_not_read_whole_is_rendered_for_every_cap(tmp_path):
    """No more of a long list is read than there is room for: what it wants depends on the total."""
    pack, tuner = _make_list_pack(tmp_path, 100)
    cap, total = list_knobs(pack.model.manifest)
    assert 100 < tuner._measured[0][0].sections["lines"].size < 170
    for size in (170, 300):
        values = {cap: size, total: 400}
        with pack.tried([(knob.path, knob.spell(value)) for knob, value in values.items()]) as tried:
            told, made = tuner._measure(0, values, tried), measure_state(tuner._states[0], tried)
        assert told[0].tokens == made[0].tokens


def test_what_a_turn_hands_on_may_depend_on_budgets():
    pack = Pack.load("packs/sentinel")
    cases = [case for case, _ in iter_cases(choose_places(("packs/sentinel",)).places)]
    fixed = {}
    for case in cases:
        with suppress(PromptcError):  # a case of a state that is refused
            if case.carry or case.kind == "render":
                fixed[load_tuned(case, pack).is_fixed] = case
    assert fixed[False].carry or fixed[False].given
    assert not fixed[True].carry


@pytest.mark.parametrize(
    "wishes", [Wishes({"larder": 2}), Wishes(pins=("sections.larder",)), Wishes(pins=("stock",)), Wishes(pins=("pools.x",))]
)
def test_wishes_name_what_is_there(wishes):
    with pytest.raises(UsageError, match="PC0718"):
        _tune(wishes)


@pytest.mark.parametrize(("number", "rounded"), [(0, 0), (7, 7), (99, 99), (101, 110), (110, 110), (12001, 13000)])
def test_sizes_have_two_digits(number, rounded):
    assert round_up(number) == rounded


# contract 12.12
@pytest.mark.dear
@pytest.mark.parametrize("path", FIXTURES, ids=str)
def test_states_that_were_never_seen_keep_at_least_as_much(path):
    """On the fixtures of every pack: no suggestion keeps less of what it is judged by, or takes from what is pinned."""
    pack = Pack.load(path)
    tuned, measured = [], []
    for case, _ in islice(iter_cases(choose_places((str(path),)).places), 8):
        with suppress(PromptcError):
            one = load_tuned(case, pack)
            measured.append(measure_state(one, pack))
            tuned.append(one)
    assert tuned
    if not all(split_states(measured)):
        return
    tuner = Tuner(pack, str(path), tuned, measured, Wishes())
    found = tuner.search(_quiet)
    own, after = found.held
    assert (after.kept > own.kept) == bool(found.changes) and after.kept >= own.kept
    with pack.tried(found.tries) as tried:
        for at in range(len(tuned)):
            made = measure_state(tuned[at], tried)
            for old, new in zip(measured[at], made, strict=True):
                assert old.tokens is None or new.tokens is not None
                for name, one in old.sections.items():
                    assert not one.pinned or new.sections[name].held >= one.held
        judged = [measure_state(tuned[at], tried) for at in split_states(measured)[1]]
    assert after.kept == sum(one.count_kept({}) for prompts in judged for one in prompts)


# --- what is written ---


@pytest.mark.parametrize("path", SHIPPED, ids=str)
def test_only_tuned_lines_of_a_shipped_pack_change(path, tmp_path):
    shutil.copytree(path, tmp_path / "pack")
    knobs = list_knobs(load_manifest(path))
    fixed = list_unwritable(str(path), [one.path for one in knobs])
    tries = [(one.path, one.spell(one.value - 1)) for one in knobs if one.path not in fixed and one.value > 1]
    before = {one: one.read_bytes() for one in sorted((tmp_path / "pack").rglob("*")) if one.is_file()}
    made = write_values(str(tmp_path / "pack"), tries)
    after = {one: one.read_bytes() for one in sorted((tmp_path / "pack").rglob("*")) if one.is_file()}
    assert [one for one in after if after[one] != before.get(one)] == [Path(made.name)]
    old, new = made.before.split(b"\n"), made.after.split(b"\n")
    lines = {at for at, (one, other) in enumerate(zip(old, new, strict=True), 1) if one != other}
    assert lines == {int(one.at.rsplit(":", 2)[1]) for one in made.changes} and len(made.changes) == len(tries)
    written, tried = Pack.load(tmp_path / "pack"), Pack.load(path, tries=tries)
    assert written.model.manifest.plain() == tried.model.manifest.plain()
    if (path / "state.json").is_file():
        state = (path / "state.json").read_bytes()
        texts = [[part.text for part in pack.compile(state).emitted.parts] for pack in (written, tried)]
        assert texts[0] == texts[1]
