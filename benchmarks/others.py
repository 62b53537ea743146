"""Other implementations of the same work: keep the newest blocks that fit into 13 000 tokens."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tests.cases.recount import load_encoding

BUDGET = 13_000


@lru_cache
def _encoding() -> Any:
    """Load tiktoken's own cl100k_base, from the ranks that promptc's table is made from."""
    return load_encoding("cl100k_base")


def make_jinja_every_block(state: dict[str, Any]) -> Callable[[], str]:
    """Return a work in which Jinja2 renders and tiktoken counts every block, and the newest that fit are joined."""
    from jinja2 import Environment

    template = Environment().from_string("[{{ item.type }}] {{ item.speaker }}: {{ item.text }}\n")
    encode = _encoding().encode_ordinary

    def work() -> str:
        texts = [template.render(item=item) for item in state["transcript"]]
        counts = [len(encode(text)) for text in texts]
        room, first = BUDGET, len(texts)
        while first and counts[first - 1] <= room:
            first -= 1
            room -= counts[first]
        return "".join(texts[first:])

    return work


def make_trim_messages(state: dict[str, Any]) -> Callable[[], object]:
    """Return a work that calls langchain-core's `trim_messages` with `strategy="last"`.

    Its counter encodes each message that it gets, without a cache.
    """
    from langchain_core.messages import HumanMessage, trim_messages

    encode = _encoding().encode_ordinary
    messages = [HumanMessage(f"[{item['type']}] {item['speaker']}: {item['text']}") for item in state["transcript"]]

    def count(held: list[Any]) -> int:
        return sum(len(encode(message.content)) for message in held)

    return lambda: trim_messages(messages, max_tokens=BUDGET, strategy="last", token_counter=count)
