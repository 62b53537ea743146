"""Tool uses and results whose parts are of the right kind, and of no value that a service takes."""

from collections.abc import Iterator, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.value import show_value
from promptc.passes.payload.message import ContentBlock, Message

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST = 64


def check_uses(messages: Sequence[Message]) -> Iterator[Diagnostic]:
    """Warnings about parts as the state gives them: names of tools that no service takes (PC0573), and an `is_error` that is neither true
    nor false, which is left out (PC0574). The first of each, with the number of others."""
    blocks = [(message, block) for message in messages for block in message.blocks if block.part is not None]
    named = [(message, block) for message, block in blocks if block.kind == "tool_use" and not _is_name(_find(block, "name"))]
    marked = [(message, block) for message, block in blocks if block.kind == "tool_result" and not _is_truth(_find(block, "is_error"))]
    if named:
        message, block = named[0]
        what = f"the tool use {show_value(_find(block, 'id'))} has the name {show_value(_find(block, 'name'))}"
        said = f"{message.name}: {what}{_count(named)}; services refuse that"
        help = f"a tool's name is of A-Z, a-z, 0-9, `_` and `-`, {_LONGEST} at most"
        yield Diagnostic("PC0573", said, message.span, help, "warn")
    if marked:
        message, block = marked[0]
        of, mark = show_value(_find(block, "tool_use_id")), show_value(_find(block, "is_error"))
        what = f"`is_error` of the result of {of} must be true or false, not {mark}"
        yield Diagnostic("PC0574", f"{message.name}: {what}{_count(marked)}: it is left out", message.span, "write true or false", "warn")


def _find(block: ContentBlock, key: str) -> object:
    return (block.part or {}).get(key)


def _is_name(name: object) -> bool:
    return not isinstance(name, str) or (len(name) <= _LONGEST and _NAME.issuperset(name))


def _is_truth(mark: object) -> bool:
    return mark is None or isinstance(mark, bool)


def _count(met: Sequence[object]) -> str:
    return f" ({len(met) - 1} more like it)" if len(met) > 1 else ""
