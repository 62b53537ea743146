"""Random sections: sources, item pipelines, budgets."""

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.property.drawing.media import BY_PART, MODELS, READERS, TOKENS
from tests.property.drawing.state import LISTS
from tests.property.drawing.steps import AT, StepDrawer

_FORMS = ("{{ item.text }}", "[{{ item.type }}] {{ item.text }}", "{{ item.text }}{{ item.brief }}", "{{ this.number }}. {{ item.text }}")
_SHORT = ("{{ item.brief }}", "{{ item.name }}", "{{ item.type }}", "…")
_HEADERS = ("So far:", "== {{ section.title }}", "{{ state.texts.b }}", "=== ALPHA_BEGIN ===", "/ header")
_CHOSEN = ("state.depth * 9", "state.depth * 20", "state.depth - 3", "none", "state.depth or none", "2.0 * state.depth")
"""Caps as a state chooses them."""

_MEDIA = (["text", "image"], ["text", "image", "document", "audio", "tool_use", "tool_result"], ["image", "document", "audio"])
"""Parts of a message that pass where media do."""

_TOOL_FORMS = (
    *(["full", "brief"], ["full", "name"], ["full", "brief", "name"], ["brief", "name"]),
    *(["full", "deferred"], ["full", "brief", "deferred"], ["brief", "name", "deferred"]),
)

_SEPARATORS = ("\n", "\n\n", ", ", "", " ", "\n---\n", "|", "\n\n\n")


@dataclass(frozen=True, slots=True)
class Taste:
    """What kind of pack is drawn. `shares`: percentages and `grow` occur. `inside`: only what the conditions of monotony allow.
    `large`: some pictures take as much as a whole pack of texts. `rich`: most packs have pools, tools that are items and media,
    and most are rendered as messages. `frozen`: such a share of the lists without groups has `freeze`.
    """

    tokenizer: str = "cl100k_base"
    shares: bool = False
    inside: bool = True
    most_items: int = 8
    most_words: int = 12
    large: bool = True
    rich: bool = False
    frozen: float = 0.15

    @property
    def must_meet_safely(self) -> bool:
        """True where sections must meet at safe boundaries, and stand beside number caps only."""
        return self.shares and self.inside


TOOLS = "tools"
"""The id of the section that tools are."""


class SectionDrawer:
    """Draws one section after the other."""

    def __init__(self, rng: Random, taste: Taste) -> None:
        self._rng = rng
        self._taste = taste
        self._lists: list[str] = []  # sections of items drawn so far, against which later ones may be compared

    def draw(self, name: str) -> dict[str, Any]:
        """A whole section."""
        rng = self._rng
        section: dict[str, Any] = {"id": name}
        kind = rng.choice(
            ("text", "items", "items", "turns", "turns") if self._taste.rich else ("text", "items", "items", "items", "turns")
        )
        if kind == "turns" and self._taste.must_meet_safely and self._taste.tokenizer == "o200k_base":
            kind = "items"  # messages have no fence, and may begin with a slash
        guarded = self._draw_source(section, kind)
        if rng.random() < 0.3:
            section["role"] = rng.choice(("system", "developer", "user", "assistant"))
        if rng.random() < 0.3 and kind != "turns":
            section["header"] = rng.choice(_HEADERS)
        if rng.random() < 0.3 and kind != "turns":
            section["fence"] = rng.choice(("none", {"open": f"<{name}>", "close": f"</{name}>"}))
        if rng.random() < 0.3:
            section["separator"] = rng.choice(_SEPARATORS)
        if rng.random() < 0.1:
            section["when"] = rng.choice(("state.on", "state.depth > 2", "selected.alpha is defined and selected.alpha > 0"))
        if rng.random() < 0.15:
            section["pinned"] = True
            if rng.random() < 0.3:
                section["budget"] = rng.choice((30, {"max": 20, "over": "warn"}, {"chars": 300}))
            return section
        guarded = self._draw_budget(section) or guarded
        if rng.random() < 0.8:
            section["overflow"] = self.drawer(section, guarded=guarded).draw_ladder()
        return section

    def drawer(self, section: dict[str, Any], *, guarded: bool) -> StepDrawer:
        """What draws steps for a section drawn before."""
        items = section.get("items", {})
        kind = "text" if "items" not in section else "turns" if "message" in items else "items"
        if section["id"] == TOOLS:
            kind = "tools" if isinstance(items["from"], str) else "files"
        forms, percents = len(items.get("forms", ())), not self._taste.inside
        return StepDrawer(
            self._rng, kind, guarded=guarded, grouped="group" in items, forms=forms, percents=percents, frozen="freeze" in items
        )

    def draw_tools(self, source: Any) -> dict[str, Any]:
        """The section that tools are where they are items: of files, or of what a state holds."""
        rng = self._rng
        items: dict[str, Any] = {"from": source}
        if rng.random() < 0.6:
            items["forms"] = rng.choice(_TOOL_FORMS)
        if isinstance(source, str):
            self._draw_tool_stages(items)
        section: dict[str, Any] = {"id": TOOLS, "items": items}
        if rng.random() < 0.1:
            section["when"] = "state.on"
        if rng.random() < 0.1:
            section["pinned"] = True
            return section
        guarded = self._draw_budget(section) or "keep" in items
        if rng.random() < 0.8:
            section["overflow"] = self.drawer(section, guarded=guarded).draw_ladder()
        return section

    def _draw_tool_stages(self, items: dict[str, Any]) -> None:
        rng = self._rng
        if rng.random() < 0.2:
            items["where"] = "item.ok"
        if rng.random() < 0.15:
            items["keep"] = [{"where": "item.hinge", "last": 1}]
        if rng.random() < 0.6:
            items["sort"] = rng.choice(("item.name", [{"by": "item.score", "desc": True}, "item.name"]))
        if rng.random() < 0.1:
            items["limit_per"] = {"by": "item.type", "caps": {"CHOICE": 1, "ACTION": 2}}
        if rng.random() < 0.15:
            items["limit"] = rng.choice((1, 3, {"last": 2}))

    def _draw_budget(self, section: dict[str, Any]) -> bool:
        """Gives the section a budget; True when it has a `min`."""
        rng = self._rng
        if rng.random() < 0.25 and not self._taste.must_meet_safely:
            return False
        number = rng.choice((5, 8, 12, 16, 24, 32, 48, 64, 100, 200))
        kind = (
            rng.choice(("number", "number", "tokens", "chars", "range"))
            if not self._taste.shares
            else rng.choice(("percent", "grow", "number"))
        )
        least = rng.choice((0, 3, 8, 20)) if rng.random() < 0.4 else 0
        if kind in ("number", "tokens", "chars") and rng.random() < 0.2:
            section["budget"] = {"from": rng.choice(_CHOSEN), "max": {"chars": 4 * number} if kind == "chars" else number}
            return False
        if kind == "number":
            section["budget"] = number
        elif kind in ("tokens", "chars"):
            section["budget"] = {kind: number * (1 if kind == "tokens" else 4)}
        elif kind == "percent":
            share = rng.choice(("10%", "15%", "30%", "33.3%", "50%", "75%", "100%", "5%"))
            section["budget"] = {"max": share, "min": least} if least else share
        else:
            section["budget"] = {"min": least} if least else {}
            if kind == "grow":
                section["budget"] |= {"grow": rng.choice((1, 1, 2, 3, 0.5))}
            if kind == "range" or rng.random() < 0.5:
                most = rng.choice(("20%", "40%", "30%")) if kind == "grow" and rng.random() < 0.4 else max(number, least)
                section["budget"]["max"] = most
        return bool(least)

    def _draw_source(self, section: dict[str, Any], kind: str) -> bool:
        rng = self._rng
        if kind == "text":
            source = rng.choice(
                ("{{ state.texts.a }}", "{{ state.texts.b }} {{ state.texts.c }}", "Plain words.\nTwo lines.", "{{ state.texts.c }}")
            )
            section["text"] = source
            return False
        if kind == "turns":
            section["items"] = {"from": "state.turns", "message": {"role": "item.role", "content": "item.content", **self._draw_parts()}}
        else:
            section["items"] = {"from": f"state.{rng.choice(LISTS)}"} | self._draw_forms()
        guarded = self._draw_pipeline(section["items"], kind)
        if kind == "items":
            self._lists.append(section["id"])
        return guarded

    def _draw_parts(self) -> dict[str, Any]:
        """Which parts pass, and what counts the media among them: a model's rules, or the author where its provider publishes none."""
        rng = self._rng
        if rng.random() < (0.1 if self._taste.rich else 0.4):
            return {"parts": rng.choice((["text"], ["text", "tool_use", "tool_result"]))}
        parts = list(rng.choice(_MEDIA))
        media: dict[str, Any] = {"model": rng.choice(READERS if "document" in parts and rng.random() < 0.4 else MODELS)}
        if rng.random() < 0.5:
            media["tokens"] = rng.choice(TOKENS)
        if "document" in parts and media["model"] not in READERS and media.get("tokens", "none") == "none":
            media["tokens"] = BY_PART
        if rng.random() < 0.6:
            media["detail"] = rng.choice(("low", "high", "auto"))
        return {"parts": parts, "media": media}

    def _draw_forms(self) -> dict[str, Any]:
        rng = self._rng
        if rng.random() < 0.5:
            return {"text": rng.choice(_FORMS)}
        shorter = rng.sample(_SHORT, rng.randint(1, 2))
        return {"forms": [{"text": rng.choice(_FORMS)}, *({"text": text} for text in shorter)]}

    def _draw_pipeline(self, items: dict[str, Any], kind: str) -> bool:
        """The stages of a pipeline; True when some items are kept, or a window has a `min`."""
        rng = self._rng
        guarded = False
        if rng.random() < 0.4:
            guarded = self._draw_window(items)
        if rng.random() < 0.15:
            items["keep"] = [{"where": "item.hinge" if kind == "items" else "this.number == 1", "last": 1, "within": rng.choice((3, 1000))}]
            guarded = True
        if kind == "turns":
            self._draw_freeze(items)
            return guarded
        if rng.random() < 0.3:
            items["id"] = "item.id"
        if rng.random() < 0.4:
            items["number"] = "item.n"
        if rng.random() < 0.2:
            items["where"] = "item.ok"
        self._draw_arranging(items)
        self._draw_freeze(items)
        if "group" in items and "window" in items and rng.random() < 0.5:
            items["window"]["whole"] = "group"
        if rng.random() < 0.12:
            items["trim_each"] = {
                "to": rng.choice((6, {"chars": 20}, {"tokens": 10})),
                "at": rng.choice(AT),
                "marker": rng.choice(("", "…")),
            }
        if rng.random() < 0.12:
            items["fence"] = {"open": "<item {{ this.number }}>", "close": "</item>"}
        return guarded

    def _draw_freeze(self, items: dict[str, Any]) -> None:
        rng = self._rng
        if "group" not in items and rng.random() < self._taste.frozen:
            items["freeze"] = {"shown": rng.choice(("state.shown", "state.shown", "none"))}
            if rng.random() < 0.5:
                items["freeze"]["late"] = rng.choice((False, False, True, "this.number % 2 == 0"))

    def _draw_window(self, items: dict[str, Any]) -> bool:
        rng = self._rng
        least, step = rng.choice((0, 0, 1, 2)), rng.choice((1, 1, 2, 3))
        last = rng.choice((1, 2, 3, 4, 6)) + least + step - 1
        items["window"] = {"last": last, "min": least, "step": step}
        if rng.random() < 0.2:
            items["window"] |= {"last": "state.depth", "max": least + step + 4}
        if rng.random() < 0.4:
            items["anchors"] = {"where": "this.number % 3 == 0", "last": rng.randint(0, 2), "within": rng.choice((2, 4, 200))}
        return least > 0

    def _draw_arranging(self, items: dict[str, Any]) -> None:
        rng = self._rng
        if rng.random() < 0.12:
            items["dedupe"] = {
                "by": rng.choice(("item.text", "item.type")),
                "keep": rng.choice(("first", "last")),
                "exact": rng.random() < 0.3,
            }
            if self._lists and rng.random() < 0.6:
                items["dedupe"]["against"] = [rng.choice(self._lists)]
        if rng.random() < 0.15:
            items["sort"] = rng.choice(([{"by": "item.score", "desc": True}, "item.n"], "item.name", {"by": "item.level"}))
        if rng.random() < 0.1:
            items["limit_per"] = {"by": "item.type", "caps": {"CHOICE": 1, "ACTION": 2}}
        if rng.random() < 0.12:
            items["limit"] = rng.choice((1, 3, 5, {"last": 3}))
        if rng.random() < 0.2:
            items["group"] = {"by": rng.choice(("item.ref", "item.type"))}
            if rng.random() < 0.7:
                items["group"]["header"] = rng.choice(("Group {{ group }}:", "{{ group }}", "== {{ group }} =="))
