"""What `groupby` gives for each group."""

from __future__ import annotations

from promptc.diag.typed import Any


class Group(tuple[Any, ...]):
    """A pair: what the group has in common (`grouper`), and its elements (`list`). Printed and compared as the pair it is."""

    __slots__ = ()

    @property
    def grouper(self) -> Any:
        """What the elements have in common."""
        return self[0]

    @property
    def list(self) -> Any:
        """The elements."""
        return self[1]
