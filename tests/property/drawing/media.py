"""Random pictures, documents and sounds, in the shapes that services document."""

from random import Random
from typing import Any

from tests.pictures import PDF, encode, make_gif, make_jpeg, make_png, make_wave, make_webp
from tests.property.drawing.words import draw_text

MODELS = ("gpt-5.6", "gpt-5.4", "gpt-4o", "gpt-5-mini", "claude-opus-5-5", "claude-sonnet-4-5", "gemini-2.5-flash", "gemini-3-pro")
READERS = ("gemini-2.5-flash", "gemini-3-pro")
"""The models whose providers publish what a page and a second take."""

BY_PART = "part.pages * 3 if part.pages is defined else 11 if 'audio' in part.type else none"
TOKENS = (BY_PART, "5", "0", "none")
"""What authors say that a part takes. The last leaves all of it to the table."""

_FORMATS = (("image/png", make_png), ("image/gif", make_gif), ("image/jpeg", make_jpeg), ("image/webp", make_webp))
_SIDES = (1, 17, 28, 32, 33, 56, 64, 90)
_LONG_SIDES = (384, 385, 512, 640, 768, 1092, 1568, 2048, 2049, 3000)


def draw_media(rng: Random, *, large: bool) -> dict[str, Any]:
    """A part. Its key `drawn`, which no request has, is the part as it goes out."""
    drawers = {"image": _draw_image, "document": _draw_document, "audio": _draw_audio}
    kind = rng.choice(("image", "image", *drawers))
    return drawers[kind](rng, _LONG_SIDES if large and rng.random() < 0.2 else _SIDES)


def _draw_image(rng: Random, sides: tuple[int, ...]) -> dict[str, Any]:
    size = {"width": rng.choice(sides), "height": rng.choice(sides)}
    detail = {"detail": rng.choice(("low", "high", "auto"))} if rng.random() < 0.5 else {}
    if rng.random() < 0.4:
        url = "https://example.org/a.png"
        given = rng.choice(({"type": "image", "source": {"type": "url", "url": url}}, {"type": "image_url", "image_url": {"url": url}}))
        return {**given, **size, **detail, "drawn": {"type": "image", "source": {"type": "url", "url": url}, **detail, **size}}
    media_type, make = rng.choice(_FORMATS)
    data = encode(make(size["width"], size["height"]))
    source = {"type": "base64", "media_type": media_type, "data": data}
    declared = rng.choice(({}, {}, size, {"width": size["width"]}))
    url = f"data:{media_type};base64,{data}"
    given = rng.choice(
        (
            {"type": "image", "source": source, **detail},
            {"type": "image", "data": data, "mimeType": media_type, **detail},
            {"type": "image_url", "image_url": {"url": url, **detail}},
            {"type": "input_image", "image_url": url, **detail},
        )
    )
    return {**given, **declared, "drawn": {"type": "image", "source": source, **detail, **size}}


def _draw_document(rng: Random, sides: tuple[int, ...]) -> dict[str, Any]:
    size, title = {"pages": rng.choice((1, 2, 5))}, {"title": draw_text(rng, 2, odd=0.5)} if rng.random() < 0.3 else {}
    named = title if title.get("title", "").strip() else {}
    if rng.random() < 0.4:
        source = {"type": "url", "url": "https://example.org/a.pdf"}
        return {"type": "document", "source": source, **title, **size, "drawn": {"type": "document", "source": source, **named, **size}}
    source = {"type": "base64", "media_type": "application/pdf", "data": encode(PDF)}
    url = f"data:application/pdf;base64,{source['data']}"
    given = rng.choice(
        (
            {"type": "document", "source": source, **title},
            {"type": "file", "file": {"file_data": url}},
            {"type": "input_file", "file_data": url},
        )
    )
    return {**given, **size, "drawn": {"type": "document", "source": source, **(named if given["type"] == "document" else {}), **size}}


def _draw_audio(rng: Random, sides: tuple[int, ...]) -> dict[str, Any]:
    seconds = rng.choice((0.125, 0.3, 1, 1.25))
    if rng.random() < 0.4:
        source = {"type": "url", "url": "https://example.org/a.mp3"}
        return {"type": "audio", "source": source, "seconds": seconds, "drawn": {"type": "audio", "source": source, "seconds": seconds}}
    source = {"type": "base64", "media_type": "audio/wav", "data": encode(make_wave(seconds, rate=80))}
    given = rng.choice(
        ({"type": "audio", "source": source}, {"type": "input_audio", "input_audio": {"data": source["data"], "format": "wav"}})
    )
    declared = rng.choice(({}, {"seconds": seconds}, {"seconds": seconds + 0.75}))  # rounded by somebody
    return {**given, **declared, "drawn": {"type": "audio", "source": source, "seconds": seconds}}
