"""Which order of steps `explain` names where a coarse notch left room, and where it names none."""

import pytest

import promptc

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: o200k_base\nbudget: 400\n"
LONG = "The pump is old. It was built before the war, and nobody has the drawings. Ask the museum for a copy of them."
SHORT = "Oil it on Mondays."
ONE = "Please remember that the pump is very old and that nobody at all has got the drawings of it any longer"
STATE = {"list": [{"id": "a", "text": LONG, "score": 1}, {"id": "b", "text": SHORT, "score": 9}]}


def _slack(folder, body, state=STATE, **choice):
    (folder / "pack.yaml").write_text(HEAD + body, encoding="utf-8")
    return [one.described for one in promptc.load(folder).compile(state, **choice).slack]


def _list(overflow, *, budget=24, more=""):
    overflow = f"    overflow: {overflow}\n" if overflow else ""
    items = '{from: state.list, id: item.id, text: "{{ item.text }}"' + more + "}"
    return f"sections:\n  - id: log\n    budget: {budget}\n    items: {items}\n{overflow}"


def test_a_step_that_the_ladder_has_goes_first(tmp_path):
    (told,) = _slack(tmp_path, _list("[evict: {by: item.score, floor: 1}, trim: {by: item.score, finest: sentence}]"))
    assert (told["step"], told["before"], told["add"]) == ("log.overflow[1]", "log.overflow[0]", None)
    assert told["items"] == {"log": ["a"]}
    assert told["more"] <= told["left"]


def test_a_trim_that_it_lacks_is_spelt_out_in_the_order_of_the_eviction(tmp_path):
    (told,) = _slack(tmp_path, _list("[evict: {by: item.score + 1}]"))
    assert (told["step"], told["add"]) == (None, 'trim: {by: "item.score + 1", finest: sentence}')
    (told,) = _slack(tmp_path, _list("[evict: {order: [item.score < 3]}]"))
    assert told["add"] == 'trim: {order: ["item.score < 3"], finest: sentence}'


def test_words_are_cut_where_no_sentence_ends(tmp_path):
    state = {"list": [{"id": "a", "text": ONE, "score": 1}, STATE["list"][1]]}
    (told,) = _slack(tmp_path, _list("[evict: {by: item.score}]", budget=20), state)
    assert told["add"] == "trim: {by: item.score, at: word, floor: 8}"


def test_the_default_ladder_is_told_as_one(tmp_path):
    (told,) = _slack(tmp_path, _list(""))
    assert (told["before"], told["add"]) == ("log.overflow (default)", "trim: {finest: sentence}")


def test_a_shared_ladder_names_the_section(tmp_path):
    body = _list("").replace("    budget: 24\n", "")
    (told,) = _slack(tmp_path, body + "truncate: [drop: {section: log}]", budget=30)
    assert (told["ladder"], told["add"]) == ("truncate", "trim: {section: log, finest: sentence}")
    (told,) = _slack(tmp_path, body + "pools: {desk: {sections: [log], max: 24, overflow: [evict: {section: log}]}}")
    assert (told["ladder"], told["add"]) == ("pools.desk", "trim: {section: log, finest: sentence}")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (_list("[evict: {by: item.score}]", budget=100), "nothing was cut"),
        (_list("[trim: {at: sentence, finest: sentence}, evict: {}]", budget=6), "a trim went first"),
        (_list("[trim: {at: sentence}]"), "a trim is as fine as it says"),
        (_list("[evict: {by: item.score}]", budget=6), "there is room for no sentence"),
    ],
)
def test_nothing_is_told_where_no_order_is_better(body, why, tmp_path):
    assert _slack(tmp_path, body) == [], why


def test_an_order_that_takes_of_what_stands_is_not_named(tmp_path):
    """With twelve items, a trim before the eviction would use more of the room, and cut items for it that are whole now."""
    texts = ["First one. It goes on and on and on for a while, as these do.", "Second one. It goes on and on, too."]
    state = {"list": [{"id": f"i{n}", "text": texts[n % 2], "score": n} for n in range(12)]}
    evict, cut = "{evict: {by: item.score}}", "{trim: {by: item.score, finest: sentence}}"
    assert _slack(tmp_path, _list(f"[{evict}, {cut}]", budget=90), state) == []
    before = promptc.load(tmp_path).compile(state)
    (tmp_path / "pack.yaml").write_text(HEAD + _list(f"[{cut}, {evict}]", budget=90), encoding="utf-8")
    assert before.tokens < promptc.load(tmp_path).compile(state).tokens <= 90


def test_messages_of_parts_have_nothing_to_cut(tmp_path):
    parts = [{"type": "text", "text": LONG}, {"type": "text", "text": SHORT}]
    turns = [{"id": "a", "role": "user", "text": parts}, {"id": "b", "role": "user", "text": SHORT}]
    more = ", message: {role: item.role, content: item.text}"
    body = _list("[evict: {}]", more=more).replace(', text: "{{ item.text }}"', "")
    assert _slack(tmp_path, body, {"list": turns}, format="messages") == []


def test_a_step_that_would_fail_is_not_named(tmp_path):
    """It is not reached in the pack's own order, and none of its expressions was evaluated."""
    assert _slack(tmp_path, _list("[evict: {by: item.score, floor: 1}, trim: {by: item.id}]")) == []
    (told,) = _slack(tmp_path, _list("[evict: {by: item.score, floor: 1}, trim: {by: item.id}, trim: {by: item.score}]"))
    assert told["step"] == "log.overflow[2]"


def test_a_prompt_that_does_not_fit_has_none(tmp_path):
    assert _slack(tmp_path, _list("[evict: {floor: 2}]")) == []
