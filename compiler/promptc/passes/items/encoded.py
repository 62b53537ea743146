"""The bytes of pictures, documents and sounds (contract.md §4): where a part has them, of what type they are, and what size they tell.

`locate_base64` finds the base64 of a part, which redaction leaves alone. Nothing in bytes is trusted, and a bounded number of places is
read.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.media import MEDIA_KINDS
from promptc.model.section import read_part_kind
from promptc.text.characters import compile_later

_TYPE = compile_later(r"(image|audio|application|text)/[a-z0-9][a-z0-9.+-]{0,79}")
_INNER = ("source", "image_url", "input_audio", "file")
"""Keys of what says where the bytes are: a mapping, or a text."""

_DATA = ("data", "file_data")
_TYPES = ("media_type", "mime_type", "mimeType")
_ALIASES: Mapping[str, str] = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}
_FORMATS: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_MP3 = tuple(bytes((0xFF, second)) for second in (*range(0xE2, 0xE6), *range(0xF2, 0xF6), *range(0xFA, 0xFE)))
"""How a frame of MPEG audio begins, in layers II and III (ISO/IEC 11172-3 and 13818-3)."""

_STARTS: Mapping[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "application/pdf": (b"%PDF-",),
    "audio/mpeg": (b"ID3", *_MP3),
    "audio/flac": (b"fLaC",),
    "audio/ogg": (b"OggS",),
}
_RIFF: Mapping[bytes, str] = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
"""The media types of RIFF files, by their form."""

_KNOWN = frozenset((*_STARTS, *_RIFF.values()))

_MOST_SEGMENTS = 4096
"""The most segments of a JPEG that are read before its frame; a profile or a preview takes some hundreds."""

_MOST_CHUNKS = 64
_LARGEST_SIDE = (1 << 31) - 1
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
"""Markers of a JPEG without a length after them."""

_FILL = re.compile(b"\xff*")

Pay = Callable[[int], None]


@frozen
class Picture:
    """The media type of a picture, and its width and height in pixels, each 1 or more."""

    media_type: str
    width: int
    height: int


# --- where a part has its bytes ---


def find_holder(part: Mapping[str, Any]) -> str | None:
    """Return the key of the mapping in a part that says where the bytes are, or None if the part itself says so."""
    return next((key for key in _INNER if isinstance(part.get(key), Mapping)), None)


def find_data(held: Mapping[str, Any]) -> str | None:
    """Return the key of the bytes in what says where they are, or None if it has none: a source of the type `text` has words."""
    return None if held.get("type") == "text" else next((key for key in _DATA if isinstance(held.get(key), str)), None)


def read_told_type(held: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
    """Return what stands where a media type is declared, or None."""
    told = next((one[key] for one in (held, part) for key in _TYPES if one.get(key) is not None), None)
    if told is None and isinstance(held.get("format"), str):
        return _FORMATS.get(held["format"], f"audio/{held['format']}")
    return told


def find_media_type(told: Any) -> str | None:
    """Return the media type by its usual name, or None if this is no type that a part may have."""
    if not isinstance(told, str) or not _TYPE.fullmatch(told.lower()):
        return None
    return _ALIASES.get(told.lower(), told.lower())


def find_url_data(url: str) -> tuple[str, str] | None:
    """Return the media type of a data URL, and its base64; None for any other data URL."""
    head, comma, data = url[5:].partition(",") if "," in url[:200] else (url[5:80], "", "")
    named = find_media_type(head.lower().removesuffix(";base64").partition(";")[0])
    return (named, data) if comma and head.lower().endswith(";base64") and named is not None else None


def is_data_url(text: str) -> bool:
    """Return whether a text begins as data URLs do."""
    return text[:5].lower() == "data:"


def decode_base64(data: str) -> bytes:
    """Return the bytes. Raises `ValueError` unless the base64 is strict, without line breaks or anything else, as services require."""
    raw = a2b_base64(data, strict_mode=True)
    if b2a_base64(raw, newline=False).decode() != data:
        raise ValueError("Excess padding")
    return raw


# --- what is base64 of media ---


def locate_base64(value: Mapping[str, Any], pay: Pay) -> tuple[str, ...]:
    """Return the keys that lead to the base64 of a mapping: in a part of a message, or in what says where the bytes of one are.

    Empty if the mapping has none that can be read as media. A mapping that is no such part must say `type: base64`, or its bytes must begin
    as its media type does: a table has a media type and data, too. `pay` is called with the steps.
    """
    kind = value.get("type")
    is_part = isinstance(kind, str) and read_part_kind(kind) in MEDIA_KINDS
    inner = find_holder(value) if is_part else None
    held = value[inner] if inner is not None else value
    key = find_data(held)
    told = read_told_type(held, value) if key is not None else None
    declared = find_media_type(told) if told is not None else ""
    if key is None or declared is None or not (is_part or kind == "base64" or declared in _KNOWN):
        return ()
    pay(1 + (len(held[key]) >> 4))
    if not _is_base64(held[key], declared):
        return ()
    return (key,) if inner is None else (inner, key)


def holds_base64(url: str, pay: Pay) -> bool:
    """Return whether a data URL contains base64 that can be read as media. `pay` is called with the steps."""
    pay(1 + (len(url) >> 4))
    found = find_url_data(url)
    return found is not None and _is_base64(found[1], found[0])


def _is_base64(data: str, declared: str) -> bool:
    try:
        met = guess_type(decode_base64(data))
    except ValueError:
        return False
    return bool(declared or met) and is_of(declared, met)


# --- what bytes are ---


def guess_type(raw: bytes) -> str:
    """Return the media type that the bytes begin as; empty if promptc does not know the beginning."""
    if raw[:4] == b"RIFF":
        return _RIFF.get(raw[8:12], "")
    return next((media_type for media_type, starts in _STARTS.items() if raw.startswith(starts)), "")


def is_of(declared: str, met: str) -> bool:
    """Return whether bytes that begin as `met` may be of the declared type. Either is empty if it is not known."""
    return not declared or met == declared or not (met or declared in _KNOWN)


def read_picture(data: bytes) -> Picture | None:
    """Return the picture of these bytes (PNG, JPEG, GIF or WebP), or None if they are none or do not tell its size."""
    media_type = guess_type(data)
    read = _READERS.get(media_type)
    size = read(data) if read is not None else None
    return Picture(media_type, *size) if size is not None and all(0 < side <= _LARGEST_SIDE for side in size) else None


def read_wave(data: bytes) -> int | None:
    """Return the length of a WAV file in milliseconds, rounded up, or None if its bytes do not tell it."""
    if guess_type(data) != "audio/wav":
        return None
    place, rate = 12, 0
    for _ in range(_MOST_CHUNKS):
        name, size, place = data[place : place + 4], _little(data, place + 4, 4), place + 8
        if name == b"fmt " and size >= 16:
            rate = _little(data, place + 8, 4)
        elif name == b"data":
            held = min(size, len(data) - place)  # the header of a stream is written before its length is known
            return -(-1000 * held // rate) if rate and held > 0 else None
        place += size + size % 2
        if place >= len(data):
            break
    return None


def _read_png(data: bytes) -> tuple[int, int] | None:
    return (_big(data, 16, 4), _big(data, 20, 4)) if data[8:16] == b"\0\0\0\rIHDR" else None


def _read_gif(data: bytes) -> tuple[int, int]:
    return _little(data, 6, 2), _little(data, 8, 2)


def _read_jpeg(data: bytes) -> tuple[int, int] | None:
    """Return the size from the header of the first frame, which other segments may precede."""
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
    """Return a big-endian number, or 0 if not all of its bytes are present."""
    held = data[place : place + size]
    return int.from_bytes(held, "big") if len(held) == size else 0


def _little(data: bytes, place: int, size: int) -> int:
    """Return a little-endian number, or 0 if not all of its bytes are present."""
    held = data[place : place + size]
    return int.from_bytes(held, "little") if len(held) == size else 0


_READERS: Mapping[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _read_png,
    "image/jpeg": _read_jpeg,
    "image/gif": _read_gif,
    "image/webp": _read_webp,
}
