"""docs/performance.md and its charts are what their record makes, tell every target that was missed, and show no other number."""

import re

import pytest

from benchmarks.__main__ import LONG, PARTS
from benchmarks.page import DOCS, draw_charts, render_page
from benchmarks.record import PATH, read_record, write_record
from tests.contract.sources import ROOT

_NUMBER = re.compile(r"\d[\d.,]*")
RECORD = read_record()
LINES = [line for part in RECORD.parts.values() for block in part.blocks for line in block.lines]


def test_the_page_is_what_the_record_makes():
    assert (DOCS / "performance.md").read_text(encoding="utf-8") == render_page(RECORD), "run `python -m benchmarks --draw`"


def test_the_charts_are_what_the_record_makes():
    drawn = draw_charts(RECORD)
    assert {name: (DOCS / name).read_text(encoding="utf-8") for name in drawn} == drawn, "run `python -m benchmarks --draw`"
    assert sorted(drawn) == sorted(f"pictures/{path.name}" for path in (DOCS / "pictures").glob("performance-*.svg"))
    page = render_page(RECORD)
    assert all(f"]({name})" in page for name in drawn)


def test_every_part_is_measured_and_told():
    told = re.findall(r"^## (\w+)$", (ROOT / "docs" / "explanation" / "benchmarks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(name.lower() for name in told) == sorted(PARTS)
    assert PARTS.keys() - RECORD.parts <= set(LONG), "run `python -m benchmarks --write` with the names of these parts"


def test_the_record_is_kept_as_it_is_read(tmp_path):
    write_record(RECORD, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == PATH.read_bytes()


def test_no_number_was_not_in_the_run():
    known = set(_NUMBER.findall(PATH.read_text(encoding="utf-8")))
    assert {
        number for number in _NUMBER.findall(render_page(RECORD)) if number.strip(".,") not in {one.strip(".,") for one in known}
    } == set()


def test_each_target_missed_and_each_faster_peer_is_told():
    page = render_page(RECORD)
    slower, missed = page.split("## Slower than a peer\n")[1].split("## Targets missed\n")
    missed = missed.split("\n## ")[0]
    for line in LINES:
        assert (f"**{line.figure} {line.unit}**, not {line.target} ({line.label.strip()})" in missed) == (not line.is_kept), line
        assert line.is_kept or f"{line.target} **missed**" in page
    lost = {
        line.peer for line in LINES if line.peer and (float(line.figure) < 1) == (line.way == "theirs / ours") and float(line.figure) != 1
    }
    assert {peer for peer in {line.peer for line in LINES if line.peer} if f"against {peer}: " in slower} == lost


@pytest.mark.parametrize("line", [line for line in LINES if line.target], ids=lambda line: line.label)
def test_a_verdict_is_that_of_its_figure(line):
    """But for a figure that rounds to its limit."""
    sign, limit = line.target.split()
    figure, bound = float(line.figure.replace(",", "")), float(limit)
    if figure != bound:
        assert line.is_kept == (figure < bound if sign == "≤" else figure > bound)
