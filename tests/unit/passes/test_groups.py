"""Groups of items, as they are laid out."""

import pytest

from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn


def _render(tmp_path, items, **section):
    manifest = {
        "promptc": 1,
        "name": "grouped",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [{"id": "one", "items": {"from": "state.list", "text": "{{ item.n }}", **items}, **section}],
    }
    state = {"list": [{"n": 1, "ref": True}, {"n": 2, "ref": 1}, {"n": 3, "ref": "x"}, {"n": 4, "ref": True}]}
    return load_drawn(Drawn(manifest, state), tmp_path).render(state).text


def test_true_and_one_are_two_groups(tmp_path):
    """Python holds them equal."""
    text = _render(tmp_path, {"group": {"by": "item.ref", "header": "{{ group }}:"}})
    assert text == "True:\n1\n4\n1:\n2\nx:\n3\n"


def test_a_window_of_groups_tells_true_from_one(tmp_path):
    assert _render(tmp_path, {"group": {"by": "item.ref"}, "window": {"last": 2, "whole": "group"}}) == "2\n3\n"


@pytest.mark.parametrize(("header", "text"), [({}, "1, 4, 2, 3\n"), ({"header": "{{ group }}:"}, "True:\n1, 4\n1:\n2\nx:\n3\n")])
def test_a_separator_joins_items_that_no_header_parts(tmp_path, header, text):
    assert _render(tmp_path, {"group": {"by": "item.ref", **header}}, separator=", ") == text


def test_the_least_of_a_window_of_groups_is_counted_in_groups(tmp_path):
    """Two items of one group are one of the two groups that must stay."""
    manifest = {
        "promptc": 1,
        "name": "grouped",
        "version": "1.0.0",
        "tokenizer": "cl100k_base",
        "budget": 1000,
        "sections": [
            {
                "id": "one",
                "items": {
                    "from": "state.list",
                    "text": "{{ item.n }}",
                    "group": {"by": "item.ref"},
                    "window": {"last": 3, "min": 2, "whole": "group"},
                },
                "budget": 1,
                "overflow": [{"evict": {}}],
            }
        ],
    }
    state = {"list": [{"n": place, "ref": ref} for place, ref in enumerate("xxyyzz")]}
    outcome = load_drawn(Drawn(manifest, state), tmp_path).compile(state)
    assert [entry.item.value["ref"] for entry in outcome.fitted.sections["one"].alive] == ["y", "z"]
