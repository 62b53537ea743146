"""Which filters a text applies."""

from jinja2 import nodes

from promptc.template.kinds.trees import CompiledText, load_trees


def list_filters(code: CompiledText) -> frozenset[str]:
    """Their names, wherever they stand in the text; not those of files it brings in."""
    return frozenset(one.name for one in load_trees(code)[""].find_all(nodes.Filter))
