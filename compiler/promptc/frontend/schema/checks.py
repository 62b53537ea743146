"""The keywords of JSON Schema as functions that say whether a value is valid: each for its part of a schema, None where that is absent."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from promptc.diag.typed import Any, Protocol
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.pattern import Pattern
from promptc.frontend.schema.references import REFERENCES

Fuel = list[int]
"""How many more references may be followed, in a list so that all share it."""

Check = Callable[[Any, Fuel], bool]


class Compiler(Protocol):
    """What makes checks of the schemas in a schema."""

    def compile(self, schema: Schema) -> Check: ...

    def compile_target(self, reference: str) -> Check: ...


def freeze(value: Any) -> Any:
    """A hashable stand-in that is equal where JSON values are: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((key, freeze(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return (bool, value) if isinstance(value, bool) else value


def is_multiple(value: float, step: float) -> bool:
    """Whether a number is a multiple, judged by the decimals both are written with."""
    return (Fraction(str(value)) / Fraction(str(step))).denominator == 1


def is_unique(values: list[Any]) -> bool:
    return len({freeze(value) for value in values}) == len(values)


def accept(_: Any, __: Fuel) -> bool:
    return True


def refuse(_: Any, __: Fuel) -> bool:
    return False


def join_checks(checks: tuple[Check, ...]) -> Check:
    if len(checks) == 2:
        first, second = checks
        return lambda value, fuel: first(value, fuel) and second(value, fuel)

    def join(value: Any, fuel: Fuel) -> bool:
        for check in checks:  # noqa: SIM110 - a generator costs more than the checks
            if not check(value, fuel):
                return False
        return True

    return join


def _compile_map(compiler: Compiler, schemas: Mapping[str, Schema]) -> dict[str, Check]:
    return {name: compiler.compile(inner) for name, inner in schemas.items()}


_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


def _check_type(_: Compiler, schema: Mapping[str, Any]) -> Check | None:
    if "type" not in schema:
        return None
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    kinds = frozenset(kind for name in names for kind in _TYPES[name])
    if "integer" in names and "number" not in names:
        return lambda value, _: type(value) in kinds or (type(value) is float and value.is_integer())
    if len(kinds) == 1:
        (only,) = kinds
        return lambda value, _: type(value) is only
    return lambda value, _: type(value) in kinds


def _check_values(_: Compiler, schema: Mapping[str, Any]) -> Check | None:
    listed = [schema["enum"]] if "enum" in schema else []
    if "const" in schema:
        listed.append([schema["const"]])
    if not listed:
        return None
    allowed = frozenset.intersection(*(frozenset(freeze(value) for value in values) for values in listed))

    def check(value: Any, _: Fuel) -> bool:
        return (value if type(value) is str else freeze(value)) in allowed

    return check


def _check_number(_: Compiler, schema: Mapping[str, Any]) -> Check | None:
    words = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    if not any(word in schema for word in words):
        return None
    least, most, over, under, step = (schema.get(word) for word in words)

    def check(value: Any, _: Fuel) -> bool:
        if type(value) is not int and type(value) is not float:
            return True
        return (
            (least is None or value >= least)
            and (most is None or value <= most)
            and (over is None or value > over)
            and (under is None or value < under)
            and (step is None or is_multiple(value, step))
        )

    return check


def _check_text(_: Compiler, schema: Mapping[str, Any]) -> Check | None:
    least, most, pattern = schema.get("minLength", 0), schema.get("maxLength"), schema.get("pattern")
    if not least and most is None and pattern is None:
        return None
    matches = Pattern(pattern).matches if pattern is not None else None

    def check(value: Any, _: Fuel) -> bool:
        if type(value) is not str:
            return True
        return len(value) >= least and (most is None or len(value) <= most) and (matches is None or matches(value))

    return check


def _check_list(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    first = tuple(compiler.compile(inner) for inner in schema.get("prefixItems", ()))
    rest = compiler.compile(schema["items"]) if "items" in schema else accept
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    unique = schema.get("uniqueItems", False)
    if not first and rest is accept and not least and most is None and not unique:
        return None

    def check(value: Any, fuel: Fuel) -> bool:
        if type(value) is not list:
            return True
        if len(value) < least or (most is not None and len(value) > most):
            return False
        for inner, item in zip(first, value, strict=False):
            if not inner(item, fuel):
                return False
        if rest is not accept:
            for item in value[len(first) :] if first else value:
                if not rest(item, fuel):
                    return False
        return not unique or is_unique(value)

    return check


def _check_contained(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    if "contains" not in schema:
        return None
    wanted = compiler.compile(schema["contains"])
    least, most = schema.get("minContains", 1), schema.get("maxContains")

    def check(value: Any, fuel: Fuel) -> bool:
        if type(value) is not list:
            return True
        count = sum(1 for item in value if wanted(item, fuel))
        return count >= least and (most is None or count <= most)

    return check


def _check_mapping(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    words = ("properties", "patternProperties", "additionalProperties")
    if not any(word in schema for word in words):
        return None
    known = _compile_map(compiler, schema.get("properties", {}))
    patterns = tuple((Pattern(name).matches, compiler.compile(inner)) for name, inner in schema.get("patternProperties", {}).items())
    other = compiler.compile(schema["additionalProperties"]) if "additionalProperties" in schema else accept

    def check(value: Any, fuel: Fuel) -> bool:
        if type(value) is not dict:
            return True
        for key, item in value.items():
            inner = known.get(key)
            if inner is not None and not inner(item, fuel):
                return False
            matched = inner is not None
            for matches, follow in patterns:
                if matches(key):
                    matched = True
                    if not follow(item, fuel):
                        return False
            if not matched and not other(item, fuel):
                return False
        return True

    return check


def _check_keys(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    words = ("required", "minProperties", "maxProperties", "propertyNames", "dependentRequired")
    if not any(word in schema for word in words):
        return None
    required = tuple(schema.get("required", ()))
    least, most = schema.get("minProperties", 0), schema.get("maxProperties")
    names = compiler.compile(schema["propertyNames"]) if "propertyNames" in schema else accept
    dependent = tuple((key, needed) for key, needs in schema.get("dependentRequired", {}).items() for needed in needs)

    def check(value: Any, fuel: Fuel) -> bool:
        if type(value) is not dict:
            return True
        if len(value) < least or (most is not None and len(value) > most):
            return False
        for key in required:
            if key not in value:
                return False
        if any(key in value and needed not in value for key, needed in dependent):
            return False
        return names is accept or all(names(key, fuel) for key in value)

    return check


def _check_reference(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    checks = tuple(compiler.compile_target(schema[word]) for word in REFERENCES if word in schema)
    if not checks:
        return None
    return checks[0] if len(checks) == 1 else join_checks(checks)


def _check_all(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    checks = tuple(compiler.compile(inner) for inner in schema.get("allOf", ()))
    return join_checks(checks) if checks else None


def _check_any(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    checks = tuple(compiler.compile(inner) for inner in schema.get("anyOf", ()))
    return (lambda value, fuel: any(check(value, fuel) for check in checks)) if checks else None


def _check_one(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    checks = tuple(compiler.compile(inner) for inner in schema.get("oneOf", ()))
    return (lambda value, fuel: sum(1 for check in checks if check(value, fuel)) == 1) if checks else None


def _check_not(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    if "not" not in schema:
        return None
    check = compiler.compile(schema["not"])
    return lambda value, fuel: not check(value, fuel)


def _check_condition(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    if "if" not in schema:
        return None
    asked, then, other = (compiler.compile(schema.get(word, True)) for word in ("if", "then", "else"))
    return lambda value, fuel: then(value, fuel) if asked(value, fuel) else other(value, fuel)


def _check_dependent(compiler: Compiler, schema: Mapping[str, Any]) -> Check | None:
    dependent = tuple(_compile_map(compiler, schema.get("dependentSchemas", {})).items())
    if not dependent:
        return None

    def check(value: Any, fuel: Fuel) -> bool:
        return type(value) is not dict or all(inner(value, fuel) for key, inner in dependent if key in value)

    return check


PARTS: tuple[Callable[[Compiler, Mapping[str, Any]], Check | None], ...] = (
    _check_type, _check_values, _check_number, _check_text, _check_keys, _check_mapping, _check_list, _check_contained,
    _check_reference, _check_all, _check_any, _check_one, _check_not, _check_condition, _check_dependent,
)  # fmt: skip
