"""A turn of a session: a block is appended and the prompt made, beside loading and rendering the whole state."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import promptc
from benchmarks.blocks import make_reach_state, make_sentinel_state
from benchmarks.measure import Scale, begin, show, take_each, time_turns

_ROOT = Path(__file__).parents[1]
_SIZES = (1_000, 10_000, 100_000)
_WORDS = 90
_PACKS: dict[str, tuple[str, Callable[[int, int, int], dict[str, Any]]]] = {
    "sentinel": ("packs/sentinel", make_sentinel_state),
    "Reach": ("benchmarks/reach", make_reach_state),
}


def bench_turns(scale: Scale) -> None:
    """Prints for each pack and size the milliseconds of a turn, its share of a fresh render, and its growth from size to size."""
    for name, (folder, make) in _PACKS.items():
        begin(f"Turns: {name}, a session that appends a block never seen, from the change to the prompt")
        pack, rounds = promptc.load(_ROOT / folder), scale.choose(15, 1)
        sizes = scale.choose(_SIZES, (5, 6, 7))
        turns = {}
        for size in sizes:
            raw = make(size + rounds + 1, _WORDS, size)
            new, raw["transcript"] = raw["transcript"][size:], raw["transcript"][:size]
            session, text = pack.session(), json.dumps(raw).encode()
            session.render(raw)
            works: dict[str, Callable[[], object]] = {
                "turn": take_each([partial(_play, session, block) for block in new]),
                "bytes": partial(_render, pack, text),
                "dict": partial(_render, pack, raw),
            }
            turns[size] = time_turns(works, rounds)
            show(f"N = {size:,}: a turn", turns[size]["turn"], ".2f ms", point=(f"{name}, a turn", size))
            limit = 0.02 if size == 10_000 else None
            show("  / load JSON bytes and render", turns[size].ratio("turn", "bytes"), ".4f x", at_most=limit)
            show("  / load a dict and render", turns[size].ratio("turn", "dict"), ".4f x")
        growth = turns[sizes[-1]]["turn"].middle / turns[sizes[0]]["turn"].middle
        show(f"growth from N = {sizes[0]:,} to N = {sizes[-1]:,}", growth, ".2f x", at_most=1.5)


def _render(pack: promptc.Pack, given: bytes | dict[str, Any]) -> str:
    return pack.render(given).text


def _play(session: promptc.Session, block: dict[str, Any]) -> str:
    session.append("/transcript", block)
    return session.render().text
