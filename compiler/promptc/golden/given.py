"""Circumstances of a case that are made for its run and are gone after it: stores, built indexes, files, variables (language.md §14)."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from promptc.diag.frozen import field, frozen
from promptc.diag.span import Span
from promptc.golden.case import Case
from promptc.golden.case_error import CaseError, fail_case
from promptc.golden.change_copy import change_copy
from promptc.golden.copy_case import copy_case
from promptc.golden.lack import LACKABLE, lack
from promptc.golden.open_database import open_database
from promptc.golden.shelf import Shelf, import_store, work_in

_IN_COPY = ("built", "large", "link", "database", "environment")
_KNOWN = ("stores", "missing", *_IN_COPY)


@frozen
class There:
    """Where a case is run: in which root, with which stores (URLs by name), and with what is shared."""

    root: str
    shelf: Shelf
    stores: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def given(case: Case, shelf: Shelf) -> Iterator[There]:
    """Makes what the case's `given` asks for. But for `stores` the case is run in a copy: `built` builds its pack's indexes there, by
    words alone, `large`, `link` and `database` make files, and whoever looks at `environment` writes nothing else. What is `missing` is so
    for the run alone, when all else is made.

    Raises `CaseError` for a circumstance that only promptc's own tests can make (PC0905), `PromptcError` for stores that cannot be made.
    """
    wanted = case.given
    if not wanted:
        yield There(case.root, shelf)
        return
    _refuse_strange(case)
    with contextlib.ExitStack() as stack:
        root, shared = case.root, shelf
        if any(name in wanted for name in _IN_COPY):
            root = stack.enter_context(copy_case(case))
            shared = stack.enter_context(Shelf())
            change_copy(case, root)
            _change_indexes(case, root)
        stack.enter_context(_set_variables(wanted.get("environment", {})))
        stores = stack.enter_context(_import(case, root, shared)) if "stores" in wanted else {}
        if "missing" in wanted:
            shared = stack.enter_context(Shelf())
            stack.enter_context(lack(wanted["missing"]))
        yield There(root, shared, stores)


def _refuse_strange(case: Case) -> None:
    for name, wanted in case.given.items():
        node = case.node.value["given"]
        if name not in _KNOWN:
            raise _refuse(f"given: {name}", node.key_span(name), _KNOWN)
        lacked = [(one, at) for at, one in enumerate(wanted) if one not in LACKABLE] if name == "missing" else []
        if lacked:
            raise _refuse(f"given: {{missing: [{lacked[0][0]}]}}", node.value[name].value[lacked[0][1]].span, LACKABLE)


def _refuse(what: str, span: Span, known: Iterable[str]) -> CaseError:
    return fail_case("PC0905", f"`{what}` can be made by promptc's own tests only", span, help=f"known: {', '.join(known)}")


def _change_indexes(case: Case, root: str) -> None:
    if "built" in case.given:
        _build(case, root)
        _write_over(Path(root, os.path.relpath(case.folder, case.root)), case.given["built"], case)


@contextlib.contextmanager
def _set_variables(wanted: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _build(case: Case, root: str) -> None:
    """The indexes of the case's pack, as they are before anything is done to them."""
    from promptc.api import load
    from promptc.frontend.build_corpus import build_corpus
    from promptc.model.index import CorpusIndex

    with work_in(root):
        loaded = load(case.pack).model
        for index in loaded.indexes:
            if isinstance(index, CorpusIndex):
                counter = loaded.counting.counter
                list(build_corpus(index, count=counter.measure, counter=counter.digest, load_encoder=lambda: None))


def _write_over(folder: Path, wanted: Mapping[str, str], case: Case) -> None:
    """Every file that matches a pattern gets that text."""
    for pattern, text in wanted.items():
        found = sorted(folder.glob(pattern))
        if not found:
            raise fail_case("PC0902", f"no file matches `{pattern}`", case.node.value["given"].key_span("built"))
        for path in found:
            path.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def _import(case: Case, root: str, shelf: Shelf) -> Iterator[Mapping[str, str]]:
    folder = Path(root, os.path.relpath(case.folder, case.root))
    urls: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="promptc-") as made:
        for name, wanted in case.given["stores"].items():
            statements = () if isinstance(wanted, str) else tuple(wanted.get("sql", ()))
            files = (folder / (wanted if isinstance(wanted, str) else wanted["from"])).resolve()
            if not statements:
                urls[name] = shelf.load_store(str(files))
                continue
            database = Path(made, f"{name}.db")
            urls[name] = import_store(files, database)
            with open_database(database) as opened:
                for statement in statements:
                    _execute(opened, statement, case)
        yield urls


def _execute(opened: sqlite3.Connection, statement: str, case: Case) -> None:
    try:
        changed = opened.execute(statement).rowcount
    except sqlite3.Error as wrong:
        raise fail_case("PC0905", f"`{statement}`: {wrong}", case.node.value["given"].key_span("stores")) from wrong
    if not changed:
        raise fail_case("PC0905", f"changes no row: `{statement}`", case.node.value["given"].key_span("stores"))
