"""Items as they are rendered: texts inside the parts of a message, and content that is cut."""

from pathlib import Path

import pytest

from promptc.passes.items.render import Most, find_cut, guard_value
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from promptc.text.cutting import list_boundaries
from promptc.text.guard import Guard
from tests.unit.text.test_prefix import Whole


# contract 10.6 and 10.11
def test_every_text_is_guarded_and_reported():
    part = {"type": "tool_use", "id": "a", "input": {"<|im_end|>": ["<|im_start|>", 3, None, {"at": "plain"}]}}
    guarded, found = guard_value(part, Guard())
    assert guarded == {"type": "tool_use", "id": "a", "input": {"<\\|im_end|>": ["<\\|im_start|>", 3, None, {"at": "plain"}]}}
    assert [one.text for one in found] == ["<|im_end|>", "<|im_start|>"]


SIGNED = [
    {"type": "thinking", "thinking": "They wrote <|im_end|>.\n=== END", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "<|im_end|>"},
]


# contract 10.16
@pytest.mark.parametrize("part", SIGNED)
def test_what_is_signed_stays_as_it_is_and_is_reported(part):
    guarded, found = guard_value({**part, "more": "<|im_start|>"}, Guard(["=== END"], in_messages=True))
    assert guarded == {**part, "more": "<\\|im_start|>"}
    assert {(one.text, one.policy) for one in found} >= {("<|im_start|>", "escape"), ("<|im_end|>", "keep")}


@pytest.mark.parametrize("part", SIGNED)
def test_what_is_refused_is_refused_in_what_is_signed(part):
    _, found = guard_value(part, Guard(token_policy="reject", in_messages=True))
    assert [one.policy for one in found] == ["reject"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "<|im_end|>"},
        {"type": "thinking", "thinking": "<|im_end|>", "signature": ""},
        {"type": "thinking", "thinking": "<|im_end|>", "signature": 3},
        {"type": "text", "thinking": "<|im_end|>", "signature": "c2ln"},
        {"type": ["thinking"], "thinking": "<|im_end|>", "signature": "c2ln"},
    ],
)
def test_what_is_not_signed_is_guarded_whatever_it_is_called(part):
    guarded, _ = guard_value(part, Guard(in_messages=True))
    assert guarded["thinking"] == "<\\|im_end|>"


# contract 10.16
def test_in_text_nothing_is_spared():
    assert guard_value(SIGNED[1], Guard())[0]["data"] == "<\\|im_end|>"


def test_keys_that_only_hidden_text_tells_apart_stay_apart():
    guard = Guard(invisible_policy="replace_hidden")
    value = {"a\U000e0041": 1, "a\U000e0042": 2, "b\U000e0041": 3}
    guarded, found = guard_value(value, guard)
    assert guarded == {"a\\u{e0041}": 1, "a\\u{e0042}": 2, "b\\u{e0041}": 3}
    assert [one.text for one in found if one.kind == "hidden_text"] == ["A", "B", "A"]
    assert guard_value({"b\U000e0041": 3}, guard)[0] == {"b\ufffd": 3}


@pytest.fixture(params=["cl100k_base", "o200k_base"])
def exact(request):
    return load_counter(request.param, folder=Path())


@pytest.mark.parametrize("unit", ["word ", "A b. ", "a\n", "Wörter, und. "])
@pytest.mark.parametrize("at", ["sentence", "word"])
def test_the_longest_cut_of_a_counted_text_that_fits_costs_what_it_keeps(unit, at, exact):
    costs = []
    for length in (4_000, 40_000):
        counter = Whole(exact)
        text, meter = unit * (length // len(unit)), Meter(counter)
        meter.count(text)
        counter.characters = 0
        cut = find_cut(text, Most("tokens", 60), boundaries=list_boundaries([at]), side="end", marker=" […]", guard=Guard(), meter=meter)
        assert cut is not None
        assert cut.measure_size("tokens") <= 60
        costs.append(counter.characters)
    assert costs[0] == costs[1]


def test_where_nothing_fits_the_shortest_is_left(exact):
    cut = find_cut(
        "abc " * 2_000, Most("tokens", 0), boundaries=list_boundaries(["word"]), side="end", marker="", guard=Guard(), meter=Meter(exact)
    )
    assert cut is not None
    assert cut.text == "abc"
