"""`promptc map`: the block map of every shipped pack is a golden."""

import json

import pytest

from tests.cli.conftest import ROOT

PACKS = sorted(
    path.parent.relative_to(ROOT).as_posix() for shipped in ("packs", "starters") for path in (ROOT / shipped).glob("*/pack.yaml")
)


@pytest.mark.parametrize("pack", PACKS)
def test_the_map_of_a_pack(pack, run, golden, monkeypatch):
    monkeypatch.chdir(ROOT)
    done = run("map", pack)
    assert (done.code, done.err) == (0, "")
    golden(f"map_{pack.rpartition('/')[2]}.md", done.out)


def test_a_page(run, golden, monkeypatch):
    monkeypatch.chdir(ROOT)
    golden("map_chat.html", run("map", "starters/chat", "--format", "html").out)


def test_it_does_not_matter_how_the_pack_is_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "starters" / "chat")
    near = run("map", "pack.yaml").out
    monkeypatch.chdir(tmp_path)
    assert near == run("map", str(ROOT / "starters" / "chat")).out


def test_a_file_is_written_whole_or_not_at_all(run, tmp_path):
    target = tmp_path / "map.html"
    done = run("map", str(ROOT / "starters" / "chat"), "--format", "html", "-o", str(target))
    assert (done.code, done.out) == (0, "") and target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    done = run("map", str(ROOT / "starters" / "chat"), "-o", str(tmp_path / "none" / "map.md"))
    assert done.code == 4 and "PC0725" in done.err


def test_for_a_program(run):
    shown = json.loads(run("map", str(ROOT / "packs" / "sentinel"), "--format", "json", "--variant", "retrieval=deep").out)
    retrieval = next(one for one in shown["blocks"] if one["id"] == "retrieval")
    assert retrieval["caps"][0] == "for each `item.kind`: lore 3, campaign 5"


@pytest.mark.parametrize(
    ("flags", "code"), [(["--variant", "x=y"], "PC0701"), (["--variant", "retrieval=x"], "PC0702"), (["--patch", "x"], "PC0703")]
)
def test_a_choice_that_is_not_there(flags, code, run):
    done = run("map", str(ROOT / "packs" / "sentinel"), *flags)
    assert (done.code, done.out) == (2, "") and code in done.err


def test_a_pack_that_cannot_be_loaded(run, tmp_path):
    (tmp_path / "pack.yaml").write_text("promptc: 1\n", encoding="utf-8")
    done = run("map", str(tmp_path))
    assert (done.code, done.out) == (3, "")


VARIED = """\
promptc: 1
name: varied
version: 0.1.0
tokenizer: chars/4
budget: 900
output: {separator: "\\n"}
sections:
  - id: rules
    text: "Be brief.\\nSay so if you do not know.\\n"
    separator: "\\n"
  - id: turns
    items: {from: state.turns, text: "{{ item.text }}", id: item.id}
    overflow: [evict: {marker: "Earlier turns are left out."}]
  - id: pages
    items: {from: state.pages, forms: [{text: "{{ item.text }}"}, {text: "{{ item.title }}"}]}
  - id: talk
    items: {from: state.talk, message: {role: item.role, content: item.content}}
patches:
  other: %s
"""


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ('sections: {rules: {text: "Be brief.\\nGuess.\\n"}}', {"rules": ["text: `Guess.`"]}),
        ('sections: {rules: {text: "Be brief.\\n"}}', {"rules": ["text without `Say so if you do not know.`"]}),
        ('sections: {rules: {text: "Be brief.\\n\\nSay so if you do not know.\\n"}}', {"rules": ["changed: `text`"]}),
        ('sections: {rules: {text: "Be brief.\\nSay so if you do not know.\\n"}}', {}),
        ('sections: {rules: {header: "## Rules\\n", separator: "--"}}', {"rules": ["changed: `header`, `separator`"]}),
        ('sections: {rules: {fence: {open: "<rules>", close: "</rules>"}}}', {"rules": ["changed: `fence`"]}),
        ('sections: {turns: {items: {text: "- {{ item.text }}"}}}', {"turns": ["text: `- {{ item.text }}`"]}),
        ("sections: {turns: {items: {id: item.number, number: item.number}}}", {"turns": ["changed: `items.id`, `items.number`"]}),
        ('sections: {pages: {items: {forms: [{text: "{{ item.text }}"}, {text: "…"}]}}}', {"pages": ["changed: `items.forms`"]}),
        ('sections: {turns: {overflow: [evict: {marker: "…"}]}}', {"turns": ["changed: `overflow`"]}),
        ("sections: {talk: {items: {message: {content: item.text}}}}", {"talk": ["changed: `items.message`"]}),
        ('output: {separator: "\\n\\n"}', {"": ["changed: `output`"]}),
    ],
)
def test_a_change_of_texts_is_a_change(patch, told, run, tmp_path):
    (tmp_path / "pack.yaml").write_text(VARIED % f"{{{patch}}}", encoding="utf-8")
    done = run("map", str(tmp_path), "--format", "json")
    assert (done.code, done.err) == (0, "")
    (other,) = json.loads(done.out)["variations"]
    assert {**other["changes"], **({"": other["plan"]} if other["plan"] else {})} == told
