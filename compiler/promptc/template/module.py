"""An imported template."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Module:
    """What a template exports, as attributes. Names with `_` are never exported, so its own fields cannot be mistaken for them."""

    __slots__ = ("__name__", "_parts", "_exports")

    def __init__(self, name: str, parts: Sequence[str], exports: Mapping[str, Any]) -> None:
        self.__name__ = name
        self._parts = parts
        self._exports = exports

    def __contains__(self, name: object) -> bool:
        return name in self._exports

    def __getitem__(self, name: str) -> Any:
        return self._exports[name]

    def __getattr__(self, name: str) -> Any:
        if name[:1] != "_" and name in self._exports:
            return self._exports[name]
        raise AttributeError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)
