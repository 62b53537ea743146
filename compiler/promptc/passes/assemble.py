"""The last passes: from the result of fitting to bytes.

`assemble` builds the output, `verify` proves that its count and its structure are those that were fitted, and `warn` collects every warning
of the render.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from promptc.diag.findings import Diagnostic, Span, count_noun, fail, join_some, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Protocol
from promptc.model.section import Evict, Shorten, Step, Tool, Trim
from promptc.passes.bind import name_undeferring
from promptc.passes.fit.result import Applied, Fitted, LadderResult, Part
from promptc.passes.items.render import fits_size, iter_joined, join_counted
from promptc.passes.layout.layout import Layout
from promptc.passes.strain import iter_warnings
from promptc.text.guard import Guard

_HALVES = "change the `separator` of the section: with the data, the text around the items forms one"
_PARTS = "clean the state: the joined texts of its parts form one"
_NEIGHBOURS = "end the message with other text, or clean the state: a message and the next of its role form one when joined"
_FRAMED = "clean the state, or let the section begin and end with other text"
_DIVIDED = "clean the state, or take a chat template that writes contents unchanged"
_PLACES = 6
_HIDDEN = {
    "replace_hidden": (
        "clean the state, or refuse such content: `output: {guard: {invisible: reject}}`; promptc replaced each hidden text with U+FFFD"
    ),
    "escape": "clean the state; `output.guard` has made the text visible in the prompt",
    "keep": "clean the state, or leave `output.guard.invisible` at its default; here the model reads the text",
}


_SHORTEN_PARTS = (
    "shorten the texts in the parts with an expression under `content`, as `promptc rule PC0543` shows, or let `evict` remove such messages"
)
_AT_WORD = "write `at: token`: what somebody types or pastes may have no spaces"
_AT_OTHER = "write a finer `at`, such as `at: word`; or `at: token`, if the text may have no spaces"
_FRACTION, _FREE = 4, 16
"""A cut is reported if it leaves at most a quarter of what fits, and at least this many tokens unused."""

_KEEP_UNDEFERRED = "give `tools` a larger budget for this provider, or use a provider that can search for tools"
_KEEP_USED = "keep the tools that the conversation uses: `keep: [{where: item.name in state.used}]`; or give `tools` a larger budget"

_SHORTEN = "shorten the content, or raise the limit"


class MiscountError(Exception):
    """The exact count of the output differs from the sum it was fitted by, or exceeds the budget."""


@frozen(eq=False)
class Emitted:
    """The output: `text` in the text format, else `messages` and `tools`, with the `text` that a chat template makes of them.

    The texts of `parts`, joined in order, are the contents.
    """

    text: str
    messages: tuple[dict[str, Any], ...]
    parts: tuple[Part, ...]
    characters: int
    tools: tuple[Tool, ...] = ()


def assemble(fitted: Fitted, frame: ChatFrame | None = None) -> Emitted:
    """Return the output of a fitted selection; with `frame`, also the text of the chat template."""
    parts = fitted.parts
    text = "".join([part.text for part in parts])
    if fitted.layout.format == "text":
        return Emitted(text, (), parts, len(text))
    emitted = emit_messages(parts, fitted.roles, fitted.tools)
    if frame is None:
        return emitted
    framed = frame.render(fitted.layout, emitted)
    return replace(emitted, text=framed, characters=len(framed))


def emit_messages(parts: tuple[Part, ...], roles: Sequence[str], tools: tuple[Tool, ...]) -> Emitted:
    """Return the parts as messages, with their tools."""
    return Emitted("", tuple(_iter_messages(parts, roles)), parts, sum(len(part.text) for part in parts), tools)


class ChatFrame(Protocol):
    """Makes the text of a chat template from messages, and counts it."""

    def render(self, layout: Layout, emitted: Emitted) -> str:
        """Return the text. Raises `PromptcError` for messages that the template refuses."""

    def count(self, text: str) -> int:
        """Return the units of the text."""


def _iter_messages(parts: Sequence[Part], roles: Sequence[str]) -> Iterator[dict[str, Any]]:
    texts: dict[int, list[str]] = {}
    content: dict[int, Any] = {}
    named: dict[int, dict[str, str]] = {}
    for part in parts:
        texts.setdefault(part.message, []).append(part.text)
        if part.item is not None and part.item.item.speaker:
            named[part.message] = {"name": part.item.item.speaker}
        if part.item is not None and part.item.item.content is not None:
            content[part.message] = [dict(one) for one in part.item.item.content]
    for index, pieces in texts.items():
        yield {"role": roles[index], **named.get(index, {}), "content": content.get(index, "".join(pieces))}


def verify(fitted: Fitted, emitted: Emitted, frame: ChatFrame | None = None) -> int:
    """Return the output's tokens, counted anew as a whole; a count is reused only if this very text was counted whole before.

    Raises `MiscountError` if the count is not the one that was fitted, or `PromptcError` (PC0591) for a fence or a special token where the
    manifest did not put one, for example where data completes what a separator begins.
    """
    _prove_structure(fitted, emitted)
    layout, meter = fitted.layout, fitted.layout.meter
    counter = meter.counter
    if layout.format == "text":
        units = meter.count_whole(emitted.text)
    elif frame is not None:
        _prove_frame(fitted, emitted, frame)
        _prove_undivided(fitted, emitted, frame)
        units = frame.count(emitted.text)
    else:
        contents: dict[int, list[str]] = {}
        media = 0
        for part in emitted.parts:
            item = part.item.item if part.item is not None else None
            if item is None or not item.media:
                contents.setdefault(part.message, []).append(part.text)
            else:
                contents.setdefault(part.message, []).append(join_counted(item.content or ()))
                media += sum(one.tokens for one in item.media)
        units = (layout.costs.prompt + layout.count_offered(meter.count_whole, emitted.tools) + media) * counter.unit
        units += sum(meter.count_whole("".join(texts)) for texts in contents.values())
        units += sum(layout.count_message(message["role"], message.get("name", "")) for message in emitted.messages)
    expected = fitted.units + layout.fixed
    total = fitted.strained.selection.bound.total * counter.unit
    if units != expected or units > total:
        raise MiscountError(f"counted {units} units where fitting had {expected}, of {total} allowed")
    return layout.meter.tokens(units)


def _prove_structure(fitted: Fitted, emitted: Emitted) -> None:
    """Check the text, or each message and then all messages of a role as one text.

    Services join adjacent messages of one role, including those that become adjacent when what is between them is moved or left out.
    """
    messages: dict[int, list[Part]] = {}
    for part in emitted.parts:
        messages.setdefault(part.message, []).append(part)
    if fitted.layout.format == "text":
        _prove(fitted, emitted.parts, _HALVES)
        return
    roles: dict[str, list[Sequence[Part]]] = {}
    for parts, message in zip(messages.values(), emitted.messages, strict=True):
        role = "system" if message["role"] == "developer" else message["role"]
        roles.setdefault(role, []).append(_prove_message(fitted, parts))
    guard = fitted.strained.selection.guard
    for alike in roles.values():
        if any(guard.may_go_on("".join([part.text for part in parts])) for parts in alike[:-1]):
            _prove(fitted, list(chain(*alike)), _NEIGHBOURS)


def _prove_frame(fitted: Fitted, emitted: Emitted, frame: ChatFrame) -> None:
    """Raise PC0591 if a special token of the chat text lies partly inside a content. The guard already handled those wholly inside one."""
    marks = sorted((start, end) for kind, start, end in fitted.strained.selection.guard.iter_marks(emitted.text))
    at = mark = 0
    for part in emitted.parts:
        content = part.text.strip()
        start = emitted.text.find(content, at) if content else -1
        if start < 0:
            continue  # the template leaves the content out, or writes it differently
        at = start + len(content)
        while mark < len(marks) and marks[mark][1] <= start:
            mark += 1
        for first, last in marks[mark:]:
            if first >= at:
                break
            if (first < start or last > at) and _completes(fitted, emitted, part, frame, len(marks)):
                section = next(one for one in fitted.layout.sections if one.id == part.section)
                message = f"a special token would be made of `{section.id}` and what the chat template writes next to it"
                raise fail("PC0591", f"{message}: {show_value(emitted.text[first:last])}", section.span, help=_FRAMED)


def _completes(fitted: Fitted, emitted: Emitted, part: Part, frame: ChatFrame, marks: int) -> bool:
    """Return whether there are fewer special tokens once the content is separated from what is next to it.

    If there are not, the template writes the same text inside a token of its own.
    """
    if part.item is not None and part.item.item.content is not None:
        return True
    parted = tuple(one._replace(text=f">{one.text}>") if one is part else one for one in emitted.parts)
    text = frame.render(fitted.layout, emit_messages(parted, fitted.roles, fitted.tools))
    return sum(1 for _ in fitted.strained.selection.guard.iter_marks(text)) < marks


def _prove_undivided(fitted: Fitted, emitted: Emitted, frame: ChatFrame) -> None:
    """Raise PC0591 if the chat template brings pieces of a special token together, as by removing what is between them.

    Only messages that contain such pieces are rendered once more, with the pieces apart.
    """
    guard = fitted.strained.selection.guard
    for index, message in enumerate(emitted.messages):
        content = _part_divided(guard, message["content"])
        if content == message["content"]:
            continue
        first = next(part for part in emitted.parts if part.message == index)
        parts = emitted.parts
        if isinstance(content, str):
            parts = tuple(one._replace(text=content if one is first else "") if one.message == index else one for one in parts)
        messages = tuple({**one, "content": content} if one is message else one for one in emitted.messages)
        parted = frame.render(fitted.layout, replace(emitted, messages=messages, parts=parts))
        if sum(1 for _ in guard.iter_marks(parted)) < sum(1 for _ in guard.iter_marks(emitted.text)):
            section = next(one for one in fitted.layout.sections if one.id == first.section)
            what = f"the chat template makes a special token of pieces in `{section.id}`: it removes what is between them"
            raise fail("PC0591", what, section.span, help=_DIVIDED)


def _part_divided(guard: Guard, content: Any) -> Any:
    """Return a content in which the pieces of special tokens cannot be brought together: a text, or the texts of a list of parts."""
    if isinstance(content, str):
        return guard.part_divided(content)
    if isinstance(content, list | tuple):
        return [_part_divided(guard, one) for one in content]
    if isinstance(content, Mapping):
        return {key: _part_divided(guard, one) if key in ("text", "content") else one for key, one in content.items()}
    return content


def _prove_message(fitted: Fitted, parts: Sequence[Part]) -> Sequence[Part]:
    """Check a message, and return its parts with the texts that a service reads.

    In a message that is a list of parts, the manifest writes nothing.
    """
    content = next((part.item.item.content for part in parts if part.item is not None and part.item.item.content is not None), None)
    if content is None:
        _prove(fitted, parts, _HALVES)
        return parts
    texts = list(iter_joined(content))
    read = [Part("item", parts[0].section, text, parts[0].message) for text in texts]
    for one in read:
        _prove(fitted, [one], _PARTS)
    return read[:1]


def _prove(fitted: Fitted, parts: Sequence[Part], help: str) -> None:
    """Raise PC0591 unless every fence and special token of the joined parts lies wholly in text of the manifest."""
    text = "".join([part.text for part in parts])
    marks = sorted((start, end, kind) for kind, start, end in fitted.strained.selection.guard.iter_marks(text))
    if not marks:
        return
    ranges = list(_iter_written(parts))
    place = 0
    for start, end, kind in marks:
        while place < len(ranges) and ranges[place][1] < end:
            place += 1
        if place == len(ranges) or ranges[place][0] > start:
            _refuse(fitted, parts, start, kind, text[start:end], help)


def _iter_written(parts: Sequence[Part]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each text that the manifest wrote: fences, separators, and what follows an item."""
    at = 0
    for part in parts:
        end = at + len(part.text)
        if part.owner in ("fence", "separator"):
            yield at, end
        elif part.item is not None:
            item, body = part.item.item, len(part.item.body)
            if item.open:
                yield at, at + len(item.open)
                yield at + body - len(item.close), at + body
            yield at + body, end
        at = end


def _refuse(fitted: Fitted, parts: Sequence[Part], start: int, kind: str, text: str, help: str) -> None:
    at = 0
    for part in parts:
        at += len(part.text)
        if at > start:
            section = next(one for one in fitted.layout.sections if one.id == part.section)
            noun = "a fence" if kind == "fence" else "a special token"
            message = f"`{section.id}` would contain {noun} that the manifest does not write: {show_value(text)}"
            raise fail("PC0591", message, section.span, help=help)


def warn(fitted: Fitted, emitted: Emitted | None) -> tuple[Diagnostic, ...]:
    """Return every warning of the render, in the order of the passes, each once."""
    return tuple(dict.fromkeys(_iter_all(fitted, emitted)))


def _iter_all(fitted: Fitted, emitted: Emitted | None) -> Iterator[Diagnostic]:
    yield from iter_warnings(fitted.strained)
    yield from (found for found in fitted.errors if found.level != "error")
    is_unfit = any(found.level == "error" for found in fitted.errors)  # its error says what is missing; warnings of cuts would bury it
    for name, run in fitted.iter_runs():
        if not is_unfit:
            yield from _iter_cuts(name, run, fitted)
            yield from _iter_early(name, run, fitted)
        for step, ids in run.passed_over:
            yield _tell_parts(f"`{step.label}`", ids, step.section, step.span)
        yield from _iter_void(run, fitted)
    yield from _iter_untrimmed(fitted)
    yield from _warn_undeferred(fitted)
    if emitted is not None:
        yield from _warn_missed(fitted, emitted)
    yield from _warn_hidden(fitted)
    yield from _warn_schema(fitted)
    output = fitted.strained.selection.plan.output
    limit, span = output.warn_chars, output.warn_span
    if emitted is not None and limit is not None and emitted.characters > limit:
        yield Diagnostic(
            "PC0542", f"the prompt has {emitted.characters} characters, over the {limit} of `output.warn`", span, _SHORTEN, "warn"
        )


def _iter_void(run: LadderResult, fitted: Fitted) -> Iterator[Diagnostic]:
    """Yield a warning for each step whose replacements are not shorter.

    If a `shorten` step made other items shorter, the rest are already as short as possible. So are tools, whose forms nobody writes.
    Neither is reported.
    """
    helped = {one.step.label for one in run.moves}
    void: dict[str, tuple[Step, list[str]]] = {}
    for step, ids in run.void:
        void.setdefault(step.label, (step, []))[1].extend(ids)
    for step, found in void.values():
        if not isinstance(step, Shorten) or not (step.label in helped or fitted.sections[step.section].section.is_tools):
            items = _name_items(tuple(dict.fromkeys(found)))
            message = f"`{step.label}` would not make {items} of section `{step.section}` shorter, so nothing was replaced"
            yield Diagnostic("PC0541", message, step.span, "make the replacement shorter than what it replaces", "warn")


def _warn_undeferred(fitted: Fitted) -> Iterator[Diagnostic]:
    """Yield a warning for tools that steps removed although the pack would defer them, because the provider cannot."""
    for fit in fitted.sections.values():
        forms = fit.section.items.tool if fit.section.items is not None else None
        gone = [f"`{one.item.id}`" for one in fit.entries if not one.is_alive]
        if forms is not None and forms.is_cut and gone:
            are = "tool {} is" if len(gone) == 1 else "tools {} are"
            what = name_undeferring(fitted.strained.selection.bound)
            message = f"the {are.format(join_some(gone, _PLACES))} left out, not deferred: {what} has no search for tools"
            yield Diagnostic("PC0527", message, fit.section.span, _KEEP_UNDEFERRED, "warn")


def _warn_missed(fitted: Fitted, emitted: Emitted) -> Iterator[Diagnostic]:
    """Yield a warning for tools that messages use and that steps removed."""
    for fit in fitted.sections.values():
        gone = {one.item.tool.name for one in fit.entries if not one.is_alive and one.item.tool is not None}
        contents = (part.item.item.content for part in emitted.parts if part.item is not None) if gone else ()
        names = [str(one.get("name")) for content in contents for one in content or () if one.get("type") == "tool_use"]
        missed = [f"`{name}`" for name in dict.fromkeys(names) if name in gone]
        if missed:
            noun, it = ("tool", "it") if len(missed) == 1 else ("tools", "them")
            message = f"messages use the {noun} {join_some(missed, _PLACES)}, but the budget leaves no room for {it}"
            yield Diagnostic("PC0597", message, fit.section.span, _KEEP_USED, "warn")


def _iter_cuts(ladder: str, run: LadderResult, fitted: Fitted) -> Iterator[Diagnostic]:
    by_step: dict[str, list[int]] = {}
    for at, one in enumerate(run.moves):
        if isinstance(one.step, Evict | Trim) and one.step.warn:
            by_step.setdefault(one.step.label, []).append(at)
    for places in by_step.values():
        cuts, needs = [run.moves[at] for at in places], run.count_needs(places[-1])
        first, last = cuts[0], cuts[-1]
        meter = fitted.layout.meter
        before, after = meter.tokens(first.before), meter.tokens(last.after)
        more = count_noun(fitted.count_more(ladder, needs), "character" if fitted.counts_chars(ladder) else "token")
        spared = f"with {more} more, the last cut would not be needed"
        if fitted.make_least_test(ladder)(last):
            spared = f"it takes at least {more} more to spare the last cut"
        cut = f"{count_noun(sum(one.notches for one in cuts), 'cut')}, {before} to {count_noun(after, 'token')}"
        pool = ladder.removeprefix("pools.")
        whole = " of the whole prompt" if ladder == "truncate" else f" of the pool `{pool}`" if pool != ladder else ""
        by = f"its default `overflow` (`{first.step.rule}`)" if first.step.is_default else f"`{first.step.label}`"
        sections = list(dict.fromkeys(one.section for one in cuts))
        names = f"section `{sections[0]}` was" if len(sections) == 1 else f"sections {', '.join(f'`{name}`' for name in sections)} were"
        message = f"{names} shortened by {by}: {cut}{whole} ({last.why})"
        yield Diagnostic(
            "PC0540",
            message,
            first.step.span,
            "see each cut with `promptc explain`" + (f"; {spared}" if needs else ""),
            "warn",
        )


def _iter_early(ladder: str, run: LadderResult, fitted: Fitted) -> Iterator[Diagnostic]:
    """Yield a warning for cuts that leave far less of a text than would fit, because the text has no later place to cut at.

    Only the first cut of each step is reported, with the number of others.
    """
    by_step: dict[str, list[tuple[Applied, str]]] = {}
    for one in run.moves:
        told = _tell_early(one, ladder, run, fitted)
        if told is not None:
            by_step.setdefault(one.step.label, []).append((one, told))
    for label, found in by_step.items():
        one, told = found[0]
        more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
        message = f"`{label}` leaves {told}: no {one.boundary} of the text ends in between{more}"
        yield Diagnostic("PC0544", message, one.step.span, _AT_WORD if one.boundary == "word" else _AT_OTHER, "warn")


def _tell_early(one: Applied, ladder: str, run: LadderResult, fitted: Fitted) -> str | None:
    """Describe how little a cut left; return None if it is not little.

    A cut to a size is compared with that size. Of other cuts, only the one that met the target is judged, by what the target left free.
    """
    if not isinstance(one.step, Trim) or one.step.finest or one.boundary == "token" or one.edited is None or not one.edited.is_alive:
        return None
    left, size = one.added[0].after, one.step.to
    is_chars = fitted.counts_chars(ladder) if size is None else size.unit == "chars"
    unit = 1 if is_chars else fitted.layout.meter.counter.unit
    if left is None or (size is None and (one is not run.moves[-1] or not run.is_met or run.target < 0)):
        return None
    held = left.chars if is_chars else -(-left.units // unit)
    room = size.tokens(fitted.strained.selection.bound.total) if size is not None else held + (run.target - run.low) // unit
    if held * _FRACTION > room or room - held < (_FREE * 4 if is_chars else _FREE):
        return None
    section = fitted.sections[one.section].section
    what = f"`{section.id}`" if section.items is None else f"item `{one.added[0].id}` of `{section.id}`"
    return f"{count_noun(held, 'character' if is_chars else 'token')} of {what}, and {room} would fit"


def _iter_untrimmed(fitted: Fitted) -> Iterator[Diagnostic]:
    total, meter = fitted.strained.selection.bound.total, fitted.layout.meter
    for name, fit in fitted.sections.items():
        trim = fit.section.items.trim_each if fit.section.items is not None else None
        alive = [one.item for one in fit.alive if one.item.content is not None] if trim is not None else []
        ids = [item.id for item in alive if trim is not None and not fits_size(item.text, trim.to, meter, total)]
        if trim is not None and ids:
            yield _tell_parts("`trim_each`", ids, name, trim.span)


def _tell_parts(what: str, ids: Sequence[str], section: str, span: Span) -> Diagnostic:
    whose = "its" if len(ids) == 1 else "their"
    message = f"{what} leaves {_name_items(ids)} of `{section}` whole: a trim cuts only texts, and {whose} content is a list of parts"
    return Diagnostic("PC0543", message, span, _SHORTEN_PARTS, "warn")


def _name_items(ids: Sequence[str]) -> str:
    return f"item `{ids[0]}`" if len(ids) == 1 else f"{len(ids)} items"


def _warn_hidden(fitted: Fitted) -> Iterator[Diagnostic]:
    """Yield a warning for content of the prompt that contained invisible text."""
    for name, fit in fitted.sections.items():
        headers = () if fit.is_empty else fit.selected.found
        places = [("a header", headers), *((f"item `{entry.item.id}`", entry.item.found) for entry in fit.alive if entry.item.found)]
        for place, list_of in places:
            spelt = [one for one in list_of if one.kind == "hidden_text"]
            if spelt:
                shown = spelt[0].text[:60] + ("…" if len(spelt[0].text) > 60 else "")
                more = f", and {count_noun(sum(one.count for one in spelt) - 1, 'more text')}" if len(spelt) > 1 else ""
                message = f"{place} of `{name}`, line {spelt[0].line}, hides a text in invisible characters: `{shown}`{more}"
                yield Diagnostic("PC0594", message, fit.selected.section.span, _HIDDEN[spelt[0].policy], "warn")


def _warn_schema(fitted: Fitted) -> Iterator[Diagnostic]:
    """Yield a warning for the part of the answer's schema that is not sent to the provider."""
    selection = fitted.strained.selection
    provider, response = selection.bound.provider, selection.plan.response
    if provider is None or response is None or fitted.layout.format != "messages":
        return
    sent = response.choose_sent(provider.name)
    if sent.schema is None:
        what = f"the schema of the answer is not sent: {provider.title} does not accept it, because {sent.why}"
        yield Diagnostic(
            "PC0583",
            what,
            response.span,
            "check the answer against the schema yourself, or write a schema that the provider accepts",
            "warn",
        )
    elif sent.left_out:
        what = f"{provider.title} does not know some keywords of the answer's schema{_list_left_out(sent.left_out)}"
        yield Diagnostic(
            "PC0582",
            what,
            response.span,
            "check the answer against the whole schema yourself; the request leaves these keywords out",
            "warn",
        )


def _list_left_out(pointers: Sequence[str]) -> str:
    """Return a sentence for each place, with its keywords."""
    places: dict[str, list[str]] = {}
    for pointer in pointers:
        place, _, keyword = pointer.rpartition("/")
        places.setdefault(place, []).append(f"`{keyword}`")
    told = [f". At `{place or '/'}`: {', '.join(keywords)}" for place, keywords in places.items()]
    return "".join(told[:_PLACES]) + (f". And at {count_noun(len(told) - _PLACES, 'more place')}" if len(told) > _PLACES else "")
