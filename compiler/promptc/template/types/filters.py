"""The filters: what each accepts, and the type of its result (`apply_filter`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from jinja2 import nodes

from promptc.template.allow import COMPARING
from promptc.template.types import algebra
from promptc.template.types.algebra import (
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
    drop_gap,
    element_type,
    find_count,
    join_types,
    map_members,
    part_type,
    value_type,
    weaken,
)
from promptc.template.types.bounds import MAX_TOKEN, measure
from promptc.template.types.calls import NUMERIC, Arguments, FilterCall, find_single, judge_filter, report_always
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NUMBER_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    is_sure,
    list_members,
)
from promptc.template.types.walk import Scope, Value, WalkRun

Evaluate = Callable[[WalkRun, nodes.Expr, Scope], Value]
Give = Callable[[FilterCall], Type]
_MADE = Usage("a list, a mapping or a string", SEQUENCE.good, lazy=False)
_CUT = Usage("a string", (TextType,), (ListType,), lazy=False)
_SHOWN = Usage("a value that can be printed", (*PRINTED.good,), lazy=False)
_CODED = Usage("a string, a mapping or a list of pairs", (TextType, NumberType, BoolType, MappingType, ListType), (NoneType,))
_PASSED = Usage(SEQUENCE.wants, SEQUENCE.good, (NoneType,), none=True)
_SIFTED = Usage(ITERATED.wants, ITERATED.good, (NoneType, *ITERATED.bears), none=True)
"""Filters with this usage, or with `_PASSED`, return an empty sequence for none."""

_PAIRED = Usage("a mapping", MAPPED.good, gap=True)
_SAME = {"d": "default", "e": "escape"}
_DEFAULTS = ("default", "d")

_KEEPS = frozenset(
    """
    batch count default dictsort first groupby items join last length list map max min pick reject rejectattr reverse select
    selectattr slice sort sum unique
    """.split()
)
"""Filters that hand parts on, or read no more of them than an attribute. Their results are judged where they are used."""

_UNSPELLED = frozenset(("mentions", "replace", "tokens", "wordcount"))
"""Filters that take a text and give something else, and `replace`, which may replace `None`."""

_ORDERED = Usage("numbers or strings", (NumberType, BoolType, TextType, ListType), lazy=False)
_PRESENT = Usage("a value", (*PRINTED.good,), none=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a filter accepts, and how to infer the type of its result."""

    taker: Usage
    give: Give


def _always(kind: Type) -> Give:
    return lambda given: kind


def _parse(kind: Type) -> Give:
    """Infer a number, or the default if the value may contain no number."""

    def give(given: FilterCall) -> Type:
        default = given.find(0, "default")
        may_fail = any(not isinstance(member, NumberType) for member in list_members(given.kind))
        return weaken(join_types(kind, default.kind)) if default is not None and may_fail else kind

    return give


def give_since(given: FilterCall) -> Type:
    """Infer the whole units between two times, which are texts."""
    now = given.find(0, "now")
    if now is not None:
        given.walk.take(now, STRICT_TEXT, f"`{given.node.name}(now)`", given.node, given.scope)
    return NumberType(True)


_TIME = Rule(STRICT_TEXT, give_since)


def give_shown(given: FilterCall) -> Type:
    """Infer the text of the printed value."""
    return measure(given.kind)


def give_times(times: int) -> Callable[[FilterCall], Type]:
    """Return a rule for a text of at most `times` times the length."""

    def give(given: FilterCall) -> Type:
        shown = measure(given.kind)
        return _scale(shown, times)

    return give


def give_cased(given: FilterCall) -> Type:
    """Infer a text with changed case. One letter may become three."""
    shown = measure(given.kind)
    if shown.values is not None and all(value.isascii() for value in shown.values):
        return TextType(shown.characters, shown.size, None, shown.at)
    return _scale(shown, 3)


def give_centred(given: FilterCall) -> Type:
    """Infer a text padded to a width."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 80)
    if width is None:
        return TextType(at=shown.at)
    return _scale(shown, 1, max(width, 0))


def give_formatted(given: FilterCall) -> Type:
    """Infer a text with `%s` filled in. Its length is not inferred."""
    for value in (*given.args, *given.named.values()):
        given.walk.note_whole(value.kind)
    return TextType()


def give_indented(given: FilterCall) -> Type:
    """Infer a text with every line indented. Each character may be a line."""
    shown, width = measure(given.kind), given.find_whole(0, "width", 4)
    return TextType(at=shown.at) if width is None else _scale(shown, 1 + max(width, 0), max(width, 0))


def give_replaced(given: FilterCall) -> Type:
    """Infer a text with `new` for every `old`, which may be empty."""
    shown, old, new = measure(given.kind), given.find_text(0, "old"), given.find_text(1, "new")
    if not old or new is None:
        return TextType(at=shown.at)
    longer = max(len(new.encode("utf-8", "surrogatepass")), 1)
    return _scale(shown, max(1, -(-longer // len(old.encode("utf-8", "surrogatepass")))))


def give_truncated(given: FilterCall) -> Type:
    """Infer a text of at most `length` plus `leeway` characters."""
    shown = measure(given.kind)
    length, leeway = given.find_whole(0, "length", 255), given.find_whole(3, "leeway", 5)
    end = given.find(2, "end")
    tail = measure(end.kind).characters if end is not None else 3
    if length is None or leeway is None or tail is None:
        return shown if end is None else TextType(at=shown.at)
    return _limit(shown, max(length + leeway, tail))


def give_wrapped(given: FilterCall) -> Type:
    """Infer a wrapped text. There may be a line end after every character."""
    shown = measure(given.kind)
    return TextType(at=shown.at) if given.find(2, "wrapstring") is not None else _scale(shown, 2, 2)


def give_cut(given: FilterCall) -> Type:
    """Infer the result of `truncate_at`: a prefix of at most so many characters or tokens."""
    shown = measure(given.kind)
    characters, tokens = given.find_whole(9, "chars", None), given.find_whole(9, "tokens", None)
    if characters is not None:
        characters = characters if shown.characters is None else min(characters, shown.characters)
        return TextType(characters, 4 * characters if shown.size is None else min(4 * characters, shown.size))
    if tokens is not None:
        size = tokens * MAX_TOKEN if shown.size is None else min(tokens * MAX_TOKEN, shown.size)
        return TextType(shown.characters if shown.characters is not None else size, size)
    return shown


def give_json(given: FilterCall) -> Type:
    """Infer the JSON of the value. Each byte becomes six at most."""
    shown = measure(given.kind)
    return TextType(at=shown.at) if shown.size is None or given.find(0, "indent") is not None else _scale(shown, 6, 8)


def give_open(given: FilterCall) -> Type:
    """Infer a text whose length is not inferred."""
    return TextType(at=measure(given.kind).at)


def give_list(given: FilterCall) -> Type:
    """Infer a list of the elements."""
    members = list_members(given.kind)
    if len(members) == 1 and isinstance(members[0], ListType):
        return replace(members[0], shape="list")
    return _make(given.kind, element_type(given.kind))


def give_reversed(given: FilterCall) -> Type:
    """Infer the reverse: of a text a text, else a lazy sequence."""
    return map_members(
        given.kind, lambda one: replace(one, values=None) if isinstance(one, TextType) else _make(one, element_type(one), lazy=True)
    )


def give_batches(given: FilterCall) -> Type:
    """Infer lists of elements and of `fill_with`."""
    fill = given.find(1, "fill_with")
    element = element_type(given.kind)
    inner = ListType(join_types(element, fill.kind) if fill is not None else element, 0, None, (), "list", True)
    return ListType(inner, 0, None, (), "lazy", True)


def give_length(given: FilterCall) -> Type:
    """Infer the number of elements."""
    return NumberType(True, _count_least(given.kind), find_count(given.kind))


def give_default(given: FilterCall) -> Type:
    """Infer the value or its default. With `true` as second argument, the default also replaces values that count as false."""
    default, every = given.find(0, "default_value"), given.find(1, "boolean")
    instead = default.kind if default is not None else TEXT_TYPE
    if every is None:
        report_always(given.walk, given.node, given.value, "`default` without `true`", given.scope)
        kept = map_members(drop_gap(given.kind), lambda one: NoneType(False, one.at) if isinstance(one, NoneType) else one)
        return join_types(kept, instead) if kept != given.kind or kept == NEVER else kept
    return join_types(map_members(given.kind, lambda one: NEVER if isinstance(one, NoneType | UndefinedType) else one), instead)


def give_picked(given: FilterCall) -> Type:
    """Infer one element; the run stops if there is none."""
    return element_type(given.kind)


def _give_pairs(given: FilterCall, *, lazy: bool) -> Type:
    """Infer the pairs of a mapping."""
    return map_members(given.kind, lambda one: _make_pairs(one, lazy=lazy))


def _make_pairs(kind: Type, *, lazy: bool) -> Type:
    if isinstance(kind, UndefinedType):
        return ListType(NEVER, 0, 0, (), "lazy")  # an undefined value has no pairs
    if not isinstance(kind, MappingType):
        return UNKNOWN_TYPE
    pair = ListType(NEVER, 2, 2, (TextType(), value_type(kind)), "tuple")
    return ListType(pair, 0, kind.most, (), "lazy" if lazy else "list", True, kind.at)


def _pick_one(given: FilterCall) -> Type:
    """Infer one element, undefined if there may be none."""
    element = element_type(given.kind)
    if not _lists(given.kind) or _count_least(given.kind) > 0:
        return element
    gap = UndefinedType("empty", given.node.name, (), "a list")
    found = join_types(element, gap)
    return weaken(found) if _is_loose(given.kind) else found


def give_mapped(given: FilterCall) -> Type:
    """Infer an attribute of each element, or the result of a filter for each."""
    element = element_type(given.kind)
    if not list_members(element):
        return _make(given.kind, NEVER, lazy=True)
    attribute = given.named.get("attribute")
    if attribute is not None:
        kind = _name_gaps(given, _read_attribute(given, element, attribute, strict=False), attribute)
        return _make(given.kind, kind, lazy=True)
    name = find_single(given.args[0].kind) if given.args else None
    if not isinstance(name, str):
        return _make(given.kind, UNKNOWN_TYPE, lazy=True)
    each = replace(given, value=Value(element, None, _spell_element(given)), kind=element, args=given.args[1:])
    return _make(given.kind, give(name, each), lazy=True)


def _select(given: FilterCall, *, by: bool, truth: bool) -> Type:
    """Infer the elements that pass a test, or with a false `truth` those that fail it; `by` says whether an attribute of each is tested."""
    element = element_type(given.kind)
    rest = list(given.args[1:] if by else given.args)
    test = find_single(rest[0].kind) if rest else "truth"
    change = _make_change(test, rest[1:], truth)
    attribute = given.args[0] if by and given.args else None
    asked = _read_attribute(given, element, attribute, strict=test not in ("defined", "undefined") and by)
    if not by and test != "defined":
        asked = element
    if test in NUMERIC:
        given.walk.take(Value(asked), NUMBERS, f"`is {test}`", given.node, given.scope)
    kept = map_members(element, lambda one: _keep(one, attribute, change)) if asked is not UNKNOWN_TYPE or not by else element
    return _make(given.kind, kept, lazy=True, least=0, loose=True)


def give_unique(given: FilterCall) -> Type:
    """Infer each element once. Elements are compared, so none may be undefined."""
    key = _read_attribute(given, element_type(given.kind), given.find(1, "attribute"), strict=False)
    if list_members(key):
        given.walk.take(Value(key, None, _spell_joined(given, given.find(1, "attribute"))), _PRESENT, "`unique`", given.node, given.scope)
    return _make(given.kind, element_type(given.kind), lazy=True, least=min(1, _count_least(given.kind)))


def give_sorted(given: FilterCall) -> Type:
    """Infer the elements in order."""
    _judge_order(given, given.find(2, "attribute"))
    return _make(given.kind, element_type(given.kind))


def give_extreme(given: FilterCall) -> Type:
    """Infer the least or greatest element, undefined if there may be none."""
    _judge_order(given, given.find(1, "attribute"))
    return _pick_one(given)


def give_groups(given: FilterCall) -> Type:
    """Infer pairs of a key and the elements with that key."""
    element = element_type(given.kind)
    key = _read_attribute(given, element, given.find(0, "attribute"), strict="default" not in given.named)
    default = given.find(1, "default")
    pair = ListType(
        NEVER, 2, 2, (join_types(key, default.kind) if default is not None else key, ListType(element, 1, None, (), "list", True)), "tuple"
    )
    return ListType(pair, 0, find_count(given.kind), (), "list", True)


def give_sum(given: FilterCall) -> Type:
    """Infer the sum of the elements, or of one of their attributes."""
    kind = _read_attribute(given, element_type(given.kind), given.find(0, "attribute"), strict=True)
    if given.find(1, "start") is not None or not list_members(kind):
        return UNKNOWN_TYPE if given.find(1, "start") is not None else NUMBER_TYPE
    attribute = given.find(0, "attribute")
    shown = find_single(attribute.kind) if attribute is not None else ""
    given.walk.take(Value(kind, None, _spell_element(given, str(shown or ""))), NUMBERS, "`sum`", given.node, given.scope)
    return NUMBER_TYPE


def give_joined(given: FilterCall) -> Type:
    """Infer the elements as one text."""
    attribute = given.find(1, "attribute")
    kind = _read_attribute(given, element_type(given.kind), attribute, strict=False)
    if list_members(kind):
        kind = given.walk.take(Value(kind, None, _spell_joined(given, attribute)), PRINTED, "`join`", given.node, given.scope)
    given.walk.note_whole(kind)
    count, shown = find_count(given.kind), measure(kind)
    between = given.find(0, "d")
    gap = measure(between.kind) if between is not None else TextType(0, 0)
    at = shown.at if shown.size is None else next((one.at for one in _lists(given.kind) if one.most is None), gap.at)
    return TextType(_times(count, shown.characters, gap.characters), _times(count, shown.size, gap.size), None, at)


# `forceescape`, `pprint`, `safe`, `urlize` and `xmlattr` have no rule: their input is not judged, and their result is unknown.
_RULES: Mapping[str, Rule] = {
    "abs": Rule(NUMBERS, _always(NUMBER_TYPE)),
    "batch": Rule(ITERATED, give_batches),
    "capitalize": Rule(ONLY_TEXT, give_cased),
    "center": Rule(SHOWN_TEXT, give_centred),
    "count": Rule(COUNTED, give_length),
    "default": Rule(ANY, give_default),
    "dictsort": Rule(MAPPED, partial(_give_pairs, lazy=False)),
    "escape": Rule(SHOWN_TEXT, give_times(5)),
    "filesizeformat": Rule(SIZED, _always(TextType(320, 320))),
    "first": Rule(SEQUENCE, _pick_one),
    "float": Rule(PARSED, _parse(NUMBER_TYPE)),
    "format": Rule(ONLY_TEXT, give_formatted),
    "groupby": Rule(ITERATED, give_groups),
    "indent": Rule(STRICT_TEXT, give_indented),
    "int": Rule(PARSED, _parse(WHOLE)),
    "items": Rule(_PAIRED, partial(_give_pairs, lazy=True)),
    "join": Rule(SEQUENCE, give_joined),
    "last": Rule(_MADE, _pick_one),
    "length": Rule(COUNTED, give_length),
    "list": Rule(SEQUENCE, give_list),
    "lower": Rule(ONLY_TEXT, give_cased),
    "map": Rule(_PASSED, give_mapped),
    "max": Rule(SEQUENCE, give_extreme),
    "min": Rule(SEQUENCE, give_extreme),
    "reject": Rule(_PASSED, partial(_select, by=False, truth=False)),
    "rejectattr": Rule(_SIFTED, partial(_select, by=True, truth=False)),
    "replace": Rule(SHOWN_TEXT, give_replaced),
    "reverse": Rule(SEQUENCE, give_reversed),
    "round": Rule(NUMBERS, _always(NUMBER_TYPE)),
    "select": Rule(_PASSED, partial(_select, by=False, truth=True)),
    "selectattr": Rule(_SIFTED, partial(_select, by=True, truth=True)),
    "slice": Rule(ITERATED, give_batches),
    "sort": Rule(SEQUENCE, give_sorted),
    "string": Rule(_SHOWN, give_shown),
    "striptags": Rule(ONLY_TEXT, give_times(1)),
    "sum": Rule(ITERATED, give_sum),
    "title": Rule(ONLY_TEXT, give_cased),
    "tojson": Rule(VALUE, give_json),
    "trim": Rule(SHOWN_TEXT, give_times(1)),
    "truncate": Rule(_CUT, give_truncated),
    "unique": Rule(SEQUENCE, give_unique),
    "upper": Rule(ONLY_TEXT, give_cased),
    "urlencode": Rule(_CODED, give_times(3)),
    "wordcount": Rule(ONLY_TEXT, _always(NumberType(True, 0))),
    "wordwrap": Rule(STRICT_TEXT, give_wrapped),
    "truncate_at": Rule(ONLY_TEXT, give_cut),
    "sentences_about": Rule(ONLY_TEXT, give_times(1)),
    "tokens": Rule(_SHOWN, _always(NumberType(True, 0))),
    "minutes_since": _TIME,
    "hours_since": _TIME,
    "days_since": _TIME,
    "timestamp": Rule(STRICT_TEXT, _always(WHOLE)),
    "normalize": Rule(ONLY_TEXT, give_open),
    "one_line": Rule(SHOWN_TEXT, give_times(1)),
    "json": Rule(VALUE, give_json),
    "mentions": Rule(ONLY_TEXT, _always(BOOL_TYPE)),
    "pick": Rule(SEQUENCE, give_picked),
}


def apply_filter(walk: WalkRun, node: nodes.Filter, value: Value, scope: Scope, evaluate: Evaluate) -> Value:
    """Judge a filter and its arguments; infer its value."""
    args = [evaluate(walk, arg, scope) for arg in node.args]
    named = {str(word.key): evaluate(walk, word.value, scope) for word in node.kwargs}
    for one in [*args, *(value for name, value in named.items() if name != "default")] if not _hands_on(node) else ():
        walk.take(one, ASKED, f"`{node.name}`", node, scope)
    judge_filter(Arguments(walk, node, scope, args, named), node.name)
    given = FilterCall(walk, node, scope, value, value.kind, args, named)
    return Value(give(node.name, given))


def spells_none(name: str) -> bool:
    """Return whether a filter makes a text of what it is given, none included."""
    rule = _RULES.get(_SAME.get(name, name))
    return rule is not None and rule.taker in (ONLY_TEXT, SHOWN_TEXT, _SHOWN) and name not in _UNSPELLED


def _hands_on(node: nodes.Filter) -> bool:
    """Return whether the arguments may be undefined until used: those of `default`, also in `map('default', ...)`."""
    applied = node.args[0] if node.name == "map" and node.args else None
    return node.name in _DEFAULTS or (isinstance(applied, nodes.Const) and applied.value in _DEFAULTS)


def give(name: str, given: FilterCall) -> Type:
    """Infer the type of a filter's result; unknown for a filter without a rule."""
    name = _SAME.get(name, name)
    rule = _RULES.get(name)
    if rule is None:
        return UNKNOWN_TYPE
    kind = given.walk.take(given.value.of(given.kind), rule.taker, f"`{name}`", given.node, given.scope)
    if name not in _KEEPS:
        given.walk.note_whole(kind)
    return rule.give(given.of(kind))


def _lists(kind: Type) -> list[ListType]:
    return [member for member in list_members(kind) if isinstance(member, ListType)]


def _count_least(kind: Type) -> int:
    members = list_members(kind)
    return min((one.least for one in _lists(kind)), default=0) if all(isinstance(one, ListType) for one in members) else 0


def _is_loose(kind: Type) -> bool:
    return any(not isinstance(one, ListType) or one.loose for one in list_members(kind))


def _make(kind: Type, element: Type, *, lazy: bool = False, least: int | None = None, loose: bool | None = None) -> ListType:
    """Return the type of a list with as many elements as the value has."""
    shape = "lazy" if lazy else "list"
    at = next((one.at for one in _lists(kind) if one.most is None), "")
    return ListType(
        element,
        _count_least(kind) if least is None else least,
        find_count(kind),
        (),
        shape,  # type: ignore[arg-type]
        _is_loose(kind) if loose is None else loose,
        at,
    )


def _spell_element(given: FilterCall, attribute: str = "") -> str:
    if not given.value.spelled:
        return ""
    return f"{given.value.spelled}[]" + (f".{attribute}" if attribute else "")


def _spell_joined(given: FilterCall, attribute: Value | None) -> str:
    return _spell_element(given, str(find_single(attribute.kind)) if attribute is not None else "")


def _read_attribute(given: FilterCall, element: Type, attribute: Value | None, *, strict: bool) -> Type:
    """Infer `attribute` of an element. All its parts but the last must be defined; with `strict`, the last one too."""
    if attribute is None:
        return element
    key = find_single(attribute.kind)
    if not isinstance(key, str | int):
        given.walk.note_all(element)
        return UNKNOWN_TYPE
    parts = [int(part) if part.isdigit() else part for part in key.split(".")] if isinstance(key, str) else [key]
    kind, shown = element, ""
    default = given.named.get("default")
    for place, part in enumerate(parts):
        if isinstance(part, str):
            given.walk.note_read(kind, part)
        shown = f"{shown}.{part}" if shown else str(part)
        kind = part_type(kind, part)
        if default is not None:
            kind = join_types(drop_gap(kind), default.kind)
        elif strict or place < len(parts) - 1:
            value = Value(kind, None, _spell_element(given, shown))
            kind = given.walk.take(value, _PRESENT, f"`{given.node.name}`", given.node, given.scope)
    return kind


def _name_gaps(given: FilterCall, kind: Type, attribute: Value) -> Type:
    """Record that an element without the attribute was read here, wherever the gap is used."""
    place, spelled = (given.walk.file, given.node.lineno), _spell_element(given, str(find_single(attribute.kind)))
    certain = all(isinstance(member, UndefinedType) for member in list_members(kind))
    return map_members(
        kind, lambda one: replace(one, read_at=place, spelled=spelled, certain=certain) if isinstance(one, UndefinedType) else one
    )


def _keep(member: Type, attribute: Value | None, change: Callable[[Type], Type]) -> Type:
    """Return the element if it may pass the test, with what the test proves about its attribute."""
    if attribute is None:
        return change(member)
    key = find_single(attribute.kind)
    if not isinstance(key, str) or "." in key or key.isdigit():
        return member
    part = change(part_type(member, key))
    if part == NEVER:
        return NEVER
    if not isinstance(member, MappingType):
        return member
    return replace(member, find=lambda name: part if name == key else member.find(name))


def _make_change(test: object, args: list[Value], truth: bool) -> Callable[[Type], Type]:
    if test == "truth":
        return lambda kind: algebra.by_truth(kind, truth)
    if test == "undefined":
        test, truth = "defined", not truth
    if isinstance(test, str) and COMPARING.get(test) in ("eq", "ne") and len(args) == 1:
        held = truth is (COMPARING[test] == "eq")
        value = find_single(args[0].kind)
        return (lambda kind: algebra.by_equal(kind, value, held)) if value is not None else lambda kind: kind
    if isinstance(test, str) and algebra.knows(test):
        name = test
        return lambda kind: algebra.by_test(kind, name, truth)
    return lambda kind: kind


def _judge_order(given: FilterCall, attribute: Value | None) -> None:
    """Judge that ordered elements are numbers or texts, unless there is at most one. `sort` with `times` accepts texts only."""
    count = find_count(given.kind)
    times = given.find(3, "times") if given.node.name == "sort" else None
    if times is None and count is not None and count < 2:
        return
    key = _read_attribute(given, element_type(given.kind), attribute, strict=False)
    if list_members(key):
        shown = find_single(attribute.kind) if attribute is not None else ""
        value = Value(key, None, _spell_element(given, str(shown or "")))
        if times is not None:
            if times.kind == BoolType(True) or find_single(times.kind):
                given.walk.take(value, STRICT_TEXT, "`sort` with `times`", given.node, given.scope)
            return
        kind = given.walk.take(value, _ORDERED, f"`{given.node.name}`", given.node, given.scope)
        _judge_mix(given, value.of(kind))
        given.walk.report_time(value, f"`{given.node.name}`", given.node, given.scope)


def _judge_mix(given: FilterCall, value: Value) -> None:
    """Report an ordering of texts with numbers."""
    texts = [member for member in list_members(value.kind) if isinstance(member, TextType)]
    if texts and is_sure(value.kind) and any(isinstance(member, NumberType | BoolType) for member in list_members(value.kind)):
        wants = f"`{given.node.name}` cannot put strings and numbers in one order"
        given.walk.report("some_kind", given.node, value, texts[0], given.scope, wants=wants)


def _times(count: int | None, inner: int | None, gap: int | None) -> int | None:
    if count == 0:
        return 0
    return None if count is None or inner is None or gap is None else count * (inner + gap)


def make_lists(kind: Type) -> Type:
    """Return the type of an expression's value: sequences become lists, and tuples stay tuples."""
    return map_members(kind, lambda one: replace(one, shape="list") if isinstance(one, ListType) and one.shape != "tuple" else one)


def _scale(shown: TextType, times: int, more: int = 0) -> TextType:
    characters = None if shown.characters is None else shown.characters * times + more
    size = None if shown.size is None else shown.size * times + more
    return TextType(characters, size, None, shown.at)


def _limit(shown: TextType, characters: int) -> TextType:
    size = 4 * characters if shown.size is None else min(shown.size + characters, 4 * characters)
    return TextType(characters if shown.characters is None else min(shown.characters + 3, characters), size)
