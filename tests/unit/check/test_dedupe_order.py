"""Doubles of which the best may go, and lists where the first is the one that is wanted."""

import pytest

from tests.unit.check.lint import excerpts, lint


def _look(folder, items, more=""):
    body = f"{more}\nsections: [{{id: log, items: {{text: '{{{{ item.text }}}}', limit: 9, {items}}}}}]"
    return [one for one in lint(folder, body) if one.code == "PC0674"]


@pytest.mark.parametrize(
    ("items", "help"),
    [
        (
            "from: state.notes, dedupe: {by: item.text}, sort: [{by: item.score, desc: true}, item.id]",
            "the highest `item.score`, sort in `from`, before `dedupe`: `from: \"state.notes | sort(attribute='score', reverse=true)\"`",
        ),
        (
            "from: state.notes + state.more, dedupe: {by: item.text, keep: first}, sort: item.age",
            "the lowest `item.age`, sort in `from`, before `dedupe`: `from: \"(state.notes + state.more) | sort(attribute='age')\"`",
        ),
        (
            "from: state.notes, dedupe: {by: item.text}, sort: item.a * item.b",
            "the lowest `item.a * item.b`, write it into each item, as `rank`, and sort by it in `from`, before `dedupe`: "
            "`from: \"state.notes | sort(attribute='rank')\"`",
        ),
        (
            "from: state.notes, number: item.seq, dedupe: {by: item.text}, sort: {by: item.seq, desc: true}",
            "the highest `item.seq`, sort in `from`, before `dedupe`: `from: \"state.notes | sort(attribute='seq', reverse=true)\"`",
        ),
    ],
)
def test_the_best_of_two_may_go(tmp_path, items, help):
    (found,) = _look(tmp_path, items)
    assert (found.level, found.help) == ("note", f"to keep the one with {help}")
    wanted = found.help.removeprefix("to keep ").split(",")[0]
    told = "of two items with the same `item.text` the first of the list stays, not"
    assert found.message == f"`dedupe` of `log` runs before `sort`: {told} {wanted}"


@pytest.mark.parametrize(
    "items",
    [
        "from: state.notes, dedupe: {by: item.text}",
        "from: state.notes, sort: item.score",
        "from: state.notes, dedupe: {by: item.text, keep: last}, sort: item.score",
        "from: state.notes, dedupe: {by: item.text}, sort: item.text",
        "from: state.notes, number: item.seq, dedupe: {by: item.text}, sort: item.seq",
        "from: state.notes, dedupe: {by: item.text}, sort: this.number",
        "from: \"state.notes | sort(attribute='score')\", dedupe: {by: item.text}, sort: item.score",
        "from: best, dedupe: {by: item.text}, sort: item.score",
        "from: near, dedupe: {by: item.text}, sort: item.score",
    ],
)
def test_the_first_is_the_one(tmp_path, items):
    lets = "let: {best: \"state.notes | sort(attribute='score')\", near: best | list}"
    assert _look(tmp_path, items, lets) == []


def test_retrieval_brings_the_best_first(tmp_path):
    body = """
        indexes: {found: {from: state.notes, text: "{{ item.text }}"}}
        sections:
          - id: log
            items:
              from: {retrieve: {index: found, query: state.story, top: 5}}
              dedupe: {by: item.text}
              sort: {by: item.score, desc: true}
              text: "{{ item.text }}"
    """
    assert [one for one in lint(tmp_path, body) if one.code == "PC0674"] == []


def test_the_place_is_the_dedupe(tmp_path):
    body = "sections: [{id: log, items: {from: state.notes, limit: 9, text: x, dedupe: {by: item.text}, sort: item.score}}]"
    assert [one[:4] for one in excerpts(lint(tmp_path, body), "PC0674")] == ["{by:"]
