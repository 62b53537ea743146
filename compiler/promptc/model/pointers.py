"""Where in a state a value stands. Values know nothing of it: mappings and lists are told by which object they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.text.json import extend_pointer

_Step = tuple[int, str | int] | None


class Pointers:
    """JSON pointers of the mappings and lists of a state; the state is walked once, when first asked for what `find_at` does not find."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self._steps: dict[int, _Step] = {}

    def find(self, value: object) -> str | None:
        """The pointer of a mapping or list of the state; None for anything else, and for one that the state holds at several places."""
        if value.__class__ is not dict and value.__class__ is not list:
            return None
        if not self._steps:
            self._steps = dict(_iter_steps(self._state))
        return self._render(value) if id(value) in self._steps else None

    def find_at(self, value: object, paths: Iterable[Sequence[str]]) -> str | None:
        """The same where `value` stands at one of a few paths, each led by `state`."""
        own = sorted(tuple(path[1:]) for path in paths if path[0] == "state")
        return next((_render_path(path) for path in own if self._follow(path) is value), None)

    def _follow(self, path: Sequence[str]) -> object:
        value: Any = self._state
        for name in path:
            value = value.get(name) if value.__class__ is dict else None
        return value

    def _render(self, value: object) -> str | None:
        steps: list[str | int] = []
        at = id(value)
        while at != id(self._state):
            step = self._steps[at]
            if step is None:
                return None
            at, name = step
            steps.append(name)
        return _render_path(reversed(steps))


def _render_path(path: Iterable[str | int]) -> str:
    pointer = ""
    for step in path:
        pointer = extend_pointer(pointer, step)
    return pointer


def _iter_steps(state: Mapping[str, Any]) -> Iterator[tuple[int, _Step]]:
    """Of every mapping and list, which holds it and under what; None for what is held twice, as one default may be."""
    met: set[int] = {id(state)}
    yield id(state), None
    waiting: list[Any] = [state]
    while waiting:
        holder = waiting.pop()
        for name, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if value.__class__ is not dict and value.__class__ is not list:
                continue
            if id(value) in met:
                yield id(value), None
                continue
            met.add(id(value))
            yield id(value), (id(holder), name)
            waiting.append(value)
