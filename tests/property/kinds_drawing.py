"""Small state schemas, valid states of them, and templates over them whose parts are drawn by what they take."""

from random import Random
from typing import Any

Schema = dict[str, Any]
_Z: Schema = {"type": "object", "properties": {"z": {"const": 1}}, "required": ["z"]}
NAMES = ("a", "b", "c", "d")
WORDS = ("", "x", "calm", "tense", "x y")


def draw_schema(rng: Random, depth: int = 2) -> Schema:
    """A schema of a state: an object with some of its keys required."""
    return _draw_object(rng, depth)


def _draw_object(rng: Random, depth: int) -> Schema:
    names = rng.sample(NAMES, rng.randint(1, len(NAMES)))
    properties = {name: _draw_value(rng, depth) for name in sorted(names)}
    made: Schema = {"type": "object", "properties": properties, "required": [name for name in sorted(names) if rng.random() < 0.6]}
    if rng.random() < 0.7:
        made["additionalProperties"] = False
    return made


def _draw_value(rng: Random, depth: int) -> Schema:
    kind = rng.choice(
        ("text", "enum", "whole", "number", "truth", "null", "list", "list", "object", "object", "either", "nullable", "map", "pair")
    )
    if depth <= 0 and kind in ("list", "object", "either", "map", "pair"):
        kind = "text"
    if kind == "list":
        made: Schema = {"type": "array", "items": _draw_value(rng, depth - 1)}
        return made | ({"minItems": 1} if rng.random() < 0.3 else {}) | ({"maxItems": 3} if rng.random() < 0.5 else {})
    if kind == "object":
        return _draw_object(rng, depth - 1)
    if kind == "either":
        return {
            rng.choice(("anyOf", "oneOf")): [
                _draw_value(rng, depth - 1),
                {"type": "object", "properties": {"z": {"const": 1}}, "required": ["z"]},
            ]
        }
    if kind == "nullable":
        return {"type": [rng.choice(("string", "integer", "boolean")), "null"]}
    if kind == "map":
        return {"type": "object", "additionalProperties": _draw_value(rng, depth - 1)}
    if kind == "pair":
        return {"type": "array", "prefixItems": [_draw_value(rng, 0), _draw_value(rng, 0)], "items": False, "minItems": rng.randint(0, 2)}
    plain: dict[str, Schema] = {
        "text": {"type": "string"}, "enum": {"enum": ["calm", "tense"]}, "whole": {"type": "integer"}, "number": {"type": "number"},
        "truth": {"type": "boolean"}, "null": {"type": "null"},
    }  # fmt: skip
    return dict(plain[kind]) | ({"default": _DEFAULTS[kind]} if rng.random() < 0.2 else {})


_DEFAULTS = {"text": "x", "enum": "calm", "whole": 3, "number": 1.5, "truth": True, "null": None}


def draw_state(rng: Random, schema: Any) -> Any:
    """A value that is valid by the schema."""
    if not isinstance(schema, dict) or not schema:
        return rng.choice((None, 1, "x", [], {}))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return draw_state(rng, rng.choice(schema[keyword]))
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    types = schema.get("type", "object")
    return _draw_of(rng, schema, types if isinstance(types, str) else rng.choice(types))


def _draw_of(rng: Random, schema: Schema, kind: str) -> Any:
    if kind == "object":
        return _draw_entries(rng, schema)
    if kind == "array":
        first = schema.get("prefixItems", [])
        most = min(len(first) if schema.get("items") is False else 9, schema.get("maxItems", 4))
        count = rng.randint(schema.get("minItems", 0), max(most, schema.get("minItems", 0)))
        return [draw_state(rng, first[at] if at < len(first) else schema.get("items", True)) for at in range(count)]
    plain = {"string": rng.choice(WORDS), "integer": rng.choice((-1, 0, 1, 7)), "number": rng.choice((0, 2, 1.5, -0.5))}
    return {**plain, "boolean": rng.random() < 0.5, "null": None}[kind]


def _draw_entries(rng: Random, schema: Schema) -> dict[str, Any]:
    made = {}
    for name, inner in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or rng.random() < 0.5:
            made[name] = draw_state(rng, inner)
    other = schema.get("additionalProperties", True)
    if other is not False and rng.random() < 0.3:
        made[rng.choice(("a", "k"))] = made.get("a") or draw_state(rng, other if isinstance(other, dict) else {"type": "string"})
        if "a" in schema.get("properties", {}):
            made["a"] = draw_state(rng, schema["properties"]["a"])
    return made


def draw_template(rng: Random, schema: Schema) -> str:
    """A template of one to three statements."""
    return "".join(_draw_statement(rng, schema, 2) for _ in range(rng.randint(1, 3)))


def draw_path(rng: Random, schema: Any, start: str = "state") -> str:
    """A path that mostly follows the schema, and now and then leaves it."""
    path, at = start, schema
    for _ in range(rng.randint(1, 3)):
        for keyword in ("anyOf", "oneOf"):
            at = rng.choice(at[keyword]) if isinstance(at, dict) and keyword in at else at
        properties = at.get("properties", {}) if isinstance(at, dict) else {}
        if isinstance(at, dict) and ("items" in at or "prefixItems" in at) and rng.random() < 0.5:
            path, at = f"{path}[0]", at["prefixItems"][0] if "prefixItems" in at else at["items"]
        elif properties and rng.random() < 0.9:
            name = rng.choice(sorted(properties))
            path, at = f"{path}.{name}", properties[name]
        elif rng.random() < 0.25 or path == start:
            return f"{path}.{rng.choice(NAMES)}"
        else:
            return path
    return path


def _draw_statement(rng: Random, schema: Schema, depth: int) -> str:
    kind = rng.choice(("print", "print", "print", "if", "if", "for", "set", "macro"))
    path = draw_path(rng, schema)
    inner = _draw_statement(rng, schema, depth - 1) if depth > 0 else f"{{{{ {path} }}}}"
    if kind == "if":
        other = f"{{% else %}}{_draw_statement(rng, schema, depth - 1)}" if depth > 0 and rng.random() < 0.5 else ""
        same = f"{{{{ {path}{rng.choice(('', '.a', '[0]', '.upper()', ' + 1'))} }}}}"
        return f"{{% if {draw_condition(rng, schema, path)} %}}{same}{inner}{other}{{% endif %}}"
    if kind == "for":
        use = rng.choice(("x", "x.a", "x.b", "x | upper", "x + 1", "loop.index", "x ~ 1"))
        return f"{{% for x in {path}{rng.choice(('', '', ' or []', '[:2]'))} %}}{{{{ {use} }}}}{{% endfor %}}"
    if kind == "set":
        return f"{{% set v = {path} %}}{{{{ v{rng.choice(('', '.a', ' | length', ' is defined', ' | default(1)'))} }}}}{inner}"
    if kind == "macro":
        return f"{{% macro m(y) %}}{{{{ y{rng.choice(('', '.a', '.upper()', ' + 1'))} }}}}{{% endmacro %}}{{{{ m({path}) }}}}"
    return f"{{{{ {draw_use(rng, path, schema)} }}}}"


def draw_condition(rng: Random, schema: Schema, path: str, depth: int = 2) -> str:
    """A condition that mostly asks about `path`."""
    asked = path if rng.random() < 0.7 else draw_path(rng, schema)
    if depth > 0 and rng.random() < 0.3:
        sides = [draw_condition(rng, schema, path, depth - 1) for _ in range(2)]
        return f"({sides[0]} {rng.choice(('and', 'or'))} {sides[1]})"
    holder, _, part = asked.rpartition(".")
    forms = [
        "{0}", "not {0}", "{0} is defined", "{0} is none", "{0} is not none", "{0} is string", "{0} is mapping", "{0} is number",
        "{0} == 'calm'", "{0} != none", "{0} | length > 0", "{0} in ['calm', 'x']", "{0} is not defined", "{0} | length",
    ]  # fmt: skip
    if part.isidentifier():
        forms += [f"'{part}' in {holder}"] * 2
    return rng.choice(forms).format(asked)


def draw_use(rng: Random, path: str, schema: Schema) -> str:
    """A path, used."""
    other = draw_path(rng, schema)
    forms = (
        "{0}", "{0}", "{0}.a", "{0}.b.c", "{0}[0]",
        "{0} | upper", "{0} | length", "{0} + 1", "{0} + 'x'", "{0} < 5", "{0} < 'x'", "{0} ~ 'x'",
        "{0} | default('x')", "{0} | default('x', true)", "{0} | first", "{0} | join(',')", "{0} | sum", "{0} | sort", "{0}.upper()",
        "{0}.get('a')", "{0} | map(attribute='a') | list", "{0} | map('upper') | list", "{0} | list", "{0} | int", "{0} | round", "-{0}",
        "{0} * 2", "{0} / 2", "{0} in {1}", "{0} == {1}", "{0} < {1}", "{0} + {1}", "{0} and {1}", "{0} or {1}", "{0} if {1} else 'x'",
        "{0} if {0} is defined else {1}", "{0} | selectattr('a') | list", "{0}.items() | list", "'a' in {0}", "{0} is odd", "{0}[:2]",
        "{0} | max", "{0} | reverse | list", "{0} | items | list", "[{0}, {1}]", "{0} | last", "{0} | sum(attribute='b')", "{0} is none",
        "{0} | truncate(3)", "{0} | indent", "{0} | json", "{0} | string", "{0} | unique | list", "{0} | groupby('a') | length",
    )  # fmt: skip
    return rng.choice(forms).format(path, other)
