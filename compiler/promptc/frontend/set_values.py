"""Changes to a state before it is validated: values put at JSON pointers."""

from collections.abc import Sequence

from promptc.diag.findings import Diagnostic, PromptcError, Source, Span, UsageError, count_noun
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.json_places import JsonPlaces

Change = tuple[str, str]
"""A JSON pointer (RFC 6901; `-` behind the last element of a list) and the JSON text of the value to put there."""


def set_values(document: JsonDocument, changes: Sequence[Change]) -> JsonDocument:
    """The document with every change made, in order; mappings on the way that are not there are made.

    What was set is found at its own text (`--set /pointer:1:1`), all else where it stood. `UsageError` for a text that is no JSON, and
    for a pointer that leads nowhere (PC0722).
    """
    texts = _load_all(changes)
    value, places = document.value, []
    for (pointer, _), given in zip(changes, texts, strict=True):
        value = _put(value, _split(pointer, document), 0, given.value, document)
        places.append((_settle(pointer, value), given))
    whole = "".join((document.source.text, *(given.source.text for _, given in places)))
    changed = _ChangedPlaces(document, tuple(places))
    return JsonDocument(value, Source(document.source.name, whole), [changed])


class _ChangedPlaces(JsonPlaces):
    """The places of a document and of the values set in it; the newest value at or above a pointer counts. What was made on the way to a
    value stands where that value does.
    """

    def __init__(self, document: JsonDocument, changes: tuple[tuple[str, JsonDocument], ...]) -> None:
        self._document = document
        self._changes = changes

    def find_value(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        document, inner = self._choose(pointer)
        return document.span(inner)

    def find_key(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
        document, inner = self._choose(pointer)
        return document.key_span(inner)

    def _choose(self, pointer: str) -> tuple[JsonDocument, str]:
        for at, document in reversed(self._changes):
            if pointer == at or pointer.startswith(f"{at}/"):
                return document, pointer[len(at) :]
        made = (document for at, document in reversed(self._changes) if at.startswith(f"{pointer}/"))
        found = next(made, None) if not _has(self._document.value, pointer) else None
        return (found, "") if found is not None else (self._document, pointer)


def _has(value: Any, pointer: str) -> bool:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return False
    return True


def _load_all(changes: Sequence[Change]) -> list[JsonDocument]:
    """The JSON texts, with the findings of all of them when one is none."""
    texts: list[JsonDocument] = []
    findings: list[Diagnostic] = []
    for pointer, text in changes:
        try:
            texts.append(load_json(text.encode("utf-8", "surrogatepass"), f"--set {pointer}"))
        except PromptcError as error:
            findings += [replace(found, help=found.help or _QUOTES) for found in error.diagnostics]
    if findings:
        raise UsageError(findings)
    return texts


_QUOTES = "the value is JSON: a text stands in double quotes, such as '\"calm\"'"


def _split(pointer: str, document: JsonDocument) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise _refuse(pointer, "a JSON pointer begins with `/`", document.span(""), f"`--set /{pointer}=...`")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _put(value: Any, way: Sequence[str], depth: int, new: Any, document: JsonDocument) -> Any:
    """`value` with `new` at the end of the way: what lies on it is copied, all else shared. Keys stay in code-point order."""
    if depth == len(way):
        return new
    part = way[depth]
    if isinstance(value, list):
        at = _find_place(value, way, depth, document)
        inner = _put(value[at] if at < len(value) else {}, way, depth + 1, new, document)
        return [*value[:at], inner, *value[at + 1 :]]
    if isinstance(value, dict):
        inner = _put(value.get(part, {}), way, depth + 1, new, document)
        return dict(sorted({**value, part: inner}.items()))
    above = "".join(f"/{step}" for step in way[:depth])
    raise _refuse(_join(way), f"`{above}` is neither a list nor a mapping", document.span(above), "set the whole value instead")


def _find_place(value: list[Any], way: Sequence[str], depth: int, document: JsonDocument) -> int:
    part = way[depth]
    if part == "-":
        return len(value)
    if part.isascii() and part.isdigit() and int(part[:9]) < len(value):
        return int(part)
    above = _join(way[:depth])
    last = f"; its elements are 0 to {len(value) - 1}" if len(value) > 1 else ""
    message = f"the list `{above}` has {count_noun(len(value), 'element')} and none at `{part}`{last}"
    raise _refuse(_join(way), message, document.span(above), f"`{above}/-` appends")


def _settle(pointer: str, value: Any) -> str:
    """The pointer with every `-` as the number of the element that was appended there."""
    settled = ""
    for part in pointer.split("/")[1:]:
        if isinstance(value, list):
            part = str(len(value) - 1) if part == "-" else part
            value = value[int(part)]
        else:
            value = value[part.replace("~1", "/").replace("~0", "~")]
        settled += f"/{part}"
    return settled


def _join(way: Sequence[str]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in way)


def _refuse(pointer: str, why: str, span: Span, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0722", f"`--set {pointer}` leads nowhere: {why}", span, help)])
