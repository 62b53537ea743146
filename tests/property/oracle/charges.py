"""What sections and pools came to, counted from what was emitted, against what their caps allow."""

from collections.abc import Mapping
from typing import Any

from promptc.pipeline import Outcome, Prompt
from tests.property.drawing.packs import Drawn
from tests.property.oracle.jinja_text import evaluate
from tests.property.oracle.layout import Layout
from tests.property.oracle.media import MEDIA, choose_model, sum_media
from tests.property.oracle.offering import fold_tools, list_shown, write_json
from tests.property.oracle.selecting import show_part


# contract 5.1, 5.8, 5.33, 5.39 and 5.40
def find_overfull(drawn: Drawn, outcome: Outcome, model: str | None = None) -> str | None:
    """A section over its number or its grant, or a pool over its `max`. What `truncate` cut is passed over: a mark may add to it."""
    if outcome.emitted is None:
        return None
    held = _Held(drawn, outcome, model)
    specs = fold_tools(drawn.manifest, drawn.files)["sections"]
    truncated = {cut["section"] for cut in outcome.report["cuts"] if cut["ladder"] == "truncate"}
    grants = {section["id"]: section.get("grant") for section in outcome.report["sections"]}
    for spec in specs:
        name, cap = spec["id"], _find_cap(spec, drawn.state)
        if spec.get("pinned") or name in truncated:
            continue
        if isinstance(cap, tuple):
            if held.count_chars(name, spec) > cap[0]:
                return f"{name} has {held.count_chars(name, spec)} characters, and its cap is {cap[0]}"
            continue
        for most in (cap, grants.get(name)):
            if most is not None and held.tokens([name]) > most:
                return f"{name} takes {held.tokens([name])} tokens, and may take {most}"
    pools = {pool["id"]: pool["grant"] for pool in outcome.report.get("pools", ())}
    for name, pool in _list_pools(drawn.manifest, outcome.fitted.strained.tier).items():
        taken = held.tokens(pool["sections"])
        most = min(pools[name], pool["max"]) if isinstance(pool["max"], int) else pools[name]
        if not truncated & set(pool["sections"]) and taken > most:
            return f"{pool['sections']} take {taken} tokens, and their pool {name} holds {most}"
    return None


def _find_cap(spec: Mapping[str, Any], state: Mapping[str, Any]) -> int | tuple[int] | None:
    """The number that a section is capped at; one of characters by itself. None for shares, and for what has no cap."""
    budget = spec.get("budget")
    if isinstance(budget, dict) and "from" in budget:
        chars = isinstance(budget["max"], dict)
        most, asked = budget["max"]["chars"] if chars else budget["max"], evaluate(budget["from"], {"state": state})
        cap = most if asked is None else int(min(max(asked, 0), most))
        return (cap,) if chars else cap
    if isinstance(budget, dict) and "chars" in budget:
        return (budget["chars"],)
    if isinstance(budget, dict):
        budget = None if budget.get("grow") else budget.get("max", budget.get("tokens"))
    return budget if isinstance(budget, int) else None


def _list_pools(manifest: Mapping[str, Any], tier: int) -> dict[str, dict[str, Any]]:
    """The pools as the tiers up to this one leave them."""
    pools = {name: dict(pool) for name, pool in manifest.get("pools", {}).items()}
    for one in manifest.get("strain", {}).get("tiers", [])[: tier + 1]:
        for name, change in one.get("pools", {}).items():
            pools[name] |= change
    return pools


class _Held:
    """Counts parts of one output."""

    def __init__(self, drawn: Drawn, outcome: Outcome, model: str | None) -> None:
        self._manifest = drawn.manifest
        self._outcome = outcome
        self._model = model
        self._layout = Layout(drawn.manifest, drawn.manifest["tokenizer"], outcome.fitted.layout.format)
        self._specs = {spec["id"]: spec for spec in drawn.manifest["sections"]}

    def tokens(self, names: list[str]) -> int:
        """What sections take in all, rounded up once."""
        return self._layout.tokens(sum(map(self._units, names)))

    def count_chars(self, name: str, spec: Mapping[str, Any]) -> int:
        """Characters of the items as they stand, with what is between them."""
        if name == "tools":
            bodies = [write_json(tool) for tool in list_shown(Prompt(self._outcome).tools)]
        else:
            bodies = [entry.body for entry in self._outcome.fitted.sections[name].alive] if name in self._outcome.fitted.sections else []
        return len(str(spec.get("separator", "\n")).join(bodies))

    def _units(self, name: str) -> int:
        layout, emitted = self._layout, self._outcome.emitted
        assert emitted is not None
        if name == "tools":
            return sum(layout.tokens(layout.units(write_json(tool))) * layout.unit for tool in list_shown(Prompt(self._outcome).tools))
        texts: dict[int, str] = {}
        for part in emitted.parts:
            if part.section == name and part.owner != "separator":
                texts[part.message] = texts.get(part.message, "") + part.text
        if layout.format == "text":
            return sum(max(layout.units(text), layout.units(text + layout.separator)) for text in texts.values())
        return sum(self._count_message(name, emitted.messages[place], text) for place, text in texts.items())

    def _count_message(self, name: str, message: Mapping[str, Any], text: str) -> int:
        layout, content = self._layout, message["content"]
        if not isinstance(content, list):
            return layout.overhead(message["role"]) + layout.units(text.removesuffix("\n"))
        bare = "\n".join(show_part(part) for part in content if part["type"] not in MEDIA)
        form = self._specs[name]["items"]["message"].get("media")
        seen = sum_media(choose_model(self._manifest, self._specs[name], None, self._model), form, content) if form is not None else 0
        return layout.overhead(message["role"]) + layout.units(bare) + seen * layout.unit
