"""A demand, and the values a kind has, as they are told to an author."""

from promptc.diag.findings import count_noun
from promptc.template.kinds.conditions import Demand
from promptc.template.types.types import BoolType, ListType, NumberType, TextType, Type, UndefinedType, list_members, name_type

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "not in"}
_SHOWN = 6


def describe_demand(demand: Demand) -> str:
    """`item.level > 5`; what is computed is called `...`."""
    subject = demand.spelled or "..."
    if demand.operator in _SIGNS:
        return f"{subject} {_SIGNS[demand.operator]} {_show(demand.value)}"
    if demand.operator in ("is", "isnot"):
        return f"{subject} is {'not ' if demand.operator == 'isnot' else ''}{demand.value}"
    return subject if demand.operator == "true" else f"not {subject}" if demand.operator == "false" else f"{subject} in ..."


def describe_kind(kind: Type) -> str:
    """`a number from 1 to 5`, `one of lore, rumour`, `a text of at most 40 characters`."""
    return (
        " or ".join(dict.fromkeys(_describe_one(one) for one in list_members(kind) if not isinstance(one, UndefinedType))) or "never there"
    )


def _describe_one(kind: Type) -> str:
    if isinstance(kind, TextType | NumberType) and kind.values is not None:
        shown = [_show(value) for value in sorted(kind.values)]
        more = ", ..." if len(shown) > _SHOWN else ""
        return f"`{shown[0]}`" if len(shown) == 1 else f"one of {', '.join(f'`{one}`' for one in shown[:_SHOWN])}{more}"
    if isinstance(kind, TextType) and kind.characters is not None:
        return f"a text of at most {count_noun(kind.characters, 'character')}"
    if isinstance(kind, ListType) and kind.most is not None:
        return f"a list of at most {kind.most}"
    if isinstance(kind, BoolType) and kind.value is not None:
        return "true" if kind.value else "false"
    return _describe_range(kind) if isinstance(kind, NumberType) else name_type(kind)


def _describe_range(kind: NumberType) -> str:
    noun = "a whole number" if kind.whole else "a number"
    if kind.least is not None:
        return f"{noun} from {kind.least} {f'to {kind.most}' if kind.most is not None else 'on'}"
    return f"{noun} of at most {kind.most}" if kind.most is not None else noun


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_show, value))}]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return repr(value)
