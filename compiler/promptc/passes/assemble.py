"""From what fitting left to bytes: the text or the messages, and a record of which part is whose."""

from collections.abc import Iterator

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal, NamedTuple
from promptc.passes.act import Entry
from promptc.passes.fit.fit import Fitted
from promptc.passes.layout.tape import Kind

Owner = Kind | Literal["separator"]


class Part(NamedTuple):
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
    text = "".join([part.text for part in parts])
    if fitted.frame.format == "text":
        return Emitted(text, (), parts, len(text))
    return Emitted("", tuple(_iter_messages(fitted, parts)), parts, len(text))


def _iter_parts(fitted: Fitted) -> Iterator[Part]:
    frame = fitted.frame
    index, last = -1, None
    for cell in fitted.tape or ():
        if cell.message != last:
            index, last = index + 1, cell.message
        section = frame.sections[cell.part].id
        entry = cell.owner if isinstance(cell.owner, Entry) else None
        follower = cell.next
        if follower is None or follower.part == cell.part or follower.message != cell.message or not frame.separator:
            yield Part(cell.kind, section, cell.body + cell.trail, index, entry)
        else:
            yield Part(cell.kind, section, cell.body + cell.trail.removesuffix(frame.separator), index, entry)
            yield Part("separator", section, frame.separator, index)


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
