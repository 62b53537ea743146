"""The sources of a pack, opened to see that they can be read."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median_high

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import frozen
from promptc.frontend.stores import OpenSources
from promptc.model.pack import PackModel
from promptc.model.sources import CorpusIndex


@frozen
class Probed:
    """What is wrong with sources, and for each index over files that can be read the median of its chunks' tokens."""

    found: tuple[Diagnostic, ...]
    medians: Mapping[str, int]


def probe_sources(pack: PackModel, opened: OpenSources, urls: Mapping[str, str]) -> Probed:
    """Opens every store and every index over files, in all its versions."""
    found: list[Diagnostic] = []
    medians: dict[str, int] = {}
    for store in pack.stores:
        try:
            with opened.open_store(store, urls.get(store.name, "")).hold():
                pass
        except PromptcError as error:
            found += error.diagnostics
    for index in pack.indexes:
        if isinstance(index, CorpusIndex):
            try:
                parts = opened.open_corpus(index, None)
            except PromptcError as error:
                found += error.diagnostics
                continue
            sizes = [chunk.tokens for part in parts for chunk in part.store.read_chunks(range(part.store.count))]
            medians |= {index.name: median_high(sizes)} if sizes else {}
    return Probed(tuple(found), medians)
