"""Counting: the table counters compared to tiktoken, on prose and on texts that are hard on tokenizers."""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.blocks import make_reach_state
from benchmarks.measure import Sample, Scale, begin, show, time_turns
from promptc.text.counters.bpe import VOCABULARIES, vocabulary_path
from promptc.text.counters.exact import TableCounter
from tests.cases.recount import load_encoding

_HARD = (1 << 20, 1 << 12)
_ROOT = Path(__file__).parents[1]
_PLAIN = "import re"
_OURS = """
import re, sys
from promptc.text.counters.exact import load_counter
load_counter(sys.argv[1], folder="").measure(open(sys.argv[2], encoding="utf-8").read())
"""
_THEIRS = """
import base64, re, sys
import tiktoken
lines = open(sys.argv[3], "rb").read().splitlines()
ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines)}
encoding = tiktoken.Encoding("one", pat_str=sys.argv[4], mergeable_ranks=ranks, special_tokens={})
len(encoding.encode_ordinary(open(sys.argv[2], encoding="utf-8").read()))
"""
_PEER = "tiktoken"
_RUNS = {"spaces": " ", "a": "a", "emoji": "\N{GRINNING FACE}", "line ends": "\n"}
_DRAWN = {
    "letters": "abcdefghijklmnopqrstuvwxyz",
    "punctuation": '!"#$%&()*+,-./:;<=>?@[]^_`{|}~',
    "CJK": "".join(map(chr, range(0x4E00, 0x9FA5))),
}


def bench_counting(scale: Scale) -> None:
    """Print the ratios to tiktoken, and how the time of a hard text grows from half of it to all of it."""
    for name in VOCABULARIES:
        begin(f"Counting: {name}")
        _bench_start(name, scale.choose(5, 1))
        _bench_prose(name, *scale.choose((2_000, 5), (5, 1)))
        for kind, unit in _RUNS.items():
            _bench_hard(name, kind, partial(_repeat, unit), 0.3, scale)
        for kind, alphabet in _DRAWN.items():
            _bench_hard(name, f"random {kind}", partial(_draw, alphabet), 4, scale)


def _bench_start(name: str, rounds: int) -> None:
    """Measure new processes that count a text of 48 KB, minus the time of `import re`."""
    path = _ROOT / "docs" / "contract.md"
    ranks = _ROOT / "tools" / "ranks" / f"{name}.tiktoken"
    pattern = load_encoding(name)._pat_str
    works = {script: partial(_run, script, name, str(path), str(ranks), pattern) for script in (_PLAIN, _OURS, _THEIRS)}
    taken = time_turns(works, rounds, clock=time.perf_counter).beyond(_PLAIN)
    show(f"new process, load and count {path.stat().st_size // 1024} KB", taken[_OURS], ".0f ms", note="over `import re`")
    show("  tiktoken / this", taken.ratio(_THEIRS, _OURS), ".1f x", peer=_PEER)


def _run(*argv: str) -> None:
    subprocess.run([sys.executable, "-c", *argv], check=True, cwd=_ROOT, env={"PYTHONPATH": "compiler"})


def _bench_prose(name: str, blocks: int, rounds: int) -> None:
    text = "\n".join(item["text"] for item in make_reach_state(blocks, 90, 7)["transcript"])
    encoding, known = load_encoding(name), _make_counter(name)
    expected = len(encoding.encode_ordinary(text))
    if known.measure(text) != expected:
        sys.exit(f"{name}: a wrong count")
    works = {
        "first": lambda: _make_counter(name).measure(text),
        "again": lambda: known.measure(text),
        "tiktoken": lambda: len(encoding.encode_ordinary(text)),
    }
    taken = time_turns(works, rounds)
    speed = Sample(tuple(len(text) / seconds / 1e6 for seconds in taken["first"].values))
    show(f"prose, {len(text) / 1e6:.1f} MB, first sight", speed, ".1f MB/s")
    show("  this / tiktoken", taken.ratio("first", "tiktoken"), ".1f x", peer=_PEER, way="ours / theirs")
    show("  this / tiktoken, words known", taken.ratio("again", "tiktoken"), ".1f x", peer=_PEER, way="ours / theirs")


def _bench_hard(name: str, kind: str, make: Callable[[int], str], limit: float, scale: Scale) -> None:
    size = scale.choose(*_HARD)
    half, whole = make(size // 2), make(size)
    works = {"half": partial(_count_anew, name, half), "whole": partial(_count_anew, name, whole)}
    taken = time_turns(works, scale.choose(3, 1))
    show(f"{size / _HARD[0]:g} MB of {kind}", taken["whole"], ".2f s", at_most=limit)
    if limit > 1:
        show("  from its half to it", taken.ratio("whole", "half"), ".2f x", at_most=2.3)


def _count_anew(name: str, text: str) -> int:
    return _make_counter(name).measure(text)


def _make_counter(name: str) -> TableCounter:
    """Make a counter with an empty cache."""
    return TableCounter(name, vocabulary_path(name))


def _repeat(unit: str, size: int) -> str:
    return unit * (size // len(unit.encode()))


def _draw(alphabet: str, size: int) -> str:
    rng = Random(5)
    return "".join(rng.choice(alphabet) for _ in range(size // len(alphabet[0].encode())))
