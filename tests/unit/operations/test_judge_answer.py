"""An answer in which there is nothing to see is none."""

import pytest

from promptc.operations.run import judge_answer
from promptc.text.counters.counter import CharacterCounter, Meter

METER = Meter(CharacterCounter())
_NOTHING = ["", " \n", "\n\u200b\n", "\u3164", "\u2800", "\xad\u2060", "\U000e0041", "\u0301", "\ufeff", "\0", "\x1b"]


@pytest.mark.parametrize("text", _NOTHING)
def test_nothing_to_see_is_refused(text):
    assert judge_answer(text, None, METER).why == "it is empty"


@pytest.mark.parametrize("text", ["a", "1", "。", "😀", "e\u0301", "-", "\u200b1", "ก็"])
def test_anything_else_is_taken(text):
    judged = judge_answer(text, None, METER)
    assert (judged.value, judged.why) == (text, "")
