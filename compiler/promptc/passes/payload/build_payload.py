"""The complete body of a request to a provider."""

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.model.messages import Provider
from promptc.model.pack import Response, Tool
from promptc.passes.payload.bodies import write_openai
from promptc.passes.payload.build import arrange
from promptc.passes.payload.check_turns import check_turns
from promptc.passes.payload.check_uses import check_uses
from promptc.passes.payload.checks import check_parts
from promptc.passes.payload.choose_breakpoints import choose_breakpoints
from promptc.passes.payload.message import ContentBlock, Message, Payload, PayloadRequest, ReplyLimits
from promptc.passes.payload.write_anthropic import write_anthropic
from promptc.passes.payload.write_gemini import write_gemini
from promptc.passes.payload.write_ollama import write_ollama
from promptc.passes.payload.write_responses import write_responses

_WRITERS: Mapping[str, Callable[[PayloadRequest], dict[str, Any]]] = {
    "openai": write_openai,
    "openai-responses": write_responses,
    "openai-compatible": write_openai,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
    "ollama": write_ollama,
}


def build_payload(
    messages: Sequence[Message],
    tools: Sequence[Tool],
    response: Response | None,
    *,
    provider: Provider,
    limits: ReplyLimits,
    model: str | None = None,
) -> Payload:
    """The body, a value of its own, its keys always in the same order. Texts and their order are those of the messages, but for folds that
    docs/payloads.md names; of the parts of messages nothing passes but what their kinds have.

    Raises `PromptcError`: PC0560 where a message is missing that the provider needs, PC0562 for parts it cannot take, PC0570 for
    names of tools it refuses.
    """
    checked, found = check_parts(messages, provider)
    found += _check_names(tools, provider)
    if any(one.level == "error" for one in found):
        raise PromptcError(one for one in found if one.level == "error")
    found += check_uses(messages)
    arranged, system, moved = arrange(checked, provider)
    found += check_turns(arranged, checked, provider)
    _check_messages(arranged, system, provider)
    kept, system, unheld = choose_breakpoints(arranged, system, provider, model)
    request = PayloadRequest(kept, system, tuple(tools), response, provider, limits, model)
    return Payload(as_plain(_WRITERS[provider.name](request)), (*found, *moved, *unheld, *_check_limit(provider, limits)))


def _check_names(tools: Sequence[Tool], provider: Provider) -> list[Diagnostic]:
    if provider.tool_names == "any":
        return []
    what = f"{provider.title} takes no tool whose name begins with a digit or a hyphen"
    help = "give the tool a name that begins with a letter or `_`"
    return [Diagnostic("PC0570", f"the tool `{one.name}`: {what}", one.span, help) for one in tools if one.name[0] in "0123456789-"]


def _check_messages(messages: Sequence[Message], system: Sequence[ContentBlock], provider: Provider) -> None:
    if not messages and not system:
        raise fail("PC0560", f"the prompt is empty, and {provider.title} needs a message", help=_ABSENT)
    if provider.needs_user and not any(one.role == "user" for one in messages):
        what = f"the prompt has no message of the role `user`, and {provider.title} needs one"
        raise fail("PC0560", what, help=f"`role: user` makes a section the user's; {_ABSENT}")


_ABSENT = "`promptc explain` tells which sections are absent"


def _check_limit(provider: Provider, limits: ReplyLimits) -> tuple[Diagnostic, ...]:
    if limits.reply is not None or not provider.needs_limit:
        return ()
    what = f"{provider.title} needs a limit of the reply, and the manifest reserves nothing for it"
    return (Diagnostic("PC0563", what, limits.span, "write `budget: {context: n, reserve: n}`, or add `max_tokens` yourself", "warn"),)
