"""Segments of a store, as the items of a section (language.md §4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.diag.findings import Diagnostic, count_noun
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.section import Segments
from promptc.model.sources import Segment, Store
from promptc.model.stages import Gathered, SourceDigest
from promptc.passes.ask_segments import Preference, SegmentQuery, Wish
from promptc.sources.segments.rows import Malformed, Rows
from promptc.text.json import render_canonical_json, render_digest

Read = Callable[[Store, Sequence[Wish], Preference], Rows]

_NAMED = 5


@frozen(eq=False)
class _Answer:
    """What a store gave to all wishes of one preference."""

    preference: Preference
    wishes: tuple[Wish, ...]
    rows: Rows

    def find_part(self, wish: Wish) -> Sequence[Segment]:
        return self.rows.parts[self.wishes.index(wish)]


def gather_segments(section: str, source: Segments, store: Store, asked: Sequence[SegmentQuery], read: Read) -> Gathered:
    """The rows that were asked for, in the order of `each`, then of the store. `read` is called once for every preference."""
    answers = {preference: _answer(store, preference, asked, read) for preference in dict.fromkeys(one.preference for one in asked)}
    values: list[dict[str, Any]] = []
    elements: list[Any] = []
    refused = 0
    for one in asked:
        for row in answers[one.preference].find_part(one.wish):
            item = describe_segment(row)
            if source.where is None or source.where.evaluate({**one.names, "item": item}):
                values.append(item)
                elements.append(one.names["each"] if source.each is not None else None)
            else:
                refused += 1
    found = list(answers.values())
    return Gathered(
        values=tuple(values),
        elements=tuple(elements) if source.each is not None else (),
        left_out=_count_left_out(found, refused),
        account=_describe(source, values, found),
        digests=tuple(SourceDigest("store", store.name, _digest(answer.rows)) for answer in found),
        warnings=tuple(_warn(section, source, store, found)),
    )


def describe_segment(row: Segment) -> dict[str, Any]:
    """The item a template sees."""
    return {
        "id": row.id,
        "scope": row.scope,
        "ref_id": row.ref_id,
        "content": row.content,
        "metadata": row.metadata,
        "locale": row.locale,
        "version": row.version,
    }


def _answer(store: Store, preference: Preference, asked: Sequence[SegmentQuery], read: Read) -> _Answer:
    wishes = tuple(dict.fromkeys(one.wish for one in asked if one.preference == preference))
    return _Answer(preference, wishes, read(store, wishes, preference))


def _count_left_out(answers: Sequence[_Answer], refused: int) -> dict[str, int]:
    counts = {
        "inactive": max((one.rows.inactive for one in answers), default=0),
        "malformed": len(_list_malformed(answers)),
        "other_variant": sum(one.rows.passed_over for one in answers),
        "other_locale": sum(len(one.rows.foreign) for one in answers),
        "source": refused,
    }
    return {stage: count for stage, count in counts.items() if count}


def _list_malformed(answers: Sequence[_Answer]) -> list[Malformed]:
    return list(dict.fromkeys(one for answer in answers for one in answer.rows.malformed))


def _describe(source: Segments, values: Sequence[dict[str, Any]], answers: Sequence[_Answer]) -> dict[str, Any]:
    return {
        "kind": "segments",
        "store": source.store,
        "scope": source.scope,
        "asked": [
            {"refs": _list_refs(one.wishes), "locales": list(one.preference.locales), "version": one.preference.version} for one in answers
        ],
        "ids": [value["id"] for value in values],
        "malformed": [{"id": one.id, "why": one.why} for one in _list_malformed(answers)],
    }


def _list_refs(wishes: Sequence[Wish]) -> list[str] | None:
    """None for the whole scope."""
    refs: dict[str, None] = {}
    for _, some in wishes:
        if some is None:
            return None
        refs.update(dict.fromkeys(some))
    return list(refs)


def _digest(rows: Rows) -> str:
    """Of what was read, whichever database holds it."""
    text = render_canonical_json([describe_segment(row) for row in rows.rows])
    return render_digest(text.encode("utf-8", "surrogatepass"))


def _warn(section: str, source: Segments, store: Store, answers: Sequence[_Answer]) -> list[Diagnostic]:
    malformed = _list_malformed(answers)
    if not malformed:
        return []
    named = "; ".join(f"`{one.id}`: {one.why}" for one in malformed[:_NAMED])
    more = f"; and {len(malformed) - _NAMED} more" if len(malformed) > _NAMED else ""
    rows = count_noun(len(malformed), "malformed row")
    message = f"`{section}` leaves out {rows} of the store `{store.name}`, scope `{source.scope}`: {named}{more}"
    return [Diagnostic("PC0553", message, source.span, "mend them; `promptc segments check` lists all", "warn")]
