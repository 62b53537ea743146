"""Exact and Bounded: the reported count is the tokenizer's own of what was emitted, and never over the budget."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from promptc.api import Prompt
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_any, draw_cl100k, draw_o200k
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import Loaded
from tests.property.oracle.counting import count, count_messages
from tests.property.oracle.offering import count_offered
from tests.property.oracle.selecting import show_part
from tests.property.proof import Proof, Tally


@pytest.mark.parametrize("draw", [draw_cl100k, draw_o200k, draw_any])
def test_exact_and_bounded(proof: Proof, draw: Callable[[Random], Drawn]) -> None:
    proof.hold(f"exact and bounded ({draw.__name__})", judge_exact, draw, 1000)


def judge_exact(loaded: Loaded, tally: Tally) -> str | None:
    for total in iter_totals(loaded):
        outcome = loaded.compile(total)
        tally["renders"] += 1
        if outcome.emitted is None:
            continue
        tally["prompts"] += 1
        counted = count_emitted(outcome)
        if counted != outcome.tokens or counted != outcome.report["tokens"]:
            return f"at {total} the tokenizer counts {counted}, reported are {outcome.tokens}"
        if counted > total:
            return f"{counted} tokens are emitted for a budget of {total}"
    return None


def iter_totals(loaded: Loaded) -> Iterator[int]:
    """More than the pack needs, and two totals at random places under that."""
    natural = loaded.compile(4000).tokens or 200
    rng = Random(natural)
    yield from (4000, rng.randint(1, natural), rng.randint((natural + 1) // 2, natural))


def count_emitted(outcome: Outcome) -> int:
    """The count of the output's bytes, or of its messages with the stated overhead, by tiktoken itself."""
    assert outcome.emitted is not None
    counter = outcome.fitted.frame.meter.counter.name
    if outcome.fitted.frame.format == "text":
        return count(counter, outcome.emitted.text.encode().decode())
    shown = [(one["role"], _show(one["content"])) for one in outcome.emitted.messages]
    return count_messages(counter, shown) + count_offered(counter, _list_offered(outcome))


def _list_offered(outcome: Outcome) -> list[Any]:
    prompt = Prompt(outcome)
    return [*prompt.tools, *([prompt.response] if prompt.response is not None else [])]


def _show(content: object) -> str:
    return "\n".join(map(show_part, content)) if isinstance(content, list) else str(content)
