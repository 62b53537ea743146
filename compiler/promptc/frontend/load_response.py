"""The file of a response schema → the response."""

import json
import re
from pathlib import PurePosixPath

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError, fail
from promptc.diag.frozen import replace
from promptc.frontend.json_io import load_json
from promptc.frontend.schema.lint_schema import lint_schema
from promptc.frontend.schema.words import STATE_WORDS
from promptc.model.tool import Response

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
    return Response(json.loads(document.source.text), _name(name), document.span("")), found


def _name(file: str) -> str:
    """The file's name without its folder and ending, as providers take it."""
    stem = PurePosixPath(file).name.removesuffix(".json")
    return _STRANGE.sub("_", stem).strip("_")[:_LONGEST] or _UNNAMED
