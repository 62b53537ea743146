"""What voids that a larger total keeps what a smaller one holds: each breach breaks one condition of contract.md §11."""

from collections.abc import Callable
from random import Random
from typing import Any

Manifest = dict[str, Any]
_GROWING = {"id": "rest", "text": "{{ state.texts.a }}", "budget": {"grow": 1}}


def count_percentages(manifest: Manifest, rng: Random) -> None:
    """Pressure that depends on the total."""
    _add(manifest, {"id": "rest", "text": "{{ state.texts.a }} {{ state.texts.b }}", "budget": rng.choice(("20%", "60%"))})
    others = [section["id"] for section in manifest["sections"] if not section.get("pinned")]
    tier = {"name": "tense", "at": rng.choice((0.2, 0.5)), "sections": {rng.choice(others): {"when": "false"}}}
    manifest["strain"] = {"count": ["rest"], "tiers": [{"name": "calm", "at": 0}, tier]}


def trim_to_percentages(manifest: Manifest, rng: Random) -> None:
    """A step's size that depends on the total."""
    section = _choose(manifest, rng)
    size = {rng.choice(("to", "floor")): f"{rng.randint(2, 40)}%"}
    if rng.random() < 0.5:
        section["overflow"] = [{"trim": {"at": "word", **size}}, *section.get("overflow", [])]
    else:
        manifest["truncate"] = [{"trim": {"section": section["id"], "at": "word", **size}}, *manifest.get("truncate", [])]


def protect_percentages(manifest: Manifest, rng: Random) -> None:
    """A `min` that depends on the total."""
    section = _choose(manifest, rng)
    section["budget"] = {"min": f"{rng.randint(1, 30)}%", "max": "60%", "grow": rng.choice((0, 1))}
    steps = [{name: body} for step in section.get("overflow", []) for name, body in step.items() if name not in ("drop", "replace")]
    section["overflow"] = steps or [{"trim": {}}]
    manifest["truncate"] = [step for step in manifest.get("truncate", []) if isinstance(step, str) or not {"drop", "replace"} & set(step)]


def trim_each_to_percentages(manifest: Manifest, rng: Random) -> None:
    """Items whose text depends on the total."""
    items = {"from": "state.first", "text": "{{ item.text }}", "trim_each": {"to": f"{rng.randint(2, 40)}%"}}
    _add(manifest, {"id": "rest", "items": items, "budget": 20})


def stand_uncapped(manifest: Manifest, rng: Random) -> None:
    """A section without a cap, or with one in characters, beside a share."""
    _add(manifest, _GROWING)
    other = {"id": "other", "text": "{{ state.texts.b }}"}
    _add(manifest, other | rng.choice(({}, {"budget": {"chars": 40}})))


def meet_unsafely(manifest: Manifest, rng: Random) -> None:
    """Sections that share a line, beside a share. (For `chars/4` every place is a safe one.)"""
    if manifest["tokenizer"] == "chars/4":
        manifest["tokenizer"] = "cl100k_base"
    _add(manifest, _GROWING)
    manifest.setdefault("output", {})["separator"] = rng.choice((" ", "--", "\n "))


def _add(manifest: Manifest, section: dict[str, Any]) -> None:
    manifest["sections"].append(dict(section))
    if isinstance(manifest.get("output", {}).get("messages"), list):
        manifest["output"]["messages"].append({"role": "system", "sections": [section["id"]]})


def _choose(manifest: Manifest, rng: Random) -> dict[str, Any]:
    """A section that is not pinned; a new one where all are."""
    open_ones = [section for section in manifest["sections"] if not section.get("pinned")]
    if not open_ones:
        _add(manifest, _GROWING)
        return manifest["sections"][-1]
    return rng.choice(open_ones)


BREACHES: tuple[Callable[[Manifest, Random], None], ...] = (
    count_percentages,
    trim_to_percentages,
    protect_percentages,
    trim_each_to_percentages,
    stand_uncapped,
    meet_unsafely,
)
