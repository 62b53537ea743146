"""How much of a turn's request a provider's cache has from the turn before, in sessions that develop as real ones do.

Each turn appends what was said, advances the clock, gets other search results, and now and then changes a figure or a mood. Nothing in a
session is constant except what remains in play.
"""

import copy
import csv
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import Scale, begin, show
from promptc import Pack, load
from promptc.frontend.segments import load_segments
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from tests.cases.recount import load_encoding
from tests.contract.sources import ROOT

_TURNS = (60, 4)
_SEED = 20261123
_READ, _WRITE = 0.1, 1.25
"""Anthropic's price of a token read from its cache, and of one written to it, relative to an uncached token."""
_LEAST, _BACK = 1024, 20
"""The shortest prefix, in tokens, that Anthropic caches for most models, and how many blocks back it looks for a cached one."""

_ALIVE = 3
"""The number of turns for which an unused prefix stays cached: five minutes, with turns of a minute and a half."""

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """Percentages: `reuse` of the tokens from the second turn on, `least` that of the worst turn, `cost` of Anthropic's input price."""

    reuse: float
    least: float
    cost: float


def bench_sessions(scale: Scale) -> None:
    """Print the reused tokens and their cost with a cache, for each pack as it is and with the patch that puts stable content first."""
    turns = scale.choose(*_TURNS)
    begin(f"Sessions: {turns} turns that go on as real ones do, requests to Anthropic; of tidepool also its messages alone, without tools")
    for name, (make, runs) in SESSIONS.items():
        states = list(make(turns))
        for patches, format, least in runs:
            with open_pack(name) as (pack, stores):
                figures = measure_session(pack, states, patches, format, stores=stores)
            label = ", ".join([name, *patches, *(["messages"] if format == "messages" else [])])
            show(f"{label}: met again", figures.reuse, ".0f %", at_least=least or None)
            show("  in the worst turn", figures.least, ".0f %")
            if format != "messages":
                show("  cost, of the cost without a cache", figures.cost, ".0f %")


@contextmanager
def open_pack(name: str) -> Iterator[tuple[Pack, dict[str, str]]]:
    """Open the pack, and a store of its segments if it has any."""
    folder = ROOT / "packs" / name
    with load(folder) as pack, tempfile.TemporaryDirectory() as made:
        if not (folder / "segments").is_dir():
            yield pack, {}
            return
        url = f"sqlite:{Path(made, 'segments.db')}"
        with closing(SegmentStore(read_address(url))) as store:
            store.write(load_segments(folder / "segments"))
        yield pack, {"main": url}


def measure_session(
    pack: Pack, states: Sequence[State], patches: Sequence[str] = (), format: Any = "anthropic", *, stores: Mapping[str, str] | None = None
) -> SessionFigures:
    """Compile a session turn by turn and compare each request with the one before. The tier of each turn is passed to the next.

    With the format `messages`, which has no breakpoints, nothing is cheaper.
    """
    count = load_encoding("o200k_base").encode_ordinary
    tier, before, kept = None, "", dict[tuple[str, ...], int]()
    met: list[tuple[int, int]] = []
    paid = whole = 0.0
    for turn, state in enumerate(states):
        carried = {**state, "strain": tier} if tier is not None else state
        prompt = pack.render(carried, format=format, patches=patches, stores=stores or {})
        tier = prompt.report.get("strain")
        blocks, breakpoints = _list_blocks(prompt.to(format) if format != "messages" else {"messages": prompt.messages})
        text, sizes = "".join(blocks), [len(count(block)) for block in blocks]
        size = len(count(text))
        if before:
            met.append((len(count(text[: _count_same(before, text)])), size))
        able = [place for place in breakpoints if sum(sizes[:place]) >= _LEAST]
        near = {place for stop in able for place in range(max(1, stop - _BACK), stop + 1)}
        hit = sum(sizes[: max((place for place in near if turn - kept.get(tuple(blocks[:place]), -_ALIVE - 1) <= _ALIVE), default=0)])
        written = sum(sizes[: able[-1]]) if able else 0
        paid += _READ * hit + _WRITE * max(0, written - hit) + size - max(written, hit)
        whole += size
        before = text
        kept.update({tuple(blocks[:place]): turn for place in able})
    shares = [100 * same / size for same, size in met]
    return SessionFigures(100 * sum(same for same, _ in met) / sum(size for _, size in met), min(shares), 100 * paid / whole)


def _count_same(before: str, after: str) -> int:
    same = (place for place, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    return next(same, min(len(before), len(after)))


def _list_blocks(body: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """Return the texts of a request's blocks, and the number of blocks before each breakpoint.

    The order is that of a cache: tools, system, messages. A block is cached whole or not at all: a block that grows is a different block.
    """
    system = body.get("system", [])
    blocks = [*body.get("tools", []), *([{"text": system}] if isinstance(system, str) else system)]
    for message in body["messages"]:
        content = message["content"]
        blocks += [{"text": content}] if isinstance(content, str) else content
    texts = []
    for block in blocks:
        shown = {key: value for key, value in block.items() if key != "cache_control"}
        texts.append((shown["text"] if "text" in shown else json.dumps(shown)) + "\n")
    return texts, [place for place, block in enumerate(blocks, 1) if "cache_control" in block]


def _load(*path: str) -> Any:
    return json.loads(ROOT.joinpath("fixtures", *path).read_text(encoding="utf-8"))


def play_sentinel(turns: int) -> Iterator[State]:
    """Yield the states of a campaign: each turn, two or three new blocks, other notes from the search, and a changed snapshot."""
    draw = random.Random(_SEED)
    state, blocks = _load("sentinel", "calm", "state.json"), iter(_load("sentinel", "base", "table.json")["transcript"][60:])
    state["digest"] = _load("sentinel", "base", "loaded.json")["digest"]
    told = [block["text"] for block in _load("sentinel", "base", "table.json")["transcript"] if len(block["text"]) > 80]
    for turn in range(turns):
        state = copy.deepcopy(state)
        for _ in range(draw.randint(2, 3) if turn else 0):
            state["transcript"].append({**next(blocks), "id": f"turn {turn}.{len(state['transcript'])}"})
        state["input"] = draw.choice(told)
        if turn % 3 == 1:
            state["player"]["social_energy"] = draw.randint(20, 90)
        if turn % 4 == 2:
            draw.choice(state["npcs"])["memories"] = [draw.choice(told)]
        if turn % 6 == 3:
            draw.choice(state["factions"]).update(last_delta=draw.choice([-2, -1, 1, 2]), reason=draw.choice(told))
        kinds = ["lore"] * 4 + ["campaign"] * 6
        notes = zip(kinds, draw.sample(range(len(told)), 10), strict=True)
        state["retrieval"]["results"] = [
            {"id": f"note {place}", "kind": kind, "score": draw.randint(30, 95) / 100, "text": told[place]} for kind, place in notes
        ]
        yield state


def play_companion(turns: int) -> Iterator[State]:
    """Yield the states of an evening: each turn, two new messages and other memories, a minute or so later.

    The summary, the mood and the loops change now and then.
    """
    draw = random.Random(_SEED)
    state, now = _load("companion", "base", "crowded.json"), datetime(2026, 3, 14, 19, 40, tzinfo=UTC)
    memories = state["candidates"]
    said = [one["content"] for one in (*state["messages"], *memories, *state["memories"])]
    for turn in range(turns):
        state = copy.deepcopy(state)
        if turn:
            for role, content in (("user", state["transcript"]), ("assistant", draw.choice(said))):
                now += timedelta(seconds=5)
                message = {"id": f"{role} {turn}", "role": role, "content": content, "persona": "wren", "at": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
                state["messages"].append(message)
            now += timedelta(seconds=draw.randint(20, 150))
        state["now"], state["local_time"] = f"{now:%Y-%m-%dT%H:%M:%SZ}", f"{now + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}+01:00"
        state["session"], state["session_state"]["last_interaction"] = {}, ""
        state["transcript"] = draw.choice(said)[:300]
        state["candidates"] = [{**one, "score": draw.randint(40, 99) / 100} for one in draw.sample(memories, 12)]
        if turn % 3 == 2:  # `roll` is due after six messages
            state["session_state"]["rolling_summary"] = " ".join(draw.sample(said, 6))[:600]
        if turn % 4 == 2:
            state["session_state"]["mood"] = draw.choice(["tired", "glad to be heard", "restless"])
        if turn % 7 == 3:
            loop = {"id": f"loop {turn}", "kind": draw.choice(["COMMITMENT", "THREAD", "FRICTION"]), "content": draw.choice(said)[:60]}
            state["todos"].append({**loop, "at": state["now"]})
        yield state


_MOODS = (
    "scene scene scene action action aftermath scene scene action aftermath scene scene scene scene action action aftermath "
    "downtime downtime downtime"
).split()
_SENTENCES = {"scene": 16, "action": 9, "aftermath": 14, "downtime": 16}
"""The sentences of a response, for about as many words as its voice asks for."""


def play_tidepool(turns: int) -> Iterator[State]:
    """Yield the states of a campaign: each turn, an action, its response and a new beat; moods, dice, clocks, costs and people change."""
    draw = random.Random(_SEED)
    state, full = _load("tidepool", "base", "table.json"), _load("tidepool", "base", "full.json")
    told = [line for beat in full["scene"]["beats"] for line in beat.split(". ")]
    state.update(history=[], turn=[], scene={**state["scene"], "beats": []})
    for turn in range(turns + 20):
        state = copy.deepcopy(state)
        before, mood = state["mood"]["name"], _MOODS[turn % len(_MOODS)]
        state["mood"]["name"], state["action"] = mood, f"I go on: {draw.choice(told)}"
        _turn_mood(state, before, told, draw)
        if turn >= 20:
            yield copy.deepcopy(state)
        response = ". ".join(draw.choices(told, k=_SENTENCES[mood]))
        state["history"] += [
            {"turn": turn, "role": "user", "content": state["action"]},
            {"turn": turn, "role": "assistant", "content": response},
        ]
        _book(state, mood, told, full["npcs"], draw)


def _turn_mood(state: State, before: str, told: Sequence[str], draw: random.Random) -> None:
    """Set what the engine keeps of the call that led to the mood."""
    mood, particulars = state["mood"]["name"], state["mood"]
    locked = {"die": 4, "outcome": "costly"} if mood == before == "action" else None
    state["dice"] = {"pool": sorted(draw.choices(range(1, 7), k=3)) if mood == "action" else state["dice"]["pool"], "locked": locked}
    if mood == "action":
        particulars["action"] = {"aim": draw.choice(told), "position": draw.choice(["risky", "desperate"]), "danger": draw.choice(told)}
    elif mood == "aftermath":
        outcome = draw.choice(["clean", "costly", "setback", "disaster"])
        particulars["aftermath"] = {"outcome": outcome, "costs": [draw.choice(told)], "complication": draw.choice(told)}
    elif mood == "scene" and before != "scene":
        variant = draw.choice(["encounter", "opportunity", "discovery"])
        particulars["scene"] = {"variant": variant, "subject": draw.choice(told), "urgency": draw.choice(["low", "rising", "now"])}


def _book(state: State, mood: str, told: Sequence[str], people: Sequence[State], draw: random.Random) -> None:
    """Record the results of a turn. A scene of more than twenty beats is folded."""
    player, beats = state["player"], state["scene"]["beats"]
    beats.append(draw.choice(told))
    if mood == "aftermath":
        player["stress"] = min(9, player["stress"] + draw.randint(0, 2))
        state["costs"].append({"cost": draw.choice(told)})
        state["threats"].append({"threat": draw.choice(told), "resolved": draw.random() < 0.5})
    elif mood == "downtime":
        player["stress"] = max(0, player["stress"] - 2)
        state["npcs"] = draw.sample(people, 4)
    if draw.random() < 0.3:
        clock = draw.choice(state["clocks"])
        clock["filled"] = min(clock["segments"], clock["filled"] + 1)
    if len(beats) > 20:
        state["scenes"].append({"summary": ". ".join(draw.choices(told, k=4)), "moments": draw.choices(told, k=1)})
        state["seeds"] += draw.choices(told, k=2)
        beats.clear()


def play_whispercross(turns: int) -> Iterator[State]:
    """Yield the states of a night at the inn: each turn, another moment, other rolls and another input.

    People come, go and become better known, and the player goes to another place twice.
    """
    draw = random.Random(_SEED)
    state, people = _load("whispercross", "base", "night.json"), _load("whispercross", "base", "crowded.json")["npcs"]
    moments = [line for line in state["game_state_text"].split(". ") if line]
    for turn in range(turns):
        state = copy.deepcopy(state)
        state["is_first_turn"] = turn == 0
        state["game_state_text"] = f"Turn {turn + 1}. {'. '.join(draw.sample(moments, 8))}."
        state["rng_text"] = f"d20, in this order: {', '.join(str(draw.randint(1, 20)) for _ in range(6))}. Use each once."
        state["input_text"] = f"I go on: {draw.choice(moments)}."
        if turn % 5 == 3:
            known = draw.choice(state["npcs"])
            known["tier"] = min(2, known["tier"] + 1)
        if turn % 6 == 4:
            absent = [one for one in people if one["npc_id"] not in [here["npc_id"] for here in state["npcs"]]]
            state["npcs"] = [*state["npcs"][-3:], draw.choice(absent)]
        if turn % 7 == 5:
            state["player_text"] = f"{state['player_text'].split(' Wounds: ')[0]} Wounds: {draw.randint(1, 4)}."
        if turn % 24 == 23:
            places = ["ep.whispercross", "ep.lantern_ferry"]
            state["entry_point_id"] = next(place for place in places if place != state["entry_point_id"])
        yield state


def play_worldarchitect(turns: int) -> Iterator[State]:
    """Yield the states of an evening of play: each turn, a real input with its topic, two new entries, and a later time.

    People come and go, clocks advance, and the game master is asked twice.
    """
    draw = random.Random(_SEED)
    state, screen = _load("worldarchitect", "base", "table.json"), _load("worldarchitect", "base", "screen.json")
    with (ROOT / "fixtures" / "worldarchitect" / "play.tsv").open(encoding="utf-8") as file:
        inputs = [(row["query"], row["topic"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    told = [one["text"] for one in (*state["transcript"], *screen["transcript"]) if one["speaker"] == "narrator"]
    now = datetime.fromisoformat(state["world"]["time"].replace("0412", "2012"))
    for turn in range(turns):
        state = copy.deepcopy(state)
        if turn:
            said = {"turn": state["turn"], "speaker": "player", "text": state["input"], "mode": state["mode"]}
            state["transcript"] += [said, {**said, "speaker": "narrator", "text": " ".join(draw.sample(told, 2))}]
            state["turn"] += 1
            now += timedelta(minutes=draw.randint(1, 40))
            state["world"]["time"] = f"0{now.year - 1600}-{now:%m-%dT%H:%M:%S.%f}"
        state["input"], state["scene"]["topic"] = inputs[turn % len(inputs)]
        state["mode"] = "dm" if turn % 30 == 19 else "story"
        state["tool_results"] = [{"id": f"roll {turn}", "tool": "roll", "text": f"d20 = {draw.randint(1, 20)}"}] if turn % 3 == 1 else []
        _move_world(state, turn, draw, told)
        yield state


def _move_world(state: State, turn: int, draw: random.Random, told: Sequence[str]) -> None:
    if turn % 4 == 2:
        draw.choice(state["npcs"])["present"] = draw.random() < 0.5
    if turn % 8 == 5:
        draw.choice(state["npcs"])["knows"].append(draw.choice(told).split(". ")[0])
    if turn % 5 == 3:
        state["character"]["hp"]["current"] = draw.randint(4, 24)
    if turn % 6 == 1:
        clock = draw.choice(state["threads"])
        clock["filled"] = min(clock["size"], clock["filled"] + 1)
    if turn % 3 == 2:
        state["campaign_memory"].append({"id": f"mem turn {turn}", "text": draw.choice(told), "turn": state["turn"]})


Run = tuple[tuple[str, ...], str, int]
"""Patches, the output format, and the promised percentage of reused tokens (0: no promise)."""

SESSIONS: dict[str, tuple[Callable[[int], Iterator[State]], tuple[Run, ...]]] = {
    "sentinel": (play_sentinel, (((), "anthropic", 0), (("steady_first",), "anthropic", 88))),
    "companion": (play_companion, (((), "anthropic", 0), (("steady_first",), "anthropic", 75))),
    "whispercross": (play_whispercross, (((), "anthropic", 75),)),
    "worldarchitect": (play_worldarchitect, (((), "anthropic", 0), (("steady_first",), "anthropic", 0))),
    "tidepool": (play_tidepool, (((), "anthropic", 0), ((), "messages", 0), (("steady_first",), "messages", 80))),
}
"""For each pack, how a session is played and how it is compiled; last, if it exists, with the patch that puts stable content first."""
