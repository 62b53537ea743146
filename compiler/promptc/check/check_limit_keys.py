"""`limit_per` against the schema: caps for values that never come, and values that pass without a cap."""

import re
from collections.abc import Iterator, Sequence

from promptc.check.fold import fold_looks
from promptc.check.looks import Look
from promptc.check.sources import find_source
from promptc.check.state_shape import StateShape
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.suggest import suggest
from promptc.model.pack import Pack, Plan
from promptc.model.section import LimitPer, Section, spell_key

_ITEM_PATH = re.compile(r"\s*item((?:\.[A-Za-z_]\w*)+)\s*")


def check_limit_keys(pack: Pack, looks: Sequence[Look]) -> Iterator[Diagnostic]:
    """Compares `caps` with the `enum` of the field they are given for, where both can be told."""
    if pack.schema is None:
        return iter(())
    shape = StateShape(pack.schema)
    return fold_looks(looks, lambda look: _iter_plan(look.plan, shape))


def _iter_plan(plan: Plan, shape: StateShape) -> Iterator[Diagnostic]:
    for section in plan.sections:
        limit = section.items.limit_per if section.items is not None else None
        values = _find_values(section, limit, shape) if limit is not None else None
        if limit is not None and values is not None:
            yield from _compare(section, limit, values)


def _find_values(section: Section, limit: LimitPer, shape: StateShape) -> list[str] | None:
    source, field = find_source(section), _ITEM_PATH.fullmatch(limit.by.text)
    element = shape.find_element(source) if source is not None else None
    if field is None or element is None:
        return None
    values = shape.list_values(field[1].split(".")[1:], element)
    return [spell_key(value) for value in values] if values is not None else None


def _compare(section: Section, limit: LimitPer, values: Sequence[str]) -> Iterator[Diagnostic]:
    capped, field = [name for name, _ in limit.caps], limit.by.text.strip()
    for name in capped:
        if name not in values:
            message = f"`limit_per` of `{section.id}` caps `{name}`, and by the schema `{field}` is never that"
            yield Diagnostic("PC0637", message, limit.by.span, suggest(name, values) or "take it out", "warn")
    free = [f"`{value}`" for value in values if value not in capped]
    if free:
        message = (
            f"`limit_per` of `{section.id}` has no cap for {', '.join(free[:4])}{', ...' if len(free) > 4 else ''}: these pass unlimited"
        )
        yield Diagnostic("PC0638", message, limit.by.span, "name them in `caps`", "warn")
