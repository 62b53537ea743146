"""What a single case of companion cannot show: drawn states against rules written twice, blocks by themselves, exact caps."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import promptc
from promptc.diag.findings import FitError
from promptc.operations.run import run_operation
from tests.cases.case import FIXTURES, ROOT
from tests.cases.companion_rules import LOOP_CAPS, TYPE_CAPS, TYPES, fold, select, select_said
from tests.cases.schema_drawing import from_schema
from tests.cases.walk_budgets import check_growth
from tests.packs import load_pack
from tests.size import count_examples

FOLDER = ROOT / "packs" / "companion"
PACK = "packs/companion"
JUDGE = "packs/companion/judge.yaml"
CROWDED = json.loads((FIXTURES / "companion" / "base" / "crowded.json").read_text(encoding="utf-8"))
BLOCKS = (
    "realtime session_state persona foundation relevant commitments threads frictions wins user_seed "
    "summary_spine rolling_summary session_summary recent input"
).split()
NOW = datetime(2026, 3, 14, 19, 40, tzinfo=UTC)


def _tell(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _ids(prompt: promptc.Prompt, section: str) -> list[str]:
    found = next(one for one in prompt.report["sections"] if one["id"] == section)
    return [item["id"] for item in found["items"]]


def _lines(prompt: promptc.Prompt, title: str) -> list[str]:
    """The entries of the message of that title; none where it is absent."""
    found = [str(one["content"]) for one in prompt.messages if one["role"] == "system" and str(one["content"]).startswith(title)]
    return [line.removeprefix("- ") for text in found for line in text.splitlines()[1:]]


# --- drawn states ---

WORDS = ["the wall is wet", "Jonas' boat", "call the dentist", "straße am fluss", "eat plums"]
ages = st.one_of(
    st.sampled_from([0, 3599, 3600, 3601, 48 * 3600 - 1, 48 * 3600, 48 * 3600 + 1]),
    st.integers(-60, 7200),
    st.integers(0, 60 * 3600),
)
times = ages.map(lambda age: _tell(NOW - timedelta(seconds=age)))
personas = st.sampled_from(["wren", "juno"])


@st.composite
def phrases(draw: st.DrawFn) -> str:
    """One of few things to say, spelt in one of many ways."""
    text = draw(st.sampled_from(WORDS)) + draw(st.sampled_from(["", "", " 2", " 3"]))
    for change in draw(st.lists(st.sampled_from([str.upper, str.title, _widen, _space, _stop, _hyphenate, _quote]), max_size=3)):
        text = change(text)
    return text


def _widen(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def _space(text: str) -> str:
    return f"  {text}\t".replace(" ", " \n ")


def _stop(text: str) -> str:
    return f"{text}?!"


def _hyphenate(text: str) -> str:
    return text.replace(" ", " – ")


def _quote(text: str) -> str:
    return f"“{text}”".replace("'", "’")


def _rows(prefix: str, most: int, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    rows = st.lists(st.fixed_dictionaries({"content": phrases(), **fields}), max_size=most)
    return rows.map(lambda found: [{"id": f"{prefix}{number}", **row} for number, row in enumerate(found)])


types = st.sampled_from([*TYPES, *TYPES, "OPEN_LOOP"])
owners = st.sampled_from([None, None, "wren", "juno"])
todos = _rows(
    "t",
    30,
    kind=st.sampled_from(["COMMITMENT", "THREAD", "FRICTION"]),
    status=st.sampled_from(["PENDING", "PENDING", "COMPLETED", "DROPPED"]),
    at=times,
    completed_at=times,
)
states = st.fixed_dictionaries(
    {
        "now": st.just(_tell(NOW)),
        "transcript": phrases(),
        "persona": personas,
        "memories": _rows("m", 40, type=types, pinned=st.sampled_from([True, True, False]), persona=owners, at=times),
        "candidates": _rows("c", 25, type=types, persona=owners, score=st.integers(0, 6).map(lambda tenths: tenths / 10)),
        "todos": todos,
        "messages": _rows("n", 14, role=st.sampled_from(["user", "user", "assistant"]), persona=personas, at=times),
    }
)


@settings(max_examples=count_examples(150), deadline=None)
@given(state=states)
def test_the_pack_selects_what_the_rules_select(state: dict[str, Any]) -> None:
    prompt = load_pack(PACK).render(state)
    wanted = select(state)
    assert {section: _ids(prompt, section) for section in wanted} == wanted
    assert not prompt.report["cuts"]


@settings(max_examples=count_examples(150), deadline=None)
@given(state=states)
def test_what_is_promised_of_the_blocks(state: dict[str, Any]) -> None:
    """Read from the messages alone, without a second selection."""
    prompt = load_pack(PACK).render(state)
    foundation, relevant = ([fold(line) for line in _lines(prompt, f"[{name} MEMORIES]")] for name in ("FOUNDATION", "RELEVANT"))
    assert not set(foundation) & set(relevant)
    assert len(set(relevant)) == len(relevant)
    assert len(foundation) <= 20 and len(relevant) <= 8
    for title, most in (("COMMITMENTS", 5), ("ACTIVE THREADS", 3), ("FRICTIONS", 3)):
        lines = [fold(line) for line in _lines(prompt, title)]
        assert len(lines) == len(set(lines)) <= most
    rows = {row["id"]: row for name in ("memories", "todos", "messages") for row in state[name]}
    for section, key in (("foundation", "at"), ("commitments", "at"), ("wins", "completed_at"), ("recent", "at")):
        told = [rows[one][key] for one in _ids(prompt, section)]
        assert told == sorted(told)
    assert all(rows[one]["completed_at"] >= _tell(NOW - timedelta(hours=48)) for one in _ids(prompt, "wins"))
    assert {rows[one]["persona"] for one in _ids(prompt, "recent")} <= {state["persona"]}
    assert [one["role"] for one in prompt.messages][-1] == "user"


@settings(max_examples=count_examples(150), deadline=None)
@given(state=states)
def test_the_judge_reads_what_the_rules_say(state: dict[str, Any]) -> None:
    assert _ids(load_pack(JUDGE).render(state), "said") == select_said(state)


@settings(max_examples=count_examples(60), deadline=None)
@given(state=states)
def test_types_are_counted(state: dict[str, Any]) -> None:
    prompt = load_pack(PACK).render(state)
    rows = {row["id"]: row for name in ("memories", "candidates", "todos", "messages") for row in state[name]}
    keys = {"foundation": "type", "relevant": "type", "recent": "role", "wins": "kind", **dict.fromkeys(LOOP_CAPS, "kind")}
    for section in prompt.report["sections"]:
        if section["id"] in keys:
            assert section["tally"] == Counter(rows[item["id"]][keys[section["id"]]] for item in section["items"])
    assert prompt.report["characters"] == sum(len(str(one["content"])) for one in prompt.messages)


# --- blocks ---

ALONE: dict[str, dict[str, Any]] = {
    "realtime": {"now": _tell(NOW)},
    "session_state": {"session_state": {"topic": "plums"}},
    "foundation": {"memories": [{"id": "a", "type": "PEOPLE", "content": "x", "pinned": True, "at": _tell(NOW)}]},
    "relevant": {"candidates": [{"id": "a", "type": "PEOPLE", "content": "x", "score": 1}]},
    "commitments": {"todos": [{"id": "a", "kind": "COMMITMENT", "content": "x", "at": _tell(NOW)}]},
    "threads": {"todos": [{"id": "a", "kind": "THREAD", "content": "x", "at": _tell(NOW)}]},
    "frictions": {"todos": [{"id": "a", "kind": "FRICTION", "content": "x", "at": _tell(NOW)}]},
    "user_seed": {"user_seed": "x"},
    "summary_spine": {"summary_spine": "x"},
    "rolling_summary": {"session_state": {"rolling_summary": "x"}},
    "session_summary": {"session_summary": {"about": "x"}},
    "recent": {"messages": [{"id": "a", "role": "assistant", "content": "x", "persona": "wren", "at": _tell(NOW)}]},
}


@pytest.mark.parametrize("section", ALONE)
def test_a_block_stands_in_its_place_by_itself(section: str) -> None:
    prompt = load_pack(PACK).render({"transcript": "hello", **ALONE[section]})
    wanted = sorted({"persona", "input", section}, key=BLOCKS.index)
    assert [one["id"] for one in prompt.report["sections"] if one["state"] == "present"] == wanted
    assert len(prompt.messages) == 3
    assert [one["role"] for one in prompt.messages].count("system") == (1 if section == "recent" else 2)


def test_all_blocks_are_messages_of_their_own() -> None:
    prompt = load_pack(PACK).render(CROWDED)
    assert [one["id"] for one in prompt.report["sections"]] == BLOCKS
    roles = [one["role"] for one in prompt.messages]
    assert roles[:13] == ["system"] * 13 and len(roles) == 13 + 6 + 1
    assert prompt.messages[-1] == {"role": "user", "content": CROWDED["transcript"]}


# --- caps of characters ---

CAPS = {
    "user_seed": (800, lambda text: {"user_seed": text}),
    "summary_spine": (1200, lambda text: {"summary_spine": text}),
    "rolling_summary": (600, lambda text: {"session_state": {"rolling_summary": text}}),
    "session_summary": (600, lambda text: {"session_summary": text}),
}


@pytest.mark.parametrize("section", CAPS)
@pytest.mark.parametrize("over", [-1, 0, 1, 400])
def test_a_cap_holds_to_the_character(section: str, over: int) -> None:
    cap, put = CAPS[section]
    text = ("One more sentence of it. " * 80)[: cap + over - 1] + "."
    message = str(load_pack(PACK).render({"transcript": "hello", **put(text)}).messages[1]["content"]).split("\n", 1)[1]
    assert len(message) <= cap
    assert (message == text) == (over <= 0)
    assert over <= 0 or (message.endswith(" […]") and text.startswith(message.removesuffix(" […]")))


@pytest.mark.parametrize("length", [799, 800, 801, 5000])
def test_a_message_has_eight_hundred_characters(length: int) -> None:
    text = ("all of it " * 600)[: length - 1] + "."
    row = {"id": "a", "role": "user", "content": text, "persona": "wren", "at": _tell(NOW)}
    shown = str(load_pack(PACK).render({"transcript": "hello", "messages": [row]}).messages[1]["content"])
    assert (shown == text) if length <= 800 else (790 < len(shown) <= 800 and shown.endswith(" […]"))


def test_the_warning_begins_behind_twenty_thousand_characters() -> None:
    bare = load_pack(PACK).render({"transcript": "x"}).report["characters"] - 1
    for length, warned in ((20_000, []), (20_001, ["PC0542"])):
        prompt = load_pack(PACK).render({"transcript": ("word " * 5000)[: length - bare - 1] + "."})
        assert prompt.report["characters"] == length
        assert [one.code for one in prompt.warnings] == warned


# --- the total ---


def test_a_larger_budget_keeps_what_a_smaller_one_kept() -> None:
    check_growth(load_pack(PACK), load_pack(PACK).load_state(CROWDED), range(950, 2900, 31))


def test_a_turn_that_never_ends_is_cut_at_a_sentence() -> None:
    prompt = load_pack(PACK).render({**CROWDED, "transcript": "And then he went on about the boat. " * 1500})
    said = str(prompt.messages[-1]["content"])
    assert prompt.tokens <= 7168 and said.endswith("the boat. […]")
    assert "PC0540" in [one.code for one in prompt.warnings]


# --- times and kinds ---


@settings(max_examples=count_examples(200), deadline=None)
@given(day=st.dates(min_value=datetime(1990, 1, 1).date(), max_value=datetime(2120, 12, 31).date()))
def test_the_day_is_told_right(day: Any) -> None:
    told = str(load_pack(PACK).render({"transcript": "hello", "now": f"{day.isoformat()}T12:00:00Z"}).messages[0]["content"])
    assert f"It is {day.strftime('%A')}, {day.day} {day.strftime('%B')} {day.year}, 12:00 (UTC)." in told


def test_the_judge_writes_what_the_pack_reads() -> None:
    """One list of kinds in the states, in what the judge answers, and in what the blocks show."""
    answer = json.loads((FOLDER / "schemas" / "extraction.json").read_text(encoding="utf-8"))["properties"]
    states = json.loads((FOLDER / "state.schema.json").read_text(encoding="utf-8"))["$defs"]
    assert answer["memories"]["items"]["properties"]["type"]["enum"] == list(TYPE_CAPS)
    assert set(TYPE_CAPS) < set(states["memory"]["properties"]["type"]["enum"])
    kinds = [kind for kind, _ in LOOP_CAPS.values()]
    assert answer["loops"]["items"]["properties"]["kind"]["enum"] == states["todo"]["properties"]["kind"]["enum"] == kinds


@pytest.mark.parametrize(
    ("answer", "is_valid"),
    [
        ({"memories": [], "loops": []}, True),
        ({"memories": [{"type": "PEOPLE", "content": "Onur draws maps."}], "loops": [{"kind": "THREAD", "content": "the bear"}]}, True),
        ({"memories": []}, False),
        ({"memories": [{"type": "OPEN_LOOP", "content": "x"}], "loops": []}, False),
        ({"memories": [{"type": "PEOPLE", "content": ""}], "loops": []}, False),
        ({"memories": [], "loops": [{"kind": "THREAD", "content": "x", "why": "y"}]}, False),
    ],
)
def test_the_schema_of_the_answer(answer: Any, is_valid: bool) -> None:
    schema = json.loads((FOLDER / "schemas" / "extraction.json").read_text(encoding="utf-8"))
    assert jsonschema.Draft202012Validator(schema).is_valid(answer) is is_valid


# --- what the judge found ---


@pytest.mark.parametrize("now", [None, "", _tell(NOW)])
def test_each_turn_is_learned_once_whatever_the_clock(now: str | None) -> None:
    """Three turns, each judged twice, with a clock that stands still or none: three entries, in order."""
    state: Any = {} if now is None else {"now": now}
    answer = {"found": (FIXTURES / "companion" / "answers" / "found.json").read_text(encoding="utf-8")}
    said = ["I'm home.", "Long one.", "And tell Juno I'll run on Tuesday."]
    for transcript in said:
        first = run_operation(load_pack(PACK), {**state, "transcript": transcript}, "learn", answers=answer)
        second = run_operation(load_pack(PACK), first.value, "learn", answers=answer)
        assert first.is_changed and first.said == "Memories: 1, loops: 2."
        assert not second.is_changed and second.said == "This turn was judged before."
        state = second.value
    assert [entry["said"] for entry in state["learned"]] == said
    assert all(len(entry["memories"]) == 1 and len(entry["loops"]) == 2 for entry in state["learned"])


# --- states nobody wrote ---

SCHEMA = json.loads((FOLDER / "state.schema.json").read_text(encoding="utf-8"))


def _complete(state: dict[str, Any]) -> dict[str, Any]:
    """What drawing knows nothing of: a time for each completed loop, days that each month has, a persona that there is."""
    for row in state.get("todos", []):
        row.update({"completed_at": row["at"]} if row.get("status") == "COMPLETED" else {})
    real: dict[str, Any] = json.loads(re.sub(r"-(?:29|3.)T(?=..:..:)", "-28T", json.dumps(state)))
    return {**real, "persona": "juno" if len(real["transcript"]) % 2 else "wren"}


drawn = from_schema(SCHEMA).map(_complete)
slow = [HealthCheck.too_slow]


@settings(max_examples=count_examples(40), deadline=None, suppress_health_check=slow)
@given(state=drawn, budget=st.sampled_from([None, None, 1000, 1100]))
def test_a_drawn_state_is_rendered_or_does_not_fit(state: dict[str, Any], budget: int | None) -> None:
    try:
        prompt = load_pack(PACK).render(state, budget=budget)
    except FitError:
        assert budget is not None, "what is drawn is small"
    else:
        assert prompt.tokens <= (budget or 7168)
        assert prompt.messages[0]["role"] == "system"


@settings(max_examples=count_examples(25), deadline=None, suppress_health_check=slow)
@given(state=drawn)
def test_a_drawn_state_is_judged_without_a_model(state: dict[str, Any]) -> None:
    """Nothing is found then, and nothing changes."""
    done = run_operation(load_pack(PACK), state, "learn")
    assert not done.is_changed and done.value == state
