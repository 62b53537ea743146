"""Random packs: sections, `truncate`, output, strain, pools, tools."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.property.drawing.media import MODELS, READERS
from tests.property.drawing.sections import TOOLS, SectionDrawer, Taste
from tests.property.drawing.state import draw_state
from tests.property.drawing.steps import TEMPLATES, draw_joint_eviction
from tests.property.drawing.tokenizer import NAME, render_tokenizer
from tests.property.drawing.tools import draw_offer, draw_state_tools, draw_tool_items
from tests.property.drawing.words import IDS

MODELS_FILE = "models.toml"
"""The table of models of a pack whose budget follows one."""

_SAFE_SEPARATORS = ("\n", "\n", "\n", "", "\n\n", "---\n")
_UNSAFE_SEPARATORS = (" ", "--", "\n ", "/\n/")
FENCE = {"open": "=== {{ section.id | upper }}_BEGIN ===", "close": "=== {{ section.id | upper }}_END ==="}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A pack, its files and a state, as plain data."""

    manifest: dict[str, Any]
    state: dict[str, Any]
    files: dict[str, str] = field(default_factory=lambda: dict(TEMPLATES))


def draw_pack(rng: Random, taste: Taste) -> Drawn:
    """A pack that loads, and a state for it."""
    drawer = SectionDrawer(rng, taste)
    sections = [drawer.draw(name) for name in IDS[: rng.randint(2, 5)]]
    manifest: dict[str, Any] = {
        "promptc": 1,
        "name": "drawn",
        "version": "1.0.0",
        "tokenizer": taste.tokenizer,
        "budget": 4000,
        "sections": sections,
    }
    tools = draw_tool_items(rng, drawer, 0.8 if taste.rich else 0.4)
    fitted = sections if tools is None else [*sections, tools]
    if rng.random() < 0.8:
        manifest["truncate"] = _draw_shared_ladder(rng, drawer, fitted)
    _draw_output(rng, manifest, taste)
    if rng.random() < 0.3:
        _draw_strain(rng, drawer, manifest, fitted, taste)
    if rng.random() < (0.7 if taste.rich else 0.4):
        _draw_pools(rng, drawer, manifest, fitted, taste)
    files = TEMPLATES | ({"tokenizer.json": render_tokenizer()} if taste.tokenizer == NAME else {})
    state = draw_state(rng, most_items=taste.most_items, most_words=taste.most_words, large=taste.large)
    state[TOOLS] = draw_state_tools(rng, taste.most_items // 2)
    return Drawn(manifest, state, files | draw_offer(rng, manifest, tools))


def is_guarded(section: dict[str, Any]) -> bool:
    """True when `drop` and `replace` are errors: content is kept, or tokens or items are under a `min`."""
    items, budget = section.get("items", {}), section.get("budget")
    has_min = isinstance(budget, dict) and bool(budget.get("min"))
    return has_min or "keep" in items or bool(items.get("window", {}).get("min"))


def _draw_shared_ladder(rng: Random, drawer: SectionDrawer, sections: list[dict[str, Any]]) -> list[Any]:
    """Steps on several sections: a `truncate`, or the ladder of a pool."""
    open_ones = [section for section in sections if not section.get("pinned")]
    lists = [section for section in open_ones if "items" in section]
    steps: list[Any] = []
    for section in rng.choices(open_ones, k=rng.randint(1, 5)) if open_ones else []:
        if len(lists) > 1 and rng.random() < 0.2:
            chosen = rng.sample(lists, rng.randint(2, len(lists)))
            steps.append({"evict": {"sections": [one["id"] for one in chosen], **draw_joint_eviction(rng, chosen)}})
        elif rng.random() < 0.5:
            steps.append(section["id"])
        else:
            steps.append(_named(drawer.drawer(section, guarded=is_guarded(section)).draw_step(), section["id"]))
    if rng.random() < 0.6:
        steps += [{"drop": {"section": section["id"]}} for section in open_ones if not is_guarded(section)]
    return steps


def is_share(budget: Any) -> bool:
    """True for percentages and `grow`."""
    return isinstance(budget, str) or (isinstance(budget, dict) and (bool(budget.get("grow")) or isinstance(budget.get("max"), str)))


def _draw_pools(rng: Random, drawer: SectionDrawer, manifest: dict[str, Any], sections: list[dict[str, Any]], taste: Taste) -> None:
    """One pool or two, of sections that have no share; a tier may change what they may hold."""
    free = [section for section in sections if section.get("pinned") or not is_share(section.get("budget"))]
    rng.shuffle(free)
    cut = rng.randint(1, max(1, len(free)))
    pools = {}
    for name, held in (("memory", free[:cut]), ("scene", free[cut:] if rng.random() < 0.5 else [])):
        if held:
            most = _draw_pool_max(rng, taste)
            pools[name] = {"sections": [one["id"] for one in held], "max": most, "overflow": _draw_shared_ladder(rng, drawer, held)}
    if not pools:
        return
    manifest["pools"] = pools
    for section in free:
        is_held = any(section["id"] in pool["sections"] for pool in pools.values())
        if is_held and not section.get("pinned") and "strain" not in manifest and rng.random() < 0.3:
            section.pop("budget", None)  # its pool caps it, also beside shares
    tiers = manifest.get("strain", {}).get("tiers", [{}])
    if len(tiers) > 1 and rng.random() < 0.5:
        rng.choice(tiers[1:])["pools"] = {rng.choice(list(pools)): {"max": _draw_pool_max(rng, taste)}}


def _draw_pool_max(rng: Random, taste: Taste) -> Any:
    return f"{rng.choice((10, 25, 40, 60, 80))}%" if taste.shares and rng.random() < 0.4 else rng.choice((8, 16, 30, 50, 80, 120, 200))


def _named(step: dict[str, Any], section: str) -> dict[str, Any]:
    ((name, body),) = step.items()
    return {name: {"section": section, **body}}


def _draw_output(rng: Random, manifest: dict[str, Any], taste: Taste) -> None:
    output: dict[str, Any] = {}
    if taste.must_meet_safely or rng.random() < 0.6:
        output["fence"] = FENCE
    if rng.random() < 0.4:
        output["separator"] = rng.choice(_SAFE_SEPARATORS if taste.must_meet_safely or rng.random() < 0.7 else _UNSAFE_SEPARATORS)
    if rng.random() < (0.8 if taste.rich else 0.4):
        output["format"] = "messages"
    if rng.random() < 0.6:
        output["messages"] = rng.choice(("merge", "each", _draw_messages(rng, manifest)))
    if rng.random() < 0.3 and not needs_reader(manifest):
        output["models"] = {name: rng.choice(MODELS) for name in rng.sample(("openai", "anthropic", "gemini"), 2)}
    if taste.must_meet_safely:
        for section in manifest["sections"]:
            if section.get("fence") == "none":
                del section["fence"]
    if output:
        manifest["output"] = output


def needs_reader(manifest: dict[str, Any]) -> bool:
    """Whether pages and seconds are left to the table somewhere, which has them for some models alone."""
    found = [section.get("items", {}).get("message", {}).get("media", {}) for section in manifest["sections"]]
    return any(media.get("model") in READERS and media.get("tokens", "none") == "none" for media in found)


def _draw_messages(rng: Random, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    names = [section["id"] for section in manifest["sections"]]
    rng.shuffle(names)
    cut = rng.randint(0, len(names))
    groups = [part for part in (names[:cut], names[cut:]) if part]
    return [{"role": rng.choice(("system", "user")), "sections": part} for part in groups]


def _draw_strain(rng: Random, drawer: SectionDrawer, manifest: dict[str, Any], fitted: list[dict[str, Any]], taste: Taste) -> None:
    sections = [section for section in fitted if not section.get("pinned")]
    changing = [section for section in sections if section["id"] != TOOLS]
    counted = [one["id"] for one in sections if isinstance(one.get("budget"), int) or (not taste.inside and "budget" in one)]
    if not counted:
        return
    at = sorted(rng.sample((0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1), 2))
    tiers: list[dict[str, Any]] = [{"name": "calm", "at": 0}]
    for name, threshold in zip(("tense", "dire"), at, strict=True):
        tier: dict[str, Any] = {"name": name, "at": threshold}
        if rng.random() < 0.5:
            tier["leave"] = max(0, round(threshold - rng.choice((0.05, 0.1)), 2))
        if rng.random() < 0.5:
            chosen = rng.choices(changing, k=rng.randint(0, 2)) if changing else []
            tier["do"] = [_named(drawer.drawer(one, guarded=is_guarded(one)).draw_do(), one["id"]) for one in chosen]
        if changing and rng.random() < 0.6:
            tier["sections"] = _draw_changes(rng, changing)
        tiers.append(tier)
    manifest["strain"] = {"count": counted, "tiers": tiers}
    if rng.random() < 0.5:
        manifest["strain"]["previous"] = "state.tier"
    free = [section for section in fitted if not taste.inside or "%" not in str(section.get("budget"))]
    others = [section["id"] for section in free if section["id"] not in counted]
    if others and rng.random() < 0.4:
        manifest["strain"]["watch"] = {rng.choice(others): "from {{ before }} to {{ after }}"}


def _draw_changes(rng: Random, sections: list[dict[str, Any]]) -> dict[str, Any]:
    section = rng.choice(sections)
    if "items" in section and rng.random() < 0.7:
        return {section["id"]: {"items": {"window": {"last": 4, "min": 0, "step": 1}}}}
    return {
        section["id"]: rng.choice(({"when": "strain.index < 2"}, {"header": "{{ strain.tier }} {{ strain.percent }}"}, {"separator": "\n"}))
    }
