"""One way in which a value does not fit its schema, free of the validator that found it."""

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any

Path = tuple[str | int, ...]
"""The keys and places that lead to a value."""

_KINDS = ("type", "const", "enum", "pattern", "format")


@frozen
class SchemaFault:
    """The value at `path` fails `keyword` of `schema`, which wants `wanted`; `branches` are the faults of each alternative.

    For `required` the wanted is the missing key, for `dependentRequired` the key that needs it and the missing one; for a key that is not
    allowed and for `propertyNames` the path ends in that key, and the branch of `propertyNames` are the faults of the key.
    `condition` tells of the innermost `if` that asks for it (empty: none does).
    """

    path: Path
    keyword: str
    wanted: Any
    value: Any
    schema: Mapping[str, Any] | bool
    branches: "tuple[tuple[SchemaFault, ...], ...]" = ()
    condition: str = ""


def find_causes(fault: SchemaFault) -> list[SchemaFault]:
    """The faults to speak of: where alternatives fail, those of the one that was most likely meant.

    That is the alternative of the right kind with the fewest faults, the first of equals; where none is of the right kind, or several
    are and the best one knows none of the keys, the failing of all of them is the fault.
    """
    if fault.keyword not in ("anyOf", "oneOf") or find_rule(fault):
        return [fault]
    fitting = [branch for branch in fault.branches if not any(_is_other_kind(inner, fault) for inner in branch)]
    if not fitting:
        return [fault]
    meant = min(fitting, key=len)
    if len(fitting) > 1 and _is_all_unknown(meant, fault):
        return [fault]
    return [cause for inner in meant for cause in find_causes(inner)]


def _is_all_unknown(branch: tuple[SchemaFault, ...], outer: SchemaFault) -> bool:
    """Whether an alternative knows none of the keys that are there: then nothing says that it was meant."""
    unknown = sum(1 for inner in branch if inner.keyword == "additionalProperties" and inner.path[:-1] == outer.path)
    return isinstance(outer.value, dict) and 0 < len(outer.value) == unknown


def find_rule(fault: SchemaFault) -> list[str]:
    """The keys a fault is about, when it is that of a rule on which keys stand together: alternatives that only require keys, or `not`."""
    if fault.keyword not in ("not", "oneOf", "anyOf"):
        return []
    options = fault.wanted if isinstance(fault.wanted, list) else [fault.wanted]
    keys: list[str] = []
    for option in options:
        inner = option.get("not", option) if isinstance(option, dict) else {}
        for rule in inner.get("anyOf", [inner]):
            if not isinstance(rule, dict) or set(rule) != {"required"}:
                return []
            keys += rule["required"]
    return list(dict.fromkeys(keys))


def _is_other_kind(inner: SchemaFault, outer: SchemaFault) -> bool:
    return inner.path == outer.path and (inner.keyword in _KINDS or _is_all_other(inner))


def _is_all_other(fault: SchemaFault) -> bool:
    """Whether the fault is that of alternatives none of which is of the value's kind."""
    return bool(fault.branches) and all(any(_is_other_kind(inner, fault) for inner in branch) for branch in fault.branches)
