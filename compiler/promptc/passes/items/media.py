"""Parts of messages that are not text (contract.md §4).

`read_media` reads a picture, a document or a sound of the state in any of the shapes that services document, and returns it in a single
shape. `MediaReader` counts it. `locate_base64` finds the base64 of a part, which redaction leaves alone. `read_picture` and `read_wave`
read the size that bytes tell: nothing in bytes is trusted, and a bounded number of places is read.

The content of a state is untrusted: every part is either a value that was checked to the byte, or a finding.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from math import isfinite

from promptc.diag.findings import Diagnostic, PromptcError, Span, count_noun, fail, show_value, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.media import (
    DETAILS,
    MEDIA_KINDS,
    CountedMedia,
    MediaForm,
    MediaRule,
    MediaSize,
    UncountableError,
    describe_size,
    name_unit,
)
from promptc.model.section import read_part_kind
from promptc.text.characters import compile_later
from promptc.text.json import find_whole

_LARGEST = 10_000_000
"""The largest declared size: pixels of a side, pages, seconds."""

_LONGEST_URL = 8_192
_MOST_TOKENS = 10_000_000
_URL = compile_later(r"https?://[!-~]+")
_URLS = ("url", "file_url", "image_url", "source")
_TITLES = ("title", "filename")
_WORDS = ("text", "content")
"""The types of a source with words in place of bytes, which only Anthropic takes."""

_KIND_OF: Mapping[str, tuple[str, ...]] = {"image": ("image/",), "audio": ("audio/",), "document": ("application/", "text/")}
_SHAPES = "{type: base64, media_type: image/png, data: …}` or `{type: url, url: https://…}"
_DECLARE: Mapping[str, str] = {"image": "`width` and `height`", "document": "`pages`", "audio": "`seconds`"}

Pay = Callable[[int], None]


def read_media(given: Mapping[str, Any], kind: str, name: str, span: Span, pay: Pay) -> Mapping[str, Any]:
    """Return the part in the one shape used from here on: `type`, `source`, `title` of a document, `detail` of an image, and its size.

    `name` is its name in findings; `pay` is called with the steps. Raises PC0584 for a part that cannot be read, or that is not what it
    declares.
    """
    inner = find_holder(given)
    held = given[inner] if inner is not None else given
    place = f" in `{inner}`" if inner is not None else ""
    if held.get("type") in _WORDS:
        what = f"{name}, a part of the kind `{kind}`, has words{place}, not bytes or a URL"
        raise fail("PC0584", what, span, help="give the words as a part of their own: `{type: text, text: …}`")
    declared = _read_type(held, given, kind, name, span)
    key = find_data(held)
    data = held[key] if key is not None else None
    url = next((held[key] for key in _URLS if isinstance(held.get(key), str)), None) if data is None else None
    if url is not None and is_data_url(url):
        data, url = url, None
    if data is None and url is None:
        what = f"{name}, a part of the kind `{kind}`, has no bytes and no URL{place}"
        raise fail("PC0584", what, span, help=f"write `source: {_SHAPES}`")
    detail = next((one["detail"] for one in (given, held) if one.get("detail") is not None), None)
    if detail is not None and detail not in DETAILS:
        known = ", ".join(f"`{one}`" for one in DETAILS)
        raise fail("PC0584", f"{name} has the detail {show_value(detail)}", span, help=f"write one of {known}")
    size = _read_size(given, kind, name, span)
    if data is not None:
        source, size = _read_bytes(data, declared, kind, size, name, span, pay)
    else:
        source = {"type": "url", **({"media_type": declared} if declared else {}), "url": _check_url(str(url), name, span)}
    title = next((one[key] for one in (given, held) for key in _TITLES if isinstance(one.get(key), str) and one[key].strip()), None)
    return {
        "type": kind,
        "source": source,
        **({"title": title} if title is not None and kind == "document" else {}),
        **({"detail": detail} if detail is not None and kind == "image" else {}),
        **_write_size(size),
    }


def _read_type(held: Mapping[str, Any], given: Mapping[str, Any], kind: str, name: str, span: Span) -> str:
    """Return the declared media type; empty if none is declared."""
    told = read_told_type(held, given)
    if told is None:
        return ""
    declared = find_media_type(told)
    if declared is None:
        raise fail(
            "PC0584", f"{name} has the media type {show_value(told)}", span, help="write one such as `image/png` or `application/pdf`"
        )
    return _check_kind(declared, kind, name, span)


def _check_kind(media_type: str, kind: str, name: str, span: Span) -> str:
    if not media_type.startswith(_KIND_OF[kind]):
        what = f"{name} is of the kind `{kind}`, and its media type is `{media_type}`"
        raise fail("PC0584", what, span, help="correct the `type` of the part, or its media type")
    return media_type


def _read_size(given: Mapping[str, Any], kind: str, name: str, span: Span) -> MediaSize:
    """Return the declared size. Raises PC0584 if it is not a number in range."""
    keys = {"image": ("width", "height"), "document": ("pages",), "audio": ()}[kind]
    found: dict[str, int] = {}
    for key in keys:
        if given.get(key) is not None:
            whole = find_whole(given[key])
            if whole is None or not 0 < whole <= _LARGEST:
                what = f"`{key}` of {name} is {show_value(given[key])}"
                raise fail("PC0584", what, span, help=f"write a whole number from 1 to {_LARGEST}, or leave it out")
            found[key] = whole
    seconds = given.get("seconds") if kind == "audio" else None
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not isfinite(seconds) or not 0 < seconds <= _LARGEST:
            what = f"`seconds` of {name} is {show_value(seconds)}"
            raise fail("PC0584", what, span, help=f"write a number above 0 and up to {_LARGEST}, or leave it out")
        found["millis"] = max(-int(-1000 * seconds // 1), 1)
    return MediaSize(**found)


def _write_size(size: MediaSize) -> dict[str, Any]:
    written: dict[str, Any] = {"width": size.width, "height": size.height} if size.tells("image") else {}
    written |= {"pages": size.pages} if size.pages else {}
    seconds, rest = divmod(size.millis, 1000)
    return written | ({"seconds": size.millis / 1000 if rest else seconds} if size.millis else {})


def _check_url(url: str, name: str, span: Span) -> str:
    if len(url) > _LONGEST_URL or not _URL.fullmatch(url):
        what = f"{name} has the URL {show_value(url[:80])}"
        help = f"write one that begins with `https://`, without spaces, of at most {_LONGEST_URL} characters; or give the bytes as base64"
        raise fail("PC0584", what, span, help=help)
    return url


def _read_bytes(data: str, declared: str, kind: str, size: MediaSize, name: str, span: Span, pay: Pay) -> tuple[dict[str, str], MediaSize]:
    """Return the source for base64 or a data URL, and the size: that of the bytes if they tell it, else the declared one."""
    pay(1 + (len(data) >> 4))
    if is_data_url(data):
        named, data = _split_url(data, name, span)
        named = _check_kind(named, kind, name, span)
        if declared and declared != named:
            raise fail("PC0584", f"{name} has two media types, `{declared}` and `{named}`", span, help="leave one of them out")
        declared = named
    raw = _decode(data, name, span)
    met = guess_type(raw)
    if not is_of(declared, met):
        what = f"the media type of {name} is `{declared}`, and its bytes are {f'`{met}`' if met else 'something else'}"
        help = f"write `media_type: {met}`" if met else "give the bytes of the file itself, or the media type that they have"
        raise fail("PC0584", what, span, help=help)
    media_type = declared or (_check_kind(met, kind, name, span) if met else "")
    if not media_type:
        raise fail("PC0584", f"{name} has no media type, and its bytes do not show it", span, help="write one: `media_type: image/png`")
    picture = read_picture(raw) if kind == "image" else None
    told = MediaSize(width=picture.width, height=picture.height) if picture is not None else MediaSize()
    if media_type == "audio/wav":
        told = MediaSize(millis=read_wave(raw) or 0)
    _check_declared(size, told, name, span)
    return {"type": "base64", "media_type": media_type, "data": data}, told if told != MediaSize() else size


def _check_declared(size: MediaSize, told: MediaSize, name: str, span: Span) -> None:
    """Raise PC0584 if the declared size differs from that of the bytes. A length may be rounded: it is wrong from a second on."""
    wide, high = (bool(one) and one != read for one, read in ((size.width, told.width), (size.height, told.height)))
    if told.tells("image") and (wide or high):
        one = f"a width of {count_noun(size.width, 'pixel')}" if size.width else f"a height of {count_noun(size.height, 'pixel')}"
        declared = f"{size.width} x {size.height} pixels" if size.tells("image") else one
        what = f"{name} declares {declared}, and its bytes have {told.width} x {told.height}"
        raise fail("PC0584", what, span, help="leave `width` and `height` out: promptc reads them from the bytes")
    if told.millis and size.millis and abs(told.millis - size.millis) >= 1000:
        declared, held = (describe_size(_write_size(one)) for one in (size, told))
        what = f"{name} declares {declared}, and its bytes have {held}"
        raise fail("PC0584", what, span, help="leave `seconds` out: promptc reads them from the bytes")


def _split_url(url: str, name: str, span: Span) -> tuple[str, str]:
    """Return the media type of a data URL, and its base64."""
    found = find_url_data(url)
    if found is None:
        what = f"{name} has a data URL that begins with {show_value(url[:60])}"
        raise fail("PC0584", what, span, help="write it as `data:image/png;base64,…`")
    return found


def _decode(data: str, name: str, span: Span) -> bytes:
    """Return the decoded bytes. Raises PC0584 if there are none, or if the base64 is not strict."""
    try:
        raw = decode_base64(data)
    except ValueError as wrong:
        broken = re.search(r"[^A-Za-z0-9+/=]", data)
        why = f"a character that it does not have, {show_value(broken[0])}" if broken else str(wrong).partition(":")[0].lower()
        help = "write it without line breaks: `base64 -w0 picture.png`, or `base64.b64encode` of Python"
        raise fail("PC0584", f"the base64 of {name} is broken: {why}", span, help=help) from None
    if not raw:
        raise fail("PC0584", f"the base64 of {name} is empty", span, help="leave the part out, or give it its bytes")
    return raw


@frozen(eq=False)
class MediaReader:
    """Counts the parts of one section, by the form's `tokens` or by the rule of the model that counts.

    In text output nothing is counted: the line that stands for a part is text.
    """

    form: MediaForm
    model: str | None
    provider: str | None
    is_text: bool

    def count(self, given: Mapping[str, Any], part: Mapping[str, Any], names: Mapping[str, Any], name: str) -> CountedMedia:
        """Return one part as counted; `given` is the part as the state has it.

        Raises PC0585 if its size is not known, PC0586 if nothing counts it, PC0587 if `tokens` is not a count, PC0588 if the model refuses
        it.
        """
        kind, media_type, size = part["type"], part["source"].get("media_type", ""), _read_stated(part)
        detail = (part.get("detail") or self.form.detail) if kind == "image" else None
        if self.is_text:
            return CountedMedia(kind, media_type, size)
        tokens = self._evaluate_tokens(given, names, name)
        if tokens is not None:
            return CountedMedia(kind, media_type, size, detail, tokens, "tokens")
        rule = self._load_rule(name)
        if not size.tells(kind):
            what = f"{name} cannot be counted: its {name_unit(kind)} {'is' if kind != 'image' else 'are'} not known"
            help = f"declare {_DECLARE[kind]} in the part, or give its number of tokens: `media: {{tokens: part.tokens}}`"
            raise fail("PC0585", what, self.form.span, help=help)
        try:
            tokens = rule.count(kind, size, detail)
            return CountedMedia(kind, media_type, size, detail if rule.details else None, tokens, str(self.model), rule.estimate)
        except UncountableError as wrong:
            raise fail("PC0588", f"{name} ({describe_size(part)}): `{self.model}` {wrong}", self.form.span, help=wrong.help) from None

    def _evaluate_tokens(self, given: Mapping[str, Any], names: Mapping[str, Any], name: str) -> int | None:
        """Return the tokens that the author declares, or None if the author declares none."""
        if self.form.tokens is None:
            return None
        value = self.form.tokens.evaluate({**names, "part": given})
        if value is None:
            return None
        whole = find_whole(value)
        if whole is None or not 0 <= whole <= _MOST_TOKENS:
            what = f"`media.tokens` returns {show_value(value)} for {name}, not a number of tokens"
            help = f"give a whole number from 0 to {_MOST_TOKENS}, or none to count by the table of models: `part.tokens | default(none)`"
            raise fail("PC0587", what, self.form.tokens.span, help=help)
        return whole

    def _load_rule(self, name: str) -> MediaRule:
        rule = self.form.table.find(self.model) if self.model is not None else None
        if rule is not None:
            return rule
        if self.model is None:
            family = {"anthropic": "claude", "gemini": "gemini"}.get(str(self.provider), "gpt")
            model = next((one for one in self.form.table.iter_models() if one.startswith(family)), "gpt-5.6")
            of = f"`output: {{models: {{{self.provider}: {model}}}}}`" if self.provider is not None else f"`media: {{model: {model}}}`"
            what = f"{name} cannot be counted: each model counts in its own way, and the pack names no model"
            raise PromptcError(
                [
                    Diagnostic(
                        "PC0586",
                        what,
                        self.form.span,
                        f"name a model: {of}, or give the number of tokens: `media: {{tokens: part.tokens}}`",
                    )
                ]
            )
        near = suggest(self.model, list(self.form.table.iter_models()))
        what = f"{name} cannot be counted: the table of {self.form.table.as_of} does not have the model `{self.model}`"
        own = "or give it a `[[media]]` rule in a table of your own (`--models`)"
        help = f"name a model that counts alike with `media: {{model: …}}`, give the number of tokens with `tokens`, {own}; {near}"
        raise PromptcError([Diagnostic("PC0586", what, self.form.span, help.removesuffix("; "))])


def _read_stated(part: Mapping[str, Any]) -> MediaSize:
    """Return the size that `read_media` wrote into the part."""
    millis = round(1000 * part.get("seconds", 0))
    return MediaSize(part.get("width", 0), part.get("height", 0), part.get("pages", 0), millis)


# --- the bytes ---

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
