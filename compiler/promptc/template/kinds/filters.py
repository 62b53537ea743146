"""Filters: what each of them takes and gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jinja2 import nodes

from promptc.template.kinds import texts
from promptc.template.kinds.arguments import Arguments, judge_filter
from promptc.template.kinds.given import FilterCall
from promptc.template.kinds.take import (
    ANY,
    ASKED,
    COUNTED,
    ITERATED,
    MAPPED,
    NUMBERS,
    ONLY_TEXT,
    PARSED,
    PRINTED,
    SEQUENCE,
    SHOWN_TEXT,
    SIZED,
    STRICT_TEXT,
    VALUE,
    Usage,
)
from promptc.template.kinds.unite import join_types, weaken
from promptc.template.types import filters
from promptc.template.types.scope import Scope, Value
from promptc.template.types.types import (
    BOOL_TYPE,
    NUMBER_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    list_members,
)
from promptc.template.types.walk import WalkRun

Evaluate = Callable[[WalkRun, nodes.Expr, Scope], Value]
Give = Callable[[FilterCall], Type]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a filter takes, and what it gives of that."""

    taker: Usage
    give: Give


def _always(kind: Type) -> Give:
    return lambda given: kind


def _parse(kind: Type) -> Give:
    """A number, or the default where what was given holds none."""

    def give(given: FilterCall) -> Type:
        default = given.find(0, "default")
        may_fail = any(not isinstance(member, NumberType) for member in list_members(given.kind))
        return weaken(join_types(kind, default.kind)) if default is not None and may_fail else kind

    return give


_MADE = Usage("a list, a mapping or a text", SEQUENCE.good, lazy=False)
_CUT = Usage("a text", (TextType,), (ListType,), lazy=False)
_SHOWN = Usage("a value that can be printed", (*PRINTED.good,), lazy=False)
_CODED = Usage("a text, a mapping or a list of pairs", (TextType, NumberType, BoolType, MappingType, ListType), (NoneType,))
_PASSED = Usage(SEQUENCE.wants, SEQUENCE.good, (NoneType,), none=True)
_SIFTED = Usage(ITERATED.wants, ITERATED.good, (NoneType, *ITERATED.bears), none=True)
"""Of none these make nothing."""
_PAIRED = Usage("a mapping", MAPPED.good, gap=True)
_TIME = Rule(STRICT_TEXT, filters.give_since)

_RULES: Mapping[str, Rule] = {
    "abs": Rule(NUMBERS, _always(NUMBER_TYPE)),
    "batch": Rule(ITERATED, filters.give_batches),
    "capitalize": Rule(ONLY_TEXT, texts.give_cased),
    "center": Rule(SHOWN_TEXT, texts.give_centred),
    "count": Rule(COUNTED, filters.give_length),
    "default": Rule(ANY, filters.give_default),
    "dictsort": Rule(MAPPED, filters.give_pairs),
    "escape": Rule(SHOWN_TEXT, texts.give_times(5)),
    "filesizeformat": Rule(SIZED, _always(TextType(320, 320))),
    "first": Rule(SEQUENCE, filters.give_first),
    "float": Rule(PARSED, _parse(NUMBER_TYPE)),
    "format": Rule(ONLY_TEXT, texts.give_formatted),
    "groupby": Rule(ITERATED, filters.give_groups),
    "indent": Rule(STRICT_TEXT, texts.give_indented),
    "int": Rule(PARSED, _parse(WHOLE)),
    "items": Rule(_PAIRED, filters.give_items),
    "join": Rule(SEQUENCE, filters.give_joined),
    "last": Rule(_MADE, filters.give_first),
    "length": Rule(COUNTED, filters.give_length),
    "list": Rule(SEQUENCE, filters.give_list),
    "lower": Rule(ONLY_TEXT, texts.give_cased),
    "map": Rule(_PASSED, filters.give_mapped),
    "max": Rule(SEQUENCE, filters.give_extreme),
    "min": Rule(SEQUENCE, filters.give_extreme),
    "reject": Rule(_PASSED, filters.give_rejected),
    "rejectattr": Rule(_SIFTED, filters.give_rejected_by),
    "replace": Rule(SHOWN_TEXT, texts.give_replaced),
    "reverse": Rule(SEQUENCE, filters.give_reversed),
    "round": Rule(NUMBERS, _always(NUMBER_TYPE)),
    "select": Rule(_PASSED, filters.give_selected),
    "selectattr": Rule(_SIFTED, filters.give_selected_by),
    "slice": Rule(ITERATED, filters.give_batches),
    "sort": Rule(SEQUENCE, filters.give_sorted),
    "string": Rule(_SHOWN, texts.give_shown),
    "striptags": Rule(ONLY_TEXT, texts.give_times(1)),
    "sum": Rule(ITERATED, filters.give_sum),
    "title": Rule(ONLY_TEXT, texts.give_cased),
    "tojson": Rule(VALUE, texts.give_json),
    "trim": Rule(SHOWN_TEXT, texts.give_times(1)),
    "truncate": Rule(_CUT, texts.give_truncated),
    "unique": Rule(SEQUENCE, filters.give_unique),
    "upper": Rule(ONLY_TEXT, texts.give_cased),
    "urlencode": Rule(_CODED, texts.give_times(3)),
    "wordcount": Rule(ONLY_TEXT, _always(NumberType(True, 0))),
    "wordwrap": Rule(STRICT_TEXT, texts.give_wrapped),
    "truncate_at": Rule(ONLY_TEXT, texts.give_cut),
    "tokens": Rule(_SHOWN, _always(NumberType(True, 0))),
    "minutes_since": _TIME,
    "hours_since": _TIME,
    "days_since": _TIME,
    "timestamp": Rule(STRICT_TEXT, _always(WHOLE)),
    "normalize": Rule(ONLY_TEXT, texts.give_open),
    "one_line": Rule(SHOWN_TEXT, texts.give_times(1)),
    "json": Rule(VALUE, texts.give_json),
    "mentions": Rule(ONLY_TEXT, _always(BOOL_TYPE)),
    "pick": Rule(SEQUENCE, filters.give_picked),
}
_SAME = {"d": "default", "e": "escape"}
_DEFAULTS = ("default", "d")
_KEEPS = frozenset(
    """
    batch count default dictsort first groupby items join last length list map max min pick reject rejectattr reverse select
    selectattr slice sort sum unique
    """.split()
)
"""Filters that hand parts on, or look at no more of them than an attribute: what they give is judged where it is used."""


def apply_filter(walk: WalkRun, node: nodes.Filter, value: Value, scope: Scope, evaluate: Evaluate) -> Value:
    """Judge a filter and its arguments; what it gives."""
    args = [evaluate(walk, arg, scope) for arg in node.args]
    named = {str(word.key): evaluate(walk, word.value, scope) for word in node.kwargs}
    for one in [*args, *(value for name, value in named.items() if name != "default")] if not _hands_on(node) else ():
        walk.take(one, ASKED, f"`{node.name}`", node, scope)
    judge_filter(Arguments(walk, node, scope, args, named), node.name)
    given = FilterCall(walk, node, scope, value, value.kind, args, named, apply_named)
    return Value(give(node.name, given))


def _hands_on(node: nodes.Filter) -> bool:
    """Whether what it is given may be undefined as long as nothing uses it: an argument of `default`, also in `map('default', ...)`."""
    applied = node.args[0] if node.name == "map" and node.args else None
    return node.name in _DEFAULTS or (isinstance(applied, nodes.Const) and applied.value in _DEFAULTS)


def give(name: str, given: FilterCall) -> Type:
    """What the filter gives of the kind it is given."""
    name = _SAME.get(name, name)
    rule = _RULES.get(name)
    if rule is None:
        return UNKNOWN_TYPE
    kind = given.walk.take(Value(given.kind, given.value.path, given.value.spelled), rule.taker, f"`{name}`", given.node, given.scope)
    if name not in _KEEPS:
        given.walk.note_whole(kind)
    return rule.give(given.of(kind))


def apply_named(name: str, given: FilterCall) -> Type:
    """The same for a filter that `map` applies to each element."""
    return give(name, given)
