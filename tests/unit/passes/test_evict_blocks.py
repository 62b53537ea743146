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


def test_a_block_that_can_go_whole_does(tmp_path):
    assert _render(tmp_path, 5, {"step": 4}) == ["x04", "x05"]
