"""What `check --fix` takes out of drawn packs changes no prompt, no account of one, and not whether there is one, whatever the total."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from promptc.api import Pack
from promptc.workshop.mend import fix_pack
from tests.property.drawing.draws import draw_any
from tests.property.drawing.packs import MODELS_FILE, Drawn, is_guarded
from tests.property.drawing.requests import draw_request
from tests.property.load_drawn import Loaded, load_drawn
from tests.property.proof import Proof, Tally

_STEPS: tuple[dict[str, Any], ...] = ({"trim": {"at": "word"}}, {"evict": {}}, {"drop": {}}, {"fail": {}})
_TOTALS = (4000, 150, 40, 7)


def draw_spare(rng: Random) -> Drawn:
    """Any pack, with more in it than it has a use for."""
    return _spoil(draw_any(rng), rng)


def draw_spare_request(rng: Random) -> Drawn:
    """The same of a pack that makes requests: its messages have roles and parts."""
    return _spoil(draw_request(rng), rng)


def _spoil(drawn: Drawn, rng: Random) -> Drawn:
    manifest = drawn.manifest
    for section in manifest["sections"]:
        if "overflow" in section and not section.get("pinned") and rng.random() < 0.5:
            steps = list(rng.choices(_STEPS, k=rng.randint(1, 3)))
            section["overflow"] = [*section["overflow"], *(one for one in steps if "drop" not in one or not is_guarded(section))]
        message = section.get("items", {}).get("message")
        if message is not None and rng.random() < 0.5:
            message |= {"parts": ["text"], "media": rng.choice(({"model": "gpt-5.6"}, {"tokens": "part.pages * state.depth"}))}
        if "role" not in section and rng.random() < 0.3:
            section["role"] = rng.choice(("system", "user"))
    if manifest.get("truncate") and rng.random() < 0.5:
        manifest["truncate"] = [*manifest["truncate"], rng.choice(manifest["truncate"])]
    if rng.random() < 0.5:
        manifest["define"] = {"spare": "1 > 0", **manifest.get("define", {}), "spared": "spare and true"}
    return drawn


@pytest.mark.parametrize("draw", [draw_spare, draw_spare_request])
def test_a_mended_pack_renders_the_same(proof: Proof, draw: Any) -> None:
    tally = proof.hold(f"mended packs ({draw.__name__})", judge_mended, draw, 400)
    assert tally["prompts"] and tally["PC0639"] and tally["PC0611"]


def judge_mended(loaded: Loaded, tally: Tally) -> str | None:
    folder = Path(loaded.pack.model.file).parent
    load_drawn(loaded.drawn, folder)
    models = str(folder / MODELS_FILE) if MODELS_FILE in loaded.drawn.files else None
    fixed = fix_pack(str(folder), lambda pack: pack.check(), models)
    tally.update(one.code for one in fixed.mended)
    if fixed.refused is not None:
        return f"{fixed.refused} of {[str(one) for one in fixed.left if one.removable is not None]}"
    if not fixed.mended:
        return None
    before = list(_iter_outcomes(Pack.load(folder, models=models), loaded))
    fixed.write()
    after = list(_iter_outcomes(Pack.load(folder, models=models), loaded))
    tally["prompts"] += sum(one[0] is not None for one in before)
    return next((f"{one} is not {other} without {fixed.mended}" for one, other in zip(before, after, strict=True) if one != other), None)


def _iter_outcomes(pack: Pack, loaded: Loaded) -> Any:
    for total in _TOTALS:
        outcome = pack.compile(pack.load_state(loaded.drawn.state), budget=total)
        if outcome.emitted is None:
            yield None, {one.code for one in outcome.errors}  # what it tells of the steps that were left may be another
            continue
        warnings = [(one.code, one.message) for one in outcome.warnings]
        yield (outcome.emitted.text, outcome.emitted.messages), warnings, _strip(outcome.report)


def _strip(report: Any) -> Any:
    """Without digests, places in files, roles that no message takes, and how many notches there would have been."""
    if isinstance(report, dict):
        return {key: _strip(value) for key, value in report.items() if key not in ("digests", "at", "role", "ladders")}
    return [_strip(one) for one in report] if isinstance(report, list | tuple) else report
