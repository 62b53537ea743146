"""What a pack offers beside messages, counted by the libraries themselves."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from promptc.text.cutting import iter_gaps
from tests.property.oracle.counting import count

WHITE = "".join(char for char in map(chr, range(0x110000)) if char.isspace()) + "\ufeff"
"""White space, by contract.md §3."""

_NOTES = ("title", "description", "examples", "$comment")
_INNER = ("items", "additionalProperties")
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")


def list_offered(manifest: Mapping[str, Any], files: Mapping[str, str]) -> list[Any]:
    """The tools that are no items, and the response schema of a manifest, as they are in their files."""
    listed = manifest.get("tools") or ()
    names = [*(listed if isinstance(listed, list) else ()), *([manifest["response"]] if manifest.get("response") else [])]
    return [json.loads(files[name]) for name in names]


# contract 8.37 and 8.38
def fold_tools(manifest: dict[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """The manifest with its tools, where they are items, as the first of its sections."""
    tools = manifest.get("tools")
    if not isinstance(tools, dict):
        return manifest
    outer = {key: tools[key] for key in ("when", "pinned", "budget", "overflow") if key in tools}
    items = {key: value for key, value in tools.items() if key not in (*outer, "forms")}
    source = [json.loads(files[name]) for name in tools["from"]] if isinstance(tools["from"], list) else tools["from"]
    forms = tools.get("forms", ["full"])
    items = {"id": "item.name", **items, "from": source, "forms": forms, "tool": True}
    others = {key: value for key, value in manifest.items() if key != "tools"}
    return {**others, "sections": [{"id": "tools", "role": "system", **outer, "items": items}, *manifest["sections"]]}


# contract 8.38 and 8.39
def shape_tool(value: Mapping[str, Any], form: str, guard: Callable[[Any], Any]) -> dict[str, Any]:
    """What is shown of the tool that an item is, in a form; `guard` keeps its texts from being read as structure."""
    tool = value.get("function", value)
    schema = guard(next(tool[key] for key in _SCHEMAS if key in tool))
    description = guard(tool.get("description", ""))
    if form == "name":
        return {"name": tool["name"], "input_schema": {"type": "object", "properties": {}}}
    if form == "brief":
        schema, description = _strip(schema), _cut(description)
    said = {"name": tool["name"], **({"description": description} if description.strip(WHITE) else {})}
    return said if form == "deferred" else {**said, "input_schema": schema}


def _strip(schema: dict[str, Any]) -> dict[str, Any]:
    """Without notes, and so in the schemas inside: those of the keywords that drawn tools have."""
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: _strip(one) for name, one in value.items()}
        elif key == "anyOf":
            kept[key] = [_strip(one) for one in value]
        elif key not in _NOTES:
            kept[key] = _strip(value) if key in _INNER else value
    return kept


def _cut(text: str) -> str:
    """The first sentence of the first line; one that goes on with a small letter has not ended."""
    line = text.strip(WHITE).split("\n")[0].rstrip(WHITE)
    gaps = iter_gaps(line, "sentence", (0, len(line)), ()) if line else ()
    return next((line[: gap.stop] for gap in gaps if not line[gap.start].islower()), line)


def count_offered(counter: str, offered: list[Any]) -> int:
    """Tokens of the JSON of each: keys sorted, no spaces."""
    return sum(count(counter, write_json(one)) for one in offered)


# contract 8.49
def list_shown(tools: list[dict[str, Any]], seen: str = "described") -> list[dict[str, Any]]:
    """What a model is shown of the tools of a request before it searches: of the deferred ones name and description, or nothing."""
    loaded = [tool for tool in tools if not tool.get("defer_loading")]
    deferred = [{key: tool[key] for key in ("name", "description") if key in tool} for tool in tools if tool.get("defer_loading")]
    return loaded + (deferred if seen == "described" else [])


def write_json(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
