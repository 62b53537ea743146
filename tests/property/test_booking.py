"""Booking answers: the next state is valid whatever a model answers, the digest never loses a hinge, and a scene is booked once."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import promptc
from promptc.operations.archive import list_archives, read_archive
from promptc.operations.restore import make_restoration, read_note
from promptc.operations.results import StateDiff
from promptc.operations.run import run_operation
from promptc.operations.state_file import apply_to_file, rewrite_state
from tests.contract.sources import ROOT
from tests.packs import load_pack
from tests.size import count_examples

SENTINEL = "packs/sentinel"
TIDEPOOL = "packs/tidepool"
COMPANION = "packs/companion"
CALM = json.loads((ROOT / "fixtures" / "sentinel" / "calm" / "state.json").read_text())
LONG = json.loads((ROOT / "fixtures" / "tidepool" / "base" / "long.json").read_text())

SCENE = json.loads((ROOT / "fixtures" / "tidepool" / "answers" / "scene.json").read_text())

texts = st.sampled_from(["", " ", "\x85", "\x1c", "\ufeff", "The gate shuts.", "x" * 300, "x" * 2000]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
)
small = st.integers(-2, 2)
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

seeds = st.sampled_from(["Oskar counts.", "oskar counts.", "Telda knows.", *LONG["seeds"]])
taken = st.fixed_dictionaries(
    {
        "summary": st.sampled_from(["It rained.", "Nell left."]),
        "keyMoments": st.lists(seeds, max_size=2),
        "consequenceSeeds": st.lists(seeds, max_size=4),
        "stressDelta": st.integers(-9, 9),
        "coinDelta": st.integers(-999, 999) | small,
    }
)
"""Answers that pass their check."""


def _count_hinges(state: Any) -> int:
    return sum(bool(one["situation"].strip("\ufeff \x85\x1c")) for one in state["digest"]["hinge_index"])


@given(answers=st.lists(digests, min_size=1, max_size=4), operation=st.sampled_from(["compress", "checkpoint"]))
def test_the_hinges_never_become_fewer(answers: list[Any], operation: str) -> None:
    state = CALM
    for answer in answers:
        done = run_operation(load_pack(SENTINEL), state, operation, answers={"digest": json.dumps(answer)})
        load_pack(SENTINEL).load_state(done.value)
        assert _count_hinges(done.value) >= _count_hinges(state) > 0 and done.value["digest"]["standing_reasons"]
        kept = [one for one in done.archives if one.name == "digest"]
        assert [one.elements[0] for one in kept] == ([state["digest"]] if done.value["digest"] != state["digest"] else [])
        state = done.value


def _do(pack: Any, folder: Path, operation: str, answers: Mapping[str, Any]) -> Any:
    """The state in the file, after the operation was done to the file."""
    written = {name: json.dumps(answer) for name, answer in answers.items()}
    apply_to_file(pack, str(folder / "s.json"), operation, None, written, folder=None, wait=1, expected=None)
    return json.loads((folder / "s.json").read_bytes())


def _restore(pack: Any, folder: Path) -> None:
    """All that is archived of the state in the file, as `promptc apply --restore` does it."""
    paths = list_archives(folder / "s.json.archive")
    archives, files = [read_archive(path) for path in paths], [path.name for path in paths]

    def make(raw: bytes, path: Path) -> StateDiff:
        return make_restoration(pack, raw, archives, name="s.json", note=read_note(path, raw), files=files)[0]

    rewrite_state(str(folder / "s.json"), make, folder=None, wait=1, purpose="restore")


def _start(state: Any, folder: str) -> Path:
    (Path(folder) / "s.json").write_text(json.dumps(state))
    return Path(folder)


@pytest.mark.dear
@given(answers=st.lists(taken | scenes, min_size=2, max_size=4), stress=st.integers(0, 9), coin=st.sampled_from([0, 3, 998]))
@settings(max_examples=count_examples(40), deadline=None)
def test_a_scene_that_is_restored_and_folded_again_is_booked_as_if_for_the_first_time(answers: Any, stress: int, coin: int) -> None:
    """The last answer counts, and it alone: whatever the ones before it booked, cut off at a bound or not, or a template stood for."""
    start = {**LONG, "player": {**LONG["player"], "stress": stress, "coin": coin}}
    with TemporaryDirectory() as made:
        folder = _start(start, made)
        for answer in answers:
            _restore(load_pack(TIDEPOOL), folder)
            assert json.loads((folder / "s.json").read_bytes())["scene"] == start["scene"]
            done = _do(load_pack(TIDEPOOL), folder, "compress_scene", {"scene": answer})
            assert done == run_operation(load_pack(TIDEPOOL), start, "compress_scene", answers={"scene": json.dumps(answer)}).value


@pytest.mark.dear
@given(answers=st.lists(digests, min_size=2, max_size=3), operation=st.sampled_from(["compress", "checkpoint", "clear"]))
@settings(max_examples=count_examples(40), deadline=None)
def test_an_operation_of_sentinel_that_is_restored_and_done_again_is_done_once(answers: Any, operation: str) -> None:
    """Its history aside, which tells of each call."""
    start = {**CALM, "strain": "strain_2", "cleared_without_checkpoint": operation == "checkpoint"}
    with TemporaryDirectory() as made:
        folder = _start(start, made)
        for answer in answers:
            given_ = {"digest": answer} if operation != "clear" else {}
            _restore(load_pack(SENTINEL), folder)
            assert {**json.loads((folder / "s.json").read_bytes()), "history": []} == {**start, "history": []}
            done = _do(load_pack(SENTINEL), folder, operation, given_)
            once = run_operation(
                load_pack(SENTINEL), start, operation, answers={name: json.dumps(one) for name, one in given_.items()}
            ).value
            assert {**done, "history": []} == {**once, "history": []}


@pytest.mark.dear
@given(delta=small, more=small, played=small, lines=st.lists(st.sampled_from(["The tide turned.", "Nobody spoke."]), max_size=3))
@settings(max_examples=count_examples(40), deadline=None)
def test_of_beats_that_were_played_on_only_the_rest_is_booked(delta: int, more: int, played: int, lines: list[str]) -> None:
    """What was played since stays, and one scene is left, that of all beats."""
    start = {**LONG, "player": {**LONG["player"], "stress": 5, "coin": 500}}
    answer = {
        "summary": "It went on.",
        "keyMoments": [],
        "consequenceSeeds": ["Oskar counts."],
        "stressDelta": delta,
        "coinDelta": 10 * delta,
    }
    whole = {**answer, "summary": "It ended.", "consequenceSeeds": [], "stressDelta": more, "coinDelta": 10 * more}
    with TemporaryDirectory() as made:
        folder = _start(start, made)
        once = _do(load_pack(TIDEPOOL), folder, "compress_scene", {"scene": answer})
        player = {**once["player"], "stress": once["player"]["stress"] + played}
        _start({**once, "player": player, "scene": {**once["scene"], "beats": lines}}, made)
        _restore(load_pack(TIDEPOOL), folder)
        twice = _do(load_pack(TIDEPOOL), folder, "compress_scene", {"scene": whole})
    assert (twice["player"]["stress"], twice["player"]["coin"]) == (5 + played + more, 500 + 10 * more)
    assert [one["summary"] for one in twice["scenes"]] == [LONG["scenes"][0]["summary"], "It ended."]
    assert twice["seeds"] == LONG["seeds"]


def test_a_new_scene_that_begins_and_ends_as_an_old_one_is_a_scene_of_its_own() -> None:
    first = run_operation(load_pack(TIDEPOOL), LONG, "compress_scene", answers={"scene": json.dumps(SCENE)}).value
    beats = LONG["scene"]["beats"]
    other = {**first, "scene": {"beats": [beats[0], "Something else happened.", beats[-1]]}}
    second = run_operation(
        load_pack(TIDEPOOL), other, "compress_scene", answers={"scene": json.dumps({**SCENE, "consequenceSeeds": ["More."]})}
    ).value
    assert len(second["scenes"]) == len(first["scenes"]) + 1 == len(LONG["scenes"]) + 2
    assert second["seeds"] == [*first["seeds"], "More."]
    assert second["player"]["stress"] == LONG["player"]["stress"] + 2


@given(
    found=st.fixed_dictionaries(
        {"memories": st.lists(st.fixed_dictionaries({"type": st.just("PROFILE"), "content": texts}), max_size=7), "loops": st.just([])}
    ),
    full=st.booleans(),
)
def test_what_a_judge_found_leaves_a_valid_state(found: Any, full: bool) -> None:
    old = {"at": "", "persona": "wren", "memories": [], "loops": []}
    state = {"transcript": "Hello.", "learned": [old] * (1000 if full else 1)}
    done = run_operation(load_pack(COMPANION), state, "learn", answers={"found": json.dumps(found)})
    load_pack(COMPANION).load_state(done.value)
    assert all(one["content"].strip("\ufeff \x85\x1c") for entry in done.value["learned"] for one in entry["memories"])


# --- undo is undo ---

EDITS = """\
promptc: 1
name: edits
version: 1.0.0
tokenizer: chars/4
budget: 2000
state: {schema: state.schema.json}
sections: [{id: main, role: user, text: hello}]
operations:
  put: {args: {to: 0}, edits: [{set: /at/last/seen, to: args.to, archive: seen}, {set: /at/count, to: args.to, archive: count}]}
  name: {args: {to: 0}, edits: [{set: /name, to: "'n' ~ args.to", archive: name}]}
  add:
    args: {to: 0}
    edits: [{append: /log, each: "range(args.to) | list", archive: log}, {append: /deep/log, to: args.to, archive: deep}]
  tail: {args: {to: 0}, edits: [{append: /log, to: args.to, archive: more}, {keep: /log, last: args.to, archive: gone}]}
  drop: {args: {to: 0}, edits: [{keep: /log, where: item != args.to, archive: gone}, {set: /name, to: "''", archive: name}]}
"""
EDITED = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": ""},
        "log": {"type": "array", "items": {"type": "integer"}, "default": [1]},
    },
}
_states = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["", "n1", "x"]),
        "log": st.lists(st.integers(0, 3), max_size=4),
        "at": st.fixed_dictionaries({}, optional={"count": st.none() | st.integers(0, 2), "last": st.just({})}),
        "deep": st.fixed_dictionaries({}, optional={"log": st.lists(st.integers(0, 2), max_size=2)}),
    },
)
_calls = st.lists(st.tuples(st.sampled_from(["put", "name", "add", "tail", "drop"]), st.integers(0, 3)), min_size=1, max_size=6)


# contract 9.18
@pytest.mark.dear
@example(state={}, calls=[("tail", 0), ("tail", 1), ("tail", 0)], rounds=2)
@example(state={"log": [1]}, calls=[("tail", 0), ("tail", 1), ("tail", 0)], rounds=2)
@example(state={"log": [1, 2, 3]}, calls=[("drop", 2), ("drop", 3), ("tail", 2)], rounds=2)
@given(state=_states, calls=_calls, rounds=st.integers(1, 2))
@settings(max_examples=count_examples(200), deadline=None)
def test_what_was_archived_and_restored_is_as_if_it_had_not_been_done(state: Any, calls: list[tuple[str, int]], rounds: int) -> None:
    """Where nothing was there nothing is left, whatever was set, appended or taken out, equal elements or not; and again the same."""
    with TemporaryDirectory() as made:
        folder = _start(state, made)
        (folder / "pack.yaml").write_text(EDITS)
        (folder / "state.schema.json").write_text(json.dumps(EDITED))
        pack = promptc.load(folder)
        for _ in range(rounds):
            for operation, number in calls:
                apply_to_file(pack, str(folder / "s.json"), operation, {"to": number}, {}, folder=None, wait=1, expected=None)
            _restore(pack, folder)
            left = json.loads((folder / "s.json").read_bytes())
            assert pack.load_state(left).value == pack.load_state(state).value, left


@given(answer=st.sampled_from(["He wants the boat.", "Nothing was said of it."]), written=st.booleans(), times=st.integers(1, 3))
@settings(max_examples=count_examples(20), deadline=None)
def test_a_session_that_was_closed_and_restored_is_closed_once(answer: str, written: bool, times: int) -> None:
    talk = json.loads((ROOT / "fixtures" / "companion" / "base" / "talk.json").read_text())
    if not written:
        talk = {key: value for key, value in talk.items() if key not in ("session_state", "session_summary")}
    asked = {"summary": {"about": answer, "decided": [], "left_open": []}}
    with TemporaryDirectory() as made:
        folder = _start(talk, made)
        for _ in range(times):
            done = _do(load_pack(COMPANION), folder, "close", asked)
            assert done == run_operation(load_pack(COMPANION), talk, "close", answers={"summary": json.dumps(asked["summary"])}).value
            assert done["session_summary"]["about"] == answer and done["session_state"]["closed_to"] == "2026-03-14T19:31:02Z"
            _restore(load_pack(COMPANION), folder)
            assert json.loads((folder / "s.json").read_bytes()) == talk
