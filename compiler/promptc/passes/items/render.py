"""Items: from what was read to rendered, guarded, cut text (language.md §4, §10)."""

from collections.abc import Mapping

from promptc.diag.findings import fail
from promptc.diag.typed import Any
from promptc.diag.value import join_names, show_value
from promptc.model.section import Items, MessageForm, Section, Size, TrimEach, has_each
from promptc.model.stages import Item
from promptc.passes.cut_text import Cut, Most, find_cut
from promptc.passes.guard_value import guard_parts
from promptc.passes.items.read import Read
from promptc.passes.scope import pay_text
from promptc.template.compile import Template
from promptc.template.runtime.run import find_run
from promptc.text.guard import Finding, Guard
from promptc.text.json import render_canonical_json
from promptc.text.meter import Meter
from promptc.text.white import WHITE, is_blank


def strip_lines(text: str) -> str:
    """The text without final line ends and without leading lines of white space; empty for white space only."""
    if is_blank(text):
        return ""
    stripped = text.rstrip("\r\n")
    if stripped[0] not in WHITE:
        return stripped
    start = len(stripped) - len(stripped.lstrip(WHITE))
    last_break = max(stripped.rfind("\n", 0, start), stripped.rfind("\r", 0, start))
    return stripped[last_break + 1 :]


def find_read(item: Item) -> Read:
    """An item as it was read; in the place of its own its unit's, which no expression sees."""
    return Read(item.unit, item.number, item.value, item.anchor, item.kept, item.windowed, item.element)


class ItemRenderer:
    """Renders the items of one section under one set of names."""

    def __init__(self, section: Section, items: Items, names: Mapping[str, Any], guard: Guard, meter: Meter, total: int) -> None:
        self._section = section
        self._items = items
        self._names = dict(names)
        self._guard = guard
        self._meter = meter
        self._total = total
        self._has_each = has_each(items.source)
        self.number: int | None = None
        self.left_out: dict[int, tuple[str, ...]] = {}
        """By place in `from`: the kinds of the parts that each item rendered so far has lost to `parts`."""

    def bind(self, read: Read, id: str = "") -> Mapping[str, Any]:
        """The names with `item` and `this` of one element."""
        self.number = read.number
        self._names["item"] = read.value
        if self._has_each:
            self._names["each"] = read.element
        self._names["this"] = {"id": id or str(read.number), "number": read.number, "anchor": read.anchor, "kept": read.kept}
        return self._names

    def render(self, read: Read, id: str, key: Any) -> Item | None:
        """The item, or None where it renders to white space only."""
        names = self.bind(read, id)
        self._names["group"] = key
        message = self._items.message
        if message is not None:
            return self._render_message(read, id, key, message)
        return self._finish(read, id, key, self._items.forms[0].render(names), "")

    def render_form(self, item: Item, form: int) -> Item | None:
        """The same item in another form."""
        return self._finish(find_read(item), item.id, item.key, self._items.forms[form].render(self.bind_item(item)), "")

    def bind_item(self, item: Item) -> Mapping[str, Any]:
        """The names of an item that was selected."""
        names = self.bind(find_read(item), item.id)
        self._names["group"] = item.key
        return names

    def _finish(self, read: Read, id: str, key: Any, rendered: str, role: str) -> Item | None:
        raw = strip_lines(rendered)
        pay_text(self._names, rendered, self._items.span, f"an item of `{self._section.id}`")
        if not raw:
            return None
        text, found = self._guard.guard(raw)
        if self._items.trim_each is not None:
            raw, text = self._trim(raw, text, self._items.trim_each)
        opened, closed, met = self._enclose()
        marks = (read.anchor, read.kept, read.windowed)
        found = (*found, *met)
        return Item(id, read.number, read.value, raw, text, *marks, key, read.place, role, None, opened, closed, found, read.element)

    def _enclose(self) -> tuple[str, str, tuple[Finding, ...]]:
        fence = self._items.fence
        if fence is None:
            return "", "", ()
        open, found = guard_fence(fence.open, render_fence(fence.open.render(self._names), self._section), self._guard)
        close, more = guard_fence(fence.close, render_fence(fence.close.render(self._names), self._section), self._guard)
        return open, close, (*found, *more)

    def _trim(self, raw: str, text: str, trim: TrimEach) -> tuple[str, str]:
        cut = self.find_trim(raw, text, trim)
        return (cut.raw, cut.text) if cut is not None else (raw, text)

    def find_trim(self, raw: str, text: str, trim: TrimEach) -> Cut | None:
        """The cut that `trim_each` makes of the text of the item that is bound; None where it needs none, or none can be made."""
        if fits_size(text, trim.to, self._meter, self._total):
            return None
        marker = trim.marker.render(self._names) if trim.marker is not None else ""
        most = Most(trim.to.unit, trim.to.tokens(self._total))
        return find_cut(raw, most, at=trim.at, side="end", marker=marker, guard=self._guard, meter=self._meter, pay=self._pay)

    def _pay(self, steps: int) -> None:
        find_run(self._names).pay(steps, self._items.span, f"the cut of an item of `{self._section.id}`")

    def _render_message(self, read: Read, id: str, key: Any, message: MessageForm) -> Item | None:
        role = message.role.evaluate(self._names)
        if role not in message.roles:
            text = f"item `{id}` of `{self._section.id}` has the role {show_value(role)}"
            raise fail("PC0514", text, message.role.span, help=f"allowed: {join_names(message.roles)}; filter others with `where`")
        content = message.content.evaluate(self._names)
        if isinstance(content, str):
            return self._finish(read, id, key, content, str(role))
        if not isinstance(content, list):
            what = f"the content of item `{id}` of `{self._section.id}` must be a text or a list of parts, not {show_value(content)}"
            raise fail("PC0515", what, message.content.span, help="write a text, or parts such as `[{type: text, text: Hello}]`")
        from promptc.passes.read_parts import read_parts

        parts = read_parts(content, message, f"item `{id}` of `{self._section.id}`")
        if parts.left_out:
            self.left_out[read.place] = parts.left_out
        rendered, found = guard_parts([part for _, part in parts.passing], self._guard)
        text = "\n".join(render_part(part) for part in rendered)
        pay_text(self._names, text, self._items.span, f"an item of `{self._section.id}`")
        if not text:
            return None
        marks = (read.anchor, read.kept, read.windowed)
        return Item(
            id, read.number, read.value, text, text, *marks, key, read.place, str(role), rendered, found=found, element=read.element
        )


def render_part(part: Mapping[str, Any]) -> str:
    """What is counted of a message part: a text part's text, another part's canonical JSON."""
    return str(part["text"]) if part.get("type") == "text" else render_canonical_json(part)


def fits_size(text: str, size: Size, meter: Meter, total: int) -> bool:
    """True when the text alone is not over `size`."""
    if size.unit == "chars":
        return len(text) <= size.tokens(total)
    return meter.tokens(meter.count(text)) <= size.tokens(total)


def guard_fence(fence: Template, line: str, guard: Guard) -> tuple[str, tuple[Finding, ...]]:
    """A fence as it was rendered, with its data guarded, and what was met there. One that reads nothing but its section holds none."""
    if all(path[0] == "section" for path in fence.reads):
        return line, ()
    return guard.guard_fence(line, *find_literals(fence))


def find_literals(fence: Template) -> tuple[str, str]:
    """The texts of the manifest that the fence begins and ends with, before its first tag and behind its last."""
    text = fence.text.strip()
    begins = [at for at in map(text.find, ("{{", "{%", "{#")) if at >= 0]
    if not begins:
        return text, ""
    return text[: min(begins)], text[max(map(text.rfind, ("}}", "%}", "#}"))) + 2 :]


def render_fence(rendered: str, section: Section) -> str:
    """A fence line: exactly one line of text that is not white space."""
    line = rendered.strip()
    if not line or len(line.splitlines()) != 1:
        span = section.fence.span if section.fence is not None else section.span
        what = f"a fence of `{section.id}` must be one line of text, not {show_value(line)}"
        raise fail("PC0516", what, span, help="write one line, with text of your own in it: `<notes>`")
    return line
