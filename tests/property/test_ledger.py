"""A ledger's count, kept up to date edit by edit, is the count of all its pieces."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from random import Random

import pytest

from promptc.passes.layout.ledger import Piece, TokenLedger
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from tests.property.drawing.words import draw_text, draw_word
from tests.property.proof import Proof, Tally

_OVERHEAD = 4
_EDITS = 40
_SEPARATORS = ("\n", "\n\n", "", " ", ", ", "\n---\n", "|", "\n/")


@pytest.mark.parametrize("counter", ["cl100k_base", "o200k_base", "chars/4"])
def test_edits_and_their_undoing_keep_the_count(proof: Proof, counter: str) -> None:
    tally = proof.figures.setdefault(f"ledger ({counter})", Tally())
    meter = Meter(load_counter(counter, folder=Path()))
    for index in range(proof.share(1000)):
        rng = Random(f"{proof.seed}/ledger/{index}")
        ledger = TokenLedger(meter, _draw_suffix(rng), lambda piece: _OVERHEAD, lambda steps: None)
        ledger.extend([_draw_cell(rng, place) for place in range(rng.randint(0, 6))])
        for _ in range(_EDITS):
            _edit(ledger, rng)
            tally["edits"] += 1
            assert ledger.units == recount(ledger, meter), f"ledger {proof.seed}/ledger/{index}: {[piece.text for piece in ledger]}"


def recount(ledger: TokenLedger, meter: Meter) -> int:
    """The count of every message's whole text."""
    texts = ["".join(piece.text for piece in pieces) for _, pieces in groupby(ledger, key=lambda piece: piece.message)]
    return sum(meter.counter.measure(text) + _OVERHEAD for text in texts)


def _draw_suffix(rng: Random) -> Callable[[Piece, Piece | None], str]:
    """Separators as a frame gives them: one between items of a part, one between parts, none behind a message."""
    inner, outer = rng.choice((None, *_SEPARATORS)), rng.choice(_SEPARATORS)
    end = rng.choice(("\n", ""))

    def suffix(piece: Piece, follower: Piece | None) -> str:
        if follower is None or follower.message != piece.message:
            return end
        if follower.part != piece.part:
            return "\n" + outer
        return inner if inner is not None and piece.kind == follower.kind == "item" else "\n"

    return suffix


def _draw_cell(rng: Random, place: int) -> Piece:
    """Parts and messages rise with the place, as on every ledger."""
    return Piece(_draw_body(rng), place // 3, rng.choice(("item", "item", "item", "fence")), message=place // 6)


def _draw_body(rng: Random) -> str:
    return (draw_word(rng) if rng.random() < 0.5 else draw_text(rng, 4, odd=0.7)).strip("\r\n") or "x"


def _edit(ledger: TokenLedger, rng: Random) -> None:
    """One edit that stands, or several that are undone."""
    if rng.random() < 0.6:
        _edit_once(ledger, rng)
        return
    ledger.mark()
    for _ in range(rng.randint(1, 4)):
        _edit_once(ledger, rng)
    ledger.settle() if rng.random() < 0.3 else ledger.revert()


def _edit_once(ledger: TokenLedger, rng: Random) -> None:
    pieces = list(ledger)
    kind = rng.choice(("insert", "remove", "rewrite"))
    if kind == "insert" or not pieces:
        after = rng.choice([None, *pieces])
        beside = after or ledger.first
        piece = Piece(_draw_body(rng), beside.part if beside else 0, "item", message=beside.message if beside else 0)
        ledger.insert(piece, after)
    elif kind == "remove":
        ledger.remove(rng.choice(pieces))
    else:
        ledger.rewrite(rng.choice(pieces), _draw_body(rng))


def test_one_tape_behind_another(proof: Proof) -> None:
    """Taking another ledger's pieces counts anew only where both meet."""
    for index in range(proof.share(1000)):
        rng = Random(f"{proof.seed}/take/{index}")
        meter = Meter(load_counter(rng.choice(("cl100k_base", "o200k_base", "chars/4")), folder=Path()))
        suffix = _draw_suffix(rng)
        whole = TokenLedger(meter, suffix, lambda piece: _OVERHEAD, lambda steps: None)
        for start in range(3):
            part = TokenLedger(meter, suffix, lambda piece: _OVERHEAD, lambda steps: None)
            part.extend([_draw_cell(rng, 3 * start + place) for place in range(rng.randint(0, 3))])
            whole.take(part)
            assert whole.units == recount(whole, meter), f"ledger {proof.seed}/take/{index}"
