"""Compiles a schema to Python functions: some check whether a value is valid, others fill in what the value leaves out.

`compile_schema` compiles both ahead of time, to code that can be cached. `make_functions` compiles each function when it is first needed.
`Verdicts` provides the checks of all subschemas, and of single keywords, for code that explains why a value is invalid.

Simple tests become expressions. Subschemas are inlined as far as Python's limits allow; the target of a reference becomes a function of its
own, which consumes one unit of fuel. The checks agree with the official test suite of 2020-12, except for tests that need anything outside
the file. Patterns are those of ECMA-262, `multipleOf` is exact in decimals, and dates and times are checked if `format` names them.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from threading import RLock

from promptc.diag.typed import Any
from promptc.frontend.schema import runtime
from promptc.frontend.schema.lint import REFERENCES, References, Schema
from promptc.frontend.schema.runtime import Check, Functions, run_code, spell

_MOST_SCHEMAS = 2000
"""The most subschemas of a schema that is compiled ahead, at 0.1 ms each. For a larger schema, functions are compiled when needed."""

_BATCH = 50
"""Functions compiled at once: all at once would take a lot of memory, each alone more time."""

OF_MAPPINGS = frozenset(
    "required minProperties maxProperties propertyNames dependentRequired properties patternProperties additionalProperties "
    "dependentSchemas unevaluatedProperties".split()
)
OF_LISTS = frozenset("minItems maxItems uniqueItems prefixItems items contains minContains maxContains unevaluatedItems".split())
_JOINT = ("allOf", "anyOf", "oneOf", "not", "if")
_DEEPEST = 12
"""The deepest nesting of blocks and of tests in one function: Python allows 20 loops and 200 brackets."""

_LONGEST_INLINE = 160
"""The most characters of a test that is inlined in place of a reference."""

_EVALUATED = ("evaluatedProperties", "evaluatedItems")
_UNEVALUATED = {"unevaluatedProperties": "dict", "unevaluatedItems": "list"}
_BESIDE = {"contains": ("minContains", "maxContains")}
"""Keywords that mean nothing without other keywords, and those others."""

_FEW = 32
"""The most keys or elements that are tested one by one. If a schema has more, they are looked up, so small values stay cheap to check."""

_WRITING = RLock()
"""Held while functions are written: several threads may use a writer, and each function must be written once."""

_TRIED = 5
"""As a power of two, the members that are passed over, or the alternatives that are tried, at the price of one reference."""

Lines = list[str]
Constant = Callable[[str], str]
"""Stores a value, given as Python source, for use by the functions, and returns its name."""

_TYPES = {
    "array": "{}.__class__ is list",
    "boolean": "({0} is True or {0} is False)",
    "integer": "({0}.__class__ is int or {0}.__class__ is float and {0}.is_integer())",
    "null": "{} is None",
    "number": "({0}.__class__ is int or {0}.__class__ is float)",
    "object": "{}.__class__ is dict",
    "string": "{}.__class__ is str",
}
_BOUNDS = (("minimum", ">="), ("maximum", "<="), ("exclusiveMinimum", ">"), ("exclusiveMaximum", "<"))
_FEW_PLAIN = 16
_FORMATS = ("date-time", "date", "time")
"""The formats of `text/moment.py`, which is imported when the first text is tested."""


def compile_schema(verdicts: Verdicts) -> tuple[bytes, Functions]:
    """Return marshalled code for `run_code`, and the functions that it makes.

    The code is valid for this version of Python only; it is empty if the schema is too large. Raises an EndlessDefaultError if a default
    contains itself.
    """
    if verdicts.size > _MOST_SCHEMAS:
        return b"", make_functions(verdicts)
    texts = [*_iter_checks(verdicts), *_iter_fillers(verdicts)]
    parts = ["\n".join(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    code = marshal.dumps([compile(part, "<state schema>", "exec", dont_inherit=True) for part in parts])
    return code, run_code(code)


def make_functions(verdicts: Verdicts) -> Functions:
    """Return the functions of a schema, each of which is compiled when it is first called."""
    writer = FillWriter(verdicts.root, verdicts.references)
    space: dict[str, Any] = dict(vars(runtime))
    for name in writer.names:
        compile_lazily(space, name, partial(writer.write, name))
    exec(writer.write_end(), space)
    return verdicts.make_check(verdicts.root), space["fill"], space["shared"]


def _iter_checks(verdicts: Verdicts) -> Iterator[str]:
    """Yield the source of the root's check, `valid`, and of the functions that it calls."""
    waiting: list[tuple[str, Schema, str]] = []
    writer = CheckWriter(verdicts.references, lambda *new: waiting.append(new))
    first = writer.name(verdicts.root)
    while waiting:
        yield writer.write(*waiting.pop())
    yield f"{writer.take_constants()}\nvalid = {first}"


def _iter_fillers(verdicts: Verdicts) -> Iterator[str]:
    writer = FillWriter(verdicts.root, verdicts.references)
    yield from map(writer.write, writer.names)
    yield writer.write_end()


class Verdicts:
    """The checks of a schema that `lint_schema` accepts, and of its subschemas. Each is compiled at its first call."""

    def __init__(self, schema: Schema) -> None:
        self.root = schema
        self.references = References(schema)
        self.size = len(self.references.inside)
        """The number of schemas that the schema consists of."""
        self._writer = CheckWriter(self.references, self._prepare)
        self._space: dict[str, Any] = dict(vars(runtime))

    def make_check(self, schema: Schema, keyword: str = "") -> Check:
        """Return the check of the root or of a subschema; with `keyword`, that of one of its keywords alone."""
        if isinstance(schema, bool):
            return lambda value, fuel: schema
        check: Check = self._space[self._writer.name(schema, keyword)]
        return check

    def _prepare(self, name: str, schema: Schema, part: str) -> None:
        compile_lazily(self._space, name, lambda: f"{self._writer.write(name, schema, part)}\n{self._writer.take_constants()}")


def compile_lazily(space: dict[str, Any], name: str, write: Callable[[], str]) -> None:
    """Put a function of a value and fuel into `space`. At its first call, the function that `write` returns replaces it."""

    def first(value: Any, fuel: Any) -> Any:
        with _WRITING:
            if space[name] is first:
                exec(compile(write(), f"<{name}>", "exec", dont_inherit=True), space)
        return space[name](value, fuel)

    space[name] = first


class CheckWriter:
    """Writes the check functions of schemas that have no errors (`lint_schema`)."""

    def __init__(self, references: References, announce: Callable[[str, Schema, str], None]) -> None:
        """Initialize the writer.

        `announce` is called once with a function's name, its schema and its part, before the function is called, so that the caller writes
        it.
        """
        self._references = references
        self._announce = announce
        self._names: dict[tuple[int, str], str] = {}
        self._constants: dict[str, str] = {}
        self._pending: Lines = []
        self._weights: dict[int, int] = {}

    def name(self, schema: Schema, part: str = "") -> str:
        """Return the name of the function for a subschema, or for a part of one, as in `write`."""
        key = id(schema), part
        name = self._names.get(key)
        if name is not None:
            return name
        with _WRITING:
            if key not in self._names:
                name = f"c{len(self._names)}"
                self._announce(name, schema, part)
                self._names[key] = name
            return self._names[key]

    def write(self, name: str, schema: Schema, part: str = "") -> str:
        """Return the source of a function, `name(value, fuel)`.

        Without `part` it checks the whole schema. If `part` is a keyword, it checks that keyword. If `part` is one of `_EVALUATED`, it
        returns the set of keys or indexes that the other keywords evaluate.
        """
        price = int(not part and self._references.is_target(schema)) + (self._weigh(schema) >> _TRIED)
        pay = _pay(str(price)) if price else []
        if part in _EVALUATED:
            return _write_function(name, [*self._gather(schema, part), "return s"])
        if part in _UNEVALUATED:
            lines = _block(f"if v.__class__ is {_UNEVALUATED[part]}:", self._check_unevaluated(schema, part, "v", 0))
        else:
            asked = {word: schema[word] for word in (part, *_BESIDE.get(part, ())) if word in schema} if part else schema
            lines = self._check(asked, "v", 0, own=True)
        return _write_function(name, [*pay, *lines, "return True"])

    def _weigh(self, schema: Schema) -> int:
        """Return how many alternatives and conditions a schema has that are tried on a value or its members, other than those in loops."""
        if not isinstance(schema, dict):
            return 0
        if id(schema) not in self._weights:
            joint = [inner for word in ("allOf", "anyOf", "oneOf") for inner in schema.get(word, ())]
            joint += [schema[word] for word in ("not", "if", "then", "else") if word in schema]
            members = [*schema.get("properties", {}).values(), *schema.get("prefixItems", ()), *schema.get("dependentSchemas", {}).values()]
            few = members if len(members) <= _FEW else ()
            self._weights[id(schema)] = len(joint) + sum(map(self._weigh, (*joint, *few)))
        return self._weights[id(schema)]

    def _pay_each(self, members: str, *schemas: Schema) -> Lines:
        """Return the lines that pay for trying each schema on every member of a container."""
        weight = 1 + sum(map(self._weigh, schemas))
        free = ((1 << _TRIED) - 1) // weight  # so many members cost nothing, and most containers have fewer
        return _block(f"if len({members}) > {free}:", _pay(f"len({members}) * {weight} >> {_TRIED}"))

    def take_constants(self) -> str:
        """Return the source of the constants that functions written since the last call need. It belongs after those functions."""
        taken, self._pending = self._pending, []
        return "\n".join(taken)

    def _keep(self, written: str) -> str:
        if written not in self._constants:
            name = self._constants[written] = f"K{len(self._constants)}"
            self._pending.append(f"{name} = {written}")
        return self._constants[written]

    # Tests: expressions that are true or false.

    def _test(self, schema: Schema, v: str, depth: int = 0) -> str:
        return self._find_expression(schema, v, depth) or f"{self.name(schema)}({v}, f)"

    def _find_expression(self, schema: Schema, v: str, depth: int = 0) -> str | None:
        """Return the test of a schema as an expression, or None if it needs statements."""
        if isinstance(schema, bool):
            return str(schema)
        if depth > _DEEPEST or _looks_inside(schema):
            return None
        return _join_and([*_iter_plain(schema, v, self._keep), *self._iter_joint(schema, v, depth)])

    def _iter_joint(self, schema: Mapping[str, Any], v: str, depth: int) -> Iterator[str]:
        """Yield the tests of subschemas that apply to the same value."""
        yield from (self._refer(schema[word], v) for word in REFERENCES if word in schema)
        for word, join in (("allOf", _join_and), ("anyOf", _join_or), ("oneOf", _join_one)):
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
            written = _join_and([*_iter_plain(target, v, self._keep)])
            if len(written) <= _LONGEST_INLINE:
                return f"({written})"
        return f"{self.name(target)}({v}, f)"

    # Checks: statements that return False or fall through.

    def _check(self, schema: Schema, v: str, depth: int, *, own: bool = False) -> Lines:
        written = self._find_expression(schema, v)
        if written is not None:
            return _deny(written)
        if depth > _DEEPEST and not own:
            return _deny(f"{self.name(schema)}({v}, f)")
        lines = _deny(_join_and([*_iter_plain(schema, v, self._keep)]))
        for kind, keywords, write in (("object", OF_MAPPINGS, self._check_mapping), ("array", OF_LISTS, self._check_list)):
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
        return lines + _deny(_join_and([*self._iter_joint(rest, v, 0)]))

    def _check_mapping(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        required = [f"{key!r} in {v}" for key in schema.get("required", ())]
        lines = _deny(_join_and([*_write_size(v, schema, "minProperties", "maxProperties"), *required]))
        if "dependentRequired" in schema:
            needs = self._keep(repr(schema["dependentRequired"]))
            lines += [
                *self._pay_each(v),
                f"for k{depth} in {v}:",
                f"  for n{depth} in {needs}.get(k{depth}, ()):",
                f"    if n{depth} not in {v}: return False",
            ]
        if "propertyNames" in schema:
            names = schema["propertyNames"]
            lines += [*self._pay_each(v, names), *_block(f"for k{depth} in {v}:", self._check(names, f"k{depth}", depth))]
        lines += self._check_members(schema, v, depth)
        for key, inner in schema.get("dependentSchemas", {}).items():
            lines += _block(f"if {key!r} in {v}:", self._check(inner, v, depth))
        return lines + self._check_unevaluated(schema, "unevaluatedProperties", v, depth)

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
            inside += _block(f"if {self._keep_matcher(pattern)}(k{depth}, f):", block)
        if rest and patterns:
            inside = [f"m{depth} = {_write_known(known, depth)}", *inside, *_block(f"if not m{depth}:", rest)]
        elif rest:
            inside += _block(f"if not ({_write_known(known, depth)}):", rest) if known else rest
        pay = self._pay_each(v, *patterns.values(), other) if inside else []
        return [*lines, *pay, *_block(f"for k{depth}, {item} in {v}.items():", inside)]

    def _check_list(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        first, item = schema.get("prefixItems", ()), f"v{depth}"
        lines = _deny(_join_and([*_write_size(v, schema, "minItems", "maxItems")]))
        if len(first) > _FEW:
            table = self._keep(f"({', '.join(map(self._write_callable, first))},)")
            lines += [f"for t{depth}, {item} in zip({table}, {v}):", f"  if not t{depth}({item}, f): return False"]
        else:
            for place, inner in enumerate(first):
                block = self._check(inner, item, depth)
                lines += _block(f"if len({v}) > {place}:", [f"{item} = {v}[{place}]", *block] if block else [])
        rest = f"{v}[{len(first)}:]" if first else v
        each = _block(f"for {item} in {rest}:", self._check(schema.get("items", True), item, depth))
        lines += [*self._pay_each(v, schema["items"]), *each] if each else []
        if "contains" in schema:
            lines += self._count_contained(schema, v, depth)
        lines += [*self._pay_each(v), *_deny(f"is_unique({v})")] if schema.get("uniqueItems") else []
        return lines + self._check_unevaluated(schema, "unevaluatedItems", v, depth)

    def _count_contained(self, schema: Mapping[str, Any], v: str, depth: int) -> Lines:
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        tests = [f"n{depth} >= {least!r}", *([f"n{depth} <= {most!r}"] if most is not None else ())]
        count = [f"n{depth} = 0", f"for v{depth} in {v}:", f"  if {self._test(schema['contains'], f'v{depth}')}: n{depth} += 1"]
        return [*self._pay_each(v, schema["contains"]), *count, *_deny(_join_and(tests))]

    # Evaluated members: lines that collect keys or indexes in the set `s`.

    def _check_unevaluated(self, schema: Mapping[str, Any], word: str, v: str, depth: int) -> Lines:
        checks = self._check(schema.get(word, True), f"v{depth}", depth)
        if not checks:
            return []
        members = f"{v}.items()" if word == "unevaluatedProperties" else f"enumerate({v})"
        gather = f"s{depth} = {self.name(schema, word.removeprefix('un'))}({v}, f)"
        return [
            *self._pay_each(v, schema[word]),
            gather,
            f"for k{depth}, v{depth} in {members}:",
            *_indent(_block(f"if k{depth} not in s{depth}:", checks)),
        ]

    def _gather(self, schema: Mapping[str, Any], part: str) -> Lines:
        if part == "evaluatedProperties":
            lines = ["s = set(v)" if "additionalProperties" in schema else f"s = {{*{tuple(schema.get('properties', ()))!r}}}"]
            lines += [f"s.update(k for k in v if {self._keep_matcher(pattern)}(k, f))" for pattern in schema.get("patternProperties", ())]
            for key, inner in schema.get("dependentSchemas", {}).items():
                lines += _block(f"if {key!r} in v:", self._add(inner, part))
        else:
            lines = [f"s = set(range({'len(v)' if 'items' in schema else len(schema.get('prefixItems', ()))}))"]
            if "contains" in schema:
                lines.append(f"s.update(k for k, e in enumerate(v) if {self._test(schema['contains'], 'e')})")
        for word in ("allOf", "anyOf", "oneOf"):
            for inner in schema.get(word, ()):
                lines += _block(f"if {self._test(inner, 'v')}:", self._add(inner, part))
        if "if" in schema:
            then, other = (self._add(schema.get(word, True), part) for word in ("then", "else"))
            lines += [f"if {self._test(schema['if'], 'v')}:", *_indent([*self._add(schema["if"], part), *then, "pass"])]
            lines += _block("else:", other)
        return lines + [line for target in self._references.iter_targets(schema) for line in self._add(target, part)]

    def _add(self, inner: Schema, part: str) -> Lines:
        """Return lines that add what a matching subschema evaluates: everything, if it has `unevaluated…` itself."""
        if isinstance(inner, bool):
            return []
        if f"un{part}" in inner:
            return ["s.update(v)" if part == "evaluatedProperties" else "s.update(range(len(v)))"]
        return [f"s |= {self.name(inner, part)}(v, f)"]

    def _keep_table(self, schemas: Mapping[str, Schema]) -> str:
        return self._keep(f"{{{', '.join(f'{key!r}: {self._write_callable(inner)}' for key, inner in schemas.items())}}}")

    def _write_callable(self, schema: Schema) -> str:
        """Return an expression for the function of a schema."""
        written = self._find_expression(schema, "v")
        return self.name(schema) if written is None else f"lambda v, f: {written}"

    def _keep_matcher(self, pattern: str) -> str:
        return self._keep(f"make_matcher({pattern!r})")


def _looks_inside(schema: Mapping[str, Any]) -> bool:
    return not (OF_MAPPINGS.isdisjoint(schema) and OF_LISTS.isdisjoint(schema))


def _join_one(tests: list[str]) -> str:
    return f"sum(({', '.join(tests)},)) == 1"


def _write_known(known: Mapping[str, Schema], depth: int) -> str:
    return f"k{depth} in {{{', '.join(map(repr, known))}}}" if known else "False"


def _deny(test: str) -> Lines:
    if test in ("True", "False"):
        return ["return False"] if test == "False" else []
    return [f"if not ({test}): return False"]


def _pay(price: str) -> Lines:
    return [f"f[0] -= {price}", "if f[0] < 0: raise FuelError"]


def _write_function(name: str, lines: Lines) -> str:
    return "\n".join([f"def {name}(v, f):", *_indent(lines)])


def _block(head: str, lines: Lines) -> Lines:
    """Return a compound statement, or nothing if its body is empty."""
    return [head, *_indent(lines)] if lines else []


def _indent(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]


def _iter_plain(schema: Mapping[str, Any], v: str, constant: Constant) -> Iterator[str]:
    """Yield expressions on the variable `v`, all of which are true for a valid value."""
    if "type" in schema:
        yield _join_or([_TYPES[name].format(v) for name in list_types(schema)])
    if "enum" in schema:
        yield _write_choice(schema["enum"], v)
    if "const" in schema:
        yield _write_choice([schema["const"]], v)
    yield from _guard(_iter_number(schema, v), schema, ("integer", "number"), v)
    yield from _guard(_iter_text(schema, v, constant), schema, ("string",), v)


def list_types(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema allows, without duplicates; empty if it has no `type`."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _write_size(value: str, schema: Mapping[str, Any], least: str, most: str) -> Iterator[str]:
    """Yield tests that the length of a value is within the two bounds that the schema may set."""
    if schema.get(least, 0) > 0:
        yield f"len({value}) >= {schema[least]!r}"
    if most in schema:
        yield f"len({value}) <= {schema[most]!r}"


def _guard(tests: Iterator[str], schema: Mapping[str, Any], types: tuple[str, ...], v: str) -> Iterator[str]:
    """Yield the tests joined into one that values of other types pass."""
    test = _join_and([*tests])
    allowed = list_types(schema)
    if test == "True" or (allowed and not any(name in types for name in allowed)):
        return
    if not allowed or any(name not in types for name in allowed):
        test = f"not {_TYPES[types[-1]].format(v)} or {test}" if types[-1] == "number" else f"{v}.__class__ is not str or {test}"
    yield f"({test})"


def _iter_number(schema: Mapping[str, Any], v: str) -> Iterator[str]:
    for word, sign in _BOUNDS:
        if word in schema:
            yield f"{v} {sign} {schema[word]!r}"
    if "multipleOf" in schema:
        yield f"is_multiple({v}, {schema['multipleOf']!r})"


def _iter_text(schema: Mapping[str, Any], v: str, constant: Constant) -> Iterator[str]:
    yield from _write_size(v, schema, "minLength", "maxLength")
    if "pattern" in schema:
        matcher = constant(f"make_matcher({schema['pattern']!r})")
        yield f"{matcher}({v}, f)"
    if schema.get("format") in _FORMATS:
        known = constant(f"make_format_check({schema['format']!r})")
        yield f"{known}({v})"


def _write_choice(values: list[Any], v: str) -> str:
    """Return a test that a value is one of a list.

    The hashes of numbers can be made to collide, so a long list of numbers is compared as texts.
    """
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    spelt = [spell(value) for value in values if isinstance(value, (list, dict))]
    tests = [f"{v} is {value}" for value in (None, True, False) if any(value is each for each in values)]
    if texts:
        tests.append(f"{v}.__class__ is str and {_write_membership(v, texts)}")
    if len(numbers) > _FEW_PLAIN:
        spelt += map(spell, numbers)
    elif numbers:
        tests.append(f"{_TYPES['number'].format(v)} and {v} in ({', '.join(map(repr, numbers))},)")
    if spelt:
        tests.append(f"{v}.__class__ is not str and {_write_membership(f'spell({v})', spelt)}")
    return _join_or(tests)


def _write_membership(value: str, texts: list[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return f"{value} == {distinct[0]!r}" if len(distinct) == 1 else f"{value} in {{{', '.join(map(repr, distinct))}}}"


def _join_and(tests: list[str]) -> str:
    """Return a test that all tests are true."""
    kept = [test for test in tests if test != "True"]
    if "False" in kept:
        return "False"
    return " and ".join(f"({test})" if len(kept) > 1 and " or " in test else test for test in kept) or "True"


def _join_or(tests: list[str]) -> str:
    """Return a test that at least one test is true."""
    kept = [test for test in tests if test != "False"]
    if "True" in kept:
        return "True"
    return f"({' or '.join(kept)})" if len(kept) > 1 else "".join(kept) or "False"


class FillWriter:
    """Writes the functions that fill in defaults through `properties`, `items`, `prefixItems`, `$ref` and `allOf`.

    If a schema declares several defaults for a value, the first wins. `fill(value, fuel)` returns the value with absent members filled in,
    mappings in code-point order of their keys. A value that needs nothing stays the same object, and what is filled in is the same object
    every time. All functions use the names in `runtime`.
    """

    def __init__(self, root: Schema, references: References) -> None:
        plan = _Plan(references)
        self.first = plan.make_filler((root,))
        """The filler of the root."""
        self._fillers = {f"d{filler.number}": filler for filler in plan.fillers.values() if not filler.is_idle()}
        self._inner_defaults = [filler for filler in plan.fillers.values() if filler.has_parts()]
        self.names = tuple(self._fillers)
        """The names of the functions to write."""

    def write(self, name: str) -> str:
        """Return the source of a function."""
        return _write_function(name, [*_write_filler(self._fillers[name]), "return v"])

    def write_end(self) -> str:
        """Return the source that follows the functions. Running it raises an EndlessDefaultError if a default contains itself."""
        places = _count_places(self.first)
        defaults = [f"{each.number}: ({each.default!r}, {_call(each)})" for each in self._inner_defaults]
        shared = [f"{each.number}, " for each in self._inner_defaults if places.get(each.number, 0) > 1]
        made = f"D = Defaults({{{', '.join(defaults)}}})\nD.make_all()\nshared = [D[number] for number in ({''.join(shared)})]"
        return f"{made}\nfill = {_call(self.first)}"


class Filler:
    """What to fill into the values that one set of schemas describes."""

    __slots__ = ("_idle", "default", "inner", "number", "places", "rest")

    def __init__(self, number: int) -> None:
        self.number = number
        self.default: Any = None
        self.inner: dict[str, Filler] = {}
        self.places: list[Filler] = []
        self.rest: Filler | None = None
        self._idle: bool | None = None

    def is_idle(self) -> bool:
        """Return whether the filler never fills in anything. A recursive schema counts as not idle."""
        if self._idle is None:
            self._idle = False
            members = [*self.places, *([self.rest] if self.rest is not None else [])]
            self._idle = not self.inner and all(filler.is_idle() for filler in members)
        return self._idle

    def has_parts(self) -> bool:
        """Return whether the default is a mapping or a list, which is itself filled in."""
        return isinstance(self.default, (dict, list))


def _count_places(first: Filler) -> dict[int, int]:
    """Return for each filler's number at how many places of a state it fills in values: 1, or 2 for more."""
    counts: dict[int, int] = {}

    def add(filler: Filler, places: int) -> None:
        before = counts.get(filler.number, 0)
        counts[filler.number] = min(2, before + places)
        added = counts[filler.number] - before
        if added:
            for inner in (*filler.inner.values(), *filler.places):
                add(inner, added)
            if filler.rest is not None:
                add(filler.rest, 2)

    add(first, 1)
    return counts


class _Plan:
    """The fillers of a schema, each made once."""

    def __init__(self, references: References) -> None:
        self._references = references
        self.fillers: dict[tuple[int, ...], Filler] = {}

    def make_filler(self, schemas: tuple[Schema, ...]) -> Filler:
        """Return the filler for values to which all of these schemas apply."""
        together = self._references.list_together(schemas)
        key = tuple(id(schema) for schema in together)
        if key not in self.fillers:
            self.fillers[key] = filler = Filler(len(self.fillers))
            self._complete(filler, together)
        return self.fillers[key]

    def _complete(self, filler: Filler, together: tuple[Mapping[str, Any], ...]) -> None:
        declared: dict[str, list[Schema]] = {}
        for schema in together:
            for name, inner in schema.get("properties", {}).items():
                declared.setdefault(name, []).append(inner)
        filler.default = next((schema["default"] for schema in together if "default" in schema), None)
        filler.inner = {name: self.make_filler(tuple(inner)) for name, inner in sorted(declared.items())}
        most = max((len(schema.get("prefixItems", ())) for schema in together), default=0)
        filler.places = [self.make_filler(tuple(_iter_at(together, place))) for place in range(most)]
        rest = tuple(schema["items"] for schema in together if "items" in schema)
        filler.rest = self.make_filler(rest) if rest else None


def _iter_at(together: tuple[Mapping[str, Any], ...], place: int) -> Iterator[Schema]:
    """Yield the schemas that apply to the element at `place`: each schema's own entry there, or else its `items`."""
    for schema in together:
        first = schema.get("prefixItems", ())
        if place < len(first):
            yield first[place]
        elif "items" in schema:
            yield schema["items"]


def _write_filler(filler: Filler) -> Lines:
    lines: Lines = []
    if filler.inner:
        keys = "".join(f"{key!r}, " for key in filler.inner)
        members = [line for key, inner in filler.inner.items() for line in _write_member(key, inner)]
        lines += ["if v.__class__ is dict:", *_indent(["c = {}", *members, f"return merge(v, c, ({keys}), f) if c else v"])]
    if any(not inner.is_idle() for inner in (*filler.places, *([filler.rest] if filler.rest else ()))):
        lines += ["if v.__class__ is list:", *_indent(_write_elements(filler))]
    return lines


def _write_member(key: str, inner: Filler) -> Lines:
    instead = f"D[{inner.number}]" if inner.has_parts() else repr(inner.default)
    lines = [f"if {key!r} not in v: c[{key!r}] = {instead}"]
    if not inner.is_idle():
        lines += ["else:", f"  n = d{inner.number}(v[{key!r}], f)", f"  if n is not v[{key!r}]: c[{key!r}] = n"]
    return lines


def _write_elements(filler: Filler) -> Lines:
    first = f"[d(e, f) for d, e in zip(({''.join(f'{_call(each)}, ' for each in filler.places)}), v)]" if filler.places else "[]"
    after = "v[len(w):]" if filler.places else "v"
    rest = f"[d{filler.rest.number}(e, f) for e in {after}]" if filler.rest and not filler.rest.is_idle() else after
    return [f"w = {first}", f"w += {rest}", "for n, o in zip(w, v):", "  if n is not o: return w"]


def _call(filler: Filler) -> str:
    return "keep" if filler.is_idle() else f"d{filler.number}"
