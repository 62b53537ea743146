"""The report of a render (language.md §13): what was there, what was granted, what was cut and why, and what stands where.

Plain JSON data without times, paths of the machine or anything that varies between equal renders. Counts are in tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from posixpath import basename, dirname, isabs, relpath

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.typed import Any
from promptc.model.stages import Pressure, Selected
from promptc.passes.act import Entry
from promptc.passes.assemble import Emitted, Part
from promptc.passes.attribute import attribute
from promptc.passes.describe_sources import describe_digests, describe_segments, describe_source, list_sparse
from promptc.passes.find_origins import Origins
from promptc.passes.fit.fit import Fitted
from promptc.passes.fit.ladder import Applied, LadderRun
from promptc.passes.place_parts import place_parts
from promptc.passes.strain import measure_after
from promptc.version import VERSION


def build_report(fitted: Fitted, emitted: Emitted | None, tokens: int | None, warnings: Sequence[Diagnostic]) -> dict[str, Any]:
    """The report of a render, or with `emitted` None of one that did not fit."""
    selection = fitted.strained.selection
    bound = selection.bound
    counts = attribute(emitted.parts, fitted.frame) if emitted is not None else []
    contents = _describe_contents(fitted, emitted.parts, counts) if emitted is not None else {}
    rules = bound.pack.strain
    report: dict[str, Any] = {
        "pack": bound.pack.name,
        "version": bound.pack.version,
        "digests": {"pack": bound.pack.digest, "state": bound.state.digest, "promptc": VERSION, **describe_digests(selection.sections)},
        "counter": _describe_counter(fitted),
        "format": fitted.frame.format,
        "budget": bound.total,
        "tokens": tokens,
        "characters": emitted.characters if emitted is not None else None,
        "pressure": _describe_pressure(fitted),
        "strain": rules.tiers[fitted.strained.tier].name if rules is not None else None,
        "variants": dict(selection.choice.cases),
        "patches": list(bound.choice.patches),
        "sections": [_describe_section(fitted, one, contents.get(one.section.id, {})) for one in selection.sections],
        "frame": _describe_frame(fitted, emitted, counts, tokens),
        "joins": _count_joins(fitted),
        "ladders": {name: _describe_ladder(run) for name, run in fitted.iter_runs() if run is not fitted.done},
        "cuts": [_describe_cut(fitted, name, one) for name, run in fitted.iter_runs() for one in run.applied],
        "dropped": [one.section for _, run in fitted.iter_runs() for one in run.applied if one.act.drops],
        "guarded": list(_iter_guarded(fitted)),
        "warnings": [_describe_warning(fitted, found) for found in warnings],
        "flags": _describe_flags(fitted),
    }
    if fitted.frame.format == "messages":
        report["overhead"] = _describe_overhead(fitted)
    if bound.pack.stores:
        report["segments"] = describe_segments(fitted)
    if fitted.errors and emitted is None:
        found = next(one for one in fitted.errors if one.level == "error")
        report["error"] = {"code": found.code, "section": fitted.short, "missing": fitted.missing, "message": found.message}
    return report


def build_facts(fitted: Fitted) -> dict[str, Any]:
    """Of the report what costs nothing: the tier, the choices, the flags, and which sections stand."""
    selection = fitted.strained.selection
    rules = selection.bound.pack.strain
    return {
        "strain": rules.tiers[fitted.strained.tier].name if rules is not None else None,
        "variants": dict(selection.choice.cases),
        "flags": _describe_flags(fitted),
        "sections": [{"id": one.section.id, "state": _find_state(fitted, one)} for one in selection.sections],
    }


def _describe_counter(fitted: Fitted) -> dict[str, Any]:
    counting = fitted.strained.selection.bound.pack.counting
    counter = counting.counter
    described: dict[str, Any] = {"name": counter.name, "digest": counter.digest, "exact": counter.exact}
    if counting.reason:
        described |= {"wanted": counting.wanted, "reason": counting.reason, "margin": counting.margin}
    return described


def _describe_pressure(fitted: Fitted) -> dict[str, list[int]]:
    tokens = fitted.frame.meter.tokens
    before = fitted.strained.pressure
    after = measure_after(fitted.strained, {name: tokens(units) for name, units in fitted.after_do.items()})
    return {"before": _pair(before), "after": _pair(after)}


def _pair(pressure: Pressure) -> list[int]:
    return [pressure.spent, pressure.allowed]


def _describe_section(fitted: Fitted, selected: Selected, content: Mapping[str, Any]) -> dict[str, Any]:
    name, tokens = selected.section.id, fitted.frame.meter.tokens
    demand = tokens(fitted.demand.get(name, 0))
    described: dict[str, Any] = {
        "id": name,
        "title": selected.section.title,
        "role": selected.section.role,
        "pinned": selected.section.pinned,
    }
    described["state"] = _find_state(fitted, selected)
    described["demand_at_least" if selected.is_partial else "demand"] = demand
    return described | {
        "added": _count_added(fitted, name),
        "grant": fitted.grants.get(name),
        "charge": tokens(fitted.charges.get(name, 0)),
        "tokens": 0,
        "range": None,
        "items": [],
        "left_out": dict(sorted(selected.left_out.items())),
        "tally": dict(selected.tally),
        **describe_source(selected),
        **content,
    }


def _find_state(fitted: Fitted, selected: Selected) -> str:
    fit = fitted.fits.get(selected.section.id)
    if fit is None:
        return selected.state
    if fit.is_empty:
        return "dropped" if fit.is_dropped else "empty"
    return "present"


def _describe_contents(fitted: Fitted, parts: Sequence[Part], counts: Sequence[int]) -> dict[str, dict[str, Any]]:
    """By section: its tokens without fences, where it stands, and its items.

    `range` is in bytes, from its first to behind its last; in messages with the index of its (first) message in front.
    """
    origins, lead = Origins(fitted), fitted.frame.format == "messages"
    described: dict[str, dict[str, Any]] = {}
    for (part, start, stop), tokens in zip(place_parts(parts), counts, strict=True):
        if part.owner == "separator":
            continue
        message = [part.message] if lead else []
        one = described.setdefault(part.section, {"tokens": 0, "range": [*message, start, stop], "items": []})
        if one["range"][:-2] == message:
            one["range"][-1] = stop
        if part.owner != "fence":
            one["tokens"] += tokens
        if part.item is not None:
            place = [*message, start, start + len(part.item.body.encode())]
            one["items"].append({"tokens": tokens, "range": place, **_describe_item(fitted, origins, part.section, part.item)})
    return described


def _describe_item(fitted: Fitted, origins: Origins, name: str, entry: Entry) -> dict[str, Any]:
    section = fitted.fits[name].section
    described: dict[str, Any] = {
        "id": entry.item.id,
        "chars": len(entry.text),
        "at": _describe_place(fitted, origins.find_span(section, entry)),
        "pointer": origins.find_pointer(section, entry),
    }
    return described | ({"form": entry.form} if entry.form else {})


def _describe_frame(fitted: Fitted, emitted: Emitted | None, counts: Sequence[int], tokens: int | None) -> dict[str, int]:
    frame = {"fences": 0, "separators": 0, "messages": 0, "tools": fitted.frame.offered}
    for part, count in zip(emitted.parts if emitted is not None else (), counts, strict=True):
        if part.owner == "fence":
            frame["fences"] += count
        elif part.owner == "separator":
            frame["separators"] += count
    if tokens is not None:
        frame["messages"] = tokens - sum(counts) - frame["tools"]
    return frame


def _describe_overhead(fitted: Fitted) -> dict[str, Any]:
    """What messages, tools and response take beside their own tokens: by whose account, and whether that is an estimate."""
    frame, provider = fitted.frame, fitted.strained.selection.bound.provider
    response = fitted.strained.selection.plan.response
    left_out = response.find_sent(provider.name).left_out if provider is not None and response is not None else ()
    return {
        "provider": provider.name if provider is not None else None,
        "as_of": provider.as_of if provider is not None else None,
        "message": frame.costs.message,
        "prompt": frame.costs.prompt,
        "role": frame.costs.counts_role,
        "tools": frame.tools_overhead,
        "response": frame.response_overhead,
        "estimate": provider is None or bool(provider.estimates),
        **({"left_out": list(left_out)} if left_out else {}),
    }


def _count_joins(fitted: Fitted) -> int:
    """The sum of the sections' charges, tools and response less the exact total, before `truncate`."""
    if fitted.truncated is None:
        return 0
    tokens = fitted.frame.meter.tokens
    return sum(tokens(units) for units in fitted.charges.values()) + fitted.frame.offered - tokens(fitted.truncated.start)


def _count_added(fitted: Fitted, name: str) -> int:
    """What a section grew by: notches of `do` or of its ladder after which it counted more than before."""
    tokens = fitted.frame.meter.tokens
    runs = [*([fitted.done] if fitted.done is not None else []), *([fitted.ladders[name]] if name in fitted.ladders else [])]
    cuts = [one for run in runs for one in run.applied if one.section == name]
    return sum(max(0, tokens(one.after) - tokens(one.before)) for one in cuts)


def _describe_ladder(run: LadderRun) -> dict[str, int]:
    return {"notches": run.tried, "applied": len(run.applied), "void": len(run.void)}


def _describe_cut(fitted: Fitted, ladder: str, cut: Applied) -> dict[str, Any]:
    tokens = fitted.frame.meter.tokens
    before = [one.before for one in cut.changes if one.before is not None]
    after = [one.after for one in cut.changes if one.after is not None]
    described: dict[str, Any] = {
        "ladder": ladder,
        "step": cut.step.label,
        "rule": type(cut.step).__name__.lower(),
        "section": cut.section,
        "items": [one.id for one in cut.changes if one.before is not None],
        "tokens": [sum(tokens(one.units) for one in before), sum(tokens(one.units) for one in after)],
        "chars": [sum(one.chars for one in before), sum(one.chars for one in after)],
        "count": [tokens(cut.before), tokens(cut.after)],
        "why": cut.act.why,
        "needs": cut.needs if fitted.counts_chars(ladder) else tokens(cut.needs),
        "at": _describe_place(fitted, cut.step.span),
    }
    if cut.act.boundary:
        described["boundary"] = cut.act.boundary
    if cut.act.moves:
        described["level"] = list(cut.act.level)
        described["groups"] = [{"group": group, "level": [high, low]} for group, high, low in cut.act.moves if group]
    return described


def _iter_guarded(fitted: Fitted) -> Iterator[dict[str, Any]]:
    for name, fit in fitted.fits.items():
        places = [(None, fit.selected.found)] if not fit.is_empty else []
        for id, list_of in [*places, *((entry.item.id, entry.item.found) for entry in fit.alive)]:
            for found in list_of:
                yield {
                    "section": name,
                    "item": id,
                    "kind": found.kind,
                    "text": found.text,
                    "line": found.line,
                    "count": found.count,
                    "policy": found.policy,
                }


def _describe_warning(fitted: Fitted, found: Diagnostic) -> dict[str, Any]:
    return {"code": found.code, "message": found.message, "at": _describe_place(fitted, found.span) if found.span is not None else None}


def _describe_place(fitted: Fitted, span: Span) -> str:
    """A place by its file's name as the pack knows it, so that it is the same wherever the pack lies; of a state the last name alone."""
    bound = fitted.strained.selection.bound
    manifest = bound.pack.file
    file = basename(span.file) if span.file == bound.state.name else _show_file(span.file, manifest)
    return f"{file}:{span.line}:{span.column}"


def _show_file(file: str, manifest: str) -> str:
    """The way from the manifest's folder to a file. Where one is absolute and the other is not, the working folder decides."""
    return relpath(file, dirname(manifest) or ".") if isabs(file) or isabs(manifest) else _find_way(file, dirname(manifest) or ".")


@lru_cache(maxsize=256)
def _find_way(file: str, folder: str) -> str:
    return relpath(file, folder)


def _describe_flags(fitted: Fitted) -> dict[str, Any]:
    raises: Mapping[str, tuple[str, str]] = fitted.strained.raises
    flags: dict[str, Any] = {"would_raise": {name: list(pair) for name, pair in sorted(raises.items())}} if raises else {}
    selection = fitted.strained.selection
    sparse, due = list_sparse(selection.sections), list(selection.bound.due)
    return flags | ({"retrieval_sparse": sparse} if sparse else {}) | ({"due": due} if due else {})
