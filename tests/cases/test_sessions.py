"""In sessions that go on as real ones do, a turn begins as the turn before, where the pack is asked to put what stays first."""

import pytest

from benchmarks.sessions import SESSIONS, SessionFigures, measure_session
from promptc import load
from tests.contract.sources import ROOT

TURNS = 60
HELD = {
    "sentinel": SessionFigures(reuse=85, least=75, cost=35),
    "companion": SessionFigures(reuse=80, least=60, cost=32),
    "tidepool": SessionFigures(reuse=80, least=5, cost=100),
}
"""What is held of each: at least, at least, at most."""


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_meets_again_what_stays(name):
    play, format, _ = SESSIONS[name]
    pack, states = load(ROOT / "packs" / name), list(play(TURNS))
    steady, plain = (measure_session(pack, states, patches, format) for patches in (("steady_first",), ()))
    assert steady.reuse >= HELD[name].reuse and steady.least >= HELD[name].least and steady.cost <= HELD[name].cost
    assert plain.reuse < steady.reuse and (steady.cost < plain.cost or format == "messages") and plain.cost <= 100
