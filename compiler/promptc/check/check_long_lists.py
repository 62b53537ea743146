"""Lists that are read and counted whole, however long they are (language.md §5, Reach)."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.settled import SettledTexts
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel, has_reach
from promptc.model.section import Evict, Items, Section
from promptc.template.types.algebra import find_count


def check_long_lists(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Lists that neither a window, `limit`, reach nor the schema (`maxItems`) bounds."""
    settled, scopes = SettledTexts(pack), Scopes(pack)
    return merge_configurations(looks, lambda look: _iter_look(pack, look, settled, scopes))


def _iter_look(pack: PackModel, look: Configuration, settled: SettledTexts, scopes: Scopes) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        section = text.section
        items = section.items if section is not None and section.items is not None and text.code is section.items.source else None
        if section is None or items is None or items.window is not None or items.limit is not None or settled.is_off(section):
            continue
        kind = scopes.find(text).kind
        if not has_reach(section, look.plan, pack) and (kind is None or find_count(kind) is None):
            message = f"`{section.id}` is read and counted whole, however long its list is: {_explain(section, items)}"
            help = "give `items` a `window` or a `limit`, or its list a `maxItems` in the schema"
            yield Diagnostic("PC0640", message, items.source.span, help, "warn")


def _explain(section: Section, items: Items) -> str:
    """Why the newest end alone does not do."""
    stages = [f"`{key}`" for key in ("sort", "dedupe", "limit_per", "group", "message") if getattr(items, key)]
    if section.pinned:
        return "it is pinned"
    if stages:
        return f"{', '.join(stages)} must see all of it" if stages != ["`message`"] else "its items are messages"
    first = section.overflow[0] if section.overflow else None
    if isinstance(first, Evict):
        chooses = first.order or first.by is not None or first.marker is not None or first.whole == "group"
        return "its `evict` must see all of it" if chooses else "a later step or another section must see all of it"
    return f"its ladder begins with `{type(first).__name__.lower()}`" if first is not None else "it has no ladder"
