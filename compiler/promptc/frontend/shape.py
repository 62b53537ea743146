"""Describes the faults of a manifest and of other pack files to their author: one finding for each mistake, at its place.

The `check_…_shape` functions check files against the schemas that promptc ships. The faults come from `schema.faults.iter_faults`; this
module adds words, places, and what to write instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from promptc.diag.findings import Diagnostic, Span, find_near, offer_names, shorten, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Literal
from promptc.files.paths import name_shipped
from promptc.frontend.schema.check import Verdicts
from promptc.frontend.schema.faults import Path, SchemaFault, SchemaWords, iter_faults, list_causes, list_rule_keys, suggest_value
from promptc.frontend.yaml import resolve_scalar
from promptc.model.state import Node

_PLENTY = 10**9
"""Fuel that never runs out: the shipped schemas apply a bounded number of times to each value, and manifests are small."""

_MOVES = ("before", "after")
_WORDS = SchemaWords("a mapping", "a string")
_MANIFEST = "the manifest"
_OLD_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

_NAMED = {
    "patches": "patch",
    "variants": "axis",
    "define": "definition",
    "let": "let",
    "stores": "store",
    "indexes": "index",
    "pools": "pool",
    "operations": "operation",
    "cases": "case",
}
_SILENT = ("sections", "cases", "tiers")
"""Keys that are left out of the name of a place, because what is under them and what contains them identify the place."""

_BY_ID = "write a mapping by id: `sections: {rules: {text: Be brief.}}`"
_STEPS = ("overflow", "truncate", "do")
_RANGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_EMPTY = ("minLength", "minItems", "minProperties", "maxItems", "maxLength", "maxProperties")

_EXAMPLES = {
    "promptc": "write `promptc: 1`",
    "name": "write `name: my-pack`",
    "version": "write `version: 1.0.0`",
    "tokenizer": (
        "write `tokenizer: o200k_base` for OpenAI's models from gpt-4o on, `cl100k_base` for older ones, or `chars/4` for an estimate "
        "for any other"
    ),
    "budget": "write `budget: 8000`, or `{context, reserve}`",
    "section": "add `section: …` with the id of a section; only a step in a section's own `overflow` needs none",
    "sections": "write `sections: [{id: rules, text: Be brief.}]`",
}

_FILES = ("file", "path", "src", "filename", "template_file", "template_path", "include")
_ALIASES = {
    "when": ("where",),
    **dict.fromkeys(("content", "body", "prompt", "value", "instructions", "instruction", "render", "string"), ("text",)),
    **dict.fromkeys(("message", "msg"), ("text", "else")),
    **dict.fromkeys(_FILES, ("template",)),
    **dict.fromkeys(("max_tokens", "tokens", "token_budget", "token_limit", "max_length", "context_window", "size", "max"), ("budget",)),
    **dict.fromkeys(("name", "key", "slug"), ("id",)),
    **dict.fromkeys(("if", "enabled", "show_if", "only_if"), ("when", "where", "that")),
    **dict.fromkeys(("filter", "condition", "select"), ("where", "when", "that")),
    **dict.fromkeys(("assert", "check", "expect", "test", "expr"), ("that",)),
    **dict.fromkeys(("order", "order_by", "sort_by", "sorted"), ("sort",)),
    **dict.fromkeys(("source", "data", "list", "in", "each", "foreach", "for", "loop"), ("from",)),
    **dict.fromkeys(("max_items", "count", "top", "take"), ("limit",)),
    **dict.fromkeys(("truncation", "on_overflow", "overflow_strategy"), ("overflow", "truncate")),
    **dict.fromkeys(("trim", "evict"), ("overflow",)),
    **dict.fromkeys(("schema", "state_schema", "inputs", "input_schema"), ("state",)),
    **dict.fromkeys(("variables", "vars", "locals", "constants"), ("let",)),
    **dict.fromkeys(("encoding", "tokeniser", "counter"), ("tokenizer",)),
    **dict.fromkeys(("join", "delimiter", "sep"), ("separator",)),
    **dict.fromkeys(("heading", "label"), ("title",)),
    "prefix": ("header",),
    **dict.fromkeys(("always", "locked", "sticky", "fixed"), ("pinned",)),
    **dict.fromkeys(("comment", "description", "notes"), ("note",)),
    **dict.fromkeys(("functions", "function"), ("tools",)),
    **dict.fromkeys(("response_format", "output_schema", "json_schema", "response_schema"), ("response",)),
    **dict.fromkeys(("macros",), ("define",)),
    **dict.fromkeys(("moods", "modes", "profiles"), ("variants",)),
    **dict.fromkeys(("assertions", "checks"), ("asserts",)),
    **dict.fromkeys(("blocks", "parts", "chunks"), ("sections",)),
    **dict.fromkeys(("delete", "unset", "drop"), ("remove",)),
    **dict.fromkeys(("push", "add"), ("append",)),
}
"""Keys of other tools and their counterparts here: the first that is known where the key is, or else the first known above or below it."""

_KEYLESS = {
    **dict.fromkeys(
        ("priority", "weight", "importance", "rank"),
        "remove it: no section has a priority. Sections give way in the order of `truncate`",
    ),
    **dict.fromkeys(("system", "user", "assistant"), "write a section with that role: `- {id: rules, role: system, text: Be brief.}`"),
    **dict.fromkeys(
        ("temperature", "top_p", "stop", "seed"), "remove it: a pack makes the prompt, and your program sets this when it sends the request"
    ),
    "section": "remove it: a step under `overflow` works on its own section",
    **dict.fromkeys(
        ("depth", "position", "injection_depth", "insert_at"),
        "remove it: sections stand as they are written; a text in a list is an element: `state.chat[:-4] + [state.note] + state.chat[-4:]`",
    ),
    **dict.fromkeys(("suffix", "footer", "after_text"), "write a fence around the content: `fence: {open: <notes>, close: </notes>}`"),
    "min_tokens": "write `budget: {min: 100}`",
    **dict.fromkeys(("max_chars", "max_characters"), "write `budget: {chars: 2000}`"),
    **dict.fromkeys(("strategy", "eviction", "cut_from"), "write the steps: `overflow: [trim: {}, evict: {}]`"),
    **dict.fromkeys(("reverse", "reversed"), "write `from: state.turns | reverse`"),
}
"""Keys of other tools that have no counterpart with another name."""

_MEANT = ("model",)
"""Keys that are known elsewhere, and mean that place rather than a similar name known here (`models`)."""

_SHORT_FORMS = {
    "window": "last",
    "state": "schema",
    "group": "by",
    "limit_per": "by",
    "dedupe": "by",
    "anchors": "where",
    "output": "format",
    "trim_each": "to",
    "vectors": "encoder",
    "engine": "url_env",
}
"""Keys that take a mapping, and the key inside it that an author means by a single value."""

_STEP_ALIASES = {
    **dict.fromkeys(("truncate", "truncation", "cut", "crop"), "trim"),
    **dict.fromkeys(("remove", "delete", "pop"), "evict"),
    **dict.fromkeys(("summarize", "summarise", "summary"), "recap"),
    **dict.fromkeys(("shrink", "compress"), "shorten"),
    "discard": "drop",
}
"""Names of other tools for steps."""

_ROLES = {**dict.fromkeys(("human", "customer", "player"), "user"), **dict.fromkeys(("ai", "bot", "model", "agent"), "assistant")}
_ENTRIES = {"keep": "{{where: {}}}", "asserts": "{{that: {}, else: …}}"}
"""Lists whose entries are mappings, and what an author means by a single value in place of an entry."""

_DIRECTIONS = ("asc", "desc", "ascending", "descending")
_STEP_NAMES = ("trim", "evict", "shorten", "lower", "recap", "replace", "drop", "fail")
_AMOUNT = re.compile(r"(\d[\d_, ]*(?:\.\d+)?) ?(k?)(?: ?(?:tokens?|tok|t))?", re.IGNORECASE)
_ALIKE = 0.8
_MOST_KEYS = 24
"""The most known keys that a help text lists."""


def check_pack_shape(node: Node) -> list[Diagnostic]:
    """Return what is wrong with a manifest under `schemas/pack.schema.json`, each finding at its key or value; empty if it is valid."""
    verdicts = _load_schema("pack")
    return _check_shape(node, verdicts.root, verdicts)


def check_effective_shape(manifest: Node) -> list[Diagnostic]:
    """Return what is wrong with a manifest after bases or variations were merged, when its parts must be complete.

    The manifest must have its sections by id.
    """
    verdicts = _load_schema("pack")
    return _check_shape(list_sections(manifest), verdicts.root["$defs"]["pack"], verdicts)


def check_segments_shape(node: Node, definition: Literal["file", "front"]) -> list[Diagnostic]:
    """Return what is wrong with a file of segments, or with the front matter of one, under `schemas/segments.schema.json`."""
    verdicts = _load_schema("segments")
    return _check_shape(node, verdicts.root["$defs"][definition], verdicts, "the file" if definition == "file" else "the segment")


def check_case_shape(node: Node, value: Any) -> list[Diagnostic]:
    """Return what is wrong with a `case.yaml` under `schemas/case.schema.json`. `value` is its plain value."""
    verdicts = _load_schema("case")
    return [] if verdicts.make_check(verdicts.root)(value, [_PLENTY]) else _check_shape(node, verdicts.root, verdicts, "the case")


@cache
def _load_schema(kind: str) -> Verdicts:
    """Return the verdicts of a shipped schema. Cached, because shipped files do not change while the compiler runs."""
    return Verdicts(json.loads(name_shipped("schemas", f"{kind}.schema.json").read_text(encoding="utf-8")))


def list_sections(manifest: Node) -> Node:
    """Return the manifest with its sections as a list, each with its `id` and without `before` and `after`; `extends` is removed."""
    values = {key: node for key, node in manifest.items() if key != "extends"}
    sections = manifest.get("sections")
    if sections is not None and isinstance(sections.value, dict):
        values["sections"] = replace(sections, value=tuple(_name(name, node, sections) for name, node in sections.items()))
    return replace(manifest, value=values)


def _name(name: str, section: Node, sections: Node) -> Node:
    if not isinstance(section.value, dict):
        return section
    values = {key: node for key, node in section.items() if key not in _MOVES}
    values.setdefault("id", Node(name, sections.key_span(name), section.folder, name))
    return replace(section, value=values)


def _check_shape(node: Node, schema: Mapping[str, Any], verdicts: Verdicts, whole: str = _MANIFEST) -> list[Diagnostic]:
    value = node.plain()
    if verdicts.make_check(schema)(value, [_PLENTY]):
        return []
    if whole == _MANIFEST and isinstance(value, dict) and value and not any(key in list_known(()) for key in value):
        message = "this is not a manifest: it has none of the keys of one, such as `promptc` and `sections`"
        help = "name the pack first and the state second, as in `promptc render PACK STATE`; a manifest begins with `promptc: 1`"
        return [Diagnostic("PC0202", message, node.span, help)]
    return _describe_pack_faults(node, iter_faults(verdicts, schema, value, [_PLENTY]), whole)


def _describe_pack_faults(node: Node, faults: Iterable[SchemaFault], whole: str) -> list[Diagnostic]:
    """Return the findings in the order of the file.

    A key that is missing because it is misspelled, or because another is all that its mapping has, is one finding, not two.
    `whole` is the name of `node` in messages.
    """
    causes = [cause for fault in faults for cause in list_causes(fault) if isinstance(cause.value, dict) or not list_rule_keys(cause)]
    extra = [cause for cause in causes if cause.keyword == "additionalProperties"]
    meant = {(cause.path[:-1], _guess_key(cause) or _name_sole_key(cause, node, whole)) for cause in extra}
    found = [_describe(cause, node, whole) for cause in causes if not any((cause.path, key) in meant for key in _iter_missing(cause))]
    return list(sort_diagnostics(found))


def _guess_key(fault: SchemaFault, cutoff: float = 0.6) -> str:
    """Return the known key that an unknown one probably means, by a similar spelling or as the name in another tool, or `""`."""
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else {}
    key = str(fault.path[-1])
    if _is_form(fault):
        return "text"
    if key == "budget" and _read_title(fault.schema).startswith("a pool "):
        return "max"
    if key.lower() in _ALIASES:
        return next((meant for meant in _ALIASES[key.lower()] if meant in known), "")
    return find_near(key, known, cutoff=cutoff) or ""


def _name_sole_key(fault: SchemaFault, root: Node, whole: str) -> str:
    """Return the key that a mapping of a manifest must have, if it must have one and has nothing but one unknown key; or else `""`."""
    needed = [*fault.schema.get("required", ())] if whole == _MANIFEST and isinstance(fault.schema, dict) else []
    return needed[0] if len(needed) == 1 and len(_find(root, fault.path[:-1]).value) == 1 else ""


def _is_form(fault: SchemaFault) -> bool:
    """Return whether a key was written to mark a form as a file; such a form is written without a key."""
    return _read_title(fault.schema) == "an inline form {text}" and str(fault.path[-1]).lower() in ("template", *_FILES)


def _iter_missing(fault: SchemaFault) -> Iterable[str]:
    if fault.keyword == "required":
        return [fault.wanted]
    rule = list_rule_keys(fault)
    return [] if any(key in fault.value for key in rule) else rule


def _describe(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    match fault.keyword:
        case "additionalProperties":
            return _describe_extra(fault, root, whole)
        case "required":
            around = _name_place(fault.path, root) or whole
            help = _EXAMPLES.get(fault.wanted, "") if (whole == _MANIFEST and not fault.path) or fault.wanted == "section" else ""
            own = fault.schema.get("properties", {}).get(fault.wanted, {}) if isinstance(fault.schema, dict) else {}
            help = help or (_show_example((*fault.path, fault.wanted)) if whole == _MANIFEST else _write_example(fault.wanted, own))
            return Diagnostic("PC0202", f"{around} is missing the key `{fault.wanted}`", _find(root, fault.path).span, help)
        case "dependentRequired":
            key, needed = fault.wanted
            help = _show_example((*fault.path, needed))
            return Diagnostic(
                "PC0202",
                f"{_name_place(fault.path, root) or whole} has `{key}`, but is missing `{needed}`",
                _find(root, fault.path).span,
                help,
            )
        case "propertyNames":
            key = str(fault.path[-1])
            wrong = _WORDS.describe(fault.branches[0][0])
            help = _mend_id(key, _read_title(fault.branches[0][0].schema))
            return Diagnostic("PC0205", f"the key `{shorten(key)}` {wrong}", _find(root, fault.path[:-1]).key_span(key), help)
        case "maxProperties" if fault.wanted == 1:
            return _describe_step(fault, root)
        case _:
            return _describe_rule(fault, root, whole) if list_rule_keys(fault) else _describe_value(fault, root, whole)


def _describe_extra(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    *around, key = fault.path
    container = _find(root, tuple(around))
    schema = fault.schema if isinstance(fault.schema, dict) else {}
    known = schema.get("properties", {})
    place = _name_place(tuple(around), root)
    code, what = "PC0201", f"unknown key `{shorten(str(key))}`"
    if schema.get("maxProperties") == 1 and _is_step(around):
        code, what = "PC0210", f"`{shorten(str(key))}` is not a step"
    left = [name for name in known if name not in container.value]
    if code == "PC0210":
        near = _STEP_ALIASES.get(str(key).lower(), "")
        help = f"promptc calls it `{near}`" if near in left else suggest(str(key), left)
    elif "sections" in left and key in _list_ids(root):
        help = f"a section is changed under `sections`: `sections: {{{key}: …}}`"
    else:
        sole = _name_sole_key(fault, root, whole) if find_near(str(key), left) is None else ""
        help = _mend_key(str(key), fault, root, whole) or (_show_example((*around, sole)) if sole else suggest(str(key), left))
        if left and help == offer_names(left[:1]) and len(known) > 1:
            help = f"one more key is possible: `{left[0]}`"
    if not help.startswith("promptc") and not str(key).isascii():
        odd = next(sign for sign in str(key) if not sign.isascii())
        help = f"{help} The key holds `{odd}`, U+{ord(odd):04X}".lstrip()
    if not help:
        help = offer_names(left) if len(left) <= _MOST_KEYS else ""
    if whole == _MANIFEST:
        help = _add_block(help, container.key_span(str(key)), root)
    return Diagnostic(code, f"{what}{_inside(place)}", container.key_span(str(key)), help)


def _add_block(help: str, key: Span, root: Node) -> str:
    """Return the help for an unknown key, extended if the key follows a block of text.

    After a `|` or `>` block, the key's line may be a line of that text which is not indented enough.
    """
    last = max(
        (node.span for node in _iter_texts(root) if node.span.file == key.file and node.span.line < key.line), key=_place, default=None
    )
    if last is None or not re.search(r"(?:^|[:-] +)[|>][-+0-9]{0,2} *(?:#.*)?$", last.excerpt):
        return help
    more = f"indent the line further, if it belongs to the text that begins in line {last.line}"
    return f"{help.rstrip('?')}? Or {more}" if help.endswith("?") else "; or ".join(filter(None, (help, more)))


def _place(span: Span) -> tuple[int, int]:
    return span.line, span.column


def _iter_texts(node: Node) -> Iterator[Node]:
    """Yield the scalars of a value."""
    if isinstance(node.value, dict | tuple):
        for inner in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from _iter_texts(inner)
    else:
        yield node


def _mend_key(key: str, fault: SchemaFault, root: Node, whole: str) -> str:
    """Return what to write instead of an unknown key, or an empty text if nothing is likely.

    The help is a key with a similar name, the counterpart of another tool's key, or the place of a key that belongs elsewhere.
    """
    around, near = fault.path[:-1], _guess_key(fault, _ALIKE)
    container = _find(root, around)
    if _is_form(fault):
        return f"a form is the name of a file alone, `- {_spell(_find(root, fault.path)) or 'form.md.j2'}`, or `- {{text: …}}`"
    if near and key.lower() in _ALIASES and near in _ALIASES[key.lower()]:
        if near in container.value:
            return f"promptc calls it `{near}`, which is here already: keep one of the two"
        if near == "overflow" and key in _STEP_NAMES:
            return f"a step is an entry of `overflow`: write `overflow: [{key}: {{}}]`"
        if near == "sort" and _spell(_find(root, fault.path)).lower() in _DIRECTIONS:
            return "promptc calls it `sort`: write `sort: {by: item.score, desc: true}`"
        return f"promptc calls it `{near}`{_show_entry(near, _find(root, fault.path))}"
    if near and key not in _MEANT:
        return f"did you mean `{near}`?"
    if whole != _MANIFEST:
        return ""
    for name in (key, *_ALIASES.get(key.lower(), ())):
        elsewhere = _locate_key(name, around, root)
        if elsewhere:
            called = "" if name == key else f"promptc calls it `{name}`: "
            return f"{called}{elsewhere}"
    told = _KEYLESS.get(key.lower(), "")
    inside = [top for top in list_known(()) if key in list_known((top,))] if around and not told else []
    if len(inside) == 1 and inside[0] not in around:
        return f"`{key}` belongs under `{inside[0]}`, next to `sections`"
    return f"{told}{_show_order(root)}" if told.endswith("`truncate`") else told


def _show_order(root: Node) -> str:
    """Return where the manifest orders what gives way first, or else how it could."""
    if root.get("truncate") is not None:
        return f" (line {root.key_span('truncate').line})"
    ids = _list_ids(root)
    return f": `truncate: [{', '.join(ids[:2])}]`" if len(ids) > 1 else ""


def _list_ids(root: Node) -> list[str]:
    """Return the ids of the manifest's sections, as far as it has any."""
    sections = root.get("sections")
    entries = sections.value if sections is not None and isinstance(sections.value, tuple) else ()
    ids = [found.value for entry in entries if isinstance(entry.value, dict) and (found := entry.get("id")) is not None]
    return [id for id in ids if isinstance(id, str) and id]


def _show_entry(key: str, node: Node) -> str:
    """Return `: write …`, with the given value if it is short."""
    value = _spell(node) or "…"
    return f": write `{key}: {f'{{{_SHORT_FORMS[key]}: {value}}}' if key in _SHORT_FORMS else value}`"


def _spell(node: Node) -> str:
    """Return a short plain value in the form that YAML reads anywhere, or an empty text for any other value."""
    if isinstance(node.value, dict | tuple) or not node.raw or len(node.raw) > 40 or not node.raw.isprintable():
        return ""
    is_plain = not isinstance(node.value, str) or re.fullmatch(r"[\w./-](?:[\w .,/()-]*[\w./()-])?", node.raw)
    return node.raw if is_plain else json.dumps(node.raw, ensure_ascii=False)


def _locate_key(key: str, around: Path, root: Node) -> str:
    """Return where a key belongs that is known some levels above or one level below `around`; empty if it is known at neither."""
    for stop in range(len(around) - 1, -1, -1):
        if isinstance(_find(root, around[:stop]).value, dict) and key in list_known(around[:stop]):
            beside = around[stop]
            if beside == key:
                return ""
            return f"`{key}` belongs to {_name_place(around[:stop], root) or 'the manifest'}, next to `{shorten(str(beside))}`"
    here = list_known(around)
    there = _find(root, around).value
    for inner in sorted(here, key=lambda name: (name not in there, name not in ("sections", "items", "output", "window"), name)):
        if key in list_known((*around, inner)):
            deeper = there[inner].get(key) if inner in there and isinstance(there[inner].value, dict) else None
            if deeper is not None:
                return f"`{key}` belongs under `{inner}`, which has one already (line {deeper.span.line}): keep one of the two"
            return f"`{key}` belongs under `{inner}`: `{inner}: {{{key}: …}}`"
        if inner == "sections" and key in list_known((*around, inner, 0)):
            return f"`{key}` belongs to a section: write it in an entry of `sections`, next to its `id`"
    return ""


def list_forms(path: Path, root: Literal["pack", "extension"] = "pack") -> list[dict[str, Any]]:
    """Return the schemas for the value at a path of a manifest: every form that it may take, with the targets of references.

    With `extension` as `root`, the manifest is that of a pack that extends another.
    """
    verdicts = _load_schema("pack")
    schemas = list(_iter_forms(verdicts, verdicts.root["$defs"][root]))
    for step in path:
        inner = [_step_into(schema, step) for schema in schemas]
        schemas = [form for schema in inner if schema is not None for form in _iter_forms(verdicts, schema)]
    return schemas


def list_known(path: Path, root: Literal["pack", "extension"] = "pack") -> dict[str, Any]:
    """Return the keys that the manifest's schema knows at a path, each with its schema."""
    return {key: value for schema in list_forms(path, root) for key, value in schema.get("properties", {}).items()}


def _iter_forms(verdicts: Verdicts, schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all schemas that it may refer to for the same value."""
    if not isinstance(schema, dict):
        return
    yield schema
    if "$ref" in schema:
        yield from _iter_forms(verdicts, verdicts.references.find(schema["$ref"]))
    for word in ("anyOf", "oneOf"):
        for inner in schema.get(word, ()):
            yield from _iter_forms(verdicts, inner)


def _step_into(schema: dict[str, Any], step: str | int) -> Any:
    if isinstance(step, int):
        return schema.get("items")
    return schema.get("properties", {}).get(step, schema.get("additionalProperties") or None)


def _describe_rule(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    """Describe keys that exclude each other, or of which one is required."""
    node = _find(root, fault.path)
    present = [key for key in node.value if key in list_rule_keys(fault)]
    place = _name_place(fault.path, root) or whole
    titled = _read_title(fault.schema) if fault.path else ""  # the root has a heading
    title = titled or f"one of {_join_and(list_rule_keys(fault))}"
    has = _join_and(present) if present else "none of them"
    return Diagnostic(
        "PC0207", f"{place} takes {title}, and has {has}", node.key_span(present[-1]) if present else node.span, _mend_rule(present, fault)
    )


def _mend_rule(present: list[str], fault: SchemaFault) -> str:
    if not present and "section" in list_rule_keys(fault):
        return _EXAMPLES["section"]
    return "keep one of them" if len(present) > 1 else "remove it" if present else "give one of them"


def _describe_step(fault: SchemaFault, root: Node) -> Diagnostic:
    node = _find(root, fault.path)
    keys = [shorten(key) for key in node.value]
    names = _join_and(keys) if len(keys) < 4 else f"{_join_and(keys[:2])} among them"
    message = f"{_name_place(fault.path, root)} has {len(keys)} keys, {names}; it takes one"
    help = "begin each step with its own `-`" if _is_step(fault.path) else "keep one of them"
    return Diagnostic("PC0210", message, node.key_span(list(node.value)[1]), help)


def _describe_value(fault: SchemaFault, root: Node, whole: str) -> Diagnostic:
    node = _find(root, fault.path)
    name = _name_place(fault.path, root) or whole
    if not fault.path:
        help = "begin with `promptc: 1`" if whole == _MANIFEST else ""
        message = f"{whole.replace('the', 'a', 1)} is a mapping of keys, not {_WORDS.show(fault.value)}"
        return Diagnostic("PC0203", message, node.span, help)
    message = f"{name} {_WORDS.describe(fault, node.raw if isinstance(fault.value, (int, float)) else '')}"
    if fault.path == ("promptc",) and isinstance(fault.value, int):
        return Diagnostic(
            "PC0211",
            f"the pack is written in version {_WORDS.show(fault.value)} of the language; this promptc reads version 1",
            node.span,
            "write `promptc: 1`, or install a newer promptc",
        )
    if isinstance(fault.value, (dict, list)) and _takes_expression(fault):
        is_one = isinstance(node.value, tuple) and len(node.value) == 1 and isinstance(node.value[0].value, str)
        only = _spell(node.value[0]) if is_one else ""
        bare = f"write `{fault.path[-1]}: {only}`; or " if only else ""
        return Diagnostic("PC0208", message, node.span, f'{bare}quote a Jinja list or mapping: `"[…]"`, `"{{…}}"`')
    code = _choose_code(fault)
    if fault.path == ("budget",) and re.fullmatch(r"[\d.]+ *%", str(node.value)[:40]):
        help = "write a number of tokens, such as `budget: 13000`: a section's budget may be a share of it, the total itself may not"
        return Diagnostic(code, message, node.span, help)
    is_told = whole != _MANIFEST or code == "PC0204"  # the message itself lists the values
    help = _mend(fault, node) or ("" if is_told else _show_example(fault.path))
    if fault.path[:1] == ("sections",) and fault.path[2:] == ("id",) and help:
        help += _name_stray(root)
    return Diagnostic(code, message, node.span, help)


def _name_stray(root: Node) -> str:
    """Return the name in `truncate` that no section has, which must be renamed with an id; empty unless there is exactly one."""
    sections, truncate = root.get("sections"), root.get("truncate")
    if sections is None or truncate is None or not isinstance(sections.value, tuple) or not isinstance(truncate.value, tuple):
        return ""
    known = [found.value for entry in sections.value if isinstance(entry.value, dict) and (found := entry.get("id")) is not None]
    stray = [one for one in truncate.value if isinstance(one.value, str) and one.value not in (*known, "tools")]
    if len(stray) != 1:
        return ""
    return f"; `truncate` names `{shorten(stray[0].raw)}` (line {stray[0].span.line}), which is not the id of a section"


def _show_example(path: Path) -> str:
    """Return a correct use of the key at a path, from the manifest's schema, or an empty text if the schema has no short example."""
    if not path or not isinstance(path[-1], str):
        return ""
    return _write_example(path[-1], list_known(path[:-1]).get(path[-1], {}))


def _write_example(key: str, schema: Any) -> str:
    shown = [_write_flow(example) for example in schema.get("examples", ())] if isinstance(schema, dict) else []
    short = [one for one in shown if len(one) <= 60]
    return f"write, for example, `{key}: {short[0]}`" if short else ""


def _read_title(schema: Any) -> str:
    return str(schema.get("title", "")) if isinstance(schema, dict) else ""


def _write_flow(value: Any) -> str:
    """Return a value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_write_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_write_flow, value)) + "]"
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w.%/ -]*[\w.%]|[A-Za-z]", value) and resolve_scalar(value) == value
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _takes_expression(fault: SchemaFault) -> bool:
    schemas = [fault.schema, *(inner.schema for branch in fault.branches for inner in branch)]
    return any(isinstance(schema, dict) and schema.get("title") == "an expression" for schema in schemas)


def _choose_code(fault: SchemaFault) -> str:
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
    if fault.path == ("version",) and isinstance(node.value, int | float):
        return f'quote it, with three numbers: `"{node.raw}{".0" if isinstance(node.value, float) else ".0.0"}"`'
    if fault.keyword == "enum" and str(node.value).lower() in _ROLES and _ROLES[str(node.value).lower()] in fault.wanted:
        return f"write `{_ROLES[str(node.value).lower()]}`"
    shorter = _mend_entry(fault, node) or _mend_shape(fault, node)
    if shorter:
        return shorter
    if wants == "string" and node.raw and not isinstance(node.value, str) and "pattern" not in schema:
        return f'quote it: `"{node.raw}"`'
    if fault.keyword == "pattern":
        return _mend_id(str(node.value), _read_title(schema))
    if "a bound such as" in _read_title(schema) and (number := re.search("[0-9]{1,9}", str(node.value)[:40])):
        return f'write, for example, `{fault.path[-1]}: ">= {number[0]}"`'
    return _mend_amount(fault, node) or suggest_value(fault)


def _mend_entry(fault: SchemaFault, node: Node) -> str:
    """Return the help for an entry of a list or a mapping that has the wrong shape."""
    *_, around, key = ("", *fault.path)
    value, raw = node.value, _spell(node)
    if around in _STEPS and isinstance(value, tuple):
        return f"write one `-`: `- {_spell(value[0])}`" if len(value) == 1 and _spell(value[0]) else "begin each step with one `-`"
    if around in _STEPS and isinstance(value, str) and value.partition(" ")[0] in _STEP_NAMES:
        name = value.partition(" ")[0]
        return _show_example((*fault.path, name)) or f"write `{name}: {{…}}`"
    if raw and (around in _ENTRIES or key in _ENTRIES) and isinstance(value, str):
        entry = _ENTRIES[str(around if around in _ENTRIES else key)].format(raw)
        return f"write `- {entry}`" if around in _ENTRIES else f"write a list: `{key}: [{entry}]`"
    if around == "stores" and raw:
        return f"write `{key}: {{url: {raw}}}`"
    if fault.path[:1] == ("tools",) and isinstance(value, dict):
        return "put the tool into a file of its own, as JSON, and name the file: `tools: [tools/find.json]`"
    return ""


def _mend_shape(fault: SchemaFault, node: Node) -> str:
    """Return the help for a value of the wrong shape: a single value for a mapping or list, a mapping for a list, or a list for a text."""
    key, value = str(fault.path[-1]), node.value
    is_plain = not isinstance(value, dict | tuple) and value is not None and len(node.raw) <= 40
    if key in _SHORT_FORMS and is_plain and not isinstance(value, bool):
        return f"write `{key}: {{{_SHORT_FORMS[key]}: {node.raw}}}`"
    if fault.keyword == "type" and fault.wanted == "array":
        if key == "truncate" and " - " in node.raw:
            return f"begin each entry with its own `- `, or write `truncate: [{', '.join(node.raw.split(' - '))}]`"
        if key == "order" and fault.path[-2:-1] != ("expect",):
            is_default = value in ("oldest", "oldest first")
            return "leave `order` out: the oldest go first" if is_default else "write a list of conditions: `order: [item.kind == 'note']`"
        if key in _STEPS and isinstance(value, str) and (value in _STEP_NAMES or key != "truncate"):
            return f"write a list of steps: `{key}: [{value if value in _STEP_NAMES else 'evict'}: {{}}]`"
        if key in _STEPS and isinstance(value, dict) and set(value) <= set(_STEP_NAMES):
            return f"write a list of steps, each with its own `-`: `- {next(iter(value), 'evict')}: {{…}}`"
        if fault.path == ("sections",):
            return "write a list, each section with its `id`: `- {id: rules, text: Be brief.}`"
        return f"write a list: `{key}: [{node.raw}]`" if is_plain else ""
    if key == "pools" and isinstance(value, tuple) and fault.wanted == "object":
        return "write a mapping by name: `pools: {memory: {sections: [facts, lore], max: 4000, overflow: [lore, facts]}}`"
    if key == "sections" and isinstance(value, tuple) and fault.wanted == "object":
        first = value[0].get("id") if value and isinstance(value[0].value, dict) else None
        return f"write a mapping by id: `sections: {{{first.raw}: {{…}}}}`" if first is not None and first.raw else _BY_ID
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0].value, dict) and fault.wanted == "object":
        return f"write the mapping itself, without a list around it: `{key}: {{…}}`"
    if isinstance(value, tuple) and fault.keyword == "type" and fault.wanted == "string":
        is_file = "file" in _read_title(fault.schema)
        only = _spell(value[0]) if len(value) == 1 else ""
        return f"name one file: `{key}: {only or 'rules.md.j2'}`" if is_file else f"write one string; several lines go under `{key}: |`"
    return ""


def _mend_id(text: str, title: str) -> str:
    """Return the nearest valid id: `known_facts` for `Known-Facts`."""
    if title.startswith("a JSON pointer"):
        return f"write `/{text.strip('/').replace('.', '/')}`" if re.fullmatch(r"[\w/.-]{1,60}", text) else ""
    joint = {"an id": "_", "a pack": "-"}.get(title.partition(":")[0].partition("'")[0])
    if joint is None:
        return ""
    made = re.sub(r"[^a-z0-9]+", joint, text.lower()).strip(joint)
    return f"write `{made}`" if made and made[0].isalpha() and len(made) <= 60 else ""


def _mend_amount(fault: SchemaFault, node: Node) -> str:
    """Return the help for a number with a unit, in quotes or written as a fraction, where a size or a number is required."""
    kinds = {inner.wanted for inner in _iter_inner(fault) if inner.keyword == "type" and isinstance(inner.wanted, str)}
    if isinstance(node.value, float) and 0 < node.value < 1 and any(_has_pattern(inner.schema) for inner in _iter_inner(fault)):
        return f"a share of the total is written with `%`: `{fault.path[-1]}: {round(node.value * 100)}%`"
    if fault.keyword == "maximum" and fault.wanted == 1 and isinstance(node.value, int) and 1 < node.value <= 100:
        return f"write a share from 0 to 1: `{fault.path[-1]}: {node.value / 100:g}`"
    if not kinds & {"integer", "number"} or not isinstance(node.value, str):
        return ""
    given = node.value.strip()[:40]
    if share := re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%", given):
        if not any(_has_pattern(inner.schema) for inner in _iter_inner(fault)):
            return f"write a share from 0 to 1: `{fault.path[-1]}: {float(share[1]) / 100:g}`"
        return f"a share is at most the whole: `{fault.path[-1]}: 100%`" if float(share[1]) > 100 else ""
    if noted := re.fullmatch(r"([0-9]+)(#.*)", given):
        return f"write a space before `#`, where a comment begins: `{fault.path[-1]}: {noted[1]} {shorten(noted[2], 20)}`"
    found = _AMOUNT.fullmatch(given)
    if found is None:
        return ""
    plain = re.sub(r"[_, ]", "", found[1])
    if not found[2] and "." in plain:
        return f"write it without quotes: `{fault.path[-1]}: {plain}`" if "number" in kinds else ""
    number = round(float(plain) * (1000 if found[2] else 1))
    return f"write the number alone, without quotes: `{fault.path[-1]}: {number}`"


def _has_pattern(schema: Any) -> bool:
    return isinstance(schema, dict) and "pattern" in schema


def _iter_inner(fault: SchemaFault) -> Iterator[SchemaFault]:
    """Yield a fault and those of its alternatives, recursively."""
    yield fault
    for branch in fault.branches:
        for inner in branch:
            yield from _iter_inner(inner)


def _find(root: Node, path: Path) -> Node:
    node = root
    for step in path:
        inner: Any = node.value[step]
        node = inner
    return node


def _name_place(path: Path, root: Node) -> str:
    """Return the name of a value, such as "`window` of `items` of section `recent`" or "step 2 of `overflow`"; empty for the root."""
    parts: list[str] = []
    for stop in range(len(path), 0, -1):
        part, named = _name_step(path[:stop], root) if stop == len(path) or path[stop - 1] not in _SILENT else ("", False)
        parts.append(part)
        if named:
            break
    return " of ".join(part for part in parts if part)


def _name_step(path: Path, root: Node) -> tuple[str, bool]:
    """Return the name of a path's last step, and whether that name identifies the place without its parents."""
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
    """Return the name of an entry: its key or its own name, or else its number."""
    if isinstance(step, str):
        return f"`{shorten(step)}`"
    named = node.get(key)
    return f"`{shorten(named.value)}`" if named is not None and isinstance(named.value, str) else f"number {step + 1}"


def _is_step(path: Sequence[str | int]) -> bool:
    return len(path) > 1 and isinstance(path[-1], int) and path[-2] in _STEPS


def _inside(place: str) -> str:
    return f" in {place}" if place else ""


def _join_and(keys: Sequence[str]) -> str:
    *first, last = [f"`{key}`" for key in keys]
    return f"{', '.join(first)} and {last}" if first else last
