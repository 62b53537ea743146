"""The service of docs/guides/service.md under a few seconds of load: what is counted, not how long it takes.

`python -m benchmarks service` measures the same for a minute.
"""

import pytest

from benchmarks.service import CONNECTIONS, measure_service

MOST = 100
"""The talks that the service keeps: more are begun."""


@pytest.fixture(scope="module")
def found():
    for package in ("fastapi", "uvicorn"):
        pytest.importorskip(package, reason=f"the service needs {package}: `make .venv/bench.stamp` installs it")
    return measure_service(2.0, 0.3, 8, MOST)


def test_every_turn_is_answered_while_packs_change(found):
    for load in (found.even, found.drawn):
        assert load.statuses == {200: len(load.seconds)} and load.seconds
    done = found.metrics['promptc_turns_total{result="done"}']
    assert done > len(found.even.seconds) + len(found.drawn.seconds) and found.metrics['promptc_turns_total{result="refused"}'] == 0


def test_a_good_pack_takes_over_and_a_broken_one_does_not(found):
    """Every turn after the first of the new pack is the new pack's, also those after the broken one was refused. Of the other connections
    an older answer may be read later.
    """
    kinds = found.even.kinds
    assert not kinds[0] and all(kinds[kinds.index(True) + CONNECTIONS :])
    assert all(found.drawn.kinds)
    assert [found.metrics[f'promptc_reloads_total{{result="{result}"}}'] for result in ("done", "refused")] == [1, 1]


def test_the_metrics_add_up(found):
    shares = [value for name, value in found.metrics.items() if "_bucket" in name]
    assert shares == sorted(shares) and shares[-1] == found.metrics["promptc_seconds_count"] > 0
    assert shares[-1] == found.metrics['promptc_turns_total{result="done"}']
    assert found.metrics["promptc_talks"] == MOST
