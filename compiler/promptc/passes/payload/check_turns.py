"""Tool uses and results held against each other: what services refuse although each part is whole."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.value import show_value
from promptc.model.messages import Provider
from promptc.passes.payload.message import ContentBlock, Message


@frozen(eq=False)
class _Met:
    """A use or a result that is refused: what findings say of it (a key of `_SAID`), and its id."""

    what: str
    block: ContentBlock
    id: str


def check_turns(messages: Sequence[Message], given: Sequence[Message], provider: Provider) -> Iterator[Diagnostic]:
    """Warnings about `messages`, arranged as the provider takes them: uses without a result although other content follows, and results
    that do not directly follow their use (PC0571); two uses or two results of one id (PC0572). One of each kind, with the number of others.

    A use at the end, or of which so far only results of its neighbours follow, is a turn in progress. `given` are the messages before
    they were joined, which is how findings name them.
    """
    owners = {id(block): message for message in given for block in message.blocks}
    met = [*_iter_unanswered(messages), *_iter_repeated(messages, provider)]
    for what in _SAID:
        own = [one for one in met if one.what == what]
        if own:
            yield _describe(own, owners[id(own[0].block)])


def _iter_unanswered(messages: Sequence[Message]) -> Iterator[_Met]:
    """A result is sought up to the next use of its id: there it is another one's."""
    for place, message in enumerate(messages):
        if not message.has("tool_use"):
            continue
        behind = messages[place + 1 :]
        directly = {_find_id(block) for one in behind[:1] for block in one.blocks if block.kind == "tool_result"}
        is_open = len(behind) < 2 and all(block.kind == "tool_result" for one in behind for block in one.blocks)
        for block in message.blocks:
            name = _find_id(block)
            if block.kind == "tool_use" and name not in directly and not is_open:
                late = _find_result(name, behind)
                yield _Met("unanswered", block, name) if late is None else _Met("late", late, name)


def _find_result(name: str, messages: Sequence[Message]) -> ContentBlock | None:
    blocks = (block for message in messages for block in message.blocks if block.kind in ("tool_use", "tool_result"))
    first = next((block for block in blocks if _find_id(block) == name), None)
    return first if first is not None and first.kind == "tool_result" else None


def _iter_repeated(messages: Sequence[Message], provider: Provider) -> Iterator[_Met]:
    """Where a provider lets ids begin anew, only two uses are found of which the first has no result yet."""
    used: set[str] = set()
    answered: set[str] = set()
    for block in (block for message in messages for block in message.blocks):
        name = _find_id(block)
        if block.kind == "tool_use":
            if name in used and (provider.tool_ids == "once" or name not in answered):
                yield _Met("used twice", block, name)
            used.add(name)
            answered.discard(name)
        elif block.kind == "tool_result":
            if name in answered:
                yield _Met("answered twice", block, name)
            answered.add(name)


def _find_id(block: ContentBlock) -> str:
    part = block.part or {}
    return str(part.get("id") if block.kind == "tool_use" else part.get("tool_use_id"))


_SAID: Mapping[str, tuple[str, str, str]] = {
    "unanswered": (
        "PC0571",
        "the tool use {id} has no result, and other content follows",
        "add its result, or leave the use out with `where`",
    ),
    "late": (
        "PC0571",
        "the result of the tool use {id} does not directly follow it",
        "put all results of a message behind it, before anything else",
    ),
    "used twice": ("PC0572", "a second tool use has the id {id}", "give each use an id of its own, and its result the same"),
    "answered twice": ("PC0572", "the tool use {id} has a second result", "leave one of them out"),
}
"""By what is met: the code, what is said of it, and the way out."""


def _describe(met: Sequence[_Met], owner: Message) -> Diagnostic:
    code, said, help = _SAID[met[0].what]
    more = f" ({len(met) - 1} more like it)" if len(met) > 1 else ""
    message = f"{owner.name}: {said.format(id=show_value(met[0].id))}{more}; services refuse that"
    return Diagnostic(code, message, owner.span, help, "warn")
