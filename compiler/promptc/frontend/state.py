"""The JSON Schema of a pack's states: what it says of a state, and what it fills in."""

from promptc.diag.findings import Diagnostic, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument
from promptc.frontend.schema.rules import FuelError, Functions, PatternLimitError
from promptc.frontend.schema.run_code import run_code

MAX_FILLED = 5_000_000
"""Keys that the defaults of a schema may add to one state."""

_SPARE_FUEL = 10_000
_MAX_FUEL = 20_000_000


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
        """Whether a state is surely valid: that of a rare few takes jsonschema to tell."""
        try:
            valid, _ = self._find_functions()
            return valid is not None and valid(document.value, [count_fuel(document)])
        except (FuelError, PatternLimitError, RecursionError):
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
        from promptc.frontend.schema.compile import make_functions
        from promptc.frontend.schema.verdict import Verdicts

        return make_functions(Verdicts(self.schema))

    def __reduce__(self) -> tuple[Any, ...]:
        return StateSchema, (self.schema, self.warnings, self.code)


def count_fuel(document: JsonDocument) -> int:
    """As many references as there are characters, for a value takes at least one: schemas that need more ask again and again."""
    return min(_SPARE_FUEL + len(document.source.text), _MAX_FUEL)
