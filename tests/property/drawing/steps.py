"""Random steps: ladders, `truncate` lists, what a strain tier does."""

from random import Random
from typing import Any

from promptc.text.cutting import list_boundaries

AT = ("paragraph", "sentence", "line", "word", "token")
_LISTS = (["line", "sentence"], ["sentence", "paragraph"], ["word", "sentence"], ["paragraph", "word"], ["sentence"])
_ORDER = (
    "item.type == 'NARRATIVE'", "item.type == 'CHOICE'", "item.score < 2", "this.tokens > 8", "this.chars < 30", "this.anchor",
    "item.hinge", "this.number % 2 == 0", "true", "item.name | length > 4",
)  # fmt: skip
_FROZEN_ORDER = ("this.held", "not this.held")
_TURN_ORDER = ("item.role == 'user'", "this.tokens > 8", "this.number % 2 == 0", "true")
_BY = ("item.score", "this.tokens", "this.number", "this.chars", "-this.number", "item.level")
_TURN_BY = ("this.tokens", "this.number", "-this.number")
_FILE_ORDER = ("item.name == 'tool_b'", "this.tokens > 30", "item.description is defined", "true")
_RANKINGS = {"items": (_ORDER, _BY), "turns": (_TURN_ORDER, _TURN_BY), "tools": (_ORDER, _BY), "files": (_FILE_ORDER, _TURN_BY)}
"""What `order` and `by` say, by kind of section."""

_MARKERS = ("({{ removed }} more)", "[{{ removed }}]", "…", "{{ state.texts.a }}")
CUTS = (" […]", "…", "[cut]", "\n(cut)", " (more)\n", "=== ALPHA_END ===", "")
TEMPLATES = {
    "recap.md.j2": "Earlier: {{ items | length }} things.\n",
    "long.md.j2": "{{ text }}\nThat was it.",
    "cue.md": "…",
    "empty.md.j2": "{% if false %}x{% endif %}\n",
}


def draw_joint_eviction(rng: Random, sections: list[dict[str, Any]]) -> dict[str, Any]:
    """What an `evict` of several lists says beside its `sections`."""
    are_items = all("message" not in section["items"] and isinstance(section["items"]["from"], str) for section in sections)
    order, by = (_ORDER, _BY) if are_items else (_TURN_ORDER[1:], _TURN_BY)
    body: dict[str, Any] = {"by": rng.choice(by)} if rng.random() < 0.6 else {"order": rng.sample(order, rng.randint(1, 3))}
    if rng.random() < 0.2:
        body["order" if "order" in body else "by"] = ["section.id == 'beta'", "true"] if "order" in body else "section.id | length"
    if rng.random() < 0.2:
        body["floor"] = rng.randint(1, 2)
    if any(section["id"] == "tools" for section in sections):
        return body
    if rng.random() < 0.2:
        body["step"] = rng.randint(2, 4)
    if rng.random() < 0.2:
        body["marker"] = rng.choice(_MARKERS)
    if all("group" in section["items"] for section in sections) and rng.random() < 0.5:
        body["whole"] = "group"
    elif not are_items and rng.random() < 0.5:
        body["whole"] = "call"
    return body


class StepDrawer:
    """Draws steps for one section. `kind` is text, items, turns, tools (of a state) or files (that tools are in); `guarded` sections have a
    `min` or `keep`, which forbid some steps. So do `frozen` ones.
    """

    def __init__(
        self, rng: Random, kind: str, *, guarded: bool, grouped: bool, forms: int, percents: bool = False, frozen: bool = False
    ) -> None:
        self._rng = rng
        self._kind = kind
        self._guarded = guarded
        self._grouped = grouped
        self._forms = forms
        self._percents = percents
        self._frozen = frozen

    def draw_ladder(self) -> list[dict[str, Any]]:
        """A ladder of one to four steps, most of which can reach nothing at all."""
        rng = self._rng
        steps = [self.draw_step() for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        if rng.random() < 0.75:
            last = (
                "drop"
                if not self._guarded and (self._kind == "text" or rng.random() < 0.4)
                else "evict"
                if self._kind != "text"
                else "trim"
            )
            steps.append({last: {}})
        return steps

    def draw_step(self) -> dict[str, Any]:
        """One step that the section allows."""
        if self._kind in ("tools", "files"):
            return self._draw_tool_step()
        names = ["trim"] if self._kind == "text" else ["evict", "evict", "evict", "trim"] + ["recap"] * (not self._frozen)
        if self._kind == "items":
            names += ["lower", "trim"] + ["shorten", "shorten"] * (self._forms > 1)
        if not self._guarded:
            names += ["replace"] * (not self._frozen)
            names += ["drop"] * (self._rng.random() < 0.2)
        name = self._rng.choice(names)
        return {name: getattr(self, f"_draw_{name}")()}

    def _draw_tool_step(self) -> dict[str, Any]:
        name = self._rng.choice(["evict", "lower"] + ["shorten"] * 3 * (self._forms > 1))
        body = getattr(self, f"_draw_{name}")()
        return {name: {key: value for key, value in body.items() if key in ("order", "by", "floor")}}

    def draw_do(self) -> dict[str, Any]:
        """A step that says its own end."""
        rng = self._rng
        names = ["trim"] + ["recap"] * (self._kind != "text" and not self._frozen)
        names += (["replace"] * (not self._frozen) + ["drop"]) * (not self._guarded)
        name = rng.choice(names)
        body = getattr(self, f"_draw_{name}")()
        if name == "trim":
            body.pop("floor", None)
            body["to"] = self._draw_size(12)
        return {name: body}

    def _draw_trim(self) -> dict[str, Any]:
        rng = self._rng
        body: dict[str, Any] = self._draw_boundaries()
        if rng.random() < 0.4:
            body["from"] = rng.choice(("start", "middle", "end"))
        size = rng.random()
        if size < 0.3:
            body["to"] = self._draw_size(12)
        elif size < 0.6:
            body["floor"] = self._draw_size(8)
        if rng.random() < 0.5:
            body["marker"] = rng.choice(CUTS)
        return body | self._draw_ranking(0.3)

    def _draw_boundaries(self) -> dict[str, Any]:
        rng = self._rng
        at = rng.choice(_LISTS) if rng.random() < 0.25 else rng.choice(AT)
        order = list_boundaries([at] if isinstance(at, str) else at)
        first = 0 if isinstance(at, str) else len(at) - 1
        return {"at": at} | ({"finest": rng.choice(order[first:])} if rng.random() < 0.3 else {})

    def _draw_size(self, most: int) -> Any:
        rng = self._rng
        if self._percents and rng.random() < 0.5:
            return f"{rng.randint(1, 40)}%"
        return rng.choice((rng.randint(0, most), {"tokens": rng.randint(0, most)}, {"chars": rng.randint(0, 5 * most)}))

    def _draw_ranking(self, share: float) -> dict[str, Any]:
        rng = self._rng
        if self._kind == "text" or rng.random() > share:
            return {}
        order, by = _RANKINGS[self._kind]
        if self._frozen:
            order += _FROZEN_ORDER
        if rng.random() < 0.5:
            return {"by": rng.choice(by)}
        return {"order": rng.sample(order, rng.randint(1, 3))}

    def _draw_evict(self) -> dict[str, Any]:
        rng = self._rng
        body = self._draw_ranking(0.5)
        if rng.random() < 0.3:
            body["step"] = rng.randint(2, 4)
        if rng.random() < 0.3:
            body["floor"] = rng.randint(0, 3)
        if rng.random() < 0.25:
            body["marker"] = rng.choice(_MARKERS)
            if rng.random() < 0.5:
                body["marker_at"] = "below"
        if self._grouped and rng.random() < 0.5:
            body["whole"] = "group"
        elif self._kind == "turns" and rng.random() < 0.5:
            body["whole"] = "call"
        return body

    def _draw_shorten(self) -> dict[str, Any]:
        return self._draw_ranking(0.5)

    def _draw_lower(self) -> dict[str, Any]:
        rng = self._rng
        by = ("this.number", "this.tokens") if self._kind == "files" else ("item.level", "item.score", "this.number", "this.tokens")
        body: dict[str, Any] = {"by": rng.choice(by)}
        return body | ({"floor": rng.randint(0, 2)} if rng.random() < 0.5 else {})

    def _draw_recap(self) -> dict[str, Any]:
        rng = self._rng
        body: dict[str, Any] = {"template": rng.choice(tuple(TEMPLATES))}
        if rng.random() < 0.7:
            body["older"] = rng.choice((0.5, 0.3, 0.25, 1, 0.7))
        if rng.random() < 0.4:
            body["where"] = rng.choice(_ORDER if self._kind == "items" else _TURN_ORDER)
        return body

    def _draw_replace(self) -> dict[str, Any]:
        return {"template": self._rng.choice(tuple(TEMPLATES))}

    def _draw_drop(self) -> dict[str, Any]:
        return {}
