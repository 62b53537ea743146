"""The file of a response schema → the response."""

import json
import re
from pathlib import PurePosixPath

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.frontend.json import load_json
from promptc.frontend.load_provider import load_provider
from promptc.frontend.schema.faults import STATE_WORDS
from promptc.frontend.schema.fit import fit_schema
from promptc.frontend.schema.lint import lint_schema
from promptc.frontend.schema.lint_offered import lint_offered
from promptc.model.messages import PROVIDERS
from promptc.model.pack import Response, SentSchema

_STRANGE = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST = 64
_UNNAMED = "response"


def load_response(raw: bytes, name: str) -> tuple[Response, tuple[Diagnostic, ...]]:
    """The JSON Schema (2020-12) of an answer in a file that its author calls `name`, and what is doubtful in it.

    Mappings keep the order they are written in: a model answers in it. Raises a PromptcError with every finding, each at its place.
    """
    document = load_json(raw, name)
    if not isinstance(document.value, dict):
        message = f"the schema of an answer is an object of JSON Schema, not {STATE_WORDS.show(document.value)}"
        raise fail("PC0287", message, document.span(""), help="`{}` asks for any JSON; leave `response` out to ask for text")
    found = tuple(replace(one, span=document.key_span(pointer)) for pointer, one in lint_schema(document.value))
    if any(one.level == "error" for one in found):
        raise PromptcError(found)
    found += tuple(replace(one, span=document.key_span(pointer)) for pointer, one in lint_offered(document.value))
    if "object" not in _list_types(document.value):
        message = f"the answer is to be of the type {_say(document.value['type'])}, and structured outputs of most services are objects"
        help = 'put it under a property: `{"type": "object", "properties": {"answer": …}, "required": ["answer"]}`'
        found += (Diagnostic("PC0288", message, document.key_span("/type"), help, "warn"),)
    schema = json.loads(document.source.text)
    return Response(schema, _name(name), document.span(""), _fit_all(schema)), found


def _fit_all(schema: dict[str, Any]) -> dict[str, SentSchema]:
    """What is sent to those that do not take it whole."""
    fitted = {name: fit_schema(schema, load_provider(name).schema) for name in PROVIDERS}
    return {name: sent for name, sent in fitted.items() if sent.schema != schema}


def _list_types(schema: dict[str, Any]) -> list[str]:
    """The types the root names; where it names none, an object is one of them."""
    types = schema.get("type", "object")
    return [types] if isinstance(types, str) else list(types)


def _say(types: str | list[str]) -> str:
    return " or ".join(f"`{name}`" for name in ([types] if isinstance(types, str) else types))


def _name(file: str) -> str:
    """The file's name without its folder and ending, as providers take it."""
    stem = PurePosixPath(file).name.removesuffix(".json")
    return _STRANGE.sub("_", stem).strip("_")[:_LONGEST] or _UNNAMED
