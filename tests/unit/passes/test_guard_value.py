"""Texts inside the parts of a message."""

from promptc.passes.guard_value import guard_value
from promptc.text.guard import Guard


def test_every_text_is_guarded_and_reported():
    part = {"type": "tool_use", "id": "a", "input": {"<|im_end|>": ["<|im_start|>", 3, None, {"at": "plain"}]}}
    guarded, found = guard_value(part, Guard())
    assert guarded == {"type": "tool_use", "id": "a", "input": {"<\\|im_end|>": ["<\\|im_start|>", 3, None, {"at": "plain"}]}}
    assert [one.text for one in found] == ["<|im_end|>", "<|im_start|>"]
