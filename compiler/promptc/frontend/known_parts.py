"""JSON texts of which most stands in texts that were read before: what stands at their keys is read once."""

import re
from _json import scanstring

from promptc.diag.findings import Source
from promptc.diag.typed import Any
from promptc.files.reading import decode_text
from promptc.frontend.json import MAX_STATE_BYTES, JsonDocument, load_json, read_value

_MOST = 8_000_000
"""Characters that are kept of parts."""

_MOST_ALIKE = 16
"""Parts that are kept of one key, those that were met last."""

_SPACE = re.compile(r"[ \t\n]*")
_DELIMITED = ("{", "[", '"')


class InternedJson:
    """What stood at the keys of the objects that were read. Not for several threads."""

    __slots__ = ("_by_key", "_length")

    def __init__(self) -> None:
        self._by_key: dict[str, list[tuple[str, Any]]] = {}
        self._length = 0

    def load(self, raw: bytes, name: str) -> JsonDocument:
        """What `load_json` gives. A list, an object or a text that reads as one before did at the same key, is the same object as there."""
        if len(raw) <= MAX_STATE_BYTES:
            text = decode_text(raw, name)
            value = self._read_object(text)
            if value is not None:
                return JsonDocument(value, Source(name, text))
        return load_json(raw, name)

    def _read_object(self, text: str) -> dict[str, Any] | None:
        """The object of a text; None for anything else, and for what has to be looked at."""
        at = _skip(text, 0)
        if text[at : at + 1] != "{":
            return None
        found: dict[str, Any] = {}
        mark = ","
        while mark == ",":
            key, at = _read_key(text, _skip(text, at + 1))
            if key is None or key in found:
                return None
            read = self._read_part(key, text, at)
            if read is None:
                return None
            found[key], end = read
            at = _skip(text, end)
            mark = text[at : at + 1]
        if mark != "}" or _skip(text, at + 1) < len(text):
            return None
        return dict(sorted(found.items()))

    def _read_part(self, key: str, text: str, at: int) -> tuple[Any, int] | None:
        """The value that begins at `at`, and where it ends. What ends by a mark of its own is known by its text."""
        known = self._by_key.setdefault(key, [])
        for number, (part, value) in enumerate(known):
            if text.startswith(part, at):
                if number:
                    known.insert(0, known.pop(number))
                return value, at + len(part)
        read = read_value(text, at)
        if read is not None and text.startswith(_DELIMITED, at):
            self._keep(known, text[at : read[1]], read[0])
        return read

    def _keep(self, known: list[tuple[str, Any]], part: str, value: Any) -> None:
        self._length += len(part)
        if self._length > _MOST:
            for parts in self._by_key.values():
                parts.clear()
            self._length = len(part)
        known.insert(0, (part, value))
        del known[_MOST_ALIKE:]


def _skip(text: str, at: int) -> int:
    """Where something but white space stands, from `at` on."""
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _read_key(text: str, at: int) -> tuple[str | None, int]:
    """A key that is written as it is, and where its value begins; None for any other."""
    try:
        key, end = scanstring(text, at + 1, True) if text[at : at + 1] == '"' else (None, at)
    except ValueError:
        return None, at
    colon = _skip(text, end)
    if key is None or len(key) != end - at - 2 or not key.isprintable() or text[colon : colon + 1] != ":":
        return None, at
    return key, _skip(text, colon + 1)
