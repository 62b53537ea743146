"""Codes of what a pack offers a model besides messages: tools, and the schema of the answer."""

from promptc.diag.codes.code import Code

OFFER_CODES: tuple[Code, ...] = (
    Code(
        "PC0283",
        "error",
        "a file of a tool that is not {name, description, input_schema}",
        "A tool is written once, in a form of no provider's; `render --format` puts each part where a provider wants it.",
        '{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}',
        '`{"name": "look", "description": "Look around.", "input_schema": {"type": "object", "properties": {}}}`.',
    ),
    Code(
        "PC0284",
        "error",
        "the name or the description of a tool is not well formed",
        "Providers refuse other names. The description is all a model has to decide by when to call the tool.",
        '{"name": "look around", "description": ""}',
        'Give a name of letters, digits, `_` and `-`, and say what the tool does: `{"name": "look_around", "description": "…"}`.',
    ),
    Code(
        "PC0285",
        "error",
        "the arguments of a tool are no object",
        "A call gives its arguments by name, so providers take schemas of objects only.",
        '"input_schema": {"type": "string"}',
        'Name the argument: `{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}`.',
    ),
    Code(
        "PC0286",
        "error",
        "two tools of one name",
        "A model calls a tool by its name; which of the two it meant could not be told.",
        "tools: [tools/look.json, moods/look.json]   # both are called `look`",
        "Take one out, or give it another name.",
    ),
    Code(
        "PC0287",
        "error",
        "the schema of the answer is no object",
        "`true` asks for nothing and `false` for what cannot be; no provider takes either.",
        "true",
        "Write a schema: `{}` for any JSON. Leave `response` out to ask for text.",
    ),
)
