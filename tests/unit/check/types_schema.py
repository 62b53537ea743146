"""A state schema with something of everything, and a way to ask what `check` says of one text."""

import json
from pathlib import Path
from typing import Any

import promptc
from promptc.check.configurations import list_configurations
from promptc.check.rules.reads import check_reads
from promptc.diag.findings import Diagnostic

PERSON = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "age"],
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "nick": {"type": "string"},
        "mood": {"enum": ["calm", "tense"], "default": "calm"},
        "friends": {"type": "array", "items": {"$ref": "#/$defs/person"}, "default": []},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "name",
        "hp",
        "ratio",
        "on",
        "tags",
        "numbers",
        "people",
        "mood",
        "owner",
        "either",
        "shape",
        "shapes",
        "maybe",
        "maybe_list",
        "maybe_person",
        "pair",
        "grid",
        "full",
        "names",
        "free",
        "any",
        "open",
        "id",
        "tree",
        "both",
        "when",
        "at",
        "events",
        "mixed",
        "rule",
        "gone",
        "some",
    ],
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "hp": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "number"}},
        "people": {"type": "array", "items": {"$ref": "#/$defs/person"}},
        "mood": {"enum": ["calm", "tense"]},
        "owner": {"$ref": "#/$defs/person"},
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "shape": {"$ref": "#/$defs/shape"},
        "shapes": {"type": "array", "items": {"$ref": "#/$defs/shape"}},
        "maybe": {"type": ["string", "null"]},
        "maybe_list": {"type": ["array", "null"], "items": {"type": "string"}},
        "voids": {"type": "array", "items": {"type": ["string", "null"]}, "default": []},
        "card": {
            "type": "object",
            "additionalProperties": False,
            "required": ["front"],
            "properties": {"front": {"type": ["integer", "null"]}, "back": {"type": "string"}},
            "default": {"front": 1},
        },
        "maybe_person": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "full": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "names": {"type": "object", "additionalProperties": {"$ref": "#/$defs/person"}},
        "free": {"type": "object"},
        "any": True,
        "open": {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]},
        "id": {"type": ["integer", "string"]},
        "tree": {"$ref": "#/$defs/tree"},
        "both": {"allOf": [{"$ref": "#/$defs/aged"}, {"properties": {"height": {"type": "number"}}, "required": ["height"]}]},
        "when": {"type": "string"},
        "at": {"type": "string", "format": "date-time"},
        "events": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "day"],
                "properties": {"at": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"}},
            },
        },
        "mixed": {"type": "array", "items": {"type": ["string", "number"]}},
        "rule": {
            "type": "object",
            "properties": {"kind": {"type": "string"}},
            "required": ["kind"],
            "if": {"properties": {"kind": {"const": "deep"}}},
            "then": {"properties": {"deep": {"type": "string"}}, "required": ["deep"]},
        },
        "gone": {"type": "null"},
        "some": {"type": "object", "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
        "resume": {"type": "string"},
        "title": {"type": "string", "default": "untitled"},
        "unset": {"type": ["string", "null"], "default": None},
        "guest": {"$ref": "#/$defs/person"},
        "log": {"type": "array", "items": {"type": "string"}},
        "items": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "$defs": {
        "person": PERSON,
        "aged": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]},
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}, "label": {"type": "string"}},
                    "required": ["kind", "radius"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                    "required": ["kind", "side"],
                    "additionalProperties": False,
                },
            ]
        },
        "tree": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "inner": {"type": "array", "items": {"$ref": "#/$defs/tree"}, "default": []}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
}


def ask(folder: Path, manifest: str, files: dict[str, str] | None = None, schema: Any = None) -> list[Diagnostic]:
    """What the rule of kinds says of a pack."""
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 1000\nstate: {schema: s.json}\n"
    (folder / "s.json").write_text(json.dumps(SCHEMA if schema is None else schema, indent=1), encoding="utf-8")
    (folder / "pack.yaml").write_text(head + manifest, encoding="utf-8")
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    model = promptc.load(folder).model
    return sorted(check_reads(model, list_configurations(model)), key=lambda one: (str(one.span), one.code))


def ask_text(folder: Path, text: str, files: dict[str, str] | None = None, schema: Any = None) -> list[Diagnostic]:
    """The same of one template file."""
    return ask(folder, "sections: [{id: lore, template: lore.md.j2}]\n", {"lore.md.j2": text, **(files or {})}, schema)
