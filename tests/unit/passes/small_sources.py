"""A store in memory and packs that ask it, for tests of what a section asks and is given."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import promptc
from promptc.model.sources import Segment
from promptc.model.stages import RenderOptions
from promptc.passes.gather import Gatherer
from promptc.pipeline import Outcome, compile_prompt
from promptc.sources.retrieval.local import IndexAtHand
from promptc.sources.retrieval.retrieve import Retriever
from promptc.sources.segments import Malformed, Rows, choose, rank_locales
from promptc.text.counters.counter import Meter

HEAD = "promptc: 1\nname: small\nversion: 1.0.0\ntokenizer: chars/4\n"


@dataclass
class SmallSources:
    """Segments in memory; remembers what it was asked."""

    segments: Sequence[Segment] = ()
    malformed: tuple[Malformed, ...] = ()
    inactive: int = 0
    asked: list[Any] = field(default_factory=list)
    retriever: Retriever = field(default_factory=Retriever)

    def read_segments(self, store, wanted, locales, version):
        self.asked.append((store.name, tuple(wanted), tuple(locales), version))
        parts = tuple(choose(self._find(scope, refs), rank_locales(locales), version).chosen for scope, refs in wanted)
        return Rows(parts, self.inactive, self.malformed)

    def list_refs(self, store, scope):
        self.asked.append((store.name, scope))
        return tuple(sorted({one.ref_id for one in self.segments if one.scope == scope and one.ref_id is not None}))

    def open_entries(self, index, entries, count):
        self.asked.append((index.name, tuple(entry.id for entry in entries)))
        opened = self.retriever.open_entries(index.name, index.matching, entries, count)
        return IndexAtHand(opened.name, opened.fingerprint, "", lambda: opened)

    def ask(self, indexes, request):
        return self.retriever.ask([one.load() for one in indexes], request)

    def _find(self, scope, refs):
        return [one for one in self.segments if one.scope == scope and one.active and (refs is None or one.ref_id in refs)]


def load_small(folder: Path, text: str, budget: int = 1000) -> promptc.Pack:
    """A pack of that manifest, its head left out."""
    (folder / "pack.yaml").write_text(f"{HEAD}budget: {budget}\n{text}", encoding="utf-8")
    return promptc.load(folder)


def compile_small(pack: promptc.Pack, state: dict[str, Any], sources: SmallSources, **asked: Any) -> Outcome:
    """A render that asks these sources."""
    meter = Meter(pack.model.counting.counter)
    return compile_prompt(pack.model, pack.load_state(state), meter, RenderOptions(**asked), lambda bound: Gatherer(bound, sources))


def render_small(pack: promptc.Pack, state: dict[str, Any], sources: SmallSources, **asked: Any) -> str:
    """The text of it."""
    outcome = compile_small(pack, state, sources, **asked)
    assert outcome.emitted is not None
    return outcome.emitted.text
