"""Sources in words: what a section asked and what it was given. For tools that explain a render; none needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import count_noun
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import read_micro, show_score
from promptc.model.stages import Gathered

_STAGES = {
    "inactive": "inactive",
    "malformed": "malformed",
    "other_variant": "of another locale or version",
    "other_locale": "in no preferred locale",
    "source": "that `segments.where` refuses",
    "floor": "under the floor",
    "top": "not among the best",
}
WHYS = {
    "floor": "under the floor",
    "candidates": "not among the best of its index",
    "top": "not among the best",
}
_NAMED = 6


def describe_source(gathered: Gathered) -> str:
    """What was asked, and what the source had and did not give."""
    account = gathered.account
    asked = "; ".join(_iter_segments(account) if account["kind"] == "segments" else _iter_retrieval(account))
    left_out = ", ".join(f"{count} {_STAGES[stage]}" for stage, count in gathered.left_out.items())
    unwanted = f"; `where` refused {gathered.unwanted} before" if gathered.unwanted else ""
    return (f"{asked}; left out: {left_out}" if left_out else asked) + unwanted


def describe_refused(gathered: Gathered) -> tuple[str, ...]:
    """Of the chunks that were scored and not given the best, best first, each with its score and why: a line each."""
    return tuple(f"{_tell_chunk(chunk)}: {WHYS[chunk['why']]}" for chunk in gathered.refused)


def _tell_chunk(chunk: Mapping[str, Any]) -> str:
    boosts = f", boosts {_show_boost(chunk, 3)}" if chunk["boost"] else ""
    where = f" of {chunk['file']}" if chunk["file"] else ""
    score, words, vectors = (show_score(read_micro(chunk[key])) for key in ("score", "words", "vectors"))
    return f"{score} `{chunk['id']}`{where} (words {words}, vectors {vectors}{boosts})"


def _show_boost(chunk: Mapping[str, Any], places: int) -> str:
    micro = read_micro(chunk["boost"])
    return f"{'+' if micro >= 0 else ''}{show_score(micro, places)}"


def describe_value(gathered: Gathered, place: int) -> str:
    """Where one of the values comes from, and for a chunk what its score is made of."""
    value = gathered.values[place]
    if gathered.account["kind"] == "segments":
        told = [f"{name} {value[name]}" for name in ("ref_id", "locale", "version") if value[name] is not None]
        return ", ".join([f"segment `{value['id']}` of the store `{gathered.account['store']}`, scope `{value['scope']}`", *told])
    chunk = gathered.account["chunks"][place]
    score, words, vectors = (show_score(read_micro(chunk[key]), 6) for key in ("score", "words", "vectors"))
    parts = [f"words {words}", f"vectors {vectors}", f"boosts {_show_boost(chunk, 6)}"]
    where = f", {chunk['file']}" if chunk["file"] else ""
    version = f", version {chunk['version']}" if chunk["version"] else ""
    return f"chunk `{chunk['id']}` of the index `{chunk['index']}`{where}{version}\nscore {score}: {', '.join(parts)}"


def _iter_segments(account: Mapping[str, Any]) -> Iterator[str]:
    yield f"store `{account['store']}`, scope `{account['scope']}`"
    for asked in account["asked"]:
        refs = asked["refs"]
        about = "all of it" if refs is None else f"about {_name_few(refs)}"
        locales = f", locale {' → '.join(asked['locales'])}" if asked["locales"] else ""
        yield about + locales + (f", version {asked['version']}" if asked["version"] else "")
    if not account["asked"]:
        yield "nothing was asked"


def _iter_retrieval(account: Mapping[str, Any]) -> Iterator[str]:
    names = dict.fromkeys(index["name"] for index in account["indexes"])
    if not names:
        yield "a query without words retrieves nothing"
        return
    version = f", version {account['version']}" if account["version"] else ""
    yield f"{', '.join(f'`{name}`' for name in names)}{version}, query {show_value(account['query'])}"
    yield f"{count_noun(account['considered'], 'chunk')} scored" + (", sparse" if account["sparse"] else "")
    yield from account["notes"]


def _name_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
