"""State operations as a pack declares them (language.md §9)."""

from collections.abc import Callable, Mapping

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Protocol
from promptc.model.pack import Assert, PackModel
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template


class AnswerSchema(Protocol):
    """A JSON Schema without errors. `schema` is it as plain data."""

    @property
    def schema(self) -> Any: ...

    def check(self, document: Any) -> list[Diagnostic]:
        """What is wrong with a JSON document, each with its place."""


@frozen(eq=False)
class AnswerCheck:
    """What an answer must be: JSON by a schema, or a text with these headings in this order (not both); at most so many tokens; and what
    `claims` say of it holds.
    """

    span: Span
    schema: AnswerSchema | None = None
    headings: tuple[str, ...] = ()
    max: int | None = None
    claims: tuple[Assert, ...] = ()


@frozen(eq=False)
class Ask:
    """A question to a model: the pack that renders it, whether it is asked, what its answer must be, and what stands for it otherwise.

    `pack` is the manifest's path inside the folder of the pack that asks. `find_pack` loads it, the same object every time, and raises
    `PromptcError` with what is wrong with it.
    """

    name: str
    span: Span
    pack: str
    otherwise: Template
    find_pack: Callable[[], PackModel] = field(repr=False)
    when: Expression | None = None
    check: AnswerCheck | None = None


@frozen(eq=False)
class StateEdit:
    """A change of the state. `pointer` is a JSON pointer to what is changed; `span` is where it stands in the manifest."""

    pointer: str
    span: Span
    when: Expression | None


@frozen(eq=False)
class Set(StateEdit):
    """Puts the value there; what it replaces goes into `archive`, if that has a name."""

    value: Expression
    archive: str


@frozen(eq=False)
class Append(StateEdit):
    """Puts a value behind the last element of a list, or, with `each`, every element of a list. One of the two is there."""

    value: Expression | None
    each: Expression | None


@frozen(eq=False)
class Remove(StateEdit):
    """Takes a value out, with its key or place."""


@frozen(eq=False)
class Keep(StateEdit):
    """Takes out of a list all but the `last` elements, or all but those `where` holds for; into `archive`, if that has a name."""

    last: Expression | None
    where: Expression | None
    archive: str


@frozen(eq=False)
class Operation:
    """A named way from one state to another.

    `args` are its arguments with their defaults, plain data; `say` is what is said when it is done. `when` is None where none is
    written and where it reads nothing: an operation is due only by a condition.
    """

    name: str
    title: str
    span: Span
    args: Mapping[str, Any]
    when: Expression | None
    asks: tuple[Ask, ...]
    edits: tuple[StateEdit, ...]
    say: Template | None

    @property
    def archives(self) -> tuple[str, ...]:
        """The names of its archives, in the order of its edits."""
        return tuple(dict.fromkeys(edit.archive for edit in self.edits if isinstance(edit, Set | Keep) and edit.archive))

    def find_ask(self, name: str) -> Ask | None:
        """The ask of that name, or None."""
        return next((ask for ask in self.asks if ask.name == name), None)
