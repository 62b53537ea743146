"""What a template run raises when a rule of ours is broken."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from jinja2 import TemplateRuntimeError


class Fault(TemplateRuntimeError):
    """A finding without its place; `explain_error` adds the line."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.help = help


def refuse(code: str, message: str, help: str = "") -> NoReturn:
    """Raise the `Fault`."""
    raise Fault(code, message, help)


def name_kind(value: object) -> str:
    """What an author calls a value of this kind: "a text", "a list", "none" ..."""
    kind = "dict" if isinstance(value, Mapping) else type(value).__name__
    return find_kind("generator" if kind not in _KINDS and isinstance(value, Iterable) else kind)


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
    "_GroupTuple": "a group",
    "dict": "a mapping",
    "mappingproxy": "a mapping",
    "Missing": "an undefined value",
    "Undefined": "an undefined value",
    "Macro": "a macro",
    "Namespace": "a namespace",
    "LoopContext": "the loop",
    "Module": "an imported template",
    "Cycler": "a cycler",
    "Joiner": "a joiner",
    "function": "a function",
    "partial": "a function",
    "BlockReference": "a block",
    "TemplateReference": "the template itself",
}
