"""A message's list of parts: every one passes, is left out by `parts` and noted, or stops the render (language.md §4)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import PART_KINDS, MessageForm, find_part_kind
from promptc.text.guard import compile_later
from promptc.text.white import is_blank

_BLANK = "blank text"
_HELD: Mapping[str, tuple[str, ...]] = {
    "image": ("source", "data"),
    "image_url": ("image_url",),
    "input_image": ("image_url", "file_id"),
    "document": ("source",),
    "file": ("file", "file_data", "file_id"),
    "input_file": ("file_data", "file_id", "file_url"),
    "audio": ("source", "data"),
    "input_audio": ("input_audio",),
    "video": ("source", "data"),
    "video_url": ("video_url",),
}
"""By type: where a mapping in a turn of tools has one of these keys, it is a picture, a file or a sound, and no plain data."""
_MIMES = ("mimeType", "mime_type", "media_type")
_BYTES = ("data", "blob", "bytes", "b64_json", "base64")
_NAMED = ("image", "audio", "video")
"""Keys that say what a mapping with bytes under them is."""
_SOURCES = (*_BYTES, "s3Location", "uri")
"""What the `source` of a picture, a sound or a document may be, by Amazon's Converse."""
_MEDIA = ("image/", "audio/", "video/", "application/pdf", "application/octet-stream")
"""How the names of their kinds begin, beside bytes."""
_STARTS: Mapping[str, str] = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "_9j_": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp or audio/wav",
    "JVBERi0": "application/pdf",
    "SUQz": "audio/mpeg",
    "T2dnUw": "audio/ogg",
    "ZkxhQ": "audio/flac",
    "GkXfo": "video/webm",
    "UEsDB": "application/zip",
}
"""How base64 begins, by what it holds."""
_ENCODED = compile_later(
    r"(?i:data:(?P<mime>(?:image|audio|video)/[\w.+-]{1,80}|application/(?:pdf|octet-stream))(?:;[\w.=+-]{1,80}){0,4};base64,)"
    rf"|(?<![\w+/])(?P<start>{'|'.join(map(re.escape, _STARTS))}|AAAA[A-Z]GZ0eX)(?:[\w+/=-]{{60}}|[\w+/=-]{{12,}}\s*\Z)"
)


@frozen(eq=False)
class PassedParts:
    """What passes of a content, each part as it was given and as it is rendered; the kinds of those that do not, one for each, in order."""

    passing: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    left_out: tuple[str, ...]


def read_parts(content: Sequence[Any], message: MessageForm, item: str) -> PassedParts:
    """The parts of the content of `item`, which is how findings name it.

    Raises PC0515 for what is no part, PC0561 for one of a kind that `parts` lets pass and no request can hold, PC0580 for a use or a
    result of a tool that holds a picture, a file or a sound: as JSON it would be so many tokens of base64.
    """
    passing: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    left_out: list[str] = []
    for place, given in enumerate(content, 1):
        name = f"part {place} of {item}"
        kind = _find_kind(given, name, message)
        if kind not in message.passing:
            left_out.append(kind)
        elif kind not in PART_KINDS:
            help = f"leave `{kind}` out of `parts`, and put in words what it shows"
            raise fail("PC0561", f"{name} is of the kind `{kind}`, which no request can hold", message.span, help=help)
        elif kind == "text" and is_blank(given["text"]):
            left_out.append(_BLANK)
        else:
            _refuse_media(given, kind, name, message)
            passing.append((given, given if given["type"] == kind else {**given, "type": kind}))
    return PassedParts(tuple(passing), tuple(left_out))


def _find_kind(part: Any, name: str, message: MessageForm) -> str:
    """What the part is called in `parts`."""
    given = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(given, str):
        what = _describe(part)
        help = "a part is a mapping such as `{type: text, text: Hello}`; a content of one text may be that text"
        raise fail("PC0515", f"{name} {what}", message.content.span, help=help)
    kind = find_part_kind(given)
    if kind == "text" and not isinstance(part.get("text"), str):
        raise fail(
            "PC0515", f"{name} is of the type `{given}` and has no text", message.content.span, help="write `{type: text, text: Hello}`"
        )
    return kind


def _describe(part: Any) -> str:
    if not isinstance(part, Mapping):
        return f"is {'the bare text ' if isinstance(part, str) and part else ''}{show_value(part)}, not a mapping with a `type`"
    return f"has a `type` that must be a text, not {show_value(part['type'])}" if "type" in part else "has no `type`"


def _refuse_media(part: Mapping[str, Any], kind: str, name: str, message: MessageForm) -> None:
    told = part.get("content") if kind == "tool_result" else part.get("input") if kind == "tool_use" else None
    held = next(_iter_media(told), None)
    if held is not None:
        help = "put in words what it shows, leave the item out with `where`, or `tool_use` and `tool_result` out of `parts`"
        raise fail("PC0580", f"{name}, a `{kind}`, holds a part of the kind `{held}`, which no request can hold", message.span, help=help)


def _iter_media(value: Any) -> Iterator[str]:
    """The kinds of the pictures, files and sounds inside a value, by the shapes that services document and by how base64 begins."""
    pending = [("", value)]
    while pending:
        key, one = pending.pop()
        if isinstance(one, list | tuple):
            pending += [("", inner) for inner in reversed(one)]
        elif isinstance(one, Mapping):
            yield from _find_held(key, one)
            pending += reversed(list(one.items()))
        elif isinstance(one, str) and _may_hold(one) and (found := _ENCODED.search(one)) is not None:
            start = found["start"] or ""
            yield found["mime"] or next((kind for begin, kind in _STARTS.items() if start.startswith(begin)), "video/mp4")


def _may_hold(text: str) -> bool:
    """False only where `_ENCODED` finds nothing: a cheap test, since the pattern takes a while to compile."""
    return "AAAA" in text or any(start in text for start in _STARTS) or ";base64," in text.lower()


def _find_held(key: str, one: Mapping[str, Any]) -> Iterator[str]:
    """The kind of a mapping that stands under `key` of another: `{type: image, source: …}`, `{mimeType: image/png, data: …}`,
    `{image: {format: png, source: {bytes: …}}}`."""
    kind, mime = one.get("type"), next((one[name] for name in _MIMES if name in one), None)
    has_bytes = any(isinstance(one.get(name), str) for name in _BYTES)
    if isinstance(kind, str) and any(isinstance(one.get(name), str | Mapping) for name in _HELD.get(kind.lower(), ())):
        yield kind
    elif has_bytes and isinstance(mime, str) and mime.lower().startswith(_MEDIA):
        yield mime
    elif isinstance(one.get("b64_json"), str):
        yield "b64_json"
    elif (key.lower() in _NAMED and has_bytes) or (key.lower() in (*_NAMED, "document") and _is_source(one.get("source"))):
        yield key


def _is_source(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(name), str | Mapping) for name in _SOURCES)


def is_gone(left_out: Sequence[str]) -> bool:
    """Whether an item that has no other parts went because of `parts`, and not because its texts are blank."""
    return any(kind != _BLANK for kind in left_out)


def list_kinds(kinds: Sequence[str]) -> str:
    """Kinds as they are told, each once, with their number where they are several: `image`, 3 `tool_use`."""
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"`{kind}`" if count == 1 else f"{count} `{kind}`" for kind, count in counts.items())
