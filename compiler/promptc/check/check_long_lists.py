"""Lists that are read and counted whole, however long they are (language.md §5, Reach)."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import fold_looks
from promptc.check.looks import Look
from promptc.check.settled import is_off
from promptc.check.sources import is_bounded
from promptc.diag.diagnostic import Diagnostic
from promptc.model.pack import Pack
from promptc.model.reach import has_reach
from promptc.model.section import Section


def check_long_lists(pack: Pack, looks: Sequence[Look]) -> Iterator[Diagnostic]:
    """Lists that neither a window, `limit`, reach nor the schema (`maxItems`) bounds."""
    return fold_looks(looks, lambda look: _iter_look(pack, look))


def _iter_look(pack: Pack, look: Look) -> Iterator[Diagnostic]:
    for section in look.plan.sections:
        items = section.items
        if items is None or items.window is not None or items.limit is not None or is_off(section, pack):
            continue
        if not has_reach(section, look.plan, pack) and not is_bounded(items.source, pack):
            message = f"every item of `{section.id}` is read and counted, however many there are: {_explain(section)}"
            yield Diagnostic(
                "PC0640", message, items.source.span, "give `items` a `window`, or its list a `maxItems` in the schema", "warn"
            )


def _explain(section: Section) -> str:
    items = section.items
    stages = [key for key in ("sort", "dedupe", "limit_per", "group") if items is not None and getattr(items, key)]
    if section.pinned:
        return "the section is pinned"
    if stages:
        return f"{', '.join(f'`{key}`' for key in stages)} must see all of them"
    return "no window bounds it, and more than the eviction of the oldest looks at it"
