"""A smaller pack that still breaks a property: parts are left out one after the other as long as it does."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.property.drawing.packs import Drawn

_ROUNDS = 6


def shrink(drawn: Drawn, breaks: Callable[[Drawn], bool]) -> Drawn:
    """The smallest pack found for which `breaks` is true. It must be true of `drawn`, and false of packs that do not load."""
    for _ in range(_ROUNDS):
        smaller = _shrink_part(drawn, "manifest", breaks)
        smaller = _shrink_part(smaller, "state", breaks)
        if smaller == drawn:
            return drawn
        drawn = smaller
    return drawn


def _shrink_part(drawn: Drawn, name: str, breaks: Callable[[Drawn], bool]) -> Drawn:
    place = 0
    while True:
        changes = _iter_smaller(getattr(drawn, name), ())
        for index, change in enumerate(changes):
            if index < place:
                continue
            candidate = replace(drawn, **{name: change})
            if breaks(candidate):
                drawn, place = candidate, index
                break
        else:
            return drawn


def _iter_smaller(value: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """`value` with one thing left out or made smaller; larger parts first."""
    if isinstance(value, dict):
        yield from ({k: v for k, v in value.items() if k != key} for key in value)
        for key, inner in value.items():
            for smaller in _iter_smaller(inner, (*path, key)):
                yield {**value, key: smaller}
    elif isinstance(value, list):
        yield from (value[: len(value) // 2], value[len(value) // 2 :]) if len(value) > 3 else ()
        yield from (value[:place] + value[place + 1 :] for place in range(len(value)))
        for place, inner in enumerate(value):
            for smaller in _iter_smaller(inner, (*path, place)):
                yield [*value[:place], smaller, *value[place + 1 :]]
    elif isinstance(value, str):
        yield from _iter_shorter(value)
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
        yield from dict.fromkeys((0, value // 2, value - 1))


def _iter_shorter(text: str) -> Iterator[str]:
    size = len(text) // 2
    while size:
        yield from (text[:place] + text[place + size :] for place in range(0, len(text) - size + 1, size))
        size //= 2
    if text not in ("", "x") and len(text) == 1:
        yield "x"
        yield ""
