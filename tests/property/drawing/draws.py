"""The kinds of packs that properties look at."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.property.drawing.breaches import BREACHES
from tests.property.drawing.media import MODELS, READERS
from tests.property.drawing.packs import MODELS_FILE, Drawn, draw_pack, needs_reader
from tests.property.drawing.sections import Taste
from tests.property.drawing.tokenizer import ENCODING, NAME, SHIPPED
from tests.property.drawing.words import draw_hostile_text, draw_text

COUNTERS = ("cl100k_base", "o200k_base", "chars/4")
EVERY_COUNTER = (*COUNTERS * 4, NAME)
KINDS = (*COUNTERS, NAME, SHIPPED, ENCODING)
"""A counter of each kind. The last two are there where `install_encodings` put them."""


def draw_any(rng: Random) -> Drawn:
    """Any pack, also outside of what monotony asks for; now and then with a long text, which is cut differently."""
    drawn = draw_pack(rng, _taste(rng, rng.choice(EVERY_COUNTER)))
    if rng.random() < 0.03:
        drawn.state["texts"]["a"] = draw_text(rng, 300, odd=rng.choice((0.1, 0.6)))
    return drawn


def draw_monotone(rng: Random) -> Drawn:
    """A small pack inside the conditions of monotony, half of them with shares."""
    shares = rng.random() < 0.5
    counter = rng.choice(COUNTERS if shares else EVERY_COUNTER)
    return draw_pack(rng, Taste(counter, shares=shares, inside=True, most_items=rng.choice((3, 5)), most_words=6, large=False))


def draw_rich(rng: Random, counter: str) -> Drawn:
    """A small pack, most with pools, tools that are items and media, some with a budget that follows one of several models."""
    shares = counter not in (NAME, ENCODING) and rng.random() < 0.4
    taste = Taste(counter, shares=shares, inside=rng.random() < 0.9, most_items=rng.choice((4, 7)), most_words=8, rich=True)
    drawn = draw_pack(rng, replace(taste, large=rng.random() < 0.2))
    if rng.random() < 0.4:
        names = READERS if needs_reader(drawn.manifest) else MODELS
        drawn.manifest["budget"] = {"model": rng.choice(names), "reserve": rng.choice((0, 7))}
        windows = {name: rng.choice((60, 120, 250, 500, 1500)) for name in names}
        return replace(drawn, files={**drawn.files, MODELS_FILE: _render_models(windows)})
    return drawn


def _render_models(windows: dict[str, int]) -> str:
    return "as_of = 2027-01-02\n" + "".join(f'[[model]]\nname = "{name}"\ncontext = {size}\n' for name, size in windows.items())


def _draw_counted(counter: str) -> Callable[[Random], Drawn]:
    def draw(rng: Random) -> Drawn:
        return draw_rich(Random(f"{counter}/{rng.random()}"), counter)

    draw.__name__ = f"draw_rich, {counter}"
    return draw


RICH = {counter: _draw_counted(counter) for counter in KINDS}
"""By counter: draws the packs that every guarantee is held against."""


def draw_frozen(rng: Random) -> Drawn:
    """A small pack inside the conditions of monotony, in which most lists have `freeze`."""
    taste = Taste(rng.choice(COUNTERS), inside=True, most_items=rng.choice((4, 8)), most_words=6, large=False, frozen=0.9)
    drawn = draw_pack(rng, taste)
    for section in drawn.manifest["sections"]:
        if "dedupe" in section.get("items", {}) or rng.random() < 0.5:
            section.pop("pinned", None)
    return drawn


def draw_outside(rng: Random) -> Drawn:
    """A small pack with shares that breaks one condition of monotony."""
    drawn = draw_pack(rng, Taste(rng.choice(COUNTERS), shares=True, inside=True, most_items=rng.choice((3, 5)), most_words=6, large=False))
    drawn.manifest.pop("pools", None)  # a breach may give a section a share, which none in a pool may have
    for tier in drawn.manifest.get("strain", {}).get("tiers", []):
        tier.pop("pools", None)
    rng.choice(BREACHES)(drawn.manifest, rng)
    return drawn


def draw_pooled(rng: Random) -> Drawn:
    """A pack inside the conditions, without strain, with a pool that caps a number of tokens."""
    while True:
        drawn = draw_monotone(rng)
        pools = drawn.manifest.get("pools", {})
        if "strain" not in drawn.manifest and any(isinstance(pool["max"], int) for pool in pools.values()):
            return drawn


def _taste(rng: Random, counter: str) -> Taste:
    return Taste(counter, shares=rng.random() < 0.4, inside=rng.random() < 0.7)


def draw_long(rng: Random) -> Drawn:
    """Long lists of short texts, most of which end in the eviction of the oldest."""
    drawn = draw_pack(
        rng, Taste(rng.choice(COUNTERS), shares=rng.random() < 0.4, inside=True, most_items=rng.choice((20, 40)), most_words=3)
    )
    for section in drawn.manifest["sections"]:
        if rng.random() < 0.6:
            _open_up(section, rng)
    return drawn


def _open_up(section: dict[str, Any], rng: Random) -> None:
    """Takes away what keeps a list from being read only in part."""
    for key in ("sort", "dedupe", "limit_per", "limit", "group", *(("window", "anchors") if rng.random() < 0.7 else ())):
        section.get("items", {}).pop(key, None)
    section.get("items", {}).get("window", {}).pop("whole", None)
    first = section.get("overflow", [{}])[0]
    if rng.random() < 0.7 and "items" in section and "evict" not in first:
        section["overflow"] = [
            {"evict": rng.choice(({}, {"step": 3}, {"floor": 2}, {"step": 2, "floor": 3}))},
            *section.get("overflow", []),
        ]
    for step in section.get("overflow", []):
        step.get("evict", {}).pop("whole", None)


def draw_hostile(rng: Random) -> Drawn:
    """Any pack with a state full of texts that look like structure, which also stand in ids, item fences, group headers and recaps."""
    drawn = draw_any(rng)
    drawn.manifest.get("output", {}).pop("separator", None)  # a fence is only one on a line of its own
    for section in drawn.manifest["sections"]:
        items = section.get("items", {})
        if items and "message" not in items and rng.random() < 0.4:
            _open_to_data(section, items, rng)
        if "fence" in items:
            section.pop("separator", None)
    return replace(drawn, state=_poison(drawn.state, rng), files={**drawn.files, _TOLD: "Earlier: {{ state.texts.c }}\n"})


def draw_hostile_monotone(rng: Random) -> Drawn:
    """A small pack inside the conditions of monotony, with such a state."""
    drawn = draw_monotone(rng)
    return replace(drawn, state=_poison(drawn.state, rng))


_TOLD = "told.md.j2"


def _open_to_data(section: dict[str, Any], items: dict[str, Any], rng: Random) -> None:
    """Puts data where packs put it beside the texts of items."""
    items["id"] = "item.id"
    if rng.random() < 0.6:
        items["fence"] = rng.choice(
            ({"open": "<item {{ this.id }}>", "close": "</item>"}, {"open": "~~ {{ item.type }}", "close": "-- end"})
        )
    if "group" in items:
        items["group"]["header"] = rng.choice(("== {{ group }} ==", "{{ group }}", "<{{ group }}"))
    for step in section.get("overflow", []):
        if "recap" in step:
            step["recap"]["template"] = _TOLD


def _poison(value: Any, rng: Random, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poison(one, rng, name) if name != "tools" else _poison_tools(one, rng) for name, one in value.items()}
    if isinstance(value, list):
        return [_poison(one, rng, key) for one in value]
    if not isinstance(value, str) or rng.random() < 0.5:
        return value
    if key in ("id", "type", "ref"):
        return " ".join(draw_hostile_text(rng).split())  # a fence is one line
    return draw_hostile_text(rng) if key in ("text", "brief", "name", "content", "a", "b", "c", "at") else value


def _poison_tools(tools: list[dict[str, Any]], rng: Random) -> list[dict[str, Any]]:
    """What is said of them: their names and schemas have rules of their own."""
    return [one if "description" not in one else {**one, "description": draw_hostile_text(rng)} for one in tools]
