"""What a render costs, in operations: budgets that hold on any machine. How long they take is for `python -m benchmarks`."""

import json
from pathlib import Path
from typing import Any

import pytest

import promptc
from benchmarks.blocks import make_reach_state, make_sentinel_state
from benchmarks.fitting import CountingMeter
from promptc.model.stages import RenderOptions
from promptc.passes.bind import bind
from promptc.passes.fit.fit import fit
from promptc.passes.items.render import ItemRenderer
from promptc.passes.strain import strain
from promptc.pipeline import compile_prompt
from promptc.text.counters.counter import Meter
from promptc.text.guard import Guard, guard_again
from tests.unit.text.test_prefix import Whole

_ROOT = Path(__file__).parents[2]
_MAKE = {"packs/sentinel": make_sentinel_state, "benchmarks/reach": make_reach_state}
_WORDS = 90
_FEW = 4

each_pack = pytest.mark.parametrize("name", _MAKE)


@pytest.fixture
def rendered(monkeypatch):
    """The places of the items that were rendered, in order."""
    places = []
    render = ItemRenderer.render

    def spy(self, read, *rest):
        places.append(read.place)
        return render(self, read, *rest)

    monkeypatch.setattr(ItemRenderer, "render", spy)
    return places


def _load(name):
    pack = promptc.load(_ROOT / name)
    return pack, CountingMeter(pack.model.counting.counter)


def _newest(state: dict[str, Any], count: int) -> dict[str, Any]:
    return {**state, "transcript": state["transcript"][-count:]}


def _compile(pack, meter, raw) -> tuple[int, int]:
    """Renders, and says how many counts were asked for and how many of them had to be encoded."""
    meter.asked = meter.encoded = 0
    outcome = compile_prompt(pack.model, pack.load_state(raw), meter)
    assert not outcome.errors
    return meter.asked, meter.encoded


# contract 4.10
@each_pack
def test_a_longer_list_is_rendered_no_further(name, rendered):
    whole = _MAKE[name](10_000, _WORDS, 7)
    spent = []
    for count in (1_000, 10_000):
        pack, meter = _load(name)
        rendered.clear()
        asked, encoded = _compile(pack, meter, _newest(whole, count))
        spent.append((len(rendered), asked, encoded))
    assert spent[0] == spent[1]
    assert spent[0][0] < 200


@each_pack
def test_a_turn_of_a_session_renders_what_it_adds(name, monkeypatch):
    """Whatever the length of the list. A block that was there in the last turn is rendered again only where its marks have changed."""
    made = []
    finish = ItemRenderer._finish
    monkeypatch.setattr(ItemRenderer, "_finish", lambda self, read, *rest: made.append(read.place) or finish(self, read, *rest))
    for size in (300, 3_000):
        raw = _MAKE[name](size + 3, _WORDS, 7)
        pack, blocks = promptc.load(_ROOT / name), raw["transcript"]
        session = pack.session()
        session.render({**raw, "transcript": blocks[:size]})
        for place in range(size, size + 3):
            made.clear()
            session.append("/transcript", blocks[place])
            session.render()
            assert place in made and len(made) <= _FEW


def test_a_turn_does_not_look_at_a_list_that_has_not_changed(rendered):
    raw = make_reach_state(300, _WORDS, 7)
    session = promptc.load(_ROOT / "benchmarks/reach").session()
    session.render(raw)
    assert rendered
    rendered.clear()
    session.update([{"op": "replace", "path": "/input", "value": "We go up."}])
    assert "We go up." in session.render().text and not rendered
    session.render(budget=12_000)
    assert rendered  # with another budget, another part of the list is read


@each_pack
def test_a_block_that_changed_costs_a_few_counts(name):
    pack, meter = _load(name)
    state = _MAKE[name](1_000, _WORDS, 7)
    _compile(pack, meter, state)
    assert _compile(pack, meter, state)[1] == 0
    newest = state["transcript"][-1]
    changed = {**newest, "text": "Nobody has said this before. " + newest["text"]}
    asked, encoded = _compile(pack, meter, {**state, "transcript": [*state["transcript"][:-1], changed]})
    assert 0 < encoded <= _FEW < asked


@each_pack
def test_a_block_more_costs_a_few_counts(name):
    pack, meter = _load(name)
    state = _MAKE[name](1_001, _WORDS, 7)
    _compile(pack, meter, {**state, "transcript": state["transcript"][:-1]})
    assert 0 < _compile(pack, meter, state)[1] <= _FEW


def test_what_every_render_of_a_pack_says_is_guarded_once(monkeypatch):
    pack, meter = _load("packs/sentinel")
    rules = pack.compile(make_sentinel_state(20, _WORDS, 7)).fitted.sections["rules"].alive[0].item.raw
    guard_again.cache_clear()
    guarded = []
    guard = Guard.guard
    monkeypatch.setattr(Guard, "guard", lambda self, text, **given: guarded.append(text) or guard(self, text, **given))
    for seed in (8, 9):
        _compile(pack, meter, make_sentinel_state(20, _WORDS, seed))
    assert guarded.count(rules) == 1 < len(guarded)


@pytest.fixture(params=["truncate: [log]", "budget", "groups", "levels"])
def manifest(request):
    """`benchmarks/reach` made to select all, with ladders of several kinds that must take out nearly every item."""
    text = (_ROOT / "benchmarks/reach/pack.yaml").read_text().replace("budget: 13000", "budget: 400")
    text = text.replace("items: {from:", "items: {limit: 1000000, from:")
    if request.param == "budget":
        return text.replace("note: no window", "budget: 300\n    note: no window")
    if request.param == "groups":
        return text.replace('text: "[', 'group: {by: item.id // 5, header: "{{ group }}"}, text: "[')
    if request.param == "levels":
        return text.replace("truncate: [log]", "truncate: [{lower: {section: log, by: item.id}}]")
    return text


def test_a_notch_costs_the_same_however_many_items_there_are(manifest, tmp_path):
    (tmp_path / "pack.yaml").write_text(manifest)
    pack = promptc.load(tmp_path)
    spent = {}
    for count in (500, 2_000):
        meter = CountingMeter(pack.model.counting.counter)
        strained = strain(bind(pack.model, pack.load_state(make_reach_state(count, 8, 7)), meter, RenderOptions()))
        fit(strained)
        meter.asked = meter.encoded = 0
        fitted = fit(strained)
        assert not fitted.errors
        assert meter.encoded == 0
        notches = sum(run.tried for run in (*fitted.ladders.values(), fitted.truncated) if run is not None)
        assert notches > count // 2
        spent[count] = meter.asked / count
    assert spent[2_000] <= spent[500] * 1.1
    assert spent[2_000] < 8


@pytest.mark.parametrize("to", [None, {"tokens": 3_000}])
@pytest.mark.parametrize("at", ["sentence", "word", "token"])
@pytest.mark.parametrize("side", ["end", "start", "middle"])
def test_a_trim_counts_a_text_once_and_little_beside_it(at, side, to, tmp_path):
    text = "\n\n".join(block["text"] for block in make_reach_state(160, _WORDS, 7)["transcript"])
    step = {"at": at, "from": side, **({"to": to} if to is not None else {})}
    sections = [{"id": "one", "text": "{{ state.text }}", "overflow": [{"trim": step}]}]
    manifest = {"promptc": 1, "name": "cut", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": 3_001, "sections": sections}
    (tmp_path / "pack.yaml").write_text(json.dumps({**manifest, "truncate": ["one"]}))
    pack = promptc.load(tmp_path)
    counter = Whole(pack.model.counting.counter)
    outcome = compile_prompt(pack.model, pack.load_state({"text": text}), Meter(counter))
    assert outcome.tokens is not None
    assert outcome.tokens <= 3_001
    assert counter.characters < 2 * len(text), "the text, what is left of it, and what is near the cut"


def test_a_trim_of_many_items_counts_what_each_is_left_with(tmp_path):
    spent = {}
    for count in (200, 800):
        texts = [block["text"] for block in make_reach_state(count, _WORDS, 7)["transcript"]]
        section = {
            "id": "log",
            "items": {"from": "state.log", "limit": 10_000, "text": "{{ item }}"},
            "overflow": [{"trim": {"at": "word"}}],
        }
        manifest = {
            "promptc": 1,
            "name": "cut",
            "version": "1.0.0",
            "tokenizer": "cl100k_base",
            "budget": 60 * count,
            "sections": [section],
        }
        (tmp_path / "pack.yaml").write_text(json.dumps({**manifest, "truncate": ["log"]}))
        pack = promptc.load(tmp_path)
        counter = Whole(pack.model.counting.counter)
        strained = strain(bind(pack.model, pack.load_state({"log": texts}), Meter(counter), RenderOptions()))
        fit(strained)
        counter.characters = 0
        fitted = fit(strained)
        assert not fitted.errors
        spent[count] = counter.characters / count
    assert spent[800] <= spent[200] * 1.5
    assert spent[800] < 40, "characters an item, of 500"
