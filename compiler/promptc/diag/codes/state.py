"""Codes of the family `state`: states, and the schemas that describe them."""

from promptc.diag.codes.code import Code

STATE_CODES: tuple[Code, ...] = (
    Code(
        "PC0302",
        "error",
        "a value in the state does not fit the pack's schema",
        "The pack was written for states of another shape; rendering on would put nonsense into the prompt, or fail later and "
        "less clearly.",
        '{"turn": true}            # where the schema says integer',
        "Correct the state, or the schema if the value is right.",
    ),
    Code(
        "PC0303",
        "error",
        "the state lacks a key",
        "The schema requires it.",
        '{"player": {}}            # where the schema requires `name`',
        "Give it, or remove it from `required` and give it a `default`.",
    ),
    Code(
        "PC0304",
        "error",
        "a key in the state that its schema does not allow",
        "The schema closes this object: an unknown key is most often a misspelt one.",
        '{"palyer": {"name": "Mo"}}',
        "Correct the key, or declare it in the schema.",
    ),
    Code(
        "PC0305",
        "note",
        "more findings than are shown",
        "Of one state 50 findings are shown; the first ones often explain the rest.",
        "a list of 1000 elements, each with the same mistake",
        "Mend the first ones and look again.",
    ),
    Code(
        "PC0310",
        "error",
        "a keyword of the state's schema holds the wrong kind of value",
        "Such a keyword checks nothing, or something else than was meant.",
        '{"type": "obj"}',
        'Correct it: `{"type": "object"}`.',
    ),
    Code(
        "PC0311",
        "warn",
        "a keyword JSON Schema does not know",
        "JSON Schema ignores it, so that whatever it was to check goes unchecked. Keys that begin with `x-` are not reported.",
        '{"requird": ["name"]}',
        'Correct it: `{"required": ["name"]}`.',
    ),
    Code(
        "PC0312",
        "error",
        "a reference that leaves the schema's file, or names nothing in it",
        "Nothing outside the file is ever read: no network, no other file. What a schema means does not depend on the machine.",
        '{"$ref": "common.schema.json"}',
        "Copy the definition to `$defs` and name it `#/$defs/…`.",
    ),
    Code(
        "PC0313",
        "error",
        "a schema without end",
        "A schema that refers to itself for the same value, doubles itself again and again, or has a default that holds itself "
        "could never be finished.",
        '{"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}',
        "Let the reference stand under `properties` or `items`, so that each round is about a smaller value.",
    ),
    Code(
        "PC0314",
        "error",
        "a pattern that cannot be used",
        "Patterns are matched in time linear in the text: what would need more (look-around, back references) is not read.",
        '{"pattern": "^(?!x)"}',
        "Write it with classes, groups, `|` and repeats, or check it with an assert.",
    ),
    Code(
        "PC0315",
        "error",
        "checking a state takes too many steps",
        "Alternatives that lead to the same definition inside each other double the work with every level of the state. "
        "And a long list of empty objects becomes large when every key that a schema declares is filled in.",
        '{"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["x"]}, {"properties": {"a": {"$ref": "#"}}, "required": ["y"]}]}',
        "Put what the alternatives share beside them, not into each; leave out declared keys that nothing reads.",
    ),
    Code(
        "PC0316",
        "error",
        "a part of JSON Schema that is not read",
        "Schemas are read as 2020-12, each in one file. Another `$schema`, an `$id` inside a schema and a few rare combinations "
        "are refused, not guessed at.",
        '{"$schema": "http://json-schema.org/draft-07/schema#"}',
        "Write the schema in 2020-12: `https://json-schema.org/draft/2020-12/schema`.",
    ),
    Code(
        "PC0317",
        "warn",
        "a default that its own schema refuses",
        "Where the key is absent the default is read, and nothing checks it again.",
        '{"type": "string", "default": 3}',
        'Give one that is valid: `{"type": "string", "default": ""}`.',
    ),
    Code(
        name="PC0390",
        level="error",
        summary="a state is no mapping",
        why="Templates read a state by its keys.",
        bad="[1, 2]",
        fix="Make it a JSON object.",
    ),
    Code(
        name="PC0391",
        level="error",
        summary="a state given as Python values is not plain JSON",
        why="A state is data, and what is rendered must not depend on Python objects.",
        bad="pack.load_state({'when': datetime.now()})",
        fix="Pass dicts, lists, strings, numbers, booleans and None.",
    ),
)
