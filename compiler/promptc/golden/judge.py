"""The verdict on a case: run, held against what it expects and against its goldens, and what differs written beside them.

`judge_case` reads and judges one folder, `judge_loaded` a case that was read. `check_expect` tells which claims of `expect` do not hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter_ns

from promptc.diag.findings import Diagnostic, Level, PromptcError, Span, join_names, show_value, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Literal
from promptc.golden.case import INPUTS, PENDING, Case, CaseOutcome, CaseRun, is_pending
from promptc.golden.confine import choose_root, name_case, show_path
from promptc.golden.discover import CASE, CaseFolder, load_case
from promptc.golden.environment import list_lacking, list_told, render_install
from promptc.golden.inputs import describe_inputs, render_inputs
from promptc.golden.pending import drop_pending, write_pending
from promptc.golden.resources import SuiteResources, work_in
from promptc.golden.run import Shell, run_case
from promptc.golden.verdict import (
    Figures,
    Status,
    Verdict,
    compare_goldens,
    describe_difference,
    describe_figures,
    find_figures,
    render_goldens,
)
from promptc.model.state import Node
from promptc.passes.items.render import render_part

Mode = Literal["write", "compare"]
"""`write`: pending goldens are written beside the old ones, and taken away where all is well. `compare`: nothing is written, and a pending
golden that lies about is a finding; so it is in CI."""

_PRUNE = "`promptc prune` removes what no case asks for"
_BOUND = re.compile(r"(<=|>=|<|>) ?([0-9]+)")
_OF_REPORT = ("strain", "variants", "flags", "order", "sections")
_OF_RUN = ("prefix_reuse", "tier_changes")

_CLAIMED_EMPTY = frozenset(("order", "warnings", "errors", "flags", "fallback"))
"""Claims that what is there is nothing."""

_IDLE = "the case holds nothing: no `golden` is compared, and `expect` claims nothing"
_HOLD = "`golden: [text]` compares what comes out; `expect: {exit: 0}` says that it is enough to run"

Told = tuple[str, Span]
"""A claim that does not hold, in words, and where the case makes it."""


def judge_case(place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode) -> Verdict:
    """The verdict on the case in a folder. Whatever is wrong with the case is in the verdict: nothing is raised for it."""
    begun = perf_counter_ns()
    try:
        case = load_case(place.folder, place.top)
    except PromptcError as error:
        return break_place(place, error.diagnostics)
    return judge_loaded(case, place, resources, shell, mode, begun)


def judge_loaded(case: Case, place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode, begun: int) -> Verdict:
    """The verdict on a case that was read; `begun` is when that was, of `perf_counter_ns`. One that requires an extra which is not
    installed is not run, and nothing is offered of it.
    """
    idle = find_idle(case)
    if idle is not None:
        return _tell(case, "broken", findings=(idle,))
    lacking = list_lacking(case.requires)
    if lacking:
        skipped = _tell(case, "skipped", findings=(_describe_lacking(case, lacking),), lacking=lacking)
        return skipped if mode == "write" else _tell_pending(place, skipped)
    try:
        ran = run_case(case, resources, shell)
        with work_in(case.root):
            verdict = _judge(case, ran, shell)
            if verdict.differences or verdict.status == "failed":
                verdict = _explain(case, ran, _hint_requires(case, ran, verdict))
            verdict = _pend(case, place, verdict, resources) if mode == "write" else _tell_pending(place, verdict)
    except PromptcError as error:
        verdict = _tell(case, "broken", findings=error.diagnostics)
    except OSError as wrong:
        verdict = _tell(case, "broken", findings=(_describe_disk(case, wrong),))
    return replace(verdict, microseconds=(perf_counter_ns() - begun) // 1000)


def _tell(case: Case, status: Status, **more: Any) -> Verdict:
    return Verdict(case.name, status, case.root, case.folder, case.file, title=case.title, pack=case.pack, **more)


def _describe_lacking(case: Case, lacking: Sequence[str]) -> Diagnostic:
    at = case.node.value["requires"].value[case.requires.index(lacking[0])].span
    message = f"the case is not run: it requires {_name_extras(lacking)}, not installed here"
    return Diagnostic("PC0754", message, at, render_install(lacking), "note")


def _name_extras(lacking: Sequence[str]) -> str:
    return f"the {'extras' if len(lacking) > 1 else 'extra'} {' and '.join(f'`{one}`' for one in lacking)}"


def _tell_pending(place: CaseFolder, verdict: Verdict) -> Verdict:
    """Where nothing is written, one that was left behind is told. What is noted of inputs is no golden: there is nothing to accept."""
    left = [name for name in place.goldens if is_pending(name) and name != f"{INPUTS}{PENDING}"]
    if not left:
        return verdict
    found = tuple(_describe_pending(f"{verdict.file.rpartition('/')[0]}/{name}".lstrip("/")) for name in left)
    status: Status = "failed" if verdict.status in ("passed", "new", "skipped") else verdict.status
    return replace(verdict, status=status, findings=(*verdict.findings, *found))


def _describe_pending(path: str) -> Diagnostic:
    return Diagnostic("PC0923", f"`{path}` is pending: nobody has accepted or rejected it", help="`promptc review`")


def _judge(case: Case, ran: CaseRun, shell: Shell) -> Verdict:
    broken = check_expect(case, ran)
    is_refused = any(turn.exit for turn in ran.turns) and ran.turns[-1].exit != case.exit
    made = {} if is_refused else render_goldens(case, ran, shell.render_diagnostics)
    differences = compare_goldens(case, ran, made) if made else []
    findings = (*broken, *(describe_difference(case, one) for one in differences))
    differs = bool(broken) or any(one.old is not None for one in differences)
    status: Status = "failed" if differs else "new" if differences else "passed"
    found = tuple(one for turn in ran.turns for one in turn.found) if broken else ()
    return _tell(case, status, findings=findings, differences=tuple(differences), found=found, made=made)


def _explain(case: Case, ran: CaseRun, verdict: Verdict) -> Verdict:
    """With the figures of its last turn, before and after."""
    turn = len(ran.turns) if case.kind == "session" else 0
    reuse = min(ran.reuse, default=None)
    before = find_figures(case, turn)
    return replace(verdict, before=before, after=describe_figures(ran.turns[-1].read_report(), reuse))


def _hint_requires(case: Case, ran: CaseRun, verdict: Verdict) -> Verdict:
    """With a note (PC0754) where the run was told to install an extra, which the case neither requires nor goes without on purpose."""
    told = list_told(f"{one.message} {one.help}" for turn in ran.turns for one in turn.found)
    lacking = [one for one in list_lacking(told) if one not in case.given.get("missing", ())]
    if not lacking:
        return verdict
    message = f"the case was run without {_name_extras(lacking)}, not installed here"
    help = f"if it needs that, say so: `requires: [{', '.join((*case.requires, *lacking))}]` skips it then; {render_install(lacking)}"
    note = Diagnostic("PC0754", message, case.node.value["title"].span, help, "note")
    return replace(verdict, findings=(*verdict.findings, note))


def _pend(case: Case, place: CaseFolder, verdict: Verdict, resources: SuiteResources) -> Verdict:
    """What came out, written beside the goldens. Nothing is offered of a case that breaks its own claims: it could not be accepted."""
    is_claimed = any(one.code == "PC0924" for one in verdict.findings)
    wanted = () if is_claimed else verdict.differences
    kept = {f"{one.path.rpartition('/')[2]}{PENDING}" for one in wanted} | ({f"{INPUTS}{PENDING}"} if wanted else set())
    drop_pending(place.folder, [name for name in place.goldens if is_pending(name) and name not in kept])
    if not wanted:
        return verdict
    pended = write_pending(case, wanted, _note_inputs(case, verdict.after, resources))
    findings = (*verdict.findings, *pended.findings)
    return replace(verdict, differences=pended.differences, findings=findings, is_unwritten=bool(pended.findings))


def _note_inputs(case: Case, figures: Figures | None, resources: SuiteResources) -> bytes:
    try:
        pack = resources.load_pack(case.root, case.pack) if case.kind != "run" else None
    except PromptcError:
        pack = None
    return render_inputs(describe_inputs(case, pack), figures)


def _describe_disk(case: Case, wrong: OSError) -> Diagnostic:
    """What was made for the case could not be made: a disk is full, a folder read-only."""
    return Diagnostic("PC0903", f"the case cannot be run: {wrong.strerror or wrong}", case.node.span)


def refuse_skipped(verdict: Verdict) -> Verdict:
    """The verdict where no case may be skipped: a case that cannot be run is broken."""
    if verdict.status != "skipped":
        return verdict
    return replace(verdict, status="broken", findings=tuple(replace(one, level="error") for one in verdict.findings))


def describe_known(place: CaseFolder, pack: str) -> Verdict:
    """The verdict on a case that is known to have passed, and whose file was not read again."""
    return _tell_of(place, "passed", CASE, pack=pack, is_known=True)


def _tell_of(place: CaseFolder, status: Status, name: str = "", **more: Any) -> Verdict:
    """A verdict on a folder, or on the file of that name in it."""
    root = choose_root(place.folder)
    file = show_path(os.path.join(place.folder, name) if name else place.folder, root)
    return Verdict(name_case(place.folder, root), status, root, place.folder, file, **more)


def break_place(place: CaseFolder, findings: Sequence[Diagnostic]) -> Verdict:
    """The verdict on a case whose file cannot be read, or is not of its form."""
    return _tell_of(place, "broken", CASE, findings=tuple(findings))


def break_folder(place: CaseFolder) -> Verdict:
    """The verdict on a folder that could not be looked into."""
    told = _tell_of(place, "broken")
    message = f"cannot look into the folder `{told.file}`: {place.wrong}"
    return replace(told, findings=(Diagnostic("PC0903", message, help="whether there are cases in it is not known"),))


def break_unread(place: CaseFolder) -> Verdict | None:
    """The verdict on a folder with goldens that is no case: they guard nothing. None where what lies there is pending at most, as where
    another branch is checked out.
    """
    kept = [name for name in place.goldens if not is_pending(name) and name != INPUTS]
    if not kept:
        return None
    told = _tell_of(place, "broken")
    help = f"`{place.misnamed}` is not read: call it `{CASE}`" if place.misnamed else f"write its `{CASE}`; {_PRUNE}"
    message = f"`{told.file}` has goldens and no `{CASE}`: nobody reads {', '.join(f'`{name}`' for name in kept)}"
    return replace(told, findings=(Diagnostic("PC0922", message, None, help, "error"),))


def list_obsolete(place: CaseFolder, asked: Sequence[str], mode: Mode) -> list[Verdict]:
    """A verdict for every golden in the folder that is not among the names asked for; `golden.inputs.json` goes with the others."""
    known = {*asked, *([INPUTS] if asked else [])}
    level: Level = "error" if mode == "compare" else "warn"
    obsolete = (_tell_of(place, "obsolete", name) for name in place.goldens if name.removesuffix(PENDING) not in known)
    return [
        replace(one, findings=(Diagnostic("PC0922", f"no case asks for the golden `{one.file}`", None, _PRUNE, level),)) for one in obsolete
    ]


def check_expect(case: Case, ran: CaseRun) -> list[Diagnostic]:
    """A finding (PC0924) for every claim that does not hold, at its place in the `case.yaml`.

    Of a session all but `prefix_reuse`, `tier_changes` and the codes is claimed of its last turn. Where the exit code is another than the
    one expected, nothing else is looked at.
    """
    node = case.node.get("expect")
    expect: Mapping[str, Node] = node.value if node is not None else {}
    last = ran.turns[-1]
    if last.exit != case.exit:
        span = expect["exit"].span if "exit" in expect else case.node.value["title"].span
        return [Diagnostic("PC0924", f"the exit code is {last.exit}, not {case.exit}", span)]
    return [Diagnostic("PC0924", text, span) for text, span in _iter_broken(case, ran, last, expect)]


def _iter_broken(case: Case, ran: CaseRun, last: CaseOutcome, expect: Mapping[str, Node]) -> Iterator[Told]:
    if "tokens" in expect:
        yield from _check_number("tokens", last.tokens, expect["tokens"])
    if any(key in expect for key in _OF_REPORT):
        yield from _iter_of_report(case, (last.read_report() if _needs_items(expect) else last.read_facts()) or {}, expect)
    yield from _iter_of_text(last, expect)
    found = [one for turn in ran.turns for one in turn.found]
    yield from _check_codes("warnings", {one.code for one in found if one.level == "warn"}, expect)
    yield from _check_codes("errors", {one.code for one in found if one.level == "error"}, expect)
    measured = {"prefix_reuse": min(ran.reuse, default=None), "tier_changes": ran.changes}
    for key in _OF_RUN:
        if key in expect:
            yield from _check_number(key, measured[key], expect[key])
    for key in ("recall", "recall_in_cap"):
        if key in expect:
            yield from _check_number(key, last.figures.get(key), expect[key])
    if "fallback" in expect:
        yield from _check_names(
            "fallback", sorted(last.figures.get("fallback", ())), sorted(expect["fallback"].plain()), expect["fallback"]
        )


def _check_number(what: str, given: int | None, claim: Node) -> Iterator[Told]:
    if given is None or not _holds(given, claim.value):
        yield f"{what}: {'none' if given is None else given}, not {claim.value}", claim.span


def _holds(given: int, claim: float | str) -> bool:
    if not isinstance(claim, str):  # to a schema 3.0 is a whole number too
        return given == claim
    bound = _BOUND.fullmatch(claim)
    assert bound is not None, "the schema has its pattern"
    limit = int(bound[2])
    return {"<=": given <= limit, ">=": given >= limit, "<": given < limit, ">": given > limit}[bound[1]]


def _iter_of_report(case: Case, report: Mapping[str, Any], expect: Mapping[str, Node]) -> Iterator[Told]:
    if "strain" in expect and report.get("strain") != expect["strain"].value:
        yield f"strain is {show_value(report.get('strain'))}, not {show_value(expect['strain'].value)}", expect["strain"].span
    yield from _check_each("variant", report.get("variants", {}), expect.get("variants"))
    flags = report.get("flags", {})
    yield from _check_each("flag", flags, expect.get("flags"))
    if "flags" in expect and not expect["flags"].value and flags:
        yield f"flags are {show_value(flags)}, not none", expect["flags"].span
    sections = {section["id"]: section for section in report.get("sections", ())}
    if "order" in expect:
        standing = [name for name, section in sections.items() if section["state"] == "present"]
        yield from _check_names("order", standing, expect["order"].plain(), expect["order"])
    for name, claim in expect["sections"].items() if "sections" in expect else ():
        if name in sections:
            yield from _check_section(name, claim, sections[name], report)
        else:
            yield f"there is no section `{name}`: {suggest(name, sections)}", expect["sections"].key_span(name)


def _check_each(what: str, given: Mapping[str, Any], wanted: Node | None) -> Iterator[Told]:
    for name, node in wanted.items() if wanted is not None else ():
        value = node.plain()
        if given.get(name) != value:
            yield f"{what} `{name}` is {show_value(given.get(name))}, not {show_value(value)}", node.span


def _check_names(what: str, given: Sequence[str], wanted: Sequence[str], claim: Node) -> Iterator[Told]:
    if list(given) != list(wanted):
        yield f"{what} is {_list(given)}, not {_list(wanted)}", claim.span


def _list(names: Sequence[str]) -> str:
    return join_names(names) if names else "nothing"


def _check_section(name: str, claim: Node, section: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[Told]:
    if isinstance(claim.value, str):
        if section["state"] != claim.value:
            yield f"section `{name}` is `{section['state']}`, not `{claim.value}`", claim.span
        return
    ids = [item["id"] for item in section.get("items", ())]
    for what, given in (("items", len(ids)), ("tokens", section["tokens"])):
        if what in claim.value:
            yield from _check_number(f"{what} of `{name}`", given, claim.value[what])
    for node in claim.value["kept"].value if "kept" in claim.value else ():
        if node.value not in ids:
            yield f"section `{name}` has no item `{node.value}`: {_list(ids)}", node.span
    yield from _check_dropped(name, claim.get("dropped"), ids, section, report)


def _check_dropped(
    name: str, claim: Node | None, ids: Sequence[str], section: Mapping[str, Any], report: Mapping[str, Any]
) -> Iterator[Told]:
    if claim is None:
        return
    reasons = {str(key): node for key, node in claim.items()}
    for id, span in (
        [(node.value, node.span) for node in claim.value] if not reasons else [(one, node.span) for one, node in reasons.items()]
    ):
        if id in ids:
            yield f"section `{name}` has the item `{id}`, which must not be there", span
        elif id in reasons:
            wanted = str(reasons[id].value)
            cuts = [cut["rule"] for cut in report.get("cuts", ()) if cut["section"] == name and id in cut["items"]]
            stages = [stage for stage, count in section.get("left_out", {}).items() if count]
            if wanted not in (cuts or stages):
                yield f"item `{id}` of `{name}` went by {_list(cuts or stages)}, not by `{wanted}`", span


def _needs_items(expect: Mapping[str, Node]) -> bool:
    """Whether a claim is about what stands in a section: then the whole report is needed, which takes as long as a third of the render."""
    return "sections" in expect and any(not isinstance(claim.value, str) for _, claim in expect["sections"].items())


def _iter_of_text(outcome: CaseOutcome, expect: Mapping[str, Node]) -> Iterator[Told]:
    whole = (outcome.text or "") if outcome.messages is None else "\n".join(map(_read_text, outcome.messages))
    for node in expect["contains"].value if "contains" in expect else ():
        if node.value not in whole:
            yield f"the prompt lacks {show_value(node.value)}", node.span
    for node in expect["lacks"].value if "lacks" in expect else ():
        if isinstance(node.value, str):
            if node.value in whole:
                yield f"the prompt contains {show_value(node.value)}", node.span
        else:
            yield from _check_match(node, whole, outcome)


def _read_text(message: Mapping[str, Any]) -> str:
    """What is counted of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(map(render_part, content))


def _check_match(node: Node, whole: str, outcome: CaseOutcome) -> Iterator[Told]:
    plain = node.plain()
    try:
        hit = re.search(plain["match"], _leave_out(whole, plain.get("except", ()), outcome))
    except re.error as wrong:
        yield f"`match` is no regular expression: {wrong}", node.value["match"].span
        return
    if hit:
        yield f"the prompt contains {show_value(hit[0])}", node.span


def _leave_out(text: str, names: Iterable[str], outcome: CaseOutcome) -> str:
    """The text without what the named sections added; of text output only."""
    if not names or outcome.messages is not None:
        return text
    raw = text.encode()
    report = outcome.read_report() or {}
    ranges = [section["range"] for section in report.get("sections", ()) if section["id"] in names and section.get("range")]
    for start, stop in sorted(ranges, reverse=True):
        raw = raw[:start] + raw[stop:]
    return raw.decode()


def _check_codes(key: str, given: set[str], expect: Mapping[str, Node]) -> Iterator[Told]:
    if key in expect:
        yield from _check_names(key, sorted(given), sorted(set(expect[key].plain())), expect[key])


def find_idle(case: Case) -> Diagnostic | None:
    """A finding (PC0901) for a case that would pass whatever comes out. A check holds that nothing is found."""
    claims = [key for key, value in case.expect.items() if key in _CLAIMED_EMPTY or value not in ([], {})]
    return None if claims or case.golden or case.kind == "check" else Diagnostic("PC0901", _IDLE, case.node.span, _HOLD)
