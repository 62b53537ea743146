"""Definitions of a pack: in every text of it, over its bases and cases, from the cache, and refused where they become too much."""

import json
import re
from pathlib import Path

import pytest
import yaml

import promptc
from promptc.api import Pack
from promptc.cache import Cache
from promptc.check.registry import check_pack
from promptc.frontend.kept_pack import find_kept
from promptc.frontend.shape import check_pack_shape
from promptc.frontend.yaml import load_yaml
from tests.contract.sources import ROOT

HEAD = {"promptc": 1, "name": "defined", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000}
ROWS = [{"id": "a", "tags": ["hinge"], "of": "ada"}, {"id": "b", "tags": [], "of": "ada"}, {"id": "c", "tags": ["hinge"], "of": "bo"}]
STATE = {"npc": "ada", "rows": ROWS, "mood": "calm"}
LIST = {"id": "list", "items": {"from": "state.rows", "id": "item.id", "where": "hinge", "text": "{{ item.id }}"}}


def write(folder, *, files=None, **keys):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pack.yaml").write_text(json.dumps({**HEAD, **keys}), encoding="utf-8")
    return folder


def render(folder, state=STATE, **options):
    pack = promptc.load(folder)
    return pack.render(pack.load_state(state), **options).text


def find_faults(folder):
    with pytest.raises(promptc.PromptcError) as raised:
        promptc.load(folder)
    return [(one.code, one.message) for one in raised.value.diagnostics]


# contract 3.20
def test_every_sort_of_text_knows_them(tmp_path):
    define = {
        "hinge": "'hinge' in item.tags",
        "about(who)": "item.of == who",
        "mine": "about(state.npc)",
        "dc": 12,
        "calm": "state.mood == 'calm'",
    }
    section = {
        "id": "list",
        "when": "calm",
        "header": "DC {{ dc }}",
        "items": {
            "from": "state.rows",
            "id": "item.id",
            "keep": [{"where": "hinge and mine", "last": 1}],
            "sort": ["0 if mine else 1", {"by": "item.id", "desc": True}],
            "group": {"by": "mine", "header": "mine: {{ group }}"},
            "template": "row.j2",
        },
        "overflow": [{"evict": {"order": ["not hinge"]}}],
    }
    folder = write(
        tmp_path,
        files={"row.j2": "{% include 'inner.j2' %}", "inner.j2": "{{ item.id }}{{ '!' if hinge and mine }}"},
        define=define,
        let={"easy": "dc < 15"},
        asserts=[{"that": "calm", "else": "not calm, DC {{ dc }}"}],
        sections=[section, {"id": "end", "text": "{{ 'easy' if easy }} {{ variant.mood }}"}],
        variants={"mood": {"select": "'on' if calm else 'off'", "cases": {"on": {}, "off": {"sections": {"list": {"when": "not calm"}}}}}},
    )
    assert render(folder) == "DC 12\nmine: True\nb\na!\nmine: False\nc\n\neasy on\n"
    assert "mine: True\nb\na!" in render(folder, {**STATE, "mood": "grim"})


# contract 3.25
def test_a_child_may_give_the_name_another_meaning(tmp_path):
    """The base's texts, and its later definitions, then mean the new one; with another signature, too."""
    define = {"hinge": "'hinge' in item.tags", "about(who)": "item.of == who", "mine": "about(state.npc)"}
    base = {**LIST, "items": {**LIST["items"], "where": "mine and hinge"}}
    write(tmp_path / "base", define=define, sections=[base])
    child = write(tmp_path / "child", extends="../base", define={"hinge": "not item.tags"})
    other = write(tmp_path / "other", extends="../base", define={"about(name)": "item.of != name"})
    assert [render(folder) for folder in (tmp_path / "base", child, other)] == ["a\n", "b\n", "c\n"]


# contract 3.25
def test_a_child_may_take_one_out(tmp_path):
    write(tmp_path / "base", define={"hinge": "'hinge' in item.tags", "about(who)": "item.of == who"}, sections=[LIST])
    items = {"where": "item.of == 'bo'"}
    child = write(tmp_path / "child", extends="../base", define={"hinge": None, "about": None}, sections={"list": {"items": items}})
    assert promptc.load(child).model.definitions == ()
    assert render(child) == "c\n"


# contract 3.25
def test_a_variation_cannot_reach_them(tmp_path):
    folder = write(tmp_path, define={"hinge": "1"}, sections=[LIST], patches={"other": {"define": {"hinge": "0"}}})
    assert [code for code, _ in find_faults(folder)] == ["PC0201"]


# contract 3.25
def test_operations_know_them_and_the_pack_of_an_ask_has_its_own(tmp_path):
    ask = {**HEAD, "define": {"who": "'ask of ' ~ state.npc"}, "sections": [{"id": "q", "role": "user", "text": "{{ who }}"}]}
    operation = {
        "asks": {"a": {"pack": "ask.yaml", "else": {"text": "{{ who }}"}}},
        "edits": [{"keep": "/rows", "where": "hinge"}, {"set": "/npc", "to": "answers.a ~ who"}],
        "say": "{{ who }}",
    }
    folder = write(
        tmp_path,
        files={"ask.yaml": json.dumps(ask)},
        define={"hinge": "'hinge' in item.tags", "who": "'pack of ' ~ state.npc"},
        sections=[LIST],
        operations={"prune": operation},
    )
    pack = promptc.load(folder)
    (question,) = pack.ask(STATE, "prune")
    assert "ask of ada" in str(question.prompt.messages)
    done = pack.apply(STATE, "prune", answers={"a": "answer to the"})
    assert [row["id"] for row in done.value["rows"]] == ["a", "c"]
    assert (done.value["npc"], done.said) == ("answer to thepack of ada", "pack of ada")


def test_a_kept_pack_is_the_same_and_says_the_same(tmp_path):
    folder = write(tmp_path / "pack", define={"hinge": "'hinge' in item.tag"}, sections=[LIST])
    cache = Cache(tmp_path / "cache")
    told = []
    for _ in range(2):
        with Pack.load(folder, cache) as pack, pytest.raises(promptc.PromptcError) as raised:
            pack.render(pack.load_state(STATE))
        told.append([str(one) for one in raised.value.diagnostics])
        assert find_kept(cache, str(folder)) is not None
    assert told[0] == told[1]
    assert "`item` has no `tag`, in `hinge` (" in told[0][0]


# contract 3.20
def test_check_knows_their_types_where_they_stand(tmp_path):
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
            "names": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["rows", "names"],
    }
    numbers = {"id": "numbers", "items": {"from": "state.rows", "where": "large(item.n)", "text": "{{ item.n }}"}}
    names = {"id": "names", "items": {"from": "state.names", "where": "large(item)", "text": "{{ item }}"}}
    folder = write(
        tmp_path,
        files={"schema.json": json.dumps(schema)},
        state={"schema": "schema.json"},
        define={"large(n)": "n > 3"},
        sections=[numbers, names],
    )
    found = [(one.code, one.message.split(" (")[0]) for one in check_pack(promptc.load(folder).model) if one.level == "error"]
    assert len(found) == 1 and found[0][0] == "PC0651"
    assert found[0][1].startswith("`items.where` of `names` reads `item`") and found[0][1].endswith("in `large`")


# contract 3.22
@pytest.mark.dear
def test_the_texts_of_a_pack_become_no_more_than_a_bound(tmp_path):
    """Each text is small; what they stand for is not. It is told once."""
    double = {"d0": "state.n", **{f"d{at}": f"d{at - 1} + d{at - 1}" for at in range(1, 9)}}
    folder = write(
        tmp_path, define=double, asserts=[{"that": "d8", "else": "x"}] * 400, sections=[LIST | {"items": {**LIST["items"], "where": "1"}}]
    )
    ((code, message),) = find_faults(folder)
    assert (code, message) == (
        "PC0403",
        "with this text, the definitions of the pack become more than 30000 parts when they are written out",
    )


# contract 3.20
def test_there_are_no_more_than_a_bound(tmp_path):
    folder = write(tmp_path, define={f"d{at}": "1" for at in range(501)}, sections=[{"id": "a", "text": "x"}])
    assert len(find_faults(folder)) == 1


# --- docs/contract.md ---

MANUAL = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
ANNOTATED = re.search(r"\n## 2\. .*?```yaml\n(.*?)```", MANUAL, re.DOTALL)[1]


def test_the_annotated_manifest_has_no_key_that_the_language_has_not():
    """It shows what excludes each other side by side, and says `size` where one stands; nothing else of it is wrong."""
    manifest = re.sub(r"(?m)^extends: .*$", "", ANNOTATED)
    found = check_pack_shape(load_yaml(manifest.encode(), "pack.yaml", Path()))
    assert found and not [one for one in found if one.code != "PC0207" and not one.message.endswith("not `size`")]


def test_the_example_of_the_manual_means_what_it_says(tmp_path):
    """`define` as the annotated manifest has it, in the `where` that stands beside it, and written out."""
    shown = yaml.safe_load(ANNOTATED)["define"]
    where = re.search(r"(?m)^  about\(npc\): .*# `where: (.*)`$", ANNOTATED)[1]
    assert list(shown) == ["hinge", "about(npc)"] and where == "hinge and about(state.npc)"
    written = f"({shown['hinge']}) and ({shown['about(npc)'].replace('npc', '(state.npc)')})"
    rows = [
        {"id": "a", "tags": ["hinge"], "ref_id": "ada"},
        {"id": "b", "tags": [], "ref_id": "ada"},
        {"id": "c", "tags": ["hinge"], "ref_id": "bo"},
    ]
    items = {"from": "state.rows", "id": "item.id", "text": "{{ item.id }}"}
    named = write(tmp_path / "named", define=shown, sections=[{"id": "list", "items": {**items, "where": where}}])
    plain = write(tmp_path / "plain", sections=[{"id": "list", "items": {**items, "where": written}}])
    state = {"npc": "ada", "rows": rows}
    assert render(named, state) == render(plain, state) == "a\n"
    assert [one.code for one in promptc.load(named).check() if one.level != "note"] == []


# contract 3.23
@pytest.mark.parametrize(
    "name", "state variant strain selected section item this group text args before loop self range dict none not if".split()
)
def test_a_let_has_no_name_that_means_something_else(tmp_path, name):
    for key in ("let", "define"):
        folder = write(tmp_path / key, **{key: {name: "1"}}, sections=[{"id": "main", "text": "x"}])
        code, message = find_faults(folder)[0]
        assert code == "PC0267" and message.startswith(f"`{name}` is already ")


# contract 3.23
def test_a_let_may_have_the_name_of_a_filter_or_a_test(tmp_path):
    """What a filter is called is read after `|` alone, and a test after `is`."""
    folder = write(
        tmp_path, let={"last": "state.rows | last", "odd": 3}, sections=[{"id": "main", "text": "{{ last.id }}{{ odd is odd }}"}]
    )
    assert render(folder) == "cTrue\n"
