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
    Code(
        "PC0288",
        "warn",
        "the schema of the answer asks for something else than an object",
        "OpenAI and Anthropic refuse a schema of an answer whose root is not an object; others take it.",
        '{"type": "array", "items": {"type": "string"}}',
        'Put it under a property: `{"type": "object", "properties": {"answers": {…}}, "required": ["answers"]}`.',
    ),
    Code(
        "PC0289",
        "warn",
        "a schema requires a property that it forbids",
        "No value meets it where `additionalProperties` is false and `properties` does not declare the name: services that hold a model to "
        "the schema refuse it, and of the others every answer is wrong.",
        '{"type": "object", "properties": {"aim": {…}}, "required": ["aim", "risk"], "additionalProperties": false}',
        "Declare the property, or take it out of `required`.",
    ),
    Code(
        "PC0645",
        "warn",
        "a mood without a template",
        "Other cases of the axis give a section its content. This one says nothing of it and is not the default, so that it gets the "
        "content that was written for another.",
        "mood: {select: state.mood, default: scene, cases: {scene: {}, action: {sections: {guide: {template: act.md}}}, rest: {}}}",
        "Give the case a template, remove the section there (`guide: null`), or make the case the default.",
    ),
    Code(
        "PC0646",
        "warn",
        "a value of the state that selects no case",
        "The schema lets a state have it, and without a default such a state cannot be rendered.",
        'mood: {select: state.mood, cases: {scene: {}, action: {}}}   # in the schema: "enum": ["scene", "action", "rest"]',
        "Give the axis a `default`, or a case of that name.",
    ),
    Code(
        "PC0647",
        "warn",
        "a tool that no mood uses",
        "Its list is replaced in every combination of cases, tiers and patches; or the file lies beside the tools and no list names it. "
        "A model is never offered it.",
        "tools: [tools/look.json]   # and every case has a list of its own, without it",
        "Name it in a list that is in force, or remove it.",
    ),
    Code(
        "PC0648",
        "warn",
        "more cache breakpoints than any provider takes",
        "Providers take three or four in a request. Where there are more, the last ones count.",
        "sections: [{id: a, cache: true, text: a}, ...]   # five of them",
        "Keep `cache: true` where what changes seldom ends.",
    ),
    Code(
        "PC0649",
        "note",
        "tools or a response schema in a pack that renders text",
        "They are part of a request, not of its text: in text output they are left out, and not counted.",
        "tools: [tools/look.json]   # and no `output: {format: messages}`",
        "Write `output: {format: messages}`, or ask for messages by `--format`.",
    ),
)
