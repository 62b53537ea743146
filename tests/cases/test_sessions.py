"""In sessions that go on as real ones do, a turn begins as the turn before, where the pack is asked to put what stays first."""

import pytest

from benchmarks.sessions import SESSIONS, SessionFigures, measure_session, open_pack

TURNS = 60
HELD = {
    "sentinel": SessionFigures(reuse=86, least=77, cost=30),
    "companion": SessionFigures(reuse=80, least=60, cost=31),
    "whispercross": SessionFigures(reuse=80, least=50, cost=32),
    "worldarchitect": SessionFigures(reuse=53, least=29, cost=61),  # every turn finds other pages, up to 1 000 tokens of them
    "tidepool": SessionFigures(reuse=80, least=5, cost=100),
}
"""What is held of each, with the patch that puts what stays first, where there is one: at least, at least, at most."""


@pytest.mark.sampled
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_meets_again_what_stays(name):
    play, runs = SESSIONS[name]
    states = list(play(TURNS))
    with open_pack(name) as (pack, stores):
        *plain, steady = (measure_session(pack, states, patches, format, stores=stores) for patches, format, _ in runs)
    assert steady.reuse >= HELD[name].reuse and steady.least >= HELD[name].least and steady.cost <= HELD[name].cost
    whole = runs[-1][1] != "messages"
    for one in plain:
        assert one.reuse < steady.reuse and (steady.cost < one.cost or not whole) and one.cost <= 100.5


@pytest.mark.dear
def test_moods_that_come_back_are_met_again():
    """Of whole requests of tidepool, whose tools are those of the mood and stand before everything else."""
    play, ((patches, format, _), *_) = SESSIONS["tidepool"]
    with open_pack("tidepool") as (pack, _):
        assert format == "anthropic" and measure_session(pack, list(play(TURNS)), patches, format).cost <= 91
