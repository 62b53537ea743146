"""`promptc eval`: an expression sees what the pack's own would."""

import json

import pytest

STATE = "keep/state.json"


# contract 3.17 and 3.18
@pytest.mark.parametrize(
    ("expression", "flags", "value"),
    [
        ("state.mood", [], "calm"),
        ("state.turns | length", [], 13),
        ("state.lore | map(attribute='weight') | sort", [], [1, 1, 2, 2, 2, 3, 4, 5, 9]),
        ("tense", [], False),
        ("tense", ["--set", "/turn=4"], True),
        ("variant.mood", ["--mood", "stern"], "stern"),
        ("strain.tier", [], "tight"),
        ("strain", [], {"tier": "tight", "index": 1, "percent": 74}),
        ("selected.recent", [], 8),
        ("selected", ["--section", "recent"], {"rules": 1, "lore": 3}),
        ("section.title", ["--section", "lore"], "Notes of the house"),
        ("item.who", ["--item", "recent/t6"], "king"),
        ("[this.id, this.anchor, this.kept, this.form]", ["--item", "recent/t5"], ["t5", True, False, 0]),
        ("this.tokens > 100", ["--item", "recent/t5"], False),
        ("'a' ~ 1", [], "a1"),
        ("none", [], None),
        ("'x' | tokens", [], 1),
    ],
)
def test_it_prints_the_value_as_json(expression, flags, value, keep, run):
    done = run("eval", "keep", STATE, expression, *flags)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == value


@pytest.mark.parametrize(
    ("expression", "flags", "code", "says"),
    [
        ("state.trun", [], 3, "did you mean `turn`?"),
        ("state..turn", [], 3, "expression:1:1: PC0401"),
        ("nothing", [], 3, "expression:1:1"),
        ("1", ["--section", "lroe"], 2, "did you mean `lore`?"),
        ("1", ["--item", "recent/t1"], 2, "`recent` selected no item `t1`"),
        ("state | attr('x')", [], 3, "PC04"),
    ],
)
def test_what_cannot_be_evaluated_is_a_finding(expression, flags, code, says, keep, run):
    done = run("eval", "keep", STATE, expression, *flags)
    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_no_more_is_run_than_the_expression_reads(run, tmp_path):
    """A pack whose `let` and whose sections fail can still be asked about its state."""
    head = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\nlet: {broken: state.a.b}\n"
    pack, state = tmp_path / "pack.yaml", tmp_path / "state.json"
    pack.write_text(head + "sections: [{id: all, text: '{{ state.c }}'}]\n", encoding="utf-8")
    state.write_text('{"a": 1}', encoding="utf-8")
    assert run("eval", str(pack), str(state), "state.a").out == "1\n"
    assert run("eval", str(pack), str(state), "variant").code == 3
    pack.write_text(head.replace("state.a.b", "state.a + 1") + "sections: [{id: all, text: '{{ state.c }}'}]\n", encoding="utf-8")
    assert run("eval", str(pack), str(state), "broken").out == "2\n"
    assert run("eval", str(pack), str(state), "selected").code == 3


@pytest.mark.parametrize(("words", "mode"), [([], "story"), (["--set", "/log=[]"], "dm")])
def test_the_case_that_a_tier_puts_in_force(words, mode, tmp_path, run):
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: p\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
        "variants: {mode: {select: state.mode, cases: {story: {}, dm: {}}}}\n"
        "strain: {tiers: [{name: calm, at: 0}, {name: high, at: 0.1, variants: {mode: story}}]}\n"
        "sections: [{id: log, items: {from: state.log, text: '{{ item }}'}, budget: 20, overflow: [evict: {}]}]\n"
    )
    (tmp_path / "state.json").write_text('{"mode": "dm", "log": ["The bell is gone."]}')
    done = run("eval", str(tmp_path), str(tmp_path / "state.json"), "variant.mode", *words)
    assert json.loads(done.out) == mode
