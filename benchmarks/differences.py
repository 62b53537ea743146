"""The time of a word-by-word difference of two prompts, compared to difflib on their lines and to one count of the text by tiktoken."""

import random
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import partial

from benchmarks.blocks import make_transcript
from benchmarks.measure import Scale, begin, show, time_turns
from promptc.text.diff import diff_words
from tests.cases.recount import load_encoding

_TOKENS = (25_000, 500)
_SECONDS = 0.5
_SEED = 20261122


def bench_differences(scale: Scale) -> None:
    """Print the seconds for prompts of 25 000 tokens with one word in ten changed, and for the worst case: all words in another order."""
    tokens = scale.choose(*_TOKENS)
    encode = load_encoding("cl100k_base").encode_ordinary
    blocks = [block["text"] for block in make_transcript(scale.choose(2000, 50), 30)]
    while len(encode("\n".join(blocks))) > tokens:
        blocks.pop()
    old = "\n".join(blocks) + "\n"
    draw = random.Random(_SEED)
    words = old.split(" ")
    changed = " ".join(draw.choice(words) if draw.random() < 0.1 else word for word in words)
    shuffled = " ".join(draw.sample(words, len(words)))
    begin(f"Differences: two prompts of {len(encode(old)):,} tokens")
    works: dict[str, Callable[[], object]] = {
        "changed": partial(diff_words, old, changed),
        "line": partial(diff_words, old.replace("\n", " "), changed.replace("\n", " ")),
        "shuffled": partial(diff_words, old, shuffled),
        "count": partial(encode, old),
        "lines": lambda: SequenceMatcher(None, old.split("\n"), changed.split("\n"), autojunk=False).get_opcodes(),
    }
    taken = time_turns(works, scale.choose(5, 1))
    for name, label in (("changed", "one word in ten changed"), ("line", "the same in one line"), ("shuffled", "all words elsewhere")):
        show(label, taken[name], ".2f s", at_most=_SECONDS)
    count, lines = taken.ratio("changed", "count"), taken.ratio("changed", "lines")
    show("one word in ten / a count by tiktoken", count, ".1f x", peer="a count by tiktoken", way="ours / theirs")
    show("one word in ten / difflib on lines alone", lines, ".2f x", peer="difflib on lines alone", way="ours / theirs")
