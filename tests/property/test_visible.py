"""What `visible` hides is nowhere (contract.md §11): the rest of a hidden element may be anything, or nothing, and no byte changes."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.explain.items import trace_items
from promptc.model.messages import PROVIDERS
from tests.packs import load_pack
from tests.property.drawing.draws import draw_any, draw_long
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("first", "second", "third", "turns", "tools")


# contract 11.5
@pytest.mark.parametrize("draw", [draw_any, draw_long])
def test_nothing_of_a_hidden_element_decides_anything(proof: Proof, draw) -> None:
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_hidden(loaded, tally, library)

    tally = proof.hold(f"hidden, {draw.__name__}", judge, draw, 600)
    assert tally["hidden"] > tally["packs"] // 2


def judge_hidden(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    """Renders the state with hidden elements as they were drawn, and with nothing left of them but the mark."""
    rng = Random(repr(loaded.drawn.manifest))
    state, bare = deepcopy(loaded.drawn.state), deepcopy(loaded.drawn.state)
    for name in LISTS:
        for place in range(len(state[name])):
            is_hidden = rng.random() < 0.3
            state[name][place]["secret"] = is_hidden
            bare[name][place] = {"secret": True} if is_hidden else state[name][place]
    manifest = {**loaded.drawn.manifest, "visible": "not item.secret | default(false)"}  # tools of files have no mark
    full, empty = (library.load(replace(loaded.drawn, manifest=manifest, state=one)) for one in (state, bare))
    for total in sorted({rng.randint(1, 60), rng.randint(20, 400), 4000}):
        pair = [_tell(one, total) for one in (full, empty)]
        tally["renders"] += 1
        tally["hidden"] += any(section["left_out"].get("hidden") for section in pair[0][1]["sections"])
        if pair[0] != pair[1]:
            return f"at {total} the hidden elements tell {pair[0]}, and without them {pair[1]}"
    return None


def _tell(loaded: Loaded, total: int) -> tuple[Any, ...]:
    """All that a render tells: its output, its report but the digest of the state, and what `explain` says of every stage."""
    outcome = loaded.compile(total)
    report = json.loads(json.dumps(outcome.report))
    report["digests"].pop("state", None)
    selection = outcome.fitted.strained.selection
    traces = [trace_items(selection, one) for one in selection.sections if one.section.items is not None and one.state != "off"]
    stages = [[(one.name, one.passed, [trace.name_item(place) for place in one.left_out]) for one in trace.stages] for trace in traces]
    emitted = outcome.emitted
    return (emitted.text, list(emitted.messages)) if emitted is not None else None, report, stages


# --- a whole pack: nothing internal in a story ---

WORDS = st.sampled_from(["keel", "fare", "Quillon", "fog", "bell", "passage", "lamp", "tide"])
LINES = st.lists(WORDS, min_size=2, max_size=7).map(" ".join)
MODES = st.sampled_from(["story", "dm", "god"])
INPUTS = LINES | st.sampled_from(
    [
        "Show me the inner profile of companions, their MBTI type and alignment.",
        "How do I turn the inner profile of a companion into habits?",
        "Which page tells the game master how to make companions?",
        "god:rewind to noon",
    ]
)


@st.composite
def campaigns(draw):
    """A state with marks everywhere, and the words that stand in what is marked and in what is not."""
    words: dict[bool, list[str]] = {True: [], False: []}

    def say(is_internal: bool) -> str:
        words[is_internal].append(f"{'hush' if is_internal else 'loud'}{len(words[is_internal])}")
        return f"{words[is_internal][-1]} {draw(LINES)}"

    def make(**keys: Any) -> dict[str, Any]:
        is_internal = draw(st.booleans())
        texts = {key: say(is_internal) if value is None else value for key, value in keys.items()}
        return {**texts, **({"internal": is_internal} if is_internal or draw(st.booleans()) else {})}

    exchanges = []
    for turn in range(draw(st.integers(0, 5))):
        mode = draw(MODES)
        exchanges += [{"turn": turn, "speaker": one, "text": say(mode != "story"), "mode": mode} for one in ("player", "narrator")]
    state = {
        "input": draw(INPUTS),
        "scene": {"topic": draw(st.sampled_from(["", "making companions, inner profile", "keel fares"]))},
        "npcs": [make(id=f"npc_{at}", name=None, wants=None, present=draw(st.booleans())) for at in range(draw(st.integers(0, 3)))],
        "threads": [make(id=f"thread_{at}", title=None, stake=None) for at in range(draw(st.integers(0, 3)))],
        "campaign_memory": [make(id=f"mem-{at}", text=None) for at in range(draw(st.integers(0, 5)))],
        "tool_results": [make(id=f"call-{at}", tool="roll", text=None) for at in range(draw(st.integers(0, 3)))],
        "transcript": exchanges,
    }
    return state, words


@cache
def _load() -> promptc.Pack:
    return load_pack("packs/worldarchitect")


@cache
def _list_secret_pages() -> tuple[str, ...]:
    """Lines of the pages that are for the game master alone."""
    pages = sorted((ROOT / "packs" / "worldarchitect" / "prompt_archive" / "1.1").glob("*/*.md"))
    texts = [page.read_text(encoding="utf-8") for page in pages]
    lines = [line for text in texts if "\nmode: dm" in text or "\nmode: god" in text for line in text.splitlines()[3:]]
    return tuple(line for line in lines if len(line) > 40 and not line.startswith("<rule"))


@pytest.mark.dear
@given(drawn=campaigns(), provider=st.sampled_from(PROVIDERS))
def test_nothing_internal_reaches_a_story(drawn, provider):
    state, words = drawn
    shown = _show({**state, "mode": "story"}, provider)
    assert not [word for word in words[True] if any(f"{word} " in text for text in shown)]
    assert _list_secret_pages() and not [line for line in _list_secret_pages() if line in shown[0]]


@given(drawn=campaigns())
def test_the_game_master_is_shown_all_of_it(drawn):
    state, words = drawn
    marks = [one["text"].split()[0] for one in state["campaign_memory"]]
    found = [{**one, "text": f"{mark} keel"} for one, mark in zip(state["campaign_memory"], marks, strict=True)]
    state = {**state, "mode": "dm", "input": " ".join(["keel", *marks]), "scene": {"topic": ""}, "campaign_memory": found}
    text = f"{_load().render(_load().load_state(state)).text}\n".replace("\n", " ")
    assert not [word for some in words.values() for word in some if f"{word} " not in text]


def _show(state: dict[str, Any], provider: str) -> list[str]:
    """Everything a render gives out: text, messages, the body for a provider, and the reports."""
    given = _load().load_state(state)
    prompt, messages = _load().render(given), _load().render(given, format="messages")
    given_out = [messages.messages, messages.to(provider), prompt.report, messages.report]
    return [prompt.text, *(json.dumps(one, ensure_ascii=False) for one in given_out)]
