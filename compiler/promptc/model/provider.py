"""What is known of a provider of models: which roles it has, where things stand in its requests, what they cost in tokens."""

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal

PROVIDERS = ("openai", "openai-responses", "openai-compatible", "anthropic", "gemini", "ollama")
"""The names of the providers, which are formats of `render`."""

FORMATS = ("text", "messages", *PROVIDERS)
"""What a prompt may be rendered as: text, messages, or messages for a provider."""


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
        return self.count > 0 and (not self.models or (model is not None and _find_own_name(model).startswith(self.models)))

    def find_minimum(self, model: str | None) -> int:
        """The fewest tokens that are cached: of the model's family, else the lowest that is known; 0 where none is."""
        name = _find_own_name(model or "")
        known = [(len(start), tokens) for start, tokens in self.minimums if name.startswith(start)]
        return max(known)[1] if known else min((tokens for _, tokens in self.minimums), default=0)


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
class Provider:
    """The facts of one provider, as they were on the day `as_of`.

    `system` tells where text of the roles `system` and `developer` stands: among the `messages`, the `first` one apart, or all of it
    `apart`. `estimates` names the tokens below that no one has published or that differ between models.
    `tool_names` tells whether a tool's name must begin with a letter or an underscore, `tool_ids` whether an id of a use may come again in
    a later turn (`turn`) or only `once`.
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
    tool_names: Literal["any", "letter_first"] = "any"
    tool_ids: Literal["turn", "once"] = "turn"
    schema: SchemaRules = SchemaRules()


def _find_own_name(model: str) -> str:
    return model.rsplit("/", 1)[-1]
