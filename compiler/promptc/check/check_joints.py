"""Where shares are used, sections must meet at safe boundaries, or their charges do not add up to the total (language.md §11)."""

import re
from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts, is_share
from promptc.diag.findings import Diagnostic, Span
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Section
from promptc.template.compile import Template

_EMPTY_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_LOST = "a larger total may remove content"


def check_joints(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """What keeps sections from meeting safely: the counter, the separator, or how a section begins. Told only where a share is used."""
    settled = SettledTexts(pack)
    return merge_configurations(looks, lambda look: _iter_plan(pack, look.plan, settled))


def _iter_plan(pack: PackModel, plan: Plan, settled: SettledTexts) -> Iterator[Diagnostic]:
    sections = [section for section in plan.sections if not settled.is_off(section)]
    if len(sections) < 2 or not any(is_share(section) for section in sections):
        return
    counter, separator = pack.counting.counter, plan.output.separator
    if not counter.is_safe("x\n", "x"):
        message = f"sections share the total, and `{counter.name}` gives them no safe boundary: {_LOST}"
        help = "count with cl100k_base or o200k_base, or use numbers as caps"
        yield Diagnostic("PC0621", message, pack.manifest.value["tokenizer"].span, help, "warn")
    elif not counter.is_safe("x\n" + separator, "x"):
        message = f"sections share the total, and their separator does not end a line: {_LOST}"
        yield Diagnostic("PC0621", message, plan.output.span, "let `output.separator` end in a line end", "warn")
    elif not counter.is_safe("x\n" + separator, "/x"):
        yield from _iter_openings(sections[1:], counter.name, settled)


def _iter_openings(sections: Sequence[Section], counter: str, settled: SettledTexts) -> Iterator[Diagnostic]:
    """For o200k_base, which joins a `/` at the beginning of a line to what stands before."""
    for section in sections:
        opening = _find_opening(section, settled)
        if opening is None or opening.startswith("/"):
            how = "begins with `/`" if opening is not None else "may begin with `/`"
            message = f"`{section.id}` {how}, which {counter} may join to the section before: {_LOST}"
            help = f"give `{section.id}` a header or a fence that begins otherwise"
            yield Diagnostic("PC0621", message, _find_span(section), help, "warn")


def _find_opening(section: Section, settled: SettledTexts) -> str | None:
    """How the section's text begins in any state, or None when that depends on it."""
    items = section.items
    group = items.group.header if items is not None and items.group is not None else None
    fence = section.fence.open if section.fence is not None else None
    inner = items.fence.open if items is not None and items.fence is not None else None
    form = items.forms[0] if items is not None and items.forms else section.text
    first: Template | None = next((one for one in (fence, section.header, group, inner) if one is not None), form)
    if first is None:
        return None
    text = settled.find_static(first, section)
    literal = text if text is not None else re.split(r"\{[{%#]", first.text, maxsplit=1)[0]
    return _EMPTY_LINES.sub("", literal) or None


def _find_span(section: Section) -> Span:
    return section.fence.span if section.fence is not None else section.span
