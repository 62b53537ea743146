"""A case of an operation: what it asks, what it says, and what becomes of the state."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import promptc
from promptc.diag.diagnostic import Diagnostic
from promptc.operations.ask import ask
from promptc.operations.make_change import make_change
from promptc.operations.run_operation import run_operation
from promptc.operations.write_archive import render_archive
from tests.cases.case import Case


@dataclass(frozen=True, slots=True)
class Applied:
    """What it says (`text`), the messages of its requests, each named by its ask, the new state, and the bytes of its archive files, one
    after the other.
    """

    said: str
    messages: tuple[Mapping[str, Any], ...]
    value: Any
    archive: bytes
    fallbacks: tuple[str, ...]
    found: tuple[Diagnostic, ...]


def apply_case(case: Case, pack: promptc.Pack, raw: bytes, name: str) -> Applied:
    """Raises `PromptcError` for an operation that cannot be done."""
    wanted = case.apply
    operation, args = wanted["operation"], wanted.get("args", {})
    answers = {key: (case.folder / file).read_bytes().decode() for key, file in wanted.get("answers", {}).items()}
    done = run_operation(pack, raw, operation, args, answers, name=name)
    change = make_change(pack, done, raw, file=PurePosixPath(name).name)
    return Applied(
        said=f"{done.said}\n" if done.said else "",
        messages=tuple(_iter_messages(pack, raw, operation, args, answers)),
        value=done.value,
        archive=b"".join(map(render_archive, change.archived)),
        fallbacks=done.fallbacks,
        found=done.warnings,
    )


def _iter_messages(pack: promptc.Pack, raw: bytes, operation: str, args: Mapping[str, Any], answers: Mapping[str, str]) -> Any:
    """Each question as it is asked once those before it are answered."""
    given: dict[str, str] = {}
    while requests := [one for one in ask(pack, raw, operation, args, given) if one.name not in given]:
        yield from ({"ask": requests[0].name, **message} for message in requests[0].prompt.messages)
        given[requests[0].name] = answers.get(requests[0].name, "")
