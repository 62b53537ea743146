"""What a pack says to models and does to a state: the operations it declares, with their questions and edits (contract.md §9), and the
facts of each `Provider` that messages are made for (contract.md §8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal, Protocol
from promptc.model.pack import Assert, PackModel
from promptc.model.section import Shown
from promptc.template.compile import Expression, Template

PROVIDERS = ("openai", "openai-responses", "openai-compatible", "anthropic", "gemini", "ollama")
"""The names of the providers, which are formats of `render`."""

CHAT = "chat"
"""The format that the chat template of the pack's tokenizer makes of messages, and what counts them then."""

FORMATS = ("text", "messages", CHAT, *PROVIDERS)
"""What a prompt may be rendered as: text, messages, the text of a chat template, or messages for a provider."""


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

    `pack` is the manifest's path inside the folder of the pack that asks. `load_pack` loads it, the same object every time, and raises
    `PromptcError` with what is wrong with it.
    """

    name: str
    span: Span
    pack: str
    otherwise: Template
    load_pack: Callable[[], PackModel] = field(repr=False)
    when: Expression | None = None
    check: AnswerCheck | None = None

    def is_asked(self, names: Mapping[str, Any]) -> bool:
        """Whether it is asked, where these names have these values."""
        return self.when is None or bool(self.when.evaluate(names))


@frozen(eq=False)
class StateEdit:
    """A change of the state. `pointer` is a JSON pointer to what is changed; `span` is where it stands in the manifest."""

    pointer: str
    span: Span
    when: Expression | None


@frozen(eq=False)
class Set(StateEdit):
    """Puts the value there; what it replaces, or that there was nothing, goes into `archive`, if that has a name."""

    value: Expression
    archive: str


@frozen(eq=False)
class Append(StateEdit):
    """Puts a value behind the last element of a list, or, with `each`, every element of a list. One of the two is there. What was put
    there is noted in `archive`, if that has a name.
    """

    value: Expression | None
    each: Expression | None
    archive: str


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
        return tuple(dict.fromkeys(edit.archive for edit in self.edits if isinstance(edit, Set | Append | Keep) and edit.archive))

    def find_ask(self, name: str) -> Ask | None:
        """The ask of that name, or None."""
        return next((ask for ask in self.asks if ask.name == name), None)


@frozen
class Breakpoints:
    """Where a provider caches: how many breakpoints a request may hold (0: none, it caches by itself or not at all).

    `models` are beginnings of the names of the models that take them (empty: all do); `minimums` the fewest tokens that are cached, by
    the beginning of a model's name.
    """

    count: int
    models: tuple[str, ...] = ()
    minimums: tuple[tuple[str, int], ...] = ()

    def takes(self, model: str | None) -> bool:
        """Whether a request to this model may hold any. A model's name may stand behind that of who passes it on: `openai/gpt-5.6`."""
        return self.count > 0 and (not self.models or (model is not None and _cut_own_name(model).startswith(self.models)))

    def choose_minimum(self, model: str | None) -> int:
        """The fewest tokens that are cached: of the model's family, else the lowest that is known; 0 where none is."""
        name = _cut_own_name(model or "")
        known = [(len(start), tokens) for start, tokens in self.minimums if name.startswith(start)]
        return max(known)[1] if known else min((tokens for _, tokens in self.minimums), default=0)


@frozen
class ToolSearch:
    """How a provider lets a model search deferred tools: what of one is `shown` before it is found, and the `tokens` of the tool that
    searches. `body` is that tool in a request, `models` are the beginnings of the names of the models that can (empty: all).
    """

    shown: Shown
    tokens: int
    body: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()

    def takes(self, model: str | None) -> bool:
        """Whether this model can. One that nobody names is taken to be one of those."""
        return model is None or not self.models or _cut_own_name(model).startswith(self.models)


UNPROVIDED = ToolSearch("described", 0)
"""Messages that are no provider's: the most that a provider shows of a deferred tool."""


@frozen
class Caching:
    """How a provider keeps beginnings of the requests to some of its models.

    `by`: `prefix` finds any common beginning by itself, in whole steps of `step` tokens, from `least` tokens on; `marks` finds beginnings
    that ended at a breakpoint. `lookback`: how many blocks before a breakpoint it looks for one (0: all). `has_own_mark`: the provider sets
    a breakpoint at the end of each request, too. `minutes`: how long a beginning lives that is not read (0: nobody says).
    `read` and `write`: what a token costs there, in per cent of one that is not cached; None where nobody says, or nothing is charged.
    """

    by: Literal["prefix", "marks"]
    models: tuple[str, ...] = ()
    least: int = 0
    step: int = 1
    lookback: int = 0
    has_own_mark: bool = False
    minutes: int = 0
    read: int | None = None
    write: int | None = None


@frozen
class SchemaRules:
    """What a provider takes of the JSON Schema of an answer.

    `is_closed`: every value has a type, objects hold no more than they declare; of strings `formats`, of arrays `least_items` pass.
    Otherwise a schema is whole, but for what is not among `keywords` (empty: all are), and for `without`; with `bare_references` nothing
    stands beside a reference.
    """

    is_closed: bool = False
    keywords: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    bare_references: bool = False
    formats: tuple[str, ...] = ()
    least_items: tuple[int, ...] = ()


@frozen
class TakenMedia:
    """How a provider takes parts of one kind: `by` base64, by URL, or both; of these media `types`."""

    by: tuple[str, ...]
    types: tuple[str, ...]


@frozen
class Provider:
    """The facts of one provider, as they were on the day `as_of`.

    `system` tells where text of the roles `system` and `developer` stands: among the `messages`, the `first` one apart, or all of it
    `apart`. `estimates` names the tokens below that no one has published or that differ between models.
    `late_system` are beginnings of the names of models that take text of the system among the messages, too: behind one of the user.
    `name_tokens` are those of the name of who speaks a message, beside its own; None where there is no place for one.
    `tool_names` tells whether a tool's name must begin with a letter or an underscore, `tool_ids` whether an id of a use may come again in
    a later turn (`turn`) or only `once`. Without a `search` no tool can be deferred. `caching` are the rules by model, the first that names
    it; the last is for all others.
    """

    name: str
    title: str
    as_of: str
    roles: tuple[str, ...]
    system: Literal["messages", "first", "apart"]
    needs_user: bool
    needs_limit: bool
    keeps_thinking: bool
    breakpoints: Breakpoints
    message_tokens: int
    prompt_tokens: int
    tool_tokens: int
    tools_tokens: int
    response_tokens: int
    counts_role: bool
    estimates: tuple[str, ...]
    name_tokens: int | None = None
    late_system: tuple[str, ...] = ()
    tool_names: Literal["any", "letter_first"] = "any"
    tool_ids: Literal["turn", "once"] = "turn"
    schema: SchemaRules = SchemaRules()
    media: tuple[tuple[str, TakenMedia], ...] = ()
    result_media: tuple[tuple[str, TakenMedia], ...] = ()
    search: ToolSearch | None = None
    caching: tuple[Caching, ...] = ()

    def find_search(self, model: str | None) -> ToolSearch | None:
        """How requests to this model defer tools; None where they cannot."""
        return self.search if self.search is not None and self.search.takes(model) else None

    def takes_late_system(self, model: str | None) -> bool:
        """Whether a request to this model may hold text of the system behind a message of the user."""
        return model is not None and _cut_own_name(model).startswith(self.late_system)

    def choose_caching(self, model: str | None) -> Caching:
        """The rules of its cache for a model."""
        name = _cut_own_name(model or "")
        return next(one for one in self.caching if not one.models or name.startswith(one.models))

    def find_media(self, kind: str, *, in_result: bool = False) -> TakenMedia | None:
        """How it takes parts of that kind, or those in the result of a tool; None where it takes none."""
        return next((taken for name, taken in (self.result_media if in_result else self.media) if name == kind), None)


def _cut_own_name(model: str) -> str:
    return model.rsplit("/", 1)[-1]
