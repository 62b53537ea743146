"""A tape's count, kept up to date edit by edit, is the count of all its pieces."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from random import Random

import pytest

from promptc.passes.layout.tape import Piece, TokenLedger
from promptc.text.counters.exact import load_counter
from promptc.text.meter import Meter
from tests.property.drawing.words import draw_text, draw_word
from tests.property.proof import Proof, Tally

_OVERHEAD = 4
_EDITS = 40
_SEPARATORS = ("\n", "\n\n", "", " ", ", ", "\n---\n", "|", "\n/")


@pytest.mark.parametrize("counter", ["cl100k_base", "o200k_base", "chars/4"])
def test_edits_and_their_undoing_keep_the_count(proof: Proof, counter: str) -> None:
    tally = proof.figures.setdefault(f"tape ({counter})", Tally())
    meter = Meter(load_counter(counter, folder=Path()))
    for index in range(proof.share(1000)):
        rng = Random(f"{proof.seed}/tape/{index}")
        tape = TokenLedger(meter, _draw_trail(rng), lambda cell: _OVERHEAD, lambda steps: None)
        tape.extend([_draw_cell(rng, place) for place in range(rng.randint(0, 6))])
        for _ in range(_EDITS):
            _edit(tape, rng)
            tally["edits"] += 1
            assert tape.units == recount(tape, meter), f"tape {proof.seed}/tape/{index}: {[cell.text for cell in tape]}"


def recount(tape: TokenLedger, meter: Meter) -> int:
    """The count of every message's whole text."""
    texts = ["".join(cell.text for cell in cells) for _, cells in groupby(tape, key=lambda cell: cell.message)]
    return sum(meter.counter.measure(text) + _OVERHEAD for text in texts)


def _draw_trail(rng: Random) -> Callable[[Piece, Piece | None], str]:
    """Separators as a frame gives them: one between items of a part, one between parts, none behind a message."""
    inner, outer = rng.choice((None, *_SEPARATORS)), rng.choice(_SEPARATORS)
    end = rng.choice(("\n", ""))

    def trail(cell: Piece, follower: Piece | None) -> str:
        if follower is None or follower.message != cell.message:
            return end
        if follower.part != cell.part:
            return "\n" + outer
        return inner if inner is not None and cell.kind == follower.kind == "item" else "\n"

    return trail


def _draw_cell(rng: Random, place: int) -> Piece:
    """Parts and messages rise with the place, as on every tape."""
    return Piece(_draw_body(rng), place // 3, rng.choice(("item", "item", "item", "fence")), message=place // 6)


def _draw_body(rng: Random) -> str:
    return (draw_word(rng) if rng.random() < 0.5 else draw_text(rng, 4, odd=0.7)).strip("\r\n") or "x"


def _edit(tape: TokenLedger, rng: Random) -> None:
    """One edit that stands, or several that are undone."""
    if rng.random() < 0.6:
        _edit_once(tape, rng)
        return
    tape.mark()
    for _ in range(rng.randint(1, 4)):
        _edit_once(tape, rng)
    tape.settle() if rng.random() < 0.3 else tape.revert()


def _edit_once(tape: TokenLedger, rng: Random) -> None:
    cells = list(tape)
    kind = rng.choice(("insert", "remove", "rewrite"))
    if kind == "insert" or not cells:
        after = rng.choice([None, *cells])
        beside = after or tape.first
        cell = Piece(_draw_body(rng), beside.part if beside else 0, "item", message=beside.message if beside else 0)
        tape.insert(cell, after)
    elif kind == "remove":
        tape.remove(rng.choice(cells))
    else:
        tape.rewrite(rng.choice(cells), _draw_body(rng))


def test_one_tape_behind_another(proof: Proof) -> None:
    """Taking another tape's pieces counts anew only where both meet."""
    for index in range(proof.share(1000)):
        rng = Random(f"{proof.seed}/take/{index}")
        meter = Meter(load_counter(rng.choice(("cl100k_base", "o200k_base", "chars/4")), folder=Path()))
        trail = _draw_trail(rng)
        whole = TokenLedger(meter, trail, lambda cell: _OVERHEAD, lambda steps: None)
        for start in range(3):
            part = TokenLedger(meter, trail, lambda cell: _OVERHEAD, lambda steps: None)
            part.extend([_draw_cell(rng, 3 * start + place) for place in range(rng.randint(0, 3))])
            whole.take(part)
            assert whole.units == recount(whole, meter), f"tape {proof.seed}/take/{index}"
