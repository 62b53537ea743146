import io
import sys

import pytest

from promptc.cli import interaction as module
from promptc.cli.interaction import Progress
from promptc.cli.options import Settings
from promptc.cli.terminal import Reporter


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    times = iter(range(0, 1000, 3))
    monkeypatch.setattr(module, "monotonic", lambda: next(times))


def draw(stream, monkeypatch, settings=Settings()):  # noqa: B008  a frozen value
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress(Reporter(settings), "encoding rules")
    for done in range(1, 5):
        progress.note(done, 4)
    progress.close()
    return stream.buffer.getvalue().decode()


def test_elsewhere_than_on_a_terminal_a_line_now_and_then(clock, monkeypatch):
    told = draw(io.TextIOWrapper(io.BytesIO()), monkeypatch)
    assert told == "encoding rules  2 of 4, about 0:06 left\nencoding rules  4 of 4, about 0:00 left\n"


def test_on_a_terminal_one_line_that_goes_away(clock, monkeypatch):
    told = draw(Terminal(io.BytesIO()), monkeypatch)
    assert "\n" not in told and told.count("encoding rules") == 4 and told.endswith("\r\x1b[K")


@pytest.mark.parametrize("settings", [Settings(is_quiet=True), Settings(diagnostics="json")])
def test_nothing_where_nobody_reads_it(settings, clock, monkeypatch):
    assert draw(io.TextIOWrapper(io.BytesIO()), monkeypatch, settings) == ""


def test_what_is_done_within_half_a_second_draws_nothing(monkeypatch):
    times = iter(number / 10 for number in range(100))
    monkeypatch.setattr(module, "monotonic", lambda: next(times))
    monkeypatch.setattr(sys, "stderr", Terminal(io.BytesIO()))
    progress = Progress(Reporter(Settings()), "cases")
    for done in range(1, 5):
        progress.note(done, 9)
    assert sys.stderr.buffer.getvalue() == b""
    progress.note(5, 9)
    assert b"cases" in sys.stderr.buffer.getvalue()
