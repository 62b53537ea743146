"""What is wrong with a value by a schema: where, which keyword says so, and in words.

`iter_faults` finds the faults of a value that a check refused, `list_causes` chooses those to speak of where alternatives fail, and
`SchemaWords` says them in terms of what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from promptc.diag.findings import count_noun, shorten, show_value, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.schema.check import OF_LISTS, OF_MAPPINGS, Verdicts
from promptc.frontend.schema.lint import Schema
from promptc.frontend.schema.runtime import Fuel, FuelError, make_matcher

Path = tuple[str | int, ...]
"""The keys and places that lead to a value."""

_KINDS = ("type", "const", "enum", "pattern", "format")
"""Keywords that tell whether a value is of another kind than was meant."""

_MOST_DEMANDS = 4
"""Of an `if`, above which they are not told."""

_ALIKE = 0.7
"""How alike a word must be to be meant: `nope` is not `ignore`."""

_NUMBERS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}

_FORMATS = {
    "date-time": "a date and time such as `2026-11-22T18:30:00Z`",
    "date": "a date such as `2026-11-22`",
    "time": "a time such as `18:30:00Z`",
}

_SIZES = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "element"),
    "maxItems": ("at most", "element"),
    "minProperties": ("at least", "key"),
    "maxProperties": ("at most", "key"),
}


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
    branches: tuple[tuple[SchemaFault, ...], ...] = ()
    condition: str = ""


def iter_faults(verdicts: Verdicts, schema: Schema, value: Any, fuel: Fuel) -> Iterator[SchemaFault]:
    """Every way in which `value` does not fit `schema`, which is the verdicts' root or stands in it, in the order of its keywords.

    Lazily. Whether a value fits is for the checks to say, which take from the fuel; here stands only where to look. Elements and values
    of keys that fit are passed over, so that one wrong element of many is found fast.
    """
    return _Walk(verdicts, fuel).iter_faults(schema, value, ())


class _Walk:
    """Looks for faults by a method for each sort of keyword. It is given the fault that the keyword would be, and yields that or others."""

    __slots__ = ("_make_matcher", "_fuel", "_verdicts")

    def __init__(self, verdicts: Verdicts, fuel: Fuel) -> None:
        self._verdicts = verdicts
        self._fuel = fuel
        self._make_matcher = cache(make_matcher)

    def iter_faults(self, schema: Schema, value: Any, path: Path) -> Iterator[SchemaFault]:
        if schema is False:
            yield SchemaFault(path, "false", None, value, schema)
        elif schema is not True:
            kind = value.__class__
            for word, wanted in schema.items():
                if word in _LOOKS and (kind is dict or word not in OF_MAPPINGS) and (kind is list or word not in OF_LISTS):
                    yield from _LOOKS[word](self, SchemaFault(path, word, wanted, value, schema))

    def _is_valid(self, schema: Schema, value: Any) -> bool:
        return self._verdicts.make_check(schema)(value, self._fuel)

    def look_here(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Keywords that a value fails as a whole."""
        if not self._verdicts.make_check(fault.schema, fault.keyword)(fault.value, self._fuel):
            yield fault

    def look_for_keys(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """A fault for each key that is missing."""
        value, wanted = fault.value, fault.wanted
        if fault.keyword == "required":
            missing: list[Any] = [key for key in wanted if key not in value]
        else:
            missing = [(key, needed) for key in wanted if key in value for needed in wanted[key] if needed not in value]
        yield from (replace(fault, wanted=one) for one in missing)

    def look_at_keys(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """A fault for each key whose name is wrong."""
        for key in fault.value:
            if not self._is_valid(fault.wanted, key):
                path = (*fault.path, key)
                yield replace(fault, path=path, branches=(tuple(self.iter_faults(fault.wanted, key, path)),))

    def look_inside(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """The faults of elements and values of keys."""
        for step, inner in self._iter_members(fault.keyword, fault.schema, fault.value):
            path = (*fault.path, step)
            if inner is False and fault.keyword == "additionalProperties":
                yield replace(fault, path=path)
            elif not self._is_valid(inner, fault.value[step]):
                yield from self.iter_faults(inner, fault.value[step], path)

    def _iter_members(self, word: str, schema: Any, value: Any) -> Iterable[tuple[Any, Schema]]:
        """Places and keys of a value that a keyword speaks of, each with the schema that it asks."""
        wanted = schema[word]
        match word:
            case "properties":
                return ((key, inner) for key, inner in wanted.items() if key in value)
            case "patternProperties":
                return ((key, inner) for pattern, inner in wanted.items() for key in filter(self._make_matcher(pattern), value))
            case "additionalProperties":
                known, matchers = schema.get("properties", ()), list(map(self._make_matcher, schema.get("patternProperties", ())))
                return ((key, wanted) for key in value if key not in known and not any(matches(key) for matches in matchers))
            case "prefixItems":
                return enumerate(wanted[: len(value)])
            case _:
                return ((place, wanted) for place in range(len(schema.get("prefixItems", ())), len(value)))

    def look_beside(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """The faults of the same value by other schemas, all of which it must fit."""
        match fault.keyword:
            case "allOf":
                asked = fault.wanted
            case "dependentSchemas":
                asked = [inner for key, inner in fault.wanted.items() if key in fault.value]
            case _:
                self._fuel[0] -= 1
                if self._fuel[0] < 0:
                    raise FuelError
                asked = [self._verdicts.references.find(fault.wanted)]
        for inner in asked:
            yield from self.iter_faults(inner, fault.value, fault.path)

    def look_under_condition(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """The faults by `then` or `else`; each is told which `if` asks for it, the innermost first."""
        schema: Any = fault.schema
        holds = self._is_valid(fault.wanted, fault.value)
        for inner in self.iter_faults(schema.get("then" if holds else "else", True), fault.value, fault.path):
            yield inner if inner.condition else replace(inner, condition=describe_condition(fault.wanted, holds=holds))

    def look_for_one(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Alternatives: one fault where the value fits none, or more than it may."""
        branches: list[tuple[SchemaFault, ...]] = []
        for inner in fault.wanted:
            branch = tuple(self.iter_faults(inner, fault.value, fault.path))
            if not branch:
                break
            branches.append(branch)
        else:
            yield replace(fault, branches=tuple(branches))
        if fault.keyword == "oneOf" and any(self._is_valid(inner, fault.value) for inner in fault.wanted[len(branches) + 1 :]):
            yield fault


_LOOKS: Mapping[str, Callable[[_Walk, SchemaFault], Iterator[SchemaFault]]] = {
    **dict.fromkeys(
        (
            *(
                "type",
                "enum",
                "const",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
                "minLength",
                "maxLength",
            ),
            *("pattern", "format", "minItems", "maxItems", "uniqueItems", "contains", "minProperties", "maxProperties", "not"),
            *("unevaluatedItems", "unevaluatedProperties"),
        ),
        _Walk.look_here,
    ),
    **dict.fromkeys(("required", "dependentRequired"), _Walk.look_for_keys),
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties", "prefixItems", "items"), _Walk.look_inside),
    **dict.fromkeys(("allOf", "dependentSchemas", "$ref", "$dynamicRef"), _Walk.look_beside),
    **dict.fromkeys(("anyOf", "oneOf"), _Walk.look_for_one),
    "propertyNames": _Walk.look_at_keys,
    "if": _Walk.look_under_condition,
}
"""How the faults by each keyword are found."""


def list_causes(fault: SchemaFault) -> list[SchemaFault]:
    """The faults to speak of: where alternatives fail, those of the one that was most likely meant.

    That is the alternative of the right kind with the fewest faults, the first of equals; where none is of the right kind, or several
    are and the best one knows none of the keys, the failing of all of them is the fault.
    """
    if fault.keyword not in ("anyOf", "oneOf") or list_rule_keys(fault):
        return [fault]
    fitting = [branch for branch in fault.branches if not any(_is_other_kind(inner, fault) for inner in branch)]
    if not fitting:
        return [fault]
    meant = min(fitting, key=len)
    if len(fitting) > 1 and _is_all_unknown(meant, fault):
        return [fault]
    return [cause for inner in meant for cause in list_causes(inner)]


def _is_all_unknown(branch: tuple[SchemaFault, ...], outer: SchemaFault) -> bool:
    """Whether an alternative knows none of the keys that are there: then nothing says that it was meant."""
    unknown = sum(1 for inner in branch if inner.keyword == "additionalProperties" and inner.path[:-1] == outer.path)
    return isinstance(outer.value, dict) and 0 < len(outer.value) == unknown


def _is_other_kind(inner: SchemaFault, outer: SchemaFault) -> bool:
    return inner.path == outer.path and (inner.keyword in _KINDS or _is_all_other(inner))


def _is_all_other(fault: SchemaFault) -> bool:
    """Whether the fault is that of alternatives none of which is of the value's kind."""
    return bool(fault.branches) and all(any(_is_other_kind(inner, fault) for inner in branch) for branch in fault.branches)


def list_rule_keys(fault: SchemaFault) -> list[str]:
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


def suggest_value(fault: SchemaFault) -> str:
    """The nearest word, where there is a list of words and one is near. The message lists them."""
    lists = [fault] if fault.keyword == "enum" else [inner for branch in fault.branches for inner in branch if inner.path == fault.path]
    known = [word for one in lists if one.keyword == "enum" for word in one.wanted if isinstance(word, str)]
    if isinstance(fault.value, str):
        near = suggest(fault.value, known, cutoff=_ALIKE)
        return near if near.startswith("did") else ""
    return ""


@frozen
class SchemaWords:
    """The language's own names for a mapping and a text."""

    mapping: str
    text: str

    def name_types(self, wanted: str | list[str]) -> str:
        """`a whole number or null` for a `type`."""
        names = {
            "object": self.mapping,
            "array": "a list",
            "string": self.text,
            "integer": "a whole number",
            "number": "a number",
            "boolean": "true or false",
            "null": "null",
        }
        return join_or(names[name] for name in ([wanted] if isinstance(wanted, str) else wanted))

    def show(self, value: Any) -> str:
        """A value as a message names it."""
        if isinstance(value, dict):
            return self.mapping if value else f"{self.mapping} without keys"
        if isinstance(value, list):
            return "a list" if value else "an empty list"
        return show_value(value)

    def show_whole(self, value: Any) -> str:
        """The same where what is in a list or a mapping matters, too: `[1, 2]`."""
        return show_value(value) if value else self.show(value)

    def describe(self, fault: SchemaFault, shown: str = "") -> str:
        """What is wrong with the value, to be put after its name: `must be text, not 12`. `shown` is the value as its author wrote it."""
        title = _read_title(fault.schema)
        value = shown or self.show(fault.value)
        if title == value:  # a list of the wrong kind, where the schema's title is `a list`
            value = self.show_whole(fault.value)
        match fault.keyword:
            case "type":
                return f"must be {title or self.name_types(fault.wanted)}, not {value}"
            case "enum" if not fault.wanted:
                return "is not allowed: its schema lists no value"
            case "enum":
                return f"must be {join_or(map(self.show_whole, fault.wanted))}, not {shown or self.show_whole(fault.value)}"
            case "const":
                return f"must be {title or self.show_whole(fault.wanted)}, not {shown or self.show_whole(fault.value)}"
            case "pattern":
                return f"must {'be ' + title if title else f'match the pattern `{fault.wanted}`'}, not {value}"
            case "format" if fault.wanted in _FORMATS:
                return f"must be {_FORMATS[fault.wanted]}, not {value}"
            case "anyOf" | "oneOf":
                return self._describe_alternatives(fault, title, value)
            case word if word in _NUMBERS:
                return f"must be {_NUMBERS[word].format(fault.wanted)}, not {value}"
            case word if word in _SIZES:
                return _describe_size(word, fault)
            case _:
                return _describe_rest(fault)

    def _describe_alternatives(self, fault: SchemaFault, title: str, value: str) -> str:
        if fault.keyword == "oneOf" and not fault.branches:
            return "fits more than one of the forms of which it may fit one"
        if title:
            return f"must be {title}, not {value}"
        types = [self.name_types(inner.wanted) for branch in fault.branches for inner in branch[:1] if inner.keyword == "type"]
        if len(types) == len(fault.branches):
            return f"must be {join_or(types)}, not {value}"
        return f"fits none of the {len(fault.branches)} forms that are allowed"


STATE_WORDS = SchemaWords("an object", "a string")
"""JSON's own."""


def _read_title(schema: Any) -> str:
    """A schema's title as words in a sentence: `A folded scene` is `a folded scene` there; empty for a heading, such as `Folded scene`."""
    title = schema.get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or not title:
        return ""
    is_phrase = title.startswith(("A ", "An ", "The "))
    return title[0].lower() + title[1:] if is_phrase else title if title[0].islower() else ""


def _describe_size(word: str, fault: SchemaFault) -> str:
    bound, noun = _SIZES[word]
    size = len(fault.value)
    return f"must have {bound} {fault.wanted} {noun}{'' if fault.wanted == 1 else 's'}, and has {size}"


def _describe_rest(fault: SchemaFault) -> str:
    match fault.keyword:
        case "uniqueItems":
            return "has two equal elements"
        case "contains":
            return f"must have {_count_contained(fault)} of the kind its schema names"
        case "not":
            return "is what its schema rules out"
        case _:
            return "is not allowed here"


def _count_contained(fault: SchemaFault) -> str:
    schema = fault.schema if isinstance(fault.schema, dict) else {}
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    if most is not None:
        return f"{least} to {count_noun(most, 'element')}" if most != least else count_noun(most, "element")
    return f"at least {least} element{'' if least == 1 else 's'}"


def describe_condition(schema: Any, *, holds: bool) -> str:
    """`` `status` is `DONE` and `owner` is there``; that it is not so, where it does not hold. What is not plain is told by its keyword."""
    told = _tell(schema) if isinstance(schema, dict) else []
    if not told or len(told) > _MOST_DEMANDS:
        return "its schema's `if` holds" if holds else "its schema's `if` does not hold"
    text = " and ".join(told)
    return text if holds else f"it is not so that {text}"


def _tell(schema: dict[str, Any]) -> list[str]:
    """Each demand of a schema that has no others but values of keys, and keys that must be there; nothing for any other schema."""
    if not set(schema) <= {"properties", "required", "title", "description", "$comment"}:
        return []
    properties, required = schema.get("properties", {}), schema.get("required", [])
    told = []
    for key, one in properties.items():
        match one:
            case {"const": value} if len(one) == 1:
                values = [value]
            case {"enum": [_, *_] as values} if len(one) == 1:
                pass
            case _:
                return []
        told.append(f"`{shorten(key)}` is {join_or(STATE_WORDS.show(value) for value in values)}")
    return told + [f"`{shorten(key)}` is there" for key in required if key not in properties]


def join_or(words: Iterable[str]) -> str:
    """`a, b or c`, each once."""
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} or {last}" if first else last
