"""Pictures and sounds, made to the byte: their headers are whole, their pixels are not there."""

import base64
import struct
import zlib
from typing import Any


def make_png(width: int, height: int) -> bytes:
    """A PNG of that size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def make_gif(width: int, height: int) -> bytes:
    """A GIF of that size."""
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def make_jpeg(width: int, height: int, *, before: bytes = b"", frame: int = 0xC0) -> bytes:
    """A JPEG of that size, with segments `before` its frame."""
    start = struct.pack(">BBHBHHB", 0xFF, frame, 11, 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8" + before + start + b"\xff\xd9"


def make_segment(marker: int, data: bytes) -> bytes:
    """A segment of a JPEG."""
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def make_webp(width: int, height: int, kind: str = "VP8X") -> bytes:
    """A WebP of that size: extended, lossless (`VP8L`) or lossy (`VP8 `)."""
    body = {
        "VP8X": b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        "VP8L": b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0",
        "VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width & 0x3FFF, height & 0x3FFF),
    }[kind]
    chunk = kind.encode() + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def make_wave(seconds: float, *, rate: int = 8000, before: bytes = b"") -> bytes:
    """A WAV file of that length: one channel of eight bits, silent."""
    data = b"\x80" * round(seconds * rate)
    form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, rate, 1, 8)
    body = b"WAVE" + before + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


PDF = b"%PDF-1.7\n%%EOF\n"


def encode(data: bytes) -> str:
    """As base64."""
    return base64.b64encode(data).decode()


def show(data: bytes, media_type: str = "image/png", kind: str = "image", **more: Any) -> dict[str, Any]:
    """A part with these bytes."""
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": encode(data)}, **more}


def link(url: str = "https://example.org/map.png", kind: str = "image", **more: Any) -> dict[str, Any]:
    """A part that a URL leads to."""
    return {"type": kind, "source": {"type": "url", "url": url}, **more}
