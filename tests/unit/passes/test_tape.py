"""Tapes count what they emit."""

from promptc.passes.layout.tape import Piece, TokenLedger
from promptc.text.counters.exact import load_counter
from promptc.text.meter import Meter


def _lay(tmp_path, name, bodies, separator):
    meter = Meter(load_counter(name, folder=tmp_path))
    tape = TokenLedger(meter, lambda cell, follower: "\n" if follower is None else separator, lambda cell: 0, lambda steps: None)
    tape.extend([Piece(body, 0, "item") for body in bodies])
    return tape, meter


def test_digits_that_meet_without_a_line_end_are_one_cluster(tmp_path):
    """A digit meets a letter safely, but not another digit: what a piece meets safely is not told from its end alone."""
    tape, meter = _lay(tmp_path, "o200k_base", ["0", "1"], "")
    assert tape.units == meter.counter.measure("01\n")


def test_a_removed_piece_brings_its_neighbours_together(tmp_path):
    tape, meter = _lay(tmp_path, "cl100k_base", ["th", "a", "n"], "")
    middle = tape.first.next
    tape.mark()
    tape.remove(middle)
    assert tape.units == meter.counter.measure("thn\n")
    tape.revert()
    assert tape.units == meter.counter.measure("than\n")
