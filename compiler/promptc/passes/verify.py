"""Last pass: one full count of what is emitted. A difference is a bug in promptc, never the author's."""

from promptc.passes.assemble import Emitted
from promptc.passes.fit import Fitted


class MiscountError(Exception):
    """The exact count of the output differs from the sum it was fitted by, or is over the budget."""


def verify(fitted: Fitted, emitted: Emitted) -> int:
    """The output's tokens, counted anew and whole; looked up only where this very text was counted whole before.

    Raises `MiscountError` when the receipt does not hold.
    """
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
