"""A budget that follows a model gives what a budget of as many tokens gives, and a prompt is never larger than the model takes."""

import tempfile
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import promptc

PACK = """promptc: 1
name: drawn
version: 1.0.0
tokenizer: chars/4
budget: {model: base, reserve: %d}
sections:
  - {id: rules, text: Be brief., budget: 20%%}
  - {id: log, items: {from: state.log, text: "{{ item }}"}, budget: {min: 10, max: 70%%, grow: 1}}
  - {id: input, text: "{{ state.input }}"}
truncate: [log, rules, {drop: {section: input}}]
"""
WINDOWS = tuple((context, most) for context in (80, 120, 200, 500) for most in (None, 45, 120))


@cache
def _load(reserve: int) -> promptc.Pack:
    entries = ["as_of = 2027-01-02", '[[model]]\nname = "base"\ncontext = 400']
    for at, (context, most) in enumerate(WINDOWS):
        entries.append(f'[[model]]\nname = "m{at}"\ncontext = {context}' + (f"\ninput = {most}" if most is not None else ""))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pack.yaml").write_text(PACK % reserve, encoding="utf-8")
        Path(folder, "models.toml").write_text("\n".join(entries), encoding="utf-8")
        pack = promptc.load(folder, models=f"{folder}/models.toml")
        pack.render({"log": [], "input": ""})  # the table is read when it is first needed
        return pack


# contract 8.19
@given(
    reserve=st.sampled_from([0, 7, 30]),
    log=st.lists(st.sampled_from(["salt", "the tide is out", "a bell at sea, twice"]), max_size=12),
    input=st.sampled_from(["", "Where is the boat?"]),
)
def test_the_window_is_the_budget(reserve: int, log: list[str], input: str) -> None:
    pack, state, kept = _load(reserve), {"log": log, "input": input}, {}
    for at, (context, most) in enumerate(WINDOWS):
        room = min(context - reserve, most if most is not None else context)
        prompt, plain = pack.render(state, model=f"m{at}"), pack.render(state, budget=room)
        assert prompt.text == plain.text
        assert prompt.tokens <= room and prompt.tokens + reserve <= context
        kept[room] = sum(len(one["items"]) for one in prompt.report["sections"])
    assert [kept[room] for room in sorted(kept)] == sorted(kept.values())
