"""Every line of an output is told piece by piece, and the pieces are the line; only what is true is told of them."""

from collections.abc import Iterator
from typing import Any

from promptc.explain.output import LineTracer, PartTracer, TracedText, join_pieces
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_hostile
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.property.test_exact import iter_totals


def test_pieces_are_the_output(proof: Proof) -> None:
    tally = proof.hold("tracing", judge_tracing, draw_hostile, 600)
    assert tally["template"] and tally["cut"] and tally["guard"] and tally["separator"] and tally["keys"]
    assert tally["untold"] * 20 < tally["template"]


def judge_tracing(loaded: Loaded, tally: Tally) -> str | None:
    for format in ("text", "messages"):
        for total in iter_totals(loaded):
            outcome = loaded.compile(total, format=format)
            if outcome.emitted is not None:
                wrong = next(_iter_wrong(loaded, outcome, tally), None)
                if wrong is not None:
                    return f"at {total}, as {format}: {wrong}"
    return None


def _iter_wrong(loaded: Loaded, outcome: Outcome, tally: Tally) -> Iterator[str]:
    assert outcome.emitted is not None
    parts = outcome.emitted.parts
    tracer = PartTracer(outcome.fitted, parts)
    for at, part in enumerate(parts):
        pieces = tracer.trace(at)
        if join_pieces(pieces) != part.text:
            yield f"{part.owner} of {part.section} is {part.text!r}, its pieces {[piece.text for piece in pieces]}"
        yield from _iter_wrong_pieces(loaded, pieces, tally)
    yield from _iter_wrong_lines(outcome)


def _iter_wrong_pieces(loaded: Loaded, pieces: tuple[TracedText, ...], tally: Tally) -> Iterator[str]:
    for piece in pieces:
        tally[piece.what] += 1
        tally["untold"] += piece.what == "template" and piece.made is None
        for pointer in piece.made.pointers if piece.made is not None else ():
            tally["keys"] += 1
            if not _is_there(loaded.state.value, pointer):
                yield f"{piece.text!r} is said to come of {pointer}, which the state does not have"
        if piece.made is not None and not piece.made.code:
            span = piece.made.span
            if not piece.made.place.inline and not span.excerpt[span.column - 1 :].startswith(piece.text.split("\n")[0][:50]):
                yield f"{piece.text!r} is said to stand at {span}: {span.excerpt!r}"


def _is_there(value: Any, pointer: str) -> bool:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not (name in value if isinstance(value, dict) else isinstance(value, list) and int(step) < len(value)):
            return False
        value = value[int(step)] if isinstance(value, list) else value[name]
    return True


def _iter_wrong_lines(outcome: Outcome) -> Iterator[str]:
    assert outcome.emitted is not None
    tracer = LineTracer(outcome.fitted, outcome.emitted.parts)
    for message in range(tracer.count_messages()):
        texts: list[str] = []
        for number in range(1, tracer.count_lines(message) + 1):
            line = tracer.trace(message, number)
            told = "".join(join_pieces(pieces) for _, pieces in line.parts)
            texts.append(line.text)
            if told != (line.text or "\n"):
                yield f"line {number} is {line.text!r}, its pieces {told!r}"
        whole = "".join(part.text for part in outcome.emitted.parts if part.message == message)
        if "\n".join(texts) != whole.removesuffix("\n"):
            yield f"the lines of message {message} are not its text"
