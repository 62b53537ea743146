"""The `from` of items: an expression, segments of a store, or what indexes retrieve."""

from __future__ import annotations

from collections.abc import Sequence

from promptc.diag.findings import Diagnostic, suggest
from promptc.diag.frozen import frozen, replace
from promptc.frontend.read_budget import read_ratio
from promptc.frontend.texts import TextCompiler
from promptc.model.section import MICRO, Boosting, Retrieve, Segments
from promptc.model.state import Node
from promptc.template.compile import Expression


@frozen
class Declared:
    """The names a manifest's sources may use: its stores and its indexes."""

    stores: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


def find_declared(manifest: Node) -> Declared:
    """The names a manifest declares."""
    stores, indexes = manifest.get("stores"), manifest.get("indexes")
    return Declared(tuple(stores.value) if stores is not None else (), tuple(indexes.value) if indexes is not None else ())


def load_source(node: Node, declared: Declared, compiler: TextCompiler) -> Expression | Segments | Retrieve:
    """The compiled source, valid in shape. A store or index that is not declared is added to the compiler's findings."""
    segments, retrieve = node.get("segments"), node.get("retrieve")
    if segments is not None:
        return _load_segments(segments, declared.stores, compiler)
    return _load_retrieve(retrieve, declared.indexes, compiler) if retrieve is not None else compiler.expression(node)


def load_field(node: Node, name: str, compiler: TextCompiler) -> Expression:
    """`item.<name>` as if it stood at the place of the source `node`: what an author would expect of its rows."""
    return compiler.expression(replace(node, value=f"item.{name}", raw="", keys={}))


def _load_segments(node: Node, stores: Sequence[str], compiler: TextCompiler) -> Segments:
    return Segments(
        span=node.span,
        store=_find_store(node, stores, compiler),
        scope=str(node.value["scope"].value),
        ref=compiler.find_expression(node.get("ref")),
        each=compiler.find_expression(node.get("each")),
        where=compiler.find_expression(node.get("where")),
        locale=compiler.find_expression(node.get("locale")),
        version=compiler.find_expression(node.get("version")),
    )


def _find_store(node: Node, stores: Sequence[str], compiler: TextCompiler) -> str:
    """The store that is named, or the only one."""
    named = node.get("store")
    if named is None and len(stores) != 1:
        wrong = f"the pack has {len(stores)} stores" if stores else "the pack declares no store"
        help = f"name one: `store: {stores[0]}`" if stores else "such as `stores: {main: {url: 'sqlite:segments.db'}}`"
        compiler.findings.append(Diagnostic("PC0281", f"segments without `store`, and {wrong}", node.span, help))
        return ""
    name = str(named.value) if named is not None else stores[0]
    if named is not None and name not in stores:
        help = suggest(name, stores) or "declare it under `stores`"
        compiler.findings.append(Diagnostic("PC0280", f"the pack has no store `{name}`", named.span, help))
    return name


def _load_retrieve(node: Node, indexes: Sequence[str], compiler: TextCompiler) -> Retrieve:
    boosts = node.get("boost")
    return Retrieve(
        span=node.span,
        indexes=_find_indexes(node.value["index"], indexes, compiler),
        query=compiler.expression(node.value["query"]),
        version=compiler.find_expression(node.get("version")),
        where=compiler.find_expression(node.get("where")),
        boosts=tuple(_load_boost(boost, compiler) for boost in boosts.value) if boosts is not None else (),
        **{key: int(node.value[key].value) for key in ("window", "candidates", "top", "sparse_below") if node.get(key) is not None},
        **({"floor": _read_micro(node.value["floor"])} if node.get("floor") is not None else {}),
    )


def _find_indexes(node: Node, indexes: Sequence[str], compiler: TextCompiler) -> tuple[str, ...]:
    named = node.value if isinstance(node.value, tuple) else (node,)
    for one in named:
        if one.value not in indexes:
            help = suggest(str(one.value), indexes) or "declare it under `indexes`"
            compiler.findings.append(Diagnostic("PC0282", f"the pack has no index `{one.value}`", one.span, help))
    return tuple(dict.fromkeys(str(one.value) for one in named))


def _load_boost(node: Node, compiler: TextCompiler) -> Boosting:
    return Boosting(_read_micro(node.value["add"]), compiler.expression(node.value["where"]))


def _read_micro(node: Node) -> int:
    """A score in millionths; what is finer is cut off."""
    return int(read_ratio(node) * MICRO)
