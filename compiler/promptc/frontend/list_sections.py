"""A manifest as its schema knows it, from one whose sections are a mapping by id."""

from promptc.diag.frozen import replace
from promptc.model.state import Node

_MOVES = ("before", "after")


def list_sections(manifest: Node) -> Node:
    """The manifest with its sections as a list, each with its `id`, none with `before` or `after`, and without `extends`."""
    values = {key: node for key, node in manifest.items() if key != "extends"}
    sections = manifest.get("sections")
    if sections is not None and isinstance(sections.value, dict):
        values["sections"] = replace(sections, value=tuple(_name(name, node, sections) for name, node in sections.items()))
    return replace(manifest, value=values)


def _name(name: str, section: Node, sections: Node) -> Node:
    if not isinstance(section.value, dict):
        return section
    values = {key: node for key, node in section.items() if key not in _MOVES}
    values.setdefault("id", Node(name, sections.key_span(name), section.folder, name))
    return replace(section, value=values)
