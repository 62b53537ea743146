"""`evict` with `step`: where a block must stay, the newest items do not go before it."""

import pytest

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _render(tmp_path, cap, step, **items):
    section = {"id": "log", "budget": cap, "items": {"from": "state.list", "text": "{{ item }}", **items}, "overflow": [{"evict": step}]}
    manifest = {"promptc": 1, "name": "blocks", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000, "sections": [section]}
    state = {"list": [f"x{place:02d}" for place in range(6)]}
    return load_drawn(Drawn({**manifest, "output": {"separator": ""}}, state), tmp_path).compile(state).emitted.text.split()


# contract 5.20
@pytest.mark.parametrize(
    ("step", "items"),
    [({"step": 4, "floor": 4}, {}), ({"step": 4}, {"window": {"last": 8, "min": 4, "step": 4}})],
)
def test_the_newest_stay_where_the_oldest_block_cannot_go_whole(tmp_path, step, items):
    assert _render(tmp_path, 5, step, **items) == ["x01", "x02", "x03", "x04", "x05"]
    assert _render(tmp_path, 4, step, **items) == ["x02", "x03", "x04", "x05"]


# contract 5.12 and 5.20
def test_one_by_one_what_cannot_go_is_passed_over(tmp_path):
    """The first block cannot go whole, and of its items only those together that are a tool's use and its result cannot go, either."""
    use = [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]
    result = [{"type": "tool_result", "tool_use_id": "a", "content": "dark"}]
    turns = [("assistant", use), ("user", result), ("user", "one"), ("user", "two")]
    parts = ["text", "tool_use", "tool_result"]
    section = {
        "id": "log",
        "budget": 25,
        "items": {"from": "state.turns", "message": {"role": "item.role", "content": "item.content", "parts": parts}},
        "overflow": [{"evict": {"step": 4, "floor": 3}}],
    }
    manifest = {"promptc": 1, "name": "blocks", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000, "sections": [section]}
    state = {"turns": [{"role": role, "content": content} for role, content in turns]}
    fitted = load_drawn(Drawn(manifest, state), tmp_path).compile(state).fitted
    assert [[item.item.number for item in cut.gone] for cut in fitted.ladders["log"].applied] == [[2]]


def test_a_block_that_can_go_whole_does(tmp_path):
    assert _render(tmp_path, 5, {"step": 4}) == ["x04", "x05"]
