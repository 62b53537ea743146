"""Messages in the order and the roles that a provider takes: the folds of docs/payloads.md."""

from collections.abc import Iterator, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import replace
from promptc.model.messages import Provider
from promptc.passes.payload.message import ContentBlock, Message

_TOOL_PARTS = {"assistant": "tool_use", "user": "tool_result"}
_BETWEEN = "\n\n"


def arrange(
    messages: Sequence[Message], provider: Provider
) -> tuple[tuple[Message, ...], tuple[ContentBlock, ...], tuple[Diagnostic, ...]]:
    """The messages, the blocks of what stands apart from them, and warnings of what moved (PC0564, PC0569)."""
    named = [replace(one, role="system") if one.role not in provider.roles else one for one in messages]
    found: list[Diagnostic] = []
    system: Sequence[Message] = ()
    if provider.system == "apart":
        found += _tell_moved(named, provider)
        system = [one for one in named if one.role == "system"]
        named = [one for one in named if one.role != "system"]
    elif provider.system == "first" and len(named) > 1 and _is_plain_system(named[0]):
        system, named = named[:1], named[1:]
    joined = tuple(_join_tools(named))
    found += [_tell_late(one) for one in joined if _is_late(one)]
    return tuple(_put_results_first(one) for one in joined), tuple(_iter_system(system)), tuple(found)


def _is_plain_system(message: Message) -> bool:
    """Whether it may stand where no breakpoint can."""
    return message.role == "system" and not any(block.ends for block in message.blocks)


def _tell_moved(messages: Sequence[Message], provider: Provider) -> Iterator[Diagnostic]:
    first = next((place for place, one in enumerate(messages) if one.role != "system"), len(messages))
    moved = [one for one in messages[first:] if one.role == "system"]
    if moved:
        names = ", ".join(dict.fromkeys(one.name for one in moved))
        yield Diagnostic(
            "PC0564",
            f"{names} moves in front of all messages: {provider.title} takes system text only there",
            moved[0].span,
            "give it the role `user`, or put it before the conversation",
            "warn",
        )


def _iter_system(messages: Sequence[Message]) -> Iterator[ContentBlock]:
    """What were messages of their own stay a blank line apart; it opens the later one, so that the earlier does not change by it."""
    for place, message in enumerate(messages):
        first, *rest = message.blocks
        yield replace(first, text=_BETWEEN + first.text) if place else first
        yield from rest


def _join_tools(messages: Sequence[Message]) -> Iterator[Message]:
    """Neighbours of one role that both hold uses, or results, as one message: providers want all results of a turn in one."""
    held: Message | None = None
    for message in messages:
        kind = _TOOL_PARTS.get(message.role, "")
        if held is not None and held.role == message.role and kind and held.has(kind) and message.has(kind):
            held = replace(held, blocks=held.blocks + message.blocks)
            continue
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held


def _is_late(message: Message) -> bool:
    kinds = [block.kind for block in message.blocks]
    return "tool_result" in kinds and kinds != sorted(kinds, key=_is_other)


def _is_other(kind: str) -> bool:
    return kind != "tool_result"


def _put_results_first(message: Message) -> Message:
    """Sorted by that alone: else the order stays."""
    if not _is_late(message):
        return message
    return replace(message, blocks=tuple(sorted(message.blocks, key=lambda block: _is_other(block.kind))))


def _tell_late(message: Message) -> Diagnostic:
    return Diagnostic(
        "PC0569",
        f"the tool results of {message.name} move in front of its text: a result directly follows its use",
        message.span,
        "put results before text in the state",
        "warn",
    )
