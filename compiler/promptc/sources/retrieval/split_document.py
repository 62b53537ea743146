"""From a document to chunks: sections are put together up to a target and cut where they pass the limit, never across a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk, ChunkPlan, Document
from promptc.sources.retrieval.cut_body import cut_body
from promptc.sources.retrieval.sections import HeadingPart, find_sections

Count = Callable[[str], int]

MICRO = 1_000_000
_ARROW = " > "
_ID = 16


@frozen
class _Draft:
    """A chunk to be: its heading path, the headings it covers, and its text."""

    heading: tuple[str, ...]
    covers: tuple[str, ...]
    text: str


def split_document(document: Document, plan: ChunkPlan, count: Count) -> tuple[Chunk, ...]:
    """The chunks of `document` in order. `count` gives the tokens of a text.

    No chunk with its heading path counts more than `plan.most`. Neighbours under one first heading are put together until they reach
    `plan.least`, if they fit; a section that does not fit is cut into parts of about equal size, the only place where text is repeated.
    """
    title = str(document.metadata.get("title") or document.file.rpartition("/")[2].rpartition(".")[0])
    parts = find_sections(document.text, title)
    drafts = [draft for group in _gather(parts, plan, count) for draft in _write(group, plan, count)]
    return tuple(_finish(document, place, draft, count) for place, draft in enumerate(drafts))


def render_indexed(heading: Sequence[str], text: str) -> str:
    """What is embedded and counted of a chunk: its heading path in one line, then its text."""
    return f"{_ARROW.join(heading)}\n\n{text}" if heading else text


def _gather(parts: Sequence[HeadingPart], plan: ChunkPlan, count: Count) -> Iterator[tuple[HeadingPart, ...]]:
    """Neighbouring sections that go into one chunk, if they fit."""
    group: tuple[HeadingPart, ...] = ()
    for part in parts:
        joined = (*group, part)
        if group and not _joins(group, part, joined, plan, count):
            yield group
            joined = (part,)
        group = joined
    if group:
        yield group


def _joins(group: tuple[HeadingPart, ...], part: HeadingPart, joined: tuple[HeadingPart, ...], plan: ChunkPlan, count: Count) -> bool:
    """A group below its target takes what fits; a heading without a text of its own takes at least its first section."""
    if part.path[0] != group[0].path[0]:
        return False
    is_short = _measure(group, count) < plan.least or not any(one.text for one in group)
    return is_short and _measure(joined, count) <= plan.most


def _measure(group: tuple[HeadingPart, ...], count: Count) -> int:
    heading = _find_shared(group)
    return count(render_indexed(heading, _join(group, heading)))


def _write(group: tuple[HeadingPart, ...], plan: ChunkPlan, count: Count) -> Iterator[_Draft]:
    """The chunk of a group, or the parts of one section that does not fit."""
    if not any(one.text for one in group):
        return
    heading = _clip_heading(_find_shared(group), plan.most // 2, count)
    covers = tuple(dict.fromkeys(one.path[-1] for one in group))
    text = _join(group, _find_shared(group))
    room = plan.most - count(render_indexed(heading, ""))
    fits = count(render_indexed(heading, text)) <= plan.most
    for piece in (text,) if fits else cut_body(text, room, room * plan.overlap // MICRO, count):
        yield _Draft(heading, covers, piece)


def _find_shared(group: tuple[HeadingPart, ...]) -> tuple[str, ...]:
    """The headings that all text of the group stands under."""
    paths = [one.path for one in group if one.text] or [one.path for one in group]
    first, last = min(paths), max(paths)
    depth = next((depth for depth, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), min(len(first), len(last)))
    return first[:depth]


def _join(group: tuple[HeadingPart, ...], heading: tuple[str, ...]) -> str:
    """The sections with those heading lines that the path does not hold."""
    blocks = [block for one in group for block in (("" if heading[: len(one.path)] == one.path else one.line), one.text) if block]
    return "\n\n".join(blocks)


def _clip_heading(heading: tuple[str, ...], room: int, count: Count) -> tuple[str, ...]:
    """The path without its first headings, where it would take more than `room`; of a last one that long, as many words as fit."""
    while len(heading) > 1 and count(_ARROW.join(heading)) > room:
        heading = heading[1:]
    if heading and count(heading[0]) > room:
        words = heading[0].split(" ")
        while words and count(" ".join(words)) > room:
            words = words[: len(words) // 2]
        heading = (" ".join(words),) if words else ()
    return heading


def _finish(document: Document, place: int, draft: _Draft, count: Count) -> Chunk:
    version = str(document.metadata.get("version") or "")
    named = "\0".join((version, document.file, str(place), render_indexed(draft.heading, draft.text)))
    id = sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:_ID]
    tokens = count(render_indexed(draft.heading, draft.text))
    return Chunk(id, document.file, place, draft.heading, draft.covers, draft.text, tokens, document.metadata)
