"""The parts of messages that are no text: held against what a provider takes, and reduced to the keys that have a meaning."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.diag.value import join_names, show_value
from promptc.model.messages import Provider
from promptc.passes.payload.message import ContentBlock, Message

_KEYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tool_use": ("assistant", {"id": str, "name": str, "input": Mapping}),
    "tool_result": ("user", {"tool_use_id": str}),
    "thinking": ("assistant", {"thinking": str, "signature": str}),
    "redacted_thinking": ("assistant", {"data": str}),
}
"""By kind: whose message it stands in, and the keys it must have, with what they hold."""
_THOUGHTS = ("thinking", "redacted_thinking")
_SPELLED: Mapping[Any, str] = {str: "a text", Mapping: "a mapping"}


def check_parts(messages: Sequence[Message], provider: Provider) -> tuple[tuple[Message, ...], list[Diagnostic]]:
    """The messages with their parts as they may be passed on, and what is wrong with others (PC0562) or was left out (PC0568).

    Nothing of a part passes but its kind's own keys, so that state never adds a key to a request. Messages with nothing left go.
    """
    found: list[Diagnostic] = []
    used: set[str] = set()
    for message in messages:
        for block in message.blocks:
            if block.part is not None:
                found += _judge(block.part, message, used)
    if not provider.keeps_thinking:
        messages, left_out = _leave_out_thoughts(messages)
        found += [_tell_thoughts(left_out, provider)] if left_out else []
    return tuple(_reduce(messages)), found


def _judge(part: Mapping[str, Any], message: Message, used: set[str]) -> Iterator[Diagnostic]:
    kind = str(part.get("type"))
    role, keys = _KEYS[kind]
    if message.role != role:
        yield _refuse(message, f"a `{kind}` in a message of the role `{message.role}`", f"it stands in a message of the role `{role}`")
    for key, wanted in keys.items():
        if not isinstance(part.get(key), wanted) or (kind not in _THOUGHTS and part[key] == ""):
            what = f"whose `{key}` must be {_SPELLED[wanted]}, not {show_value(part[key])}" if key in part else f"without `{key}`"
            yield _refuse(message, f"a `{kind}` {what}", f"a `{kind}` has {join_names(keys)}")
    if kind == "tool_use":
        used.add(str(part.get("id")))
    elif kind == "tool_result" and isinstance(of := part.get("tool_use_id"), str) and of and of not in used:
        yield _refuse(message, f"a result of the tool use {show_value(of)}, which does not stand before it", _BEFORE)


_BEFORE = "a use stands in front of its result; both have the same id"


def _refuse(message: Message, what: str, help: str) -> Diagnostic:
    return Diagnostic("PC0562", f"{message.name} has {what}", message.span, help)


def _leave_out_thoughts(messages: Sequence[Message]) -> tuple[Sequence[Message], list[Message]]:
    """A breakpoint behind a thought stands behind what is left in front of it."""
    kept, met = [], []
    for message in messages:
        blocks = [block for block in message.blocks if block.kind not in _THOUGHTS]
        if len(blocks) == len(message.blocks):
            kept.append(message)
            continue
        met.append(message)
        end = message.blocks[-1]
        if blocks and end.ends:
            blocks[-1] = replace(blocks[-1], ends=end.ends, prefix=end.prefix, place=end.place)
        if blocks:
            kept.append(replace(message, blocks=tuple(blocks)))
    return kept, met


def _tell_thoughts(messages: Sequence[Message], provider: Provider) -> Diagnostic:
    more = f" and {len(messages) - 1} more" if len(messages) > 1 else ""
    return Diagnostic(
        "PC0568",
        f"the thinking in {messages[0].name}{more} is left out: {provider.title} takes none of another model",
        messages[0].span,
        "it is counted all the same; leave it out with `parts` of `items.message`",
        "warn",
    )


def _reduce(messages: Sequence[Message]) -> Iterator[Message]:
    """A result learns the `name` of its tool from the last use of its id: some servers count their uses anew in every turn."""
    names: dict[str, str] = {}
    for message in messages:
        if all(block.part is None for block in message.blocks):
            yield message
            continue
        for block in message.blocks:
            if block.part is not None and block.kind == "tool_use":
                names[str(block.part.get("id"))] = str(block.part.get("name"))
        yield replace(message, blocks=tuple(_reduce_block(block, names) for block in message.blocks))


def _reduce_block(block: ContentBlock, names: Mapping[str, str]) -> ContentBlock:
    part = block.part
    if part is None or block.kind not in _KEYS:
        return block
    own: dict[str, Any] = {"type": block.kind, **{key: part.get(key) for key in _KEYS[block.kind][1]}}
    if block.kind == "tool_result":
        own |= {
            "name": names.get(str(part.get("tool_use_id")), ""),
            "content": part.get("content"),
            "is_error": part.get("is_error") is True,
        }
    return replace(block, part=own)
