"""A case, rendered through the library: what came out, or what was found."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import promptc
from promptc.cli.render_diagnostic import render_diagnostics
from promptc.cli.reporter import Reporter
from promptc.cli.run import run_command
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError
from promptc.golden.load_case import load_case
from promptc.golden.read_state import place_changes
from tests.cases.apply_case import Applied, apply_case
from tests.cases.case import ROOT, Case, load_cases, read_state, state_path
from tests.cases.given import find_pack, given


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run gave, `offered` the tools and the response schema in it.

    On an error `text` and `messages` are None, and `report` is there only for what cannot be fitted.
    """

    exit: int
    text: str | None
    messages: tuple[Mapping[str, Any], ...] | None
    tokens: int | None
    report: Mapping[str, Any] | None
    found: tuple[Diagnostic, ...]
    offered: tuple[Any, ...] = ()
    payload: Mapping[str, Any] | None = None
    applied: Applied | None = None

    def render_golden(self, kind: str) -> bytes:
        """The bytes of the golden of that kind."""
        if kind == "text":
            return (self.text or "").encode()
        if kind == "messages":
            return _render_json(list(self.messages or ()))
        if kind == "payload":
            return _render_json(self.payload)
        if kind == "report":
            return _render_json(self.report)
        if kind == "state":
            return _render_json(self.applied.value if self.applied is not None else None)
        if kind == "archive":
            return self.applied.archive if self.applied is not None else b""
        return render_diagnostics(self.found).encode()

    @property
    def digest(self) -> str:
        """One value for all of it: equal runs have equal digests."""
        whole = b"\0".join(
            self.render_golden(kind) for kind in ("text", "messages", "payload", "report", "state", "archive", "diagnostics")
        )
        return f"{self.exit} {hashlib.sha256(whole).hexdigest()}"


def run_case(case: Case, *, root: Path = ROOT, state: bytes | None = None) -> Outcome:
    """The case's outcome, run from `root`, a copy of the project or the project itself; `state` in place of its own."""
    with given(case, root) as there, contextlib.chdir(there.root):
        case = replace(case, pack=find_pack(case, there.root))
        try:
            if case.run:
                reporter = _Recorder()
                return Outcome(run_command(case.run, reporter), None, None, None, None, tuple(reporter.found))
            if case.apply:
                return _apply(case, read_state(case) if state is None else state)
            return (
                _check(case, there.stores) if case.is_check else _render(case, read_state(case) if state is None else state, there.stores)
            )
        except PromptcError as error:
            report = getattr(error, "report", None)
            found = error.diagnostics if state is not None else _place(case, error.diagnostics)
            return Outcome(error.exit_code, None, None, None, report, found)


def _place(case: Case, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Findings of a state that the case changes, where an author looks for them: in the file, or in the `case.yaml`."""
    changes = {**(case.state.get("set", {}) if isinstance(case.state, dict) else {}), **case.flags.get("set", {})}
    if not changes or not any(one.span is not None and one.span.file == _state_name(case) for one in found):
        return found
    texts = [(pointer, json.dumps(value, ensure_ascii=False)) for pointer, value in changes.items()]
    try:
        promptc.load(case.pack).load_state(state_path(case).read_bytes(), _state_name(case), changes=texts)
    except PromptcError as error:
        return tuple(place_changes(error.diagnostics, load_case(str(case.folder)), 0))
    return found


class _Recorder(Reporter):
    """Keeps what a command reports and goes on."""

    found: list[Diagnostic]

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "found", [])

    def report(self, found: Iterable[Diagnostic]) -> None:
        self.found.extend(found)

    def render(self, found: Iterable[Diagnostic]) -> str:
        kept = tuple(found)
        self.found.extend(kept)
        return super().render(kept)


@cache
def run_once(name: str) -> Outcome:
    """The outcome of the case of that name, run once for all tests that only look at it."""
    return run_case(next(case for case in load_cases() if case.name == name))


def _render(case: Case, raw: bytes, stores: Mapping[str, str]) -> Outcome:
    pack = promptc.load(case.pack)
    flags = case.flags
    axes = {**flags.get("variant", {}), **({"mood": flags["mood"]} if "mood" in flags else {})}
    call = case.given.get("call")
    prompt = pack.render(
        pack.load_state({"when": date(2025, 3, 6)} if call == "python_state" else raw, name=_state_name(case)),
        budget=flags.get("budget"),
        variants=axes,
        patches=tuple(flags.get("patch", ())),
        format=flags.get("format"),
        stores=stores,
    )
    is_text = (prompt.format == "text") != (call == "other_format")
    if "only" in flags:
        return Outcome(0, prompt.find_section(flags["only"]), None, None, None, prompt.warnings)
    text = prompt.text if is_text else None
    messages = None if is_text else tuple(prompt.messages)
    offered = () if is_text else (*prompt.tools, *([prompt.response] if prompt.response is not None else []))
    made = prompt.build_payload(prompt.provider, flags.get("model")) if prompt.provider is not None else None
    found = (*prompt.warnings, *(made.warnings if made is not None else ()))
    return Outcome(0, text, messages, prompt.tokens, prompt.report, found, offered, made.body if made is not None else None)


def _apply(case: Case, raw: bytes) -> Outcome:
    applied = apply_case(case, promptc.load(case.pack), raw, _state_name(case))
    return Outcome(0, applied.said, applied.messages, None, None, applied.found, applied=applied)


def _check(case: Case, stores: Mapping[str, str]) -> Outcome:
    sources = stores if {"stores", "built"} & case.given.keys() else None
    found = promptc.load(case.pack).check(sources)
    is_clean = all(one.level == "note" for one in found)
    return Outcome(0 if is_clean else 1, None, None, None, None, found)


def _state_name(case: Case) -> str:
    """The state's file as findings name it: relative to the root, whichever root it is."""
    return state_path(case).resolve().relative_to(ROOT).as_posix()


def _render_json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
