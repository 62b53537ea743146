"""Axes whose cases are moods, models or presets: a case that says nothing where the others speak, a value that is no case."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from promptc.check.list_values import list_values
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, suggest
from promptc.model.pack import Axis, PackModel
from promptc.model.state import Node

_SOURCES = ("template", "text")
_OF_ITEMS = ("from", "text", "template", "forms", "message")
_SHOWN = 4


def check_moods(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """A case that leaves a section as it is where other cases give it content, and that is not the one the section was written for: that
    is the default, or where there is none, the case that the section's own template is named after, or the only such case. And a value of
    the state's schema that selects no case, without a default.
    """
    for axis in pack.axes:
        yield from _iter_silent(pack, axis)
    if looks and pack.schema is not None:
        yield from _iter_unknown(pack, looks[0])


def _iter_silent(pack: PackModel, axis: Axis) -> Iterator[Diagnostic]:
    cases = pack.manifest.value["variants"].value[axis.name].value["cases"]
    changes = {name: list(_iter_changes(node, pack, ())) for name, node in cases.items()}
    filled = {name: [section for section, node in found if _fills(node)] for name, found in changes.items()}
    for section in dict.fromkeys(one for sections in filled.values() for one in sections):
        others = [name for name in axis.cases if section in filled[name]]
        silent = [name for name in axis.cases if not any(one == section and _speaks(node) for one, node in changes[name])]
        meant = axis.default if axis.default is not None else _find_meant(pack.manifest, section, silent)
        for name in silent if meant is not None or len(silent) > 1 else ():
            if name != meant:
                message = f"`{axis.name}={name}` has no template for `{section}`, as {_join(others)}: it gets the section's own"
                default = f"give it one, or make it the default, which the section's own is for: `default: {name}`"
                help = default if meant is None or meant == axis.default else f"give it one: the section's own is named after `{meant}`"
                yield Diagnostic("PC0645", message, cases.key_span(name), help, "warn")


def _find_meant(manifest: Node, section: str, silent: Sequence[str]) -> str | None:
    """The case that the section's own template is named after: `moods/scene.md` for `scene`."""
    sections = manifest.get("sections")
    own = sections.get(section) if sections is not None else None
    template = own.get("template") if own is not None else None
    words = PurePosixPath(str(template.value)).name.split(".") if template is not None else []
    return next((name for name in silent if name in words), None)


def _iter_changes(variation: Node, pack: PackModel, using: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
    """What it changes of sections, first what the patches do that it uses."""
    use = variation.get("use")
    for patch in use.value if use is not None and isinstance(use.value, tuple) else ():
        if patch.value in pack.patches and patch.value not in using:
            yield from _iter_changes(pack.patches[patch.value], pack, (*using, patch.value))
    sections = variation.get("sections")
    yield from sections.items() if sections is not None else ()


def _fills(change: Node) -> bool:
    items = change.get("items")
    return _has(change, _SOURCES) or (items is not None and _has(items, _OF_ITEMS))


def _speaks(change: Node) -> bool:
    """Whether it gives the section content, removes it or switches it."""
    return change.value is None or change.get("when") is not None or _fills(change)


def _has(node: Node, keys: Sequence[str]) -> bool:
    return any((found := node.get(key)) is not None and found.value is not None for key in keys)


def _join(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return f"{shown}{', ...' if len(names) > _SHOWN else ''} {'has' if len(names) == 1 else 'have'}"


def _iter_unknown(pack: PackModel, look: Configuration) -> Iterator[Diagnostic]:
    scopes = Scopes(pack)
    axes = {id(axis.select): axis for axis in pack.axes if axis.default is None}
    for text in iter_texts(pack, look.plan, 1):
        axis = axes.get(id(text.code))
        kind = scopes.find(text).kind if axis is not None else None
        values = list_values(kind) if kind is not None else None
        for value in values or ():
            if axis is not None and value not in axis.cases:
                wanted = f"`{axis.select.text.strip()}` may be `{value}`"
                message = f"by the schema {wanted}, which is no case of `{axis.name}`, and the axis has no default"
                near = suggest(value, axis.cases)
                help = near if near.startswith("did") else "give the axis a `default`, or a case for it"
                yield Diagnostic("PC0646", message, axis.select.span, help, "warn")
