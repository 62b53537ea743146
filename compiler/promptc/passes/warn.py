"""What a render says besides its output: warnings of the selection, of cuts that ask for one, of void acts, of size."""

from collections.abc import Iterator, Sequence

from promptc.diag.findings import Diagnostic, count_noun
from promptc.model.section import Step
from promptc.passes.act import Entry
from promptc.passes.assemble import Emitted
from promptc.passes.fit.fit import Fitted
from promptc.passes.fit.ladder import Applied, LadderRun
from promptc.passes.strain import iter_warnings

_PLACES = 6
_HIDDEN = {
    "replace_hidden": "each such text became one U+FFFD; clean the state, or refuse it: `output: {guard: {invisible: reject}}`",
    "escape": "it was escaped, as `output.guard` asks, and can be read in the prompt now; clean the state",
    "keep": "it was kept, and a model reads it; clean the state, or leave `output.guard.invisible` at its default",
}


def warn(fitted: Fitted, emitted: Emitted | None) -> tuple[Diagnostic, ...]:
    """Every warning of the render, in the order of the passes, each once."""
    return tuple(dict.fromkeys(_iter_all(fitted, emitted)))


def _iter_all(fitted: Fitted, emitted: Emitted | None) -> Iterator[Diagnostic]:
    yield from iter_warnings(fitted.strained)
    yield from (found for found in fitted.errors if found.level != "error")
    for name, run in fitted.iter_runs():
        yield from _iter_cuts(name, run, fitted)
        for step, act in run.void:
            message = f"`{step.label}` did not shorten {_name_entries(act.entries)} of `{step.section}`: left as it was"
            yield Diagnostic("PC0541", message, step.span, "make the replacement shorter than what it stands for", "warn")
    yield from _tell_hidden(fitted)
    yield from _tell_schema(fitted)
    output = fitted.strained.selection.plan.output
    limit, span = output.warn_chars, output.warn_span
    if emitted is not None and limit is not None and emitted.characters > limit:
        yield Diagnostic("PC0542", f"the prompt has {emitted.characters} characters, over the {limit} of `output.warn`", span, level="warn")


def _tell_hidden(fitted: Fitted) -> Iterator[Diagnostic]:
    """Where content that is in the prompt held a text that nobody sees."""
    for name, fit in fitted.fits.items():
        headers = () if fit.is_empty else fit.selected.found
        places = [("a header", headers), *((f"item `{entry.item.id}`", entry.item.found) for entry in fit.alive)]
        for place, list_of in places:
            spelt = [one for one in list_of if one.kind == "hidden_text"]
            if spelt:
                shown = spelt[0].text[:60] + ("…" if len(spelt[0].text) > 60 else "")
                more = f", and {count_noun(sum(one.count for one in spelt) - 1, 'more text')}" if len(spelt) > 1 else ""
                message = f"{place} of `{name}`, line {spelt[0].line}, hides a text in characters that nobody sees: `{shown}`{more}"
                yield Diagnostic("PC0594", message, fit.selected.section.span, _HIDDEN[spelt[0].policy], "warn")


def _tell_schema(fitted: Fitted) -> Iterator[Diagnostic]:
    """What the provider is not sent of the schema of the answer."""
    selection = fitted.strained.selection
    provider, response = selection.bound.provider, selection.plan.response
    if provider is None or response is None or fitted.frame.format != "messages":
        return
    sent = response.find_sent(provider.name)
    if sent.schema is None:
        what = f"the schema of the answer is not sent: {provider.title} cannot be told it, since {sent.why}"
        yield Diagnostic("PC0583", what, response.span, "hold the answer against the schema, or write it in words it takes", "warn")
    elif sent.left_out:
        what = f"of the schema of the answer {provider.title} takes no {_list_left_out(sent.left_out)}"
        yield Diagnostic("PC0582", what, response.span, "they are left out: hold the answer against the whole schema", "warn")


def _list_left_out(pointers: Sequence[str]) -> str:
    """Keywords with the places they stand at, each place once."""
    places: dict[str, list[str]] = {}
    for pointer in pointers:
        place, _, keyword = pointer.rpartition("/")
        places.setdefault(place, []).append(f"`{keyword}`")
    told = [f"{', '.join(keywords)} at `{place or '/'}`" for place, keywords in places.items()]
    return "; ".join(told[:_PLACES]) + (f"; and at {count_noun(len(told) - _PLACES, 'more place')}" if len(told) > _PLACES else "")


def _iter_cuts(ladder: str, run: LadderRun, fitted: Fitted) -> Iterator[Diagnostic]:
    by_step: dict[str, list[Applied]] = {}
    for one in run.applied:
        if one.act.warn:
            by_step.setdefault(f"{one.step.label} {one.section}", []).append(one)
    for cuts in by_step.values():
        first, last = cuts[0], cuts[-1]
        meter = fitted.frame.meter
        before, after = meter.tokens(first.before), meter.tokens(last.after)
        more = count_noun(last.needs, "character") if fitted.counts_chars(ladder) else count_noun(meter.tokens(last.needs), "token")
        cut = f"{count_noun(len(cuts), 'cut')}, {before} to {count_noun(after, 'token')}"
        whole = " of the whole prompt" if ladder == "truncate" else ""
        by = f"its default `overflow` ({_name(first.step)})" if first.step.is_default else f"`{first.step.label}`"
        message = f"`{first.section}` was shortened by {by}: {cut}{whole} ({last.act.why})"
        yield Diagnostic(
            "PC0540",
            message,
            first.step.span,
            "`promptc explain` shows each" + (f"; with {more} more, the last cut would not be needed" if last.needs else ""),
            "warn",
        )


def _name(step: Step) -> str:
    """As a manifest would write it."""
    return f"`{type(step).__name__.lower()}`"


def _name_entries(entries: Sequence[Entry]) -> str:
    names = [entry.item.id for entry in entries]
    return f"item `{names[0]}`" if len(names) == 1 else f"{len(names)} items"
