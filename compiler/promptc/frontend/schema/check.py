"""A schema as the text of a Python function that says whether a value is valid, and nothing more.

Plain tests become expressions. What stands in a schema is written into its function as far as Python's limits allow; what a reference
names is a function of its own, which takes one from the fuel. It agrees with jsonschema's Draft202012Validator, but for patterns, which
are ECMA-262's, and `multipleOf`, which is exact in decimals.
"""

from collections.abc import Callable, Iterator, Mapping

from promptc.diag.typed import Any
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.references import REFERENCES, References
from promptc.frontend.schema.write_plain import iter_plain, join_and, join_or, list_types, write_size

NOT_WRITTEN = ("unevaluatedItems", "unevaluatedProperties")
"""Keywords of which no function knows: a schema with one of them anywhere has none."""

_MAPPING = frozenset(
    "required minProperties maxProperties propertyNames dependentRequired properties patternProperties additionalProperties "
    "dependentSchemas".split()
)
_LIST = frozenset("minItems maxItems uniqueItems prefixItems items contains minContains maxContains".split())
_JOINT = ("allOf", "anyOf", "oneOf", "not", "if")
_DEEPEST = 12
"""Blocks in blocks of one function, and tests in tests: Python allows 20 loops and 200 brackets."""
_LONGEST_INLINE = 160
"""Characters of a test that stands in place of a reference."""
_FEW = 32
"""Keys and places that are asked for one by one; more are looked up, so that a small value costs little under a large schema."""
_PAY = ["f[0] -= 1", "if f[0] < 0: raise FuelError"]

Lines = list[str]


class CheckWriter:
    """Writes the functions of schemas without errors (`lint_schema`)."""

    def __init__(self, references: References, name: Callable[[Schema], str]) -> None:
        """`name` gives the name of a schema's function, and sees to it that the function is there when it is called."""
        self._references = references
        self._name = name
        self._constants: dict[str, str] = {}
        self._pending: Lines = []

    def write(self, schema: Schema, name: str) -> str:
        """The text of a schema's function, `name(value, fuel)`."""
        body = [*(_PAY if self._references.is_target(schema) else ()), *self._check(schema, "v", 0, own=True), "return True"]
        return "\n".join([f"def {name}(v, f):", *_indent(body)])

    def take_constants(self) -> str:
        """What the functions written since the last call need beside them, to come after them in the text."""
        taken, self._pending = self._pending, []
        return "\n".join(taken)

    def _keep(self, written: str) -> str:
        if written not in self._constants:
            name = self._constants[written] = f"K{len(self._constants)}"
            self._pending.append(f"{name} = {written}")
        return self._constants[written]

    # Tests: expressions that are true or false.

    def _test(self, schema: Schema, v: str, depth: int = 0) -> str:
        return self._find_expression(schema, v, depth) or f"{self._name(schema)}({v}, f)"

    def _find_expression(self, schema: Schema, v: str, depth: int = 0) -> str | None:
        """None where it takes statements."""
        if isinstance(schema, bool):
            return str(schema)
        if depth > _DEEPEST or _looks_inside(schema):
            return None
        return join_and([*iter_plain(schema, v, self._keep), *self._iter_joint(schema, v, depth)])

    def _iter_joint(self, schema: Mapping[str, Any], v: str, depth: int) -> Iterator[str]:
        """Tests of the schemas that are asked about the same value."""
        yield from (self._refer(schema[word], v) for word in REFERENCES if word in schema)
        for word, join in (("allOf", join_and), ("anyOf", join_or), ("oneOf", _join_one)):
            if word in schema:
                yield join([self._test(inner, v, depth + 1) for inner in schema[word]])
        if "not" in schema:
            yield f"not ({self._test(schema['not'], v, depth + 1)})"
        if "if" in schema:
            asked, then, other = (self._test(schema.get(word, True), v, depth + 1) for word in ("if", "then", "else"))
            yield f"(({then}) if ({asked}) else ({other}))"

    def _refer(self, reference: str, v: str) -> str:
        target = self._references.find(reference)
        if isinstance(target, bool):
            return str(target)
        if not _looks_inside(target) and not any(word in target for word in (*_JOINT, *REFERENCES)):
            written = join_and([*iter_plain(target, v, self._keep)])
            if len(written) <= _LONGEST_INLINE:
                return f"({written})"
        return f"{self._name(target)}({v}, f)"

    # Checks: statements that return False, or end.

    def _check(self, schema: Schema, v: str, depth: int, *, own: bool = False) -> Lines:
        written = self._find_expression(schema, v)
        if written is not None:
            return _deny(written)
        if depth > _DEEPEST and not own:
            return _deny(f"{self._name(schema)}({v}, f)")
        lines = _deny(join_and([*iter_plain(schema, v, self._keep)]))
        for kind, keywords, write in (("object", _MAPPING, self._check_mapping), ("array", _LIST, self._check_list)):
            types = list_types(schema)
            if not keywords.isdisjoint(schema) and (not types or kind in types):
                block = write(schema, v, depth + 1)
                lines += block if types == [kind] else _block(f"if {v}.__class__ is {'dict' if kind == 'object' else 'list'}:", block)
        return lines + self._check_joint(schema, v, depth)

    def _check_joint(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        lines: Lines = []
        for inner in schema.get("allOf", ()):
            lines += self._check(inner, v, depth + 1)
        if "if" in schema:
            then, other = (self._check(schema.get(word, True), v, depth + 1) for word in ("then", "else"))
            lines += [*_block(f"if {self._test(schema['if'], v)}:", then or ["pass"]), *_block("else:", other)]
        rest = {word: value for word, value in schema.items() if word in ("anyOf", "oneOf", "not", *REFERENCES)}
        return lines + _deny(join_and([*self._iter_joint(rest, v, 0)]))

    def _check_mapping(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        required = [f"{key!r} in {v}" for key in schema.get("required", ())]
        lines = _deny(join_and([*write_size(v, schema, "minProperties", "maxProperties"), *required]))
        if "dependentRequired" in schema:
            needs = self._keep(repr(schema["dependentRequired"]))
            lines += [f"for k{depth} in {v}:", f"  for n{depth} in {needs}.get(k{depth}, ()):", f"    if n{depth} not in {v}: return False"]
        if "propertyNames" in schema:
            lines += _block(f"for k{depth} in {v}:", self._check(schema["propertyNames"], f"k{depth}", depth))
        lines += self._check_members(schema, v, depth)
        for key, inner in schema.get("dependentSchemas", {}).items():
            lines += _block(f"if {key!r} in {v}:", self._check(inner, v, depth))
        return lines

    def _check_members(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        known, patterns, other = (schema.get(word, {}) for word in ("properties", "patternProperties", "additionalProperties"))
        item = f"v{depth}"
        lines: Lines = []
        inside: Lines = []
        if len(known) > _FEW:
            inside = [f"t{depth} = {self._keep_table(known)}.get(k{depth})", f"if t{depth} and not t{depth}({item}, f): return False"]
        else:
            required = schema.get("required", ())
            for key, inner in known.items():
                block = self._check(inner, item, depth)
                fetch = [f"{item} = {v}[{key!r}]", *block] if block else []
                lines += fetch if key in required else _block(f"if {key!r} in {v}:", fetch)
        rest = self._check(other, item, depth) if "additionalProperties" in schema else []
        for pattern, inner in patterns.items():
            block = [*([f"m{depth} = True"] if rest else ()), *self._check(inner, item, depth)]
            inside += _block(f"if {self._keep_matcher(pattern)}(k{depth}):", block)
        if rest and patterns:
            inside = [f"m{depth} = {_write_known(known, depth)}", *inside, *_block(f"if not m{depth}:", rest)]
        elif rest:
            inside += _block(f"if not ({_write_known(known, depth)}):", rest) if known else rest
        return lines + _block(f"for k{depth}, {item} in {v}.items():", inside)

    def _check_list(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        first, item = schema.get("prefixItems", ()), f"v{depth}"
        lines = _deny(join_and([*write_size(v, schema, "minItems", "maxItems")]))
        if len(first) > _FEW:
            table = self._keep(f"({', '.join(map(self._write_function, first))},)")
            lines += [f"for t{depth}, {item} in zip({table}, {v}):", f"  if not t{depth}({item}, f): return False"]
        else:
            for place, inner in enumerate(first):
                block = self._check(inner, item, depth)
                lines += _block(f"if len({v}) > {place}:", [f"{item} = {v}[{place}]", *block] if block else [])
        rest = f"{v}[{len(first)}:]" if first else v
        lines += _block(f"for {item} in {rest}:", self._check(schema.get("items", True), item, depth))
        if "contains" in schema:
            lines += self._count_contained(schema, v, depth)
        return lines + _deny(f"is_unique({v})" if schema.get("uniqueItems") else "True")

    def _count_contained(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        tests = [f"n{depth} >= {least!r}", *([f"n{depth} <= {most!r}"] if most is not None else ())]
        count = [f"n{depth} = 0", f"for v{depth} in {v}:", f"  if {self._test(schema['contains'], f'v{depth}')}: n{depth} += 1"]
        return [*count, *_deny(join_and(tests))]

    def _keep_table(self, schemas: Mapping[str, Schema]) -> str:
        return self._keep(f"{{{', '.join(f'{key!r}: {self._write_function(inner)}' for key, inner in schemas.items())}}}")

    def _write_function(self, schema: Schema) -> str:
        """An expression for the function of a schema."""
        written = self._find_expression(schema, "v")
        return self._name(schema) if written is None else f"lambda v, f: {written}"

    def _keep_matcher(self, pattern: str) -> str:
        return self._keep(f"find_matcher({pattern!r})")


def _looks_inside(schema: Mapping[str, Any]) -> bool:
    return not (_MAPPING.isdisjoint(schema) and _LIST.isdisjoint(schema))


def _join_one(tests: list[str]) -> str:
    return f"sum(({', '.join(tests)},)) == 1"


def _write_known(known: Mapping[str, Schema], depth: int) -> str:
    return f"k{depth} in {{{', '.join(map(repr, known))}}}" if known else "False"


def _deny(test: str) -> Lines:
    if test in ("True", "False"):
        return ["return False"] if test == "False" else []
    return [f"if not ({test}): return False"]


def _block(head: str, lines: Lines) -> Lines:
    """A statement with others in it; nothing where there are none."""
    return [head, *_indent(lines)] if lines else []


def _indent(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]
