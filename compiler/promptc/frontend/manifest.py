"""Variations (language.md §6): one manifest laid over another, places kept.

A manifest's `sections` are held as a mapping by id here, in output order (`index_sections`); what a variation does
not touch stays the same Node, so that compiled sections can be kept by identity.
"""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, suggest
from promptc.diag.frozen import replace
from promptc.model.state import Node

SOURCES = ("template", "text", "items")
RENDERINGS = ("text", "template", "forms", "message")
_ELSEWHERE = ("segments", "retrieve")
_LOCKED = ("pinned", "required")
_PLACING = ("before", "after")


def apply_variation(manifest: Node, variation: Node, patches: Mapping[str, Node], findings: list[Diagnostic]) -> Node:
    """`manifest` with `variation` laid over it, its `use` first. What is wrong is added to `findings`."""
    return _apply(manifest, variation, patches, findings, ())


def apply_extension(parent: Node, child: Node, findings: list[Diagnostic]) -> Node:
    """The manifest of a pack that extends another: `child` may set every key."""
    return _merge_manifest(parent, child, findings)


def index_sections(manifest: Node, findings: list[Diagnostic]) -> Node:
    """The manifest with its list of sections as a mapping by id, in the list's order."""
    listed = manifest.get("sections")
    if listed is None or not isinstance(listed.value, tuple):
        return manifest
    by_id: dict[str, Node] = {}
    for section in listed.value:
        name = str(section.value["id"].value)
        if name in by_id:
            first = by_id[name].value["id"].span
            findings.append(
                Diagnostic("PC0240", f"section `{name}` is declared twice; the first is at line {first.line}", section.value["id"].span)
            )
        by_id.setdefault(name, section)
    keys = {name: node.value["id"].span for name, node in by_id.items()}
    return _with(manifest, "sections", replace(listed, value=by_id, keys=keys))


def _apply(manifest: Node, variation: Node, patches: Mapping[str, Node], findings: list[Diagnostic], using: tuple[str, ...]) -> Node:
    for name in _used(variation):
        patch = patches.get(str(name.value))
        if patch is None:
            findings.append(Diagnostic("PC0241", f"there is no patch `{name.value}`", name.span, suggest(str(name.value), patches)))
        elif name.value in using:
            findings.append(Diagnostic("PC0242", f"patches use each other in a circle: {' → '.join((*using, str(name.value)))}", name.span))
        else:
            manifest = _apply(manifest, patch, patches, findings, (*using, str(name.value)))
    return _merge_manifest(manifest, _without(variation, ["name"]), findings)  # the name of a tier is its own


def _used(variation: Node) -> tuple[Node, ...]:
    use = variation.get("use")
    return use.value if use is not None and isinstance(use.value, tuple) else ()


def _merge_manifest(manifest: Node, variation: Node, findings: list[Diagnostic]) -> Node:
    for key, node in variation.items():
        if key == "sections":
            manifest = _with(manifest, key, _merge_sections(manifest.value["sections"], node, findings))
        elif key not in ("use", "at", "leave", "do"):
            manifest = _merge_key(manifest, key, node, variation)
    return manifest


def _merge_sections(sections: Node, changes: Node, findings: list[Diagnostic]) -> Node:
    by_id = dict(sections.value)
    keys = dict(sections.keys)
    for name, change in changes.items():
        if name not in by_id and not _is_whole(change):
            help = suggest(name, by_id) or "a new section needs a source and `before` or `after`"
            findings.append(Diagnostic("PC0243", f"there is no section `{name}` to vary", changes.key_span(name), help))
            continue
        if name in by_id and change.value is None:
            _remove_section(by_id, name, change, findings)
            continue
        if name in by_id:
            by_id[name] = _merge_section(by_id[name], change, name, findings)
        else:
            by_id[name] = change
            keys[name] = changes.key_span(name)
        _place(by_id, name, change, findings)
    return replace(sections, value=by_id, keys=keys)


def _remove_section(by_id: dict[str, Node], name: str, change: Node, findings: list[Diagnostic]) -> None:
    locked = [key for key in _LOCKED if (held := by_id[name].get(key)) is not None and held.value is True]
    if locked:
        findings.append(Diagnostic("PC0245", f"a variation may not remove `{name}`, which is {locked[0]}", change.span))
    else:
        del by_id[name]


def _is_whole(section: Node) -> bool:
    return any(section.get(key) for key in SOURCES) and any(section.get(key) for key in _PLACING)


def _place(by_id: dict[str, Node], name: str, change: Node, findings: list[Diagnostic]) -> None:
    side = next((key for key in _PLACING if change.get(key) is not None and change.value[key].value is not None), None)
    if side is None:
        return
    other = change.value[side]
    if other.value not in by_id or other.value == name:
        findings.append(
            Diagnostic(
                "PC0244",
                f"`{name}` cannot stand {side} `{other.value}`: there is no such section",
                other.span,
                suggest(str(other.value), by_id),
            )
        )
        return
    moved = by_id.pop(name)
    order = list(by_id.items())
    by_id.clear()
    for key, node in order:
        if key == other.value and side == "before":
            by_id[name] = moved
        by_id[key] = node
        if key == other.value and side == "after":
            by_id[name] = moved


def _merge_section(section: Node, change: Node, name: str, findings: list[Diagnostic]) -> Node:
    for key in _LOCKED:
        now, then = section.get(key), change.get(key)
        if now is not None and now.value is True and then is not None and then.value is not True:
            findings.append(
                Diagnostic("PC0245", f"a variation may not clear `{key}` of `{name}`", then.span, f"leave `{key}` out of the variation")
            )
            return section
    named = [key for key in SOURCES if change.get(key) is not None and change.value[key].value is not None]
    if named:
        section = _without(section, [key for key in SOURCES if key not in named])
    for key, node in change.items():
        if key == "items" and section.get("items") is not None and isinstance(node.value, dict):
            section = _with(section, key, _merge_items(section.value["items"], node))
        else:
            section = _merge_key(section, key, node, change)
    return section


def _merge_items(items: Node, change: Node) -> Node:
    named = [key for key in RENDERINGS if change.get(key) is not None and change.value[key].value is not None]
    if named:
        items = _without(items, [key for key in RENDERINGS if key not in named])
    for key, node in change.items():
        items = _merge_key(_without_other_source(items, node) if key == "from" else items, key, node, change)
    return items


def _without_other_source(items: Node, change: Node) -> Node:
    """Naming the other one of `segments` and `retrieve` removes the one there was."""
    source = items.get("from")
    named = [key for key in _ELSEWHERE if change.get(key) is not None and change.value[key].value is not None]
    if source is None or not isinstance(source.value, dict) or not named:
        return items
    return _with(items, "from", _without(source, [key for key in _ELSEWHERE if key not in named]))


def _merge_key(owner: Node, key: str, node: Node, change: Node) -> Node:
    if node.value is None:
        return _without(owner, [key])
    old = owner.get(key)
    merged = _merge_mapping(old, node) if old is not None and isinstance(old.value, dict) and isinstance(node.value, dict) else node
    return _with(owner, key, merged, change)


def _merge_mapping(old: Node, change: Node) -> Node:
    for key, node in change.items():
        old = _merge_key(old, key, node, change)
    return old


def _with(owner: Node, key: str, node: Node, change: Node | None = None) -> Node:
    keys = {**owner.keys, key: change.key_span(key)} if change is not None else owner.keys
    return replace(owner, value={**owner.value, key: node}, keys=keys)


def _without(owner: Node, keys: list[str]) -> Node:
    if not any(key in owner.value for key in keys):
        return owner
    return replace(owner, value={key: node for key, node in owner.value.items() if key not in keys})
