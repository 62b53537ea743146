"""The file of a tool → the tool."""

import json
import re
from collections.abc import Iterator

from promptc.diag.findings import Diagnostic, PromptcError, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.diag.value import shorten
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.schema.faults import STATE_WORDS
from promptc.frontend.schema.keywords import escape
from promptc.frontend.schema.lint import lint_schema
from promptc.frontend.schema.lint_offered import lint_offered
from promptc.model.pack import Tool
from promptc.text.white import is_blank

_KEYS = ("name", "description", "input_schema")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ELSEWHERE = {
    "parameters": "here it is called `input_schema`",
    "inputSchema": "here it is called `input_schema`",
    "function": "write what stands in it without `function` around it, and `parameters` as `input_schema`",
    "type": "it goes without saying: a tool is {name, description, input_schema}",
    "strict": "it is a setting of one provider; a tool is {name, description, input_schema}",
}
"""What providers call the parts of a tool."""


def load_tool(raw: bytes, name: str) -> tuple[Tool, tuple[Diagnostic, ...]]:
    """The tool {name, description, input_schema} in a file that its author calls `name`, and what is doubtful in it.

    Mappings keep the order they are written in: a model reads it. Raises a PromptcError with every finding, each at its place.
    """
    document = load_json(raw, name)
    found = list(_iter_wrong(document))
    if any(finding.level == "error" for finding in found):
        raise PromptcError(found)
    value = json.loads(document.source.text)
    return Tool(value["name"], value["description"], value["input_schema"], document.span("")), tuple(found)


def _iter_wrong(document: JsonDocument) -> Iterator[Diagnostic]:
    value = document.value
    if not isinstance(value, dict):
        message = f"a tool is an object {{name, description, input_schema}}, not {STATE_WORDS.show(value)}"
        yield Diagnostic("PC0283", message, document.span(""))
        return
    missing = [key for key in _KEYS if key not in value]
    for key in value:
        if key not in _KEYS:
            help = _ELSEWHERE.get(key) or suggest(key, missing or _KEYS)
            yield Diagnostic("PC0283", f"unknown key `{shorten(key)}` in a tool", document.key_span(f"/{escape(key)}"), help)
    for key in missing:
        if not any(key in suggest(other, missing) or key in _ELSEWHERE.get(other, "") for other in value if other not in _KEYS):
            yield Diagnostic("PC0283", f"the tool lacks the key `{key}`", document.span(""), f'give it: `"{key}": …`')
    yield from _iter_wrong_texts(document)
    if "input_schema" in value:
        yield from _iter_wrong_schema(document, value["input_schema"])


def _iter_wrong_texts(document: JsonDocument) -> Iterator[Diagnostic]:
    value: dict[str, Any] = document.value
    name, description = value.get("name", "tool"), value.get("description", "what it does")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = f"the name of a tool must be 1 to 64 of `a-z A-Z 0-9 _ -`, not {STATE_WORDS.show(name)}"
        yield Diagnostic("PC0284", message, document.span("/name"), "no provider takes another")
    if not isinstance(description, str) or is_blank(description):
        message = f"the description of a tool must be a text that says what it is for, not {STATE_WORDS.show(description)}"
        yield Diagnostic("PC0284", message, document.span("/description"), "it is all a model knows of when to call it")


def _iter_wrong_schema(document: JsonDocument, schema: Any) -> Iterator[Diagnostic]:
    found = [replace(one, span=document.key_span(f"/input_schema{pointer}")) for pointer, one in lint_schema(schema)]
    yield from found
    if not any(one.level == "error" for one in found):
        yield from (replace(one, span=document.key_span(f"/input_schema{pointer}")) for pointer, one in lint_offered(schema))
    if not any(one.level == "error" for one in found) and (isinstance(schema, bool) or schema.get("type") != "object"):
        message = 'the arguments of a tool are an object: its `input_schema` must have `"type": "object"`'
        help = 'write `{"type": "object", "properties": {…}}`; without arguments: `{"type": "object", "properties": {}}`'
        yield Diagnostic("PC0285", message, document.span("/input_schema"), help)
