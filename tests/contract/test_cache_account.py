"""The account of `promptc cache`, computed once more from the bodies and tiktoken, over sessions of five packs."""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import promptc
from benchmarks.sessions import SESSIONS, open_pack
from promptc.economy import account_turns, find_break, read_request
from promptc.pipeline import Prompt
from tests.cases.recount import load_encoding
from tests.size import read_size

_FACTS = json.loads((Path(promptc.__file__).parent / "frontend" / "providers.json").read_text(encoding="utf-8"))["providers"]["anthropic"]
_BETWEEN = "\n\n"
_MODEL = "claude-sonnet-5"
_LEAST, _BACK, _MINUTES = 1024, 20, 5
_used = ["o200k_base"]


def _encoding() -> Any:
    return load_encoding(_used[0])


@dataclass(frozen=True)
class Unit:
    """A block: what tells it from others, its text where it can be met in part, its tokens and those of what opens with it."""

    key: tuple[str, str]
    text: str
    tokens: int
    lead: int
    is_marked: bool


def _count(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _fact(name: str) -> int:
    return _FACTS[name]["value"]


def _read_units(prompt: Prompt) -> list[Unit]:
    body = prompt.to("anthropic", _MODEL)
    units = []
    for at, tool in enumerate(body.get("tools", ())):
        lead = _fact("tool_tokens") + (0 if at else _fact("tools_tokens"))
        units.append(Unit(("tool", _dump(tool)), "", _count(_dump(tool)), lead, False))
    if "output_config" in body:
        schema = _dump(body["output_config"]["format"]["schema"])
        units.append(Unit(("schema", schema), "", _count(schema), _fact("response_tokens"), False))
    system = body.get("system", [])
    apart = [{"text": system}] if isinstance(system, str) else system
    turns = [[{"text": one["content"]}] if isinstance(one["content"], str) else one["content"] for one in body["messages"]]
    blocks = [*apart, *(block for turn in turns for block in turn)]
    opened = {len(apart) + sum(map(len, turns[:at])) for at in range(len(turns))} | {0}
    given = sorted(prompt.messages, key=lambda one: one["role"] not in ("system", "developer"))
    place = 0
    for message in given:
        lead = _fact("message_tokens") + _count(message["role"])
        content = message["content"]
        texts = [content] if isinstance(content, str) else [one["text"] if one["type"] == "text" else _dump(one) for one in content]
        whole, passed = "".join(texts) if isinstance(content, str) else "\n".join(texts), ""
        while len(passed) < len(whole):
            block = blocks[place]
            shown = block["text"] if "text" in block else _dump({key: value for key, value in block.items() if key != "cache_control"})
            is_apart = place < len(apart)
            own = shown[len(_BETWEEN) :] if is_apart and place and not passed and shown.startswith(_BETWEEN) else shown
            before = _count(passed)
            if not isinstance(content, str):
                own = texts[0] if len(texts) == 1 else texts[len(passed.split("\n")) - 1 if passed else 0]
            passed += own if isinstance(content, str) or not passed else f"\n{own}"
            key = (f"{'system' if is_apart else message['role']} {place in opened}", shown)
            units.append(Unit(key, shown, _count(passed) - before, lead, "cache_control" in block))
            lead, place = 0, place + 1
    assert place == len(blocks)
    first = units[0]
    units[0] = Unit(first.key, first.text, first.tokens, first.lead + _fact("prompt_tokens"), first.is_marked)
    return units


def _sum(units: list[Unit]) -> int:
    return sum(one.lead + one.tokens for one in units)


def _count_alike(before: list[Unit], after: list[Unit]) -> int:
    same = 0
    while same < min(len(before), len(after)) and before[same].key == after[same].key:
        same += 1
    tokens = _sum(after[:same])
    if same < min(len(before), len(after)) and before[same].key[0] == after[same].key[0] and after[same].text:
        old, new = before[same].text, after[same].text
        alike = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new)))
        encoding, passed, kept = _encoding(), b"", 0
        for token in encoding.encode_ordinary(new):
            passed += encoding.decode_single_token_bytes(token)
            if len(passed) > len(new[:alike].encode()):
                break
            kept += 1
        own = _count(new)
        tokens += kept + after[same].lead - (own - after[same].tokens if kept == own else 0) if kept else 0
    return tokens


# contract 14.12
@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("name", "patches"), [(name, patches) for name, (_, runs) in SESSIONS.items() for patches, form, _ in runs if form == "anthropic"]
)
def test_the_account_is_that_of_the_bodies(name: str, patches: tuple[str, ...]) -> None:
    tier, requests, sessions = None, [], []
    with open_pack(name) as (pack, stores):
        _used[0] = pack.counter.name
        for state in SESSIONS[name][0](6 if read_size() == "commit" else 60):
            carried = {**state, "strain": tier} if tier is not None else state
            outcome = pack.compile(carried, format="anthropic", model=_MODEL, patches=patches, stores=stores)
            tier = outcome.report.get("strain")
            requests.append(read_request(outcome))
            sessions.append(_read_units(Prompt(outcome)))
            assert requests[-1].tokens == outcome.tokens == _sum(sessions[-1])
    alive: dict[int, int] = {}
    for at, turn in enumerate(account_turns(requests, 1)):
        units = sessions[at]
        assert turn.same == (_count_alike(sessions[at - 1], units) if at else 0)
        marks = [place for place, one in enumerate(units, 1) if one.is_marked]
        best, found = 0, None
        for old in range(at):
            kept = [place for place, one in enumerate(sessions[old], 1) if one.is_marked]
            for end in kept:
                alike = [one.key for one in units[:end]] == [one.key for one in sessions[old][:end]]
                near = any(0 <= mark - end < _BACK for mark in marks)
                if alike and near and _sum(units[:end]) >= _LEAST and at - alive[old] <= _MINUTES and _sum(units[:end]) >= best:
                    best, found = _sum(units[:end]), old
        if found is not None:
            alive[found] = at
        alive[at] = at
        end = _sum(units[: marks[-1]]) if marks else 0
        written = end - best if end >= _LEAST and end > best else 0
        assert (turn.read, turn.written) == (best, written)
        assert turn.cost == 10 * best + 125 * written + 100 * (_sum(units) - best - written)
    for before, after in pairwise(requests):
        found_break = find_break(before, after)
        assert found_break is None or found_break.section
