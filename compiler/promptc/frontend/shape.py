"""What a manifest's faults say to its author: one finding a mistake, at the key or value that is wrong."""

from collections.abc import Iterable

from promptc.diag.findings import Diagnostic, sort_diagnostics, suggest
from promptc.diag.typed import Any
from promptc.diag.value import shorten
from promptc.frontend.schema.fault import Path, SchemaFault, find_causes, find_rule
from promptc.frontend.schema.faults import SchemaWords, find_help, join_or
from promptc.frontend.yaml_scalar import resolve_scalar
from promptc.model.state import Node

_WORDS = SchemaWords("a mapping", "text")
_MANIFEST = "the manifest"
_OLD_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_NAMED = {
    "patches": "patch",
    "variants": "axis",
    "let": "let",
    "stores": "store",
    "indexes": "index",
    "operations": "operation",
    "cases": "case",
}
_SILENT = ("sections", "cases", "tiers")
"""Keys that go without saying between what stands under them and what they stand in."""

_STEPS = ("overflow", "truncate", "do")
_RANGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_EMPTY = ("minLength", "minItems", "minProperties", "maxItems", "maxLength")


def describe_pack_faults(node: Node, faults: Iterable[SchemaFault], whole: str = _MANIFEST) -> list[Diagnostic]:
    """The findings, in the order of the file. A key that is missing because it is misspelt is one finding, not two. `whole` is what
    `node` is called.
    """
    causes = [cause for fault in faults for cause in find_causes(fault) if isinstance(cause.value, dict) or not find_rule(cause)]
    meant = {(cause.path[:-1], _find_meant(cause)) for cause in causes if cause.keyword == "additionalProperties"}
    found = [_describe(cause, node, whole) for cause in causes if not any((cause.path, key) in meant for key in _iter_missing(cause))]
    return list(sort_diagnostics(found))


def _find_meant(fault: SchemaFault) -> str:
    """The known key that an unknown one is nearest to, or `""`."""
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else {}
    near = suggest(str(fault.path[-1]), known)
    return near.split("`")[1] if near.startswith("did") else ""


def _iter_missing(fault: SchemaFault) -> Iterable[str]:
    if fault.keyword == "required":
        return [fault.wanted]
    rule = find_rule(fault)
    return [] if any(key in fault.value for key in rule) else rule


def _describe(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    match fault.keyword:
        case "additionalProperties":
            return _describe_extra(fault, root)
        case "required":
            around = name_place(fault.path, root) or whole
            help = _EXAMPLES.get(fault.wanted, "") if (whole == _MANIFEST and not fault.path) or fault.wanted == "section" else ""
            return Diagnostic("PC0202", f"{around} lacks the key `{fault.wanted}`", _find(root, fault.path).span, help)
        case "propertyNames":
            key = str(fault.path[-1])
            wrong = _WORDS.describe(fault.branches[0][0])
            return Diagnostic("PC0205", f"the key `{shorten(key)}` {wrong}", _find(root, fault.path[:-1]).key_span(key))
        case "maxProperties":
            return _describe_step(fault, root)
        case _:
            return _describe_rule(fault, root, whole) if find_rule(fault) else _describe_value(fault, root, whole)


def _describe_extra(fault: SchemaFault, root: Node) -> Diagnostic:
    *around, key = fault.path
    container = _find(root, tuple(around))
    schema = fault.schema if isinstance(fault.schema, dict) else {}
    known = schema.get("properties", {})
    place = name_place(tuple(around), root)
    meant = _find_meant(fault)
    help = f"did you mean `{meant}`?" if meant else suggest(str(key), [name for name in known if name not in container.value])
    if schema.get("maxProperties") == 1 and _is_step(around):
        return Diagnostic("PC0210", f"`{shorten(str(key))}` is no step{_inside(place)}", container.key_span(str(key)), help)
    return Diagnostic("PC0201", f"unknown key `{shorten(str(key))}`{_inside(place)}", container.key_span(str(key)), help)


def _describe_rule(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    """Keys that exclude each other, or of which one is due."""
    node = _find(root, fault.path)
    present = [key for key in node.value if key in find_rule(fault)]
    place = name_place(fault.path, root) or whole
    titled = fault.schema.get("title", "") if fault.path and isinstance(fault.schema, dict) else ""  # the whole has a heading
    title = titled or f"one of {join_and(find_rule(fault))}"
    has = join_and(present) if present else "none of them"
    return Diagnostic(
        "PC0207", f"{place} takes {title}, and has {has}", node.key_span(present[-1]) if present else node.span, _mend_rule(present)
    )


def _mend_rule(present: list[str]) -> str:
    return "keep one of them" if len(present) > 1 else "remove it" if present else "give one of them"


def _describe_step(fault: SchemaFault, root: Node) -> Diagnostic:
    node = _find(root, fault.path)
    keys = [shorten(key) for key in node.value]
    names = join_and(keys) if len(keys) < 4 else f"{join_and(keys[:2])} among them"
    message = f"{name_place(fault.path, root)} has {len(keys)} keys, {names}; it takes one"
    help = "begin each step with its own `-`" if _is_step(list(fault.path)) else "keep one of them"
    return Diagnostic("PC0210", message, node.key_span(list(node.value)[1]), help)


def _describe_value(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    node = _find(root, fault.path)
    name = name_place(fault.path, root) or whole
    if not fault.path:
        help = "begin with `promptc: 1`" if whole == _MANIFEST else ""
        message = f"{whole.replace('the', 'a', 1)} is a mapping of keys, not {_WORDS.show(fault.value)}"
        return Diagnostic("PC0203", message, node.span, help)
    message = f"{name} {_WORDS.describe(fault, node.raw if isinstance(fault.value, (int, float)) else '')}"
    if fault.path == ("promptc",) and isinstance(fault.value, int):
        return Diagnostic(
            "PC0211", f"the pack is written in version {_WORDS.show(fault.value)} of the language; this promptc reads version 1", node.span
        )
    if isinstance(fault.value, (dict, list)) and _takes_expression(fault):
        return Diagnostic("PC0208", message, node.span, 'quote a Jinja list or mapping: `"[…]"`, `"{…}"`')
    return Diagnostic(_find_code(fault), message, node.span, _mend(fault, node))


def _takes_expression(fault: SchemaFault) -> bool:
    schemas = [fault.schema, *(inner.schema for branch in fault.branches for inner in branch)]
    return any(isinstance(schema, dict) and schema.get("title") == "an expression" for schema in schemas)


def _find_code(fault: SchemaFault) -> str:
    if fault.keyword in _RANGES:
        return "PC0206"
    if fault.keyword in _EMPTY:
        return "PC0209"
    if fault.keyword == "pattern":
        return "PC0205"
    return "PC0204" if fault.keyword in ("enum", "const") else "PC0203"


def _mend(fault: SchemaFault, node: Node) -> str:
    wants = fault.wanted if fault.keyword == "type" else None
    schema = fault.schema if isinstance(fault.schema, dict) else {}
    if schema.get("maxProperties") == 1 and isinstance(node.value, str) and node.value in schema["properties"]:
        return f"write `{node.value}: {{}}`"
    if wants == "boolean" and str(node.value).lower() in _OLD_BOOLEANS:
        return f"write `{_OLD_BOOLEANS[str(node.value).lower()]}`"
    if fault.path == ("version",) and isinstance(node.value, float):
        return f'quote it, with three numbers: `"{node.raw}.0"`'
    if wants == "string" and node.raw and not isinstance(node.value, str) and "pattern" not in schema:
        return f'quote it: `"{node.raw}"`'
    if wants in ("integer", "number") and isinstance(node.value, str) and isinstance(_resolve(node.value), (int, float)):
        return f"write it without quotes: `{node.value}`"
    return find_help(fault)


def _resolve(text: str) -> Any:
    try:
        return resolve_scalar(text)
    except ValueError:
        return text


def _find(root: Node, path: Path) -> Node:
    node = root
    for step in path:
        inner: Any = node.value[step]
        node = inner
    return node


def name_place(path: Path, root: Node) -> str:
    """What a value is called, such as "`window` of `items` of section `recent`" or "step 2 of `overflow`"; nothing for the root."""
    parts: list[str] = []
    for stop in range(len(path), 0, -1):
        part, named = _name_step(path[:stop], root) if stop == len(path) or path[stop - 1] not in _SILENT else ("", False)
        parts.append(part)
        if named:
            break
    return " of ".join(part for part in parts if part)


def _name_step(path: Path, root: Node) -> tuple[str, bool]:
    """The name of a path's last step, and whether it needs nothing further to be found."""
    step = path[-1]
    around = path[-2] if len(path) > 1 else ""
    if around == "sections":
        return f"section {_read_name(_find(root, path), 'id', step)}", len(path) == 2
    if around == "tiers":
        return f"tier {_read_name(_find(root, path), 'name', step)}", True
    if isinstance(step, int):
        return (f"step {step + 1}" if around in _STEPS else f"entry {step + 1}"), False
    if around in _NAMED and len(path) in (2, 4):
        return f"{_NAMED[str(around)]} `{shorten(step)}`", around != "cases"
    return f"`{shorten(step)}`", False


def _read_name(node: Node, key: str, step: str | int) -> str:
    """The name of an entry: its key, or what it calls itself; else its place."""
    if isinstance(step, str):
        return f"`{shorten(step)}`"
    named = node.get(key)
    return f"`{shorten(named.value)}`" if named is not None and isinstance(named.value, str) else f"number {step + 1}"


def _is_step(path: list[str | int]) -> bool:
    return len(path) > 1 and isinstance(path[-1], int) and path[-2] in _STEPS


def _inside(place: str) -> str:
    return f" in {place}" if place else ""


def join_and(words: list[str]) -> str:
    return join_or(f"`{word}`" for word in words).replace(" or ", " and ")


_EXAMPLES = {
    "promptc": "write `promptc: 1`",
    "name": "write `name: my-pack`",
    "version": "write `version: 1.0.0`",
    "tokenizer": "write `tokenizer: cl100k_base`, or `chars/4` where tokens need not be exact",
    "budget": "write `budget: 8000`, or `{context, reserve}`",
    "section": "outside a section's own `overflow`, a step names its `section`",
}
