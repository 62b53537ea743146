"""The ids of a section's items (language.md §4)."""

from collections.abc import Iterable, Mapping

from promptc.diag.typed import Any
from promptc.model.section import Items, spell_key
from promptc.passes.items.read import Read
from promptc.passes.scope import evaluate_key


def find_id(items: Items, read: Read, names: Mapping[str, Any], section: str) -> str:
    """What an item is called before it is compared with others: its `id`, else its number. `names` are those bound to it."""
    value = evaluate_key(items.id, names, f"`id` of `{section}`") if items.id is not None else None
    return str(read.number) if value is None else spell_key(value)


def name_items(pairs: Iterable[tuple[Read, str]]) -> tuple[dict[int, str], dict[str, str]]:
    """The ids by place, no two alike, and what became of the second of every name that was met again, in the source's order.

    The first of a name keeps it; later ones get `#2`, `#3` ..., without the names that other items have of themselves.
    """
    ordered = sorted(pairs, key=lambda pair: pair[0].place)
    taken = {name for _, name in ordered}
    met: dict[str, int] = {}
    again: dict[str, str] = {}
    ids: dict[int, str] = {}
    for read, name in ordered:
        if name not in met:
            met[name], ids[read.place] = 1, name
            continue
        met[name] += 1
        while f"{name}#{met[name]}" in taken:
            met[name] += 1
        ids[read.place] = f"{name}#{met[name]}"
        taken.add(ids[read.place])
        again.setdefault(name, ids[read.place])
    return ids, again
