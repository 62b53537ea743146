"""What the filters of text give: how long it may be."""

from collections.abc import Callable

from promptc.template.kinds.given import FilterCall
from promptc.template.types.bounds import measure
from promptc.template.types.types import TextType, Type

MAX_TOKEN = 512
"""No token of the vocabularies has more bytes."""


def give_shown(given: FilterCall) -> Type:
    """The text that printing gives."""
    return measure(given.kind)


def give_times(times: int) -> Callable[[FilterCall], Type]:
    """A text of at most so many times the length."""

    def give(given: FilterCall) -> Type:
        shown = measure(given.kind)
        return _scale(shown, times)

    return give


def _scale(shown: TextType, times: int, more: int = 0) -> TextType:
    characters = None if shown.characters is None else shown.characters * times + more
    size = None if shown.size is None else shown.size * times + more
    return TextType(characters, size, None, shown.at)


def give_cased(given: FilterCall) -> Type:
    """One letter may become three."""
    shown = measure(given.kind)
    if shown.values is not None and all(value.isascii() for value in shown.values):
        return TextType(shown.characters, shown.size, None, shown.at)
    return _scale(shown, 3)


def give_centred(given: FilterCall) -> Type:
    """Padded to a width."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 80)
    if width is None:
        return TextType(at=shown.at)
    return _scale(shown, 1, max(width, 0))


def give_formatted(given: FilterCall) -> Type:
    """`%s` filled in; how long that gets is not followed."""
    for value in (*given.args, *given.named.values()):
        given.walk.note_whole(value.kind)
    return TextType()


def give_indented(given: FilterCall) -> Type:
    """Every line indented; a character may be a line."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 4)
    return TextType(at=shown.at) if width is None else _scale(shown, 1 + max(width, 0), max(width, 0))


def give_replaced(given: FilterCall) -> Type:
    """`new` for every `old`, which may be empty."""
    shown, old, new = measure(given.kind), given.find_text(0, "old"), given.find_text(1, "new")
    if not old or new is None:
        return TextType(at=shown.at)
    longer = max(len(new.encode("utf-8", "surrogatepass")), 1)
    return _scale(shown, max(1, -(-longer // len(old.encode("utf-8", "surrogatepass")))))


def give_truncated(given: FilterCall) -> Type:
    """At most `length` and `leeway` characters."""
    shown = measure(given.kind)
    length, leeway = given.find_whole(0, "length", 255), given.find_whole(3, "leeway", 5)
    end = given.find(2, "end")
    tail = measure(end.kind).characters if end is not None else 3
    if length is None or leeway is None or tail is None:
        return shown if end is None else TextType(at=shown.at)
    return _limit(shown, max(length + leeway, tail))


def _limit(shown: TextType, characters: int) -> TextType:
    size = 4 * characters if shown.size is None else min(shown.size + characters, 4 * characters)
    return TextType(characters if shown.characters is None else min(shown.characters + 3, characters), size)


def give_wrapped(given: FilterCall) -> Type:
    """A line end may stand behind every character."""
    shown = measure(given.kind)
    return TextType(at=shown.at) if given.find(2, "wrapstring") is not None else _scale(shown, 2, 2)


def give_cut(given: FilterCall) -> Type:
    """`truncate_at`: a beginning of the text, of at most so many characters, or so many tokens."""
    shown = measure(given.kind)
    characters, tokens = given.find_whole(9, "chars", None), given.find_whole(9, "tokens", None)
    if characters is not None:
        characters = characters if shown.characters is None else min(characters, shown.characters)
        return TextType(characters, 4 * characters if shown.size is None else min(4 * characters, shown.size))
    if tokens is not None:
        size = tokens * MAX_TOKEN if shown.size is None else min(tokens * MAX_TOKEN, shown.size)
        return TextType(shown.characters if shown.characters is not None else size, size)
    return shown


def give_json(given: FilterCall) -> Type:
    """JSON of the value: a character takes at most six bytes for each of its own."""
    shown = measure(given.kind)
    return TextType(at=shown.at) if shown.size is None or given.find(0, "indent") is not None else _scale(shown, 6, 8)


def give_open(given: FilterCall) -> Type:
    """A text whose length is not followed."""
    return TextType(at=measure(given.kind).at)
