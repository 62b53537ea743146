"""The account of a render, recounted: tiktoken's own count of what was emitted, and every sum a report promises (contract.md §13)."""

from collections.abc import Iterator, Mapping
from typing import Any

from promptc.golden.cases.case import CaseOutcome
from promptc.pipeline import Prompt
from tests.cases.recount import count_framed, count_messages, count_offered, count_text
from tests.cases.run_case import find_report


def check_receipt(outcome: CaseOutcome) -> list[str]:
    """One line for every sum that does not come out; nothing for what was not emitted."""
    report = find_report(outcome)
    if report is None or outcome.tokens is None:
        return []
    return list(_iter_wrong(outcome, report))


# contract 13.2
def _iter_wrong(outcome: CaseOutcome, report: Mapping[str, Any]) -> Iterator[str]:
    tokens, sections, frame = outcome.tokens, report["sections"], report["frame"]
    if report["tokens"] != tokens:
        yield f"the report has {report['tokens']} tokens, the prompt {tokens}"
    counted = _recount(outcome, report)
    if counted != tokens:
        yield f"{tokens} tokens are reported, an independent count of the output gives {counted}"
    if tokens is not None and tokens > report["budget"]:
        yield f"{tokens} tokens are over the budget of {report['budget']}"
    parts = sum(section["tokens"] for section in sections) + sum(frame.values())
    if parts != tokens:
        yield f"the parts sum to {parts}, not {tokens}"
    yield from _iter_wrong_offer(outcome, report)
    yield from _iter_wrong_ranges(outcome, report)
    if all("demand" in section for section in sections):
        yield from _iter_wrong_flow(report)


def _recount(outcome: CaseOutcome, report: Mapping[str, Any]) -> int:
    counter = report["counter"]["name"]
    if _is_chat(report):
        assert outcome.compiled is not None
        return count_framed(outcome.compiled.fitted.strained.selection.bound.pack.file, counter, outcome.text or "")
    if outcome.messages is not None:
        messages = [(message["role"], message["content"]) for message in outcome.messages]
        media = [one for section in report["sections"] for item in section["items"] for one in item.get("media", ())]
        told: int = sum(one["tokens"] for one in media)
        speakers = [message["name"] for message in outcome.messages if "name" in message]
        return told + count_messages(counter, messages, _list_offered(outcome), report["overhead"], speakers)
    return count_text(counter, outcome.text or "")


def _list_offered(outcome: CaseOutcome) -> list[Any]:
    """The tools of a messages render, and the schema of its answer as it is sent."""
    if outcome.messages is None or outcome.compiled is None:
        return []
    response, report = outcome.compiled.fitted.layout.response, find_report(outcome) or {}
    shown = [_show_tool(one, report["overhead"]["provider"]) for one in Prompt(outcome.compiled).tools]
    return [*(one for one in shown if one), *([response.schema] if response is not None else [])]


# contract 8.49
def _show_tool(tool: Mapping[str, Any], provider: str | None) -> dict[str, Any]:
    """What the model is shown of a tool before it searches."""
    if not tool.get("defer_loading"):
        return dict(tool)
    return {} if provider == "anthropic" else {key: tool[key] for key in ("name", "description") if key in tool}


# contract 13.7
def _iter_wrong_offer(outcome: CaseOutcome, report: Mapping[str, Any]) -> Iterator[str]:
    overhead = report.get("overhead")
    if _is_chat(report):
        if report["frame"]["tools"]:
            yield f"a chat template writes the tools itself, the report counts {report['frame']['tools']} apart"
        return
    if (overhead is None) != (outcome.messages is None):
        yield f"an overhead is stated for messages only, here it is {overhead}"
    tools = count_offered(report["counter"]["name"], _list_offered(outcome), overhead) if overhead is not None else 0
    told = report["frame"]["tools"] + sum(one["tokens"] for one in report["sections"] if one["state"] == "present" and one["range"] is None)
    if told != tools:
        yield f"tools and response take {tools}, the report has {told}"


def _is_chat(report: Mapping[str, Any]) -> bool:
    return bool(report.get("overhead", {}).get("provider") == "chat")


def _iter_wrong_ranges(outcome: CaseOutcome, report: Mapping[str, Any]) -> Iterator[str]:
    if outcome.text is None or _is_chat(report):
        return
    end, whole = 0, len(outcome.text.encode())
    for section in report["sections"]:
        if (section["range"] is not None) != (section["state"] == "present"):
            yield f"section {section['id']} is {section['state']} and has the range {section['range']}"
        elif section["range"] is not None:
            start, stop = section["range"]
            if not end <= start < stop <= whole:
                yield f"the range of {section['id']}, {start} to {stop}, does not follow {end} within {whole} bytes"
            end = stop


# contract 13.5
def _iter_wrong_flow(report: Mapping[str, Any]) -> Iterator[str]:
    """demand + added - what own ladders removed is a section's charge; their sum with tools and response, less joins and what `truncate`
    removed, the total.

    Cuts say which ladder they belong to: a tier's `do`, a section's, or `truncate`.
    """
    early = [cut for cut in report["cuts"] if cut["ladder"] != "truncate"]
    truncated = sum(cut["count"][0] - cut["count"][1] for cut in report["cuts"] if cut["ladder"] == "truncate")
    shrunk: dict[str, int] = {}
    for cut in early:
        before, after = cut["count"]
        shrunk[cut["section"]] = shrunk.get(cut["section"], 0) + max(0, before - after)
    charges = {section["id"]: section["demand"] + section["added"] - shrunk.get(section["id"], 0) for section in report["sections"]}
    for section in report["sections"]:
        if section["charge"] != charges[section["id"]]:
            yield f"section {section['id']}: demand, added and removed give {charges[section['id']]}, its charge is {section['charge']}"
    total = sum(charges.values()) + report["frame"]["tools"] - report["joins"] - truncated
    if total != report["tokens"]:
        yield f"demand + added + tools - removed - joins is {total}, not {report['tokens']}"
