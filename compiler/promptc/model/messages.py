"""The operations of a pack, with their questions to models and their edits of a state (contract.md §9).

The module also has the facts about each `Provider` that messages are made for (contract.md §8).
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
"""The names of the providers, each of which is a format of `render`."""

CHAT = "chat"
"""The format of the text that the tokenizer's chat template makes of messages, and which then counts the prompt."""

FORMATS = ("text", "messages", CHAT, *PROVIDERS)
"""The formats of a prompt: text, messages, the text of a chat template, or messages for a provider."""


class AnswerSchema(Protocol):
    """A JSON Schema without errors. `schema` is the schema as plain data."""

    @property
    def schema(self) -> Any: ...

    def check(self, document: Any) -> list[Diagnostic]:
        """Return what is wrong with a JSON document, each finding with its place."""


@frozen(eq=False)
class AnswerCheck:
    """The requirements of an answer: JSON by a schema, or a text with these headings in this order (not both).

    It must have at most `max` tokens, and meet all `claims`.
    """

    span: Span
    schema: AnswerSchema | None = None
    headings: tuple[str, ...] = ()
    max: int | None = None
    claims: tuple[Assert, ...] = ()


@frozen(eq=False)
class Ask:
    """A question to a model: the pack that renders it, when it is asked, what its answer must be, and the text used instead of an answer.

    `pack` is the path of the manifest inside the folder of the pack that asks. `load_pack` returns that pack, the same object every time,
    and raises `PromptcError` with what is wrong with it.
    """

    name: str
    span: Span
    pack: str
    otherwise: Template
    load_pack: Callable[[], PackModel] = field(repr=False)
    when: Expression | None = None
    check: AnswerCheck | None = None

    def is_asked(self, names: Mapping[str, Any]) -> bool:
        """Return whether the question is asked, given these values of names."""
        return self.when is None or bool(self.when.evaluate(names))


@frozen(eq=False)
class StateEdit:
    """A change of the state. `pointer` is a JSON pointer to what is changed, and `span` is the place of the edit in the manifest."""

    pointer: str
    span: Span
    when: Expression | None


@frozen(eq=False)
class Set(StateEdit):
    """An edit that sets a value. The value that it replaces, or that there was none, goes into `archive`, if that has a name."""

    value: Expression
    archive: str


@frozen(eq=False)
class Append(StateEdit):
    """An edit that appends a `value` to a list or, with `each`, every element of a list. Exactly one of the two is set.

    What was appended is noted in `archive`, if that has a name.
    """

    value: Expression | None
    each: Expression | None
    archive: str


@frozen(eq=False)
class Remove(StateEdit):
    """An edit that removes a value, with its key or index."""


@frozen(eq=False)
class Keep(StateEdit):
    """An edit that removes all elements of a list but the `last` ones, or all but those that meet `where`.

    What is removed goes into `archive`, if that has a name.
    """

    last: Expression | None
    where: Expression | None
    archive: str


@frozen(eq=False)
class Operation:
    """A named way from one state to another.

    `args` are its arguments with their defaults, as plain data. `say` is the text that reports what was done. `when` is None if there is
    none, and if it reads nothing: an operation is due only by a condition.
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
        """Return the ask of that name, or None."""
        return next((ask for ask in self.asks if ask.name == name), None)


@frozen
class Breakpoints:
    """The cache breakpoints of a provider: at most `count` in a request (0: none, since it caches on its own or not).

    `models` are the prefixes of the names of the models that accept them (empty: all do). `minimums` are the fewest tokens that are cached,
    by the prefix of a model's name.
    """

    count: int
    models: tuple[str, ...] = ()
    minimums: tuple[tuple[str, int], ...] = ()

    def takes(self, model: str | None) -> bool:
        """Return whether a request to this model may have breakpoints.

        The name of a gateway may precede that of the model: `openai/gpt-5.6`.
        """
        return self.count > 0 and (not self.models or (model is not None and _cut_own_name(model).startswith(self.models)))

    def choose_minimum(self, model: str | None) -> int:
        """Return the fewest tokens that are cached: those of the model's family, or else the lowest known number; 0 if none is known."""
        name = _cut_own_name(model or "")
        known = [(len(start), tokens) for start, tokens in self.minimums if name.startswith(start)]
        return max(known)[1] if known else min((tokens for _, tokens in self.minimums), default=0)


@frozen
class ToolSearch:
    """How a provider lets a model search deferred tools: what is `shown` of a tool before it is found, and the `tokens` of the search tool.

    `body` is the search tool in a request. `models` are the prefixes of the names of the models that can search (empty: all can).
    """

    shown: Shown
    tokens: int
    body: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()

    def takes(self, model: str | None) -> bool:
        """Return whether this model can search. A model without a name is assumed to."""
        return model is None or not self.models or _cut_own_name(model).startswith(self.models)


UNPROVIDED = ToolSearch("described", 0)
"""The search of messages that are for no provider: it shows as much of a deferred tool as any provider does."""


@frozen
class Caching:
    """How a provider caches the beginnings of requests to some of its models.

    `by` says how it finds one: `prefix` finds any common beginning by itself, in whole steps of `step` tokens, from `least` tokens on;
    `marks` finds beginnings that ended at a breakpoint. `lookback` is how many blocks before a breakpoint are searched (0: all). With
    `has_own_mark`, the provider also sets a breakpoint at the end of each request. `minutes` is how long a beginning lives that is not read
    (0: not published).

    `read` and `write` are the price of a token that is read from or written to the cache, in percent of the price of an uncached token.
    They are None if it is not published, or nothing is charged.
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
    """The limits of what a provider accepts of the JSON Schema of an answer.

    With `is_closed`, every value has a type, objects have no properties but those declared, strings only have one of these `formats`, and
    arrays only one of these `least_items` as `minItems`. Without it, a schema is sent whole, except for `without` and for what is not among
    `keywords` (empty: all are). With `bare_references`, nothing is next to a reference.
    """

    is_closed: bool = False
    keywords: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    bare_references: bool = False
    formats: tuple[str, ...] = ()
    least_items: tuple[int, ...] = ()


@frozen
class TakenMedia:
    """How a provider accepts parts of one kind: `by` base64, by URL, or both, of these media `types`."""

    by: tuple[str, ...]
    types: tuple[str, ...]


@frozen
class Provider:
    """The facts about one provider, as of the day `as_of`.

    `system` says where text of the roles `system` and `developer` goes: among the `messages`, the `first` one apart, or all of it `apart`.
    `late_system` are the prefixes of the names of models that also accept it among the messages, after a message of the user.

    `estimates` names those of the token counts that nobody has published, or that differ between models. `name_tokens` are the tokens of
    the name of a message's speaker, in addition to those of the name itself; None if the provider has no place for a name.

    `tool_names` says whether the name of a tool must begin with a letter or an underscore. `tool_ids` says whether the id of a tool use may
    be reused in a later turn (`turn`), or never (`once`). `tool_uses` says whether a use may come `anywhere`, or only directly after a
    message of the user (`after_user`). Without a `search`, no tool can be deferred. `caching` are the rules by model. The first rule that
    names the model applies, and the last is for all others.
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
    tool_uses: Literal["anywhere", "after_user"] = "anywhere"
    schema: SchemaRules = SchemaRules()
    media: tuple[tuple[str, TakenMedia], ...] = ()
    result_media: tuple[tuple[str, TakenMedia], ...] = ()
    search: ToolSearch | None = None
    caching: tuple[Caching, ...] = ()

    def find_search(self, model: str | None) -> ToolSearch | None:
        """Return how requests to this model defer tools, or None if they cannot."""
        return self.search if self.search is not None and self.search.takes(model) else None

    def takes_late_system(self, model: str | None) -> bool:
        """Return whether a request to this model may have system text after a message of the user."""
        return model is not None and _cut_own_name(model).startswith(self.late_system)

    def choose_caching(self, model: str | None) -> Caching:
        """Return the caching rules for a model."""
        name = _cut_own_name(model or "")
        return next(one for one in self.caching if not one.models or name.startswith(one.models))

    def find_media(self, kind: str, *, in_result: bool = False) -> TakenMedia | None:
        """Return how the provider accepts parts of that kind, or those in a tool's result; None if it does not."""
        return next((taken for name, taken in (self.result_media if in_result else self.media) if name == kind), None)


def _cut_own_name(model: str) -> str:
    return model.rsplit("/", 1)[-1]
