"""Doubles of which not the best stays: `dedupe` comes before `sort` (language.md §4)."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.model.section import Items, Section
from promptc.template.compile import Expression
from promptc.template.types.algebra import read_code
from promptc.template.types.filters import list_filters

_ORDERING = frozenset(("dictsort", "reverse", "sort"))
"""Filters whose author has thought of an order."""


def check_dedupe_order(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Lists whose `dedupe` keeps the first by the source's order, and whose `sort` may prefer a later one."""
    lets = {let.name: let.value for let in pack.lets if isinstance(let.value, Expression)}
    return merge_configurations(looks, lambda look: _iter_look(look, lets))


def _iter_look(look: Configuration, lets: dict[str, Expression]) -> Iterator[Diagnostic]:
    for section in look.plan.sections:
        items = section.items
        if items is not None and isinstance(items.source, Expression) and _prefers_another(items) and not _is_ordered(items.source, lets):
            yield _report(section, items, items.source)


def _prefers_another(items: Items) -> bool:
    """True where `sort` looks at what doubles may differ in, and is not simply the order of the source."""
    dedupe = items.dedupe
    if dedupe is None or dedupe.keep != "first" or not items.sort:
        return False
    first = items.sort[0]
    is_source = not first.desc and (("this", "number") in first.by.reads or _spell(first.by) == _spell(items.number))
    return not is_source and any(not key.by.reads <= dedupe.by.reads for key in items.sort)


def _spell(expression: Expression | None) -> str:
    return expression.text.strip() if expression is not None else ""


def _is_ordered(source: Expression, lets: dict[str, Expression]) -> bool:
    """True where the source, or a `let` it names, is put in order there."""
    return bool(list_filters(read_code(source)) & _ORDERING) or any(
        _is_ordered(lets[path[0]], lets) for path in source.reads if path[0] in lets
    )


def _report(section: Section, items: Items, source: Expression) -> Diagnostic:
    message = f"`dedupe` of `{section.id}` keeps the first of two doubles, before `sort`: the one that `sort` would put first may be gone"
    return Diagnostic("PC0674", message, items.dedupe.span if items.dedupe else items.span, _find_help(items, source), "note")


def _find_help(items: Items, source: Expression) -> str:
    """The sort as it stands in `from`, where it can be written there: by one key of the item."""
    first, text = items.sort[0], source.text.strip()
    key = first.by.text.strip().removeprefix("item.")
    is_plain = key.replace("_", "a").isalnum() and first.by.text.strip().startswith("item.") and "\n" not in text
    if not is_plain:
        return "sort in `from`, so that the best of two stands first"
    held = text if text.replace("_", "a").replace(".", "a").isalnum() else f"({text})"
    return f"sort in `from`: `{held} | sort(attribute='{key}'{', reverse=true' if first.desc else ''})`"
