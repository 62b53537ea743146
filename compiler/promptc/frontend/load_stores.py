"""The `stores` of a manifest."""

from __future__ import annotations

from promptc.diag.findings import Diagnostic
from promptc.frontend.texts import TextCompiler
from promptc.model.sources import TABLE, Store
from promptc.model.state import Node
from promptc.sources.address import names_server


def load_stores(manifest: Node, compiler: TextCompiler) -> tuple[Store, ...]:
    """The stores of a manifest that is valid in shape, in its order. What is wrong with them is added to the compiler's findings."""
    node = manifest.get("stores")
    return tuple(_load_store(name, store, compiler) for name, store in node.items()) if node is not None else ()


def _load_store(name: str, node: Node, compiler: TextCompiler) -> Store:
    url = node.get("url")
    if url is not None and names_server(str(url.value)):
        message = f"the manifest names the server of the store `{name}`; a pack names none, since it may come from anybody"
        help = f"write `url_env: PROMPTC_{name.upper()}`, and set that variable to the URL; or give `--store {name}=URL`"
        compiler.findings.append(Diagnostic("PC0948", message, url.span, help))
    return Store(
        name=name,
        span=url.span if url is not None else node.span,
        folder=url.folder if url is not None else node.folder,
        url=_text(node, "url"),
        url_env=_text(node, "url_env"),
        table=_text(node, "table") or TABLE,
        locale=compiler.find_expression(node.get("locale")),
        version=compiler.find_expression(node.get("version")),
    )


def _text(node: Node, key: str) -> str:
    found = node.get(key)
    return str(found.value) if found is not None else ""
