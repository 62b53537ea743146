"""How much of a turn's request a provider's cache has from the turn before, over sessions that go on as real ones do.

Each turn appends what was said, moves the clock, asks for other search results, and changes a figure or a mood now and then. Nothing of a
session is frozen but what stays in play.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.measure import Scale, judge, show
from promptc import Pack, load
from tests.cases.recount import load_encoding
from tests.contract.sources import ROOT

_TURNS = (60, 4)
_SEED = 20261123
_READ, _WRITE = 0.1, 1.25
"""What Anthropic asks for a token read from its cache, and for one written into it, beside one that is only read."""

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """Shares in per cent: `reuse` of the tokens from the second turn on, `least` of the worst turn's, `cost` of Anthropic's input price."""

    reuse: float
    least: float
    cost: float


def bench_sessions(scale: Scale) -> None:
    """Prints for each pack, as it is and with the patch that puts what stays first: tokens met again, and what they cost with a cache."""
    turns = scale.choose(*_TURNS)
    print(f"Sessions: {turns} turns that go on as real ones do, requests to Anthropic; of tidepool its messages, without tools")
    for name, (make, format, promises) in SESSIONS.items():
        pack, states = load(ROOT / "packs" / name), list(make(turns))
        for patches, least in promises.items():
            figures = measure_session(pack, states, patches, format)
            label = f"{name}{', ' + patches[0] if patches else ''}"
            show(f"{label}: met again", f"{figures.reuse:.0f} %", judge(figures.reuse, least, at_most=False) if least else "")
            show("  in the worst turn", f"{figures.least:.0f} %")
            if format != "messages":
                show("  cost, of the cost without a cache", f"{figures.cost:.0f} %")


def measure_session(pack: Pack, states: Sequence[State], patches: Sequence[str] = (), format: Any = "anthropic") -> SessionFigures:
    """Compile a session turn by turn, with the tier of each turn as the next one's, and compare each request with the one before.

    Of `messages`, which have no breakpoints, nothing is paid less for.
    """
    count = load_encoding("o200k_base").encode_ordinary
    tier, before, kept = None, "", [""]
    met: list[tuple[int, int]] = []
    paid = whole = 0.0
    for state in states:
        prompt = pack.render({**state, "strain": tier} if tier is not None else state, format=format, patches=patches)
        tier = prompt.report.get("strain")
        text, breakpoints = _join(prompt.to(format) if format != "messages" else {"messages": prompt.messages})
        size = len(count(text))
        if before:
            met.append((len(count(text[: _count_same(before, text)])), size))
        hit = len(count(max((one for one in kept if one and text.startswith(one)), key=len, default="")))
        written = len(count(text[: breakpoints[-1]])) if breakpoints else 0
        paid += _READ * hit + _WRITE * max(0, written - hit) + size - max(written, hit)
        whole += size
        before, kept = text, [text[:place] for place in breakpoints]
    shares = [100 * same / size for same, size in met]
    return SessionFigures(100 * sum(same for same, _ in met) / sum(size for _, size in met), min(shares), 100 * paid / whole)


def _count_same(before: str, after: str) -> int:
    same = (place for place, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    return next(same, min(len(before), len(after)))


def _join(body: Mapping[str, Any]) -> tuple[str, list[int]]:
    """The texts of a request in the order in which a cache meets them, and where its breakpoints are: tools, system, messages."""
    text, places = "", []
    system = body.get("system", [])
    blocks = [*body.get("tools", []), *([{"text": system}] if isinstance(system, str) else system)]
    for message in body["messages"]:
        content = message["content"]
        blocks += [{"text": content}] if isinstance(content, str) else content
    for block in blocks:
        shown = {key: value for key, value in block.items() if key != "cache_control"}
        text += (shown["text"] if "text" in shown else json.dumps(shown)) + "\n"
        if "cache_control" in block:
            places.append(len(text))
    return text, places


def _load(*path: str) -> Any:
    return json.loads(ROOT.joinpath("fixtures", *path).read_text(encoding="utf-8"))


def play_sentinel(turns: int) -> Iterator[State]:
    """A campaign under way: two or three blocks more each turn, other notes from the search, and a snapshot that moves."""
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
    """An evening: each turn two messages and a minute more, other memories come up; summary, mood and loops change now and then."""
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
"""Of a response, about as many words as its voice asks for."""


def play_tidepool(turns: int) -> Iterator[State]:
    """A campaign under way: each turn an action, its response and a beat more; moods, dice, clocks, costs and people change."""
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
    """What the engine keeps of the call that led to the mood."""
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
    """What a turn leaves behind. Over twenty beats the scene is folded."""
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


SESSIONS: dict[str, tuple[Callable[[int], Iterator[State]], str, dict[tuple[str, ...], int]]] = {
    "sentinel": (play_sentinel, "anthropic", {(): 0, ("steady_first",): 88}),
    "companion": (play_companion, "anthropic", {(): 0, ("steady_first",): 75}),
    "tidepool": (play_tidepool, "messages", {(): 0, ("steady_first",): 80}),
}
"""For each pack how a session is played, for whom it is compiled, and by patches the share of tokens that is promised to be met again (0:
nothing is)."""
