"""Circumstances that a case asks for and that no file in a repository can bring about: made for one run, gone after it."""

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from promptc.text.counters import vocabulary
from tests.cases.case import ROOT, Case


@contextlib.contextmanager
def given(case: Case, root: Path) -> Iterator[Path]:
    """The root to run the case from, under the circumstances of its `given`: files of a size, links, what is missing."""
    wanted = case.given
    with contextlib.ExitStack() as stack:
        if {"large", "link", "unreadable"} & wanted.keys():
            root = stack.enter_context(_copy_case(case, root))
            _change_files(root / case.folder.relative_to(ROOT), wanted)
        for name in wanted.get("unreadable", ()):
            stack.enter_context(_refuse_reading(name))
        for what in wanted.get("missing", ()):
            stack.enter_context(_MISSING[what]())
        yield root


@contextlib.contextmanager
def _copy_case(case: Case, root: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        inside = case.folder.relative_to(ROOT)
        others = partial(_others, wanted=root / inside)
        shutil.copytree(root / inside.parent, Path(made) / inside.parent, ignore=others)
        yield Path(made)


def _others(folder: str, names: list[str], *, wanted: Path) -> list[str]:
    """Of a folder of cases all folders but one."""
    return [name for name in names if Path(folder) == wanted.parent and (Path(folder) / name).is_dir() and name != wanted.name]


def _change_files(folder: Path, wanted: Mapping[str, Any]) -> None:
    for name, size in wanted.get("large", {}).items():
        path = folder / name
        old = path.read_bytes() if path.is_file() else b""
        path.write_bytes(old + b"#" * (size - len(old) - 1) + b"\n")
    for name, target in wanted.get("link", {}).items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)


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
def _no_tokenizers() -> Iterator[None]:
    with patch.dict(sys.modules, {"tokenizers": None, "promptc.text.counters.hf_counter": None}):
        yield


_MISSING = {"vocabularies": _no_vocabularies, "libyaml": _no_libyaml, "tokenizers": _no_tokenizers}
