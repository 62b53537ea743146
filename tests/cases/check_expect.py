"""What a case expects, held against what came out."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cases.case import Case
from tests.cases.run_case import Outcome

_BOUND = re.compile(r"(<=|>=|<|>) ?([0-9]+)")
_KEPT = {"present"}


def check_expect(case: Case, outcome: Outcome) -> list[str]:
    """One line for every claim that does not hold."""
    return list(_iter_broken(case, outcome))


def _iter_broken(case: Case, outcome: Outcome) -> Iterator[str]:
    expect, report = case.expect, outcome.report or {}
    if outcome.exit != case.exit:
        found = "\n".join(str(one) for one in outcome.found)
        yield f"exit {outcome.exit}, not {case.exit}: {found}"
        return
    for key in ("strain",):
        if key in expect and report.get(key) != expect[key]:
            yield f"{key} is {report.get(key)}, not {expect[key]}"
    yield from _iter_unequal("variant", expect.get("variants", {}), report.get("variants", {}))
    yield from _iter_unequal("flag", expect.get("flags", {}), report.get("flags", {}))
    if expect.get("flags") == {} and report.get("flags"):
        yield f"flags are {report['flags']}, not none"
    sections = {section["id"]: section for section in report.get("sections", ())}
    standing = [name for name, section in sections.items() if section["state"] in _KEPT]
    if "order" in expect and standing != expect["order"]:
        yield f"order is {standing}, not {expect['order']}"
    for name, claim in expect.get("sections", {}).items():
        yield from _iter_section(name, claim, sections[name])
    yield from _iter_texts(expect, outcome)
    if "fallback" in expect:
        fallbacks = sorted(outcome.applied.fallbacks) if outcome.applied is not None else []
        if fallbacks != sorted(expect["fallback"]):
            yield f"fallback is {fallbacks}, not {sorted(expect['fallback'])}"
    yield from _iter_codes("warnings", expect, outcome, {"warn"})
    yield from _iter_codes("errors", expect, outcome, {"error"})


def _iter_unequal(what: str, wanted: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        if given.get(name) != value:
            yield f"{what} {name} is {given.get(name)}, not {value}"


def _iter_section(name: str, claim: Any, section: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(claim, str):
        if section["state"] != claim:
            yield f"section {name} is {section['state']}, not {claim}"
        return
    ids = [item["id"] for item in section.get("items", ())]
    for what, given in (("items", len(ids)), ("tokens", section["tokens"])):
        if what in claim and not _holds(given, claim[what]):
            yield f"section {name} has {given} {what}, not {claim[what]}"
    for id in claim.get("kept", ()):
        if id not in ids:
            yield f"section {name} has no item {id}: {', '.join(ids)}"
    for id in claim.get("dropped", ()):
        if id in ids:
            yield f"section {name} has item {id}, which must not be there"


def _holds(given: int, claim: int | str) -> bool:
    if isinstance(claim, int):
        return given == claim
    bound = _BOUND.fullmatch(claim)
    assert bound, claim
    limit = int(bound[2])
    return {"<=": given <= limit, ">=": given >= limit, "<": given < limit, ">": given > limit}[bound[1]]


def _iter_texts(expect: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    whole = outcome.text if outcome.messages is None else "\n".join(str(message["content"]) for message in outcome.messages)
    for wanted in expect.get("contains", ()):
        if wanted not in (whole or ""):
            yield f"the prompt lacks {wanted!r}"
    for unwanted in expect.get("lacks", ()):
        if isinstance(unwanted, str):
            if unwanted in (whole or ""):
                yield f"the prompt contains {unwanted!r}"
        elif hit := re.search(unwanted["match"], _leave_out(whole or "", unwanted.get("except", ()), outcome)):
            yield f"the prompt contains {hit[0]!r}"


def _leave_out(text: str, names: list[str], outcome: Outcome) -> str:
    """The text without the content of the named sections; of text output only."""
    raw = text.encode()
    ranges = [section["range"] for section in (outcome.report or {})["sections"] if section["id"] in names and section.get("range")]
    for start, stop in sorted(ranges, reverse=True):
        raw = raw[:start] + raw[stop:]
    return raw.decode()


def _iter_codes(key: str, expect: Mapping[str, Any], outcome: Outcome, levels: set[str]) -> Iterator[str]:
    if key in expect:
        given = sorted({found.code for found in outcome.found if found.level in levels})
        if given != sorted(expect[key]):
            yield f"{key} are {given}, not {sorted(expect[key])}"
