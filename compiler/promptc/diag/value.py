"""Values in messages: shown as YAML and JSON write them, and their kinds as an author calls them. No word of Python's reaches a message."""

import re
from _json import encode_basestring
from collections.abc import Iterable, Iterator, Mapping

from promptc.diag.typed import Any

LONGEST = 60
"""Characters of a value that a message shows."""

_WORDS = {None: "null", True: "true", False: "false"}
_NO_TEXT = (
    r"~|null|Null|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)"
    r"|[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
)
"""What YAML reads as something else than text, unless it stands in quotes."""


def shorten(text: str, longest: int = LONGEST) -> str:
    """A name or text in a message: an author's may be of any length."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def show_value(value: Any) -> str:
    """The value as its author writes it: `ten`, `"10"`, 10, true, null, `{"id": "ada"}`; what is no data by its kind.

    Never more than `LONGEST` characters of it, at a cost that does not grow with the value.
    """
    if isinstance(value, str):
        return f"`{_spell(value)}`" if value else "an empty text"
    if isinstance(value, list | tuple | Mapping):
        return f"`{_write(value)}`" if value else f"an empty {'mapping' if isinstance(value, Mapping) else 'list'}"
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    return shorten(str(value)) if isinstance(value, int | float) else name_kind(value)


def join_names(names: Iterable[object]) -> str:
    """Names in a sentence: `` `a`, `b` ``."""
    return ", ".join(f"`{name}`" for name in names)


def _spell(text: str) -> str:
    """A text, in quotes where it would be no text or another one without."""
    head = text[:LONGEST]
    is_other = head == text and re.fullmatch(_NO_TEXT, text)
    is_plain = head.isprintable() and head == head.strip() and head[0] not in "{[\"'" and not is_other
    return shorten(text if is_plain else encode_basestring(text[: LONGEST + 1]))


def _write(value: Any) -> str:
    made = ""
    for piece in _iter_json(value):
        made += piece
        if len(made) > LONGEST:
            break
    return shorten(made)


def _iter_json(value: Any) -> Iterator[str]:
    """JSON, of which each level inside another begins with a piece of its own: whoever stops soon does not go deep."""
    if isinstance(value, Mapping):
        for place, (key, inner) in enumerate(value.items()):
            yield f"{', ' if place else '{'}{encode_basestring(str(key)[: LONGEST + 1])}: "
            yield from _iter_json(inner)
        yield "}" if value else "{}"
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield ", " if place else "["
            yield from _iter_json(inner)
        yield "]" if value else "[]"
    elif isinstance(value, str):
        yield encode_basestring(value[: LONGEST + 1])
    else:
        yield show_value(value)


def name_kind(value: object) -> str:
    """What an author calls a value of this kind: "a text", "a list", "none" ..."""
    kind = type(value).__name__
    return find_kind("generator" if kind not in _KINDS and hasattr(value, "__iter__") else kind)


def find_kind(kind: str) -> str:
    """The same for the name of a Python type."""
    return _KINDS.get(kind, "something that is no data")


UNMADE = "a sequence that is not made yet"
"""What `map`, `select` and their like give before `list`."""

_KINDS = {
    "NoneType": "none",
    "generator": UNMADE,
    "str": "a text",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "list": "a list",
    "tuple": "a list",
    "range": "a range",
    "Group": "a group",
    "dict": "a mapping",
    "Missing": "an undefined value",
    "Blank": "an undefined value",
    "Macro": "a macro",
    "Namespace": "a namespace",
    "Loop": "the loop",
    "Module": "an imported template",
    "Cycler": "a cycler",
    "Joiner": "a joiner",
    "function": "a function",
    "BlockCall": "a block",
    "TemplateBlocks": "the template itself",
}
