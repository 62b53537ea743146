"""The claims of a case under `expect`, checked against the outcome of its run (contract.md §14): `check_expect`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, Span, join_names, show_value, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.economy import find_break, read_request
from promptc.golden.cases.case import Case, CaseOutcome, CaseRun
from promptc.model.state import Node
from promptc.passes.items.render import render_part

_BOUND = re.compile(r"(<=|>=|<|>) ?([0-9]+)")

_OF_REPORT = ("strain", "variants", "flags", "order", "sections")
"""Claims about the report of the last turn."""

_OF_RUN = ("prefix_reuse", "tier_changes", "flaps", "cost")
"""Claims about figures between the turns of a session."""

Told = tuple[str, Span]
"""A claim that does not hold, in words, and the place of the claim in the case."""


def check_expect(case: Case, ran: CaseRun) -> list[Diagnostic]:
    """Return a finding (PC0924) for every claim that does not hold, at its place in the `case.yaml`.

    The claims of a session are about its last turn, except those between turns and those about codes. If the exit code is not the expected
    one, nothing else is checked.
    """
    node = case.node.get("expect")
    expect: Mapping[str, Node] = node.value if node is not None else {}
    last = ran.turns[-1]
    if last.exit != case.exit:
        span = expect["exit"].span if "exit" in expect else case.node.value["title"].span
        return [_describe_exit(case, ran, span)]
    return [Diagnostic("PC0924", text, span) for text, span in _iter_broken(case, ran, last, expect)]


def find_refusal(case: Case, ran: CaseRun) -> Diagnostic | None:
    """Return the finding that refused the last turn of a case that expects no refusal, or None.

    All other failures of the case follow from it.
    """
    last = ran.turns[-1]
    if case.exit or not last.exit or case.kind in ("check", "run"):
        return None
    return next((one for one in last.found if one.level == "error"), None)


def _describe_exit(case: Case, ran: CaseRun, span: Span) -> Diagnostic:
    """Describe an unexpected exit code. For a refusal the line of the case is not shown, since nothing is wrong with it."""
    exit, refusal = ran.turns[-1].exit, find_refusal(case, ran)
    why = f"the exit code is {exit}, not {case.exit}"
    if refusal is None:
        return Diagnostic("PC0924", why, span)
    help = f"if the case is about this refusal, write `expect: {{exit: {exit}, errors: [{refusal.code}]}}`"
    return Diagnostic("PC0924", f"the {case.kind} was refused: {refusal.code} ({why})", replace(span, excerpt=""), help)


def _iter_broken(case: Case, ran: CaseRun, last: CaseOutcome, expect: Mapping[str, Node]) -> Iterator[Told]:
    if "tokens" in expect:
        yield from _check_number("tokens", last.tokens, expect["tokens"])
    if any(key in expect for key in _OF_REPORT):
        yield from _iter_of_report(case, (last.read_report() if _needs_items(expect) else last.read_facts()) or {}, expect)
    yield from _iter_of_text(last, expect)
    found = [one for turn in ran.turns for one in turn.found]
    yield from _check_codes("warnings", "warn", found, expect)
    yield from _check_codes("errors", "error", found, expect)
    measured = {"prefix_reuse": min(ran.reuse, default=None), "tier_changes": ran.changes, "flaps": len(ran.flaps), "cost": ran.cost}
    for key in _OF_RUN:
        if key in expect:
            told = _check_number(key, measured[key], expect[key])
            yield from ((text + _explain_session(key, ran), span) for text, span in told)
    for key in ("recall", "recall_in_cap", "rejected"):
        if key in expect:
            yield from _check_number(key, last.figures.get(key), expect[key])
    if "fallback" in expect:
        yield from _check_names(
            "fallback", sorted(last.figures.get("fallback", ())), sorted(expect["fallback"].plain()), expect["fallback"]
        )


def _explain_session(key: str, ran: CaseRun) -> str:
    """Return why a claim between turns fails, as far as one line can say it."""
    if key == "flaps":
        return f"; {ran.flaps[0]} came first" if ran.flaps else ""
    if key == "cost" and ran.cost is None:
        return "; a price needs a provider and a model: `with: {format: anthropic, model: claude-opus-5-5}`"
    return _explain_reuse(ran) if key in ("prefix_reuse", "cost") else ""


def _explain_reuse(ran: CaseRun) -> str:
    """Return what ended the common prefix of the worst turn; empty if there are not two turns."""
    prompts = [one.compiled for one in ran.turns if one.compiled is not None]
    if not ran.reuse or len(prompts) <= len(ran.reuse):
        return ""
    worst = ran.reuse.index(min(ran.reuse))
    found = find_break(read_request(prompts[worst]), read_request(prompts[worst + 1]))
    return f"; turn {worst + 2} begins as the turn before up to here: {found.describe()}" if found is not None else ""


def _check_number(what: str, given: int | None, claim: Node) -> Iterator[Told]:
    if given is None or not _holds(given, claim.value):
        yield f"{what}: {'none' if given is None else given}, not {claim.value}", claim.span


def _holds(given: int, claim: float | str) -> bool:
    if not isinstance(claim, str):  # a schema accepts 3.0 as a whole number, too
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
        yield from _check_order(standing, sections, expect["order"])
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


def _check_order(standing: Sequence[str], sections: Mapping[str, Any], claim: Node) -> Iterator[Told]:
    """Tell of the first section that is on one side only, and else of the order as a whole."""
    wanted = claim.plain()
    named = next((node for node in claim.value if node.value not in standing), None)
    left = next((name for name in standing if name not in wanted), None)
    if named is not None:
        known = f"{sections[named.value]['state']} in this prompt" if named.value in sections else "not a section"
        yield f"order names `{named.value}`, which is {known}: it has {_list(standing)}", named.span
    elif left is not None:
        yield f"order leaves out `{left}`, which is in this prompt: it has {_list(standing)}", claim.span
    else:
        yield from _check_names("order", standing, wanted, claim)


def _list(names: Sequence[str]) -> str:
    return join_names(names) if names else "nothing"


def _check_section(name: str, claim: Node, section: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[Told]:
    if isinstance(claim.value, str):
        if section["state"] != claim.value:
            yield f"section `{name}` is `{section['state']}`, not `{claim.value}`", claim.span
        return
    ids = [item["id"] for item in section.get("items", ())]
    for what, given, of in (("items", len(ids), ""), ("tokens", section["tokens"], "the content of ")):
        if what in claim.value:
            yield from _check_number(f"{what} of {of}`{name}`", given, claim.value[what])
    for node in claim.value["kept"].value if "kept" in claim.value else ():
        if node.value not in ids:
            yield f"section `{name}` has no item `{node.value}`: {_list(ids)}", node.span
    yield from _check_dropped(name, claim.get("dropped"), ids, section, report)


def _check_dropped(
    name: str, claim: Node | None, ids: Sequence[str], section: Mapping[str, Any], report: Mapping[str, Any]
) -> Iterator[Told]:
    if claim is None:
        return
    reasons = {str(id): node for id, node in claim.items()}
    for id, node in [*reasons.items()] or [(node.value, node) for node in claim.value]:
        if id in ids:
            yield f"section `{name}` has the item `{id}`, which must not be there", node.span
        elif id in reasons:
            wanted = str(node.value)
            cuts = [cut["rule"] for cut in report.get("cuts", ()) if cut["section"] == name and id in cut["items"]]
            stages = [stage for stage, count in section.get("left_out", {}).items() if count]
            if wanted not in (cuts or stages):
                yield f"item `{id}` of `{name}` went by {_list(cuts or stages)}, not by `{wanted}`", node.span


def _needs_items(expect: Mapping[str, Node]) -> bool:
    """Return whether a claim is about the content of a section.

    Such a claim needs the whole report, which takes as long as a third of the render.
    """
    return "sections" in expect and any(not isinstance(claim.value, str) for _, claim in expect["sections"].items())


def _iter_of_text(outcome: CaseOutcome, expect: Mapping[str, Node]) -> Iterator[Told]:
    whole = (outcome.text or "") if outcome.messages is None else "\n".join(map(read_message, outcome.messages))
    for node in expect["contains"].value if "contains" in expect else ():
        if node.value not in whole:
            yield f"the prompt does not contain {show_value(node.value)}", node.span
    for node in expect["lacks"].value if "lacks" in expect else ():
        if isinstance(node.value, str):
            if node.value in whole:
                yield f"the prompt contains {show_value(node.value)}", node.span
        else:
            yield from _check_match(node, whole, outcome)


def read_message(message: Mapping[str, Any]) -> str:
    """Return the text of a message that is counted besides its role."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(map(render_part, content))


def _check_match(node: Node, whole: str, outcome: CaseOutcome) -> Iterator[Told]:
    plain = node.plain()
    try:
        hit = re.search(plain["match"], _leave_out(whole, plain.get("except", ()), outcome))
    except re.error as wrong:
        yield f"`match` is not a regular expression: {wrong}", node.value["match"].span
        return
    if hit:
        yield f"the prompt contains {show_value(hit[0])}", node.span


def _leave_out(text: str, names: Iterable[str], outcome: CaseOutcome) -> str:
    """Return the text without the named sections. Messages are returned unchanged."""
    if not names or outcome.messages is not None:
        return text
    raw = text.encode()
    report = outcome.read_report() or {}
    ranges = [section["range"] for section in report.get("sections", ()) if section["id"] in names and section.get("range")]
    for start, stop in sorted(ranges, reverse=True):
        raw = raw[:start] + raw[stop:]
    return raw.decode()


def _check_codes(key: str, level: str, found: Sequence[Diagnostic], expect: Mapping[str, Node]) -> Iterator[Told]:
    """Compare the codes of one level with a claim. A note that the claim names is mentioned, since no claim lists notes."""
    if key not in expect:
        return
    given, wanted = {one.code for one in found if one.level == level}, set(expect[key].plain())
    notes = sorted({one.code for one in found if one.level == "note"} & wanted - given)
    hint = f"; take out {join_names(notes)}: `expect` lists no notes, `golden: [diagnostics]` compares them" if notes else ""
    yield from ((text + hint, span) for text, span in _check_names(key, sorted(given), sorted(wanted), expect[key]))
