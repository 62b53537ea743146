"""Parts of messages that are not text (contract.md §4).

`read_media` reads a picture, a document or a sound of the state in any of the shapes that services document, and returns it in a single
shape. `MediaReader` counts it. `read_picture` and `read_wave` read the size from bytes.

The content of a state is untrusted: every part is either a value that was checked to the byte, or a finding.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from math import isfinite

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail, show_value, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.media import DETAILS, CountedMedia, MediaForm, MediaRule, MediaSize, UncountableError, name_unit
from promptc.passes.bind import find_whole
from promptc.text.characters import compile_later

_LARGEST = 10_000_000
"""The largest declared size: pixels of a side, pages, seconds."""

_LONGEST_URL = 8_192
_MOST_TOKENS = 10_000_000
_URL = compile_later(r"https?://[!-~]+")
_TYPE = compile_later(r"(image|audio|application|text)/[a-z0-9][a-z0-9.+-]{0,79}")
_INNER = ("source", "image_url", "input_audio", "file")
"""Keys of what says where the bytes are: a mapping, or a text."""

_DATA = ("data", "file_data")
_URLS = ("url", "file_url", "image_url", "source")
_TYPES = ("media_type", "mime_type", "mimeType")
_TITLES = ("title", "filename")
_ALIASES: Mapping[str, str] = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}
_FORMATS: Mapping[str, str] = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_STARTS = (
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
)
_KIND_OF: Mapping[str, tuple[str, ...]] = {"image": ("image/",), "audio": ("audio/",), "document": ("application/", "text/")}
_SHAPES = "{type: base64, media_type: image/png, data: …}` or `{type: url, url: https://…}"
_DECLARE: Mapping[str, str] = {"image": "`width` and `height`", "document": "`pages`", "audio": "`seconds`"}

Pay = Callable[[int], None]


def read_media(given: Mapping[str, Any], kind: str, name: str, span: Span, pay: Pay) -> Mapping[str, Any]:
    """Return the part in the one shape used from here on: `type`, `source`, `title` of a document, `detail` of an image, and its size.

    `name` is its name in findings; `pay` is called with the steps. Raises PC0584 for a part that cannot be read, or that is not what it
    declares.
    """
    held, place = _read_source(given)
    declared = _read_type(held, given, kind, name, span)
    data = next((held[key] for key in _DATA if isinstance(held.get(key), str)), None)
    url = next((held[key] for key in _URLS if isinstance(held.get(key), str)), None) if data is None else None
    if url is not None and url[:5].lower() == "data:":
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


def _read_source(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return the mapping that says where the bytes are, and its place, worded for a finding."""
    for key in _INNER:
        if isinstance(given.get(key), Mapping):
            return given[key], f" in `{key}`"
    return given, ""


def _read_type(held: Mapping[str, Any], given: Mapping[str, Any], kind: str, name: str, span: Span) -> str:
    """Return the declared media type; empty if none is declared."""
    told = next((one[key] for one in (held, given) for key in _TYPES if one.get(key) is not None), None)
    if told is None and isinstance(held.get("format"), str):
        told = _FORMATS.get(held["format"], f"audio/{held['format']}")
    if told is None:
        return ""
    if not isinstance(told, str) or not _TYPE.fullmatch(told.lower()):
        raise fail(
            "PC0584", f"{name} has the media type {show_value(told)}", span, help="write one such as `image/png` or `application/pdf`"
        )
    return _check_kind(_ALIASES.get(told.lower(), told.lower()), kind, name, span)


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
    if data[:5].lower() == "data:":
        named, data = _split_url(data, name, span)
        named = _check_kind(named, kind, name, span)
        if declared and declared != named:
            raise fail("PC0584", f"{name} has two media types, `{declared}` and `{named}`", span, help="leave one of them out")
        declared = named
    raw = _decode(data, name, span)
    picture = read_picture(raw) if kind == "image" else None
    met = picture.media_type if picture is not None else _guess_type(raw)
    if met and declared and met != declared:
        what = f"the media type of {name} is `{declared}`, and its bytes are `{met}`"
        raise fail("PC0584", what, span, help=f"write `media_type: {met}`")
    media_type = declared or (_check_kind(met, kind, name, span) if met else "")
    if not media_type:
        raise fail("PC0584", f"{name} has no media type, and its bytes do not show it", span, help="write one: `media_type: image/png`")
    told = MediaSize(width=picture.width, height=picture.height) if picture is not None else MediaSize()
    if media_type == "audio/wav":
        told = MediaSize(millis=read_wave(raw) or 0)
    _check_declared(size, told, name, span)
    return {"type": "base64", "media_type": media_type, "data": data}, told if told != MediaSize() else size


def _check_declared(size: MediaSize, told: MediaSize, name: str, span: Span) -> None:
    """Raise PC0584 if the declared size differs from that of the bytes. A length may be rounded: it is wrong from a second on."""
    wide, high = (bool(one) and one != read for one, read in ((size.width, told.width), (size.height, told.height)))
    if told.tells("image") and (wide or high):
        one = f"a width of {size.width}" if not size.height else f"a height of {size.height}"
        declared = f"{size.width} x {size.height}" if size.tells("image") else one
        what = f"{name} declares {declared} pixels, and its bytes have {told.width} x {told.height}"
        raise fail("PC0584", what, span, help="leave `width` and `height` out: promptc reads them from the bytes")
    if told.millis and size.millis and abs(told.millis - size.millis) >= 1000:
        what = f"{name} declares {size.millis / 1000:g} seconds, and its bytes have {told.millis / 1000:g}"
        raise fail("PC0584", what, span, help="leave `seconds` out: promptc reads them from the bytes")


def _split_url(url: str, name: str, span: Span) -> tuple[str, str]:
    """Return the media type of a data URL, and its base64."""
    head, comma, data = url[5:].partition(",") if "," in url[:200] else (url[5:80], "", "")
    named = head.lower().removesuffix(";base64").partition(";")[0]
    if not comma or not head.lower().endswith(";base64") or not _TYPE.fullmatch(named):
        what = f"{name} has a data URL that begins with {show_value(url[:60])}"
        raise fail("PC0584", what, span, help="write it as `data:image/png;base64,…`")
    return _ALIASES.get(named, named), data


def _decode(data: str, name: str, span: Span) -> bytes:
    """Return the decoded bytes. Raises PC0584 unless the base64 is strict, without line breaks or anything else, as services require."""
    try:
        raw = a2b_base64(data, strict_mode=True)
        if b2a_base64(raw, newline=False).decode() != data:
            raise ValueError("Excess padding")
    except ValueError as wrong:
        broken = re.search(r"[^A-Za-z0-9+/=]", data)
        why = f"a character that it does not have, {show_value(broken[0])}" if broken else str(wrong).partition(":")[0].lower()
        help = "write it without line breaks: `base64 -w0 picture.png`, or `base64.b64encode` of Python"
        raise fail("PC0584", f"the base64 of {name} is broken: {why}", span, help=help) from None
    if not raw:
        raise fail("PC0584", f"the base64 of {name} is empty", span, help="leave the part out, or give it its bytes")
    return raw


def _guess_type(raw: bytes) -> str:
    if raw[:4] == b"RIFF" and raw[8:12] == b"WAVE":
        return "audio/wav"
    return next((media_type for start, media_type in _STARTS if raw.startswith(start)), "")


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
            raise fail("PC0588", f"{name} ({_show(size, kind)}): {wrong}", self.form.span, help=wrong.help) from None

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
            of = f"`output: {{models: {{{self.provider}: gpt-5.6}}}}`" if self.provider is not None else "`media: {model: gpt-5.6}`"
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


def _show(size: MediaSize, kind: str) -> str:
    return {"image": f"{size.width} x {size.height}", "document": f"{size.pages} pages", "audio": f"{size.millis / 1000:g} seconds"}[kind]


# --- sizes from the first bytes of a picture or a sound: nothing in them is trusted, and a bounded number of places is read ---

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


def read_picture(data: bytes) -> Picture | None:
    """Return the picture of these bytes (PNG, JPEG, GIF or WebP), or None if they are none or do not tell its size."""
    for start, media_type, read in _READERS:
        if data.startswith(start):
            size = read(data)
            return Picture(media_type, *size) if size is not None and all(0 < side <= _LARGEST_SIDE for side in size) else None
    return None


def read_wave(data: bytes) -> int | None:
    """Return the length of a WAV file in milliseconds, rounded up, or None if its bytes do not tell it."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
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


def _read_gif(data: bytes) -> tuple[int, int] | None:
    return (_little(data, 6, 2), _little(data, 8, 2)) if data[3:6] in (b"87a", b"89a") else None


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
    """Return a big-endian number, or 0 if not all of its bytes are present."""
    held = data[place : place + size]
    return int.from_bytes(held, "big") if len(held) == size else 0


def _little(data: bytes, place: int, size: int) -> int:
    """Return a little-endian number, or 0 if not all of its bytes are present."""
    held = data[place : place + size]
    return int.from_bytes(held, "little") if len(held) == size else 0


_READERS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _read_png),
    (b"\xff\xd8\xff", "image/jpeg", _read_jpeg),
    (b"GIF8", "image/gif", _read_gif),
    (b"RIFF", "image/webp", _read_webp),
)
