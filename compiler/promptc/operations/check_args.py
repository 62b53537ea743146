"""The arguments of an operation, held against its defaults."""

from collections.abc import Iterator, Mapping

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.messages import Operation
from promptc.text.json import settle_number


def check_args(operation: Operation, args: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments: the defaults, and `args` in their place.

    Each is of its default's kind: truth, text, whole number (12.0 is one), number, list or mapping; where the default is none, anything.
    Raises `UsageError` with every one that is unknown (PC0803) or of another kind (PC0804).
    """
    wrong = list(_iter_wrong(operation, args))
    if wrong:
        raise UsageError(wrong)
    return {name: settle_number(value) if isinstance(value, float) else value for name, value in {**operation.args, **args}.items()}


def _iter_wrong(operation: Operation, args: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for name, value in args.items():
        if name not in operation.args:
            help = suggest(name, operation.args) if operation.args else "it takes none"
            yield Diagnostic("PC0803", f"the operation `{operation.name}` has no argument `{name}`", help=help)
            continue
        default = operation.args[name]
        wanted = _find_kind(default)
        if default is not None and not _suits(value, wanted):
            message = f"the argument `{name}` of `{operation.name}` must be {wanted}, not {show_value(value)}"
            yield Diagnostic("PC0804", message, help=f"its default is {show_value(default)}")


def _suits(value: Any, wanted: str) -> bool:
    kind = _find_kind(settle_number(value) if isinstance(value, float) else value)
    return kind == wanted or (kind, wanted) == ("a whole number", "a number")


def _find_kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true or false"
    kinds = {str: "a text", int: "a whole number", float: "a number", list: "a list", tuple: "a list"}
    return next((word for kind, word in kinds.items() if isinstance(value, kind)), "a mapping")
