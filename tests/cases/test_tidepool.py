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
from promptc.diag.findings import FitError
from promptc.operations.run import run_operation
from tests.cases.case import FIXTURES, ROOT
from tests.cases.schema_drawing import characters, from_schema
from tests.packs import load_pack
from tests.published import MODELS, check_published
from tests.size import count_examples

FOLDER = ROOT / "packs" / "tidepool"
PACK = "packs/tidepool"
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


@pytest.mark.sampled
@pytest.mark.parametrize("band", STRAIN)
@pytest.mark.parametrize(("mood", "variant"), VARIANTS, ids=lambda one: one if isinstance(one, str) else "-".join(one.values()))
def test_every_mood_variant_and_band_of_a_crowded_table(mood: str, variant: Mapping[str, str], band: str) -> None:
    prompt = load_pack(PACK).render(_set(_read("crowd"), mood, variant, band))
    system = _system(prompt)
    assert prompt.report["variants"] == {"mood": mood, "phase": mood, "precarity": band}
    assert re.findall("^# (Mood|Voice): (.*)$", system, re.MULTILINE) == [("Mood", mood), ("Voice", VOICES[band])]
    for word in variant.values():
        assert re.search(rf"^(# .*|Position, |Effect, |Domain, )\b{word}\b", system, re.MULTILINE)
    assert {tool["name"] for tool in prompt.tools} == TOOLS[mood]
    assert not {name for name in ALL_TOOLS - TOOLS[mood] if f"`{name}`" in system}, "a tool that is not there is spoken of"
    sizes = {section["id"]: section["tokens"] for section in prompt.report["sections"]}
    assert 2000 <= sum(sizes.values()) - sizes["history"] - sizes["action"] <= 3500
    assert prompt.tokens <= 14_000


@pytest.mark.parametrize("mood", TOOLS)
@pytest.mark.parametrize("is_asked", [False, True])
def test_a_die_can_be_spent_only_while_nothing_is_locked(mood: str, is_asked: bool) -> None:
    """The mood may be the state's or the caller's; a lock that an engine forgot to take off counts in an action alone."""
    state = _read("table")
    state["dice"]["locked"] = {"die": 4, "outcome": "costly"}
    if not is_asked:
        state["mood"]["name"] = mood
    prompt = load_pack(PACK).render(state, variants={"mood": mood} if is_asked else {})
    assert {tool["name"] for tool in prompt.tools} == _list_tools(state, mood)
    assert "spend_die" not in json.dumps([prompt.messages, prompt.tools])
    assert ("Locked: costly, by a 4" in _system(prompt)) == (mood == "action")


def test_guidance_of_all_moods_is_a_stable_prefix() -> None:
    """What stands before the breakpoint depends on the mood alone, and in an action on whether its outcome is locked."""
    for mood in TOOLS:
        heads = set()
        for name, band in product(("table", "crowd", "long"), STRAIN):
            heads.add(_system(load_pack(PACK).render(_set(_read(name), mood, {}, band))).partition("# Voice")[0])
        assert len(heads) == 1


def test_downtime_has_no_way_to_engage() -> None:
    prompt = load_pack(PACK).render(_read("engaged"), format="anthropic", variants={"mood": "downtime"})
    body = prompt.to("anthropic")
    assert {tool["name"] for tool in body["tools"]} == {"think_as_dm", "speak_as_npc"}
    assert "You cannot engage from downtime" in _system(prompt) and "`engage`" not in _system(prompt)


@pytest.mark.dear
def test_check_finds_nothing_to_mend() -> None:
    assert [str(one) for one in load_pack(PACK).check() if one.level != "note"] == []


# --- the action ---

actions = st.text(characters, min_size=1, max_size=300).filter(lambda text: re.search(r"\S", text) and text.strip())
ESCAPED = re.compile(r"<\\(\\*)\|")
"""A special token as the guard opens it; one backslash less is what was typed."""
BEGUN = re.compile(r"(?:<[^>\s]*|\[[^\]\s]*)\Z")
"""An end that the text of a neighbour could make a special token of: it gets a backslash."""


@given(action=actions, mood=st.sampled_from(sorted(TOOLS)), name=st.sampled_from(["table", "long", "engaged"]))
@settings(max_examples=count_examples(60), deadline=None)
def test_the_user_message_is_the_action_and_nothing_else(action: str, mood: str, name: str) -> None:
    """As typed, less empty lines around it, with special tokens, and what may begin one at the end, opened by a backslash."""
    prompt = load_pack(PACK).render({**_read(name), "action": action}, variants={"mood": mood})
    state = _read(name)
    place = -1 - len(state.get("turn", ()))
    said = re.sub(r"^(?:[^\S\r\n]*[\r\n])+", "", action).rstrip("\r\n")
    assert prompt.messages[place]["role"] == "user"
    content = ESCAPED.sub(r"<\1|", prompt.messages[place]["content"])
    assert content == said or (content == f"{said}\\" and BEGUN.search(said))


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
@settings(max_examples=count_examples(60), deadline=None)
def test_of_a_conversation_only_the_newest_whole_pairs_are_told(history: list[dict[str, Any]], budget: int | None) -> None:
    prompt = load_pack(PACK).render({**_read("table"), "history": history}, budget=budget)
    told = [(message["role"], _words(message)) for message in prompt.messages[1:-1]]
    assert "NOISE" not in json.dumps(prompt.messages)
    turns = sorted({entry["turn"] for entry in history} - {99})[-12:]
    pairs = [[("user", f"Action {turn}."), ("assistant", f"Response {turn}.")] for turn in turns]
    assert told == list(chain(*pairs[len(pairs) - len(told) // 2 :]))


# --- conversations an engine should not keep, and may ---

_said = st.sampled_from(["", " ", "\u2028\n", "No.", "What now?", "Once more."])
_parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, _said),
    st.just({"type": "thinking", "thinking": "NOISE", "signature": "NOISE"}),
    st.just({"type": "tool_use", "id": "NOISE", "name": "NOISE", "input": {}}),
    st.just({"type": "tool_result", "tool_use_id": "NOISE", "content": "NOISE"}),
)
_entries = st.fixed_dictionaries(
    {
        "turn": st.integers(0, 2) | st.integers(0, 15),
        "role": st.sampled_from(["user", "assistant", "user", "assistant", "system", "developer", "tool"]),
        "content": _said | st.lists(_parts, max_size=3),
    }
)


def _pair(history: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The rule a second time: of each turn the first text of the user, and the last text of the assistant behind it."""
    pairs: dict[int, list[tuple[str, str]]] = {}
    for turn in dict.fromkeys(entry["turn"] for entry in history):
        said = [(entry["role"], text) for entry in history if entry["turn"] == turn and (text := _tell(entry["content"]))]
        start = next((place for place, (role, _) in enumerate(said) if role == "user"), len(said))
        answers = [one for one in said[start:] if one[0] == "assistant"]
        if answers:
            pairs[turn] = [said[start], answers[-1]]
    return list(chain(*pairs.values()))


def _tell(content: Any) -> str:
    texts = [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]
    return "\n".join(text.strip() for text in texts if text.strip())


@given(history=st.lists(_entries, max_size=40).map(lambda entries: sorted(entries, key=lambda entry: entry["turn"])))
@settings(max_examples=count_examples(300), deadline=None)
def test_whatever_a_conversation_holds_the_history_is_whole_pairs(history: list[dict[str, Any]]) -> None:
    prompt = load_pack(PACK).render({**_read("table"), "history": history})
    told = [(message["role"], _tell(message["content"])) for message in prompt.messages[1:-1]]
    assert [role for role, _ in told] == ["user", "assistant"] * (len(told) // 2)
    assert told == _pair(history)[-24:]
    assert "NOISE" not in json.dumps(prompt.messages)


@given(history=st.lists(_entries, max_size=30))
@settings(max_examples=count_examples(100), deadline=None)
def test_turns_out_of_order_are_whole_pairs_too(history: list[dict[str, Any]]) -> None:
    prompt = load_pack(PACK).render({**_read("table"), "history": history})
    told = [(message["role"], _tell(message["content"])) for message in prompt.messages[1:-1]]
    pairs = _pair(history)
    assert len(told) == min(24, len(pairs)) and len(told) % 2 == 0
    for place in range(0, len(told), 2):
        assert told[place : place + 2] in [pairs[found : found + 2] for found in range(0, len(pairs), 2)]


BLANKS: list[Any] = [
    "",
    " \n",
    [],
    [{"type": "text", "text": "\t"}],
    [{"type": "thinking", "thinking": "", "signature": "x"}],
    [{"type": "tool_result", "tool_use_id": "t", "text": "NOISE"}],
]
"""What is no text, though some of it has one."""


@pytest.mark.parametrize("blank", BLANKS)
def test_what_is_no_text_is_neither_action_nor_response(blank: Any) -> None:
    between = [("user", blank), ("assistant", blank)]
    said = [*between, ("user", "I wait"), *between, ("assistant", "It rains."), *between]
    assert _list_told([{"turn": 1, "role": role, "content": content} for role, content in said]) == [2, 5]


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_pair_takes_no_place_of_the_twelve(place: int, blank: Any) -> None:
    pairs = [["I wait", "It rains."] for _ in range(12)]
    halves = [["I wait", "It rains."] for _ in range(3)]
    for half in halves:
        half[place] = blank
    entries = [
        (turn, role, said) for turn, pair in enumerate([*pairs, *halves]) for role, said in zip(("user", "assistant"), pair, strict=True)
    ]
    assert _list_told([{"turn": turn, "role": role, "content": said} for turn, role, said in entries]) == list(range(24))


def test_of_a_long_conversation_the_last_240_messages_are_looked_at() -> None:
    """The ids are places in the state, wherever the look begins."""
    history = [{"turn": place // 2, "role": ("user", "assistant")[place % 2], "content": f"Message {place}."} for place in range(1000)]
    assert _list_told(history) == list(range(976, 1000))


@pytest.mark.parametrize(("between", "is_told"), [(0, True), (238, True), (239, False)])
def test_a_pair_that_the_look_back_cuts_apart_is_not_told_by_half(between: int, is_told: bool) -> None:
    noise = [{"turn": 1, "role": "tool", "content": "Noise."}] * between
    history = [{"turn": 1, "role": "user", "content": "I wait"}, *noise, {"turn": 1, "role": "assistant", "content": "It rains."}]
    assert _list_told(history) == ([0, between + 1] if is_told else [])


def _list_told(history: list[dict[str, Any]]) -> list[int]:
    """The ids of the history's items."""
    sections = load_pack(PACK).render({**_read("table"), "history": history}).report["sections"]
    return [int(item["id"]) for section in sections if section["id"] == "history" for item in section["items"]]


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
@settings(max_examples=count_examples(150), deadline=None)
def test_whatever_a_model_calls_a_tool_with_the_turn_is_rendered(calls: list[tuple[str, Any]], mood: str) -> None:
    turn: list[dict[str, Any]] = []
    for place, (name, given_) in enumerate(calls):
        turn.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"t{place}", "name": name, "input": given_}]})
        turn.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{place}", "content": "Noted."}]})
    prompt = load_pack(PACK).render({**_read("table"), "turn": turn}, variants={"mood": mood})
    assert len(re.findall("^# (?:This|The outcome)", _system(prompt), re.MULTILINE)) == 1
    assert [part["type"] for message in prompt.messages[-2 * len(calls) :] for part in message["content"] if calls] == [
        "tool_use",
        "tool_result",
    ] * len(calls)
    assert not [
        part for message in prompt.messages if isinstance(message["content"], list) for part in message["content"] if None in part.values()
    ]


TEXTS = {"aim", "danger", "achieved", "complication", "subject", "source", "time", "catch"}
LISTS = {"costs", "activities"}
_calls = {
    "action": ("engage", {}, "aim position effect domain danger"),
    "aftermath": ("resolve", {}, "outcome achieved costs complication"),
    "scene": ("accept", {"to": "scene"}, "variant subject source catch urgency"),
    "downtime": ("accept", {"to": "downtime"}, "variant subject time activities"),
}
_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["a", "rest", "two\nlines", " "]),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.sampled_from(["x", "a"]), inner, max_size=2),
    max_leaves=8,
)


@given(
    mood=st.sampled_from(sorted(_calls)), values=st.lists(_json, min_size=5, max_size=5), costs=st.sampled_from([[], ["a", "r", "rest"]])
)
@settings(max_examples=count_examples(300), deadline=None)
def test_what_a_call_got_wrong_is_as_if_it_had_been_left_out(mood: str, values: list[Any], costs: list[str]) -> None:
    """No list, mapping, number or truth value as Python prints it, no text letter by letter."""
    name, always, keys = _calls[mood]
    said = dict(zip(keys.split(), values, strict=False))
    right = {key: value for key, value in said.items() if isinstance(value, str) and key not in LISTS}
    lists = {key: [one for one in said[key] if isinstance(one, str)] for key in LISTS & set(said) if isinstance(said[key], list)}
    assert _call(mood, name, {**always, **said}, costs) == _call(mood, name, {**always, **right, **lists}, costs)


@pytest.mark.parametrize("mood", sorted(_calls))
@pytest.mark.parametrize("wrong", [True, 0, 2.5, None, [], ["Zq"], {"Zq": "Zq"}, {}, [["Zq"]]], ids=repr)
def test_a_value_of_another_kind_prints_nothing(mood: str, wrong: Any) -> None:
    name, always, keys = _calls[mood]
    said = {key: "Zq Zq" if key in LISTS else wrong for key in keys.split()}
    assert _call(mood, name, {**always, **said}, []) == _call(mood, name, always, [])


def test_what_is_no_text_takes_no_place_of_five_costs() -> None:
    assert "\nPaid: The knife is gone\n" in _call("aftermath", "resolve", {"costs": [0, True, None, [], {}, "The knife is gone"]}, [])


def _call(mood: str, name: str, said: dict[str, Any], costs: list[str]) -> str:
    """The system prompt of the mood that the call leads to."""
    turn = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": name, "input": said}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "Noted."}]},
    ]
    state = {**_read("table"), "turn": turn, "costs": [{"cost": cost} for cost in costs]}
    return _system(load_pack(PACK).render(state, variants={"mood": mood}))


@pytest.mark.parametrize(("name", "mood"), [("engaged", "action"), ("resolved", "aftermath"), ("accepted", "downtime")])
def test_a_change_of_mood_keeps_all_that_is_no_mood(name: str, mood: str) -> None:
    """The same state in the new mood: world and conversation are the same, to the byte."""
    before, after = load_pack(PACK).render(_read(name)), load_pack(PACK).render(_read(name), variants={"mood": mood})
    assert before.messages[1:] == after.messages[1:]
    for section in ("player", "location", "npcs", "clocks", "threads", "past", "beats", "history", "action", "turn"):
        assert before.read_sections(section) == after.read_sections(section)
    assert before.read_sections("guidance") != after.read_sections("guidance")


# --- request bodies ---


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("mood", TOOLS)
@pytest.mark.parametrize("name", ["table", "engaged", "resolved", "long"])
def test_every_mood_is_a_body_that_each_provider_takes(name: str, mood: str, provider: str) -> None:
    body = load_pack(PACK).render(_read(name), format=provider, variants={"mood": mood}).to(provider, MODELS[provider])
    check_published(provider, body)
    names = [part["name"] for part in _find_named(body["tools"])]
    assert names == [tool["name"] for tool in load_pack(PACK).render(_read(name), variants={"mood": mood}).tools]
    assert set(names) == _list_tools(_read(name), mood)


def _list_tools(state: Mapping[str, Any], mood: str) -> set[str]:
    """With an outcome locked there is no die to spend."""
    return TOOLS[mood] - ({"spend_die"} if state.get("dice", {}).get("locked") else set())


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
        assert load_pack(PACK).render(state).report["flags"].get("due", []) == ["compress_scene"] * (count > 20)


@pytest.mark.parametrize("delta", [2, 2.0, -2.0, 9, -9, 0.0, 10, -99999, 1e300, -1e300])
def test_stress_and_coin_stay_integers(delta: float) -> None:
    answer = json.loads((FIXTURES / "tidepool" / "answers" / "scene.json").read_text(encoding="utf-8"))
    done = run_operation(
        load_pack(PACK),
        _read("long"),
        "compress_scene",
        answers={"scene": json.dumps({**answer, "stressDelta": delta, "coinDelta": delta})},
    )
    stress, coin = done.value["player"]["stress"], done.value["player"]["coin"]
    assert done.fallbacks == (("scene",) if abs(delta) > 9 else ()) and type(stress) is type(coin) is int
    booked = 0 if done.fallbacks else int(delta)
    assert (stress, coin) == (max(0, min(9, 4 + booked)), max(0, min(999, 3 + booked)))


def test_a_second_compression_finds_nothing_to_do() -> None:
    answer = (FIXTURES / "tidepool" / "answers" / "scene.md").read_text(encoding="utf-8")
    first = run_operation(load_pack(PACK), _read("long"), "compress_scene", answers={"scene": answer})
    second = run_operation(load_pack(PACK), first.value, "compress_scene")
    assert first.is_changed and not first.fallbacks
    assert not second.is_changed and second.value == first.value


# --- states nobody wrote ---


@given(state=from_schema(SCHEMA), mood=st.sampled_from([None, *sorted(TOOLS)]), budget=st.sampled_from([None, None, 2500, 4000]))
@settings(max_examples=count_examples(120), deadline=None)
def test_a_drawn_state_is_rendered_or_does_not_fit(state: dict[str, Any], mood: str | None, budget: int | None) -> None:
    try:
        prompt = load_pack(PACK).render(state, variants={"mood": mood} if mood else {}, budget=budget)
    except FitError:
        assert budget is not None, "what is drawn is small"
    else:
        assert prompt.tokens <= (budget or 14_000)
        assert {tool["name"] for tool in prompt.tools} == _list_tools(state, mood or state["mood"]["name"])


@given(state=from_schema(SCHEMA))
@settings(max_examples=count_examples(60), deadline=None)
def test_a_drawn_state_is_compressed_without_a_model(state: dict[str, Any]) -> None:
    done = run_operation(load_pack(PACK), state, "compress_scene")
    assert done.value.get("scene", {}).get("beats", []) == []
    assert load_pack(PACK).render(done.value, budget=100_000).report["flags"].get("due") is None
