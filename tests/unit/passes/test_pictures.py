"""Sizes are read out of headers, and bytes of any kind are told from pictures without a crash and in bounded time."""

import struct
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promptc.passes.items.media import Picture, read_picture, read_wave
from tests.pictures import make_gif, make_jpeg, make_png, make_segment, make_wave, make_webp

_SIDE = st.integers(1, 65_535)
_WEBP = st.sampled_from(("VP8X", "VP8L", "VP8 "))


@given(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1))
def test_a_png_tells_its_size(width: int, height: int) -> None:
    assert read_picture(make_png(width, height)) == Picture("image/png", width, height)


@given(_SIDE, _SIDE)
def test_a_gif_tells_its_size(width: int, height: int) -> None:
    assert read_picture(make_gif(width, height)) == Picture("image/gif", width, height)


@given(_SIDE, _SIDE, st.sampled_from((0xC0, 0xC1, 0xC2, 0xC3, 0xC9, 0xCA, 0xCF)), st.lists(st.binary(max_size=300), max_size=20))
def test_a_jpeg_tells_its_size_behind_any_segments(width: int, height: int, frame: int, segments: list[bytes]) -> None:
    """A profile, a preview that is a JPEG itself, tables: all of them are passed by their lengths."""
    markers = (0xE0, 0xE1, 0xE2, 0xDB, 0xC4, 0xFE)
    before = b"".join(make_segment(markers[place % len(markers)], data) for place, data in enumerate(segments))
    preview = make_segment(0xE1, make_jpeg(7, 7))
    assert read_picture(make_jpeg(width, height, before=before + preview + b"\xff\xff\xff", frame=frame)) == Picture(
        "image/jpeg", width, height
    )


@given(st.integers(1, 16_383), st.integers(1, 16_383), _WEBP)
def test_a_webp_tells_its_size(width: int, height: int, kind: str) -> None:
    assert read_picture(make_webp(width, height, kind)) == Picture("image/webp", width, height)


@given(st.integers(1, 40_000), st.sampled_from((8000, 11_025, 44_100)))
def test_a_wave_tells_its_length(samples: int, rate: int) -> None:
    assert read_wave(make_wave(samples / rate, rate=rate)) == -(-1000 * samples // rate)


def test_a_stream_lasts_as_long_as_its_bytes() -> None:
    """Who writes a stream does not know its length, and says the largest there is."""
    wave = make_wave(2.0)
    place = wave.index(b"data") + 4
    assert read_wave(wave[:place] + struct.pack("<I", 0xFFFFFFFF) + wave[place + 4 :]) == 2000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        make_png(0, 5),
        make_png(2**31, 5),
        make_png(5, 5).replace(b"IHDR", b"IDAT"),
        make_gif(0, 5),
        b"GIF90a" + make_gif(4, 4)[6:],
        make_jpeg(5, 0),
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xd9" + make_jpeg(5, 5)[2:],
        b"\xff\xd8" + make_segment(0xE0, b"x")[:-1],
        b"\xff\xd8\xff\xe0\x00\x01" + make_jpeg(5, 5)[2:],
        b"\xff\xd8\xff\xe0\xff\xff",
        b"\xff\xd8\xff\xda\x00\x02" + make_jpeg(5, 5)[2:],
        b"RIFF\0\0\0\0WEBPVP9 \x0a\0\0\0" + b"\1" * 20,
        make_webp(5, 5)[:29],
        make_webp(5, 5, "VP8L")[:24],
        make_webp(5, 5, "VP8 ").replace(b"\x9d\x01\x2a", b"\x9d\x01\x2b"),
        b"RIFF\0\0\0\0WEBPVP8X\x02\0\0\0" + b"\1" * 20,
        b"<svg width='5' height='5'/>",
    ],
)
def test_what_does_not_tell_its_size_has_none(data: bytes) -> None:
    assert read_picture(data) is None


@pytest.mark.parametrize("data", [b"", b"RIFF\0\0\0\0WAVE", make_wave(0.0), make_wave(1.0)[:30], make_wave(1.0).replace(b"fmt ", b"xxxx")])
def test_what_does_not_tell_its_length_has_none(data: bytes) -> None:
    assert read_wave(data) is None


_MADE = st.sampled_from(
    [make_png(640, 480), make_gif(640, 480), make_jpeg(640, 480, before=make_segment(0xE0, b"JFIF")), make_wave(0.01)]
    + [make_webp(640, 480, kind) for kind in ("VP8X", "VP8L", "VP8 ")]
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Bytes that were whole: some changed, some gone, some put in."""
    data = bytearray(draw(_MADE))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=4))
    return bytes(data[: draw(st.integers(0, len(data)))])


@given(spoilt() | st.binary(max_size=200))
@example(b"\xff\xd8" + b"\xff" * 100)
def test_any_bytes_give_a_size_or_none(data: bytes) -> None:
    found = read_picture(data)
    assert found is None or (found.width > 0 and found.height > 0)
    length = read_wave(data)
    assert length is None or length > 0


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8" + make_segment(0xE0, b"") * 1_000_000 + make_jpeg(5, 5)[2:],
        b"\xff\xd8" + b"\xff" * 8_000_000,
        b"\xff\xd8" + b"\xff\x01" * 2_000_000,
        b"RIFF\0\0\0\0WAVE" + b"LIST\0\0\0\0" * 1_000_000,
    ],
    ids=["a million segments", "nothing but fill", "nothing but markers", "a million chunks"],
)
def test_no_bytes_are_slow(data: bytes) -> None:
    """What is looked at is bounded: where the frame does not come in time, the size is not known."""
    start = time.perf_counter()
    assert read_picture(data) is None and read_wave(data) is None
    assert time.perf_counter() - start < 1.0
