"""Circumstances of a case that are made for its run and are gone after it: stores, built indexes, files, variables (language.md §14)."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.value import join_names
from promptc.golden.case_error import CaseError, fail_case
from promptc.golden.cases.case import Case
from promptc.golden.cases.confine import confine, find_fault, refuse_path
from promptc.golden.change_copy import change_copy
from promptc.golden.confine_case import confine_copy, confine_pack
from promptc.golden.copy_case import copy_case
from promptc.golden.lack import LACKABLE, without_extras
from promptc.golden.open_database import open_database
from promptc.golden.running.resources import SuiteResources, import_store, work_in

WRITING = ("apply", "index", "segments")
"""Commands that write: a case that calls one is run in a copy."""

_IN_COPY = ("built", "large", "link", "database", "environment")
_KNOWN = ("stores", "missing", *_IN_COPY)


@frozen
class CaseEnvironment:
    """Where a case is run: in which root, inside which folder (`fence`, of a copy its root), with which stores (URLs by name), and with
    what is shared."""

    root: str
    fence: str
    shelf: SuiteResources
    stores: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def prepare_case(case: Case, shelf: SuiteResources) -> Iterator[CaseEnvironment]:
    """Makes what the case's `given` asks for. But for `stores` the case is run in a copy: `built` builds its pack's indexes there, by
    words alone, `large`, `link` and `database` make files, and whoever looks at `environment` writes nothing else. What is `missing` is so
    for the run alone, when all else is made.

    Raises `CaseError` for a circumstance that only promptc's own tests can make (PC0905), `PromptcError` for stores that cannot be made.
    """
    wanted = case.given
    is_copied = any(name in wanted for name in _IN_COPY) or (case.kind == "run" and case.asked[0] in WRITING)
    if not wanted and not is_copied:
        yield CaseEnvironment(case.root, case.fence, shelf)
        return
    _refuse_strange(case)
    with contextlib.ExitStack() as stack:
        root, fence, shared = case.root, case.fence, shelf
        if is_copied:
            root = fence = stack.enter_context(copy_case(case))
            shared = stack.enter_context(SuiteResources())
            change_copy(case, root)
            confine_copy(case, root)
            confine_pack(case, root, root)
            _change_indexes(case, root)
        stack.enter_context(_set_variables(_read_variables(case, root, fence)))
        stores = stack.enter_context(_import(case, root, fence, shared)) if "stores" in wanted else {}
        if "missing" in wanted:
            shared = stack.enter_context(SuiteResources())
            stack.enter_context(without_extras(wanted["missing"]))
        yield CaseEnvironment(root, fence, shared, stores)


def _refuse_strange(case: Case) -> None:
    for name, wanted in case.given.items():
        node = case.node.value["given"]
        if name not in _KNOWN:
            raise _refuse(f"given: {name}", node.key_span(name), _KNOWN)
        lacked = [(one, at) for at, one in enumerate(wanted) if one not in LACKABLE] if name == "missing" else []
        if lacked:
            raise _refuse(f"given: {{missing: [{lacked[0][0]}]}}", node.value[name].value[lacked[0][1]].span, LACKABLE)


def _refuse(what: str, span: Span, known: Iterable[str]) -> CaseError:
    return fail_case("PC0905", f"`{what}` can be made by promptc's own tests only", span, help=f"known: {join_names(known)}")


def _change_indexes(case: Case, root: str) -> None:
    if "built" in case.given:
        _build(case, root)
        _write_over(Path(root, os.path.relpath(case.folder, case.root)), case.given["built"], case)


def _read_variables(case: Case, root: str, fence: str) -> Mapping[str, str]:
    """Those the case sets. Of promptc's own variables each may name a server, or a folder that is written to: a case names a SQLite file
    inside its fence, or nothing. Raises `CaseError` (PC0752).
    """
    wanted: Mapping[str, str] = case.given.get("environment", {})
    for name, value in wanted.items():
        scheme, _, path = value.partition(":")
        is_file = scheme == "sqlite" and not find_fault(path, root, fence)
        if name != "CI" and (name == "PROMPTC_CACHE" or not name.startswith("PROMPTC_") or (value and not is_file)):
            span = case.node.value["given"].value["environment"].key_span(name)
            raise fail_case("PC0752", f"a case may not set the variable `{name}` to that", span, help=_VARIABLES)
    return wanted


_VARIABLES = "`CI`, or a variable such as `PROMPTC_STORE_URL` that is empty or names a SQLite file of the case: `sqlite:segments.db`"


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
    from promptc.frontend.corpora import build_corpus
    from promptc.model.sources import CorpusIndex

    with work_in(root):
        loaded = load(case.pack).model
        for index in loaded.indexes:
            if isinstance(index, CorpusIndex):
                counter = loaded.counting.counter
                list(build_corpus(index, count=counter.measure, counter=counter.digest, load_encoder=lambda: None))


def _write_over(folder: Path, wanted: Mapping[str, str], case: Case) -> None:
    """Every file in the folder that matches a pattern gets that text; links are none."""
    for pattern, text in wanted.items():
        if not pattern or ".." in PurePosixPath(pattern).parts:
            raise refuse_path(pattern, "is no pattern of files in the case's folder", case.node.value["given"].key_span("built"))
        found = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
        if not found:
            raise fail_case("PC0902", f"no file matches `{pattern}`", case.node.value["given"].key_span("built"))
        for path in found:
            path.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def _import(case: Case, root: str, fence: str, shelf: SuiteResources) -> Iterator[Mapping[str, str]]:
    folder = Path(root, os.path.relpath(case.folder, case.root))
    urls: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="promptc-") as made:
        for name, wanted in case.given["stores"].items():
            statements = () if isinstance(wanted, str) else tuple(wanted.get("sql", ()))
            named = wanted if isinstance(wanted, str) else wanted["from"]
            files = Path(confine(named, str(folder), fence, case.node.value["given"].key_span("stores"))).resolve()
            if not statements:
                urls[name] = shelf.load_store(str(files))
                continue
            database = Path(made, f"{len(urls)}.db")
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
