"""Every guarantee of contract.md §11 that a render can show, for each kind of counter, over packs with pools, with tools that are items,
with media, and with budgets that follow a model.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from promptc.check.registry import MONOTONY
from promptc.pipeline import Outcome
from tests.cases.case import ROOT
from tests.property.drawing.draws import KINDS, RICH
from tests.property.drawing.packs import MODELS_FILE
from tests.property.load_drawn import Loaded
from tests.property.oracle.charges import find_overfull
from tests.property.oracle.media import MEDIA, choose_model, sum_media
from tests.property.proof import Proof, Tally, count_packs
from tests.property.test_conserving import find_imbalance
from tests.property.test_deterministic import digest_prompts, show_render, shuffle
from tests.property.test_exact import find_miscount
from tests.property.test_monotone import find_loss, find_natural
from tests.property.test_pinned import find_disorder, find_half, find_lost
from tests.property.test_tight import find_loose

_MOST = 4000
_LOOKED_AT = 3
"""How many totals of a pack, each with the next one, are looked at beside the largest; to prove, 8."""


# contract 11.1, 11.2, 11.3, 11.4, 11.6, 11.7, 11.8 and 11.10
@pytest.mark.parametrize("counter", KINDS)
def test_every_guarantee(proof: Proof, encodings: Mapping[str, str], counter: str) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_guarantees(loaded, tally, max(_LOOKED_AT, proof.share(8)))

    tally = proof.hold(f"every guarantee ({counter})", judge, RICH[counter], count_packs(proof, 3))
    assert all(tally[one] for one in ("pools", "tools", "media", "models", "pairs")) or tally["packs"] < 50


# contract 11.8
@pytest.mark.parametrize("counter", KINDS)
@pytest.mark.sampled
def test_the_same_in_a_fresh_process(proof: Proof, encodings: Mapping[str, str], counter: str, tmp_path: Path) -> None:
    """Under another hash seed, and from another folder."""
    tally = proof.figures.setdefault(f"fresh process ({counter})", Tally())
    seeds = [f"{proof.seed}/{index}" for index in range(proof.share(count_packs(proof, 3)))]
    here = [digest_prompts(proof.library.draw(RICH[counter], seed)) for seed in seeds]
    command = [sys.executable, "-m", "tests.property.digest_packs", str(tmp_path), json.dumps(seeds), counter]
    paths = os.pathsep.join((str(ROOT / "compiler"), str(ROOT), encodings["PYTHONPATH"]))
    told = subprocess.run(
        command, cwd=tmp_path, env={**encodings, "PYTHONHASHSEED": "4711", "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    tally["packs"] += len(seeds)
    assert json.loads(told.stdout) == here


def judge_guarantees(loaded: Loaded, tally: Tally, most: int = _LOOKED_AT) -> str | None:
    """At some totals all but determinism, then that: rendered twice, and with the keys of the state in another order."""
    rng = Random(repr(loaded.drawn.manifest))
    whole = loaded.compile(_MOST)
    _look(loaded, whole, tally)
    natural = find_natural(whole)
    chosen = rng.sample(range(1, natural + 2), min(most, natural))
    outcomes = {total: loaded.compile(total) for total in sorted({*chosen, *(total + 1 for total in chosen)})} | {_MOST: whole}
    for total, outcome in outcomes.items():
        wrong = _find_wrong(loaded, outcome, total, tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    if not any(found.code in MONOTONY for found in loaded.pack.check()):
        tally["monotone packs"] += 1
        wrong = find_loss(outcomes.items(), tally)
        if wrong is not None:
            return wrong
    shuffled = replace(loaded, state=loaded.pack.load_state(json.dumps(shuffle(loaded.drawn.state, rng)).encode()))
    for total in rng.sample(sorted(outcomes), min(2, len(outcomes))):
        if not show_render(outcomes[total]) == show_render(loaded.compile(total)) == show_render(shuffled.compile(total)):
            return f"at {total} the second render differs, or the order of the state's keys changes it"
    return _find_wrong_window(loaded, rng, tally) if MODELS_FILE in loaded.drawn.files else None


def _look(loaded: Loaded, outcome: Outcome, tally: Tally) -> None:
    """Counts the packs that show what this is about."""
    tally["pools"] += "pools" in loaded.drawn.manifest
    tally["models"] += MODELS_FILE in loaded.drawn.files
    tally["tools"] += bool(outcome.fitted.sections.get("tools"))
    tally["media"] += any(item.media and item.beyond for fit in outcome.fitted.sections.values() for item in fit.selected.items)


def _find_wrong(loaded: Loaded, outcome: Outcome, total: int, tally: Tally, model: str | None = None) -> str | None:
    """The first guarantee that one outcome breaks."""
    finders = (
        find_miscount(loaded, outcome, total, tally, model),
        find_overfull(loaded.drawn, outcome, model),
        find_loose(outcome, tally),
        find_imbalance(loaded, outcome),
        find_lost(outcome, tally),
        find_disorder(loaded, outcome, tally),
        find_half(outcome, tally),
        _find_untold(outcome),
        _find_wrong_media(loaded, outcome, model),
    )
    return next((wrong for wrong in finders if wrong is not None), None)


# contract 5.11 and 13.10
def _find_untold(outcome: Outcome) -> str | None:
    """An item that was shortened or trimmed, and no cut tells of it."""
    if outcome.emitted is None:
        return None
    told = {(cut["section"], cut["rule"], name) for cut in outcome.report["cuts"] for name in cut["items"]}
    for name, fit in outcome.fitted.sections.items():
        for entry in fit.alive:
            for is_so, rule in ((entry.form > 0, "shorten"), (entry.kept is not None, "trim")):
                if is_so and (name, rule, entry.item.id) not in told:
                    return f"{name}/{entry.item.id} was changed by `{rule}`, and no cut tells of it"
    return None


# contract 13.10
def _find_wrong_media(loaded: Loaded, outcome: Outcome, model: str | None) -> str | None:
    """A report of media that says something else than the rules of the model, or than the messages hold."""
    if outcome.emitted is None or outcome.fitted.layout.format == "text":
        return None
    manifest = loaded.drawn.manifest
    for spec in manifest["sections"]:
        form = spec.get("items", {}).get("message", {}).get("media")
        fit = outcome.fitted.sections.get(spec["id"])
        if form is None or fit is None:
            continue
        by = choose_model(manifest, spec, None, model)
        told = next(section for section in outcome.report["sections"] if section["id"] == spec["id"])["items"]
        for entry, item in zip(fit.alive, told, strict=True):
            parts = [part for part in entry.item.content or () if part["type"] in MEDIA] if not entry.is_made else []
            found = [(one["kind"], one["tokens"]) for one in item.get("media", ())]
            wanted = [(part["type"], sum_media(by, form, [part])) for part in parts]
            if found != wanted:
                return f"{spec['id']}/{item['id']} holds the media {wanted}, told are {found}"
    return None


# contract 8.19, 8.20 and 4.43
def _find_wrong_window(loaded: Loaded, rng: Random, tally: Tally) -> str | None:
    """A model's window is the budget, and its rules count: the same as with a number, and every guarantee holds."""
    told = loaded.drawn.files[MODELS_FILE].split("[[model]]")[1:]
    windows = {one.split('"')[1]: int(one.rsplit(" ", 1)[1]) for one in told}
    reserve = loaded.drawn.manifest["budget"]["reserve"]
    for name in rng.sample(sorted(windows), 2):
        room = windows[name] - reserve
        followed, given = (loaded.pack.compile(loaded.state, model=name, **more) for more in ({}, {"budget": room}))
        tally["windows"] += 1
        wrong = _find_wrong(loaded, followed, room, tally, name)
        if wrong is not None:
            return f"for {name}: {wrong}"
        if _leave_model(followed) != _leave_model(given):
            return f"for {name}, with a window of {room}, something else is rendered than with that as the budget"
    return None


def _leave_model(outcome: Outcome) -> list[Any]:
    shown = show_render(outcome)
    return [*shown[:-1], {key: value for key, value in shown[-1].items() if key != "model"}]
