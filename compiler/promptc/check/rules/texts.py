"""Rules on output: what is printed, joined, empty, cached or never offered.

These are names printed literally, line ends that tags remove, empty templates, cache breakpoints, content that changes before content that
stays, and tools that are never offered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from promptc.check.configurations import Configuration, Configurations, for_each, merge_configurations
from promptc.diag.findings import Diagnostic, Span
from promptc.diag.typed import Any
from promptc.model.messages import Keep, Remove
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Evict, Fail, Items, Retrieve, Section, Shorten, Tool, ToolForms
from promptc.template.compile import Expression, Template
from promptc.text.characters import is_blank
from promptc.text.json import find_at, split_pointer

_SHOWN = 50  # longest tag to show in full in a message, in characters
_RAW = re.compile(r"(\{%[-+]?\s*raw\s*[-+]?%\})(.*?)(\{%[-+]?\s*endraw\s*[-+]?%\})", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_NAME = re.compile(r"\{%[-+]?\s*(\w+)")
_BLOCK_SET = re.compile(r"\{%[-+]?\s*set\b[^=]*%\}")
_SILENT = re.compile(
    r"\{%[-+]?\s*macro\b.*?\bendmacro\s*[-+]?%\}|\{%[-+]?\s*set\b[^=]*?%\}.*?\bendset\s*[-+]?%\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL
)
_OPENING = frozenset("if for macro call filter with block".split())
_ELSEWHERE = frozenset("endmacro endset endblock endcall endfilter".split())
_PUTS_OUT = frozenset("include endfor raw".split())

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_BRACED = re.compile(r"(?<![\w{\\])\$?\{[ ]?([A-Za-z_]\w*(?:\.\w+)*)[ ]?\}(?!\})")
_FILE_NAME = re.compile(r"\s*[\w-][\w./-]{0,200}\.(?:j2|jinja2?|md|txt)\s*")
_BARE = re.compile(r"\s*([A-Za-z_]\w*(?:\.\w+)+)\s*")

_PLAIN = re.compile(r"state(?:\.\w+)+")
_LONGEST_NAME = 200

CHANGES = "x-changes"
"""The key of a schema that says how often a part of the state changes."""

_MOST_REFERENCES = 8
"""How many references in a row are followed."""

_MOST_BREAKPOINTS = 4
"""The most breakpoints in a request that any provider accepts."""


def check_idle_roles(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report every `role` of a section that has no effect in any configuration.

    It has none if a list of messages puts the section into a message of another role and no text of the section reads it. Sections whose
    items are messages are skipped: their role is that of what replaces several of them.
    """
    found: dict[Span, Diagnostic | None] = {}
    for configuration in configurations:
        roles = {name: plan.role for plan in configuration.plan.output.messages for name in plan.sections}
        read = {text.section.id for text in configuration.iter_texts() if text.section is not None and _has_role(text.code)}
        for section in configuration.plan.sections:
            place, role = section.role_span, roles.get(section.id, section.role)
            if place is None or section.message is not None:
                continue
            if role == section.role or section.id in read:
                found[place] = None
            elif place not in found:
                message = f"`role: {section.role}` of `{section.id}` has no effect: `output.messages` puts it into a message of `{role}`"
                help = f"remove it, or list `{section.id}` in a message of the role `{section.role}`"
                removable = place if configurations.facts.covers(section.id) else None
                found[place] = Diagnostic("PC0680", message, place, help, "warn", removable)
    yield from (one for one in found.values() if one is not None)


def _has_role(code: Expression | Template) -> bool:
    return any(path[:2] in (("section",), ("section", "role")) for path in code.reads)


def check_text_offers(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report, in a note, tools or a response schema in a pack whose output is text in every combination."""
    if any(one.plan.output.format == "messages" for one in configurations):
        return
    offering = next((one.plan for one in configurations if _offers_tools(one.plan) or one.plan.response is not None), None)
    if offering is None:
        return
    parts = [*(["tools"] if _offers_tools(offering) else []), *(["response"] if offering.response is not None else [])]
    named = " and ".join(f"`{one}`" for one in parts)
    message = f"this pack renders text, which has no place for {named}"
    help = "write `output: {format: messages}`, or render with `--format messages`"
    yield Diagnostic("PC0649", message, pack.manifest.key_span(parts[0]), help, "note")


def _offers_tools(plan: Plan) -> bool:
    return bool(plan.tools) or any(section.is_tools for section in plan.sections)


@for_each
def check_tools(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report tools that have only the order of the state, and tools from files that exceed their budget in their shortest form.

    The latter is reported if no step removes any of them.
    """
    for section in configuration.plan.sections:
        items = section.items
        if items is None or items.tool is None or configuration.facts.settled.is_off(section):
            continue
        if items.tool.listed is None and not items.sort:
            message = (
                "`tools` has no `sort`: the tools keep the order of the state, and a provider's cache is lost where that order changes"
            )
            yield Diagnostic("PC0682", message, items.tool.span, "write `sort: item.name`", "note")
        most = section.find_cap(configuration.plan.budget.total)
        if items.tool.listed and most is not None and section.budget is not None and _keeps_all(section):
            least = _count_least(pack, items.tool)
            if least > most:
                message = f"the tools take at least {least} tokens, their budget is {most}, and no step removes any"
                yield Diagnostic("PC0683", message, section.budget.span, "raise the budget, or end `overflow` with `evict: {}`")


def _keeps_all(section: Section) -> bool:
    """Return whether nothing leaves a tool out."""
    items = section.items
    stages = (items.where, items.dedupe, items.limit_per, items.limit) if items is not None else ()
    is_whole = all(one is None for one in stages) and section.when is None
    return is_whole and not section.pinned and all(isinstance(step, Shorten | Fail) for step in section.overflow)


def _count_least(pack: PackModel, tools: ToolForms) -> int:
    """Return the tokens of all listed tools in their shortest form, without provider overhead."""
    from promptc.model.tools import shape_tool

    counter = pack.counting.counter
    texts = ([shape_tool(tool, form).counted for form in tools.names] for tool in tools.listed or ())
    return sum(min(-(-counter.measure(text) // counter.unit) for text in forms) for forms in texts)


@for_each
def check_breakpoints(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report `cache: true` on more sections than any provider accepts breakpoints. Sections that are never on do not count."""
    cached = [section for section in configuration.plan.sections if section.cache and not configuration.facts.settled.is_off(section)]
    if len(cached) > _MOST_BREAKPOINTS:
        names = ", ".join(f"`{section.id}`" for section in cached[:-_MOST_BREAKPOINTS])
        message = f"`cache: true` is set on {len(cached)} sections, and no provider takes more than {_MOST_BREAKPOINTS} breakpoints"
        help = f"remove some: promptc keeps the last ones, so {names} would get none"
        yield Diagnostic("PC0648", message, cached[0].span, help, "warn")


def check_empty_texts(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report a section whose whole text is a blank file in some combinations and has content in others.

    To say that there is to be no text, an author writes `text: ''`.
    """
    filled = {section.id for one in configurations for section in one.plan.sections if not _is_empty(section)}
    return merge_configurations(configurations, lambda one: _iter_empty(one, filled))


def _is_empty(section: Section) -> bool:
    text = section.text
    return isinstance(text, Template) and not text.place.inline and is_blank(text.text)


def _iter_empty(configuration: Configuration, filled: Collection[str]) -> Iterator[Diagnostic]:
    for section in configuration.plan.sections:
        text = section.text
        if section.id in filled and text is not None and _is_empty(section):
            message = f"the template of `{section.id}` is empty here, while other cases give the section content"
            help = "write the template; if there is to be no text, write `text: ''`, or `null` for the section"
            yield Diagnostic("PC0677", message, Span(text.place.span.file, 1, 1), help, "warn")


@for_each
def check_line_ends(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report lines of templates that run into the next line. `+%}` keeps the line end, and `-%}` says that it may go."""
    for text in configuration.iter_texts():
        template = text.code
        if not isinstance(template, Template) or not (template.place.inline or template.place.span.file.endswith(".j2")):
            continue
        for at, tag in list_eaten(template.text):
            tag = tag if len(tag) <= _SHOWN else f"{tag[: _SHOWN // 2]} … {tag[-2:]}"
            line = template.text.count("\n", 0, at) + 1
            where = f"line {line} of {text.what}" if template.place.inline else "this line"
            message = f"the `{tag}` at the end of {where} also removes the line end, so the next line is joined to it"
            help = f"write `{tag[:-2]}+{tag[-2:]}` to keep the line end, or `{tag[:-2]}-{tag[-2:]}` to remove it on purpose"
            yield Diagnostic("PC0641", message, template.place.make_span("", template.text, at), help, "warn")


@for_each
def check_literal_names(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report names that a text prints literally: `{state.name}`, or an item's text that is `item.text`.

    A name without a dot gets only a note, as a prompt may be about `{name}`. Code is skipped.
    """
    properties = pack.schema.get("properties", {}) if pack.schema is not None else {}
    values = {"state": "", **{let.name: "" for let in pack.lets}, **{name: "state." for name in properties if isinstance(properties, dict)}}
    for text in configuration.iter_texts():
        template = text.code
        if not isinstance(template, Template) or not (template.place.inline or template.place.span.file.endswith(".j2")):
            continue
        if template.place.inline and _FILE_NAME.fullmatch(template.text):
            name = template.text.strip()
            message = f"{text.what} prints the word `{name}`, which looks like the name of a file"
            yield Diagnostic("PC0681", message, template.place.make_span("", template.text, 1), f"write `template: {name}`", "warn")
        for at, written, path in list_literal_names(template.text):
            root, dot, _ = path.partition(".")
            if (root not in text.names) if dot else (root not in values or root == "state"):
                continue
            meant = path if dot or root in text.names else f"{values[root]}{path}"
            message = f"{text.what} prints `{written}` literally, not as a value"
            help = f"write two braces to print a value: `{{{{ {meant} }}}}`" + ("" if dot else "; leave it if you mean the text itself")
            yield Diagnostic("PC0681", message, template.place.make_span("", template.text, at + 1), help, "warn" if dot else "note")


@for_each
def check_changes(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report what breaks a provider's cache, if the schema says what changes (`x-changes`).

    These are a section that changes in each turn before one that does not, a breakpoint after such a section, and a window over such a list
    that moves with each item.
    """
    changes = _Changes(pack)
    if not changes.is_told:
        return
    read: dict[str, list[tuple[str, ...]]] = {}
    for text in configuration.iter_texts():
        if text.section is not None and not _tells_shown(text.section, text.code):
            read.setdefault(text.section.id, []).extend(text.code.reads)
    first: tuple[Section, str] | None = None
    for section in _order_sent(configuration.plan):
        if configuration.facts.settled.is_off(section):
            continue
        key = changes.find_changing(read.get(section.id, ()))
        if first is None and key is not None:
            first = section, key
        elif first is not None and key is None:
            yield _tell_late(first, section)
            break
    for section in configuration.plan.sections:
        source, window = (section.items.source, section.items.window) if section.items is not None else (None, None)
        key = changes.find_changing(source.reads) if isinstance(source, Expression) else None
        if key is not None and window is not None and window.step == 1 and window.last != 1:
            message = f"the window of `{section.id}` moves with every item of `{key}`, which changes in each turn"
            help = "let it move in steps: `step: 4` keeps the beginning for four items, and the window holds up to three fewer"
            yield Diagnostic("PC0663", message, window.span, help, "note")
        if section.cache and first is not None and _is_in_vain(configuration.plan, section, first[0]):
            yield _tell_vain(section, *first)


@for_each
def check_order(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report lists that may begin elsewhere in the next turn, or change their order, although nothing in their content requires it.

    Order is reported only if a cache is to keep the list: before a breakpoint, or anywhere but in the last section if there is no
    breakpoint and the schema says what changes.
    """
    changes = _Changes(pack)
    sent = [section for section in _order_sent(configuration.plan) if not configuration.facts.settled.is_off(section)]
    marked = [at for at, section in enumerate(sent) if section.cache]
    kept = {section.id for section in sent[: marked[-1] + 1 if marked else len(sent) - 1 if changes.is_told else 0]}
    for section in configuration.plan.sections:
        items = section.items
        if items is None or section.is_tools or configuration.facts.settled.is_off(section):
            continue
        yield from _iter_pruned(pack, configuration.plan, section, items)
        if items.freeze is not None:
            if items.freeze.late is None and _is_in_time(items):
                why = "an item that a cut removed comes back after all others"
                message = f"`{section.id}` is ordered by time, and its `freeze` has no `late`: {why}"
                help = "write `late: false` next to `shown`: such an item then stays out, and the oldest are removed first"
                yield Diagnostic("PC0685", message, items.freeze.span, help, "warn")
        elif section.id in kept and not items.sort:
            yield from _tell_unsorted(section, items, changes)


def _is_in_time(items: Items) -> bool:
    """Return whether a list is a history: it is read from its newest end, or its elements say who speaks."""
    return items.window is not None or (items.message is not None and any(path[0] == "item" for path in items.message.role.reads))


def _tell_unsorted(section: Section, items: Items, changes: _Changes) -> Iterator[Diagnostic]:
    """Report a list without `sort`: results of an index, which come best first, or a list of the state in its own order.

    A list of the state is not reported if it is a history or the schema says how often it changes.
    """
    help = "sort it by a key that differs for each item: `sort: item.id`"
    if isinstance(items.source, Retrieve) and items.source.top > 1:
        message = f"`{section.id}` has no `sort`: its index returns the best match first, so another query may change only the order"
        yield Diagnostic("PC0686", message, items.source.span, f"{help}; or keep what was shown in its place with `freeze`", "note")
    elif isinstance(items.source, Expression) and _PLAIN.fullmatch(items.source.text.strip()):
        is_history = _is_in_time(items) or items.number or items.keep or (items.limit is not None and items.limit.side == "last")
        if not is_history and not changes.is_told_of(tuple(items.source.text.strip().split(".")[1:])):
            message = f"`{section.id}` has no `sort`: its items keep the order of the state, and another order there makes another prompt"
            more = "if your program only appends to it, say so in the schema with `x-changes`"
            yield Diagnostic("PC0686", message, items.source.span, f"{help}; {more}", "note")


def _iter_pruned(pack: PackModel, plan: Plan, section: Section, items: Items) -> Iterator[Diagnostic]:
    """Report a list without numbers of its own that an operation prunes, if something counts its items by their places."""
    if items.number is not None or not isinstance(items.source, Expression):
        return
    pruned = [
        (operation.name, edit.pointer)
        for operation in pack.operations
        for edit in operation.edits
        if isinstance(edit, Keep) or (isinstance(edit, Remove) and edit.pointer.rpartition("/")[2].isdecimal())
    ]
    for name, pointer in pruned:
        way = split_pointer(pointer)
        read = ("state", *(way[:-1] if way and way[-1].isdecimal() else way))
        what = _name_counting(section, plan, items) if read in items.source.reads else ""
        if what:
            message = f"the operation `{name}` prunes the list of `{section.id}`, which has no `number`: {what}, and all positions shift"
            help = "give each element a number that it keeps, and write `number: item.seq`"
            yield Diagnostic("PC0687", message, items.source.span, help, "warn" if items.freeze is not None else "note")
            return


def _name_counting(section: Section, plan: Plan, items: Items) -> str:
    """Return what counts items by their places; empty if nothing does."""
    texts = (*items.forms, *((items.fence.open, items.fence.close) if items.fence is not None else ()))
    evictions = (step for step in (*section.overflow, *plan.list_shared_steps()) if isinstance(step, Evict) and section.id in step.sections)
    if items.window is not None and items.window.step > 1 and items.window.whole == "item":
        return f"`window.step: {items.window.step}` counts by positions"
    if items.freeze is not None and items.id is None:
        return "`freeze` identifies items by their positions"
    if items.freeze is None and any(step.step > 1 and step.whole != "group" for step in evictions):
        return "`step` of its `evict` counts by positions"
    if any(("this", "number") in text.reads for text in texts):
        return "its texts show positions as `this.number`"
    return ""


def _tells_shown(section: Section, code: Expression | Template) -> bool:
    """Return whether the code lists what the turn before showed. Changes there do not change the prompt."""
    return section.items is not None and section.items.freeze is not None and section.items.freeze.shown is code


def _tell_late(first: tuple[Section, str], stable: Section) -> Diagnostic:
    changing, key = first
    message = f"`{changing.id}` changes in each turn, with `{key}`, but comes before `{stable.id}`, which does not change"
    patch = f"`{changing.id}: {{after: {stable.id}}}`"
    help = f"put it after the parts that stay the same: a provider caches a prompt from its beginning. As a patch: {patch}"
    return Diagnostic("PC0661", message, changing.span, help, "note")


def _tell_vain(section: Section, changing: Section, key: str) -> Diagnostic:
    message = f"the breakpoint of `{section.id}` has no effect: `{changing.id}` before it changes in each turn"
    help = f"put `{changing.id}` after it, or remove `cache: true`"
    if section.id == changing.id:
        message = f"the breakpoint of `{section.id}` has no effect: `{section.id}` itself changes in each turn, with `{key}`"
        help = f"move what reads `{key}` into a section of its own after it, or remove `cache: true`"
    return Diagnostic("PC0662", message, section.span, help, "warn")


def _order_sent(plan: Plan) -> list[Section]:
    """Return the sections in the order in which they are in a request."""
    sections = {section.id: section for section in plan.sections if not section.is_tools}
    if plan.output.format == "text":
        return list(sections.values())
    return [sections[name] for message in plan.output.messages for name in message.sections if name in sections]


def _is_in_vain(plan: Plan, section: Section, changing: Section) -> bool:
    """Return whether a changing section comes before the end of what a breakpoint keeps.

    A list that changes may only grow, so its own breakpoint can still be found.
    """
    order = [one.id for one in _order_sent(plan)]
    if section.id == changing.id:
        return section.items is None
    return section.id in order and changing.id in order and order.index(section.id) > order.index(changing.id)


class _Changes:
    """What the schema of the states says about how often its parts change: `x-changes: each_turn | seldom | never`."""

    def __init__(self, pack: PackModel) -> None:
        self._schema = pack.schema or {}
        self._lets = {let.name: let.expression.reads for let in pack.lets}
        self.is_told = _says_changes(self._schema)

    def is_told_of(self, path: tuple[str, ...]) -> bool:
        """Return whether the schema says how often a part, or a part around it, changes."""
        return bool(self._read(path))

    def find_changing(self, reads: Collection[tuple[str, ...]]) -> str | None:
        """Return the first part that changes in each turn, as an expression names it, or None if the schema says so of none."""
        for path in reads:
            if path[0] == "state":
                if self._read(path[1:]) == "each_turn":
                    return ".".join(path)
            elif path[0] in self._lets:
                found = self.find_changing([one for one in self._lets[path[0]] if one[0] != path[0]])
                if found is not None:
                    return found
        return None

    def _read(self, path: tuple[str, ...]) -> str:
        """Return what the schema says of a part, or of the nearest part around it."""
        schema, told = self._resolve(self._schema), ""
        for step in ("", *path):
            schema = self._resolve(schema.get("properties", {}).get(step, {})) if step else schema
            told = str(schema.get(CHANGES, told))
        return told

    def _resolve(self, schema: Any) -> dict[str, Any]:
        """Replace a reference to a definition in the same file by the definition."""
        for _ in range(_MOST_REFERENCES):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            target = find_at(self._schema, reference[1:])
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}} if isinstance(target, dict) else {}
        return schema if isinstance(schema, dict) else {}


def _says_changes(schema: Any) -> bool:
    """Return whether `x-changes` occurs anywhere in a schema."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return (isinstance(schema, dict) and CHANGES in schema) or any(map(_says_changes, inner))


@lru_cache(maxsize=256)
def list_literal_names(text: str) -> tuple[tuple[int, str, str], ...]:
    """Return what looks like names that were to be printed, outside tags and code: the offset, the text, and the name of each."""
    bare = _BARE.fullmatch(text) if len(text) < _LONGEST_NAME else None
    if bare is not None:
        return ((bare.start(1), bare[1], bare[1]),)
    plain = text
    for pattern in (_RAW, _TAG, _CODE):
        plain = pattern.sub(lambda found: " " * len(found[0]), plain)
    return tuple((found.start(), found[0], found[1]) for found in _BRACED.finditer(plain))


def _list_offered(plan: Plan) -> list[Tool]:
    """Return the tools from files that a plan may offer."""
    items = [section.items.tool for section in plan.sections if section.items is not None and section.items.tool is not None]
    return [*plan.tools, *(tool for one in items for tool in one.listed or ())]


def check_unused_tools(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report tools that a list names and no combination of cases, tiers and patches offers.

    Also report files that look like tools and that no list names.
    """
    if configurations.failed:
        return  # one of them may offer it
    offers = pack.load_offers()
    used = {id(tool) for one in configurations for plan in (one.plan, one.base) for tool in _list_offered(plan)}
    unused = {id(tool): (tool, span) for tool, span in offers.listed if id(tool) not in used}
    for tool, span in unused.values():
        message = f"the tool `{tool.name}` is never offered: in every combination, other lists replace this one"
        yield Diagnostic("PC0647", message, span, "add it to a list that is used, or remove it", "warn")
    for file, span in offers.loose:
        message = f"`{file}` looks like a tool, but no list names it"
        yield Diagnostic("PC0647", message, span, "name it under `tools`, here or in a case, or remove the file", "warn")


@lru_cache(maxsize=256)
def list_eaten(text: str) -> tuple[tuple[int, str], ...]:
    """Return the block tags and comments that end a line of output and also remove its line end, so that text of a later line joins it.

    Each is returned as the offset of its `%}` plus 1, and the tag. A tag that states its intent (`-%}`, `+%}`, or `{%-` on the next line)
    is left out.
    """
    return tuple(_iter_eaten(text))


def _iter_eaten(text: str) -> Iterator[tuple[int, str]]:
    plain = _RAW.sub(lambda found: found[1] + re.sub(r"[^\n]", "x", found[2]) + found[3], text)
    for found in _TAG.finditer(plain):
        tag = found[0]
        if tag.startswith("{{") or tag[-3] in "-+" or not plain.startswith("\n", found.end()):
            continue
        if _puts_out_text(plain, found.start(), found.end()) and _is_followed(plain, found.end() + 1):
            yield found.end() - 1, re.sub(r"\s+", " ", tag)


def _puts_out_text(text: str, begin: int, stop: int) -> bool:
    """Return whether the tag from `begin` to `stop`, which may span lines, shares its first or last line with text."""
    start = text.rfind("\n", 0, begin) + 1
    return bool(_SILENT.sub("", text[start:stop]).strip())


def _is_followed(text: str, place: int) -> bool:
    """Return whether the next output, from `place` on, is text of that line: not a blank line or what follows the template."""
    while True:
        start = _INDENT.match(text, place).end()  # type: ignore[union-attr]
        found = _TAG.match(text, start)
        if found is None or found[0].startswith("{{"):
            return start < len(text) and text[start] != "\n"
        if found[0].startswith(("{%-", "{#-")):
            return False
        name = _name_tag(found[0])
        if name in _PUTS_OUT:
            return True
        if name in _ELSEWHERE:
            return False
        place = found.end()
        if name in ("elif", "else", "macro") or _BLOCK_SET.fullmatch(found[0]):
            closing, place = _skip(text, place)
            if closing == "endfor":
                return True
        place += text.startswith("\n", place)


def _name_tag(tag: str) -> str:
    found = _NAME.match(tag)
    return found[1] if found is not None else ""


def _skip(text: str, place: int) -> tuple[str, int]:
    """Return the name of the tag that closes what is open at `place`, and the offset after it."""
    depth = 1
    for found in _TAG.finditer(text, place):
        name = _name_tag(found[0])
        if name in _OPENING or _BLOCK_SET.fullmatch(found[0]):
            depth += 1
        elif name.startswith("end"):
            depth -= 1
        if not depth:
            return name, found.end()
    return "", len(text)
