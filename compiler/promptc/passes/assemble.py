"""From what fitting left to bytes: the text or the messages, and a record of which part is whose."""

from collections.abc import Iterator

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal
from promptc.passes.act import Entry
from promptc.passes.fit import Fitted
from promptc.passes.tape import Cell, Kind

Owner = Kind | Literal["separator"]


@frozen(eq=False)
class Part:
    """A run of emitted characters: whose it is (`section`, and `item` where it is one's), and in which message (0 in text output)."""

    owner: Owner
    section: str
    text: str
    message: int
    item: Entry | None = None


@frozen(eq=False)
class Emitted:
    """The output. `text` for the text format, else `messages`; `parts` in order, their texts joined are the output."""

    text: str
    messages: tuple[dict[str, Any], ...]
    parts: tuple[Part, ...]
    characters: int


def assemble(fitted: Fitted) -> Emitted:
    """The emitted form of a fitted selection."""
    parts = tuple(_iter_parts(fitted))
    characters = sum(len(part.text) for part in parts)
    if fitted.frame.format == "text":
        return Emitted("".join(part.text for part in parts), (), parts, characters)
    return Emitted("", tuple(_iter_messages(fitted, parts)), parts, characters)


def _iter_parts(fitted: Fitted) -> Iterator[Part]:
    index, last = -1, None
    for cell in fitted.tape or ():
        if cell.message != last:
            index, last = index + 1, cell.message
        yield from _iter_cell(fitted, cell, index)


def _iter_cell(fitted: Fitted, cell: Cell, message: int) -> Iterator[Part]:
    section = fitted.frame.sections[cell.part].id
    entry = cell.owner if isinstance(cell.owner, Entry) else None
    follower = cell.next
    separator = fitted.frame.separator if follower is not None and follower.part != cell.part and follower.message == cell.message else ""
    own = cell.trail.removesuffix(separator) if separator else cell.trail
    yield Part(cell.kind, section, cell.body + own, message, entry)
    if separator:
        yield Part("separator", section, separator, message)


def _iter_messages(fitted: Fitted, parts: tuple[Part, ...]) -> Iterator[dict[str, Any]]:
    roles = _list_roles(fitted)
    texts: dict[int, list[str]] = {}
    content: dict[int, Any] = {}
    for part in parts:
        texts.setdefault(part.message, []).append(part.text)
        if part.item is not None and part.item.item.content is not None:
            content[part.message] = [dict(one) for one in part.item.item.content]
    for index, pieces in texts.items():
        yield {"role": roles[index], "content": content.get(index, "".join(pieces))}


def _list_roles(fitted: Fitted) -> list[str]:
    roles: list[str] = []
    last: int | None = None
    for cell in fitted.tape or ():
        if cell.message != last:
            roles.append(fitted.frame.role(cell))
            last = cell.message
    return roles
