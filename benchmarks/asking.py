"""A whole process whose pack queries a store or an index, compared to one that makes the same prompt from its state alone."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

import promptc
from benchmarks.measure import Scale, begin, show, time_turns
from promptc.cache import VARIABLE
from promptc.diag.typed import Any
from promptc.frontend.corpus import build_corpus
from promptc.frontend.segments import load_segments
from promptc.model.sources import CorpusIndex
from promptc.sources.address import read_address
from promptc.sources.retrieval.encoder import MissingEncoder, load_encoder
from promptc.sources.segment_store import SegmentStore

_ROOT = Path(__file__).parents[1]
_VESPER = _ROOT / "fixtures/worldarchitect/base/vesper.json"
_NIGHT = _ROOT / "fixtures/whispercross/base/night.json"
_ROUNDS = 11
_FEW = 4
"""The number of pages in a small run, and of lines that no page answers."""

_WARM = 3
"""The renders before the measurement: the first compiles, the second caches its modules. A small run measures the first."""

_BY_VECTORS = ("weights", "vectors", "asked", "lead")
"""The keys that an index by words alone does not have."""

_QUESTION = "I ask Wenna about the {} by the ferry, and whether the dying roll again after healing"
_THINGS = "lamp rope coin ferry bell ghost ledger crown river storm mask hinge tower salt candle oar".split()
_MOST_BY_WORDS, _MOST_BY_VECTORS = 1.5, 4.0


class _Bench:
    """New processes with a cache of their own, and the packs that they render."""

    def __init__(self, folder: Path, *, is_small: bool) -> None:
        self._folder = folder
        self._environment = {**os.environ, VARIABLE: str(folder / "cache"), "XDG_STATE_HOME": str(folder / "states")}
        self.words = self._copy_archive("words", has_vectors=False, is_small=is_small)
        self.vectors = self._copy_archive("vectors", has_vectors=True, is_small=is_small)
        self.store = folder / "store"
        shutil.copytree(_ROOT / "packs/whispercross", self.store)
        SegmentStore(read_address(f"sqlite:{self.store}/segments.db")).write(load_segments(self.store / "segments"))

    def render(self, pack: Path, state: Path, *changes: str) -> bytes:
        """Run `promptc render` and return the prompt."""
        given = [part for change in changes for part in ("--set", change)]
        command = [str(Path(sys.executable).parent / "promptc"), "render", str(pack), str(state), "--quiet", *given]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=self._environment).stdout

    def make_twin(self, pack: Path, state: Path) -> tuple[Path, Path]:
        """Return a pack without sources, and a state that contains what the sources return to `pack`. Both packs make the same prompt."""
        twin = self._folder / f"{pack.name} alone"
        raw = json.loads(state.read_bytes())
        selected = promptc.load(pack).compile(raw).fitted.strained.selection.sections
        stored = {one.section.id: list(one.gathered.values) for one in selected if one.gathered is not None}
        shutil.copytree(pack, twin, ignore=shutil.ignore_patterns("data", "*.db"))
        manifest = yaml.safe_load((twin / "pack.yaml").read_text(encoding="utf-8"))
        for name in ("stores", "indexes"):
            manifest.pop(name, None)
        for section in manifest["sections"]:
            if isinstance(section.get("items", {}).get("from"), dict):
                section["items"]["from"] = f"state.stored.{section['id']}" if section["id"] in stored else "[]"
        (twin / "pack.yaml").write_text(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True), encoding="utf-8")
        _let_state_hold(twin / manifest["state"]["schema"])
        (twin / "state.json").write_text(json.dumps({**raw, "stored": stored}), encoding="utf-8")
        return twin, twin / "state.json"

    def _copy_archive(self, name: str, *, has_vectors: bool, is_small: bool) -> Path:
        pack = self._folder / name
        shutil.copytree(_ROOT / "packs/worldarchitect", pack, ignore=shutil.ignore_patterns("data"))
        if is_small:
            shutil.rmtree(pack / "prompt_archive/1.0")
            for page in sorted((pack / "prompt_archive").rglob("*.md"))[_FEW:]:
                page.unlink()
            _keep_lines(pack / "prompt_archive/1.1")
        if not has_vectors:
            _drop_keys(pack / "pack.yaml", _BY_VECTORS)
        loaded = promptc.load(pack)
        encoder = load_encoder("minilm-int8") if has_vectors else None
        if isinstance(encoder, MissingEncoder):
            sys.exit(encoder.reason)
        for index in loaded.model.indexes:
            if isinstance(index, CorpusIndex):
                list(build_corpus(index, count=loaded.counter.measure, counter=loaded.counter.digest, load_encoder=lambda: encoder))
        return pack


def _drop_keys(manifest: Path, keys: tuple[str, ...]) -> None:
    given = yaml.safe_load(manifest.read_text(encoding="utf-8"))
    given["indexes"]["archive"] = {key: value for key, value in given["indexes"]["archive"].items() if key not in keys}
    manifest.write_text(yaml.safe_dump(given, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _keep_lines(archive: Path) -> None:
    """Remove the asked lines of pages that are gone, and most of those that no page answers."""
    file = archive / "asked.tsv"
    pages = {path.relative_to(archive).as_posix() for path in archive.rglob("*.md")}
    lines = [(line, set(re.findall(r"[\w/-]+\.md(?=#)", line))) for line in file.read_text(encoding="utf-8").splitlines(keepends=True)]
    idle = [line for line, answers in lines if not answers][:_FEW]
    file.write_text("".join([*idle, *(line for line, answers in lines if answers and answers <= pages)]), encoding="utf-8")


def _let_state_hold(path: Path) -> None:
    schema: dict[str, Any] = json.loads(path.read_bytes())
    schema["properties"]["stored"] = {"type": "object", "additionalProperties": {"type": "array"}}
    path.write_text(json.dumps(schema), encoding="utf-8")


def bench_asking(scale: Scale) -> None:
    """Print the cost of a repeated question and of a new one, as ratios of whole processes."""
    begin("Asking: a new process, warm, against one that makes the same prompt of its state alone")
    with tempfile.TemporaryDirectory() as folder:
        bench = _Bench(Path(folder), is_small=scale.is_small)
        _compare(bench, scale, "worldarchitect by words", bench.words, _VESPER, _ask_player, _MOST_BY_WORDS)
        _compare(bench, scale, "worldarchitect with vectors", bench.vectors, _VESPER, _ask_player, _MOST_BY_VECTORS)
        _compare(bench, scale, "whispercross, a store in SQLite", bench.store, _NIGHT, _ask_locale, _MOST_BY_WORDS)


def _ask_player() -> Iterator[str]:
    for number in range(1_000_000):
        yield f'/input="{_QUESTION.format(_THINGS[number % len(_THINGS)])} {number}"'


def _ask_locale() -> Iterator[str]:
    """Yield different questions with the same answer: English, as there is no English of that place."""
    for number in range(1_000_000):
        yield f'/locale="en-{number:04}"'


def _compare(bench: _Bench, scale: Scale, label: str, pack: Path, state: Path, ask: Callable[[], Iterator[str]], limit: float) -> None:
    alone, held = bench.make_twin(pack, state)
    if bench.render(alone, held) != bench.render(pack, state):
        sys.exit(f"{label}: the twin makes another prompt")
    mine, theirs = ask(), ask()
    works: dict[str, Callable[[], object]] = {
        "alone": lambda: bench.render(alone, held),
        "again": lambda: bench.render(pack, state),
        "alone, new": lambda: bench.render(alone, held, next(theirs)),
        "new": lambda: bench.render(pack, state, next(mine)),
    }
    for _ in range(scale.choose(_WARM, 0)):
        for work in works.values():
            work()
    taken = time_turns(works, scale.choose(_ROUNDS, 1), clock=_clock_children)
    show(f"{label}: alone", taken["alone"], ".0f ms")
    for name, base, said in (("again", "alone", "asked before / alone"), ("new", "alone, new", "a new question / alone")):
        show(f"  {said}", taken.ratio(name, base), ".2f x", at_most=limit)


def _clock_children() -> float:
    """Return the processor time of all processes that have ended, in seconds."""
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime
