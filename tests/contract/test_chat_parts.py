"""`--format chat` with what a template is not given (media) and what changes its text: pools, tool calls one by one, notes and names."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import promptc
from promptc.diag.findings import FitError, PromptcError
from tests.contract.sources import ROOT
from tests.pictures import make_png, show

BASE = ROOT / "fixtures" / "harbour" / "base"
TEMPLATE = (
    "{% for m in messages %}<|turn|>{{ m.role }}{% if m.name %} ({{ m.name }}){% endif %}: {{ m.content }}"
    "{% for call in m.tool_calls or [] %}[{{ call.id }}]{% endfor %}<|over|>\n{% endfor %}<|turn|>assistant\n"
)
TALK = """
  - id: talk
    items:
      from: state.talk
      message:
        role: "'system' if item.note else item.role"
        name: item.by
        content: item.content
        parts: [text, image, tool_use, tool_result]
        media: {model: gpt-5.4}
"""
PICTURE = show(make_png(320, 200))
USES = [{"type": "tool_use", "id": name, "name": "look", "input": {"at": name}} for name in ("a", "b", "c")]
RESULTS = [{"type": "tool_result", "tool_use_id": name, "content": f"{name} is calm."} for name in ("a", "b", "c")]
TOKENS = Tokenizer.from_file(str(BASE / "tokenizer.json"))


def _load(folder: Path, body: str, template: str = TEMPLATE) -> promptc.Pack:
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_bytes((BASE / "tokenizer.json").read_bytes())
    (folder / "template.jinja").write_text(template, encoding="utf-8")
    head = 'promptc: 1\nname: parts\nversion: 1.0.0\ntokenizer: {use: "hf:tokenizer.json", chat_template: {file: template.jinja}}\n'
    (folder / "pack.yaml").write_text(
        f"{head}budget: {{context: 4000, reserve: 400}}\noutput: {{format: messages}}\n{body}", encoding="utf-8"
    )
    return promptc.load(folder)


def _talk(*turns, **more):
    return {"talk": [{"role": role, "content": content, "note": role == "note", "by": None, **more} for role, content in turns]}


def _count(text: str) -> int:
    return len(TOKENS.encode(text, add_special_tokens=False).ids)


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    body = """
sections:
  - {id: facts, role: system, items: {from: state.facts, text: "- {{ item }}"}}
  - {id: lore, role: system, items: {from: state.lore, text: "- {{ item }}"}}
  - {id: input, text: "{{ state.input }}", pinned: true}
pools:
  memory: {sections: [facts, lore], max: 60, overflow: [evict: {section: lore}, evict: {section: facts}]}
truncate: [evict: {section: facts}, evict: {section: lore}]
"""
    return _load(tmp_path_factory.mktemp("pooled"), body)


WORDS = st.lists(st.sampled_from(("berth", "ship", "<|turn|>", "tide at noon", "é")), min_size=1, max_size=8).map(" ".join)


# contract 5.39 and 8.28
@given(
    facts=st.lists(WORDS, max_size=8),
    lore=st.lists(WORDS, max_size=8),
    budgets=st.lists(st.integers(60, 200), min_size=2, max_size=2).map(sorted),
)
def test_a_pool_holds_and_the_text_is_counted_whole(pooled, facts, lore, budgets):
    """A pool counts charges, the total the text that the template makes; both hold, and a larger total removes nothing."""
    kept = []
    for budget in budgets:
        try:
            prompt = pooled.render({"facts": facts, "lore": lore, "input": "And now?"}, format="chat", budget=budget)
        except FitError:
            assert not kept
            continue
        (pool,) = prompt.report["pools"]
        assert pool["charge"] <= 60 and pool["grant"] == 60
        assert prompt.tokens == _count(prompt.text) <= budget
        assert sum(prompt.report["frame"].values()) + sum(one["tokens"] for one in prompt.report["sections"]) == prompt.tokens
        kept.append({(one["id"], item["id"]) for one in prompt.report["sections"] for item in one["items"]})
    assert len(kept) < 2 or kept[0] <= kept[1]


# contract 8.13 and 8.28
@pytest.mark.parametrize("place", ["a message", "a result"])
def test_a_template_is_given_no_media(tmp_path, place):
    """What a server writes in a picture's place, and how many tokens, is the model's own; so nothing is guessed."""
    pack = _load(tmp_path, f"sections:{TALK}")
    seen = ("user", [{"type": "text", "text": "Look."}, PICTURE])
    given = [seen] if place == "a message" else [("assistant", USES[:1]), ("user", [{**RESULTS[0], "content": [PICTURE]}])]
    with pytest.raises(PromptcError) as wrong:
        pack.render(_talk(*given), format="chat")
    (found,) = wrong.value.diagnostics
    assert found.code == "PC0589" and "the chat template accepts no" in found.message and "image" in found.message
    assert "in words" in found.help or "into a message of the user" in found.help


# contract 4.43 and 4.45
def test_elsewhere_such_a_pack_counts_media_beside_its_own_tokenizer(tmp_path):
    pack = _load(tmp_path, f"sections:{TALK}")
    bare, seen = ([("user", [{"type": "text", "text": "Look."}, *more])] for more in ([], [PICTURE]))
    messages = [pack.render(_talk(*one), format="messages") for one in (bare, seen)]
    (media,) = messages[1].report["sections"][0]["items"][0]["media"]
    assert messages[1].tokens - messages[0].tokens == media["tokens"] > 0
    text = pack.render(_talk(*seen), format="text")
    assert text.text == "Look.\n[image: image/png, 320 x 200]\n" and text.tokens == _count(text.text)


# contract 8.27, 8.52 and 8.54
def test_notes_and_names_reach_the_template(tmp_path):
    pack = _load(tmp_path, f"sections:{TALK}")
    prompt = pack.render(_talk(("user", "Hello"), ("note", "Stay brief."), by="Ines"), format="chat")
    assert prompt.text == "<|turn|>user (Ines): Hello<|over|>\n<|turn|>system (Ines): Stay brief.<|over|>\n<|turn|>assistant"
    assert prompt.tokens == _count(prompt.text)
    refusing = _load(
        tmp_path / "strict", f"sections:{TALK}", "{% if messages[1].role == 'system' %}{{ raise_exception('rules first') }}{% endif %}"
    )
    with pytest.raises(PromptcError, match="rules first"):
        refusing.render(_talk(("user", "Hello"), ("note", "Stay brief.")), format="chat")


# contract 5.50 and 8.28
def test_tool_calls_go_one_by_one_by_the_count_of_the_text(tmp_path):
    pack = _load(tmp_path, f"sections:{TALK}truncate: [evict: {{section: talk, whole: call}}]\n")
    state = _talk(("user", "Where?"), ("assistant", USES), ("user", RESULTS), ("user", "Go on."))
    state["talk"][0]["content"] = ""
    whole = pack.render(state, format="chat")
    seen = []
    for budget in range(whole.tokens, 20, -1):
        try:
            prompt = pack.render(state, format="chat", budget=budget)
        except FitError:
            break
        assert prompt.tokens == _count(prompt.text) <= budget
        calls = [name for name in "abc" if f"[{name}]" in prompt.text]
        assert calls == [name for name in "abc" if f"{name} is calm." in prompt.text]
        seen += [calls] if calls not in seen else []
    assert seen == [["a", "b", "c"], ["b", "c"], ["c"], []]
    assert json.dumps(whole.report["cuts"]) == "[]"
