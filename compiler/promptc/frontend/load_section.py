"""One section out of an effective manifest."""

from collections.abc import Iterator

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import replace
from promptc.frontend.load_source import Declared, load_field
from promptc.frontend.load_steps import load_ladder
from promptc.frontend.read_budget import read_budget
from promptc.frontend.sections import load_fence, load_items
from promptc.frontend.texts import TextCompiler
from promptc.model.section import DEFAULT, Evict, Fence, Items, Retrieve, Section, Step, Trim, iter_expressions
from promptc.model.state import Node
from promptc.template.compile import Expression, Template

_LADDERS = ("do", "truncate")


def load_section(name: str, node: Node, shared_fence: Fence | None, declared: Declared, compiler: TextCompiler) -> Section:
    """The compiled section `name`; `shared_fence` is the output's, used where the section names none of its own."""
    if name in _LADDERS:
        message = f"a section cannot be called `{name}`: reports call a ladder so"
        compiler.findings.append(Diagnostic("PC0246", message, node.span, "give it another id"))
    text, items = _load_content(node, declared, compiler)
    own_fence = node.get("fence")
    budget, pinned = node.get("budget"), _flag(node, "pinned")
    as_messages = items is not None and items.message is not None
    fence = load_fence(own_fence, compiler) if own_fence is not None else shared_fence
    section = Section(
        id=name,
        title=_text(node, "title") or name,
        role=_text(node, "role") or ("user" if name == "input" else "system"),  # type: ignore[arg-type]
        span=node.span,
        when=compiler.find_expression(node.get("when")),
        pinned=pinned,
        required=_flag(node, "required"),
        cache=_flag(node, "cache"),
        header=None if as_messages else compiler.find_inline(node.get("header")),
        budget=read_budget(budget) if budget is not None else None,
        fence=None if as_messages else fence,
        separator=_find_text(node, "separator"),
        text=text,
        items=items,
        overflow=_load_overflow(name, node, pinned, items, compiler),
        note=_text(node, "note"),
    )
    return _with_reads(section)


def _load_content(node: Node, declared: Declared, compiler: TextCompiler) -> tuple[Template | None, Items | None]:
    if node.get("template") is not None:
        return compiler.file(node.value["template"]), None
    if node.get("text") is not None:
        return compiler.inline(node.value["text"]), None
    return None, load_items(node.value["items"], declared, compiler)


def _load_overflow(name: str, node: Node, pinned: bool, items: Items | None, compiler: TextCompiler) -> tuple[Step, ...]:
    overflow = node.get("overflow")
    if overflow is not None:
        return load_ladder(overflow, name, compiler)
    if pinned:
        return ()
    label = f"{name}{DEFAULT}"
    if items is None:
        return (Trim(section=name, label=label, span=node.span, warn=True),)
    by = load_field(node.value["items"].value["from"], "score", compiler) if isinstance(items.source, Retrieve) else None
    return (Evict(section=name, label=label, span=node.span, by=by, warn=True),)


def _with_reads(section: Section) -> Section:
    paths = frozenset(path for one in _iter_selecting(section) for path in one.reads)
    return replace(section, reads=paths)


def _iter_selecting(section: Section) -> Iterator[Expression | Template]:
    fence = section.fence
    for one in (section.when, section.header, section.text, fence.open if fence else None, fence.close if fence else None):
        if one is not None:
            yield one
    if section.items is not None:
        yield from _iter_items(section.items)


def _iter_items(items: Items) -> Iterator[Expression | Template]:
    yield from (one for _, one in iter_expressions(items.source))
    yield from items.forms
    yield from (key.by for key in items.sort)
    for matches in (items.anchors, *items.keep):
        if matches is not None:
            yield matches.where
            if matches.last is not None:
                yield matches.last
    optional = (
        items.id, items.number, items.where, items.tally,
        items.window.last if items.window and not isinstance(items.window.last, int) else None,
        items.dedupe.by if items.dedupe else None,
        items.limit_per.by if items.limit_per else None,
        items.group.by if items.group else None,
        items.group.header if items.group else None,
        items.message.role if items.message else None,
        items.message.content if items.message else None,
        items.trim_each.marker if items.trim_each else None,
        items.fence.open if items.fence else None,
        items.fence.close if items.fence else None,
    )  # fmt: skip
    yield from (one for one in optional if one is not None)


def _flag(node: Node, key: str) -> bool:
    found = node.get(key)
    return bool(found.value) if found is not None else False


def _text(node: Node, key: str) -> str:
    return _find_text(node, key) or ""


def _find_text(node: Node, key: str) -> str | None:
    found = node.get(key)
    return str(found.value) if found is not None and found.value is not None else None
