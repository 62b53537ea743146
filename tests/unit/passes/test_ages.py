"""Which items are the oldest, where a section sorts or groups them; what goes with its other half."""

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _compile(tmp_path, section, state):
    manifest = {"promptc": 1, "name": "aged", "version": "1.0.0", "tokenizer": "cl100k_base", "budget": 1000, "sections": [section]}
    return load_drawn(Drawn(manifest, state), tmp_path).compile(state)


def _list_alive(outcome):
    return [entry.item.id for entry in outcome.fitted.sections["one"].alive]


# contract 5.18
def test_the_oldest_go_first_however_a_section_sorts(tmp_path):
    items = {"from": "state.list", "text": "some words", "sort": [{"by": "item.score", "desc": True}]}
    state = {"list": [{"score": 1}, {"score": 3}, {"score": 2}, {"score": 9}]}
    assert _list_alive(_compile(tmp_path, {"id": "one", "items": items, "budget": 8}, state)) == ["3", "2"]


def test_the_oldest_go_first_across_groups(tmp_path):
    items = {"from": "state.list", "text": "some words", "group": {"by": "item.ref"}}
    state = {"list": [{"ref": "x"}, {"ref": "y"}, {"ref": "y"}, {"ref": "x"}]}
    assert _list_alive(_compile(tmp_path, {"id": "one", "items": items, "budget": 8}, state)) == ["3", "2"]


# contract 5.24
def test_a_recap_stands_where_the_oldest_stood(tmp_path):
    items = {"from": "state.list", "text": "some words {{ this.number }}", "sort": {"by": "this.number", "desc": True}}
    section = {"id": "one", "items": items, "budget": 18, "overflow": [{"recap": {"template": "cue.md", "older": 0.5}}]}
    outcome = _compile(tmp_path, section, {"list": [{}, {}, {}, {}]})
    assert outcome.emitted.text == "some words 3\nsome words 2\n…\n"


def test_a_recap_takes_both_halves_of_a_tools_use_or_none(tmp_path):
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    told = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
    turns = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [told]}, {"role": "user", "content": "well, well"}]
    message = {"role": "item.role", "content": "item.content", "parts": ["text", "tool_use", "tool_result"]}
    overflow = [{"recap": {"template": "cue.md", "older": 0.5}}]
    outcome = _compile(
        tmp_path, {"id": "one", "items": {"from": "state.turns", "message": message}, "budget": 20, "overflow": overflow}, {"turns": turns}
    )
    assert _list_alive(outcome) == ["recap", "2"]
