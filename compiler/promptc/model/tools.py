"""Tools that are items: `read_tool` makes a tool of what a state contains, whoever wrote it, and `shape_tool` returns it in a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from promptc.diag.findings import Span, fail, show_value
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.section import DEFERRED, Shown, Tool
from promptc.text.characters import is_blank
from promptc.text.cutting import iter_gaps, trim_span

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
"""The names of the schema of the arguments at Anthropic, in MCP, at OpenAI and at Gemini."""

_NOTES = frozenset(("title", "description", "examples", "$comment"))
"""Keywords that inform readers of a schema, and do not affect what it accepts."""

_OF_ONE = frozenset(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems "
    "unevaluatedProperties".split()
)
_OF_SEVERAL = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
_BY_NAME = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))
"""Keywords that contain a schema, a list of schemas, or schemas by name."""

_WRITE = "write `{name, description, input_schema}`, as Anthropic and MCP do; or leave such items out with `where`"
_OPEN: Mapping[str, Any] = {"type": "object", "properties": {}}
"""A schema that says nothing about the arguments. OpenAI refuses one without `properties`."""


def read_tool(value: Any, what: str, span: Span) -> Tool:
    """Return the tool that an item is: its name, its description, and its schema, under any name that providers use.

    `what` is the name of the item in findings. Other keys are the author's, and not part of the tool. Raises `PromptcError` (PC0595) if the
    item is not a tool.
    """
    inner = value.get("function") if isinstance(value, Mapping) else None
    given = inner if isinstance(inner, Mapping) else value
    if not isinstance(given, Mapping):
        raise fail("PC0595", f"{what} is not a tool: it is {show_value(value)}, not a mapping", span, help=_WRITE)
    name, description = given.get("name"), given.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        wrong = f"{what} is not a tool: its name is {show_value(name)}, and a name has 1 to 64 letters, digits, `_` and `-`"
        raise fail("PC0595", wrong, span, help="rename it where your program writes the state, such as `find_order`")
    if description is not None and not isinstance(description, str):
        wrong = f"{what} is not a tool: its description is {show_value(description)}, not a string"
        raise fail("PC0595", wrong, span, help="say in a sentence what the tool does")
    key = next((one for one in _SCHEMAS if given.get(one) is not None), None)
    schema = given[key] if key is not None else None
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        has = f"its `{key}` is {show_value(schema)}" if key is not None else "it has no `input_schema`"
        wrong = f"{what} is not a tool: {has}, and the arguments of a tool are an object"
        help = 'write `"input_schema": {"type": "object", "properties": {…}}`; without arguments, leave `properties` empty'
        raise fail("PC0595", wrong, span, help=help)
    return Tool(name, "" if description is None or is_blank(description) else description, schema, span)


def shape_tool(tool: Tool, form: str, shown: Shown = "nothing") -> Tool:
    """Return the tool in a form.

    `brief` has the first sentence of the description, and no notes on the arguments; its schema accepts the same. `name` has only the name;
    its schema accepts any object. `deferred` is the whole tool, of which `shown` is in the prompt before a search.
    """
    if form == DEFERRED:
        return replace(tool, shown=shown)
    if form == "brief":
        return replace(tool, description=_cut_sentence(tool.description), input_schema=_strip(tool.input_schema))
    return replace(tool, description="", input_schema=_OPEN) if form == "name" else tool


def _cut_sentence(text: str) -> str:
    start, end = trim_span(text)
    line = text[start:end].split("\n", 1)[0]
    line = line[: trim_span(line)[1]]
    gaps = iter_gaps(line, "sentence", (0, len(line)), ()) if line else ()
    return next((line[: gap.stop] for gap in gaps if not line[gap.start].islower()), line)  # the sentence goes on after `e.g. this`


def _strip(schema: Any) -> Any:
    """Return the schema without its notes. Names of properties and values are kept, whatever they are called."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _strip_under(key, value) for key, value in schema.items() if key not in _NOTES}


def _strip_under(key: str, value: Any) -> Any:
    if key in _BY_NAME and isinstance(value, Mapping):
        return {name: _strip(one) for name, one in value.items()}
    if key in _OF_SEVERAL and isinstance(value, list | tuple):
        return [_strip(one) for one in value]
    return _strip(value) if key in _OF_ONE else value
