"""What a request offers a model besides its messages: the tools it may call, the schema its answer must meet."""

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.diag.span import Span
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
class Response:
    """The JSON Schema (2020-12) of a model's answer, and the name providers ask of one: its file's, made of [a-zA-Z0-9_-]{1,64}."""

    schema: Mapping[str, Any]
    name: str
    span: Span


@frozen(eq=False)
class Offers:
    """For lints: every tool that some list of the manifest names, with its place there; and the files in the folders of tools that look
    like tools and that no list names, each with the place of a list that names its neighbours.
    """

    listed: tuple[tuple[Tool, Span], ...] = ()
    loose: tuple[tuple[str, Span], ...] = ()
