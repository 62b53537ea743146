"""The JSON Schema of a pack's states: what it says of a state, and what it fills in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, load_json, load_plain
from promptc.frontend.schema.runtime import FuelError, Functions, run_code
from promptc.model.state import LazyDigest, State
from promptc.text.json import render_digest

MAX_FILLED = 5_000_000
"""Keys that the defaults of a schema may add to one state."""

_SPARE_FUEL = 10_000
_MAX_FUEL = 20_000_000


def load_state(given: bytes | Mapping[str, Any], schema: StateSchema | None, name: str, changes: Sequence[tuple[str, str]] = ()) -> State:
    """The state with `changes` made, ready to render. Raises `PromptcError` with every finding of the reading, or of the validation."""
    document = load_plain(given, name) if not isinstance(given, bytes) and not changes else None
    if document is not None and isinstance(document.value, dict) and (schema is None or schema.is_valid(document)):
        return _fill(document, schema)
    document = load_json(given if isinstance(given, bytes) else _dump(given), name)
    if changes:
        from promptc.frontend.json_places import set_values

        document = set_values(document, changes)
    return load_document(document, schema)


def load_document(document: JsonDocument, schema: StateSchema | None) -> State:
    """The state of a JSON text that was read. Raises `PromptcError` with every finding of the validation."""
    if not isinstance(document.value, dict):
        raise fail("PC0390", "a state is a mapping (a JSON object)", document.span(""), help="enclose it in `{ }`")
    found = schema.check(document) if schema is not None else []
    if found:
        raise PromptcError(found)
    return _fill(document, schema)


def _fill(document: JsonDocument, schema: StateSchema | None) -> State:
    value = schema.fill(document.value) if schema is not None else document.value
    late = LazyDigest(render_digest(document.canonical)) if document.is_rendered else LazyDigest(render=lambda: document.canonical)
    return State(value, late, document.source.name)


def _dump(given: Mapping[str, Any]) -> bytes:
    import json

    try:
        return json.dumps(given, ensure_ascii=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise fail(
            "PC0391", f"the state is not plain JSON: {error}", help="pass dicts, lists, strings, numbers, booleans and None"
        ) from error


@frozen(eq=False)
class StateSchema:
    """A schema without errors. `warnings` are what is doubtful in it, `code` is what `compile_schema` made of it: it holds for one
    version of Python, and is run when a state is first checked. May be pickled; the schema is asked of invalid states only, or where
    there is no code.
    """

    schema: Any
    warnings: tuple[Diagnostic, ...]
    code: bytes = field(repr=False)
    _ready: list[Functions] = field(default_factory=list, repr=False)

    def is_valid(self, document: JsonDocument) -> bool:
        """Whether a state is surely valid: of a rare few it takes too many steps to tell."""
        try:
            valid, _ = self._find_functions()
            return valid(document.value, [count_fuel(document)])
        except (FuelError, RecursionError):
            return False

    def check(self, document: JsonDocument) -> list[Diagnostic]:
        """What is wrong with a state, each with its place: at most MAX_SHOWN findings, and one that says how many more there are."""
        if self.is_valid(document):
            return []
        from promptc.frontend.state_findings import describe_state

        return describe_state(self.schema, document, count_fuel(document))

    def fill(self, value: Any) -> Any:
        """The value with everything that its schema declares and it leaves out: the default, else none.

        Mappings stay in code-point order of their keys; parts that need nothing stay the same objects. Raises `PromptcError` (PC0315)
        where that adds more than MAX_FILLED keys.
        """
        _, fill = self._find_functions()
        try:
            return fill(value, [MAX_FILLED])
        except FuelError:
            raise fail("PC0315", f"the defaults of the schema add more than {MAX_FILLED} keys to this state") from None

    def _find_functions(self) -> Functions:
        if not self._ready:
            self._ready.append(run_code(self.code) if self.code else self._make_functions())
        return self._ready[0]

    def _make_functions(self) -> Functions:
        from promptc.frontend.schema.check import Verdicts, make_functions

        return make_functions(Verdicts(self.schema))

    def __reduce__(self) -> tuple[Any, ...]:
        return StateSchema, (self.schema, self.warnings, self.code)


def count_fuel(document: JsonDocument) -> int:
    """As many references as there are characters, for a value takes at least one: schemas that need more ask again and again."""
    return min(_SPARE_FUEL + len(document.source.text), _MAX_FUEL)
