"""Advised: the budget that a cut of the whole names keeps what it says, and one token less does not, whatever part of it is held back."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.cli.views.meter import render_meter
from promptc.cli.views.story import list_histories, render_histories
from promptc.pipeline import Outcome
from promptc.text.counters.exact import load_counter

_PACK = """\
promptc: 1
name: held
version: 1.0.0
tokenizer: TOKENIZER
budget: 500
sections:
  - {id: rules, pinned: true, text: "Never lie."}
  - {id: recent, items: {from: state.turns, text: "- {{ item }}", limit: 100}, overflow: [{evict: {warn: true}}]}
truncate: [recent]
"""
_ENTRY = {"first": "2026-11-01", "last": "2026-11-02", "model": "gpt-4o", "pairs": 200, "provider": "openai"}
_TURNS = st.lists(st.integers(1, 30).map(lambda count: " ".join(["rain"] * count)), min_size=2, max_size=5)
_MORE = re.compile(r"with ([\d,]+) tokens? more")
_SUM = re.compile(r"with ([\d,]+) tokens? more, ([\d,]+), it would be spared this")


# contract 11.3
@given(_TURNS, st.integers(0, 99), st.integers(1, 100))
def test_with_a_margin(tmp_path_factory: pytest.TempPathFactory, turns: list[str], margin: int, share: int) -> None:
    _judge(tmp_path_factory.mktemp("held"), f"{{use: 'hf:missing.json', fallback: o200k_base, margin: {margin}}}", turns, share)


# contract 11.3
@given(_TURNS, st.integers(900_000, 9_000_000), st.integers(1, 100))
def test_with_a_calibration(tmp_path_factory: pytest.TempPathFactory, turns: list[str], ratio: int, share: int) -> None:
    folder = tmp_path_factory.mktemp("held")
    counter = {"name": "o200k_base", "digest": load_counter("o200k_base", folder="").digest}
    calibration = {"calibration": 1, "counter": counter, "entries": [{**_ENTRY, "ratio": ratio}], "quantile": 990_000}
    (folder / "c.json").write_text(json.dumps(calibration), encoding="utf-8")
    _judge(folder, "{use: o200k_base, calibration: c.json}", turns, share)


def _judge(folder: Path, tokenizer: str, turns: list[str], share: int) -> None:
    """Cut some of the turns. Of the advised budget, the last that was cut stays, and of one token less it does not."""
    (folder / "pack.yaml").write_text(_PACK.replace("TOKENIZER", tokenizer), encoding="utf-8")
    pack = promptc.load(folder)
    state = pack.load_state({"turns": turns})
    least, whole = (pack.compile(pack.load_state({"turns": some}), budget=10**6) for some in ([], turns))
    bound, room = whole.fitted.strained.selection.bound, least.tokens + (whole.tokens - least.tokens) * share // 100
    outcome = pack.compile(state, budget=pack.model.count_total(room, bound.calibrated))
    if not outcome.account["cuts"]:
        return
    budget = outcome.fitted.strained.selection.bound.whole
    told = {budget + more for more in _iter_advised(outcome)}
    assert len(told) == 1, told
    enough = told.pop()
    kept = [len(pack.compile(state, budget=total).account["cuts"]) for total in (enough - 1, enough)]
    assert kept[0] >= len(outcome.account["cuts"]) > kept[1]


def _iter_advised(outcome: Outcome) -> Iterator[int]:
    """How many tokens more the meter, the story of the last item that went and the warning advise."""
    fitted, last = outcome.fitted, outcome.account["cuts"][-1]["items"][0]
    (story,) = list_histories(outcome, fitted.sections["recent"].selected, last)
    texts = [render_meter(outcome, 200), render_histories([story], 200)]
    texts += [one.help for one in outcome.warnings if one.code == "PC0540"]
    for text in texts:
        found = _MORE.search(text)
        assert found is not None, text
        yield _read(found[1])
    found = _SUM.search(texts[1])
    assert found is not None and _read(found[2]) == fitted.strained.selection.bound.whole + _read(found[1])


def _read(number: str) -> int:
    return int(number.replace(",", ""))
