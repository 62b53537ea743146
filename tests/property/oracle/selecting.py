"""Selection, read off contract.md §4 and §10: every list whole, nothing lazy."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, cmp_to_key
from pathlib import Path
from typing import Any

from promptc.passes.items.render import Cuts, guard_parts, guard_value
from promptc.text.characters import normalize
from promptc.text.counters.counter import Meter
from promptc.text.counters.exact import load_counter
from promptc.text.counters.huggingface import load_hf_counter
from promptc.text.guard import Guard
from tests.property.drawing.tokenizer import NAME, render_tokenizer
from tests.property.oracle.jinja_text import evaluate, render_text
from tests.property.oracle.layout import Layout
from tests.property.oracle.media import MEDIA, choose_model, count_media, find_kind, show_media
from tests.property.oracle.offering import WHITE, shape_tool, write_json
from tests.property.oracle.parts import It, Sec


@cache
def _load_meter(counter: str) -> Meter:
    return Meter(load_hf_counter(counter, render_tokenizer().encode()) if counter == NAME else load_counter(counter, folder=Path()))


# contract 10.2
def strip_lines(text: str) -> str:
    """Without leading empty lines and trailing line ends; nothing of white space only."""
    if not text.strip(WHITE):
        return ""
    text = text.rstrip("\r\n")
    white = text[: len(text) - len(text.lstrip(WHITE))]
    return text[max(white.rfind("\n"), white.rfind("\r")) + 1 :]


# contract 5.9
def find_size(size: Any, total: int) -> tuple[int, str]:
    """A size and its unit, `tokens` or `chars`."""
    if isinstance(size, str):
        return int(Fraction(size.removesuffix("%")) / 100 * total), "tokens"
    if isinstance(size, dict):
        ((unit, amount),) = size.items()
        return amount, unit
    return size, "tokens"


# contract 5.14 and 5.47
def find_boundaries(body: dict[str, Any], default: str) -> list[str]:
    """Where a trim cuts, in order."""
    at = body.get("at", default)
    named, known = [at] if isinstance(at, str) else at, ["paragraph", "sentence", "line", "word", "token"]
    order = named + [one for one in known if all(known.index(one) > known.index(other) for other in named)]
    return order[: order.index(body["finest"]) + 1] if "finest" in body else order


class Selecting:
    """Selects the sections of one effective manifest."""

    def __init__(
        self, manifest: dict[str, Any], state: Mapping[str, Any], strain: Mapping[str, Any], total: int, layout: Layout, guard: Guard
    ) -> None:
        self.manifest = manifest
        self.state = state
        self.strain = strain
        self.total = total
        self.layout = layout
        self.meter = _load_meter(manifest["tokenizer"])
        self.selected: dict[str, int] = {}
        self.sections: dict[str, Sec] = {}
        self.guard = guard

    def run(self) -> list[Sec]:
        """All sections, the absent ones without items."""
        return [self._select(spec) for spec in self.manifest["sections"]]

    def fits(self, text: str, size: Any) -> bool:
        """True when the text alone is within the size."""
        most, unit = find_size(size, self.total)
        return (len(text) if unit == "chars" else self.layout.tokens(self.layout.units(text))) <= most

    def _names(self, spec: dict[str, Any]) -> dict[str, Any]:
        role = spec.get("role", "user" if spec["id"] == "input" else "system")
        shown = {"id": spec["id"], "title": spec.get("title", spec["id"]), "role": role}
        return {"state": self.state, "strain": self.strain, "selected": dict(self.selected), "section": shown}

    def _fences(self, spec: dict[str, Any]) -> tuple[str, str]:
        fence = spec.get("fence", self.manifest.get("output", {}).get("fence", "none"))
        if fence == "none" or "message" in spec.get("items", {}):
            return "", ""
        names = self._names(spec)
        return render_text(fence["open"], names).strip(WHITE), render_text(fence["close"], names).strip(WHITE)

    # contract 1.2
    def _select(self, spec: dict[str, Any]) -> Sec:
        names = self._names(spec)
        section = Sec(spec["id"], spec, names)
        if evaluate(spec.get("when", True), names) and not (section.is_tools and self.layout.format == "text"):
            if "items" in spec:
                self._fill(section)
            else:
                self._fill_text(section)
        self.sections[section.id] = section
        self.selected[section.id] = len(section.items)
        if section.items and not section.is_tools:
            section.open, section.close = self._fences(spec)
            header = "" if section.is_each else strip_lines(render_text(spec.get("header", ""), names))
            section.header = self.guard.guard(header)[0]
        return section

    def _fill_text(self, section: Sec) -> None:
        raw = strip_lines(render_text(section.spec["text"], section.names))
        if raw:
            section.items = [It(0, 0, "text", None, raw, self.guard.guard(raw)[0])]

    # --- lists ---

    # contract 4.1
    def _fill(self, section: Sec) -> None:
        spec = section.spec["items"]
        read, standing = self._read(spec, section)
        looked = sorted([*read, *(item for item in standing if not _has(read, item))], key=lambda item: item.place)
        seen = [item for item in map(self.render, [section] * len(looked), looked) if item is not None]
        arranged = self._arrange(spec, read, section, standing)
        section.items = _pair([item for item in arranged if any(item is one for one in seen)], seen)
        header = spec.get("group", {}).get("header")
        if "group" in spec:
            for item in section.items:
                text = render_text(header, {**section.names, "group": item.key}) if header else ""
                section.headers[section.group_of(item)] = self.guard.guard(strip_lines(text))[0]

    # contract 3.19
    def bind(self, section: Sec, item: It) -> dict[str, Any]:
        """What an item's expressions see."""
        this = {"id": item.id, "number": item.number, "anchor": item.anchor, "kept": item.kept}
        return {**section.names, "item": item.value, "this": this}

    # contract 4.10, 4.12 and 4.15
    def _read(self, spec: dict[str, Any], section: Sec) -> tuple[list[It], list[It]]:
        """What the section looks at, and what stays in place."""
        source = spec["from"] if isinstance(spec["from"], list) else evaluate(spec["from"], section.names) or []
        every = [It(place, place, "", value, unit=place) for place, value in enumerate(source)]
        passing = [item for item in every if "where" not in spec or evaluate(spec["where"], self.bind(section, item))]
        for item in every if "freeze" in spec else passing:
            if "number" in spec:
                item.number = evaluate(spec["number"], self.bind(section, item))
        kept = self._match_all(spec.get("keep", []), passing, len(source), section)
        inside = self._see(spec["window"], passing, section) if "window" in spec else passing
        edge = inside[0].place if inside else len(source)
        before = [item for item in passing if item.place < edge]
        anchors = self._match(spec["anchors"], before, edge, section) if "anchors" in spec else []
        read = []
        for item in passing:
            if item in inside or item in anchors or item in kept:
                item.kept, item.anchor, item.windowed = item in kept, item in anchors, item in inside
                read.append(item)
        self._name(spec, every if "freeze" in spec else read, section)
        return read, self._stand(spec, every, section) if "freeze" in spec else []

    # contract 4.47 and 4.48
    def _stand(self, spec: dict[str, Any], every: list[It], section: Sec) -> list[It]:
        shown = evaluate(spec["freeze"]["shown"], section.names) or []
        ids = [str(one["id"] if isinstance(one, dict) else one) for one in shown]
        return [item for id in dict.fromkeys(ids) for item in every if item.id == id]

    # contract 4.10, 4.11 and 4.13
    def _see(self, window: dict[str, Any], passing: list[It], section: Sec) -> list[It]:
        """The window begins at the lowest multiple of `step` from which on at most `last` remain; groups are numbered as they come."""
        last, step, least = window["last"], window.get("step", 1), window.get("min", 0)
        if isinstance(last, str):
            last = min(max(evaluate(last, section.names), least + step - 1, step if step > 1 else 0), window.get("max", 10**9))
        numbers = {id(item): item.number for item in passing}
        counted = list(numbers.values())
        if window.get("whole") == "group":
            keys = [self._key(section, item) for item in passing]
            order = list(dict.fromkeys(keys))
            numbers = {id(item): order.index(key) for item, key in zip(passing, keys, strict=True)}
            counted = list(range(len(order)))
        start = 0
        while sum(number >= start for number in counted) > last:
            start += step
        return [item for item in passing if numbers[id(item)] >= start]

    def _key(self, section: Sec, item: It) -> tuple[str, Any]:
        key = evaluate(section.spec["items"]["group"]["by"], self._bind_place(section, item))
        return type(key).__name__, key

    def _match_all(self, rules: list[dict[str, Any]], passing: list[It], size: int, section: Sec) -> list[It]:
        return [item for rule in rules for item in self._match(rule, passing, size, section)]

    # contract 4.14, 4.15 and 4.16
    def _match(self, rule: dict[str, Any], items: list[It], end: int, section: Sec) -> list[It]:
        """The newest `last` matches among the `within` places before `end`."""
        near = [item for item in reversed(items) if end - rule.get("within", 1000) <= item.place < end]
        found = [item for item in near if evaluate(rule["where"], self._bind_place(section, item))]
        return found[: rule["last"]] if "last" in rule else found

    def _bind_place(self, section: Sec, item: It) -> dict[str, Any]:
        this = {"number": item.place, "anchor": False, "kept": False}
        return {**section.names, "item": item.value, "this": this}

    # contract 4.3
    def _name(self, spec: dict[str, Any], read: list[It], section: Sec) -> None:
        for item in read:
            value = evaluate(spec["id"], self.bind(section, item)) if "id" in spec else None
            item.id = str(item.number if value is None else value)
        own = {item.id for item in read}
        given: set[str] = set()
        for item in read:
            free = (f"{item.id}#{count}" for count in range(2, 2 + 2 * len(read)) if f"{item.id}#{count}" not in own | given)
            item.id = item.id if item.id not in given else next(free)
            given.add(item.id)

    # --- arranging ---

    # contract 4.1, 4.15, 4.20 and 4.21
    def _arrange(self, spec: dict[str, Any], read: list[It], section: Sec, standing: list[It]) -> list[It]:
        looked = read
        if "late" in spec.get("freeze", {}) and standing:
            edge, late = max(item.place for item in standing), spec["freeze"]["late"]
            read = [item for item in read if item.place > edge or _has(standing, item) or evaluate(late, self.bind(section, item))]
        if "dedupe" in spec:
            read = self._dedupe(spec["dedupe"], read, section, standing)
        if "sort" in spec:
            read = self._sort(spec["sort"], read, section)
        if "limit_per" in spec:
            read = self._limit_per(spec["limit_per"], read, section)
        if "limit" in spec:
            ordinary = [item for item in read if not item.kept]
            limit = spec["limit"]
            chosen = ordinary[-limit["last"] :] if isinstance(limit, dict) else ordinary[:limit]
            read = [item for item in read if item.kept or item in chosen]
        for item in standing:
            item.held = not _has(read, item)
            item.windowed = item.windowed and _has(looked, item)
        read = [*standing, *(item for item in read if not _has(standing, item))]
        if "group" in spec:
            for item in read:
                item.key = evaluate(spec["group"]["by"], self.bind(section, item))
            order = list(dict.fromkeys(section.group_of(item) for item in read))
            read = sorted(read, key=lambda item: order.index(section.group_of(item)))
        return read

    # contract 4.17
    def _dedupe(self, rule: dict[str, Any], read: list[It], section: Sec, standing: list[It]) -> list[It]:
        texts = {id(item): self._compare(rule, section, item.value) for item in read}
        met = {self._compare(rule, section, item.value) for name in rule.get("against", ()) for item in self.sections[name].items}
        met |= {self._compare(rule, section, item.value) for item in standing}
        found: dict[str, It] = {}
        for item in reversed(read) if rule.get("keep") == "last" else read:
            if texts[id(item)] not in met:
                found.setdefault(texts[id(item)], item)
        return [item for item in read if _has(standing, item) or any(item is one for one in found.values())]

    def _compare(self, rule: dict[str, Any], section: Sec, value: Any) -> str:
        text = str(evaluate(rule["by"], {**section.names, "item": value}))
        return text if rule.get("exact") else normalize(text)

    # contract 4.18
    def _sort(self, keys: Any, read: list[It], section: Sec) -> list[It]:
        rules = [key if isinstance(key, dict) else {"by": key} for key in (keys if isinstance(keys, list) else [keys])]

        def compare(left: It, right: It) -> int:
            for rule in rules:
                a, b = (evaluate(rule["by"], self.bind(section, one)) for one in (left, right))
                if a != b:
                    return -1 if (a < b) != rule.get("desc", False) else 1
            return left.place - right.place

        return sorted(read, key=cmp_to_key(compare))

    # contract 4.19
    def _limit_per(self, rule: dict[str, Any], read: list[It], section: Sec) -> list[It]:
        met: dict[str, int] = {}
        passing = []
        for item in read:
            key = str(evaluate(rule["by"], self.bind(section, item)))
            if not item.kept:
                met[key] = met.get(key, 0) + 1
            if item.kept or met[key] <= rule["caps"].get(key, 10**9):
                passing.append(item)
        return passing

    # --- rendering ---

    def render(self, section: Sec, item: It, form: int = 0) -> It | None:
        """The item in a form; None where that is empty."""
        spec = section.spec["items"]
        names = self.bind(section, item)
        if "message" in spec:
            return self._render_message(spec, item, names)
        if section.is_tools:
            item.raw = item.text = write_json(shape_tool(item.value, spec["forms"][form], lambda value: guard_value(value, self.guard)[0]))
            return item
        texts = [spec["text"]] if "text" in spec else [one["text"] for one in spec["forms"]]
        return self._finish(spec, item, render_text(texts[form], names), names)

    # contract 4.4 and 10.2
    def _finish(self, spec: dict[str, Any], item: It, text: str, names: dict[str, Any]) -> It | None:
        item.raw = strip_lines(text)
        if not item.raw:
            return None
        item.text = self.guard.guard(item.raw)[0]
        if "trim_each" in spec and not self.fits(item.text, spec["trim_each"]["to"]):
            self._trim(spec["trim_each"], item, names)
        if "fence" in spec:
            item.open, item.close = (render_text(spec["fence"][side], names).strip(WHITE) for side in ("open", "close"))
        return item

    # contract 10.11
    def _trim(self, rule: dict[str, Any], item: It, names: dict[str, Any]) -> None:
        marker = render_text(rule.get("marker", ""), names)
        cuts = Cuts(item.raw, boundaries=find_boundaries(rule, "word"), side="end", marker=marker, guard=self.guard, meter=self.meter)
        for cut in cuts.iter():
            item.text, shorter = cut.text, cut.raw
            if self.fits(cut.text, rule["to"]):
                break
        else:
            if item.text == self.guard.guard(item.raw)[0]:
                return
        item.raw = shorter

    # contract 8.3
    def _render_message(self, spec: dict[str, Any], item: It, names: dict[str, Any]) -> It | None:
        item.role = evaluate(spec["message"]["role"], names)
        content = evaluate(spec["message"]["content"], names)
        if isinstance(content, str):
            return self._finish(spec, item, content, names)
        passing = [part for part in content if find_kind(part) in spec["message"]["parts"]]
        guarded: Any = guard_parts([part.get("drawn", part) for part in passing], self.guard)[0]
        item.parts = [part for part in guarded if show_part(part).strip(WHITE)]
        item.raw = item.text = "\n".join(show_part(part) for part in item.parts)
        if self.layout.format != "text":
            item.beyond = self._count_beyond(spec, [part for part in passing if "drawn" in part], item, names)
        return item if item.text else None

    # contract 4.43, 4.44 and 4.45
    def _count_beyond(self, spec: dict[str, Any], media: list[dict[str, Any]], item: It, names: dict[str, Any]) -> int:
        """Media count in the place of the lines that stand for them."""
        tokens, message = 0, spec["message"]
        model = choose_model(self.manifest, {"items": spec}, None) if media else ""
        for part in media:
            said = evaluate(message["media"].get("tokens", "none"), {**names, "part": part})
            tokens += said if said is not None else count_media(model, part["drawn"], message["media"].get("detail", "auto"))
        bare = "\n".join(show_part(part) for part in item.parts or () if part["type"] not in MEDIA)
        return tokens * self.layout.unit + self.layout.units(bare) - self.layout.units(item.text)


def show_part(part: dict[str, Any]) -> str:
    """What stands for a part that goes out where texts are read."""
    return str(part["text"]) if part["type"] == "text" else show_media(part) if part["type"] in MEDIA else write_json(part)


def _has(items: list[It], item: It) -> bool:
    return any(item is one for one in items)


def _ids(items: list[It], kind: str, key: str) -> set[str]:
    return {part[key] for item in items for part in item.parts or () if part["type"] == kind and key in part}


# contract 8.5
def _pair(items: list[It], seen: list[It]) -> list[It]:
    """A tool's use and its result are one unit. Halves that are left alone go; a use that was never answered stays."""
    while True:
        uses, results = _ids(items, "tool_use", "id"), _ids(items, "tool_result", "tool_use_id")
        alone = (results - uses) | ((uses - results) & _ids(seen, "tool_result", "tool_use_id"))
        left = [item for item in items if not alone & (_ids([item], "tool_use", "id") | _ids([item], "tool_result", "tool_use_id"))]
        if len(left) == len(items):
            break
        items = left
    first: dict[str, int] = {}
    for item in items:
        for name in sorted(_ids([item], "tool_use", "id") | _ids([item], "tool_result", "tool_use_id")):
            item.unit = first.setdefault(name, item.unit)
    return items
