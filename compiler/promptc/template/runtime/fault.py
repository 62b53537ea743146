"""What a template run raises when a rule of ours is broken."""

from __future__ import annotations

from promptc.diag.typed import NoReturn


class Fault(Exception):
    """A finding without its place; `explain_error` adds that."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.help = help


def refuse(code: str, message: str, help: str = "") -> NoReturn:
    """Raise the `Fault`."""
    raise Fault(code, message, help)
