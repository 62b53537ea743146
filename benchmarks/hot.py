"""`pack.render` of a loaded state: how its time grows with the transcript, and how it compares to others doing the same work."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import promptc
from benchmarks.blocks import make_reach_state, make_sentinel_state
from benchmarks.measure import Scale, begin, show, take_each, time_turns
from benchmarks.others import make_jinja_every_block, make_trim_messages

_ROOT = Path(__file__).parents[1]
_SIZES = (100, 1_000, 10_000, 100_000)
_WORDS = 90  # about 130 tokens a block: a hundred of them fill 13 000 tokens
_SHORT = 18  # about 28 tokens a block, as people talk at a table
_PEERS = {"promptc": "promptc", "jinja": "tiktoken + Jinja2", "trim_messages": "langchain-core trim_messages"}

Make = Callable[[int, int, int], dict[str, Any]]


def bench_growth(scale: Scale) -> None:
    """Print the time of a render at each size, and its growth from the smallest to the largest."""
    _bench_pack("sentinel (a window of 12 blocks)", _ROOT / "packs/sentinel", make_sentinel_state, _WORDS, scale)
    _bench_pack("Reach (as many blocks as 13,000 tokens hold)", _ROOT / "benchmarks/reach", make_reach_state, _WORDS, scale)
    _bench_pack("Reach, short blocks (28 tokens, 100 do not fill it)", _ROOT / "benchmarks/reach", make_reach_state, _SHORT, scale)


def _bench_pack(title: str, folder: Path, make: Make, words: int, scale: Scale) -> None:
    begin(f"Growth: {title}")
    pack = promptc.load(folder)
    states, loads, sizes = {}, {}, scale.choose(_SIZES, (5, 6, 7, 8))
    for size in sizes:
        raw = make(size, words, 7)
        begun = time.process_time()
        states[size] = pack.load_state(raw)
        loads[size] = time.process_time() - begun
    taken = time_turns({str(size): partial(pack.render, state) for size, state in states.items()}, rounds=scale.choose(9, 1))
    name = title.partition(" (")[0]
    for size in sizes:
        prompt = pack.render(states[size])
        show(f"N = {size:,}: {prompt.tokens:,} tokens", taken[str(size)], ".1f ms", point=(f"{name}: render", size))
        show("  load_state before it", loads[size], ".1f ms", point=(f"{name}: load_state", size))
    growth = taken.ratio(str(sizes[-1]), str(sizes[0]))
    show(f"growth from N = {sizes[0]:,} to N = {sizes[-1]:,}", growth, ".2f x", at_most=3 if words == _WORDS else None)


def bench_others(scale: Scale) -> None:
    """Print how long others take for the same work, as multiples of promptc's time, for blocks never seen before."""
    for size in scale.choose((100, 1_000, 10_000), (5, 6, 7)):
        begin(f"Others: Reach, N = {size:,}, blocks never seen before")
        seeds = iter(range(1_000, 2_000))
        fresh: dict[int, dict[str, Any]] = {}

        def state(turn: int, size: int = size, fresh: dict[int, dict[str, Any]] = fresh) -> dict[str, Any]:
            return fresh.setdefault(turn, make_reach_state(size, _WORDS, turn))

        rounds = scale.choose(7 if size < 10_000 else 3, 1)
        turns = [next(seeds) for _ in range(rounds + 1)]
        pack = promptc.load(_ROOT / "benchmarks/reach")
        loaded = [pack.load_state(state(turn)) for turn in turns]
        works = {
            "promptc": take_each([partial(pack.render, one) for one in loaded]),
            "jinja": take_each([make_jinja_every_block(state(turn)) for turn in turns]),
            "trim_messages": take_each([make_trim_messages(state(turn)) for turn in turns]),
        }
        taken = time_turns(works, rounds)
        for name, label in _PEERS.items():
            show(label, taken[name], ".1f ms", point=(label, size))
        show("tiktoken + Jinja2 / promptc", taken.ratio("jinja", "promptc"), ".1f x", peer=_PEERS["jinja"])
        limit = 5 if size == 1_000 else None
        show("trim_messages / promptc", taken.ratio("trim_messages", "promptc"), ".1f x", peer=_PEERS["trim_messages"], at_least=limit)
