"""Booking answers: the next state is valid whatever a model answers, the digest never loses a hinge, and a scene is booked once."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.operations.run import run_operation
from tests.contract.sources import ROOT

SENTINEL, TIDEPOOL, COMPANION = (promptc.load(ROOT / "packs" / name) for name in ("sentinel", "tidepool", "companion"))
CALM = json.loads((ROOT / "fixtures" / "sentinel" / "calm" / "state.json").read_text())
LONG = json.loads((ROOT / "fixtures" / "tidepool" / "base" / "long.json").read_text())

texts = st.sampled_from(["", " ", "\x85", "\x1c", "\ufeff", "The gate shuts.", "x" * 300, "x" * 2000]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
)
numbers = st.integers(-12, 12) | st.sampled_from([-99999, 99999, 2.0, -9, 9, 999, 1e300])


def _entries(*keys: str) -> Any:
    return st.lists(st.fixed_dictionaries(dict.fromkeys(keys, texts)), max_size=5)


digests = st.fixed_dictionaries(
    {
        "hinge_index": _entries("situation", "choice", "consequence"),
        "standing_reasons": _entries("faction", "reason"),
        "npc_memory_anchors": _entries("npc", "memory"),
        "open_threads": _entries("name", "trigger"),
    }
)
scenes = st.fixed_dictionaries(
    {
        "summary": texts,
        "keyMoments": st.lists(texts, max_size=3),
        "consequenceSeeds": st.lists(texts, max_size=3),
        "stressDelta": numbers,
        "coinDelta": numbers,
    }
)


def _count_hinges(state: Any) -> int:
    return sum(bool(one["situation"].strip("\ufeff \x85\x1c")) for one in state["digest"]["hinge_index"])


@given(answers=st.lists(digests, min_size=1, max_size=4), operation=st.sampled_from(["compress", "checkpoint"]))
def test_the_hinges_never_become_fewer(answers: list[Any], operation: str) -> None:
    state = CALM
    for answer in answers:
        done = run_operation(SENTINEL, state, operation, answers={"digest": json.dumps(answer)})
        SENTINEL.load_state(done.value)
        assert _count_hinges(done.value) >= _count_hinges(state) > 0 and done.value["digest"]["standing_reasons"]
        kept = [one for one in done.archives if one.is_value]
        assert [one.elements[0] for one in kept] == ([state["digest"]] if done.value["digest"] != state["digest"] else [])
        state = done.value


@given(first=scenes, second=scenes)
def test_a_scene_is_booked_once_however_often_it_is_folded(first: Any, second: Any) -> None:
    once = run_operation(TIDEPOOL, LONG, "compress_scene", answers={"scene": json.dumps(first)}).value
    TIDEPOOL.load_state(once)
    again = {**once, "scene": {**once["scene"], "beats": LONG["scene"]["beats"]}}
    twice = run_operation(TIDEPOOL, again, "compress_scene", answers={"scene": json.dumps(second)}).value
    assert twice == once


@given(delta=st.integers(-2, 2), more=st.integers(-2, 2))
def test_of_beats_that_were_played_on_only_the_rest_is_booked(delta: int, more: int) -> None:
    start = {**LONG, "player": {**LONG["player"], "stress": 5, "coin": 500}}
    answer = {"summary": "It went on.", "keyMoments": [], "consequenceSeeds": [], "stressDelta": delta, "coinDelta": 10 * delta}
    once = run_operation(TIDEPOOL, start, "compress_scene", answers={"scene": json.dumps(answer)}).value
    again = {**once, "scene": {**once["scene"], "beats": [*LONG["scene"]["beats"], "The tide turned."]}}
    whole = {**answer, "stressDelta": more, "coinDelta": 10 * more}
    twice = run_operation(TIDEPOOL, again, "compress_scene", answers={"scene": json.dumps(whole)}).value
    assert (twice["player"]["stress"], twice["player"]["coin"]) == (5 + more, 500 + 10 * more)
    assert len(twice["scenes"]) == len(once["scenes"]) + 1


@given(
    found=st.fixed_dictionaries(
        {"memories": st.lists(st.fixed_dictionaries({"type": st.just("PROFILE"), "content": texts}), max_size=7), "loops": st.just([])}
    ),
    full=st.booleans(),
)
def test_what_a_judge_found_leaves_a_valid_state(found: Any, full: bool) -> None:
    old = {"at": "", "persona": "wren", "memories": [], "loops": []}
    state = {"transcript": "Hello.", "learned": [old] * (1000 if full else 1)}
    done = run_operation(COMPANION, state, "learn", answers={"found": json.dumps(found)})
    COMPANION.load_state(done.value)
    assert all(one["content"].strip("\ufeff \x85\x1c") for entry in done.value["learned"] for one in entry["memories"])
