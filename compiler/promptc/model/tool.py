"""What a request offers a model besides its messages: the tools it may call, the schema its answer must meet."""

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any


@frozen(eq=False)
class Tool:
    """A tool: its name ([a-zA-Z0-9_-]{1,64}), what it is for, the JSON Schema (2020-12) of its arguments, an object. `span` is its file."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    span: Span

    @property
    def counted(self) -> dict[str, Any]:
        """What is counted: its canonical JSON."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}


@frozen(eq=False)
class SentSchema:
    """A schema as a provider takes it: None where it takes nothing of it, `why` then says so. `left_out` are the JSON pointers of the
    keywords of the whole schema that do not stand in it.
    """

    schema: Mapping[str, Any] | None
    left_out: tuple[str, ...] = ()
    why: str = ""


@frozen(eq=False)
class Response:
    """The JSON Schema (2020-12) of a model's answer, and the name providers ask of one: its file's, made of [a-zA-Z0-9_-]{1,64}.

    `sent` is what providers that do not take it whole are sent, by their names.
    """

    schema: Mapping[str, Any]
    name: str
    span: Span
    sent: Mapping[str, SentSchema] = field(default_factory=dict)

    def find_sent(self, provider: str | None) -> SentSchema:
        """What a provider is sent; the whole of it where none is asked for."""
        return self.sent.get(provider or "") or SentSchema(self.schema)

    def fit(self, provider: str | None) -> "Response | None":
        """As that provider takes it; None where it takes nothing of it."""
        schema = self.find_sent(provider).schema
        return replace(self, schema=schema) if schema is not None else None


@frozen(eq=False)
class Offers:
    """For lints: every tool that some list of the manifest names, with its place there; and the files in the folders of tools that look
    like tools and that no list names, each with the place of a list that names its neighbours.
    """

    listed: tuple[tuple[Tool, Span], ...] = ()
    loose: tuple[tuple[str, Span], ...] = ()
