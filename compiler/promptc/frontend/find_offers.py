"""Which tools a manifest names anywhere, and which files beside them look like tools and are named nowhere. Read by lints alone."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from promptc.diag.findings import PromptcError, Span
from promptc.files.reading import read_inside
from promptc.frontend.iter_keys import iter_keys
from promptc.frontend.offered_files import OfferedFiles
from promptc.model.pack import Offers, PackModel
from promptc.model.state import Node

_ENDING = ".json"
_MOST_FILES = 500
_LONGEST = 200_000


def find_offers(manifest: Node, folder: str, offered: OfferedFiles, questions: Sequence[Callable[[], PackModel]]) -> Offers:
    """The tools of all lists of a manifest, those of every case; and the loose files, which the packs of `questions` do not name either.
    Only in `folder`, the pack's own, are files looked at: packs that it extends have lists of their own.
    """
    nodes = list(_iter_tools(manifest))
    listed = [(tool, node.span) for node in nodes if (tool := offered.find_tool(node)) is not None]
    manifests = [manifest, *_iter_manifests(questions)]
    named = {_find_path(node.folder, str(node.value)) for one in manifests for node in _iter_tools(one)}
    return Offers(tuple(listed), tuple(_iter_loose(nodes, folder, named)))


def _iter_tools(manifest: Node) -> Iterator[Node]:
    for _, key, node in iter_keys(manifest):
        if key == "tools" and isinstance(node.value, tuple):
            yield from node.value


def _iter_manifests(questions: Sequence[Callable[[], PackModel]]) -> Iterator[Node]:
    """Of the packs that load; of the others it is told elsewhere."""
    for find_pack in questions:
        with suppress(PromptcError):
            yield find_pack().manifest


def _find_path(folder: str, name: str) -> str:
    return os.path.normpath(Path(folder, name))


def _iter_loose(nodes: Sequence[Node], folder: str, named: set[str]) -> Iterator[tuple[str, Span]]:
    own = [node for node in nodes if node.folder == folder]
    for inside in dict.fromkeys(str(PurePosixPath(str(node.value)).parent) for node in own):
        first = next(node for node in own if str(PurePosixPath(str(node.value)).parent) == inside)
        for name in _list_files(Path(folder, inside)):
            path = name if inside == "." else f"{inside}/{name}"
            if _find_path(folder, path) not in named and _looks_like_tool(folder, path):
                yield path, first.span


def _list_files(folder: Path) -> list[str]:
    try:
        return sorted(file.name for file in folder.iterdir() if file.name.endswith(_ENDING))[:_MOST_FILES]
    except OSError:
        return []


def _looks_like_tool(folder: str, path: str) -> bool:
    try:
        value = json.loads(read_inside(folder, path, _LONGEST))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"name", "input_schema"} <= value.keys()
