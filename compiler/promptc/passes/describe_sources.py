"""What a report tells of sources outside the state (language.md §13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.typed import Any
from promptc.model.section import Section, Segments
from promptc.model.stages import Gathered, Selected
from promptc.passes.fit.fit import Fitted
from promptc.text.json import render_digest


def describe_digests(selected: Sequence[Selected]) -> dict[str, dict[str, str]]:
    """One digest for each store and index that was read: of its content as far as it was. What was not read is not there."""
    read = sorted({(one.kind, one.name, one.digest) for each in _iter_gathered(selected) for one in each.digests})
    found: dict[str, dict[str, list[str]]] = {}
    for kind, name, digest in read:
        found.setdefault("stores" if kind == "store" else "indexes", {}).setdefault(name, []).append(digest)
    return {key: {name: _join(digests) for name, digests in by_name.items()} for key, by_name in found.items()}


def describe_segments(fitted: Fitted) -> dict[str, list[str]]:
    """The ids of the segments that are in the prompt, by scope, in its order; each once."""
    found: dict[str, dict[str, None]] = {}
    for fit in fitted.fits.values():
        if _has_segments(fit.section):
            for entry in fit.alive:
                if not entry.is_made:
                    found.setdefault(str(entry.item.value["scope"]), {})[str(entry.item.value["id"])] = None
    return {scope: list(ids) for scope, ids in sorted(found.items())}


def list_sparse(selected: Sequence[Selected]) -> list[str]:
    """The sections that retrieved fewer chunks than they want."""
    return [one.section.id for one in selected if one.gathered is not None and one.gathered.is_sparse]


def describe_source(selected: Selected) -> Mapping[str, Any]:
    """What a section asked and was given; empty where its items come from the state, or nothing was asked."""
    return {"source": dict(selected.gathered.account)} if selected.gathered is not None else {}


def _has_segments(section: Section) -> bool:
    return section.items is not None and isinstance(section.items.source, Segments)


def _iter_gathered(selected: Sequence[Selected]) -> list[Gathered]:
    return [one.gathered for one in selected if one.gathered is not None]


def _join(digests: Sequence[str]) -> str:
    """One digest of several: a store asked several times, or an index in several parts."""
    return digests[0] if len(digests) == 1 else render_digest("\n".join(digests).encode())
