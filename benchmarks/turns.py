"""A turn of a session (a block is appended and the prompt made), compared to loading and rendering the whole state."""

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
    """Print the milliseconds of a turn for sessions of three sizes and their growth, and then a turn as a share of a fresh render.

    The sessions take turns. For the share, fresh renders are made between two turns.
    """
    for name, (folder, make) in _PACKS.items():
        begin(f"Turns: {name}, a session that appends a block never seen, from the change to the prompt")
        pack, rounds = promptc.load(_ROOT / folder), scale.choose(15, 1)
        sizes = scale.choose(_SIZES, (5, 6, 7))
        states: dict[int, dict[str, Any]] = {}
        turns: dict[int, Callable[[], object]] = {}
        for size in sizes:
            raw = make(size + 2 * (rounds + 1), _WORDS, size)
            new, raw["transcript"] = raw["transcript"][size:], raw["transcript"][:size]
            session = pack.session()
            session.render(raw)
            states[size], turns[size] = raw, take_each([partial(_play, session, block) for block in new])
        beside = time_turns({str(size): turns[size] for size in sizes}, rounds)
        for size in sizes:
            show(f"N = {size:,}: a turn", beside[str(size)], ".2f ms", point=(f"{name}, a turn", size))
        growth = beside[str(sizes[-1])].middle / beside[str(sizes[0])].middle
        show(f"growth from N = {sizes[0]:,} to N = {sizes[-1]:,}", growth, ".2f x", at_most=1.5)
        for size in sizes:
            text = json.dumps(states[size]).encode()
            whole = {"bytes": partial(_render, pack, text), "dict": partial(_render, pack, states[size])}
            taken = time_turns({"turn": turns[size], **whole}, rounds)
            limit = 0.02 if size == 10_000 else None
            show(f"N = {size:,}: a turn behind a fresh render", taken["turn"], ".2f ms")
            show("  / load JSON bytes and render", taken.ratio("turn", "bytes"), ".4f x", at_most=limit)
            show("  / load a dict and render", taken.ratio("turn", "dict"), ".4f x")


def _render(pack: promptc.Pack, given: bytes | dict[str, Any]) -> str:
    return pack.render(given).text


def _play(session: promptc.Session, block: dict[str, Any]) -> str:
    session.append("/transcript", block)
    return session.render().text
