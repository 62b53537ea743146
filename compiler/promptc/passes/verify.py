"""Last pass: one full count of what is emitted, where a difference is a bug in promptc and never the author's; and the proof that no
structure stands in it which the manifest did not put there.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from promptc.diag.findings import fail
from promptc.diag.value import show_value
from promptc.passes.assemble import Emitted, Part
from promptc.passes.fit.fit import Fitted
from promptc.passes.guard_value import iter_joined


class MiscountError(Exception):
    """The exact count of the output differs from the sum it was fitted by, or is over the budget."""


def verify(fitted: Fitted, emitted: Emitted) -> int:
    """The output's tokens, counted anew and whole; looked up only where this very text was counted whole before.

    Raises `MiscountError` when the receipt does not hold, `PromptcError` (PC0591) for a fence or a special token that the manifest did not
    put where it stands, as where data completes what a separator begins.
    """
    _prove_structure(fitted, emitted)
    frame, meter = fitted.frame, fitted.frame.meter
    counter = meter.counter
    if frame.format == "text":
        units = meter.count_whole(emitted.text)
    else:
        contents: dict[int, list[str]] = {}
        for part in emitted.parts:
            contents.setdefault(part.message, []).append(part.text)
        units = (frame.costs.prompt + frame.count_offered(meter.count_whole)) * counter.unit
        units += sum(meter.count_whole("".join(texts)) for texts in contents.values())
        units += sum(frame.count_message(message["role"]) for message in emitted.messages)
    expected = (fitted.tape.units if fitted.tape is not None else 0) + frame.fixed
    total = fitted.strained.selection.bound.total * counter.unit
    if units != expected or units > total:
        raise MiscountError(f"counted {units} units where fitting had {expected}, of {total} allowed")
    return frame.meter.tokens(units)


def _prove_structure(fitted: Fitted, emitted: Emitted) -> None:
    """Looks through the text, or each message, and then through all messages of a role as one text: services join those of one role that
    stand beside each other, or do once what stands between them is moved or left out.
    """
    messages: dict[int, list[Part]] = {}
    for part in emitted.parts:
        messages.setdefault(part.message, []).append(part)
    if fitted.frame.format == "text":
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


def _prove_message(fitted: Fitted, parts: Sequence[Part]) -> Sequence[Part]:
    """The parts with the texts that a service reads, once they hold: the manifest writes nothing in a message that is a list of parts."""
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
    """Every fence and special token of the joined parts lies wholly in a text of the manifest."""
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
    """Where what the manifest wrote begins and ends: fences, separators, and what follows an item."""
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


_HALVES = "what stands around its items is half of one, and data completes it: give the section another `separator`"
_PARTS = "the texts of its parts make it when they are joined: clean the state"
_NEIGHBOURS = "a message and the next of its role make it when they are joined: end the message with other text, or clean the state"


def _refuse(fitted: Fitted, parts: Sequence[Part], start: int, kind: str, text: str, help: str) -> None:
    at = 0
    for part in parts:
        at += len(part.text)
        if at > start:
            section = next(one for one in fitted.frame.sections if one.id == part.section)
            noun = "a fence" if kind == "fence" else "a special token"
            message = f"{noun} that the manifest does not write would stand in `{section.id}`: {show_value(text)}"
            raise fail("PC0591", message, section.span, help=help)
