"""What a single case of tidepool cannot show: every mood, variant and band, drawn actions and conversations, and states nobody wrote."""

import json
import re
from collections.abc import Mapping
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import promptc
from promptc.diag.errors import FitError
from promptc.operations.run_operation import run_operation
from tests.cases.case import FIXTURES, ROOT
from tests.cases.schema_drawing import characters, from_schema
from tests.published import MODELS, check_published

FOLDER = ROOT / "packs" / "tidepool"
PACK = promptc.load(FOLDER)
BASE = FIXTURES / "tidepool" / "base"
SCHEMA = json.loads((FOLDER / "state.schema.json").read_text(encoding="utf-8"))
STRAIN = {"strength": (0, 0, 0), "room": (3, 2, 1), "walls": (4, 5, 1), "thread": (9, 9, 4)}
VOICES = {
    "strength": "operating from strength",
    "room": "room to maneuver",
    "walls": "walls closing in",
    "thread": "hanging by a thread",
}
TOOLS = {
    "scene": {"think_as_dm", "speak_as_npc", "ask_player", "engage", "accept"},
    "action": {"think_as_dm", "speak_as_npc", "spend_die", "resolve"},
    "aftermath": {"think_as_dm", "speak_as_npc", "accept"},
    "downtime": {"think_as_dm", "speak_as_npc"},
}
ALL_TOOLS = set().union(*TOOLS.values())
VARIANTS: list[tuple[str, Mapping[str, str]]] = [
    *(("scene", {"variant": one}) for one in ("encounter", "opportunity", "discovery")),
    *(
        ("action", {"position": position, "effect": effect, "domain": domain})
        for position, effect, domain in product(
            ("controlled", "risky", "desperate"), ("limited", "standard", "great"), ("infiltration", "social", "violence")
        )
    ),
    *(("aftermath", {"outcome": one}) for one in ("clean", "costly", "setback", "disaster")),
    *(("downtime", {"variant": one}) for one in ("recovery", "project", "entanglement")),
]


def _read(name: str) -> Any:
    return json.loads((BASE / f"{name}.json").read_text(encoding="utf-8"))


def _system(prompt: promptc.Prompt) -> str:
    """The system prompt, of which there is one and which comes first."""
    roles = [message["role"] for message in prompt.messages]
    assert roles[0] == "system" and "system" not in roles[1:] and "developer" not in roles
    return str(prompt.messages[0]["content"])


def _set(state: dict[str, Any], mood: str, variant: Mapping[str, str], band: str) -> dict[str, Any]:
    stress, heat, wanted = STRAIN[band]
    state["player"] = {"name": "Nell Harrow", "stress": stress, "heat": heat, "wanted": wanted}
    state["mood"]["name"] = mood
    state["mood"][mood] = {**state["mood"].get(mood, {}), **variant}
    return state


# --- moods, variants, bands ---


@pytest.mark.parametrize("band", STRAIN)
@pytest.mark.parametrize(("mood", "variant"), VARIANTS, ids=lambda one: one if isinstance(one, str) else "-".join(one.values()))
def test_every_mood_variant_and_band_of_a_crowded_table(mood: str, variant: Mapping[str, str], band: str) -> None:
    prompt = PACK.render(_set(_read("crowd"), mood, variant, band))
    system = _system(prompt)
    assert prompt.report["variants"] == {"mood": mood, "precarity": band}
    assert re.findall("^# (Mood|Voice): (.*)$", system, re.MULTILINE) == [("Mood", mood), ("Voice", VOICES[band])]
    for word in variant.values():
        assert re.search(rf"^(# .*|Position, |Effect, |Domain, )\b{word}\b", system, re.MULTILINE)
    assert {tool["name"] for tool in prompt.tools} == TOOLS[mood]
    assert not {name for name in ALL_TOOLS - TOOLS[mood] if f"`{name}`" in system}, "a tool that is not there is spoken of"
    sizes = {section["id"]: section["tokens"] for section in prompt.report["sections"]}
    assert 2000 <= sum(sizes.values()) - sizes["history"] - sizes["action"] <= 3500
    assert prompt.tokens <= 14_000


def test_guidance_of_all_moods_is_a_stable_prefix() -> None:
    """What stands before the breakpoint depends on the mood alone."""
    for mood in TOOLS:
        heads = set()
        for name, band in product(("table", "crowd", "long"), STRAIN):
            heads.add(_system(PACK.render(_set(_read(name), mood, {}, band))).partition("# Voice")[0])
        assert len(heads) == 1


def test_downtime_has_no_way_to_engage() -> None:
    prompt = PACK.render(_read("engaged"), format="anthropic", variants={"mood": "downtime"})
    body = prompt.to("anthropic")
    assert {tool["name"] for tool in body["tools"]} == {"think_as_dm", "speak_as_npc"}
    assert "You cannot engage from downtime" in _system(prompt) and "`engage`" not in _system(prompt)


def test_check_finds_nothing_to_mend() -> None:
    assert [str(one) for one in PACK.check() if one.level != "note"] == []


# --- the action ---

actions = st.text(characters, min_size=1, max_size=300).filter(lambda text: re.search(r"\S", text) and text.strip())
ESCAPED = re.compile(r"<\\(\\*)\|")
"""A special token as the guard opens it; one backslash less is what was typed."""


@given(action=actions, mood=st.sampled_from(sorted(TOOLS)), name=st.sampled_from(["table", "long", "engaged"]))
@settings(max_examples=60, deadline=None)
def test_the_user_message_is_the_action_and_nothing_else(action: str, mood: str, name: str) -> None:
    """As typed, less empty lines around it, with special tokens opened by a backslash, which reads back."""
    prompt = PACK.render({**_read(name), "action": action}, variants={"mood": mood})
    state = _read(name)
    place = -1 - len(state.get("turn", ()))
    said = re.sub(r"^(?:[^\S\r\n]*[\r\n])+", "", action).rstrip("\r\n")
    assert prompt.messages[place]["role"] == "user"
    assert ESCAPED.sub(r"<\1|", prompt.messages[place]["content"]) == said


# --- the conversation ---

_noise = st.lists(st.sampled_from(["system", "developer", "tool", "thinking", "tool_use", "redacted_thinking"]), max_size=3)


@st.composite
def _conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Turns, each with what an engine may have kept beside action and response; every such thing says so."""
    kept: list[dict[str, Any]] = []
    for turn in range(draw(st.integers(0, 20))):
        parts: list[dict[str, Any]] = []
        kept.append({"turn": turn, "role": "user", "content": f"Action {turn}."})
        for place, kind in enumerate(draw(_noise)):
            if kind in ("system", "developer", "tool"):
                kept.append({"turn": turn, "role": kind, "content": f"NOISE {kind}"})
            elif kind == "tool_use":
                id = f"NOISE-{turn}-{place}"
                kept.append({"turn": turn, "role": "assistant", "content": [{"type": kind, "id": id, "name": "NOISE", "input": {}}]})
                kept.append({"turn": turn, "role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "NOISE"}]})
            else:
                parts.append({"type": kind, "thinking": "NOISE", "data": "NOISE"})
        said = f"Response {turn}." + draw(st.sampled_from(["", " and on" * 200]))
        kept.append({"turn": turn, "role": "assistant", "content": [*parts, {"type": "text", "text": said}] if parts else said})
    if draw(st.booleans()):
        kept.append({"turn": 99, "role": "user", "content": "NOISE: an action that has no response yet"})
    return kept


def _words(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return " ".join((content if isinstance(content, str) else content[0]["text"]).split()[:2])


@given(history=_conversations(), budget=st.sampled_from([None, 3200, 3600, 4000, 5000]))
@settings(max_examples=60, deadline=None)
def test_of_a_conversation_only_the_newest_whole_pairs_are_told(history: list[dict[str, Any]], budget: int | None) -> None:
    prompt = PACK.render({**_read("table"), "history": history}, budget=budget)
    told = [(message["role"], _words(message)) for message in prompt.messages[1:-1]]
    assert "NOISE" not in json.dumps(prompt.messages)
    turns = sorted({entry["turn"] for entry in history} - {99})[-12:]
    pairs = [[("user", f"Action {turn}."), ("assistant", f"Response {turn}.")] for turn in turns]
    assert told == list(chain(*pairs[len(pairs) - len(told) // 2 :]))


# --- a change of mood ---

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(0, 1) | st.text(characters, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(characters, max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "aim position effect domain danger outcome achieved costs complication to variant subject source time activities urgency catch".split()
)


@given(
    calls=st.lists(
        st.tuples(st.sampled_from(sorted(ALL_TOOLS)), st.dictionaries(st.sampled_from(KEYS), values | st.just("scene"), max_size=6)),
        max_size=3,
    ),
    mood=st.sampled_from(sorted(TOOLS)),
)
@settings(max_examples=150, deadline=None)
def test_whatever_a_model_calls_a_tool_with_the_turn_is_rendered(calls: list[tuple[str, Any]], mood: str) -> None:
    turn: list[dict[str, Any]] = []
    for place, (name, given_) in enumerate(calls):
        turn.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"t{place}", "name": name, "input": given_}]})
        turn.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{place}", "content": "Noted."}]})
    prompt = PACK.render({**_read("table"), "turn": turn}, variants={"mood": mood})
    assert len(re.findall("^# (?:This|The outcome)", _system(prompt), re.MULTILINE)) == 1
    assert [part["type"] for message in prompt.messages[-2 * len(calls) :] for part in message["content"] if calls] == [
        "tool_use",
        "tool_result",
    ] * len(calls)


@pytest.mark.parametrize(("name", "mood"), [("engaged", "action"), ("resolved", "aftermath"), ("accepted", "downtime")])
def test_a_change_of_mood_keeps_all_that_is_no_mood(name: str, mood: str) -> None:
    """The same state in the new mood: world and conversation are the same, to the byte."""
    before, after = PACK.render(_read(name)), PACK.render(_read(name), variants={"mood": mood})
    assert before.messages[1:] == after.messages[1:]
    for section in ("player", "location", "npcs", "clocks", "threads", "past", "beats", "history", "action", "turn"):
        assert before.find_section(section) == after.find_section(section)
    assert before.find_section("guidance") != after.find_section("guidance")


# --- request bodies ---


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("mood", TOOLS)
@pytest.mark.parametrize("name", ["table", "engaged", "resolved", "long"])
def test_every_mood_is_a_body_that_each_provider_takes(name: str, mood: str, provider: str) -> None:
    body = PACK.render(_read(name), format=provider, variants={"mood": mood}).to(provider, MODELS[provider])
    check_published(provider, body)
    names = [part["name"] for part in _find_named(body["tools"])]
    assert names == [tool["name"] for tool in PACK.render(_read(name), variants={"mood": mood}).tools]
    assert set(names) == TOOLS[mood]


def _find_named(tools: Any) -> list[Any]:
    """What has a name and is described, however deep a provider puts it."""
    if isinstance(tools, list):
        return list(chain(*map(_find_named, tools)))
    if isinstance(tools, dict) and isinstance(tools.get("description"), str) and "name" in tools:
        return [tools]
    return list(chain(*map(_find_named, tools.values()))) if isinstance(tools, dict) else []


# --- compression ---


def test_twenty_beats_are_not_yet_due() -> None:
    state = _read("long")
    for count in (20, 21):
        state["scene"]["beats"] = [f"Beat {place}." for place in range(count)]
        assert PACK.render(state).report["flags"].get("due", []) == ["compress_scene"] * (count > 20)


def test_a_second_compression_finds_nothing_to_do() -> None:
    answer = (FIXTURES / "tidepool" / "answers" / "scene.md").read_text(encoding="utf-8")
    first = run_operation(PACK, _read("long"), "compress_scene", answers={"scene": answer})
    second = run_operation(PACK, first.value, "compress_scene")
    assert first.is_changed and not first.fallbacks
    assert not second.is_changed and second.value == first.value


# --- states nobody wrote ---


@given(state=from_schema(SCHEMA), mood=st.sampled_from([None, *sorted(TOOLS)]), budget=st.sampled_from([None, None, 2500, 4000]))
@settings(max_examples=120, deadline=None)
def test_a_drawn_state_is_rendered_or_does_not_fit(state: dict[str, Any], mood: str | None, budget: int | None) -> None:
    try:
        prompt = PACK.render(state, variants={"mood": mood} if mood else {}, budget=budget)
    except FitError:
        assert budget is not None, "what is drawn is small"
    else:
        assert prompt.tokens <= (budget or 14_000)
        assert {tool["name"] for tool in prompt.tools} == TOOLS[mood or state["mood"]["name"]]


@given(state=from_schema(SCHEMA))
@settings(max_examples=60, deadline=None)
def test_a_drawn_state_is_compressed_without_a_model(state: dict[str, Any]) -> None:
    done = run_operation(PACK, state, "compress_scene")
    assert done.value.get("scene", {}).get("beats", []) == []
    assert PACK.render(done.value, budget=100_000).report["flags"].get("due") is None
