"""Which `a.b.c` stands in which line, for messages about an undefined one."""

from jinja2 import nodes

Places = tuple[tuple[int, str, str], ...]


def find_paths(tree: nodes.Template) -> Places:
    """For each access written out from a name: its line, its last part, and what stands before that (`state.player`)."""
    accesses = tree.find_all((nodes.Getattr, nodes.Getitem))
    found = {(node.lineno, part, holder) for node in accesses for part, holder in [_split(node)] if part and holder}
    return tuple(sorted(found))


def find_holder(paths: Places, line: int, part: str) -> str:
    """What stands before `part` in this line; empty when that is not one thing."""
    holders = {holder for at, name, holder in paths if at == line and name == part}
    return holders.pop() if len(holders) == 1 else ""


def _split(node: nodes.Node) -> tuple[str, str]:
    return _find_part(node), _write(node.node) if isinstance(node, nodes.Getattr | nodes.Getitem) else ""


def _find_part(node: nodes.Node) -> str:
    if isinstance(node, nodes.Getattr):
        return node.attr
    arg = node.arg if isinstance(node, nodes.Getitem) else None
    return str(arg.value) if isinstance(arg, nodes.Const) else ""


def _write(node: nodes.Node) -> str:
    if isinstance(node, nodes.Name):
        return node.name
    part = _find_part(node)
    before = _write(node.node) if part and isinstance(node, nodes.Getattr | nodes.Getitem) else ""
    if not before:
        return ""
    return f"{before}.{part}" if isinstance(node, nodes.Getattr) else f"{before}[{part!r}]"
