"""Keys that the language has and this version does not carry out."""

from collections.abc import Iterator

from promptc.diag.diagnostic import Diagnostic
from promptc.frontend.iter_keys import iter_keys
from promptc.model.node import Node

_LATER = {
    "operations": "state operations",
}


def check_later_keys(manifest: Node) -> Iterator[Diagnostic]:
    """PC0290 for each of them, at its place. What an author calls by such a word is no such key."""
    for owner, key, _ in iter_keys(manifest):
        if key in _LATER:
            yield Diagnostic(
                "PC0290",
                f"`{key}` is not in this version: {_LATER[key]} come with a later one",
                owner.key_span(key),
                "leave it out, or keep the content in the state",
            )
