"""A whole process: `promptc render` compared to a plain script, to one that only imports click, and to one that does nothing."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.blocks import make_transcript
from benchmarks.measure import Scale, begin, show, time_turns

_ROOT = Path(__file__).parents[1]
_SENTINEL = _ROOT / "packs/sentinel/pack.yaml"
_KEPT = _ROOT / "benchmarks/kept/pack.yaml"
_BLOCKS, _WORDS = 100, 45
_ROUNDS = 11
# The pack, the name of the rank file in tiktoken's cache, and how many times faster than the script: a new state, one seen before.
_VOCABULARIES = {
    "cl100k_base": (_KEPT, "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", 5, 7),
    "o200k_base": (_ROOT / "benchmarks/kept/o200k.yaml", "fb374d419588a4632f3f557e76b4b70aebbca790", 7, 9),
}
_UNSEEN_LIMIT, _SEEN_LIMIT = 1.7, 1.2
_PEER = "a plain script"


class _Bench:
    """New processes in a folder with their states, their compile caches and tiktoken's rank file."""

    def __init__(self, folder: Path, vocabulary: str, rounds: int) -> None:
        self._folder = folder
        self._vocabulary = vocabulary
        self._pack, ranks, *_ = _VOCABULARIES[vocabulary]
        shutil.copy(_ROOT / f"tools/ranks/{vocabulary}.tiktoken", folder / ranks)
        self._seen, *unseen = (self._write_state(seed) for seed in range(rounds + 2))
        self._unseen = iter(unseen)

    def list_works(self) -> dict[str, Callable[[], object]]:
        """Return the works that are run in turns."""
        return {
            "pass": lambda: self._run(sys.executable, "-c", "pass"),
            "click": lambda: self._run(sys.executable, "-c", "import click"),
            "plain": lambda: self.run_plain(self._seen),
            "unseen": lambda: self.run_promptc(next(self._unseen)),
            "seen": lambda: self.run_promptc(self._seen),
            "cold": self._run_cold,
        }

    def check_outputs(self) -> int:
        """Check that the script, a first and a second render make the same prompt, and return its bytes."""
        plain, first, second = self.run_plain(self._seen), self.run_promptc(self._seen), self.run_promptc(self._seen)
        if not plain == first == second:
            sys.exit(f"{self._vocabulary}: the plain script makes another prompt")
        return len(plain)

    def run_plain(self, state: Path) -> bytes:
        """Return the prompt of the plain script."""
        script = _ROOT / "benchmarks/plain_script.py"
        return self._run(sys.executable, str(script), str(_SENTINEL), str(_KEPT), str(state), self._vocabulary)

    def run_promptc(self, state: Path, cache: str = "cache") -> bytes:
        """Return the prompt of `promptc render`."""
        return self._run(str(Path(sys.executable).parent / "promptc"), "render", str(self._pack), str(state), cache=cache)

    def _run_cold(self) -> bytes:
        shutil.rmtree(self._folder / "none", ignore_errors=True)
        return self.run_promptc(self._seen, cache="none")

    def _run(self, *command: str, cache: str = "cache") -> bytes:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self._folder / cache), "TIKTOKEN_CACHE_DIR": str(self._folder)}
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout

    def _write_state(self, seed: int) -> Path:
        """Write a campaign in play with a transcript of its own, and return its path."""
        state = json.loads((_ROOT / "fixtures/sentinel/base/table.json").read_text(encoding="utf-8"))
        state["transcript"] = make_transcript(_BLOCKS, _WORDS, seed=7000 + seed)
        path = self._folder / f"state-{seed}.json"
        path.write_text(json.dumps(state), encoding="utf-8")
        return path


def bench_cold(scale: Scale) -> None:
    """Print the ratios of whole processes for each vocabulary; each is the median of the ratios in each turn."""
    rounds = scale.choose(_ROUNDS, 1)
    for vocabulary, (_, _, unseen, seen) in _VOCABULARIES.items():
        with tempfile.TemporaryDirectory() as folder:
            bench = _Bench(Path(folder), vocabulary, rounds)
            size = bench.check_outputs()
            taken = time_turns(bench.list_works(), rounds, clock=time.perf_counter)
        begin(f"Cold: a new process, sentinel with {_BLOCKS} blocks kept ({size} bytes), {vocabulary}")
        for name, label in _LABELS.items():
            show(label, taken[name], ".0f ms")
        show("plain script / promptc, never seen", taken.ratio("plain", "unseen"), ".2f x", at_least=unseen, peer=_PEER)
        show("plain script / promptc, seen before", taken.ratio("plain", "seen"), ".2f x", at_least=seen, peer=_PEER)
        show("promptc / import click, never seen", taken.ratio("unseen", "click"), ".2f x", at_most=_UNSEEN_LIMIT)
        show("promptc / import click, seen before", taken.ratio("seen", "click"), ".2f x", at_most=_SEEN_LIMIT)
        show("promptc / python -c pass, seen before", taken.ratio("seen", "pass"), ".2f x")
        show("promptc without its cache / plain script", taken.ratio("cold", "plain"), ".2f x", peer=_PEER, way="ours / theirs")


_LABELS = {
    "pass": "python -c pass",
    "click": "python -c 'import click'",
    "plain": "plain script",
    "unseen": "promptc render, state never seen",
    "seen": "promptc render, state seen before",
    "cold": "promptc render, nothing in its cache",
}
