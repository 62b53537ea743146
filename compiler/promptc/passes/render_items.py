"""Items: from what was read to rendered, guarded, cut text (language.md §4, §10)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from promptc.diag.errors import fail
from promptc.model.budget import Size
from promptc.model.section import Items, MessageForm, Section, TrimEach
from promptc.model.stages import Item
from promptc.passes.cut_text import Cut, find_cut
from promptc.passes.read_items import Read
from promptc.text.canonical import render_canonical_json
from promptc.text.guard import Finding, Guard
from promptc.text.meter import Meter


def strip_lines(text: str) -> str:
    """The text without final line ends and without leading lines of white space; empty for white space only."""
    if not text or text.isspace():
        return ""
    stripped = text.rstrip("\r\n")
    if not stripped[0].isspace():
        return stripped
    start = len(stripped) - len(stripped.lstrip())
    last_break = max(stripped.rfind("\n", 0, start), stripped.rfind("\r", 0, start))
    return stripped[last_break + 1 :]


class ItemRenderer:
    """Renders the items of one section under one set of names."""

    def __init__(self, section: Section, items: Items, names: Mapping[str, Any], guard: Guard, meter: Meter, total: int) -> None:
        self._section = section
        self._items = items
        self._names = dict(names)
        self._guard = guard
        self._meter = meter
        self._total = total

    def bind(self, read: Read, id: str = "") -> Mapping[str, Any]:
        """The names with `item` and `this` of one element."""
        self._names["item"] = read.value
        self._names["this"] = {"id": id or str(read.number), "number": read.number, "anchor": read.anchor, "kept": read.kept}
        return self._names

    def render(self, read: Read, id: str, key: Any) -> Item | None:
        """The item, or None where it renders to white space only."""
        names = self.bind(read, id)
        self._names["group"] = key
        item = Item(
            id=id,
            number=read.number,
            value=read.value,
            raw="",
            text="",
            anchor=read.anchor,
            kept=read.kept,
            windowed=read.windowed,
            key=key,
            unit=read.place,
        )
        message = self._items.message
        if message is not None:
            return self._render_message(item, message, names)
        return self._finish(item, self._items.forms[0].render(names), names)

    def render_form(self, item: Item, form: int) -> Item | None:
        """The same item in another form."""
        read = Read(item.unit, item.number, item.value, item.anchor, item.kept, item.windowed)
        names = self.bind(read, item.id)
        self._names["group"] = item.key
        return self._finish(item, self._items.forms[form].render(names), names)

    def _finish(self, item: Item, rendered: str, names: Mapping[str, Any]) -> Item | None:
        raw = strip_lines(rendered)
        if not raw:
            return None
        text, found = self._guard.guard(raw)
        item = replace(item, raw=raw, text=text, found=found)
        if self._items.trim_each is not None:
            item = self._trim(item, self._items.trim_each, names)
        return self._enclose(item, names)

    def _enclose(self, item: Item, names: Mapping[str, Any]) -> Item:
        fence = self._items.fence
        if fence is None:
            return item
        return replace(
            item,
            open=render_fence(fence.open.render(names), self._section),
            close=render_fence(fence.close.render(names), self._section),
        )

    def _trim(self, item: Item, trim: TrimEach, names: Mapping[str, Any]) -> Item:
        if fits_size(item.text, trim.to, self._meter, self._total):
            return item
        marker = trim.marker.render(names) if trim.marker is not None else ""

        def fits(cut: Cut) -> bool:
            return fits_size(cut.text, trim.to, self._meter, self._total)

        cut = find_cut(item.raw, fits, at=trim.at, side="end", marker=marker, guard=self._guard, meter=self._meter)
        return replace(item, raw=cut.raw, text=cut.text) if cut is not None else item

    def _render_message(self, item: Item, message: MessageForm, names: Mapping[str, Any]) -> Item | None:
        role = message.role.evaluate(names)
        if role not in message.roles:
            text = f"item {item.id} of `{self._section.id}` has the role {role!r}"
            raise fail("PC0514", text, message.role.span, help=f"allowed: {', '.join(message.roles)}; filter others with `where`")
        content = message.content.evaluate(names)
        item = replace(item, role=str(role))
        if isinstance(content, str):
            return self._finish(item, content, names)
        if not isinstance(content, list):
            raise fail(
                "PC0515", f"the content of item {item.id} of `{self._section.id}` is neither text nor a list of parts", message.content.span
            )
        passing = [part for part in content if isinstance(part, dict) and part.get("type") in message.parts]
        guarded = [self._guard_part(part, message, item) for part in passing]
        parts = tuple(part for part, _ in guarded if render_part(part).strip())
        text = "\n".join(render_part(part) for part in parts)
        found = tuple(one for _, met in guarded for one in met)
        return replace(item, raw=text, text=text, content=parts, found=found) if text else None

    def _guard_part(self, part: Mapping[str, Any], message: MessageForm, item: Item) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
        field = "text" if part.get("type") == "text" else "content"
        if field == "text" and not isinstance(part.get("text"), str):
            raise fail("PC0515", f"a text part of item {item.id} of `{self._section.id}` has no text", message.content.span)
        if not isinstance(part.get(field), str):
            return part, ()
        text, found = self._guard.guard(part[field])
        return {**part, field: text}, found


def render_part(part: Mapping[str, Any]) -> str:
    """What is counted of a message part: a text part's text, another part's canonical JSON."""
    return str(part["text"]) if part.get("type") == "text" else render_canonical_json(part)


def fits_size(text: str, size: Size, meter: Meter, total: int) -> bool:
    """True when the text alone is not over `size`."""
    if size.unit == "chars":
        return len(text) <= size.tokens(total)
    return meter.tokens(meter.count(text)) <= size.tokens(total)


def render_fence(rendered: str, section: Section) -> str:
    """A fence line: exactly one line of text that is not white space."""
    line = rendered.strip()
    if not line or len(line.splitlines()) != 1:
        span = section.fence.span if section.fence is not None else section.span
        raise fail("PC0516", f"a fence of `{section.id}` is not one line of text: {line[:60]!r}", span, help="a fence is a single line")
    return line
