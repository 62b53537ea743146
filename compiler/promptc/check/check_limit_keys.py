"""`limit_per` against the schema: caps for values that never come, and values that pass without a cap."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.list_values import list_values
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, suggest
from promptc.model.pack import PackModel
from promptc.model.section import LimitPer, Section


def check_limit_keys(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Compares `caps` with the values that `by` may have, where they are listed."""
    scopes = Scopes(pack)
    return merge_configurations(looks, lambda look: _iter_look(pack, look, scopes))


def _iter_look(pack: PackModel, look: Configuration, scopes: Scopes) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        section = text.section
        limit = section.items.limit_per if section is not None and section.items is not None else None
        if section is None or limit is None or text.code is not limit.by:
            continue
        kind = scopes.find(text).kind
        values = list_values(kind) if kind is not None else None
        if values is not None:
            yield from _compare(section, limit, values)


def _compare(section: Section, limit: LimitPer, values: Sequence[str]) -> Iterator[Diagnostic]:
    capped, field = [name for name, _ in limit.caps], limit.by.text.strip()
    for name, place in zip(capped, limit.places, strict=True):
        if name not in values:
            message = f"`limit_per` of `{section.id}` caps `{name}`, and by the schema `{field}` is never that"
            yield Diagnostic("PC0637", message, place, suggest(name, values) or "take it out", "warn")
    free = [f"`{value}`" for value in values if value not in capped]
    if free:
        message = (
            f"`limit_per` of `{section.id}` has no cap for {', '.join(free[:4])}{', ...' if len(free) > 4 else ''}: these pass unlimited"
        )
        yield Diagnostic("PC0638", message, limit.by.span, "name them in `caps`", "warn")
