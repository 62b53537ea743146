"""All lints over one pack (language.md §12, `check`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from promptc.check.configurations import (
    Configuration,
    Configurations,
    SettledTexts,
    list_configurations,
    merge_configurations,
    merge_findings,
)
from promptc.check.rules.budgets import check_bounds, check_joints, check_monotony, check_totals, check_worst_case
from promptc.check.rules.items import check_against, check_dedupe_order, check_idle_caps, check_limit_keys, check_long_lists, check_parts
from promptc.check.rules.operations import check_operations
from promptc.check.rules.overlap import check_alike, check_compared, check_overlaps, check_repeats
from promptc.check.rules.reads import check_reads, check_unmet
from promptc.check.rules.steps import check_dead_steps, check_fixed_steps, check_idle_trims, check_unwalked
from promptc.check.rules.variants import check_bands, check_conflicts, check_moods, check_never_on, check_tiers
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, Span, sort_diagnostics
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Section
from promptc.template.compile import Template
from promptc.text.characters import is_blank

Rule = Callable[[PackModel, Sequence[Configuration]], Iterator[Diagnostic]]
MONOTONY = frozenset({"PC0617", "PC0618", "PC0619", "PC0620", "PC0621"})
"""The codes that name what voids the guarantee that a larger total never removes content."""

PROOFS = frozenset({"PC0656"})
"""The codes that say what holds of every valid state. Nothing is proved of a pack that some state, or every one, makes fail."""

_SHOWN = 50  # characters of a tag that a message can bear
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
MOST = 4
"""Breakpoints in one request, of the provider that takes most."""


def check_text_offers(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A note where the output is text in every combination, and some offer tools or ask for an answer by a schema."""
    if any(look.plan.output.format == "messages" for look in looks):
        return
    offering = next((look.plan for look in looks if look.plan.tools or look.plan.response is not None), None)
    if offering is None:
        return
    parts = [*(["tools"] if offering.tools else []), *(["response"] if offering.response is not None else [])]
    are = "is" if parts == ["response"] else "are"
    message = f"{' and '.join(parts)} {are} left out of text, and this pack renders text"
    help = "write `output: {format: messages}`, or ask for messages or a provider by `--format`"
    yield Diagnostic("PC0649", message, pack.manifest.key_span(parts[0]), help, "note")


def check_breakpoints(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """`cache: true` on more sections than that, those that are never on aside."""
    settled = SettledTexts(pack)
    return merge_configurations(looks, lambda look: _iter_plan(look.plan, settled))


def check_empty_texts(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A section whose whole text is a file of white space in some combinations, and has content in others. `text: ''` is how an author
    says that there is to be none."""
    filled = {section.id for look in looks for section in look.plan.sections if not _is_empty(section)}
    return merge_configurations(looks, lambda look: (_describe(one) for one in look.plan.sections if one.id in filled and _is_empty(one)))


def check_line_ends(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Lines of templates whose text runs into the next line's. A `+%}` keeps the line end, a `-%}` says that it may go."""
    eaten: dict[str, tuple[tuple[int, str], ...]] = {}
    return merge_configurations(looks, lambda look: _iter_look(pack, look, eaten))


RULES: tuple[Rule, ...] = (
    check_fixed_steps,
    check_bounds,
    check_totals,
    check_dead_steps,
    check_unwalked,
    check_tiers,
    check_monotony,
    check_joints,
    check_reads,
    check_worst_case,
    check_against,
    check_limit_keys,
    check_long_lists,
    check_line_ends,
    check_moods,
    check_empty_texts,
    check_bands,
    check_breakpoints,
    check_text_offers,
    check_operations,
    check_overlaps,
    check_alike,
    check_compared,
    check_repeats,
    check_idle_caps,
    check_idle_trims,
    check_dedupe_order,
    check_unmet,
    check_parts,
)


def check_unused_tools(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A tool that some list names, and that is in force in no combination of cases, tiers and patches; a file beside the tools that looks
    like one, and that no list names.
    """
    offers = pack.find_offers()
    used = {id(tool) for look in looks for plan in (look.plan, look.base) for tool in plan.tools}
    unused = {id(tool): (tool, span) for tool, span in offers.listed if id(tool) not in used}
    for tool, span in unused.values():
        message = f"the tool `{tool.name}` is never offered: other lists take the place of this one in every combination"
        yield Diagnostic("PC0647", message, span, "name it in a list that is in force, or take it out", "warn")
    for file, span in offers.loose:
        message = f"`{file}` looks like a tool, and no list names it"
        yield Diagnostic("PC0647", message, span, "name it under `tools`, here or in a case, or remove the file", "warn")


RULES_OF_ALL: tuple[Rule, ...] = (check_never_on, check_unused_tools)
"""Rules that say what holds in no combination: not asked where one does not load."""


def check_pack(pack: PackModel) -> tuple[Diagnostic, ...]:
    """Every finding about a loaded pack, each once, sorted; what was found while loading is among them. Never raises for what is wrong
    in the pack: a combination that does not load is a finding."""
    looks = list_configurations(pack)
    found = [*pack.warnings, *_iter_whole(pack, looks), *check_conflicts(pack)]
    for rule in (*RULES, *(RULES_OF_ALL if not looks.failed else ())):
        found.extend(rule(pack, looks.loaded))
    if any(one.level == "error" for one in found):
        found = [one for one in found if one.code not in PROOFS]
    return sort_diagnostics(found)


def _iter_whole(pack: PackModel, looks: Configurations) -> Iterator[Diagnostic]:
    yield from merge_findings(looks.failed, [look.combination for look in looks.loaded])
    if looks.looked < looks.count:
        message = f"looked at {looks.looked} of {looks.count} combinations of variants and tiers: every case alone over the defaults"
        yield Diagnostic("PC0644", message, pack.manifest.key_span("variants"), "findings that take two cases may be missing", "note")
    if pack.schema is None:
        message = "the pack declares no schema of its states: what it reads of them cannot be checked"
        yield Diagnostic("PC0642", message, pack.manifest.span, "name one: `state: {schema: state.schema.json}`", "note")


def _iter_look(pack: PackModel, look: Configuration, eaten: dict[str, tuple[tuple[int, str], ...]]) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        template = text.code
        if not isinstance(template, Template) or not (template.place.inline or template.place.span.file.endswith(".j2")):
            continue
        if template.text not in eaten:
            eaten[template.text] = tuple(find_eaten(template.text))
        for at, tag in eaten[template.text]:
            tag = tag if len(tag) <= _SHOWN else f"{tag[: _SHOWN // 2]} … {tag[-2:]}"
            line = template.text.count("\n", 0, at) + 1
            where = f"line {line} of {text.what}" if template.place.inline else "this line"
            message = f"the `{tag}` at the end of {where} takes the line end too: what follows is glued to it"
            help = f"write `{tag[:-2]}+{tag[-2:]}` to keep the line end, or `{tag[:-2]}-{tag[-2:]}` to say that it may go"
            yield Diagnostic("PC0641", message, template.place.make_span("", template.text, at), help, "warn")


def find_eaten(text: str) -> Iterator[tuple[int, str]]:
    """Where lines that put out text end in a block tag or comment which takes the line end, and run into text of a later line.

    The place of its `%}` (characters before it, plus 1), and that tag. A tag that says what it means (`-%}`, `+%}`, `{%-` on the next line)
    is left alone.
    """
    plain = _RAW.sub(lambda found: found[1] + re.sub(r"[^\n]", "x", found[2]) + found[3], text)
    for found in _TAG.finditer(plain):
        tag = found[0]
        if tag.startswith("{{") or tag[-3] in "-+" or not plain.startswith("\n", found.end()):
            continue
        if _puts_out_text(plain, found.start(), found.end()) and _is_followed(plain, found.end() + 1):
            yield found.end() - 1, re.sub(r"\s+", " ", tag)


def _puts_out_text(text: str, begin: int, stop: int) -> bool:
    """Whether the tag from `begin` to `stop`, which may have lines of its own, shares the line it begins or ends on with text."""
    start = text.rfind("\n", 0, begin) + 1
    return bool(_SILENT.sub("", text[start:stop]).strip())


def _is_followed(text: str, place: int) -> bool:
    """True when what is put out next, from `place` on, is text of that line: not a blank line, and not what stands behind the template."""
    while True:
        start = _INDENT.match(text, place).end()  # type: ignore[union-attr]
        found = _TAG.match(text, start)
        if found is None or found[0].startswith("{{"):
            return start < len(text) and text[start] != "\n"
        if found[0].startswith(("{%-", "{#-")):
            return False
        name = _find_name(found[0])
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


def _skip(text: str, place: int) -> tuple[str, int]:
    """The tag that closes what is open at `place`, and the place behind it."""
    depth = 1
    for found in _TAG.finditer(text, place):
        name = _find_name(found[0])
        if name in _OPENING or _BLOCK_SET.fullmatch(found[0]):
            depth += 1
        elif name.startswith("end"):
            depth -= 1
        if not depth:
            return name, found.end()
    return "", len(text)


def _find_name(tag: str) -> str:
    found = _NAME.match(tag)
    return found[1] if found is not None else ""


def _is_empty(section: Section) -> bool:
    text = section.text
    return isinstance(text, Template) and not text.place.inline and is_blank(text.text)


def _describe(section: Section) -> Diagnostic:
    assert isinstance(section.text, Template)
    message = f"the template of `{section.id}` is empty here, and other cases give the section content"
    span = Span(section.text.place.span.file, 1, 1)
    return Diagnostic("PC0677", message, span, "write it; if there is to be none, say so: `text: ''`, or `null` for the section", "warn")


def _iter_plan(plan: Plan, settled: SettledTexts) -> Iterator[Diagnostic]:
    cached = [section for section in plan.sections if section.cache and not settled.is_off(section)]
    if len(cached) > MOST:
        names = ", ".join(f"`{section.id}`" for section in cached[:-MOST])
        message = f"`cache: true` stands on {len(cached)} sections, and no provider takes more than {MOST} breakpoints"
        help = f"the last ones count: where all are present, {names} would get none"
        yield Diagnostic("PC0648", message, cached[0].span, help, "warn")
