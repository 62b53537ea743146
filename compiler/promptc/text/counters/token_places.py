"""From the bytes where tokens end to the characters."""

from collections.abc import Sequence


def find_token_ends(text: str, ends: Sequence[int]) -> list[int]:
    """The character offsets of those UTF-8 offsets `ends` (rising) that are no part of a character or of a CR LF."""
    if text.isascii():
        return [end for end in ends if not _parts_line_end(text, end)]
    found = []
    place = index = 0
    for end in ends:
        while place < end:
            place += _width(text[index])
            index += 1
        if place == end and not _parts_line_end(text, index):
            found.append(index)
    return found


def _width(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _parts_line_end(text: str, place: int) -> bool:
    return text[place - 1 : place + 1] == "\r\n"
