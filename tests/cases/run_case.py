"""A case of this repository, run as `promptc test` runs it, in circumstances that only the tests can make."""

import hashlib
import json
from collections.abc import Callable, Collection
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import promptc
from promptc.cli.terminal import render_diagnostics
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.golden.cases.case import GOLDENS, Case, CaseOutcome, CaseRun
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import run_case as run_product
from promptc.golden.verdicts.verdict import render_golden
from tests.cases.case import load_cases, read_raw
from tests.cases.given import ANY_COMMAND, OwnShell


def run_case(case: Case, *, start: Callable[[], SuiteResources] = SuiteResources) -> CaseRun:
    """What the case comes to, with nothing shared; `start` opens what packs and states are read with. Reports are read already."""
    if case.given.get("call", ANY_COMMAND) != ANY_COMMAND:
        return CaseRun((_call(case),))
    with start() as resources:
        ran = run_product(case, resources, OwnShell())
        return replace(ran, turns=tuple(map(_read, ran.turns)))


@cache
def run_once(name: str) -> CaseRun:
    """What the case of that name comes to, run once for all tests that only look at it, after others and with what they share."""
    case = next(case for case in load_cases() if case.name == name)
    if case.given.get("call", ANY_COMMAND) != ANY_COMMAND:
        return run_case(case)
    ran = run_product(case, _SHELF, OwnShell())
    return replace(ran, turns=tuple(map(_read, ran.turns)))


def find_report(outcome: CaseOutcome) -> Any:
    """The report of an outcome, as plain data that may be looked into; None where there is none."""
    return outcome.read_report()


def digest(ran: CaseRun, roots: Collection[str] = ()) -> str:
    """One value for all that came of a case: equal runs have equal digests. `roots` are folders that outputs may name, but no report."""
    whole = hashlib.sha256(repr((ran.reuse, ran.changes)).encode())
    for turn in ran.turns:
        whole.update(repr((turn.exit, turn.tokens, sorted(turn.figures.items()))).encode())
        whole.update(json.dumps(turn.read_report(), sort_keys=True).encode())
        for kind in GOLDENS:
            golden = render_golden(kind, turn, render_diagnostics)
            for root in roots:
                golden = golden.replace(f"{root}/".encode(), b"")
            whole.update(b"\0" + golden)
    return whole.hexdigest()


def _read(outcome: CaseOutcome) -> CaseOutcome:
    """With the report as it is as long as what was opened for it is there."""
    report, facts = outcome.read_report(), outcome.read_facts()
    return replace(outcome, read_report=lambda: report, read_facts=lambda: facts)


def _change(pack: promptc.Pack, case: Case) -> str:
    """The state rendered after the changes in `patch.json`, which follow a render of it unless they say otherwise."""
    told = json.loads(Path(case.folder, "patch.json").read_text(encoding="utf-8"))
    session = pack.session("state")
    if told["renders_first"]:
        session.render(read_raw(case))
    session.update(told["changes"])
    return str(session.render().text)


def _call(case: Case) -> CaseOutcome:
    """How the library can be called, and no command line: with a state that is not JSON, with an argument of the wrong type, asked for the
    output of the other format, in a session.
    """
    with work_in(case.root):
        try:
            pack = promptc.load(case.pack)
            if case.given["call"] == "session":
                return CaseOutcome(0, text=_change(pack, case))
            is_python = case.given["call"] == "python_state"
            state = pack.load_state({"when": date(2025, 3, 6)} if is_python else read_raw(case), name="state")
            asked: dict[str, Any] = {"budget": "4000"} if case.given["call"] == "wrong_type" else {}
            prompt = pack.render(state, **asked)
            return CaseOutcome(0, text=str(prompt.messages) if prompt.format == "text" else prompt.text)
        except PromptcError as error:
            return CaseOutcome(error.exit_code, error.diagnostics)


_SHELF = SuiteResources()
