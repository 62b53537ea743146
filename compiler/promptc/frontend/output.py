"""Loads the output of a manifest: fences, guard and messages (`load_output`), tools and the schema of an answer (`OfferedFiles`).

`load_provider` returns what a provider accepts of these.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby
from pathlib import Path, PurePosixPath

from promptc.diag.findings import Collecting, Diagnostic, PromptcError, Span, UsageError, fail, join_some, shorten, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, TypeVar
from promptc.files.paths import show_path
from promptc.files.reading import list_folder, read_inside
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.manifest import iter_keys
from promptc.frontend.schema.faults import STATE_WORDS
from promptc.frontend.schema.fit import fit_schema
from promptc.frontend.schema.lint import lint_offered, lint_schema
from promptc.frontend.sections import load_fence
from promptc.frontend.texts import PackFiles, TextCompiler
from promptc.model.messages import PROVIDERS, Breakpoints, Caching, Provider, SchemaRules, TakenMedia, ToolSearch
from promptc.model.pack import ChatTemplate, Guarding, MessagePlan, Offers, Output, PackModel, Response, SentSchema
from promptc.model.section import TOOLS, Fence, Section, Tool
from promptc.model.state import Node
from promptc.template.allow import Limits
from promptc.template.lower.module import load_chat_template
from promptc.template.place import Place
from promptc.text.characters import is_blank
from promptc.text.json import extend_pointer

_ENDING = ".json"
_MOST_FILES = 500
_MOST_TOLD = 20
_LONGEST_OFFER = 200_000
_KEYS = ("name", "description", "input_schema")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_ELSEWHERE = {
    "parameters": "write `input_schema` instead",
    "inputSchema": "write `input_schema` instead",
    "function": "remove `type`, and `function` around the tool; rename `parameters` to `input_schema`",
    "type": "remove it: a tool is {name, description, input_schema}",
    "strict": "remove it: it is a setting of one provider; a tool is {name, description, input_schema}",
}
"""Names that providers use for the parts of a tool."""

_STRANGE = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST_SCHEMA = 64
_UNNAMED = "response"
_SPECIAL_TOKENS = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_TOKENS = ("message_tokens", "prompt_tokens", "tool_tokens", "tools_tokens", "response_tokens")


def load_shared_fence(manifest: Node, compiler: TextCompiler) -> Fence | None:
    """Return `output.fence`, which applies to every section without a fence of its own, or None."""
    output = manifest.get("output")
    return load_fence(output.get("fence"), compiler) if output is not None else None


def load_output(manifest: Node, sections: Sequence[Section], shared_fence: Fence | None, compiler: TextCompiler) -> Output:
    """Return the settings of the output, with every section in exactly one message plan."""
    node = manifest.get("output")
    if node is None:
        return Output(span=manifest.span, messages=_split_each(_merge_roles(sections), sections))
    warn = node.get("warn")
    chars = warn.get("chars") if warn is not None else None
    return Output(
        span=node.span,
        format=node.text("format", "text"),
        models=_load_models(node.get("models")),
        messages=_split_each(_load_messages(node, sections, compiler), sections),
        fence=shared_fence,
        separator=node.text("separator", "\n"),
        guarding=_load_guarding(node.get("guard")),
        warn_chars=int(chars.value) if chars is not None else None,
        warn_span=chars.span if chars is not None else None,
    )


def _load_models(node: Node | None) -> Mapping[str, str]:
    return {name: str(model.value) for name, model in node.value.items()} if node is not None else {}


def _load_guarding(node: Node | None) -> Guarding:
    if node is None:
        return Guarding()
    return Guarding(node.text("fences", "escape"), node.text("special_tokens", "escape"), node.text("invisible", "replace_hidden"))


def _load_messages(node: Node, sections: Sequence[Section], compiler: TextCompiler) -> tuple[MessagePlan, ...]:
    messages = node.get("messages")
    if messages is not None and messages.value == "each":
        return tuple(MessagePlan(section.role, (section.id,)) for section in sections)
    if messages is None or not isinstance(messages.value, tuple):
        return _merge_roles(sections)
    _check_listed(messages, sections, compiler)
    order = {section.id: place for place, section in enumerate(sections)}
    plans = []
    for entry in messages.value:
        held = sorted((name for name in set(entry.texts("sections")) if name in order), key=order.__getitem__)
        plans.append(MessagePlan(entry.text("role"), tuple(held)))
    return tuple(plans)


def _check_listed(messages: Node, sections: Sequence[Section], compiler: TextCompiler) -> None:
    known = [section.id for section in sections]
    met: dict[str, Node] = {}
    for entry in messages.value:
        for node in entry.list("sections"):
            name = str(node.value)
            if name not in known:
                compiler.note("PC0248", f"`output.messages` names `{name}`, which is not a section", node.span, suggest(name, known))
            elif name in met:
                compiler.note(
                    "PC0249",
                    f"section `{name}` is in two messages; the first is at line {met[name].span.line}",
                    node.span,
                    "list it in only one of them",
                )
            met.setdefault(name, node)
    for name in known:
        if name not in met:
            compiler.note(
                "PC0250", f"section `{name}` is in no message of `output.messages`", messages.span, "add it to one of the messages"
            )


def _merge_roles(sections: Sequence[Section]) -> tuple[MessagePlan, ...]:
    runs = groupby(sections, key=lambda section: section.role)
    return tuple(MessagePlan(role, tuple(section.id for section in run)) for role, run in runs)


def _split_each(plans: Sequence[MessagePlan], sections: Sequence[Section]) -> tuple[MessagePlan, ...]:
    """Return the plans with a plan of its own for each section whose items are messages. Such a section splits the message around it."""
    alone = {section.id for section in sections if section.message is not None}
    split: list[MessagePlan] = []
    for plan in plans:
        for is_alone, run in groupby(plan.sections, key=lambda name: name if name in alone else ""):
            split.append(MessagePlan(plan.role, tuple(run), each=bool(is_alone)))
    return tuple(split)


def load_offers(manifest: Node, folder: str, offered: OfferedFiles, questions: Sequence[Callable[[], PackModel]]) -> Offers:
    """Return the tools of all lists of a manifest, including those of cases not chosen, and its loose files.

    Loose files look like tools and are in the folder of a listed tool, but neither the manifest nor the packs of `questions` name them.
    Only files in `folder`, the pack's own, are considered: packs that it extends have lists of their own.
    """
    nodes = list(_iter_tools(manifest))
    listed = [(tool, node.span) for node in nodes if (tool := offered.find_tool(node)) is not None]
    manifests = [manifest, *_iter_manifests(questions)]
    named = {_join_path(node.folder, str(node.value)) for one in manifests for node in _iter_tools(one)}
    return Offers(tuple(listed), tuple(_iter_loose(nodes, folder, named)))


def _iter_tools(manifest: Node) -> Iterator[Node]:
    for _, key, node in iter_keys(manifest):
        if key == TOOLS:
            yield from _iter_listed(node)


def _iter_manifests(questions: Sequence[Callable[[], PackModel]]) -> Iterator[Node]:
    """Yield the manifests of the packs that load. The others are reported elsewhere."""
    for load in questions:
        with suppress(PromptcError):
            yield load().manifest


def _join_path(folder: str, name: str) -> str:
    return os.path.normpath(Path(folder, name))


def _iter_loose(nodes: Sequence[Node], folder: str, named: set[str]) -> Iterator[tuple[str, Span]]:
    own = [node for node in nodes if node.folder == folder]
    for inside in dict.fromkeys(str(PurePosixPath(str(node.value)).parent) for node in own):
        first = next(node for node in own if str(PurePosixPath(str(node.value)).parent) == inside)
        for name in _list_files(Path(folder, inside)):
            path = name if inside == "." else f"{inside}/{name}"
            if _join_path(folder, path) not in named and _looks_like_tool(folder, path):
                yield path, first.span


def _list_files(folder: Path) -> list[str]:
    try:
        return [name for name in list_folder(folder) if name.endswith(_ENDING)][:_MOST_FILES]
    except OSError:
        return []


def _looks_like_tool(folder: str, path: str) -> bool:
    try:
        value = json.loads(read_inside(folder, path, _LONGEST_OFFER))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"name", "input_schema"} <= value.keys()


Offered = TypeVar("Offered", Tool, Response)


class OfferedFiles:
    """Reads the tools and answer schemas that a manifest offers to a model.

    Errors go into `findings` and are raised before anything renders. `doubts` are warnings about the files, each reported once.
    """

    def __init__(self, files: PackFiles, findings: list[Diagnostic]) -> None:
        self._files = files
        self._findings = findings
        self.doubts: dict[Diagnostic, None] = {}

    def load_tools(self, node: Node | None) -> tuple[Tool, ...]:
        """Return the tools of a list of files, in its order. Two tools with one name are a finding."""
        found: dict[str, tuple[Tool, str]] = {}
        for one in _iter_listed(node):
            tool = self.find_tool(one)
            if tool is not None and tool.name in found:
                self._report_double(one, tool, *found[tool.name])
            elif tool is not None:
                found[tool.name] = tool, str(one.value)
        return tuple(tool for tool, _ in found.values())

    def _report_double(self, node: Node, tool: Tool, other: Tool, file: str) -> None:
        message, help = f"two tools are called `{tool.name}`", f"change the name of this one, or of the one in `{file}`"
        if tool is other:
            message, help = f"`{node.value}` is listed twice", "remove one of them"
        self._findings.append(Diagnostic("PC0286", message, node.span, help))

    def find_tool(self, node: Node) -> Tool | None:
        """Return the tool in the file that a text names, or None if the file is wrong."""

        return self._find(node, load_tool)

    def find_response(self, node: Node | None) -> Response | None:
        """Return the answer schema in the file that a text names, or None if no file is named or the file is wrong."""

        return self._find(node, load_response) if node is not None and node.value is not None else None

    def read_all(self, manifest: Node) -> None:
        """Read every tool and answer schema that a manifest names, including those of cases not chosen."""
        for _, key, node in iter_keys(manifest):
            if key == TOOLS:
                for one in _iter_listed(node):
                    self.find_tool(one)
            elif key == "response":
                self.find_response(node)

    def _find(self, node: Node, load: Callable[[bytes, str], tuple[Offered, tuple[Diagnostic, ...]]]) -> Offered | None:
        with Collecting(self._findings):
            offered, doubts = self._files.made.make(load, *self._files.read_named(node))
            self.doubts |= dict.fromkeys(doubts)
            return offered
        return None


def _iter_listed(node: Node | None) -> Iterator[Node]:
    """Yield the entries of a list, or of the list under `from` if the tools are items; none if it is absent or null."""
    listed = node.get("from") if node is not None and isinstance(node.value, dict) else node
    yield from listed.value if listed is not None and isinstance(listed.value, tuple) else ()


def load_tool(raw: bytes, name: str) -> tuple[Tool, tuple[Diagnostic, ...]]:
    """Return the tool {name, description, input_schema} in a file that its author calls `name`, and warnings about it.

    Mappings keep the order in which they are written, because a model reads it. Raises a PromptcError with every finding, each at its
    place.
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
        message = f"a tool must be an object with `name`, `description` and `input_schema`, not {STATE_WORDS.show(value)}"
        help = (
            "write each tool into a file of its own"
            if isinstance(value, list)
            else 'write `{"name": …, "description": …, "input_schema": …}`'
        )
        yield Diagnostic("PC0283", message, document.span(""), help)
        return
    missing = [key for key in _KEYS if key not in value]
    for key in value:
        if key not in _KEYS and not (key == "type" and "function" in value):  # both mean the form of OpenAI
            help = _ELSEWHERE.get(key) or suggest(key, missing or _KEYS)
            yield Diagnostic("PC0283", f"unknown key `{shorten(key)}` in a tool", document.key_span(extend_pointer("", key)), help)
    for key in missing:
        if not any(key in suggest(other, missing) or key in _ELSEWHERE.get(other, "") for other in value if other not in _KEYS):
            yield Diagnostic("PC0283", f"the tool is missing the key `{key}`", document.span(""), f'add it: `"{key}": …`')
    yield from _iter_wrong_texts(document)
    if "input_schema" in value:
        yield from _iter_wrong_schema(document, value["input_schema"])


def _iter_wrong_texts(document: JsonDocument) -> Iterator[Diagnostic]:
    value: dict[str, Any] = document.value
    name, description = value.get("name", "tool"), value.get("description", "what it does")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = f"the name of a tool must have 1 to 64 letters, digits, `_` and `-`, not {STATE_WORDS.show(name)}"
        yield Diagnostic("PC0284", message, document.span("/name"), "write, for example, `look_around`")
    if not isinstance(description, str) or is_blank(description):
        message = f"the description of a tool must be a string that says what it is for, not {STATE_WORDS.show(description)}"
        yield Diagnostic(
            "PC0284", message, document.span("/description"), "say in a sentence what the tool does: the model knows nothing else about it"
        )


def _iter_wrong_schema(document: JsonDocument, schema: Any) -> Iterator[Diagnostic]:
    found = [replace(one, span=document.key_span(f"/input_schema{pointer}")) for pointer, one in lint_schema(schema)]
    yield from found
    if not any(one.level == "error" for one in found):
        yield from (replace(one, span=document.key_span(f"/input_schema{pointer}")) for pointer, one in lint_offered(schema))
    if not any(one.level == "error" for one in found) and (isinstance(schema, bool) or schema.get("type") != "object"):
        message = 'the arguments of a tool are an object: its `input_schema` must have `"type": "object"`'
        help = 'write `{"type": "object", "properties": {…}}`; without arguments: `{"type": "object", "properties": {}}`'
        yield Diagnostic("PC0285", message, document.span("/input_schema"), help)


def load_response(raw: bytes, name: str) -> tuple[Response, tuple[Diagnostic, ...]]:
    """Return the JSON Schema (2020-12) of an answer in a file that its author calls `name`, and warnings about it.

    Mappings keep the order in which they are written, because a model answers in it. Raises a PromptcError with every finding, each at its
    place.
    """
    document = load_json(raw, name)
    if not isinstance(document.value, dict):
        message = f"the schema of an answer must be an object, not {STATE_WORDS.show(document.value)}"
        raise fail("PC0287", message, document.span(""), help="write `{}` for any JSON, or leave `response` out to get text")
    found = tuple(replace(one, span=document.key_span(pointer)) for pointer, one in lint_schema(document.value))
    if any(one.level == "error" for one in found):
        raise PromptcError(found)
    found += tuple(replace(one, span=document.key_span(pointer)) for pointer, one in lint_offered(document.value))
    if "object" not in _list_types(document.value):
        message = f"the answer has the type {_say(document.value['type'])}, and most providers accept only an object"
        help = 'put it under a property: `{"type": "object", "properties": {"answer": …}, "required": ["answer"]}`'
        found += (Diagnostic("PC0288", message, document.key_span("/type"), help, "warn"),)
    schema = json.loads(document.source.text)
    return Response(schema, _name(name), document.span(""), _fit_all(schema)), found


def _fit_all(schema: dict[str, Any]) -> dict[str, SentSchema]:
    """Return what is sent to each provider that does not accept the schema as a whole."""
    fitted = {name: fit_schema(schema, load_provider(name).schema) for name in PROVIDERS}
    return {name: sent for name, sent in fitted.items() if sent.schema != schema}


def _list_types(schema: dict[str, Any]) -> list[str]:
    """Return the types that the root names. A root without `type` counts as an object."""
    types = schema.get("type", "object")
    return [types] if isinstance(types, str) else list(types)


def _say(types: str | list[str]) -> str:
    return " or ".join(f"`{name}`" for name in ([types] if isinstance(types, str) else types))


def _name(file: str) -> str:
    """Return a name that providers accept, made from the file's name without its folder and ending."""
    stem = PurePosixPath(file).name.removesuffix(".json")
    return _STRANGE.sub("_", stem).strip("_")[:_LONGEST_SCHEMA] or _UNNAMED


def load_chat(manifest: Node, compiler: TextCompiler, files: PackFiles, limits: Limits) -> ChatTemplate | None:
    """Return the compiled chat template of `tokenizer.chat_template`, or None if there is none or it cannot be used.

    A template that cannot be used adds findings to the compiler: PC0185, PC0186 or what is wrong in the template.
    """
    tokenizer = manifest.value["tokenizer"]
    node = tokenizer.get("chat_template")
    if node is None:
        return None
    if not str(tokenizer.value["use"].value).startswith("hf:"):
        message = "`chat_template` needs the tokenizer of its model, and `use` names another"
        compiler.note("PC0186", message, node.span, "write `use: hf:tokenizer.json`, with the `tokenizer.json` of the same model")
        return None
    file = node.get("file") or node
    now = node.get("now")
    with Collecting(compiler.findings):
        text, tokens, place = _read_chat(file, node.get("name"), files)
        template = load_chat_template(text, place, limits=limits)
        given = node.get("with")
        names = {"documents": None, "add_generation_prompt": True, **tokens, **(given.plain() if given is not None else {})}
        return ChatTemplate(template, node.span, names, compiler.find_expression(now))
    return None


def _read_chat(file: Node, wanted: Node | None, files: PackFiles) -> tuple[str, dict[str, str], Place]:
    """Return the text of a template, the special tokens that its file names, and its place. Raises `PromptcError`."""
    name = str(file.value)
    if not name.endswith(_ENDING):
        text, shown = files.read_text(file.folder, name, file.span), show_path(file.span, name)
        return text, {}, Place(Span(shown, 1, 1, text.split("\n", 1)[0][:400]), inline=False)
    document = load_json(*files.read_named(file))
    config = document.value if isinstance(document.value, dict) else {}
    found = config.get("chat_template")
    if isinstance(found, list):
        named = {one["name"]: one["template"] for one in found if isinstance(one, dict) and _is_named_template(one)}
        found = named.get(str(wanted.value) if wanted is not None else "default")
        known = join_some([f"`{shorten(one)}`" for one in named], _MOST_TOLD)
        why = f"has no chat template of that name; it has {known}" if named else "lists no template with a `name` and a `template`"
        help = "name one of them: `chat_template: {file: …, name: …}`" if named else "use the file as the model's publisher made it"
    else:
        why = "has no `chat_template`"
        help = "newer models keep it in a file of its own: write `chat_template: chat_template.jinja`"
    if not isinstance(found, str):
        raise fail("PC0185", f"`{name}` {why}", file.span, help=help)
    tokens = {key: _read_token(config.get(key)) for key in _SPECIAL_TOKENS}
    place = Place(document.span("/chat_template"), inline=True)
    return found, {key: token for key, token in tokens.items() if token is not None}, place


def _is_named_template(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("name"), str) and isinstance(one.get("template"), str)


def _read_token(given: Any) -> str | None:
    """Return the text of a special token in `tokenizer_config.json`, where it is a text or a mapping; None for anything else."""
    text = given.get("content") if isinstance(given, dict) else given
    return text if isinstance(text, str) else None


def load_provider(name: str) -> Provider:
    """Return the provider with that name. Raises `UsageError` (PC0706) for an unknown name."""
    if name not in PROVIDERS:
        raise UsageError([Diagnostic("PC0706", f"there is no provider `{name}`", help=suggest(name, PROVIDERS))])
    return _load_all()[name]


@cache
def _load_all() -> dict[str, Provider]:
    read = json.loads(Path(__file__).with_name("providers.json").read_text(encoding="utf-8"))
    return {name: _load(name, read["as_of"], facts) for name, facts in read["providers"].items()}


def _load(name: str, as_of: str, facts: dict[str, Any]) -> Provider:
    values = {key: fact["value"] for key, fact in facts.items() if isinstance(fact, dict)}
    return Provider(
        name=name,
        title=facts["title"],
        as_of=as_of,
        roles=tuple(values["roles"]),
        system=values["system"],
        late_system=tuple(facts["system"].get("late", ())),
        needs_user=values["needs_user"],
        needs_limit=values["needs_limit"],
        keeps_thinking=values["keeps_thinking"],
        breakpoints=Breakpoints(
            values["breakpoints"], tuple(facts["breakpoints"].get("models", ())), tuple(facts["breakpoints"].get("minimums", {}).items())
        ),
        **{key: values[key] for key in _TOKENS},
        counts_role=values["counts_role"],
        estimates=tuple(key for key in _TOKENS if facts[key]["estimate"]),
        name_tokens=values["name_tokens"],
        tool_names=values.get("tool_names", "any"),
        tool_ids=values.get("tool_ids", "turn"),
        tool_uses=values.get("tool_uses", "anywhere"),
        schema=_load_rules(facts["schema"]),
        caching=tuple(Caching(**{**one, "models": tuple(one.get("models", ()))}) for one in values["caching"]),
        media=_load_media(values["media"]),
        result_media=_load_media(values["result_media"]),
        search=_load_search(facts["search"]),
    )


def _load_media(value: dict[str, Any]) -> tuple[tuple[str, TakenMedia], ...]:
    return tuple((kind, TakenMedia(tuple(one["by"]), tuple(one["types"]))) for kind, one in value.items())


def _load_search(fact: dict[str, Any]) -> ToolSearch | None:
    if fact["value"] == "none":
        return None
    return ToolSearch(fact["value"], fact["tokens"], tuple(fact["body"].items()), tuple(fact.get("models", ())))


def _load_rules(fact: dict[str, Any]) -> SchemaRules:
    lists = {key: tuple(fact.get(key, ())) for key in ("keywords", "without", "formats", "least_items")}
    return SchemaRules(is_closed=fact["value"] == "closed", bare_references=fact.get("bare_references", False), **lists)
