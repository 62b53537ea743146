"""Messages as all providers understand them, before any has its own form of them."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.messages import Provider
from promptc.model.pack import Response, Tool


@frozen(eq=False)
class ContentBlock:
    """A run of a message: `text`, or a `part` that is none (tool_use, tool_result, thinking).

    `ends` is the section whose cache breakpoint stands behind it (empty: none), `place` where the pack declares that, `prefix` the tokens
    of the whole request up to there.
    `continues` tells that it goes on with the text of the block before, which a breakpoint cut.
    """

    text: str = ""
    part: Mapping[str, Any] | None = None
    ends: str = ""
    prefix: int = 0
    continues: bool = False
    place: Span | None = None

    @property
    def kind(self) -> str:
        """`text`, or the part's type."""
        return "text" if self.part is None else str(self.part.get("type"))


@frozen(eq=False)
class Message:
    """One message. The texts of its blocks, joined, are its content. `name` is what findings call it, `span` where the pack declares it."""

    role: str
    blocks: tuple[ContentBlock, ...]
    name: str = ""
    span: Span | None = None

    def has(self, kind: str) -> bool:
        """Whether any of its blocks is of that kind."""
        return any(block.kind == kind for block in self.blocks)


@frozen
class ReplyLimits:
    """Tokens: of the reply (None where the manifest reserves none), and of the reply with the prompt. `span` is where that is declared."""

    reply: int | None
    context: int
    span: Span | None = None


@frozen(eq=False)
class PayloadRequest:
    """What a body is made of: `system` holds the text that stands apart from the messages."""

    messages: tuple[Message, ...]
    system: tuple[ContentBlock, ...]
    tools: tuple[Tool, ...]
    response: Response | None
    provider: Provider
    limits: ReplyLimits
    model: str | None


@frozen(eq=False)
class Payload:
    """A request body, and what was said while it was made."""

    body: dict[str, Any]
    warnings: tuple[Diagnostic, ...] = ()
