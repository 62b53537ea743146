"""What the bytes of a picture or a sound say of it: its kind, and its size (`read_picture`) or length (`read_wave`).

Only headers are read, and nothing of them is trusted: a place that they point to may not be there, a length may be a lie. Each reader looks
at a bounded number of places, so that no bytes make it slow, and tells nothing (None) where the bytes do not tell.
"""

import re

from promptc.diag.frozen import frozen

_MOST_SEGMENTS = 4096
"""Segments of a JPEG in front of its frame; a profile or a preview takes some hundreds at most."""

_MOST_CHUNKS = 64
_LARGEST = (1 << 31) - 1
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
"""Markers of a JPEG that no length follows."""

_FILL = re.compile(b"\xff*")


@frozen
class Picture:
    """A picture's media type, and its width and height in pixels, each 1 or more."""

    media_type: str
    width: int
    height: int


def read_picture(data: bytes) -> Picture | None:
    """The picture whose bytes these are: PNG, JPEG, GIF or WebP; None where they are none, or do not tell its size."""
    for start, media_type, read in _READERS:
        if data.startswith(start):
            size = read(data)
            return Picture(media_type, *size) if size is not None and all(0 < side <= _LARGEST for side in size) else None
    return None


def read_wave(data: bytes) -> int | None:
    """The length of a WAV file in thousandths of a second, rounded up; None where its bytes do not tell."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None
    place, rate = 12, 0
    for _ in range(_MOST_CHUNKS):
        name, size, place = data[place : place + 4], _little(data, place + 4, 4), place + 8
        if name == b"fmt " and size >= 16:
            rate = _little(data, place + 8, 4)
        elif name == b"data":
            held = min(size, len(data) - place)  # a stream's length is unknown when its header is written
            return -(-1000 * held // rate) if rate and held > 0 else None
        place += size + size % 2
        if place >= len(data):
            break
    return None


def _read_png(data: bytes) -> tuple[int, int] | None:
    return (_big(data, 16, 4), _big(data, 20, 4)) if data[8:16] == b"\0\0\0\rIHDR" else None


def _read_gif(data: bytes) -> tuple[int, int] | None:
    return (_little(data, 6, 2), _little(data, 8, 2)) if data[3:6] in (b"87a", b"89a") else None


def _read_jpeg(data: bytes) -> tuple[int, int] | None:
    """The size in the header of the first frame, which segments of any other kind may precede."""
    place = 2
    for _ in range(_MOST_SEGMENTS):
        if data[place : place + 1] != b"\xff":
            return None
        filled = _FILL.match(data, place)
        place = filled.end() if filled is not None else place
        marker = _little(data, place, 1)
        place += 1
        if marker in _BARE:
            continue
        size = _big(data, place, 2)
        if marker in _FRAMES:
            return (_big(data, place + 5, 2), _big(data, place + 3, 2)) if size >= 8 else None
        if marker in (0x00, 0xD8, 0xD9, 0xDA) or size < 2:
            return None
        place += size
    return None


def _read_webp(data: bytes) -> tuple[int, int] | None:
    if data[8:12] != b"WEBP":
        return None
    name, size = data[12:16], _little(data, 16, 4)
    if name == b"VP8X" and size >= 10:
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1 if len(data) >= 30 else 0
    if name == b"VP8L" and size >= 5 and data[20:21] == b"\x2f" and len(data) >= 25:
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if name == b"VP8 " and size >= 10 and data[23:26] == b"\x9d\x01\x2a":
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return None


def _big(data: bytes, place: int, size: int) -> int:
    """A number; 0 where not all of its bytes are there."""
    held = data[place : place + size]
    return int.from_bytes(held, "big") if len(held) == size else 0


def _little(data: bytes, place: int, size: int) -> int:
    """A number; 0 where not all of its bytes are there."""
    held = data[place : place + size]
    return int.from_bytes(held, "little") if len(held) == size else 0


_READERS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _read_png),
    (b"\xff\xd8\xff", "image/jpeg", _read_jpeg),
    (b"GIF8", "image/gif", _read_gif),
    (b"RIFF", "image/webp", _read_webp),
)
