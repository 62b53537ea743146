"""States and their schemas: `load_state` reads, checks and fills a state, `set_values` changes one, `load_state_schema` compiles a schema.

A `StateSchema` contains code compiled from a JSON Schema, so a valid state needs neither the schema nor the modules that explain faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from promptc.diag.findings import Diagnostic, PromptcError, Source, Span, UsageError, count_noun, fail
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, JsonPlaces, copy_plain, decode_json, load_json, load_source
from promptc.frontend.schema.runtime import EndlessDefaultError, FuelError, Functions, run_code
from promptc.model.state import LazyDigest, State
from promptc.text.json import MISSING, extend_pointer, find_place, join_pointer, read_at, split_pointer

MAX_FILLED = 5_000_000
"""The most keys that the defaults of a schema may add to one state."""

_SPARE_FUEL = 10_000
_MAX_FUEL = 20_000_000
_DEFAULT_FUEL = 10_000
"""The most steps of the check that looks for invalid defaults."""

Change = tuple[str, str]
"""A JSON pointer (RFC 6901; `-` is the place after the last element of a list) and the JSON text of the value to put there."""

_Refuse = Callable[[str, str, str, str], UsageError]
"""Makes the error for a pointer: the pointer, why it leads nowhere, the pointer of the place where it ends, and the help."""

_QUOTES = "the value is JSON: a string is in double quotes, such as '\"calm\"'"


def load_state(given: bytes | Source | Mapping[str, Any], schema: StateSchema | None, name: str, changes: Sequence[Change] = ()) -> State:
    """Return the state with `changes` made, ready to render.

    Raises `PromptcError` with every finding of the parsing or of the validation.
    """
    value, _ = read_state(given, schema, name, changes)
    return _fill(value, schema, name)


def read_state(
    given: bytes | Source | Mapping[str, Any], schema: StateSchema | None, name: str, changes: Sequence[Change] = ()
) -> tuple[dict[str, Any], int]:
    """Return the valid state without defaults, and the length of its text in characters. Raises what `load_state` raises."""
    plain = copy_plain(given) if isinstance(given, Mapping) and not changes else None
    if plain is not None and (schema is None or schema.is_valid(plain.value, plain.size)):
        return plain.value, plain.size
    text = given if isinstance(given, Source) else decode_json(given if isinstance(given, bytes) else dump_state(given), name)
    document = load_source(text)
    if changes:
        document = set_values(document, changes)
    return _check(document, schema), len(document.source.text)


def load_document(document: JsonDocument, schema: StateSchema | None) -> State:
    """Return the state of a JSON text that was parsed. Raises `PromptcError` with every finding of the validation."""
    return _fill(_check(document, schema), schema, document.source.name)


def _check(document: JsonDocument, schema: StateSchema | None) -> dict[str, Any]:
    value = document.value
    if not isinstance(value, dict):
        raise fail("PC0390", "a state must be a JSON object", document.span(""), help='put the value under a key: `{"items": …}`')
    found = schema.check(document) if schema is not None else []
    if found:
        raise PromptcError(found)
    return value


def _fill(value: dict[str, Any], schema: StateSchema | None, name: str) -> State:
    late = LazyDigest(value=value)
    if schema is None:
        return State(value, late, name, shared=())
    return State(schema.fill(value), late, name, shared=schema.list_shared())


def dump_state(given: Mapping[str, Any], what: str = "the state") -> bytes:
    """Return plain data as JSON text; findings call it `what`. Raises `PromptcError` (PC0391) for data that is not plain."""
    import json

    try:
        return json.dumps(given, ensure_ascii=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise fail("PC0391", f"{what} is not plain JSON: {error}", help="pass dicts, lists, strings, numbers, booleans and None") from error


def load_state_schema(raw: bytes, name: str, span: Span) -> StateSchema:
    """Return the compiled JSON Schema (2020-12) of a pack's states. `name` is the file, and `span` is where the pack names it.

    Only references inside the file are followed (PC0312). Raises a PromptcError with every finding if one is an error. Unknown keywords and
    invalid defaults are among the schema's `warnings`.
    """
    from promptc.frontend.schema.check import Verdicts, compile_schema
    from promptc.frontend.schema.lint import lint_offered, lint_schema

    document = load_json(raw, name)
    found = [replace(finding, span=document.key_span(pointer)) for pointer, finding in lint_schema(document.value)]
    if any(finding.level == "error" for finding in found):
        raise PromptcError(found)
    found += [replace(finding, span=document.key_span(pointer)) for pointer, finding in lint_offered(document.value)]
    verdicts = Verdicts(document.value)
    try:
        code, functions = compile_schema(verdicts)
    except EndlessDefaultError:
        message = "a default in this schema contains itself, without end"
        raise fail("PC0313", message, document.span(""), help=f"remove that default from the schema that {span} names") from None
    return StateSchema(verdicts.root, (*found, *_iter_wrong_defaults(document, verdicts)), code, [functions])


def _iter_wrong_defaults(document: JsonDocument, verdicts: Any) -> Iterator[Diagnostic]:
    from promptc.frontend.schema.faults import STATE_WORDS
    from promptc.frontend.schema.lint import iter_schemas

    for pointer, schema in iter_schemas(verdicts.root):
        if isinstance(schema, dict) and "default" in schema and _is_wrong_default(schema, verdicts):
            message = f"this default, {STATE_WORDS.show(schema['default'])}, does not match its own schema"
            yield Diagnostic("PC0317", message, document.key_span(f"{pointer}/default"), "write a default that its schema allows", "warn")


def _is_wrong_default(schema: Any, verdicts: Any) -> bool:
    """Return whether a schema's default is known to be invalid. A default that takes too many steps to check counts as valid."""
    try:
        return not verdicts.make_check(schema)(schema["default"], [_DEFAULT_FUEL])
    except (FuelError, RecursionError):
        return False


@frozen(eq=False)
class StateSchema:
    """A schema without errors, in compiled form. It may be pickled.

    `warnings` are findings about doubtful parts of the schema. `code` is the output of `compile_schema`; it is valid for one version of
    Python only, and is run when the first state is checked. `schema` is needed only to explain invalid states, or if there is no code.
    """

    schema: Any
    warnings: tuple[Diagnostic, ...]
    code: bytes = field(repr=False)
    _ready: list[Functions] = field(default_factory=list, repr=False)
    _verdicts: list[Any] = field(default_factory=list, repr=False)

    def is_valid(self, value: Any, size: int) -> bool:
        """Return whether a state is known to be valid. `size` is the length of its text in characters.

        False may also mean that the check took too many steps, which is rare; `check` then decides.
        """
        try:
            valid, _, _ = self._load_functions()
            return valid(value, [count_fuel(size)])
        except (FuelError, RecursionError):
            return False

    def check(self, document: JsonDocument) -> list[Diagnostic]:
        """Return what is wrong with a state, each finding with its place: the first ones, and one that counts the rest."""
        size = len(document.source.text)
        if self.is_valid(document.value, size):
            return []
        from promptc.frontend.schema.faults import describe_state

        return describe_state(self._load_verdicts(), document, count_fuel(size))

    def fill(self, value: Any) -> Any:
        """Return the value with everything that its schema declares and it lacks: the default, or else None.

        Mappings stay in code-point order of their keys, and parts that need nothing stay the same objects. Raises `PromptcError` (PC0315)
        if more than MAX_FILLED keys would be added.
        """
        _, fill, _ = self._load_functions()
        try:
            return fill(value, [MAX_FILLED])
        except FuelError:
            raise fail(
                "PC0315",
                f"the defaults of the schema add more than {MAX_FILLED} keys to this state",
                help="remove declared keys that nothing reads",
            ) from None

    def list_shared(self) -> list[Any]:
        """Return the mappings and lists that may be filled in at several places of a state."""
        _, _, shared = self._load_functions()
        return shared

    def _load_functions(self) -> Functions:
        if not self._ready:
            self._ready.append(run_code(self.code) if self.code else self._make_functions())
        return self._ready[0]

    def _make_functions(self) -> Functions:
        from promptc.frontend.schema.check import make_functions

        return make_functions(self._load_verdicts())

    def _load_verdicts(self) -> Any:
        """Return the checks of all subschemas. They are made once: each such object is a reference cycle."""
        from promptc.frontend.schema.check import Verdicts

        if not self._verdicts:
            self._verdicts.append(Verdicts(self.schema))
        return self._verdicts[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return StateSchema, (self.schema, self.warnings, self.code)


def count_fuel(size: int) -> int:
    """Return how many references may be followed to check a value whose text has `size` characters.

    The number grows with the characters, because a value has at least one. A schema that needs more is checking the same values repeatedly.
    """
    return min(_SPARE_FUEL + size, _MAX_FUEL)


def set_values(document: JsonDocument, changes: Sequence[Change], by: str = "--set") -> JsonDocument:
    """Return the document with every change made, in order. Missing mappings on the way are created.

    The place of a value that was set is in its own text (`--set /pointer:1:1`, where `by` names what set it); all other places are
    unchanged. Raises `UsageError` for a text that is not JSON, and for a pointer that leads nowhere (PC0722).
    """
    texts, refuse = _load_all(changes, by), partial(_refuse, document, by)
    value, places = document.value, []
    for (pointer, _), given in zip(changes, texts, strict=True):
        value = _put(value, _split(pointer, refuse), 0, given.value, refuse)
        places.append((_settle(pointer, value), given))
    whole = "".join((document.source.text, *(given.source.text for _, given in places)))
    changed = _ChangedPlaces(document, tuple(places))
    return JsonDocument(value, Source(document.source.name, whole), [changed])


def _load_all(changes: Sequence[Change], by: str) -> list[JsonDocument]:
    """Return the parsed JSON texts. Raises `UsageError` with the findings of all texts that are not JSON."""
    texts: list[JsonDocument] = []
    findings: list[Diagnostic] = []
    for pointer, text in changes:
        try:
            texts.append(load_json(text.encode("utf-8", "surrogatepass"), f"{by} {pointer}"))
        except PromptcError as error:
            findings += [replace(found, help=found.help or _QUOTES) for found in error.diagnostics]
    if findings:
        raise UsageError(findings)
    return texts


def _split(pointer: str, refuse: _Refuse) -> Sequence[str]:
    if pointer and not pointer.startswith("/"):
        from shlex import quote

        written = pointer if "/" in pointer else pointer.replace(".", "/")
        raise refuse(pointer, "a JSON pointer begins with `/`", "", f"write `--set {quote(f'/{written}=...')}`")
    return split_pointer(pointer)


def _put(value: Any, way: Sequence[str], depth: int, new: Any, refuse: _Refuse) -> Any:
    """Return `value` with `new` at the end of the path `way`.

    Containers along the path are copied, and all else is shared. Keys stay in code-point order.
    """
    if depth == len(way):
        return new
    part = way[depth]
    if isinstance(value, list):
        at = _read_place(value, way, depth, refuse)
        inner = _put(value[at] if at < len(value) else {}, way, depth + 1, new, refuse)
        return [*value[:at], inner, *value[at + 1 :]]
    if isinstance(value, dict):
        inner = _put(value.get(part, {}), way, depth + 1, new, refuse)
        return dict(sorted({**value, part: inner}.items()))
    above = join_pointer(way[:depth])
    raise refuse(join_pointer(way), f"`{above}` is neither a list nor a mapping", above, "set the whole value instead")


def _read_place(value: list[Any], way: Sequence[str], depth: int, refuse: _Refuse) -> int:
    part = way[depth]
    if part == "-":
        return len(value)
    place = find_place(value, part)
    if place is not None:
        return place
    above = join_pointer(way[:depth])
    last = f"; its elements are 0 to {len(value) - 1}" if len(value) > 1 else ""
    message = f"the list `{above}` has {count_noun(len(value), 'element')}, but none at `{part}`{last}"
    raise refuse(join_pointer(way), message, above, f"write `{above}/-` to append")


def _settle(pointer: str, value: Any) -> str:
    """Return the pointer with every `-` replaced by the index of the element that was appended there."""
    settled = ""
    for step in split_pointer(pointer):
        if isinstance(value, list):
            step = str(len(value) - 1) if step == "-" else step
            value = value[int(step)]
        else:
            value = value[step]
        settled = extend_pointer(settled, step)
    return settled


def _refuse(document: JsonDocument, by: str, pointer: str, why: str, at: str, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0722", f"`{by} {pointer}` leads nowhere: {why}", document.span(at), help)])


class _ChangedPlaces(JsonPlaces):
    """The places of a document and of the values set in it; the last value set at or above a pointer counts.

    A mapping that was created on the way to a value has the place of that value.
    """

    def __init__(self, document: JsonDocument, changes: tuple[tuple[str, JsonDocument], ...]) -> None:
        self._document = document
        self._changes = changes

    def value_span(self, pointer: str) -> Span:
        """Return the place of the value at a pointer, or of the nearest existing value that encloses it."""
        document, inner = self._choose(pointer)
        return document.span(inner)

    def key_span(self, pointer: str) -> Span:
        """Return the place of the pointer's last key, or of the value if it has no key."""
        document, inner = self._choose(pointer)
        return document.key_span(inner)

    def _choose(self, pointer: str) -> tuple[JsonDocument, str]:
        for at, document in reversed(self._changes):
            if pointer == at or pointer.startswith(f"{at}/"):
                return document, pointer[len(at) :]
        made = (document for at, document in reversed(self._changes) if at.startswith(f"{pointer}/"))
        found = next(made, None) if read_at(self._document.value, split_pointer(pointer)) is MISSING else None
        return (found, "") if found is not None else (self._document, pointer)
