"""Operations: pure and total, whatever a model answers; what goes to an archive and what stays is what was there; the digest of sentinel
without a model forgets nothing."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.operations.results import Archive, OperationResult
from promptc.operations.run import run_operation
from promptc.template.runtime.run import Run
from tests.contract.sources import ROOT
from tests.packs import load_pack
from tests.unit.operations.small import write_pack

SENTINEL = "packs/sentinel"
CALM = json.loads((ROOT / "fixtures" / "sentinel" / "calm" / "state.json").read_text())
LENGTH = 2000
"""Characters of a field of a digest; a longer one is cut."""
MOST = 500
"""Entries of each of its lists."""

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
names = st.sampled_from(["Bureau", "Union", "Combine", "", "Bureau ", 'a "quoted" \\ name', "x" * 2500]) | texts
blocks = st.fixed_dictionaries(
    {"id": st.integers(0, 9), "type": st.sampled_from(["NARRATIVE", "INTEL", "CHOICE", "SYSTEM"]), "text": texts},
    optional={
        "at": texts,
        "speaker": names,
        "tags": st.lists(st.sampled_from(["hinge:1", "hinge:2", "npc:ivo", "unhinge:3", "hinge:"]) | texts, max_size=3),
    },
)
hinges = st.fixed_dictionaries({"situation": names, "choice": names}, optional={"consequence": names})
states = st.fixed_dictionaries(
    {"input": texts},
    optional={
        "now": texts,
        "factions": st.lists(
            st.fixed_dictionaries({"name": names}, optional={"standing": st.integers(-5, 5), "reason": names}), max_size=6
        ),
        "threads": st.lists(st.fixed_dictionaries({"name": names, "trigger": names}), max_size=6),
        "transcript": st.lists(blocks, max_size=12),
        "strain": st.sampled_from(["normal", "strain_2"]),
        "digest": st.fixed_dictionaries(
            {},
            optional={
                "hinge_index": st.lists(hinges, max_size=5),
                "standing_reasons": st.lists(st.fixed_dictionaries({"faction": names, "reason": names}), max_size=5),
                "npc_memory_anchors": st.lists(st.fixed_dictionaries({"npc": names, "memory": names}), max_size=5),
                "open_threads": st.lists(st.fixed_dictionaries({"name": names, "trigger": names}), max_size=5),
            },
        ),
    },
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return write_pack(tmp_path_factory.mktemp("small"))


# --- whatever a model answers ---

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["points", "hinge_index", "open_threads"]) | texts, inner),
    max_leaves=12,
)
DIGEST = {
    "hinge_index": [{"situation": "The gate stands open.", "choice": "RUNE waits.", "consequence": "It shuts."}] * 5,
    "standing_reasons": [{"faction": "Bureau", "reason": "The lamps."}],
    "npc_memory_anchors": [{"npc": "Bas Hollow", "memory": "The lamps went out."}],
    "open_threads": [],
}

answers = (
    st.text(max_size=200)
    | values.map(json.dumps)
    | st.builds("{}\n```json\n{}\n```\n{}".format, st.text(max_size=20), values.map(json.dumps), st.text(max_size=20))
    | st.builds("```{}\n{}\n```".format, st.sampled_from(["", "json", "`"]), values.map(json.dumps) | st.text(max_size=60))
    | st.lists(st.sampled_from(["## What happened", "What is open", "### What changed ##", "#", "- text", "```", ""]), max_size=8).map(
        "\n".join
    )
)


@given(digest=answers, summary=answers)
def test_any_answer_ends_in_a_valid_state(small: Any, digest: str, summary: str) -> None:
    state = {"log": [{"text": "a", "hot": True}, {"text": "b"}], "strain": "tense"}
    before, args, given_answers = deepcopy(state), {"summary": True, "keep": 1}, {"digest": digest, "summary": summary}
    done = run_operation(small, state, "tidy", args, given_answers)
    assert state == before and args == {"summary": True, "keep": 1}
    assert _show(done) == _show(run_operation(small, state, "tidy", args, given_answers))
    assert {found.code for found in done.warnings} == ({"PC0800"} if done.fallbacks else set())
    small.load_state(done.value)
    assert ("digest" in done.fallbacks) == (done.value["digest"] == ["a"] and not _has_points(digest, ["a"]))


@given(digest=answers, summary=answers)
def test_any_answer_makes_a_checkpoint(digest: str, summary: str) -> None:
    done = run_operation(load_pack(SENTINEL), CALM, "checkpoint", {"summary": True}, {"digest": digest, "summary": summary})
    load_pack(SENTINEL).load_state(done.value)
    assert len(done.value["transcript"]) == 12 and done.value["summary"].strip()


@given(state=states, operation=st.sampled_from(["checkpoint", "compress", "clear"]), with_summary=st.booleans())
def test_a_second_call_with_the_same_answers_finds_nothing_to_do(state: Any, operation: str, with_summary: bool) -> None:
    """Nor books anything: who calls again after a crash need not know whether the first call was done."""
    args = {"summary": with_summary} if operation == "checkpoint" else {}
    given_answers = {"digest": json.dumps(DIGEST), "summary": "# What happened\nRain.\n# What changed\nNothing.\n# What is open\nThe gate."}
    asked = {} if operation == "clear" else given_answers if with_summary and args else {"digest": json.dumps(DIGEST)}
    if asked:  # an answer keeps each hinge and open thread of the digest, or says that it is closed
        state = {**state, "digest": {**state.get("digest", {}), "hinge_index": [], "open_threads": []}}
    first = run_operation(load_pack(SENTINEL), state, operation, args, asked)
    assert not first.fallbacks
    assert run_operation(load_pack(SENTINEL), first.value, operation, args, asked).value == first.value


def _has_points(answer: str, points: list[str]) -> bool:
    return json.dumps(points) in answer


# --- what goes and what stays ---


@given(
    log=st.lists(st.fixed_dictionaries({"text": texts}, optional={"hot": st.booleans()}), max_size=12),
    operation=st.sampled_from(["cool", "tidy"]),
    keep=st.integers(0, 14),
)
def test_what_went_and_what_stayed_is_what_was_there(small: Any, log: list[Any], operation: str, keep: int) -> None:
    done = run_operation(small, {"log": log}, operation, {"keep": keep} if operation == "tidy" else None)
    stayed = done.value["log"]
    assert len(done.archives) == (len(stayed) < len(log))
    for archive in done.archives:
        assert _put_back(archive, stayed) == log and archive.length == len(log) and archive.elements
        flat = [place for pair in archive.places for place in pair]
        assert flat == sorted(set(flat)), "ranges rise, and do not touch"
    wanted = [one for one in log if not one.get("hot")] if operation == "cool" else log[len(log) - min(keep, len(log)) :]
    assert stayed == wanted


def _put_back(archive: Archive, stayed: list[Any]) -> list[Any]:
    gone, kept = iter(archive.elements), iter(stayed)
    places = {place for start, stop in archive.places for place in range(start, stop)}
    return [next(gone) if place in places else next(kept) for place in range(archive.length)]


# --- the digest without a model ---


@given(state=states)
def test_the_digest_without_a_model_forgets_nothing(state: Any) -> None:
    before = deepcopy(state)
    done = run_operation(load_pack(SENTINEL), state, "checkpoint", {"summary": True})
    assert state == before and done.fallbacks == ("digest", "summary")
    digest, old = done.value["digest"], state.get("digest", {})
    for key, parts in (
        ("hinge_index", ("situation", "choice")),
        ("npc_memory_anchors", ("npc", "memory")),
        ("standing_reasons", ("faction",)),
        ("open_threads", ("name",)),
    ):
        kept, was = ([_cut(one, parts) for one in held] for held in (digest[key], old.get(key, [])))
        assert kept[: len(was)] == was, f"{key}: what was there stands first, in its order"
    _check_reasons(digest["standing_reasons"], old.get("standing_reasons", []), state.get("factions", []))
    _check_triggers(digest["open_threads"], old.get("open_threads", []), state.get("threads", []))
    marked = [block for block in state.get("transcript", []) if any(tag.startswith("hinge:") for tag in block.get("tags", []))]
    told = {(one["situation"], one["choice"]) for one in digest["hinge_index"][len(old.get("hinge_index", [])) :]}
    assert bool(told) <= bool(marked)
    again = run_operation(load_pack(SENTINEL), {**state, "digest": digest}, "compress").value["digest"]
    assert _fits(digest) is False or again == digest, "made twice, it is the same"


def _cut(entry: Any, parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(entry[part][:LENGTH] for part in parts)


def _check_reasons(kept: list[Any], was: list[Any], factions: list[Any]) -> None:
    for old, new in zip(was, kept, strict=False):
        assert old["reason"] in new["reason"] or len(new["reason"]) == LENGTH
    for faction in factions:
        if faction.get("reason"):
            mine = [one["reason"] for one in kept if one["faction"] == faction["name"][:LENGTH]]
            assert any(faction["reason"] in one or len(one) == LENGTH for one in mine)


def _check_triggers(kept: list[Any], was: list[Any], threads: list[Any]) -> None:
    for old, new in zip(was, kept, strict=False):
        assert old["trigger"] in new["trigger"] or len(new["trigger"]) == LENGTH
    for thread in threads:
        mine = [one["trigger"] for one in kept if one["name"] == thread["name"][:LENGTH]]
        assert any(thread["trigger"] in one or len(one) == LENGTH for one in mine)


def _fits(digest: Any) -> bool:
    return all(len(text) < LENGTH for held in digest.values() for one in held for text in one.values())


@pytest.mark.parametrize("count", [499, 500])
def test_of_more_than_the_schema_takes_the_newest_stay(count: int) -> None:
    held = [{"situation": f"s{n}", "choice": f"c{n}", "consequence": "x"} for n in range(count)]
    log = [{"id": n, "type": "CHOICE", "text": f"I turn key {n}.", "tags": [f"hinge:{n}"]} for n in range(30)]
    digest = run_operation(load_pack(SENTINEL), {"input": "", "digest": {"hinge_index": held}, "transcript": log}, "checkpoint").value[
        "digest"
    ]
    assert len(digest["hinge_index"]) == MOST and digest["hinge_index"][-1]["choice"] == "I turn key 29."
    assert digest["hinge_index"][: MOST - 30] == held[count + 30 - MOST :]


def test_a_long_campaign_has_its_digest() -> None:
    log = [{"id": n, "type": "NARRATIVE", "text": "Rain.", "tags": ["hinge:x"] if n % 50 == 0 else []} for n in range(20_000)]
    done = run_operation(load_pack(SENTINEL), {"input": "", "transcript": log}, "checkpoint")
    (moved,) = [one for one in done.archives if one.name == "transcript"]
    assert done.fallbacks == ("digest",) and len(moved.elements) == 19_988
    assert done.value["digest"]["hinge_index"]


@pytest.mark.sampled
@pytest.mark.parametrize("shift", [0, 1_000])
@pytest.mark.parametrize("names", [1, 500])
def test_the_longest_lists_of_the_schema_have_their_digest(names: int, shift: int) -> None:
    """The most entries, each longer than the digest takes; of one name, or each of its own; news of what is held, or of what is not."""

    def text(n: int) -> str:
        return f"{n} ".ljust(2200, "x")

    most = range(MOST)
    digest = {
        "hinge_index": [{"situation": f"Marked {text(n)}", "choice": text(n), "consequence": text(n)} for n in most],
        "standing_reasons": [{"faction": text(n % names), "reason": text(n)} for n in most],
        "npc_memory_anchors": [{"npc": text(n), "memory": text(n)} for n in most],
        "open_threads": [{"name": text(n % names), "trigger": text(n)} for n in most],
    }
    state = {
        "input": "",
        "digest": digest,
        "factions": [{"name": text(n % names + shift), "reason": text(n + MOST), "standing": 1} for n in range(200)],
        "threads": [{"name": text(n % names + shift), "trigger": text(n + MOST)} for n in most],
        "transcript": [{"id": n, "type": "CHOICE", "text": "A word. " * 800, "tags": [f"hinge:{n}"] * 100} for n in range(1_500)],
    }
    held = run_operation(load_pack(SENTINEL), state, "compress").value["digest"]
    assert {len(entries) for entries in held.values()} == {MOST}
    assert held["open_threads"][-1]["trigger"] == text(999)[:LENGTH], "the newest is told, and first"


@pytest.mark.dear
def test_a_digest_without_a_model_costs_as_much_as_the_transcript_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema takes ten times as many blocks: with as many tags as it takes they stay below the steps of an operation."""
    runs: list[Run] = []
    begin = Run.__init__

    def spy(run: Run, *rest: Any) -> None:
        begin(run, *rest)
        runs.append(run)

    monkeypatch.setattr(Run, "__init__", spy)
    spent = []
    for count in (2_000, 20_000):
        log = [{"id": n, "type": "INTEL", "text": "", "tags": [""] * 100} for n in range(count)]
        runs.clear()
        run_operation(load_pack(SENTINEL), {"input": "", "transcript": log}, "compress")
        spent.append(max(run.limits.steps - run.left for run in runs))
    assert spent[1] < 11 * spent[0]
    assert 10 * spent[1] < max(run.limits.steps for run in runs)


def _show(done: OperationResult) -> Any:
    return json.dumps(done.value), done.said, done.fallbacks, [(one.places, one.elements) for one in done.archives], done.warnings
