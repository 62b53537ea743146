"""What a section makes of its list: what it reads, names, orders and leaves out."""

import pytest

from promptc.diag.findings import PromptcError
from tests.unit.passes.small_sources import load_small


def _told(prompt):
    return prompt.report["sections"][0]


# contract 4.2 and 4.4
@pytest.mark.parametrize("log", [None, []])
def test_none_is_an_empty_list_and_such_a_section_is_absent(tmp_path, log):
    body = "sections:\n  - {id: log, header: Log, fence: {open: <log>, close: </log>}, items: {from: state.log, text: '{{ item }}'}}\n"
    prompt = load_small(tmp_path, body + "  - {id: end, text: End.}\n").render({"log": log})
    assert (prompt.text, _told(prompt)["state"]) == ("End.\n", "empty")


# contract 4.4
def test_what_is_white_space_is_left_out(tmp_path):
    prompt = load_small(
        tmp_path, "sections:\n  - {id: log, header: Log, items: {from: state.log, text: '{{ item }}'}}\n  - {id: end, text: End.}\n"
    ).render({"log": [" ", "\ufeff\n"]})
    assert (prompt.text, _told(prompt)["state"], _told(prompt)["left_out"]) == ("End.\n", "empty", {"empty": 2})


# contract 4.3
def test_only_the_numbers_that_are_read_are_held_to_rise(tmp_path):
    body = "sections: [{id: log, items: {from: state.log, number: item, text: '{{ item }}', window: {last: 2}}}]\n"
    pack = load_small(tmp_path, body)
    assert pack.render({"log": [9, 1, 2, 3]}).text == "2\n3\n"
    with pytest.raises(PromptcError, match="PC0512"):
        pack.render({"log": [1, 2, 4, 3]})


# contract 4.11
@pytest.mark.parametrize("count", range(1, 9))
def test_a_computed_window_that_moves_by_a_step_is_never_empty(tmp_path, count):
    items = "from: state.log, number: item, text: '{{ item }}', window: {last: state.depth, step: 3}"
    pack = load_small(tmp_path, f"sections: [{{id: log, items: {{{items}}}}}]\n")
    assert pack.render({"log": [*range(count)], "depth": 0}).text.split() == [str(one) for one in range((count - 1) // 3 * 3, count)]


# contract 4.7
def test_a_hidden_item_keeps_its_place(tmp_path):
    body = "visible: not item.secret\nsections: [{id: log, items: {from: state.log, text: '{{ this.number }} {{ item.text }}'}}]\n"
    log = [{"text": text, "secret": text == "b"} for text in "abc"]
    assert load_small(tmp_path, body).render({"log": log}).text == "0 a\n2 c\n"


# contract 4.16
@pytest.mark.parametrize("kept", [True, False])
def test_a_thousand_items_are_looked_at_where_nothing_is_said(tmp_path, kept):
    """Of `keep` from the end of the source, of `anchors` from the window."""
    rule = "{where: item == 'x', last: 1}"
    items = f"keep: [{rule}]" if kept else f"anchors: {rule}"
    body = f"sections: [{{id: log, items: {{from: state.log, text: '{{{{ item }}}}', window: {{last: 2}}, {items}}}}}]\n"
    pack = load_small(tmp_path, body)
    reach = 1000 if kept else 1002
    for behind, text in ((reach - 1, "x\ny\ny\n"), (reach, "y\ny\n")):
        assert pack.render({"log": ["x", *["y"] * behind]}).text == text


# contract 4.18
def test_numbers_stand_before_texts_and_none_last(tmp_path):
    body = "sections: [{id: log, items: {from: state.log, text: '{{ item.key }} {{ item.n }}', sort: %s}}]\n"
    log = [{"key": key, "n": n} for n, key in enumerate(["b", None, 10, "B", 9, None, "a", 9])]
    told = load_small(tmp_path, body % "item.key").render({"log": log}).text
    assert told == "9 4\n9 7\n10 2\nB 3\na 6\nb 0\nNone 1\nNone 5\n"
