"""What a single case of whispercross cannot show: the ladder walked budget by budget, and fences read back."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import promptc
from promptc.diag.findings import FitError
from tests.cases.case import FIXTURES, ROOT
from tests.packs import load_pack

FOLDER = ROOT / "packs" / "whispercross"
LAYERS = ["core", "ruleset", "world", "entry", "entry_start", "npc", "game_state", "player", "rng", "input"]
MADE = {("npc", "replace"), ("game_state", "recap"), ("game_state", "text")}
"""Items that stand for others, and what they stand for: a larger budget gives the one for the other."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The pack's segments in a database."""
    url = f"sqlite:{tmp_path_factory.mktemp('store') / 'segments.db'}"
    command = [sys.executable, "-m", "promptc", "segments", "import", str(FOLDER / "segments"), "--pack", str(FOLDER), "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return url


def _walk(store: str, state: str, patches: tuple[str, ...], step: int) -> Iterator[promptc.Prompt | None]:
    """A render at each budget, from too little to more than is needed; None where it does not fit."""
    pack = load_pack("packs/whispercross")
    loaded = pack.load_state((FIXTURES / "whispercross" / "base" / f"{state}.json").read_bytes())
    for budget in range(780, 2700, step):
        try:
            made = pack.render(loaded, budget=budget, patches=patches, stores={"main": store})
        except FitError:
            yield None
        else:
            assert made.tokens <= budget
            yield made


@pytest.mark.sampled
@pytest.mark.parametrize("patches", [(), ("people_first",)])
@pytest.mark.parametrize(("state", "step"), [("pressed", 5), ("crowded", 31), ("opening", 31), ("deutsch", 31), ("night", 31)])
def test_a_larger_budget_never_loses_content(store: str, state: str, step: int, patches: tuple[str, ...]) -> None:
    kept: set[tuple[str, str]] | None = None
    for made in _walk(store, state, patches, step):
        assert made is not None or kept is None, "what fitted does not fit a larger budget"
        if made is not None:
            items = {(section["id"], item["id"]) for section in made.report["sections"] for item in section["items"]} - MADE
            assert kept is None or kept <= items
            kept = items
    assert kept is not None


@pytest.mark.parametrize("state", ["pressed", "opening", "night"])
def test_reading_the_fences_back_gives_the_layers_in_order(store: str, state: str) -> None:
    for made in _walk(store, state, (), 97):
        if made is None:
            continue
        opened = re.findall(r"^=== (\w+)_BEGIN ===$", made.text, re.MULTILINE)
        closed = re.findall(r"^=== (\w+)_END ===$", made.text, re.MULTILINE)
        present = [section["id"].upper() for section in made.report["sections"] if section["items"]]
        assert opened == closed == present
        assert [layer for layer in LAYERS if layer.upper() in opened] == [name.lower() for name in opened]
        assert {"CORE", "RULESET"} <= set(opened)
