"""What the filters of lists and mappings give."""

from collections.abc import Callable
from dataclasses import replace

from promptc.template.kinds.given import FilterCall, find_single
from promptc.template.kinds.parts import drop_gap, find_count, find_element, find_part, find_values
from promptc.template.kinds.questions import COMPARING, NUMERIC, report_always
from promptc.template.kinds.take import NUMBERS, PRINTED, STRICT_TEXT, Usage
from promptc.template.kinds.unite import join_types, map_members, weaken
from promptc.template.types import algebra
from promptc.template.types.bounds import measure
from promptc.template.types.scope import Value
from promptc.template.types.types import (
    NEVER,
    NUMBER_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
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

_ORDERED = Usage("numbers or texts", (NumberType, BoolType, TextType, ListType), lazy=False)


def _lists(kind: Type) -> list[ListType]:
    return [member for member in list_members(kind) if isinstance(member, ListType)]


def _find_least(kind: Type) -> int:
    members = list_members(kind)
    return min((one.least for one in _lists(kind)), default=0) if all(isinstance(one, ListType) for one in members) else 0


def _is_loose(kind: Type) -> bool:
    return any(not isinstance(one, ListType) or one.loose for one in list_members(kind))


def _make(kind: Type, element: Type, *, lazy: bool = False, least: int | None = None, loose: bool | None = None) -> ListType:
    """A list of as many elements as the value has."""
    shape = "lazy" if lazy else "list"
    at = next((one.at for one in _lists(kind) if one.most is None), "")
    return ListType(
        element,
        _find_least(kind) if least is None else least,
        find_count(kind),
        (),
        shape,  # type: ignore[arg-type]
        _is_loose(kind) if loose is None else loose,
        at,
    )


def give_list(given: FilterCall) -> Type:
    """The elements, made."""
    members = list_members(given.kind)
    if len(members) == 1 and isinstance(members[0], ListType):
        return replace(members[0], shape="list")
    return _make(given.kind, find_element(given.kind))


def give_reversed(given: FilterCall) -> Type:
    """A text stays one; else a sequence that is not made yet."""
    return map_members(
        given.kind, lambda one: replace(one, values=None) if isinstance(one, TextType) else _make(one, find_element(one), lazy=True)
    )


def give_batches(given: FilterCall) -> Type:
    """Lists of elements, or of what fills them."""
    fill = given.find(1, "fill_with")
    element = find_element(given.kind)
    inner = ListType(join_types(element, fill.kind) if fill is not None else element, 0, None, (), "list", True)
    return ListType(inner, 0, None, (), "lazy", True)


def give_length(given: FilterCall) -> Type:
    """How many elements there are."""
    return NumberType(True, _find_least(given.kind), find_count(given.kind))


def give_default(given: FilterCall) -> Type:
    """The value where it is there, and with `true` behind the default also true."""
    default, every = given.find(0, "default_value"), given.find(1, "boolean")
    instead = default.kind if default is not None else TEXT_TYPE
    if every is None:
        report_always(given.walk, given.node, given.value, "`default` without `true`", given.scope)
        kept = map_members(drop_gap(given.kind), lambda one: NoneType(False, one.at) if isinstance(one, NoneType) else one)
        return join_types(kept, instead) if kept != given.kind or kept == NEVER else kept
    return join_types(map_members(given.kind, lambda one: NEVER if isinstance(one, NoneType | UndefinedType) else one), instead)


def give_pairs(given: FilterCall) -> Type:
    """The pairs of a mapping, in a list."""
    return map_members(given.kind, lambda one: _find_pairs(one, lazy=False))


def give_items(given: FilterCall) -> Type:
    """The pairs of a mapping, not made yet."""
    return map_members(given.kind, lambda one: _find_pairs(one, lazy=True))


def _find_pairs(kind: Type, *, lazy: bool) -> Type:
    if isinstance(kind, UndefinedType):
        return ListType(NEVER, 0, 0, (), "lazy")  # what is undefined has no pairs
    if not isinstance(kind, MappingType):
        return UNKNOWN_TYPE
    pair = ListType(NEVER, 2, 2, (TextType(), find_values(kind)), "tuple")
    return ListType(pair, 0, kind.most, (), "lazy" if lazy else "list", True, kind.at)


def give_first(given: FilterCall) -> Type:
    """One element, undefined where there is none."""
    return _pick_one(given)


def _pick_one(given: FilterCall) -> Type:
    element = find_element(given.kind)
    if not _lists(given.kind) or _find_least(given.kind) > 0:
        return element
    gap = UndefinedType("empty", given.node.name, (), "a list")
    found = join_types(element, gap)
    return weaken(found) if _is_loose(given.kind) else found


def give_picked(given: FilterCall) -> Type:
    """One element; without any the run stops."""
    return find_element(given.kind)


def _spell_element(given: FilterCall, attribute: str = "") -> str:
    if not given.value.spelled:
        return ""
    return f"{given.value.spelled}[]" + (f".{attribute}" if attribute else "")


def _spell_joined(given: FilterCall, attribute: Value | None) -> str:
    return _spell_element(given, str(find_single(attribute.kind)) if attribute is not None else "")


def _find_by(given: FilterCall, element: Type, attribute: Value | None, *, strict: bool) -> Type:
    """What `attribute` names of an element; all but the last part must be there, and with `strict` that, too."""
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
        kind = find_part(kind, part)
        if default is not None:
            kind = join_types(drop_gap(kind), default.kind)
        elif strict or place < len(parts) - 1:
            value = Value(kind, None, _spell_element(given, shown))
            kind = given.walk.take(value, _PRESENT, f"`{given.node.name}`", given.node, given.scope)
    return kind


_PRESENT = Usage("a value", (*PRINTED.good,), none=True)


def give_mapped(given: FilterCall) -> Type:
    """What an attribute or a filter gives of each element."""
    element = find_element(given.kind)
    if not list_members(element):
        return _make(given.kind, NEVER, lazy=True)
    attribute = given.named.get("attribute")
    if attribute is not None:
        kind = _name_gaps(given, _find_by(given, element, attribute, strict=False), attribute)
        return _make(given.kind, kind, lazy=True)
    name = find_single(given.args[0].kind) if given.args else None
    if not isinstance(name, str):
        return _make(given.kind, UNKNOWN_TYPE, lazy=True)
    each = replace(given, value=Value(element, None, _spell_element(given)), kind=element, args=given.args[1:])
    return _make(given.kind, given.apply(name, each), lazy=True)


def _name_gaps(given: FilterCall, kind: Type, attribute: Value) -> Type:
    """Where an element may lack the attribute is here, wherever that is met."""
    place, spelled = (given.walk.file, given.node.lineno), _spell_element(given, str(find_single(attribute.kind)))
    certain = all(isinstance(member, UndefinedType) for member in list_members(kind))
    return map_members(
        kind, lambda one: replace(one, read_at=place, spelled=spelled, certain=certain) if isinstance(one, UndefinedType) else one
    )


def give_selected(given: FilterCall) -> Type:
    """The elements that pass a test."""
    return _select(given, by=False, truth=True)


def give_rejected(given: FilterCall) -> Type:
    """The elements that do not."""
    return _select(given, by=False, truth=False)


def give_selected_by(given: FilterCall) -> Type:
    """The elements of which an attribute passes a test."""
    return _select(given, by=True, truth=True)


def give_rejected_by(given: FilterCall) -> Type:
    """The elements of which it does not."""
    return _select(given, by=True, truth=False)


def _select(given: FilterCall, *, by: bool, truth: bool) -> Type:
    element = find_element(given.kind)
    rest = list(given.args[1:] if by else given.args)
    test = find_single(rest[0].kind) if rest else "truth"
    change = _find_change(test, rest[1:], truth)
    attribute = given.args[0] if by and given.args else None
    asked = _find_by(given, element, attribute, strict=test not in ("defined", "undefined") and by)
    if not by and test != "defined":
        asked = element
    if test in NUMERIC:
        given.walk.take(Value(asked), NUMBERS, f"`is {test}`", given.node, given.scope)
    kept = map_members(element, lambda one: _keep(one, attribute, change)) if asked is not UNKNOWN_TYPE or not by else element
    return _make(given.kind, kept, lazy=True, least=0, loose=True)


def _keep(member: Type, attribute: Value | None, change: Callable[[Type], Type]) -> Type:
    """The element, where it may pass; a part of it that passed is known from then on."""
    if attribute is None:
        return change(member)
    key = find_single(attribute.kind)
    if not isinstance(key, str) or "." in key or key.isdigit():
        return member
    part = change(find_part(member, key))
    if part == NEVER:
        return NEVER
    if not isinstance(member, MappingType):
        return member
    return replace(member, find=lambda name: part if name == key else member.find(name))


def _find_change(test: object, args: list[Value], truth: bool) -> Callable[[Type], Type]:
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


def give_unique(given: FilterCall) -> Type:
    """Each element once: they are compared, so they must be there."""
    key = _find_by(given, find_element(given.kind), given.find(1, "attribute"), strict=False)
    if list_members(key):
        given.walk.take(Value(key, None, _spell_joined(given, given.find(1, "attribute"))), _PRESENT, "`unique`", given.node, given.scope)
    return _make(given.kind, find_element(given.kind), lazy=True, least=min(1, _find_least(given.kind)))


def _judge_order(given: FilterCall, attribute: Value | None) -> None:
    """Elements that are put in order are numbers or texts; one alone is not compared. `sort` with `times` takes texts alone."""
    count = find_count(given.kind)
    times = given.find(3, "times") if given.node.name == "sort" else None
    if times is None and count is not None and count < 2:
        return
    key = _find_by(given, find_element(given.kind), attribute, strict=False)
    if list_members(key):
        shown = find_single(attribute.kind) if attribute is not None else ""
        value = Value(key, None, _spell_element(given, str(shown or "")))
        if times is not None:
            if times.kind == BoolType(True) or find_single(times.kind):
                given.walk.take(value, STRICT_TEXT, "`sort` with `times`", given.node, given.scope)
            return
        kind = given.walk.take(value, _ORDERED, f"`{given.node.name}`", given.node, given.scope)
        _judge_mix(given, replace_kind(value, kind))
        given.walk.report_time(value, f"`{given.node.name}`", given.node, given.scope)


def replace_kind(value: Value, kind: Type) -> Value:
    """The value, of which something more is known."""
    return Value(kind, value.path, value.spelled)


def _judge_mix(given: FilterCall, value: Value) -> None:
    """Numbers and texts cannot be put in order with each other."""
    texts = [member for member in list_members(value.kind) if isinstance(member, TextType)]
    if texts and is_sure(value.kind) and any(isinstance(member, NumberType | BoolType) for member in list_members(value.kind)):
        wants = f"`{given.node.name}` cannot put texts and numbers in one order"
        given.walk.report("some_kind", given.node, value, texts[0], given.scope, wants=wants)


def give_sorted(given: FilterCall) -> Type:
    """The elements in order."""
    _judge_order(given, given.find(2, "attribute"))
    return _make(given.kind, find_element(given.kind))


def give_extreme(given: FilterCall) -> Type:
    """The least or greatest element, undefined where there is none."""
    _judge_order(given, given.find(1, "attribute"))
    return _pick_one(given)


def give_groups(given: FilterCall) -> Type:
    """Pairs of a key and the elements that have it."""
    element = find_element(given.kind)
    key = _find_by(given, element, given.find(0, "attribute"), strict="default" not in given.named)
    default = given.find(1, "default")
    pair = ListType(
        NEVER, 2, 2, (join_types(key, default.kind) if default is not None else key, ListType(element, 1, None, (), "list", True)), "tuple"
    )
    return ListType(pair, 0, find_count(given.kind), (), "list", True)


def give_sum(given: FilterCall) -> Type:
    """The sum of the elements, or of an attribute of them."""
    kind = _find_by(given, find_element(given.kind), given.find(0, "attribute"), strict=True)
    if given.find(1, "start") is not None or not list_members(kind):
        return UNKNOWN_TYPE if given.find(1, "start") is not None else NUMBER_TYPE
    attribute = given.find(0, "attribute")
    shown = find_single(attribute.kind) if attribute is not None else ""
    given.walk.take(Value(kind, None, _spell_element(given, str(shown or ""))), NUMBERS, "`sum`", given.node, given.scope)
    return NUMBER_TYPE


def give_joined(given: FilterCall) -> Type:
    """The elements as one text."""
    attribute = given.find(1, "attribute")
    kind = _find_by(given, find_element(given.kind), attribute, strict=False)
    if list_members(kind):
        kind = given.walk.take(Value(kind, None, _spell_joined(given, attribute)), PRINTED, "`join`", given.node, given.scope)
    given.walk.note_whole(kind)
    count, shown = find_count(given.kind), measure(kind)
    between = given.find(0, "d")
    gap = measure(between.kind) if between is not None else TextType(0, 0)
    at = shown.at if shown.size is None else next((one.at for one in _lists(given.kind) if one.most is None), gap.at)
    return TextType(_times(count, shown.characters, gap.characters), _times(count, shown.size, gap.size), None, at)


def _times(count: int | None, inner: int | None, gap: int | None) -> int | None:
    if count == 0:
        return 0
    return None if count is None or inner is None or gap is None else count * (inner + gap)


def give_since(given: FilterCall) -> Type:
    """Whole units between two times, which are texts."""
    now = given.find(0, "now")
    if now is not None:
        given.walk.take(now, STRICT_TEXT, f"`{given.node.name}(now)`", given.node, given.scope)
    return NumberType(True)


def make_lists(kind: Type) -> Type:
    """The value of an expression: what is not made yet becomes a list."""
    return map_members(kind, lambda one: replace(one, shape="list") if isinstance(one, ListType) and one.shape != "tuple" else one)
