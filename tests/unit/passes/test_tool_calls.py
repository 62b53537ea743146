"""`evict` with `whole: call`: a message with several tool calls loses one after the other, each with its result."""

from typing import Any

import pytest

from promptc.diag.findings import FitError, PromptcError
from tests.pictures import make_png, show
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn

TEXT = {"type": "text", "text": "I look at three things."}
WORDS = "the quick brown fox jumps over the lazy dog again and again "


def _use(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "look", "input": {"at": WORDS + name}, **more}


def _result(name: str, content: Any = None) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content or WORDS + name}


def _load(folder: Any, step: dict[str, Any], *turns: tuple[str, Any], budget: int, items: Any = None, **more: Any) -> Any:
    kinds = ["text", "tool_use", "tool_result", "image", "thinking"]
    message = {"role": "item.role", "content": "item.content", "parts": kinds, "media": {"model": "gpt-4o"}}
    section = {"id": "log", "budget": budget, "items": {"from": "state.turns", "message": message, **(items or {})}}
    section |= {"overflow": [{"evict": step}]}
    manifest = {"promptc": 1, "name": "calls", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": 9000, "sections": [section]}
    pack = load_drawn(Drawn({**manifest, **more}, {}), folder)
    return pack.render({"turns": [{"role": role, "content": content} for role, content in turns]}, format="messages")


def _list_ids(prompt: Any) -> list[list[str]]:
    parts = [one["content"] if isinstance(one["content"], list) else [] for one in prompt.messages]
    return [[part.get("id") or part.get("tool_use_id") or part["type"] for part in content] for content in parts]


THREE = (("assistant", [TEXT, _use("a"), _use("b"), _use("c")]), ("user", [_result("a"), _result("b"), _result("c")]))
TWO = (("assistant", [_use("a"), _use("b")]), ("user", [_result("a"), _result("b")]))
WHOLE = [["text", "a", "b", "c"], ["a", "b", "c"]]
ASKED = ("user", "And now?")


# contract 5.50
@pytest.mark.parametrize(
    ("budget", "left"),
    [(400, WHOLE), (200, [["text", "b", "c"], ["b", "c"]]), (140, [["text", "c"], ["c"]]), (60, [])],
)
def test_calls_go_one_by_one_and_the_text_with_the_last(tmp_path: Any, budget: int, left: list[list[str]]) -> None:
    prompt = _load(tmp_path, {"whole": "call"}, *THREE, ASKED, budget=budget)
    assert _list_ids(prompt) == [*left, []]
    assert [cut.get("call") for cut in prompt.report["cuts"]] == ["a", "b", None][: 4 - max(len(left[0]) if left else 1, 1)]


def test_without_it_a_message_goes_whole(tmp_path: Any) -> None:
    assert _list_ids(_load(tmp_path, {}, *THREE, ASKED, budget=200)) == [[]]


# contract 5.50
def test_a_result_that_is_a_message_goes_with_its_use(tmp_path: Any) -> None:
    turns = (THREE[0], *(("user", [_result(name)]) for name in "abc"), ASKED)
    prompt = _load(tmp_path, {"whole": "call", "marker": "({{ removed }} gone)"}, *turns, budget=190)
    assert _list_ids(prompt) == [[], ["text", "b", "c"], ["b"], ["c"], []]
    assert prompt.messages[0]["content"] == "(1 gone)"
    (cut,) = prompt.report["cuts"]
    assert (cut["items"], cut["call"], cut["why"]) == (["1", "0"], "a", "oldest first; of its message the tool call `a` alone")


# contract 5.50
@pytest.mark.parametrize(
    "turns",
    [
        pytest.param((THREE[0], ("user", THREE[1][1][:2])), id="an open use"),
        pytest.param((("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}, *THREE[0][1]]), THREE[1]), id="a thought"),
        pytest.param((("assistant", [_use("a"), _use("b")]), ("user", [_result("a"), _result("b"), _result("a")])), id="two results"),
        pytest.param((("assistant", [TEXT, _use("a")]), ("user", [_result("a")])), id="one call"),
    ],
)
def test_what_cannot_be_parted_goes_whole(tmp_path: Any, turns: Any) -> None:
    prompt = _load(tmp_path, {"whole": "call"}, *turns, ASKED, budget=50)
    assert _list_ids(prompt) == [[]]
    assert [(cut["items"], cut.get("call")) for cut in prompt.report["cuts"]] == [(["0", "1"], None)]


# contract 5.12 and 5.50
@pytest.mark.parametrize(
    ("step", "items", "went"),
    [
        ({"floor": 3}, {}, ["1 a", "0 1"]),
        ({"floor": 2}, {}, ["1 a", "0 1", "4"]),
        ({}, {"window": {"last": 5, "min": 3}}, ["1 a", "0 1"]),
        ({}, {"window": {"last": 5, "min": 2}}, ["1 a", "0 1", "4"]),
        ({}, {"keep": [{"where": "this.number == 3"}]}, ["1 a", "0 1", "4"]),
    ],
)
def test_of_messages_that_must_stay_no_call_goes(tmp_path: Any, step: dict[str, Any], items: dict[str, Any], went: list[str]) -> None:
    with pytest.raises(FitError) as wrong:
        _load(tmp_path, {"whole": "call", **step}, *TWO, *THREE, ASKED, budget=50, items=items)
    cuts = wrong.value.report["cuts"]
    assert [f"{cut['items'][-1]} {cut['call']}" if "call" in cut else " ".join(cut["items"]) for cut in cuts] == went


# contract 5.20 and 5.50
def test_blocks_go_whole_and_what_is_left_call_by_call(tmp_path: Any) -> None:
    prompt = _load(tmp_path, {"whole": "call", "step": 2}, *TWO, *THREE, ASKED, budget=300)
    assert _list_ids(prompt) == [*WHOLE, []]
    prompt = _load(tmp_path, {"whole": "call", "step": 4, "floor": 2}, *TWO, *THREE, ASKED, budget=300)
    assert _list_ids(prompt) == [["b"], ["b"], *WHOLE, []]


# contract 5.50
@pytest.mark.parametrize("budget", range(100, 1200, 100))
def test_media_of_the_message_stay_counted(tmp_path: Any, budget: int) -> None:
    """A render counts its output anew, so a wrong sum fails it."""
    turns = (THREE[0], ("user", [*THREE[1][1], show(make_png(512, 512))]), ASKED)
    prompt = _load(tmp_path, {"whole": "call"}, *turns, budget=budget)
    counted = sum(one["tokens"] for item in prompt.report["sections"][0]["items"] for one in item.get("media", ()))
    assert counted == (255 if len(prompt.messages) > 1 else 0)


def test_tools_do_not_go_call_by_call(tmp_path: Any) -> None:
    tools = {"from": "state.turns", "budget": 100, "overflow": [{"evict": {"whole": "call"}}]}
    with pytest.raises(PromptcError) as wrong:
        _load(tmp_path, {}, ASKED, budget=100, tools=tools)
    assert "`whole` of" in wrong.value.diagnostics[0].message
