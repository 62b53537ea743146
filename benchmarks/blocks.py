"""Generated transcripts: the same seed makes the same blocks."""

import random
from typing import Any

_STARTS = "b br c d dr f fl g gr h j k l m n p pr r s sh st t tr v w".split()
_MIDDLES = "a ai e ea i o oa oo u".split()
_ENDS = "ck d ld ll m n nd ng r rd rn rt s sh st t th".split()
_SMALL = "the a of to and in that it was he she you for on with as at by from they we but not is had".split()
_KINDS = ("NARRATIVE", "NARRATIVE", "NARRATIVE", "INTEL", "CHOICE", "SYSTEM")
_SPEAKERS = ("ASH", "BRAM", "CLO", "DARA")


def make_transcript(count: int, words: int, seed: int = 7) -> list[dict[str, Any]]:
    """Return `count` blocks of about `words` words, half of them common ones, with sentences and commas."""
    draw = random.Random(seed)
    lexicon = sorted({draw.choice(_STARTS) + draw.choice(_MIDDLES) + draw.choice(_ENDS) for _ in range(3000)})
    return [_make_block(number, words, lexicon, draw) for number in range(count)]


def make_reach_state(count: int, words: int, seed: int = 7) -> dict[str, Any]:
    """Return a state of `benchmarks/reach`."""
    return {"transcript": make_transcript(count, words, seed), "input": "We go down."}


def make_sentinel_state(count: int, words: int, seed: int = 7) -> dict[str, Any]:
    """Return a state of `packs/sentinel`, with only a transcript and an input."""
    return {"transcript": make_transcript(count, words, seed), "input": "We go down."}


def _make_block(number: int, words: int, lexicon: list[str], draw: random.Random) -> dict[str, Any]:
    text = []
    for place in range(max(3, draw.randint(words * 3 // 4, words * 5 // 4))):
        word = draw.choice(_SMALL) if draw.random() < 0.5 else draw.choice(lexicon)
        text.append(word.capitalize() if place % 11 == 0 else word)
        if place % 11 == 10:
            text[-1] += "."
        elif place % 5 == 4:
            text[-1] += ","
    kind, speaker = draw.choice(_KINDS), draw.choice(_SPEAKERS)
    return {"id": number, "type": kind, "speaker": speaker, "text": " ".join(text) + ".", "tags": [], "at": "2025-03-06T19:00:00Z"}
