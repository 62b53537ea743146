"""A message's list of parts: every one passes, is left out by `parts` and noted, or stops the render (language.md §4)."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.errors import fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.section import PART_KINDS, MessageForm, find_part_kind, spell_key
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
"""By type: where a mapping in a tool's result has one of these keys, it is a picture, a file or a sound, and no plain data."""
_MIMES = ("mimeType", "mime_type", "media_type")
_BYTES = ("data", "blob", "bytes")
_MEDIA = ("image/", "audio/", "video/", "application/pdf", "application/octet-stream")
"""How the names of their kinds begin, beside bytes or in the address of data (`data:image/png;base64,`)."""


@frozen(eq=False)
class Parts:
    """What passes of a content, each part as it was given and as it is rendered; the kinds of those that do not, one for each, in order."""

    passing: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    left_out: tuple[str, ...]


def read_parts(content: Sequence[Any], message: MessageForm, item: str) -> Parts:
    """The parts of the content of `item`, which is how findings name it.

    Raises PC0515 for what is no part, PC0561 for one of a kind that `parts` lets pass and no request can hold, PC0580 for a result of a
    tool that holds a picture, a file or a sound: as JSON it would be so many tokens of base64.
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
    return Parts(tuple(passing), tuple(left_out))


def _find_kind(part: Any, name: str, message: MessageForm) -> str:
    """What the part is called in `parts`."""
    given = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(given, str):
        what = "has no `type`" if isinstance(part, Mapping) else f"is {_describe(part)}, not a mapping with a `type`"
        help = "a part is a mapping such as `{type: text, text: Hello}`; a content of one text may be that text"
        raise fail("PC0515", f"{name} {what}", message.content.span, help=help)
    kind = find_part_kind(given)
    if kind == "text" and not isinstance(part.get("text"), str):
        raise fail(
            "PC0515", f"{name} is of the type `{given}` and has no text", message.content.span, help="write `{type: text, text: Hello}`"
        )
    return kind


def _describe(value: Any) -> str:
    if isinstance(value, str):
        return "a bare text"
    return "a list" if isinstance(value, list | tuple) else f"`{spell_key(value)}`"


def _refuse_media(part: Mapping[str, Any], kind: str, name: str, message: MessageForm) -> None:
    held = next(_iter_media(part.get("content")), None) if kind == "tool_result" else None
    if held is not None:
        help = "put in words what it shows, leave the item out with `where`, or `tool_use` and `tool_result` out of `parts`"
        raise fail(
            "PC0580", f"{name}, a `tool_result`, holds a part of the kind `{held}`, which no request can hold", message.span, help=help
        )


def _iter_media(value: Any) -> Iterator[str]:
    """The kinds of the pictures, files and sounds inside a value."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, list | tuple):
            pending += reversed(one)
        elif isinstance(one, Mapping):
            kind, mime = one.get("type"), next((one[key] for key in _MIMES if key in one), None)
            if isinstance(kind, str) and any(isinstance(one.get(key), str | Mapping) for key in _HELD.get(kind, ())):
                yield kind
            elif _is_media(mime) and any(isinstance(one.get(key), str) for key in _BYTES):
                yield str(mime)
            pending += reversed(list(one.values()))
        elif isinstance(one, str) and one[:5].lower() == "data:" and _is_media(one[5:]) and ";base64," in one[:200]:
            yield one[5:].partition(";")[0]


def _is_media(mime: Any) -> bool:
    return isinstance(mime, str) and mime.lower().startswith(_MEDIA)


def is_gone(left_out: Sequence[str]) -> bool:
    """Whether an item that has no other parts went because of `parts`, and not because its texts are blank."""
    return any(kind != _BLANK for kind in left_out)


def list_kinds(kinds: Sequence[str]) -> str:
    """Kinds as they are told, each once, with their number where they are several: `image`, 3 `tool_use`."""
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"`{kind}`" if count == 1 else f"{count} `{kind}`" for kind, count in counts.items())
