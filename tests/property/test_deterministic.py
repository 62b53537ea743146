"""Deterministic, idempotent, and steady: the same bytes always, and a stored tier rendered again is the same tier."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from promptc.pipeline import Outcome, Prompt
from promptc.text.json import render_canonical_json, render_digest
from tests.property.drawing.draws import draw_any
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally

ROOT = Path(__file__).parents[2]
TOTALS = (4000, 90, 30)


# contract 1.6 and 11.8
def test_the_same_from_other_hash_seeds(proof: Proof, tmp_path: Path) -> None:
    tally = proof.figures.setdefault("other hash seeds", Tally())
    packs = [f"{proof.seed}/{index}" for index in range(proof.share(400))]
    here = [digest_prompts(proof.library.draw(draw_any, seed)) for seed in packs]
    tally["packs"] += len(packs)
    for hash_seed in ("1", "4711"):
        command = [sys.executable, "-m", "tests.property.digest_packs", str(tmp_path), json.dumps(packs)]
        paths = os.pathsep.join((str(ROOT / "compiler"), str(ROOT)))
        told = subprocess.run(
            command, cwd=ROOT, env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
        )
        assert json.loads(told.stdout) == here


def digest_prompts(loaded: Loaded) -> str:
    """One digest of what a pack renders to at several totals, reports included."""
    shown = [show_render(loaded.compile(total)) for total in TOTALS]
    return render_digest(render_canonical_json(shown).encode())


def show_render(outcome: Outcome) -> list[Any]:
    """All that a render gives: its text and messages where there are any, and its report."""
    emitted = outcome.emitted
    shown = [emitted.text, list(emitted.messages), Prompt(outcome).tools] if emitted is not None else []
    return [*shown, outcome.report]


# contract 3.13 and 11.8
def test_the_order_of_a_states_keys_changes_nothing(proof: Proof) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        rng = Random(repr(loaded.drawn.state))
        shuffled = loaded.pack.load_state(json.dumps(shuffle(loaded.drawn.state, rng)).encode())
        tally["packs shuffled"] += 1
        for total in TOTALS:
            if show_render(loaded.compile(total)) != show_render(replace(loaded, state=shuffled).compile(total)):
                return f"at {total} the order of keys in the state changes the prompt or the report"
        return None

    proof.hold("order of keys", judge, draw_any, 1000)


def shuffle(value: Any, rng: Random) -> Any:
    """The value with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffle(value[key], rng) for key in keys}
    return [shuffle(one, rng) for one in value] if isinstance(value, list) else value


def test_a_render_leaves_no_trace(proof: Proof) -> None:
    """The same pack gives the same again, whatever was rendered before, and so does a fresh one."""
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        first = [show_render(loaded.compile(total)) for total in TOTALS]
        again = [show_render(loaded.compile(total)) for total in reversed(TOTALS)][::-1]
        fresh = library.load(loaded.drawn)
        tally["renders"] += 3 * len(TOTALS)
        if first != again:
            return "the second render differs from the first"
        return None if first == [show_render(fresh.compile(total)) for total in TOTALS] else "a pack loaded anew renders differently"

    proof.hold("idempotent", judge, draw_any, 600)


# contract 11.9
def test_a_stored_tier_is_the_same_tier(proof: Proof) -> None:
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_stored(loaded, tally, library)

    proof.hold("stored tier", judge, draw_any, 2000)


def judge_stored(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    if "previous" not in loaded.drawn.manifest.get("strain", {}):
        return None
    for total in TOTALS:
        outcome = loaded.compile(total)
        state = {**loaded.drawn.state, "tier": outcome.report["strain"]}
        stored = replace(loaded, state=loaded.pack.load_state(state)).compile(total)
        tally["renders"] += 1
        if stored.report["strain"] != outcome.report["strain"]:
            return f"at {total} {outcome.report['strain']} stored gives {stored.report['strain']}"
        if (stored.emitted is None) != (outcome.emitted is None):
            return f"at {total} only one of both renders fits"
        if stored.emitted is not None and outcome.emitted is not None and stored.emitted.parts != outcome.emitted.parts:
            texts = [[part.text for part in one.emitted.parts] for one in (stored, outcome)]
            if texts[0] != texts[1]:
                return f"at {total} the stored tier renders another prompt"
    return None
