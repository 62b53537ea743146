"""What a variation may change, and how several of them come together."""

import json

import pytest

import promptc
from promptc.diag.findings import PromptcError
from tests.unit.passes.small_sources import load_small

RULES = {"id": "rules", "text": "Be kind.", "header": "Rules:"}
LOG = {"id": "log", "items": {"from": "state.log", "where": "item != 'b'", "sort": ["item"], "text": "- {{ item }}"}, "budget": 40}
STATE = {"log": ["c", "b", "a"]}
CHANGE = {"sections": {"rules": {"text": "Be brief."}, "log": {"items": {"limit": 1}}}, "output": {"separator": "--\n"}}
SAME = [{"id": "rules", "text": "x"}]


def _load(folder, sections, **more):
    body = json.dumps({"sections": sections, **more})[1:-1]
    (folder / "pack.yaml").write_text(
        '{"promptc": 1, "name": "small", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000, ' + body + "}", encoding="utf-8"
    )
    return promptc.load(folder)


def _extend(folder, **more):
    (folder / "own").mkdir()
    own = {"promptc": 1, "name": "own", "version": "1.0.0", "extends": "..", **more}
    (folder / "own" / "pack.yaml").write_text(json.dumps(own), encoding="utf-8")
    return promptc.load(folder / "own")


# contract 1.5 and 6.1
def test_one_change_is_written_alike_wherever_it_stands(tmp_path):
    tiers = [{"name": "calm", "at": 0}, {"name": "high", "at": 0.01, **CHANGE}]
    case = {"mood": {"select": "'one'", "cases": {"one": CHANGE}}}
    texts = [
        _load(tmp_path, [RULES, LOG], patches={"one": CHANGE}).render(STATE, patches=["one"]).text,
        _load(tmp_path, [RULES, LOG], patches={"one": CHANGE, "two": {"use": ["one"]}}).render(STATE, patches=["two"]).text,
        _load(tmp_path, [RULES, LOG], variants=case).render(STATE).text,
        _load(tmp_path, [RULES, LOG], strain={"count": ["log"], "tiers": tiers}).render(STATE).text,
        _extend(tmp_path, **CHANGE, strain=None).render(STATE).text,
    ]
    assert texts == ["Rules:\nBe brief.\n--\n- a\n"] * 5


# contract 6.1
def test_the_total_is_set_by_cases_and_patches_and_no_tier(tmp_path):
    case = {"mood": {"select": "'one'", "cases": {"one": {"budget": 50}}}}
    assert _load(tmp_path, SAME, variants=case).render({}).report["budget"] == 50
    assert _load(tmp_path, SAME, patches={"one": {"budget": 40}}).render({}, patches=["one"]).report["budget"] == 40
    with pytest.raises(PromptcError, match="budget"):
        _load(tmp_path, SAME, strain={"tiers": [{"name": "calm", "at": 0}, {"name": "high", "at": 0.5, "budget": 40}]})


# contract 6.2
def test_the_later_wins(tmp_path):
    def say(text):
        return {"sections": {"rules": {"header": text}}}

    log = {**LOG, "budget": 4}
    variants = {axis: {"select": f"state.{axis}", "default": "off", "cases": {"off": {}, "on": say(axis)}} for axis in ("tone", "mood")}
    patches = {"one": say("one"), "two": {"use": ["one"], **say("two")}}
    tiers = [{"name": "calm", "at": 0}, {"name": "high", "at": 0.4, **say("high")}, {"name": "full", "at": 0.9, **say("full")}]
    strain = {"count": ["log"], "tiers": tiers}
    base = _load(tmp_path, [RULES, log], variants=variants, patches=patches, strain=strain)
    own = _extend(tmp_path, **say("own"))

    def head(pack, log, *patches, **state):
        return pack.render({"tone": "off", "mood": "off", "log": log, **state}, patches=patches).text.split("\n")[0]

    assert [head(base, []), head(own, [])] == ["Rules:", "own"]
    assert [head(own, [], tone="on"), head(own, [], mood="on"), head(own, [], tone="on", mood="on")] == ["tone", "mood", "mood"]
    assert [head(own, [], name, mood="on") for name in ("one", "two")] == ["one", "two"]
    assert [head(own, [], *names) for names in (("one", "two"), ("two", "one"))] == ["two", "one"]
    assert [head(own, log, "two", mood="on") for log in (["12345"], ["123456789"])] == ["high", "full"]


# contract 6.3
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"items": {"limit": 1}}, "- a\n"),
        ({"items": {"sort": [{"by": "item", "desc": True}]}}, "- c\n- a\n"),
        ({"items": {"where": None}}, "- a\n- b\n- c\n"),
        ({"items": {"forms": [{"text": "* {{ item }}"}]}}, "* a\n* c\n"),
        ({"text": "No log."}, "No log.\n"),
    ],
    ids=["mappings merge", "a list replaces", "null removes", "another rendering", "another source"],
)
def test_how_a_change_is_taken(tmp_path, change, text):
    pack = _load(tmp_path, [LOG], patches={"one": {"sections": {"log": change}}})
    assert pack.render(STATE, patches=["one"]).text == text
    assert pack.render(STATE).text == "- a\n- c\n"


# contract 6.4
def test_a_section_is_moved_or_added_before_or_after_another(tmp_path):
    changes = {"moved": {"log": {"before": "rules"}}, "added": {"end": {"text": "End.", "after": "rules"}}}
    pack = _load(tmp_path, [RULES, LOG], patches={name: {"sections": change} for name, change in changes.items()})
    moved, added = (pack.render(STATE, patches=[name]).text for name in changes)
    assert moved == "- a\n- c\n\nRules:\nBe kind.\n"
    assert added == "Rules:\nBe kind.\n\nEnd.\n\n- a\n- c\n"


# contract 6.5 and 9.4
@pytest.mark.parametrize("key", ["state", "define", "let", "visible", "stores", "indexes", "tokenizer", "strain", "variants", "operations"])
def test_what_no_variation_reaches(tmp_path, key):
    with pytest.raises(PromptcError) as raised:
        _load(tmp_path, SAME, patches={"one": {key: {}}})
    assert [one.code for one in raised.value.diagnostics] == ["PC0201"]


# contract 6.5
def test_a_pack_that_extends_reaches_all_of_it_and_frees_nothing(tmp_path):
    _load(tmp_path, [{"id": "rules", "text": "{{ who }}", "pinned": True}], let={"who": "'base'"})
    own = _extend(tmp_path, let={"who": "'own'"}, tokenizer="cl100k_base")
    assert own.render({}).text == "own\n" and own.render({}).report["counter"]["name"] == "cl100k_base"
    for key in ("pinned", "required"):
        changed = {"promptc": 1, "name": "own", "version": "1.0.0", "extends": "..", "sections": {"rules": {key: False}}}
        _load(tmp_path, [{"id": "rules", "text": "x", key: True}])
        (tmp_path / "own" / "pack.yaml").write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(PromptcError) as raised:
            promptc.load(tmp_path / "own")
        assert [one.code for one in raised.value.diagnostics] == ["PC0245"]


# contract 5.27
@pytest.mark.parametrize(
    "step",
    ["evict: {section: log}", "shorten: {section: log}", "lower: {section: log, by: item}", "trim: {section: log}"],
)
def test_a_tier_does_only_what_says_its_own_end(tmp_path, step):
    body = "sections: [{id: log, items: {from: state.log, text: '{{ item }}'}, budget: 40}]\nstrain:\n  tiers:\n    - {name: calm, at: 0}\n"
    for allowed in ("trim: {section: log, to: 3}", "recap: {section: log, template: x.md}", "drop: {section: log}", "fail: {section: log}"):
        (tmp_path / "x.md").write_text("x", encoding="utf-8")
        load_small(tmp_path, f"{body}    - {{name: high, at: 0.5, do: [{{{allowed}}}]}}\n")
    with pytest.raises(PromptcError):
        load_small(tmp_path, f"{body}    - {{name: high, at: 0.5, do: [{{{step}}}]}}\n")


# contract 7.7
@pytest.mark.parametrize(
    ("tier", "says"),
    [
        ({"output": {"format": "messages"}}, "sets `output.format`"),
        ({"use": ["early"]}, "uses `early`, and that patch sets the total `budget`"),
        ({"do": [{"use": "later"}]}, "uses `later`, and that patch sets the total `budget`"),
        ({"variants": {"mood": "one"}}, "a case of `mood` sets `output.format`"),
    ],
)
def test_a_tier_cannot_set_what_is_known_before_it(tmp_path, tier, says):
    more = {
        "patches": {"early": {"budget": 9}, "later": {"use": ["early", "later"]}},
        "variants": {"mood": {"select": "'two'", "cases": {"one": {"output": {"format": "messages"}}, "two": {}}}},
        "strain": {"tiers": [{"name": "calm", "at": 0}, {"name": "high", "at": 0.5, **tier}]},
    }
    with pytest.raises(PromptcError) as refused:
        _load(tmp_path, [RULES, LOG], **more)
    (found,) = refused.value.diagnostics
    assert found.code == "PC0265" and says in found.message


def _chain(count, times):
    """Patches of which each uses the one before it so many times."""
    return {"p0": {"sections": {"rules": {"header": "Short:"}}}, **{f"p{n}": {"use": [f"p{n - 1}"] * times} for n in range(1, count)}}


# contract 6.2
@pytest.mark.parametrize(("count", "times", "is_refused"), [(400, 1, False), (8, 2, False), (40, 2, True), (1200, 1, True)])
def test_patches_that_use_many_others_are_refused(tmp_path, count, times, is_refused):
    last = f"p{count - 1}"
    cases = {"one": {"use": [last]}, "two": {"use": [last], "sections": {"rules": {"header": "Two:"}}}}
    pack = _load(tmp_path, [RULES, LOG], patches=_chain(count, times), variants={"mood": {"select": "state.mood", "cases": cases}})
    if is_refused:
        with pytest.raises(PromptcError) as refused:
            pack.render({**STATE, "mood": "one"})
        assert [one.code for one in refused.value.diagnostics] == ["PC0269"]
        assert {one.code for one in pack.check() if one.level == "error"} == {"PC0269"}
    else:
        assert pack.render({**STATE, "mood": "one"}).text.startswith("Short:\nBe kind.")
