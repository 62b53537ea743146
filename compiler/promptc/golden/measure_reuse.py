"""How much of each turn of a session a provider's prompt cache could read again."""

from collections.abc import Sequence

from promptc.pipeline import Outcome
from promptc.text.meter import Meter


def measure_reuse(prompts: Sequence[Outcome]) -> tuple[int, ...]:
    """For each prompt from the second on: the share of its tokens, in whole per cent, cut off, that stand in the beginning it has in common
    with the prompt before it.

    In the text, or the messages one after the other in the order they are sent, role and content. Tokens of the later prompt that end
    within that beginning are counted, so the share is never overstated.
    """
    texts = [_join(one) for one in prompts]
    return tuple(_share(one.fitted.frame.meter, before, after) for one, before, after in zip(prompts[1:], texts, texts[1:], strict=False))


def _join(prompt: Outcome) -> str:
    emitted = prompt.emitted
    assert emitted is not None
    if prompt.fitted.frame.format == "text":
        return emitted.text
    from promptc.text.json import render_canonical_json

    return "\n".join(render_canonical_json(dict(message)) for message in emitted.messages)


def _share(meter: Meter, before: str, after: str) -> int:
    whole = meter.counter.measure(after)
    same = _count_same(before, after)
    if same == len(after):
        return 100
    ends = [end for end in meter.counter.token_ends(after) if end <= same]
    return 100 * meter.counter.measure(after[: ends[-1]]) // whole if ends else 0


def _count_same(before: str, after: str) -> int:
    """Characters of the beginning that both have; found by halves, so that most are compared at the speed of the machine."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
