"""Where paragraphs, sentences, lines, words and tokens of a text end."""

import re
from collections.abc import Callable, Iterator, Sequence

from promptc.diag.typed import Literal, NamedTuple
from promptc.text.compile_later import compile_later
from promptc.text.white import WHITE, WHITE_CLASS, is_blank

Boundary = Literal["paragraph", "sentence", "line", "word", "token"]
TokenEnds = Sequence[int] | Callable[[], Sequence[int]]

BOUNDARIES: tuple[Boundary, ...] = ("paragraph", "sentence", "line", "word", "token")

_WHITE = compile_later(f"[{WHITE_CLASS}]+")
_LINE_END = compile_later(r"\r\n|\r|\n")
_SENTENCE = compile_later("([.!?…。！？]+)[\"'”’»›)\\]}」』）】*_]*")
_UNSPACED = "。！？"


class Gap(NamedTuple):
    """What lies between two units: `stop`, the end of the one before, and `start`, the beginning of the next; between them is white
    space."""

    stop: int
    start: int


def iter_gaps(text: str, boundary: Boundary, region: tuple[int, int], token_ends: TokenEnds) -> Iterator[Gap]:
    """The gaps between the units of `text` inside `region`, in order. The region begins and ends with something that is not white."""
    if boundary == "sentence":
        return _iter_sentence_gaps(text, region)
    if boundary == "token":
        return _iter_token_gaps(text, region, token_ends() if callable(token_ends) else token_ends)
    line_ends = {"word": 0, "line": 1, "paragraph": 2}[boundary]
    runs = (found.span() for found in _WHITE.finditer(text, *region))
    return (Gap(stop, start) for stop, start in runs if not line_ends or len(_LINE_END.findall(text, stop, start)) >= line_ends)


def find_region(text: str) -> tuple[int, int]:
    """Where `text` begins and ends without the white space around it."""
    return len(text) - len(text.lstrip(WHITE)), len(text.rstrip(WHITE))


def _iter_sentence_gaps(text: str, region: tuple[int, int]) -> Iterator[Gap]:
    for found in _SENTENCE.finditer(text, *region):
        stop = found.end()
        white = _WHITE.match(text, stop)
        if stop < region[1] and (white or found[1][-1] in _UNSPACED) and not _is_label(text, found):
            yield Gap(stop, white.end() if white else stop)


def _is_label(text: str, found: re.Match[str]) -> bool:
    """A full stop after a digit (`3. `) or a single capital (`J. `) ends no sentence."""
    if found[1] != "." or found.start() == 0:
        return False
    before, earlier = text[found.start() - 1], text[max(found.start() - 2, 0) : found.start() - 1]
    return before.isdigit() or (before.isupper() and not earlier.isalpha())


def _iter_token_gaps(text: str, region: tuple[int, int], ends: Sequence[int]) -> Iterator[Gap]:
    first, last = region
    seen = solid = white_end = first  # solid: the end of the last that is not white, up to `seen`
    for end in ends:
        if not first < end < last:
            continue
        solid = seen + len(text[seen:end].rstrip(WHITE)) if not is_blank(text[seen:end]) else solid
        seen = end
        if end >= white_end:
            white = _WHITE.match(text, end)
            white_end = white.end() if white else end
        if solid > first:
            yield Gap(solid, max(end, white_end))
