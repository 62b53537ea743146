"""Complete schemas/pack.schema.json: generate the definitions that follow from others.

The definitions of a pack are written by hand. This tool generates two kinds from them: the same definitions in parts, for variations and
`extends` (`…_part`: nothing is required, null removes a key), and steps that name their section (`truncate_…`, `tier_…`). With --check,
check whether the file is what this tool would write.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

FILE = Path(__file__).resolve().parents[1] / "schemas" / "pack.schema.json"
WIDTH = 260
REF = "#/$defs/"
SHARED = ("promptc", "name", "version", "extends")
FIXED = ("id",)
LADDER = ("trim", "evict", "shorten", "lower", "recap", "replace", "drop", "fail")
TIER = ("trim", "recap", "replace", "drop", "fail")
LISTED = frozenset(
    "pack section_parts assert tier chosen_cases boost sort_key one_sort_key inline_form message_group edit claim kept ladder_step "
    "redaction redacted_pattern".split()
)
"""Definitions that vary by nature, or occur only in lists, which are replaced as a whole."""

SECTION: Schema = {"description": "The section that the step works on.", "examples": ["retrieval"], "$ref": REF + "id"}
SECTIONS: Schema = {
    "description": "Sections that lose items in one order, by `by` or `order`. If two are equal, the section named first loses its item.",
    "examples": [["facts", "lore"]],
    "$ref": REF + "different_ids",
}
USE: Schema = {"description": "A patch to apply. The sections are then selected again.", "examples": ["short"], "$ref": REF + "id"}


def complete(schema: Schema) -> Schema:
    """Return the schema with its generated definitions made again, after those written by hand."""
    written = {name: body for name, body in schema["$defs"].items() if not is_made(name)}
    made: dict[str, Schema] = {"extension": _make_extension(written)}
    for name in LADDER:
        made[f"truncate_{name}"] = _place(written[name]) if name != "evict" else _place_in_several(written[name])
    made["truncate_step"] = _make_step(written["ladder_step"], LADDER, "truncate")
    for name in TIER:
        made[f"tier_{name}"] = _end(_place(written[name]), name)
    made["tier_step"] = _make_step(written["ladder_step"], TIER, "tier")
    made["tier_step"]["properties"]["use"] = USE
    made["tier_step"]["title"] = f"a step that runs once: a mapping with one of {', '.join((*TIER, 'use'))}"
    for name, body in written.items():
        if _has_parts(name, written) and not _is_parted(name):
            made[f"{name}_part"] = _make_part(body, written)
    return {**schema, "$defs": {**written, **made}}


def is_made(name: str) -> bool:
    steps = {*(f"truncate_{step}" for step in LADDER), *(f"tier_{step}" for step in TIER), "truncate_step", "tier_step"}
    return name == "extension" or name.endswith("_part") or name in steps


def _is_parted(name: str) -> bool:
    return name in LADDER or name in LISTED


def _has_parts(name: str, written: dict[str, Schema]) -> bool:
    body = written.get(name, {})
    branches = [branch.get("$ref", "").removeprefix(REF) for branch in body.get("anyOf", ())]
    return body.get("type") == "object" or any(_has_parts(branch, written) for branch in branches)


def _make_part(body: Schema, written: dict[str, Schema]) -> Schema:
    if "anyOf" in body and "properties" not in body:
        return {**body, "anyOf": [_refer(branch, written) for branch in body["anyOf"]]}
    part = {key: value for key, value in body.items() if key not in ("required", "dependentRequired", "minProperties", "allOf", "anyOf")}
    if "properties" in body:
        part["properties"] = {key: value if key in FIXED else _loosen(value, written) for key, value in body["properties"].items()}
    if isinstance(body.get("additionalProperties"), dict):
        part["additionalProperties"] = _loosen(body["additionalProperties"], written)
    rules = [_relax(written[rule["$ref"].removeprefix(REF)]) for rule in body.get("allOf", ())]
    return {**part, "allOf": rules} if rules else part


def _relax(rule: Schema) -> Schema:
    """Turn "exactly one" into "at most one": the others may be in what is varied."""
    if "oneOf" not in rule:
        return rule
    return {"title": rule["title"].replace("exactly", "at most"), "oneOf": [*rule["oneOf"], {"not": {"anyOf": rule["oneOf"]}}]}


def _loosen(value: Schema, written: dict[str, Schema]) -> Schema:
    """Return a schema that accepts the same values, and null."""
    if value.get("$ref") == REF + "expression" or {"type": "null"} in value.get("anyOf", ()):
        return value
    notes: Schema = {key: value[key] for key in ("description", "examples") if key in value}
    bare = _refer({key: item for key, item in value.items() if key not in (*notes, "default")}, written)
    return {**notes, "anyOf": [bare, {"type": "null"}]}


def _refer(value: Schema, written: dict[str, Schema]) -> Schema:
    name = value.get("$ref", "").removeprefix(REF)
    return {**value, "$ref": f"{REF}{name}_part"} if _has_parts(name, written) and not _is_parted(name) else value


def _make_extension(written: dict[str, Schema]) -> Schema:
    pack = written["pack"]
    properties = {key: value if key in SHARED else _loosen(value, written) for key, value in pack["properties"].items()}
    properties["sections"] = {
        "description": "Changes to the sections of the base, by id. A new id adds a whole section, which needs `before` or `after`.",
        "examples": [{"rules": {"template": "rules.md.j2"}}],
        "$ref": REF + "section_parts",
    }
    described = "A manifest that extends another one. Its keys change those of the base."
    return {**pack, "title": "a pack that extends another", "description": described, "required": list(SHARED), "properties": properties}


def _place(step: Schema) -> Schema:
    """Return the step with a key that names its section."""
    required = ["section", *step.get("required", ())]
    placed = {key: value for key, value in step.items() if key not in ("required", "properties", "allOf")}
    if "section" not in placed["title"]:
        placed["title"] = placed["title"].replace("{}, for it has no keys of its own", "{section}") + " of a section"
    rules = {"allOf": step["allOf"]} if "allOf" in step else {}
    return {**placed, "required": required, "properties": {"section": SECTION, **step["properties"]}, **rules}


def _place_in_several(step: Schema) -> Schema:
    """Return the step with a key that names its section, or several sections that share one order."""
    placed = _place(step)
    properties = {"section": SECTION, "sections": SECTIONS, **step["properties"]}
    rules = [{"$ref": REF + "section_or_sections"}, *step["allOf"]]
    return {**{key: value for key, value in placed.items() if key != "required"}, "properties": properties, "allOf": rules}


def _end(step: Schema, name: str) -> Schema:
    """Return a step for a tier, in which a step says its own end: a trim goes down to `to`."""
    if name != "trim":
        return step
    properties = {key: value for key, value in step["properties"].items() if key != "floor"}
    return {**step, "required": ["section", "to"], "properties": properties, "allOf": [{"$ref": REF + "order_or_by"}]}


def _make_step(step: Schema, names: tuple[str, ...], where: str) -> Schema:
    properties = {name: _example(step["properties"][name], f"{where}_{name}") for name in names}
    title = f"a step: a mapping with one of {', '.join(names)}"
    return {**step, "title": title, "properties": properties}


def _example(value: Schema, name: str) -> Schema:
    """Return the property of a step with a section in its examples."""
    ended = {"to": {"chars": 800}} if name == "tier_trim" else {}
    examples = [
        {"section": "recent", **{key: item for key, item in example.items() if not ended or key != "floor"}, **ended}
        for example in value["examples"]
    ]
    return {**value, "examples": examples, "$ref": REF + name}


def render(value: Any, indent: str = "", room: int = WIDTH) -> str:
    """Return a value as JSON, with everything on one line that fits on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or len(indent) + len(flat) <= room:
        return flat
    inner = indent + "  "
    if isinstance(value, dict):
        entries = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {render(item, inner, room - len(key) - 4)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + render(item, inner, room) for item in value) + f"\n{indent}]"


def main() -> int:
    """Write the file, or with --check report whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is out of date")
    old = FILE.read_text(encoding="utf-8")
    new = render(complete(json.loads(old))) + "\n"
    if parser.parse_args().check:
        if old != new:
            sys.stderr.write("schemas/pack.schema.json is out of date: run tools/make_pack_schema.py\n")
        return int(old != new)
    FILE.write_text(new, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
