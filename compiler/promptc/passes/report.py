"""The report of a render (contract.md §13): contents, grants, cuts and their reasons, and the place of everything.

It is plain JSON data without times, paths of the machine, or anything else that varies between equal renders. Counts are in tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from posixpath import basename, dirname, isabs, relpath

from promptc.diag.findings import Diagnostic, Span, sort_diagnostics
from promptc.diag.typed import Any, NamedTuple
from promptc.model.budget import TotalBudget
from promptc.model.media import CountedMedia
from promptc.model.pack import PackModel, list_reads
from promptc.model.section import Drop, Recap, Replace, Section, Segments
from promptc.model.stages import Selected
from promptc.model.state import Pointers
from promptc.passes.assemble import Emitted
from promptc.passes.bind import REDACTIONS, find_asked, find_cap, list_names
from promptc.passes.fit.fit import count_held
from promptc.passes.fit.result import Applied, Fitted, FittedItem, FittedSection, Part
from promptc.passes.layout.layout import Layout
from promptc.passes.strain import measure_after
from promptc.template.compile import Expression, Template
from promptc.text.json import render_digest
from promptc.version import VERSION


def build_report(fitted: Fitted, account: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole report: the account of a render, and the digests of its inputs."""
    selection = fitted.strained.selection
    bound = selection.bound
    digests = {"pack": bound.pack.digest, "state": bound.state.digest, "promptc": VERSION, **describe_digests(selection.sections)}
    return {"pack": account["pack"], "version": account["version"], "digests": digests, **account}


def build_account(fitted: Fitted, emitted: Emitted | None, tokens: int | None, warnings: Sequence[Diagnostic]) -> dict[str, Any]:
    """Return the report of a render without its digests; `emitted` is None for a render that did not fit.

    It reads only what the render read.
    """
    selection = fitted.strained.selection
    bound = selection.bound
    counts = attribute(emitted.parts, fitted.layout) if emitted is not None else []
    tools = _describe_tools(fitted) if emitted is not None else {}
    contents = _describe_contents(fitted, emitted.parts, counts) | tools if emitted is not None else {}
    rules = bound.pack.strain
    account: dict[str, Any] = {
        "pack": bound.pack.name,
        "version": bound.pack.version,
        "counter": _describe_counter(fitted),
        "format": fitted.layout.format,
        "budget": bound.total,
        **_describe_model(bound.budget),
        "tokens": tokens,
        "characters": emitted.characters if emitted is not None else None,
        "pressure": _describe_pressure(fitted),
        "strain": rules.tiers[fitted.strained.tier].name if rules is not None else None,
        "variants": dict(selection.choice.cases),
        "patches": list(bound.choice.patches),
        **({"tries": list(bound.pack.tries)} if bound.pack.tries else {}),
        "sections": [_describe_section(fitted, one, contents.get(one.section.id, {})) for one in selection.sections],
        "frame": _describe_frame(fitted, emitted, [*counts, *(one["tokens"] for one in tools.values())], tokens),
        "joins": _count_joins(fitted),
        **_describe_pools(fitted),
        "ladders": {
            name: {"notches": run.tried, "applied": sum(one.notches for one in run.applied), "void": len(run.void)}
            for name, run in fitted.iter_runs()
            if run is not fitted.done
        },
        "cuts": [_describe_cut(fitted, name, one) for name, run in fitted.iter_runs() for one in run.applied],
        "dropped": [one.section for _, run in fitted.iter_runs() for one in run.applied if isinstance(one.step, Drop)],
        "guarded": list(iter_guarded(fitted)),
        "warnings": [
            {"code": found.code, "message": found.message, "at": _describe_place(fitted, found.span) if found.span is not None else None}
            for found in warnings
        ],
        "flags": _describe_flags(fitted),
    }
    if fitted.layout.format == "messages":
        account["overhead"] = _describe_overhead(fitted)
    if bound.pack.redact and emitted is not None:
        account["redacted"] = _count_redacted(bound.names[REDACTIONS].originals, emitted)
    if bound.pack.stores:
        account["segments"] = describe_segments(fitted)
    return account | (_describe_error(fitted) if emitted is None else {})


def build_facts(fitted: Fitted) -> dict[str, Any]:
    """Return the part of the report that costs nothing: the tier, the choices, the flags, and the state of each section."""
    selection = fitted.strained.selection
    rules = selection.bound.pack.strain
    return {
        "strain": rules.tiers[fitted.strained.tier].name if rules is not None else None,
        "variants": dict(selection.choice.cases),
        "flags": _describe_flags(fitted),
        "sections": [{"id": one.section.id, "state": _name_state(fitted, one)} for one in selection.sections],
    }


def build_outline(fitted: Fitted) -> dict[str, Any]:
    """Return the part of the report that counts no content: choices, pressure, sections without their contents, pools, what is missing."""
    selection = fitted.strained.selection
    return {
        **build_facts(fitted),
        "pack": selection.bound.pack.name,
        "version": selection.bound.pack.version,
        "counter": _describe_counter(fitted),
        "format": fitted.layout.format,
        "budget": selection.bound.total,
        "pressure": _describe_pressure(fitted),
        "patches": list(selection.bound.choice.patches),
        "sections": [_describe_section(fitted, one, {}) for one in selection.sections],
        **_describe_pools(fitted),
        **_describe_error(fitted),
    }


def build_row(fitted: Fitted, emitted: Emitted | None, tokens: int | None, found: Sequence[Diagnostic]) -> dict[str, Any]:
    """Return the part of the report for one row of many.

    It has `tokens`, the tokens by section without fences, the tier, how many items of each section its steps and its reach removed, and the
    findings of `found`.
    """
    bound = fitted.strained.selection.bound
    rules = bound.pack.strain
    return {
        "tokens": tokens,
        "sections": _count_sections(fitted, emitted) if emitted is not None else {},
        "tier": rules.tiers[fitted.strained.tier].name if rules is not None else None,
        "dropped": _count_dropped(fitted) if emitted is not None else {},
        "diagnostics": describe_findings(found, bound.pack.file, bound.state.name),
    }


def _count_sections(fitted: Fitted, emitted: Emitted) -> dict[str, int]:
    counted: dict[str, int] = {}
    for part, tokens in zip(emitted.parts, attribute(emitted.parts, fitted.layout), strict=True):
        if part.owner != "separator":
            counted[part.section] = counted.get(part.section, 0) + (tokens if part.owner != "fence" else 0)
    return counted | {name: sum(_count_tools(fitted, fit)) for name, fit in fitted.sections.items() if fit.section.is_tools and fit.alive}


def _count_tools(fitted: Fitted, fit: FittedSection) -> tuple[int, int]:
    """Return the tokens of a section's tools, and what a provider adds to them."""
    layout = fitted.layout
    tools = [one.item.tool for one in fit.alive if one.item.tool is not None]
    return sum(layout.meter.tokens(one.units) for one in fit.alive), layout.count_tools_overhead(tools)


def _count_dropped(fitted: Fitted) -> dict[str, int]:
    counted = {
        name: sum(not one.is_alive and not one.is_made for one in fit.entries) + fit.selected.left_out.get("reach", 0)
        for name, fit in fitted.sections.items()
    }
    return {name: count for name, count in counted.items() if count}


def describe_findings(found: Sequence[Diagnostic], pack: str, state: str) -> list[dict[str, Any]]:
    """Return findings as plain data, sorted.

    `pack` is the path of the manifest and `state` the name of the state; `at` is relative to them, and does not reveal where they are.
    """
    return [
        {
            "code": one.code,
            "level": one.level,
            "message": one.message,
            "at": name_place(one.span, pack, state) if one.span is not None else None,
            "help": one.help or None,
        }
        for one in sort_diagnostics(found)
    ]


def _describe_counter(fitted: Fitted) -> dict[str, Any]:
    bound = fitted.strained.selection.bound
    counting, calibration, entry = bound.pack.counting, bound.pack.calibration, bound.calibrated
    counter = counting.counter
    described: dict[str, Any] = {"name": counter.name, "digest": counter.digest, "exact": counter.exact}
    if counting.reason:
        described |= {"wanted": counting.wanted, "reason": counting.reason, "margin": counting.margin}
    if calibration is not None and entry is not None:
        described["calibration"] = {
            "file": calibration.file,
            "provider": entry.provider,
            "model": entry.model,
            "quantile": calibration.quantile,
            "pairs": entry.pairs,
            "first": entry.first,
            "last": entry.last,
            "ratio": entry.ratio,
            "whole": bound.whole,
            "held": bound.whole - bound.total,
        }
    return described


def _describe_model(budget: TotalBudget) -> dict[str, Any]:
    """Return the figures of a budget that follows a model: those of the table of that day, or of the pack itself."""
    if not budget.model:
        return {}
    figures = {"name": budget.model, "context": budget.context, "input": budget.input, "reserve": budget.reserve or 0}
    return {"model": {**figures, "as_of": budget.as_of or None}}


def _describe_error(fitted: Fitted) -> dict[str, Any]:
    """Return how much is missing for a prompt that does not fit; empty for one that fits."""
    found = next((one for one in fitted.errors if one.level == "error"), None)
    if found is None:
        return {}
    return {"error": {"code": found.code, "section": fitted.short, "missing": fitted.missing, "message": found.message}}


def _describe_pressure(fitted: Fitted) -> dict[str, list[int]]:
    tokens = fitted.layout.meter.tokens
    before = fitted.strained.pressure
    after = measure_after(fitted.strained, {name: tokens(units) for name, units in fitted.after_do.items()})
    return {"before": [before.spent, before.allowed], "after": [after.spent, after.allowed]}


def _describe_section(fitted: Fitted, selected: Selected, content: Mapping[str, Any]) -> dict[str, Any]:
    name, tokens = selected.section.id, fitted.layout.meter.tokens
    demand = tokens(fitted.demand.get(name, 0))
    described: dict[str, Any] = {
        "id": name,
        "title": selected.section.title,
        "role": selected.section.role,
        "pinned": selected.section.pinned,
    }
    described["state"] = _name_state(fitted, selected)
    described["demand_at_least" if selected.is_partial else "demand"] = demand
    return described | {
        "added": _count_added(fitted, name),
        "grant": fitted.grants.get(name),
        **_describe_pool(fitted, name),
        "charge": tokens(fitted.charges.get(name, 0)),
        **_describe_held(fitted, name),
        "tokens": 0,
        "range": None,
        "items": [],
        "left_out": dict(sorted(selected.left_out.items())),
        "tally": dict(selected.tally),
        **_describe_cap(fitted, selected.section),
        **describe_source(selected),
        **content,
        **_describe_frozen(selected, content.get("items", ())),
    }


def _describe_held(fitted: Fitted, name: str) -> dict[str, int]:
    """Return, for a section that `truncate` cut, all the tokens that what is left of it adds."""
    cuts = fitted.truncated.moves if fitted.truncated is not None else ()
    return {"held": fitted.layout.meter.tokens(count_held(fitted, name))} if any(one.section == name for one in cuts) else {}


def _describe_frozen(selected: Selected, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return, for a list with `freeze`, how many items kept their place, how many of them only because of `freeze`, and their tokens.

    It also has the ids that are gone from the source.
    """
    if selected.section.items is None or selected.section.items.freeze is None:
        return {}
    standing, held = set(selected.standing), [one for one in items if "held" in one]
    stands = sum(1 for one in items if one["id"] in standing)
    return {"frozen": {"stands": stands, "held": len(held), "tokens": sum(one["tokens"] for one in held), "gone": list(selected.gone)}}


def _describe_pools(fitted: Fitted) -> dict[str, Any]:
    """Return, for a pack with pools, how much the sections of each may take together, what they wanted, and what they were charged."""
    tokens = fitted.layout.meter.tokens
    pools = [
        {
            "id": one.pool.name,
            "sections": list(one.pool.sections),
            "grant": one.cap,
            "demand": tokens(one.run.start),
            "charge": tokens(sum(fitted.charges[name] for name in one.entered)),
        }
        for one in fitted.pools
    ]
    return {"pools": pools} if pools else {}


def _describe_pool(fitted: Fitted, name: str) -> dict[str, Any]:
    """Return, for a section in a pool, what it was charged before the pool's ladder."""
    tokens = fitted.layout.meter.tokens
    return next(
        ({"pool": {"id": one.pool.name, "charge": tokens(one.entered.get(name, 0))}} for one in fitted.pools if name in one.pool.sections),
        {},
    )


def _describe_cap(fitted: Fitted, section: Section) -> dict[str, Any]:
    """Return, for a cap that the state chooses, the cap that the state requests and the one that is used."""
    budget, bound = section.budget, fitted.strained.selection.bound
    if budget is None or budget.source is None or budget.cap is None:
        return {}
    unit = "characters" if budget.cap.unit == "chars" else "tokens"
    return {
        "cap": {"from": budget.source.text.strip(), "asked": find_asked(section, bound), "used": find_cap(section, bound), "unit": unit}
    }


def _name_state(fitted: Fitted, selected: Selected) -> str:
    fit = fitted.sections.get(selected.section.id)
    if fit is None:
        return selected.state
    if fit.is_empty:
        return "dropped" if fit.is_dropped else "empty"
    return "present"


def _describe_contents(fitted: Fitted, parts: Sequence[Part], counts: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return, by section, its tokens without fences, its range, and its items.

    `range` is the half-open range of bytes from its start to its end; in messages, the index of its (first) message comes first.
    """
    origins, lead = Origins(fitted), fitted.layout.format == "messages"
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


def _describe_tools(fitted: Fitted) -> dict[str, dict[str, Any]]:
    """Return, for each section of tools, all the tokens that it takes, and each tool with its own tokens. Tools are in no message."""
    layout, origins, described = fitted.layout, Origins(fitted), dict[str, dict[str, Any]]()
    for name, fit in fitted.sections.items():
        if fit.section.is_tools and fit.alive:
            items = [
                {"tokens": layout.meter.tokens(one.units), "range": None, **_describe_item(fitted, origins, name, one)} for one in fit.alive
            ]
            described[name] = {"tokens": sum(_count_tools(fitted, fit)), "items": items}
    return described


def _describe_item(fitted: Fitted, origins: Origins, name: str, entry: FittedItem) -> dict[str, Any]:
    section = fitted.sections[name].section
    described: dict[str, Any] = {
        "id": entry.item.id,
        "chars": len(entry.text),
        "at": _describe_place(fitted, origins.locate(section, entry)),
        "pointer": origins.find_pointer(section, entry),
    }
    media = [_describe_media(one) for one in entry.item.media]
    described |= {"held": entry.item.held} if entry.item.held else {}
    return described | ({"form": entry.form} if entry.form else {}) | ({"media": media} if media else {})


def _describe_media(counted: CountedMedia) -> dict[str, Any]:
    """Return a part that is not text: what is known of it, its tokens, and what counted them."""
    size, detail = counted.size, counted.detail
    described: dict[str, Any] = {"kind": counted.kind, **({"type": counted.type} if counted.type else {})}
    described |= {"size": [size.width, size.height]} if size.tells("image") else {}
    described |= ({"pages": size.pages} if size.pages else {}) | ({"seconds": size.millis / 1000} if size.millis else {})
    described |= {"detail": detail} if detail is not None else {}
    return described | ({"tokens": counted.tokens, "by": counted.by, "estimate": counted.estimate} if counted.by else {})


def _describe_frame(fitted: Fitted, emitted: Emitted | None, counts: Sequence[int], tokens: int | None) -> dict[str, int]:
    frame = {"fences": 0, "separators": 0, "messages": 0, "tools": fitted.layout.offered}
    for part, count in zip(emitted.parts if emitted is not None else (), counts, strict=False):
        if part.owner == "fence":
            frame["fences"] += count
        elif part.owner == "separator":
            frame["separators"] += count
    if tokens is not None:
        frame["messages"] = tokens - sum(counts) - frame["tools"]
    return frame


def _describe_overhead(fitted: Fitted) -> dict[str, Any]:
    """Return what messages, tools and response take besides their own tokens, whose figures these are, and whether they are an estimate."""
    layout, provider = fitted.layout, fitted.strained.selection.bound.provider
    response = fitted.strained.selection.plan.response
    left_out = response.choose_sent(provider.name).left_out if provider is not None and response is not None else ()
    return {
        "provider": provider.name if provider is not None else None,
        "as_of": provider.as_of or None if provider is not None else None,
        "message": layout.costs.message,
        "prompt": layout.costs.prompt,
        "role": layout.costs.counts_role,
        "tools": layout.count_tools_overhead(fitted.tools),
        "response": layout.response_overhead,
        "estimate": provider is None or bool(provider.estimates),
        **({"name": layout.costs.name} if any(one.item is not None and one.item.item.speaker for one in fitted.parts) else {}),
        **({"left_out": list(left_out)} if left_out else {}),
        **_describe_table(fitted),
    }


def _describe_table(fitted: Fitted) -> dict[str, Any]:
    """Return the oldest date of the rules that counted media, and whether any count is an estimate; empty if nothing was counted."""
    counted = [one for fit in fitted.sections.values() for entry in fit.alive for one in entry.item.media if one.by]
    forms = [fit.section.items.message.media for fit in fitted.sections.values() if fit.section.items and fit.section.items.message]
    table = next((form.table for form in forms if form is not None), None)
    rules = [table.find(one.by) for one in counted] if table is not None else []
    days = [one.as_of for one in rules if one is not None] or ([table.as_of] if table is not None else [])
    return {"media": {"as_of": min(days, default=None), "estimate": any(one.estimate for one in counted)}} if counted else {}


def _count_joins(fitted: Fitted) -> int:
    """Return the sum of the sections' charges, tools and response minus the exact total, before `truncate`."""
    if fitted.truncated is None:
        return 0
    tokens = fitted.layout.meter.tokens
    return sum(tokens(units) for units in fitted.charges.values()) + fitted.layout.offered - tokens(fitted.truncated.start)


def _count_added(fitted: Fitted, name: str) -> int:
    """Return the tokens that a section grew by, in notches of `do` or of its ladder after which it counted more than before."""
    tokens = fitted.layout.meter.tokens
    runs = [*([fitted.done] if fitted.done is not None else []), *([fitted.ladders[name]] if name in fitted.ladders else [])]
    cuts = [one for run in runs for one in run.applied if one.section == name]
    return sum(max(0, tokens(one.after) - tokens(one.before)) for one in cuts)


def _describe_cut(fitted: Fitted, ladder: str, cut: Applied) -> dict[str, Any]:
    tokens = fitted.layout.meter.tokens
    before = [one.before for one in cut.changes if one.before is not None]
    after = [one.after for one in cut.changes if one.after is not None]
    described: dict[str, Any] = {
        "ladder": ladder,
        "step": cut.step.label,
        "rule": cut.step.rule,
        "section": cut.section,
        "items": [one.id for one in cut.changes if one.before is not None],
        "tokens": [sum(tokens(one.units) for one in before), sum(tokens(one.units) for one in after)],
        "chars": [sum(one.chars for one in before), sum(one.chars for one in after)],
        "count": [tokens(cut.before), tokens(cut.after)],
        "why": cut.why,
        "needs": cut.needs if fitted.counts_chars(ladder) else tokens(cut.needs),
        "at": _describe_place(fitted, cut.step.span),
    }
    if cut.boundary:
        described["boundary"] = cut.boundary
    if cut.call:
        described["call"] = cut.call
    if cut.notches > 1:
        described["notches"] = cut.notches
    if cut.moves:
        described["level"] = list(cut.level)
        described["groups"] = [{"group": group, "level": [high, low]} for group, high, low in cut.moves if group]
    return described


def iter_guarded(fitted: Fitted) -> Iterator[dict[str, Any]]:
    """Yield what the guard found in the content of each section: forged fences, special tokens, hidden and invisible characters."""
    for name, fit in fitted.sections.items():
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


def _count_redacted(originals: Mapping[str, str], emitted: Emitted) -> dict[str, int]:
    """Return how many different placeholders of each label are in the output."""
    from promptc.passes.redact import list_placeholders

    found = list_placeholders("".join(part.text for part in emitted.parts), originals)
    return dict(Counter(sorted(name[1:].rpartition("_")[0] for name in found)))


def _describe_place(fitted: Fitted, span: Span) -> str:
    """Return a place with its file's name as the pack knows it, the same wherever the pack is; for a state only the last name."""
    bound = fitted.strained.selection.bound
    return name_place(span, bound.pack.file, bound.state.name)


def name_place(span: Span, manifest: str, state: str) -> str:
    """Return a place with its file's path relative to the manifest's folder; for the state only the last name."""
    file = basename(span.file) if span.file == state else _show_file(span.file, manifest)
    return f"{file}:{span.line}:{span.column}"


def _show_file(file: str, manifest: str) -> str:
    """Return the path from the manifest's folder to a file. If only one of them is absolute, the working folder decides."""
    show = _show_way if isabs(file) == isabs(manifest) else relpath
    return show(file, dirname(manifest) or ".")


@lru_cache(maxsize=256)
def _show_way(file: str, folder: str) -> str:
    return relpath(file, folder)


def _describe_flags(fitted: Fitted) -> dict[str, Any]:
    raises: Mapping[str, tuple[str, str]] = fitted.strained.raises
    flags: dict[str, Any] = {"would_raise": {name: list(pair) for name, pair in sorted(raises.items())}} if raises else {}
    selection = fitted.strained.selection
    sparse, due = list_sparse(selection.sections), list(selection.bound.due)
    return flags | ({"retrieval_sparse": sparse} if sparse else {}) | ({"due": due} if due else {})


def attribute(parts: Sequence[Part], layout: Layout) -> list[int]:
    """Return the tokens of every part, in order. Their sum is the count of the output without message overhead."""
    if layout.meter.counter.unit > 1:
        return list(_iter_running(parts, layout))
    counts: list[int] = []
    for _, members in groupby(parts, key=lambda part: part.message):
        counts.extend(_attribute_message(list(members), layout))
    return counts


def _iter_running(parts: Sequence[Part], layout: Layout) -> Iterator[int]:
    """Yield the tokens of each part of an estimate, as differences of its running value, which add up to the whole."""
    tokens, units = layout.meter.tokens, 0
    for part in parts:
        before = units
        units += layout.meter.count(part.text) + _count_beyond(part)
        yield tokens(units) - tokens(before)


def _attribute_message(parts: Sequence[Part], layout: Layout) -> list[int]:
    counts: list[int] = []
    cluster: list[Part] = []
    for part in parts:
        if cluster and layout.meter.is_safe(cluster[-1].text, part.text):
            counts.extend(_attribute_cluster(cluster, layout))
            cluster = []
        cluster.append(part)
    return counts + _attribute_cluster(cluster, layout)


def _attribute_cluster(cluster: Sequence[Part], layout: Layout) -> list[int]:
    if len(cluster) == 1:
        return [layout.meter.count(cluster[0].text) + _count_beyond(cluster[0])]
    starts = layout.meter.counter.iter_starts("".join(part.text for part in cluster))
    ends: list[int] = []
    for part in cluster:
        ends.append((ends[-1] if ends else 0) + len(part.text.encode()))
    counts = [0] * len(cluster)
    for start in starts:
        counts[bisect_right(ends, start)] += 1
    return counts


def _count_beyond(part: Part) -> int:
    """Return the units of a message's media beyond the lines that stand for them. Such a message is one part."""
    return part.item.item.beyond if part.item is not None else 0


def describe_digests(selected: Sequence[Selected]) -> dict[str, dict[str, str]]:
    """Return one digest for each store and index that was read, of its content as far as it was read.

    What was not read has no digest.
    """
    gathered = [one.gathered for one in selected if one.gathered is not None]
    read = sorted({(one.kind, one.name, one.digest) for each in gathered for one in each.digests})
    found: dict[str, dict[str, list[str]]] = {}
    for kind, name, digest in read:
        found.setdefault("stores" if kind == "store" else "indexes", {}).setdefault(name, []).append(digest)
    return {key: {name: _join(digests) for name, digests in by_name.items()} for key, by_name in found.items()}


def _join(digests: Sequence[str]) -> str:
    """Return one digest of several: those of a store that was queried several times, or of an index in several parts."""
    return digests[0] if len(digests) == 1 else render_digest("\n".join(digests).encode())


def describe_segments(fitted: Fitted) -> dict[str, list[str]]:
    """Return the ids of the segments that are in the prompt, by scope, in the prompt's order, each once."""
    found: dict[str, dict[str, None]] = {}
    for fit in fitted.sections.values():
        if fit.section.items is not None and isinstance(fit.section.items.source, Segments):
            for entry in fit.alive:
                if not entry.is_made:
                    found.setdefault(str(entry.item.value["scope"]), {})[str(entry.item.value["id"])] = None
    return {scope: list(ids) for scope, ids in sorted(found.items())}


def list_sparse(selected: Sequence[Selected]) -> list[str]:
    """Return the sections that retrieved fewer chunks than they want."""
    return [one.section.id for one in selected if one.gathered is not None and one.gathered.is_sparse]


def describe_source(selected: Selected) -> Mapping[str, Any]:
    """Return what a section requested and received; empty if its items come from the state, or nothing was requested."""
    return {"source": dict(selected.gathered.account)} if selected.gathered is not None else {}


class Origins:
    """Finds the origins of the items of one fitted selection."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted
        self._selection = fitted.strained.selection
        state = self._selection.bound.state
        self.pointers = Pointers(state.value, state.shared)
        self._sources: dict[str, _ItemSource] = {}

    def find_template(self, section: Section, entry: FittedItem) -> Template | None:
        """Return the template that made the item's current text, or None for a message's item, whose content is an expression's value."""
        if entry.is_made:
            step = self.trace_making(entry).step
            assert isinstance(step, Recap | Replace)
            return step.template
        if section.items is None:
            return section.text
        return section.items.forms[entry.form] if section.items.message is None else None

    def trace_making(self, entry: FittedItem) -> Applied:
        """Return the notch that made an item from others."""
        return next(cut for _, run in self._fitted.iter_runs() for cut in run.applied if cut.made is entry.item)

    def locate(self, section: Section, entry: FittedItem) -> Span:
        """Return where the template, or the expression of the message's content, begins."""
        template = self.find_template(section, entry)
        if template is not None:
            return template.place.span
        assert section.message is not None
        return section.message.content.span

    def find_pointer(self, section: Section, entry: FittedItem) -> str | None:
        """Return the JSON pointer to the part of the state that is the item's value.

        It is None if the value is not part of the state, if the state contains it in several places, and for text or a number that an
        expression took out of a list.
        """
        if section.items is None or entry.is_made:
            return None
        if section.id not in self._sources:
            self._sources[section.id] = self._read_source(section)
        source, pointer, paths = self._sources[section.id]
        value, unit = entry.item.value, entry.item.unit
        if pointer is None:
            return self.pointers.find(value, paths)
        if 0 <= unit < len(source) and source[unit] is value:
            return f"{pointer}/{unit}"
        return next((f"{pointer}/{place}" for place, one in enumerate(source) if one is value), None)  # a result has the unit of its use

    def _read_source(self, section: Section) -> _ItemSource:
        assert section.items is not None
        expression, pack = section.items.source, self._selection.bound.pack
        if not isinstance(expression, Expression):
            return _ItemSource((), None, _list_paths(list_reads(section, pack), pack))
        source: Any = expression.evaluate(list_names(self._selection, section))
        return _ItemSource(source or (), self.pointers.find_at(source, expression.reads), _list_paths(expression.reads, pack))


class _ItemSource(NamedTuple):
    """The list that a section reads, its JSON pointer if it is one of the state's, and the paths of the state that made it, if known."""

    values: Sequence[Any]
    pointer: str | None
    paths: Collection[Sequence[str]] | None


def _list_paths(reads: Collection[Sequence[str]], pack: PackModel) -> Collection[Sequence[str]] | None:
    """Return those of the paths that begin with `state`, including what the `let` names among them read.

    Return None if a name is read that was given besides the state.
    """
    found = {tuple(path) for path in reads}
    for let in reversed(pack.lets):
        if isinstance(let.value, Expression) and any(path[0] == let.name for path in found):
            found |= let.value.reads
    return {path for path in found if path[0] == "state"} if all(path[0] not in pack.given for path in found) else None


def place_parts(parts: Sequence[Part]) -> Iterator[tuple[Part, int, int]]:
    """Yield every part with the bytes (UTF-8, half-open) that it takes in the text, or in its message's content."""
    message, stop = 0, 0
    for part in parts:
        start = stop if part.message == message else 0
        message, stop = part.message, start + len(part.text.encode())
        yield part, start, stop
