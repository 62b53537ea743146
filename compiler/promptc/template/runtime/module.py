"""An imported template."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.typed import Any
from promptc.template.runtime.objects import Missing


class Module:
    """What a template exports, as attributes, and the text it made on the way. Names with `_` are never exported."""

    __slots__ = ("exports", "name", "text")

    def __init__(self, name: str, text: str, exports: Mapping[str, Any]) -> None:
        self.name = name
        self.text = text
        self.exports = exports

    def find(self, name: str) -> Any:
        """What it exports under a name; undefined where there is none."""
        return self.exports[name] if name in self.exports else Missing(name, self)


def find_export(module: Module, name: str) -> Any:
    """What `from ... import name` binds."""
    if name in module.exports:
        return module.exports[name]
    return Missing(name, hint=f"the template `{module.name}` does not export `{name}`")
