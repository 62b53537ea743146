"""What the filters of text give: how long it may be."""

from collections.abc import Callable

from promptc.template.kinds.given import Given
from promptc.template.kinds.kind import Kind, Text
from promptc.template.kinds.measure import measure

MAX_TOKEN = 512
"""No token of the vocabularies has more bytes."""


def give_shown(given: Given) -> Kind:
    """The text that printing gives."""
    return measure(given.kind)


def give_times(times: int) -> Callable[[Given], Kind]:
    """A text of at most so many times the length."""

    def give(given: Given) -> Kind:
        shown = measure(given.kind)
        return _scale(shown, times)

    return give


def _scale(shown: Text, times: int, more: int = 0) -> Text:
    characters = None if shown.characters is None else shown.characters * times + more
    size = None if shown.size is None else shown.size * times + more
    return Text(characters, size, None, shown.at)


def give_cased(given: Given) -> Kind:
    """One letter may become three."""
    shown = measure(given.kind)
    if shown.values is not None and all(value.isascii() for value in shown.values):
        return Text(shown.characters, shown.size, None, shown.at)
    return _scale(shown, 3)


def give_centred(given: Given) -> Kind:
    """Padded to a width."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 80)
    if width is None:
        return Text(at=shown.at)
    return _scale(shown, 1, max(width, 0))


def give_formatted(given: Given) -> Kind:
    """`%s` filled in; how long that gets is not followed."""
    for value in (*given.args, *given.named.values()):
        given.walk.note_whole(value.kind)
    return Text()


def give_indented(given: Given) -> Kind:
    """Every line indented; a character may be a line."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 4)
    return Text(at=shown.at) if width is None else _scale(shown, 1 + max(width, 0), max(width, 0))


def give_replaced(given: Given) -> Kind:
    """`new` for every `old`, which may be empty."""
    shown, old, new = measure(given.kind), given.find_text(0, "old"), given.find_text(1, "new")
    if not old or new is None:
        return Text(at=shown.at)
    longer = max(len(new.encode("utf-8", "surrogatepass")), 1)
    return _scale(shown, max(1, -(-longer // len(old.encode("utf-8", "surrogatepass")))))


def give_truncated(given: Given) -> Kind:
    """At most `length` and `leeway` characters."""
    shown = measure(given.kind)
    length, leeway = given.find_whole(0, "length", 255), given.find_whole(3, "leeway", 5)
    end = given.find(2, "end")
    tail = measure(end.kind).characters if end is not None else 3
    if length is None or leeway is None or tail is None:
        return shown if end is None else Text(at=shown.at)
    return _limit(shown, max(length + leeway, tail))


def _limit(shown: Text, characters: int) -> Text:
    size = 4 * characters if shown.size is None else min(shown.size + characters, 4 * characters)
    return Text(characters if shown.characters is None else min(shown.characters + 3, characters), size)


def give_wrapped(given: Given) -> Kind:
    """A line end may stand behind every character."""
    shown = measure(given.kind)
    return Text(at=shown.at) if given.find(2, "wrapstring") is not None else _scale(shown, 2, 2)


def give_cut(given: Given) -> Kind:
    """`truncate_at`: a beginning of the text, of at most so many characters, or so many tokens."""
    shown = measure(given.kind)
    characters, tokens = given.find_whole(9, "chars", None), given.find_whole(9, "tokens", None)
    if characters is not None:
        characters = characters if shown.characters is None else min(characters, shown.characters)
        return Text(characters, 4 * characters if shown.size is None else min(4 * characters, shown.size))
    if tokens is not None:
        size = tokens * MAX_TOKEN if shown.size is None else min(tokens * MAX_TOKEN, shown.size)
        return Text(shown.characters if shown.characters is not None else size, size)
    return shown


def give_json(given: Given) -> Kind:
    """JSON of the value: a character takes at most six bytes for each of its own."""
    shown = measure(given.kind)
    return Text(at=shown.at) if shown.size is None or given.find(0, "indent") is not None else _scale(shown, 6, 8)


def give_open(given: Given) -> Kind:
    """A text whose length is not followed."""
    return Text(at=measure(given.kind).at)
