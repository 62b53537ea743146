"""Where the values of a JSON text stand. Found when asked for; the children of a container are found once."""

import json
import re
from collections.abc import Callable, Iterator

from promptc.diag.findings import Span
from promptc.diag.typed import Any

_SPACE = re.compile(r"[ \t\n]*")
_EXCERPT = 400
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


class JsonPlaces:
    """Of a text that is valid JSON. Line and column count characters, from 1."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._children: dict[int, dict[str, tuple[int, int]]] = {}

    def span_at(self, offset: int) -> Span:
        """The place of a character. Of a long line the excerpt is what stands around it."""
        text = self._text
        start = text.rfind("\n", 0, offset) + 1
        shown = start if offset - start < _EXCERPT else offset - _EXCERPT // 2
        end = text.find("\n", shown, shown + _EXCERPT)
        excerpt = text[shown : end if end >= 0 else shown + _EXCERPT]
        return Span(self._name, text.count("\n", 0, start) + 1, offset - start + 1, excerpt, shown - start)

    def find_value(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        return self.span_at(self._find(pointer)[1])

    def find_key(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
        return self.span_at(self._find(pointer)[0])

    def _find(self, pointer: str) -> tuple[int, int]:
        """The offsets of the key (or element) and the value."""
        value = _skip_space(self._text, 0)
        key = value
        for token in pointer.split("/")[1:]:
            step = self._find_children(value).get(token.replace("~1", "/").replace("~0", "~"))
            if step is None:
                break
            key, value = step
        return key, value

    def _find_children(self, at: int) -> dict[str, tuple[int, int]]:
        if at not in self._children:
            opening = self._text[at : at + 1]
            pairs = {"{": _iter_members, "[": _iter_elements}.get(opening)
            self._children[at] = dict(pairs(self._text, at)) if pairs else {}
        return self._children[at]


def _iter_members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip_space(text, at + 1)
    while text[at] != "}":
        key, after = _scan(text, at)
        value = _skip_space(text, _skip_space(text, after) + 1)
        yield key, (at, value)
        at = _skip_comma(text, _scan(text, value)[1])


def _iter_elements(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip_space(text, at + 1)
    number = 0
    while text[at] != "]":
        yield str(number), (at, at)
        number += 1
        at = _skip_comma(text, _scan(text, at)[1])


def _skip_comma(text: str, at: int) -> int:
    at = _skip_space(text, at)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
