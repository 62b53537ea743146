"""Compare the lowering of chat templates with Jinja: render conversations with each template of a folder both ways, and compare the bytes.

    python tools/try_chat_templates.py FOLDER [NAME ...]

A template is a file `*.jinja`, or a `tokenizer_config.json` with one or several. Jinja is configured as in `transformers`. A template
counts as equal if each conversation renders to the same bytes, or both refuse it. Templates of models have their own licences: keep the
folder outside the project.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptc.diag.findings import PromptcError, Span
from promptc.template.allow import Limits
from promptc.template.lower.module import load_chat_template
from promptc.template.place import Place
from promptc.template.runtime.callables import Clock, raise_exception

NOW = "2026-11-22T18:30:05Z"
LIMITS = Limits(source=1_048_576, parts=200_000)
_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string", "description": "A “city” & <more>"}}, "required": ["city"]}
_UNIT = {"type": ["string", "null"], "enum": ["°C", "°F"], "default": None}
_TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": _PARAMETERS}},
    {
        "type": "function",
        "function": {
            "name": "convert",
            "description": "Converts\ntwo units",
            "parameters": {
                "type": "object",
                "properties": {"value": {"type": "number"}, "to": _UNIT, "list": {"type": "array", "items": {"type": "integer"}}},
            },
        },
    },
]
_SYSTEM = {"role": "system", "content": "  Be brief, König.\n"}
_USER = {"role": "user", "content": "What's the weather in “Lübeck”? \n"}
_REPLY = {"role": "assistant", "content": "Rain, I think: 7 °C.\n\nMore?"}
_NEXT = {"role": "user", "content": "And tomorrow? <b>1 < 2</b>"}
_THOUGHT = {"role": "assistant", "content": "<think>\nLet me see.\n</think>\n\nSun."}
_REASONED = {"role": "assistant", "content": "Sun.", "reasoning_content": "Let me see."}
_ARGUMENTS = {"city": "Lübeck", "days": 2, "sure": True, "near": ["<sea>", 1.5, None], "units": {"as": "°C & 'F'"}}
_CALL = {"id": "call12345", "type": "function", "function": {"name": "weather", "arguments": _ARGUMENTS}}
_CALLING = {"role": "assistant", "content": None, "tool_calls": [_CALL]}
_SAYING = {"role": "assistant", "content": "I look it up.", "tool_calls": [_CALL]}
_RESULT = {"role": "tool", "tool_call_id": "call12345", "name": "weather", "content": '{"sky": "grey", "high": 7}'}
_PARTS = {"role": "user", "content": [{"type": "text", "text": "One part. "}, {"type": "text", "text": "Another."}]}
CONVERSATIONS: dict[str, dict[str, Any]] = {
    "user": {"messages": [_USER]},
    "turns": {"messages": [_USER, _REPLY, _NEXT]},
    "system": {"messages": [_SYSTEM, _USER, _REPLY, _NEXT]},
    "no prompt": {"messages": [_SYSTEM, _USER, _REPLY], "add_generation_prompt": False},
    "thought": {"messages": [_SYSTEM, _USER, _THOUGHT, _NEXT]},
    "reasoned": {"messages": [_SYSTEM, _USER, _REASONED, _NEXT, _REASONED], "add_generation_prompt": False},
    "thinks": {"messages": [_SYSTEM, _USER], "enable_thinking": True},
    "thinks not": {"messages": [_SYSTEM, _USER], "enable_thinking": False},
    "parts": {"messages": [_SYSTEM, _PARTS]},
    "tools": {"messages": [_SYSTEM, _USER], "tools": _TOOLS},
    "tools alone": {"messages": [_USER], "tools": _TOOLS},
    "calling": {"messages": [_SYSTEM, _USER, _CALLING, _RESULT], "tools": _TOOLS},
    "called": {"messages": [_USER, _SAYING, _RESULT, _REPLY, _NEXT], "tools": _TOOLS},
    "called bare": {"messages": [_USER, _CALLING, _RESULT, _REPLY, _NEXT]},
    "system late": {"messages": [_USER, _REPLY, _SYSTEM, _NEXT]},
    "two of the user": {"messages": [_USER, _NEXT]},
    "developer": {"messages": [{"role": "developer", "content": "Be kind."}, _USER]},
    "empty": {"messages": []},
}


class _Generation(Extension):
    tags = {"generation"}  # noqa: RUF012 - Jinja declares it so

    def parse(self, parser: Any) -> nodes.Node:
        at = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(at)

    def _render(self, caller: Any) -> Any:
        return caller()


def make_environment() -> ImmutableSandboxedEnvironment:
    """Return Jinja configured as `transformers` configures it for a chat template."""
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])

    def write_json(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def refuse(message: str) -> None:
        raise TemplateError(message)

    made.filters["tojson"] = write_json
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: datetime.fromisoformat(NOW).astimezone(UTC).strftime(form)
    return made


def list_templates(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of every template in a folder."""
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".jinja":
            yield file.stem, file.read_text()
        elif file.suffix == ".json":
            found = json.loads(file.read_text()).get("chat_template")
            named = {"": found} if isinstance(found, str) else {one["name"]: one["template"] for one in found or ()}
            yield from ((f"{file.stem}:{name}".rstrip(":"), text) for name, text in named.items())


def render_jinja(template: Any, names: dict[str, Any]) -> str:
    """Return the text, or `!` and the reason why there is none."""
    try:
        return str(template.render(names))
    except Exception as wrong:  # noqa: BLE001 - whatever it is, it refuses the conversation
        return f"!{type(wrong).__name__}: {wrong}"


def compare(name: str, text: str, tally: Counter[str]) -> dict[str, tuple[str, str]]:
    """Return the conversations whose texts differ, with Jinja's text and promptc's.

    Raises `PromptcError` for a template that cannot be lowered, and `TemplateSyntaxError` for one that Jinja does not accept either.
    """
    template = make_environment().from_string(text)
    ours = load_chat_template(text, Place(Span(name, 1, 1), inline=False), limits=LIMITS)
    differing = {}
    for conversation, given in CONVERSATIONS.items():
        names = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, "tools": None, "documents": None, **given}
        due = render_jinja(template, names)
        try:
            found = ours.render({**names, "raise_exception": raise_exception, "strftime_now": Clock(NOW)})
        except PromptcError as wrong:
            found = f"!{wrong}"
        tally["refused" if due[:1] == "!" else "rendered"] += 1
        if found != due and not (found[:1] == due[:1] == "!"):
            differing[conversation] = due, found
    return differing


def main() -> int:
    """Print what differs, and count what does not."""
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    tally: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    for name, text in list_templates(folder):
        if wanted and not any(one in name for one in wanted):
            continue
        try:
            differing = compare(name, text, turns)
        except TemplateSyntaxError as wrong:
            tally["not Jinja's"] += 1
            print(f"{name}: Jinja does not take it: {wrong}")
            continue
        except PromptcError as wrong:
            tally["not lowered"] += 1
            print(f"{name}: not lowered: {wrong}")
            continue
        tally["differing" if differing else "equal"] += 1
        for conversation, (due, found) in differing.items():
            place = next((at for at, pair in enumerate(zip(due, found, strict=False)) if pair[0] != pair[1]), min(len(due), len(found)))
            start = 0 if "!" in (due[:1], found[:1]) else max(0, place - 40)
            print(f"{name}: {conversation}: Jinja {due[start : place + 160]!r}, ours {found[start : place + 160]!r}")
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())))
    print(f"conversations of those that lower: {turns['rendered']} are texts to Jinja, {turns['refused']} are refused")
    return 1 if tally.total() > tally["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
