"""Tapes count what they emit."""

from promptc.passes.layout.ledger import Piece, TokenLedger
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter


def _lay(tmp_path, name, bodies, separator):
    meter = Meter(load_counter(name, folder=tmp_path))
    ledger = TokenLedger(meter, lambda piece, follower: "\n" if follower is None else separator, lambda piece: 0, lambda steps: None)
    ledger.extend([Piece(body, 0, "item") for body in bodies])
    return ledger, meter


def test_digits_that_meet_without_a_line_end_are_one_cluster(tmp_path):
    """A digit meets a letter safely, but not another digit: what a piece meets safely is not told from its end alone."""
    ledger, meter = _lay(tmp_path, "o200k_base", ["0", "1"], "")
    assert ledger.units == meter.counter.measure("01\n")


def test_a_removed_piece_brings_its_neighbours_together(tmp_path):
    ledger, meter = _lay(tmp_path, "cl100k_base", ["th", "a", "n"], "")
    middle = ledger.first.next
    ledger.mark()
    ledger.remove(middle)
    assert ledger.units == meter.counter.measure("thn\n")
    ledger.revert()
    assert ledger.units == meter.counter.measure("than\n")
