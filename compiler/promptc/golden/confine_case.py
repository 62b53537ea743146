"""Every path that a case names, held to its fence."""

import os
from collections.abc import Iterator

from promptc.diag.findings import Span
from promptc.golden.cases.case import Case
from promptc.golden.cases.confine import confine, is_under, refuse_path
from promptc.golden.find_home import MANIFEST
from promptc.model.state import Node

_MADE = ("large", "database", "held", "locked")
"""What `given` names by files in the case's folder."""


def confine_case(case: Case) -> None:
    """Raises `CaseError` (PC0750) for the first path of the case that leads out of its fence. A command line (`run`) is judged when it is
    read, as a command line.
    """
    confine_pack(case, case.root, case.fence)
    for path, span in (*_iter_states(case), *_iter_asked(case), *_iter_given(case)):
        confine(path, case.folder, case.fence, span)


def confine_pack(case: Case, root: str, fence: str) -> None:
    """The same of its pack, which is looked for in `root`: of its folder, and of the manifest in it."""
    named = case.node.get("pack")
    span = named.span if named is not None else case.node.span
    found = confine(case.pack, root, fence, span)
    confine(MANIFEST, found, fence, span)


def confine_copy(case: Case, root: str) -> None:
    """Sees that no link in a copy of the case, under `root`, leads out of it. One that the case asks for is refused (PC0750), others are
    taken away.
    """
    for name, target in case.given.get("link", {}).items():
        path = os.path.join(root, os.path.relpath(case.folder, case.root), name)
        if os.path.isabs(target) or not is_under(os.path.realpath(path), root):
            span = case.node.value["given"].value["link"].value[name].span
            raise refuse_path(target, "leads out of the case's copy", span)
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            if os.path.islink(path) and not is_under(os.path.realpath(path), root):
                os.unlink(path)


def _iter_states(case: Case) -> Iterator[tuple[str, Span]]:
    nodes = {"render": ("state",), "session": ("states",), "apply": ("apply", "state")}.get(case.kind, ())
    node = case.node
    for key in nodes:
        node = node.value[key]
    for one in node.value if case.kind == "session" else (node,):
        base = one.get("base") if isinstance(one.value, dict) else one
        if nodes and base is not None:
            yield str(base.value), base.span


def _iter_asked(case: Case) -> Iterator[tuple[str, Span]]:
    if case.kind == "recall":
        queries = case.node.value["recall"].value["queries"]
        yield str(queries.value), queries.span
    answers = case.node.value["apply"].get("answers") if case.kind == "apply" else None
    for one in answers.value.values() if answers is not None else ():
        yield str(one.value), one.span


def _iter_given(case: Case) -> Iterator[tuple[str, Span]]:
    wanted = case.node.get("given")
    for kind, node in wanted.value.items() if wanted is not None else ():
        if kind == "stores":
            yield from _iter_stores(node)
        elif kind in (*_MADE, "link", "built"):
            names = node.value if isinstance(node.value, dict) else [one.value for one in node.value]
            yield from ((str(name), node.span) for name in names)


def _iter_stores(stores: Node) -> Iterator[tuple[str, Span]]:
    for one in stores.value.values():
        files = one.value["from"] if isinstance(one.value, dict) else one
        yield str(files.value), files.span
