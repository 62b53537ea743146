"""Building an index of documents: `split_document` cuts a document into chunks, `build_index` adds words and vectors.

Sections of a document are joined up to a target size and cut if they exceed the limit, never across files.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby, pairwise
from math import isqrt
from operator import mul

from promptc.diag.findings import Diagnostic, PromptcError, count_noun, shorten, suggest
from promptc.diag.frozen import frozen, replace
from promptc.model.section import MICRO
from promptc.model.sources import Chunk, ChunkPlan, CorpusIndex, Document
from promptc.sources.retrieval.encoder import SCALE, Vector, VectorEncoder
from promptc.sources.retrieval.index import digest_config, digest_corpus
from promptc.sources.retrieval.local import BACKGROUND_UNIT, BuiltIndex, Vectors, list_starts
from promptc.sources.retrieval.retrieve import Answer, KnownAnswer
from promptc.sources.retrieval.scoring import multiply, weigh_words
from promptc.text.characters import is_blank, normalize
from promptc.text.cutting import Boundary, iter_gaps, trim_span
from promptc.text.diff import count_alike

Count = Callable[[str], int]
"""Returns the tokens of a text."""

Progress = Callable[[int, int], None]
"""Receives the number of encoded texts and the total number."""

_ARROW = " > "
_ID = 16
"""The length of a chunk's id, in hexadecimal digits."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = re.compile(r"[*_`]+")
_ORDER: tuple[Boundary, ...] = ("paragraph", "line", "sentence", "word")
_REPEATED: tuple[Boundary, ...] = ("sentence", "line", "word")

_HEADINGS = 200
"""The most headings by which the background of vectors is measured."""

_ROUNDS = 3
"""How often a build looks at each line to learn the direction from idle to asked lines."""

_MARGIN = 10
"""How far a line must be on its side, or the direction is turned towards it."""

_MOST_WORKERS = 8
_FEW = 16
"""The number of sections in a chunk up to which each is tried in turn."""


def build_index(
    index: CorpusIndex,
    documents: Sequence[Document],
    *,
    count: Count,
    counter: str,
    asked: AskedLines | None = None,
    encoder: VectorEncoder | None = None,
    earlier: BuiltIndex | None = None,
    progress: Progress = lambda done, total: None,
) -> BuiltIndex:
    """Build the index of `documents`, which must be in the order of their paths.

    The vectors of unchanged texts are taken from `earlier`, but the result does not depend on it. `progress` receives how many of the texts
    to encode are done. Raises `PromptcError` (PC0196) if no chunk contains an answer of `asked`, or if a query has an answer in one line
    and none in another.
    """
    split = [chunk for document in documents for chunk in split_document(document, index.chunk, count)]
    chunks = tuple(sorted(split, key=lambda chunk: (chunk.version, chunk.file.encode("utf-8", "surrogatepass"), chunk.ordinal)))
    files = documents if asked is None else (*documents, asked.file)
    chunks, idle = _give_asked(chunks, asked) if asked is not None else (chunks, ())
    return BuiltIndex(
        index.name,
        digest_config(index, counter),
        digest_corpus(files),
        tuple((document.file, document.digest) for document in files),
        chunks,
        weigh_words(chunks),
        encode_chunks(chunks, idle, encoder, earlier, progress) if encoder is not None else None,
        idle=idle,
    )


@frozen
class AskedLines:
    """A file of asked lines: the file itself, and its lines."""

    file: Document
    lines: tuple[KnownAnswer, ...]


def _give_asked(chunks: Sequence[Chunk], asked: AskedLines) -> tuple[tuple[Chunk, ...], tuple[str, ...]]:
    """Return the chunks with the asked lines that each answers, in the file's order, and the lines that have no answer."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, chunk in enumerate(chunks):
        names, parts = dict.fromkeys(map(normalize, chunk.covers)), chunk.file.split("/")
        for end in ("/".join(parts[start:]) for start in range(len(parts))):  # an answer names a file by the end of its path
            for name in names:
                places.setdefault((end, name), []).append(place)
    given: list[dict[str, None]] = [{} for _ in chunks]
    lost: dict[Answer, list[KnownAnswer]] = {}
    for line in asked.lines:
        for answer in line.answers:
            right = places.get((answer.file, normalize(answer.heading)), ())
            for place in right:
                given[place][line.query] = None
            if not right:
                lost.setdefault(answer, []).append(line)
    idle = tuple(dict.fromkeys(line.query for line in asked.lines if not line.answers))
    answered = {line.query for line in asked.lines if line.answers}
    wrong = [_refuse_answer(lines, answer, chunks) for answer, lines in lost.items()]
    wrong += [_refuse_both(line) for line in asked.lines if not line.answers and line.query in answered]
    if wrong:
        raise PromptcError(wrong)
    return tuple(replace(chunk, asked=tuple(lines)) for chunk, lines in zip(chunks, given, strict=True)), idle


def _refuse_both(line: KnownAnswer) -> Diagnostic:
    message = f"`{shorten(line.query)}` has no answer in this line, but has one in another line"
    return Diagnostic("PC0196", message, line.span, "remove one of the two lines")


def _refuse_answer(lines: Sequence[KnownAnswer], answer: Answer, chunks: Sequence[Chunk]) -> Diagnostic:
    """Return one diagnostic for all lines of an answer: a renamed page is one mistake, however many lines name it."""
    inside = [chunk for chunk in chunks if answer.is_of(chunk.file)]
    names = [name for chunk in inside for name in chunk.covers] if inside else [chunk.file for chunk in chunks]
    wrong = f"`{answer.file}` has no heading `{answer.heading}` with text under it" if inside else f"the corpus has no file `{answer.file}`"
    help = suggest(answer.heading if inside else answer.file, dict.fromkeys(names)) or "correct the line, or remove it"
    more = f" and {count_noun(len(lines) - 1, 'line')} more" if len(lines) > 1 else ""
    return Diagnostic("PC0196", f"no chunk contains the answer to `{shorten(lines[0].query)}`{more}: {wrong}", lines[0].span, help)


def encode_chunks(
    chunks: Sequence[Chunk], idle: Sequence[str], encoder: VectorEncoder, earlier: BuiltIndex | None, progress: Progress
) -> Vectors:
    """Return the vectors of chunks, of their asked lines and of `idle` lines, with what is learned and measured of them."""
    headings = _choose_headings(chunks)
    texts = [*_iter_encoded(chunks), *idle]
    known = _load_known(encoder, earlier)
    missing = sorted({text for text in (*texts, *headings) if text not in known})
    for done, (text, vector) in enumerate(zip(missing, _encode(encoder, missing), strict=True), 1):
        known[text] = vector
        progress(done, len(missing))
    values = array("h")
    for text in texts:
        values.extend(known[text])
    background = measure_background(chunks, values, {heading: known[heading] for heading in headings}, encoder.size)
    asked = dict.fromkeys(line for chunk in chunks for line in chunk.asked)
    direction, middle = learn_direction([known[line] for line in asked], [known[line] for line in idle], encoder.size)
    if idle:
        values.extend(direction)
    return Vectors(encoder.id, encoder.digest, encoder.size, background, values, middle)


def _choose_headings(chunks: Sequence[Chunk]) -> list[str]:
    """Return at most 200 headings, chosen by their digests: no part of a corpus is preferred, and the choice is not random."""
    names = {name for chunk in chunks for name in chunk.covers}
    return sorted(names, key=lambda name: (sha256(name.encode("utf-8", "surrogatepass")).digest(), name))[:_HEADINGS]


def _load_known(encoder: VectorEncoder, earlier: BuiltIndex | None) -> dict[str, Vector]:
    vectors = earlier.vectors if earlier is not None else None
    if earlier is None or vectors is None or (vectors.encoder, vectors.digest) != (encoder.id, encoder.digest):
        return {}
    texts = [*_iter_encoded(earlier.chunks), *earlier.idle]
    return {text: vectors.values[place * vectors.size : (place + 1) * vectors.size] for place, text in enumerate(texts)}


def _iter_encoded(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Yield the texts that are encoded for each chunk in turn: first its own text, then its asked lines."""
    for chunk in chunks:
        yield render_indexed(chunk.heading, chunk.text)
        yield from chunk.asked


def _encode(encoder: VectorEncoder, texts: Sequence[str]) -> Iterator[Vector]:
    """Yield the vectors in order. Each text is encoded separately and by one thread, but several at a time, one for each processor."""
    workers = min(os.cpu_count() or 1, _MOST_WORKERS, len(texts))
    if workers < 2:
        yield from map(encoder.encode, texts)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(encoder.encode, texts)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def measure_background(chunks: Sequence[Chunk], values: array[int], headings: Mapping[str, Vector], size: int) -> int:
    """Return the mean product of headings with chunks that they do not belong to, in 1/10000, rounded halves up; 0 if there are none.

    It is less than 1 even if all texts are the same to the encoder, as `Reset` and `RESET` are.
    """
    texts = array("h")
    for start in list_starts(chunks)[:-1]:
        texts.extend(values[start * size : (start + 1) * size])
    total = pairs = 0
    for heading, vector in sorted(headings.items()):
        for chunk, product in zip(chunks, multiply(texts, vector), strict=True):
            if heading not in chunk.heading and heading not in chunk.covers:
                total, pairs = total + product, pairs + 1
    under = max(pairs, 1) * SCALE * SCALE
    return min(max(0, (2 * total * BACKGROUND_UNIT + under) // (2 * under)), BACKGROUND_UNIT - 1)


def learn_direction(asked: Sequence[Vector], idle: Sequence[Vector], size: int) -> tuple[Vector, int]:
    """Return the direction from idle to asked lines, as a vector, and the product with it that is in the middle of both sides.

    This is an averaged perceptron with a margin, in whole numbers. Both sides take turns, as their numbers allow, and weigh the same. If
    a side is empty, the direction is zero.
    """
    one, weight = SCALE * SCALE, max(len(asked) // max(len(idle), 1), 1)
    sides = [(place * len(idle), 1, vector) for place, vector in enumerate(asked)]
    sides += [(place * len(asked), -weight, vector) for place, vector in enumerate(idle)]
    lines = sorted(sides, key=lambda line: (line[0], -line[1])) if asked and idle else []
    current, total, bias, left = [0] * size, [0] * size, 0, _ROUNDS * len(lines)
    for _, step, vector in lines * _ROUNDS:
        product = sum(map(mul, current, vector)) + bias
        if (product if step > 0 else -product) < _MARGIN * one:
            bias += step * one // 2
            current = [value + step * part for value, part in zip(current, vector, strict=True)]
            total = [value + step * left * part for value, part in zip(total, vector, strict=True)]
        left -= 1
    length = max(isqrt(sum(map(mul, total, total))), 1)
    direction = array("h", [(2 * value * SCALE + length) // (2 * length) for value in total])
    ours, theirs = (sum(sum(map(mul, direction, vector)) for vector in side) for side in (asked, idle))
    return direction, (ours * len(idle) + theirs * len(asked)) // max(2 * len(asked) * len(idle), 1)


def split_document(document: Document, plan: ChunkPlan, count: Count) -> tuple[Chunk, ...]:
    """Return the chunks of `document` in order. `count` returns the tokens of a text.

    No chunk has more than `plan.most` tokens, including its heading path. Adjacent sections with the same first heading are joined, if they
    fit, until they reach `plan.least`. A section that does not fit is cut into parts of about equal size; only these parts repeat text.
    """
    title = str(document.metadata.get("title") or document.file.rpartition("/")[2].rpartition(".")[0])
    parts = split_sections(document.text, title)
    drafts = [draft for group in _gather(parts, plan, count) for draft in _write(group, plan, count)]
    return tuple(_finish(document, place, draft, count) for place, draft in enumerate(drafts))


def render_indexed(heading: Sequence[str], text: str) -> str:
    """Return the text of a chunk that is encoded and counted: its heading path on one line, then its text."""
    return f"{_ARROW.join(heading)}\n\n{text}" if heading else text


@frozen
class _Draft:
    """A chunk in the making: its heading path, the headings it covers, and its text."""

    heading: tuple[str, ...]
    covers: tuple[str, ...]
    text: str


def _gather(parts: Sequence[HeadingPart], plan: ChunkPlan, count: Count) -> Iterator[tuple[HeadingPart, ...]]:
    """Yield groups of adjacent sections that form one chunk, if they fit. A group has one first heading."""
    for _, some in groupby(parts, key=lambda part: part.path[0]):
        run, start = tuple(some), 0
        while start < len(run):
            stop = _locate_stop(run, start, plan, count)
            yield run[start:stop]
            start = stop


def _locate_stop(run: tuple[HeadingPart, ...], start: int, plan: ChunkPlan, count: Count) -> int:
    """Return where the group that begins at `start` stops.

    A group below its target accepts what fits, and a heading without text its first section. After the first `_FEW` sections, the place is
    found by steps that double, and then by halves: a longer group has no fewer tokens, and a thousand sections are not counted a thousand
    times.
    """

    def is_full(stop: int) -> bool:
        group = run[start:stop]
        is_short = not any(one.text for one in group) or _measure(group, count) < plan.least
        return not is_short or _measure(run[start : stop + 1], count) > plan.most

    first, stop, step = start + 1, start + 1, 1
    while stop < len(run) and not is_full(stop):
        first, stop, step = stop + 1, stop + step, 2 * step if stop - start > _FEW else 1
    return bisect_left(range(len(run)), True, first, min(stop, len(run)), key=is_full)


def _measure(group: tuple[HeadingPart, ...], count: Count) -> int:
    heading = _shared_heading(group)
    return count(render_indexed(heading, _join(group, heading)))


def _shared_heading(group: tuple[HeadingPart, ...]) -> tuple[str, ...]:
    """Return the heading path that all text of the group has in common."""
    paths = [one.path for one in group if one.text] or [one.path for one in group]
    first, last = min(paths), max(paths)
    return first[: count_alike(first, last)]


def _join(group: tuple[HeadingPart, ...], heading: tuple[str, ...]) -> str:
    """Return the text of the sections, with those heading lines that are not in the path."""
    blocks = [block for one in group for block in (("" if heading[: len(one.path)] == one.path else one.line), one.text) if block]
    return "\n\n".join(blocks)


def _write(group: tuple[HeadingPart, ...], plan: ChunkPlan, count: Count) -> Iterator[_Draft]:
    """Yield the chunk of a group, or the parts of a section that does not fit."""
    if not any(one.text for one in group):
        return
    heading = _clip_heading(_shared_heading(group), plan.most // 2, count)
    covers = tuple(dict.fromkeys(one.path[-1] for one in group))
    text = _join(group, _shared_heading(group))
    room = plan.most - count(render_indexed(heading, ""))
    fits = count(render_indexed(heading, text)) <= plan.most
    for piece in (text,) if fits else cut_body(text, room, room * plan.overlap // MICRO, count):
        yield _Draft(heading, covers, piece)


def _clip_heading(heading: tuple[str, ...], room: int, count: Count) -> tuple[str, ...]:
    """Return the path without its first headings if it exceeds `room` tokens.

    If the last heading alone exceeds it, only as many of its first words are kept as fit after repeated halving.
    """
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


@frozen
class HeadingPart:
    """A heading's own text, up to the next heading of any level.

    `path` has the headings above it and, last, the heading itself. `line` is the heading as it was written; empty before the first heading.
    """

    path: tuple[str, ...]
    line: str
    text: str


def split_sections(text: str, title: str) -> tuple[HeadingPart, ...]:
    """Return the parts of `text` in order; text without a heading gets the heading `title`. Line ends must be `\\n`.

    Only ATX headings count: lines that begin with `#`, outside of fenced code. A part that is only white space is kept if it has a heading.
    """
    parts: list[HeadingPart] = []
    open_headings: list[tuple[int, str]] = []
    line, lines, fence = "", list[str](), ""

    def close() -> None:
        body = "\n".join(lines).strip("\n").rstrip()
        if line or not is_blank(body):
            parts.append(HeadingPart(tuple(name for _, name in open_headings) or (title,), line, body))

    for one in text.split("\n"):
        fence = _follow_fence(one, fence)
        found = None if fence else _HEADING.fullmatch(one)
        if found is None:
            lines.append(one.rstrip())
            continue
        close()
        level, name = len(found[1]), _plain_title(found[2] or "")
        open_headings = [(above, kept) for above, kept in open_headings if above < level] + [(level, name or title)]
        line, lines = one.strip(), []
    close()
    return tuple(parts)


def _follow_fence(line: str, fence: str) -> str:
    """Return the mark of the code fence that is open after `line`; empty if none is."""
    found = _FENCE.match(line)
    if fence:
        closes = found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0])
        return "" if closes else fence
    return found[1] if found is not None else ""


def _plain_title(title: str) -> str:
    """Return a heading without the marks of emphasis and code."""
    return " ".join(_MARKS.sub("", title).split())


def cut_body(text: str, room: int, overlap: int, count: Count) -> list[str]:
    """Return `text` in parts of about equal size, in order, each of at most `room` tokens (but at least one character).

    Every character that is not white space is in a part. The end of a part, up to `overlap` tokens, is repeated at the beginning of the
    next.
    """
    room, overlap = max(room, 1), min(overlap, room // 2)
    start, stop = trim_span(text)
    units = _cut(text, start, stop, 0, max(room - overlap, 1), count)
    spans = _pack(text, units, max(room - overlap, 1), count)
    pieces = [text[spans[0][0] : spans[0][1]]] if spans else []
    for before, own in pairwise(spans):
        pieces.append(text[_choose_overlap(text, before, own, overlap, room, count) : own[1]])
    return pieces


@frozen
class _Unit:
    """A stretch of the text: its start, its end, and its tokens."""

    start: int
    stop: int
    tokens: int


def _cut(text: str, start: int, stop: int, level: int, room: int, count: Count) -> list[_Unit]:
    """Return units that fit, as coarse as possible."""
    tokens = count(text[start:stop])
    if tokens <= room or stop - start <= 1:
        return [_Unit(start, stop, tokens)]
    if level == len(_ORDER):
        middle = (start + stop) // 2
        spans = [(start, middle), (middle, stop)]
    else:
        spans = _list_spans(text, start, stop, _ORDER[level])
        level += 1
    return [unit for first, last in spans for unit in _cut(text, first, last, level, room, count)]


def _list_spans(text: str, start: int, stop: int, boundary: Boundary) -> list[tuple[int, int]]:
    gaps = list(iter_gaps(text, boundary, (start, stop), ()))
    firsts = [start, *(gap.start for gap in gaps)]
    lasts = [*(gap.stop for gap in gaps), stop]
    return [(first, last) for first, last in zip(firsts, lasts, strict=True) if last > first]


def _pack(text: str, units: Sequence[_Unit], room: int, count: Count) -> list[tuple[int, int]]:
    """Join adjacent units up to an equal share of the whole."""
    total = sum(unit.tokens for unit in units)
    share = -(-total // -(-total // room))
    spans: list[tuple[int, int]] = []
    filled = room + 1
    for unit in units:
        start = spans[-1][0] if spans else 0
        if filled < share and filled + unit.tokens <= room + 1 and (joined := count(text[start : unit.stop])) <= room:
            spans[-1], filled = (start, unit.stop), joined
        else:
            spans.append((unit.start, unit.stop))
            filled = unit.tokens
    return spans


def _choose_overlap(text: str, before: tuple[int, int], own: tuple[int, int], overlap: int, room: int, count: Count) -> int:
    """Return the start of a part that repeats the end of the previous part, at a sentence, a line or a word."""
    for boundary in _REPEATED if overlap else ():
        best = own[0]
        for gap in reversed(list(iter_gaps(text, boundary, before, ()))):
            if count(text[gap.start : before[1]]) > overlap or count(text[gap.start : own[1]]) > room:
                break
            best = gap.start
        if best < own[0]:
            return best
    return own[0]
