"""What `check` says of caps that a state chooses holds for every value that the schema lets them have (contract.md §5)."""

import json
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.check.registry import check_pack

MOST = 44
LADDERS = (
    "[{evict: {}}]",
    "[{evict: {floor: 1}}]",
    "[{evict: {floor: 1}}, {drop: {}}]",
    "[{trim: {at: word}}]",
    "[{trim: {at: word}}, {evict: {order: ['true']}}]",
    "[{shorten: {}}, {evict: {floor: 2}}, {fail: {}}]",
)


@cache
def _load(ladder: str, unit: str, least: int, may_be_none: bool, longest: int) -> tuple[promptc.Pack, frozenset[str]]:
    cap = {"type": ["integer", "null"] if may_be_none else "integer", "minimum": least}
    words = {"type": "array", "items": {"type": "string", "maxLength": longest}, "maxItems": 3}
    schema = {"type": "object", "required": ["cap", "l"], "properties": {"cap": cap, "l": words}}
    most = MOST if unit == "tokens" else f"{{chars: {MOST}}}"
    items = "{from: state.l, forms: [{text: '{{ item }}'}, {text: x}]}"
    head = "promptc: 1\nname: chosen\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 1000\nstate: {schema: s.json}\n"
    first = f"{{id: a, budget: {{from: state.cap, max: {most}}}, items: {items}, overflow: {ladder}}}"
    second = '{id: b, text: "{{ state.l | join }}"}'
    text = f"{head}sections:\n  - {first}\n  - {second}\ntruncate: [a, b]\n"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "s.json").write_text(json.dumps(schema), encoding="utf-8")
        Path(folder, "pack.yaml").write_text(text, encoding="utf-8")
        pack = promptc.load(folder)
        return pack, frozenset(one.code for one in check_pack(pack.model))


# contract 5.7
@pytest.mark.dear
@given(
    ladder=st.sampled_from(LADDERS),
    unit=st.sampled_from(["tokens", "chars"]),
    least=st.sampled_from([-3, 0, 2, 38]),
    may_be_none=st.booleans(),
    longest=st.sampled_from([2, 20]),
    words=st.lists(st.sampled_from(["no", "salt", "the tide", "a bell at sea"]), max_size=3),
)
def test_what_check_says_of_a_range_holds_for_all_of_it(ladder, unit, least, may_be_none, longest, words):
    pack, codes = _load(ladder, unit, least, may_be_none, longest)
    state = {"l": [word[:longest] for word in words]}
    stood = -1
    for cap in [*range(least, least + 16), *range(max(MOST - 1, least + 16), MOST + 3), *([None] if may_be_none else [])]:
        outcome = pack.compile(pack.load_state({**state, "cap": cap}))
        section = outcome.report["sections"][0]
        assert section["cap"]["used"] == (MOST if cap is None else max(0, min(cap, MOST)))
        if "PC0622" not in codes:
            assert not outcome.errors, (cap, outcome.errors)
        if "PC0672" in codes:
            assert not outcome.report["cuts"], cap
        if outcome.errors:
            continue
        held = section["charge"] if unit == "tokens" else len("\n".join("x" * one["chars"] for one in section["items"]))
        assert held <= section["cap"]["used"] and held >= stood, (cap, held, stood)
        stood = held
        _check_totals(pack, {**state, "cap": cap})


def _check_totals(pack: promptc.Pack, state: dict[str, object]) -> None:
    """A larger total never takes what a smaller one held, nor turns success into an error."""
    before = None
    for total in range(1, 12):
        outcome = pack.compile(pack.load_state(state), budget=total)
        if outcome.errors:
            assert before is None, total
            continue
        held = sum(item["chars"] for section in outcome.report["sections"] for item in section["items"])
        assert before is None or held >= before, (total, held, before)
        before = held
