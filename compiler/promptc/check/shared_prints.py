"""What the items of two sections both print."""

from promptc.check.rules.overlap import ComparedBlock
from promptc.template.types.algebra import find_part
from promptc.template.types.types import TextType, Type, list_members

Path = tuple[str, ...]


def find_shared_prints(first: ComparedBlock, second: ComparedBlock) -> tuple[Path, ...]:
    """The paths of `item` that texts of both read, sorted; of `item.a` and `item.a.b` the longer."""
    found = set()
    for one in first.prints:
        for other in second.prints:
            if is_within(one, other) or is_within(other, one):
                found.add(max(one, other, key=len))
    return tuple(sorted(found))


def is_within(path: Path, whole: Path) -> bool:
    """Whether a path is another or a part of it."""
    return path[: len(whole)] == whole


def is_free_text(block: ComparedBlock, path: Path) -> bool:
    """Whether a part of its items is known to be a text that may be any."""
    kind: Type = block.item
    for part in path[1:]:
        kind = find_part(kind, part)
    texts = [member for member in list_members(kind) if isinstance(member, TextType)]
    return any(text.values is None for text in texts)
