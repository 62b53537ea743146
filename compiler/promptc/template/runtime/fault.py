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


def name_kind(value: object) -> str:
    """What an author calls a value of this kind: "a text", "a list", "none" ..."""
    kind = type(value).__name__
    return find_kind("generator" if kind not in _KINDS and hasattr(value, "__iter__") else kind)


def find_kind(kind: str) -> str:
    """The same for the name of a Python type."""
    return _KINDS.get(kind, "something that is no data")


UNMADE = "a sequence that is not made yet"
"""What `map`, `select` and their like give before `list`."""

_KINDS = {
    "NoneType": "none",
    "generator": UNMADE,
    "str": "a text",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "list": "a list",
    "tuple": "a list",
    "range": "a range",
    "Group": "a group",
    "dict": "a mapping",
    "Missing": "an undefined value",
    "Blank": "an undefined value",
    "Macro": "a macro",
    "Namespace": "a namespace",
    "Loop": "the loop",
    "Module": "an imported template",
    "Cycler": "a cycler",
    "Joiner": "a joiner",
    "function": "a function",
    "BlockCall": "a block",
    "Blocks": "the template itself",
}
