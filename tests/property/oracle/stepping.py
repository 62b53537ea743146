"""Steps expanded to notches, read off contract.md §5. A notch is a call that changes the section in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from promptc.passes.items.render import Cuts
from promptc.text.guard import Guard
from tests.property.oracle.jinja_text import evaluate, render_text
from tests.property.oracle.parts import It, Sec
from tests.property.oracle.selecting import Selecting, find_boundaries, find_size, show_part, strip_lines


@dataclass
class Notch:
    """What one notch does: items that go, and a change of one that stays. `whole`: it replaces text whole, so it is void unless shorter."""

    section: Sec
    going: Sequence[It] = ()
    change: Callable[[], None] | None = None
    made: It | None = None
    marker: str | None = None
    is_below: bool = False
    whole: bool = False
    guard: Guard | None = None

    def apply(self) -> None:
        """Does it."""
        section = self.section
        if self.made is not None:
            section.items.insert(section.items.index(self.going[0]), self.made)
        for item in self.going:
            item.gone = True
            section.removed += 1
        if self.change is not None:
            self.change()
        if self.marker is not None and section.alive:
            section.marker, section.is_below = self._render_marker(), self.is_below

    # contract 5.21
    def _render_marker(self) -> str:
        text = render_text(self.marker or "", {**self.section.names, "removed": self.section.removed})
        return self.guard.guard(" ".join(text.split()))[0] if self.guard is not None else text


class Stepping:
    """Expands the steps of one effective manifest."""

    def __init__(self, selecting: Selecting, files: dict[str, str]) -> None:
        self.selecting = selecting
        self.files = files
        self.total = selecting.total

    # contract 1.4 and 5.12
    def expand(self, name: str, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        """The notches of one step, as the section stands when it begins."""
        if section.spec.get("pinned"):
            return iter(())
        expand: Iterator[Notch] = getattr(self, f"_{name}")(body, section)
        return expand

    # --- order ---

    # contract 3.19
    def _see(self, section: Sec, item: It, expression: Any) -> Any:
        tokens = self.selecting.layout.tokens(self.selecting.layout.units(item.text) + item.beyond)
        this = {"tokens": tokens, "chars": len(item.text), "form": item.form, "held": item.held}
        names = self.selecting.bind(section, item)
        return evaluate(expression, {**names, "group": item.key, "this": {**names["this"], **this}})

    # contract 5.18 and 5.19
    def _classes(self, body: dict[str, Any], section: Sec, blocks: list[list[It]]) -> list[list[list[It]]]:
        return [ranked for _, ranked in self._rank(body, section, blocks)]

    # contract 5.18 and 5.19
    def _rank(self, body: dict[str, Any], section: Sec, blocks: list[list[It]]) -> list[tuple[Any, list[list[It]]]]:
        """Blocks in classes with their ranks, oldest first in each; a block is judged by its first item."""
        blocks = _sort_by_age(blocks, section)
        if "by" in body:
            ranks = [self._see(section, block[0], body["by"]) for block in blocks]
            return [(value, [block for block, rank in zip(blocks, ranks, strict=True) if rank == value]) for value in sorted(set(ranks))]
        if "order" not in body:
            held = [block for block in blocks if block[0].held and section.is_ageless]
            return [(0, held), (1, [block for block in blocks if not any(block is one for one in held)])]
        classes, left = [], blocks
        for place, predicate in enumerate(body["order"]):
            matches = [bool(self._see(section, block[0], predicate)) for block in left]
            classes.append((place, [block for block, match in zip(left, matches, strict=True) if match]))
            left = [block for block, match in zip(left, matches, strict=True) if not match]
        return classes

    # --- steps ---

    def _evict(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        return self.evict_jointly(body, [section])

    # contract 5.18, 5.19, 5.20, 5.45 and 5.46
    def evict_jointly(self, body: dict[str, Any], sections: Sequence[Sec]) -> Iterator[Notch]:
        """The notches of an `evict` of one section or several: rank by rank, and section by section in each."""
        by_group, step, floor = body.get("whole") == "group", body.get("step", 1), body.get("floor", 0)
        open_ones = [section for section in sections if not section.spec.get("pinned")]
        rounds = [(rank, section, bundles) for section in open_ones for rank, bundles in self._bundle(body, section)]
        rounds.sort(key=lambda one: one[0])
        last = [(section, [[[item]] for item in section.alive if item.made]) for section in open_ones]
        for section, bundles in [*((section, bundles) for _, section, bundles in rounds), *last]:
            for bundle in bundles:
                yield from self._evict_blocks(body, section, bundle, floor, by_group)
                if step > 1 and any(not item.gone for block in bundle for item in block):
                    break
        for _, section, bundles in rounds if step > 1 else []:
            for block in [block for bundle in bundles for block in bundle]:
                yield from self._evict_blocks(body, section, [block], floor, by_group, is_alone=True)

    # contract 5.18, 5.19 and 5.20
    def _bundle(self, body: dict[str, Any], section: Sec) -> list[tuple[Any, list[list[list[It]]]]]:
        """Of each class its rank, and the blocks that go together."""
        by_group, step = body.get("whole") == "group", body.get("step", 1)
        key = section.group_of if by_group else (lambda item: item.unit)
        blocks = _gather([item for item in section.alive if not item.made], key)
        blocks = _sort_by_age([block for block in blocks if not any(item.kept for item in block)], section)
        numbers = {id(block): place if by_group else block[0].number for place, block in enumerate(blocks)}
        bundles = []
        for rank, ranked in self._rank(body, section, blocks):
            if section.is_frozen:
                numbers = {id(block): place for place, block in enumerate(ranked)}
            bundles.append((rank, _gather(ranked, lambda block: numbers[id(block)] // step) if step > 1 else [[block] for block in ranked]))  # noqa: B023
        return bundles

    # contract 5.18
    def _evict_blocks(
        self, body: dict[str, Any], section: Sec, bundle: list[list[It]], floor: int, by_group: bool, *, is_alone: bool = False
    ) -> Iterator[Notch]:
        going = [[item for item in block if not item.gone] for block in bundle]
        going = [block for block in going if block]
        standing = len({section.group_of(item) for item in section.alive}) if by_group else len(section.alive)
        fewer = len(going) if by_group else sum(map(len, going))
        if going and standing - fewer >= floor:
            if body.get("whole") == "call" and len(going) == 1 and (body.get("step", 1) == 1 or is_alone):
                yield from self._evict_calls(body, section, going[0])
                going = [[item for item in going[0] if not item.gone]]
            leaving = [item for block in going for item in block]
            yield Notch(section, leaving, marker=body.get("marker"), is_below=body.get("marker_at") == "below", guard=self.selecting.guard)

    # contract 5.50
    def _evict_calls(self, body: dict[str, Any], section: Sec, block: list[It]) -> Iterator[Notch]:
        """All calls of a unit but the last, one by one; none where the window keeps the unit, or a use is open."""
        least = section.spec["items"].get("window", {}).get("min", 0)
        windowed = [item for item in section.alive if item.windowed]
        uses = [part["id"] for item in block for part in item.parts or () if part["type"] == "tool_use"]
        told = [part["tool_use_id"] for item in block for part in item.parts or () if part["type"] == "tool_result"]
        if len([item for item in windowed if not any(item is one for one in block)]) < least or sorted(uses) != sorted(told):
            return
        for id in uses[:-1]:
            yield self._take_call(body, section, [item for item in block if not item.gone], id)

    def _take_call(self, body: dict[str, Any], section: Sec, block: list[It], id: str) -> Notch:
        left = {item.place: [part for part in item.parts or () if id not in (part.get("id"), part.get("tool_use_id"))] for item in block}
        gone = [item for item in block if not left[item.place]]

        def change() -> None:
            for item in block:
                if left[item.place]:
                    item.parts = left[item.place]
                    item.raw = item.text = "\n".join(map(show_part, item.parts))

        marker = body.get("marker") if gone else None
        return Notch(section, gone, change, marker=marker, is_below=body.get("marker_at") == "below", guard=self.selecting.guard)

    # contract 5.17
    def _trim(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        marker = render_text(body.get("marker", ""), section.names).rstrip("\r\n")
        marker = marker.lstrip("\r\n") if body.get("from") == "start" else marker
        open_ones = [item for item in section.alive if not item.kept and item.parts is None]
        ranked = self._classes(body, section, [[item] for item in open_ones if not item.made])
        for block in [*(block for one in ranked for block in one), *([item] for item in open_ones if item.made)]:
            yield from self._trim_item(body, section, block[0], marker)

    # contract 5.14
    def _trim_item(self, body: dict[str, Any], section: Sec, item: It, marker: str) -> Iterator[Notch]:
        selecting = self.selecting
        if item.gone or ("to" in body and selecting.fits(item.text, body["to"])):
            return
        side = body.get("from", "end")
        last = None
        cuts = Cuts(
            item.raw, boundaries=find_boundaries(body, "sentence"), side=side, marker=marker, guard=selecting.guard, meter=selecting.meter
        )
        for cut in cuts.iter():
            if item.gone or (item.cut is not None and cut.kept >= item.cut):
                continue
            notch = Notch(section, change=_cutter(item, cut.text, cut.kept))
            if "to" in body:
                last = notch
                if selecting.fits(cut.text, body["to"]):
                    break
            elif "floor" not in body or not self._is_under(cut.text, body["floor"]):
                yield notch
        if last is not None:
            yield last

    def _is_under(self, text: str, floor: Any) -> bool:
        least, unit = find_size(floor, self.total)
        layout = self.selecting.layout
        return (len(text) if unit == "chars" else layout.tokens(layout.units(text))) < least

    # contract 5.22
    def _shorten(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        forms = section.spec.get("items", {}).get("forms", [])
        open_ones = [item for item in section.alive if not item.kept and not item.made and item.cut is None]
        for ranked in self._classes(body, section, [[item] for item in open_ones]):
            for form in range(1, len(forms)):
                for (item,) in ranked:
                    if not item.gone and item.cut is None and item.form < form:
                        yield self._shorten_item(section, item, form)

    def _shorten_item(self, section: Sec, item: It, form: int) -> Notch:
        shown = self.selecting.render(section, It(**{**vars(item), "text": "", "raw": ""}), form)
        if shown is None:
            return Notch(section, [item], whole=True)

        def change() -> None:
            item.text, item.raw, item.form = shown.text, shown.raw, form

        return Notch(section, change=change, whole=True)

    # contract 5.23
    def _lower(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        units = _gather([item for item in section.alive if not item.made], lambda item: item.unit)
        levels = {id(item): self._see(section, unit[0], body["by"]) for unit in units for item in unit}
        kept = [item for unit in units for item in unit if any(one.kept for one in unit)]
        for level in sorted(set(levels.values()), reverse=True):
            going = [item for item in section.alive if levels.get(id(item)) == level and not any(item is one for one in kept)]
            if level > body.get("floor", 0) and going:
                yield Notch(section, going)

    # contract 5.24
    def _recap(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        touched = self._find_touchable(section)
        if "where" in body:
            touched = [unit for unit in touched if not unit[0].made and self._see(section, unit[0], body["where"])]
        share = int(len(touched) * Fraction(str(body.get("older", 1))))
        if share:
            yield self._make("recap", body, section, [item for unit in touched[:share] for item in unit])

    # contract 5.24
    def _replace(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        touched = [item for unit in self._find_touchable(section) for item in unit]
        if touched:
            yield self._make("replace", body, section, touched)

    # contract 5.24
    def _find_touchable(self, section: Sec) -> list[list[It]]:
        """Units without a kept item, oldest first."""
        units = _gather(section.alive, lambda item: (item.made, id(item) if item.made else item.unit))
        return _sort_by_age([unit for unit in units if not any(item.kept for item in unit)], section)

    # contract 5.24 and 5.25
    def _make(self, name: str, body: dict[str, Any], section: Sec, going: list[It]) -> Notch:
        told = {"items": [item.value for item in going], "text": "\n".join(item.raw for item in going)}
        raw = strip_lines(render_text(self.files[body["template"]], {**section.names, **told}))
        made = None
        if raw:
            oldest = going[0]
            text = self.selecting.guard.guard(raw)[0]
            made = It(oldest.place, oldest.number, name, None, raw, text, oldest.key, section.role, made=True, windowed=False)
        return Notch(section, going, made=made, whole=True)

    # contract 5.26
    def _drop(self, body: dict[str, Any], section: Sec) -> Iterator[Notch]:
        if section.alive and not any(item.kept for item in section.alive):
            yield Notch(section, section.alive)


# contract 8.40
def _sort_by_age(blocks: list[list[It]], section: Sec) -> list[list[It]]:
    """By the place of the first item in the source; what a recap made stands for the oldest. What stays in place is as old as it
    stands there. Of tools, and of a list without an order in time, the last goes first.
    """
    if section.is_frozen and not section.is_ageless:
        return sorted(blocks, key=lambda block: section.items.index(block[0]))
    if section.is_ageless:
        return sorted(blocks, key=lambda block: -section.items.index(block[0]))
    return sorted(blocks, key=lambda block: -1 if block[0].made else block[0].unit)


def _cutter(item: It, text: str, kept: int) -> Callable[[], None]:
    def change() -> None:
        item.text, item.cut = text, kept

    return change


def _gather(things: Sequence[Any], key: Callable[[Any], Any]) -> list[list[Any]]:
    """Things of equal key together, in the order of the first."""
    found: dict[Any, list[Any]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return list(found.values())
