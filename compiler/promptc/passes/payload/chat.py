"""The text that a model's server builds from messages by the model's own chat template (`TemplateFrame`), and its count.

A template may do anything with messages: trim them, leave out thoughts, put text between them. So nothing is added up: the whole text is
counted, including the tokens across its joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, UsageError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.messages import CHAT, Breakpoints, Provider
from promptc.model.section import Tool
from promptc.model.stages import Bound
from promptc.passes.assemble import Emitted, emit_messages
from promptc.passes.fit.result import Part
from promptc.passes.layout.layout import Layout
from promptc.passes.payload.bodies import ReplyLimits, read_messages
from promptc.passes.payload.checks import build_payload
from promptc.template.runtime.callables import Clock, raise_exception
from promptc.template.runtime.run import RUN

PROVIDER = Provider(
    name=CHAT,
    title="the chat template",
    as_of="",
    roles=("system", "user", "assistant"),
    system="messages",
    needs_user=False,
    needs_limit=False,
    keeps_thinking=False,
    breakpoints=Breakpoints(0),
    message_tokens=4,
    prompt_tokens=4,
    tool_tokens=0,
    tools_tokens=0,
    response_tokens=0,
    counts_role=False,
    name_tokens=0,
    estimates=(),
)
"""The provider of a chat template. Its tokens are those of a template that cannot be tried out."""

_TRIED = "x"
_HELP = 'name one: `tokenizer: {use: "hf:tokenizer.json", chat_template: tokenizer_config.json}`'


class TemplateFrame:
    """The chat template of a pack, for one render. Its work charges the account of the render.

    `provider` has the tokens that a message, and the whole, take by this template when it is tried out; sections are charged these.
    `warnings` are those of the last text that was made.
    """

    def __init__(self, bound: Bound) -> None:
        """Load the template and try it out.

        Raises `UsageError` (PC0710) for a pack without a chat template, and `PromptcError` (PC0430) for a template beyond a limit.
        """
        chat = bound.pack.chat
        if chat is None:
            raise UsageError([Diagnostic("PC0710", "`chat` needs a chat template, and the pack names none", help=_HELP)])
        moment = chat.now.evaluate(bound.names) if chat.now is not None else None
        self._template = chat.template
        self._names = {**chat.names, "raise_exception": raise_exception, "strftime_now": Clock(moment), RUN: bound.run}
        self._counter = bound.meter.counter
        self.warnings: tuple[Diagnostic, ...] = ()
        self.provider = self._try_out()

    def render(self, layout: Layout, emitted: Emitted) -> str:
        """Return the text. Raises `PromptcError` (PC0431) for messages that the template refuses, and whatever `build_payload` raises."""
        messages = read_messages(layout, emitted)
        payload = build_payload(messages, emitted.tools, None, provider=self.provider, limits=ReplyLimits(None, 0))
        self.warnings = payload.warnings
        return self._render(payload.body)

    def count_parts(self, layout: Layout, parts: tuple[Part, ...], roles: Sequence[str], tools: tuple[Tool, ...]) -> int:
        """Return the units of the text that the template makes of these parts. Raises like `render`."""
        return self.count(self.render(layout, emit_messages(parts, roles, tools)))

    def count(self, text: str) -> int:
        """Return the units of the whole text, in which special tokens are structure."""
        return self._counter.measure_framed(text)

    def _render(self, given: Mapping[str, Any]) -> str:
        return self._template.render({**self._names, **given})

    def _try_out(self) -> Provider:
        """Return the provider with the tokens of a message and of the whole, rounded up."""
        unit = self._counter.unit
        content = self._counter.measure(_TRIED)
        one, three, led = self._try("user"), self._try("user", "assistant", "user"), self._try("system", "user")
        if one is None or three is None:
            return PROVIDER
        message = max(0, -(-(three - one - 2 * content) // (2 * unit)))
        whole, count = (led, 2) if led is not None else (one, 1)
        prompt = max(0, -(-(whole - count * (content + message * unit)) // unit))
        return replace(PROVIDER, message_tokens=message, prompt_tokens=prompt)

    def _try(self, *roles: str) -> int | None:
        messages: Sequence[Mapping[str, str]] = [{"role": role, "content": _TRIED} for role in roles]
        try:
            return self.count(self._render({"messages": messages, "tools": None}))
        except PromptcError as wrong:
            if wrong.diagnostics[0].code == "PC0430":  # nothing is left for the messages either
                raise
            return None
