"""Rendering what was read (contract.md §4, §10).

`ItemRenderer` makes items of elements, `Cuts` and `find_cut` shorten a text at a boundary, and `guard_fence` and `guard_parts` keep data
from being read as structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import fail, shorten, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.media import MEDIA_KINDS, CountedMedia, describe_media, is_media, list_media
from promptc.model.section import SYSTEM_ROLES, Fence, Items, MessageForm, Section, Size, ToolForms, TrimEach, has_each
from promptc.model.stages import Item
from promptc.passes.bind import pay_text, type_key
from promptc.passes.items.read import ItemMemo, Read, read_parts
from promptc.template.compile import Expression, Template
from promptc.template.runtime.run import price_count, read_run
from promptc.text.characters import WHITE, compile_later, is_blank
from promptc.text.counters.counter import Meter
from promptc.text.cutting import Boundary, CutReach, KeptText, PrefixMeter, count_kept, iter_near, list_boundaries
from promptc.text.guard import Finding, Guard, escape_invisible
from promptc.text.json import render_canonical_json

Side = Literal["end", "start", "middle"]
_OWN_LINE = ("paragraph", "line")
_NEAR = 400
_CUT = 600
"""The steps charged for one cut."""

_GLANCE = 4
"""How many cheap looks at a text cost as much as counting it."""

_SPEAKER = compile_later(r"[A-Za-z0-9_-]{1,64}")

_ITEMS = "items"
"""The name of a memo's table of the items that elements became."""

_identify = id
"""The builtin `id`, for use where `id` is the name of an item."""

Pay = Callable[[int], None]
CountMedia = Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any], str], CountedMedia]
"""Counts a part, given as in the state and as rendered, with the names in scope and the item's name in findings."""

SIGNED: Mapping[str, tuple[str, ...]] = {"thinking": ("signature", "thinking"), "redacted_thinking": ("data",)}
"""By kind of part: the keys that a provider signed. The first contains the signature; the part may be returned to that provider only."""


def strip_lines(text: str) -> str:
    """Return the text without final line ends and without leading blank lines; empty if it is only white space."""
    if is_blank(text):
        return ""
    stripped = text.rstrip("\r\n")
    if stripped[0] not in WHITE:
        return stripped
    start = len(stripped) - len(stripped.lstrip(WHITE))
    last_break = max(stripped.rfind("\n", 0, start), stripped.rfind("\r", 0, start))
    return stripped[last_break + 1 :]


def make_read(item: Item) -> Read:
    """Return an item as it was read. Its place is that of its unit; no expression sees it."""
    return Read(item.unit, item.number, item.value, item.anchor, item.kept, item.windowed, item.element, item.held)


class ItemRenderer:
    """Renders the items of one section under one set of names."""

    def __init__(
        self,
        section: Section,
        items: Items,
        names: Mapping[str, Any],
        guard: Guard,
        meter: Meter,
        total: int,
        count_media: CountMedia | None = None,
        memo: ItemMemo | None = None,
    ) -> None:
        """Create a renderer; `memo` knows the items of earlier renders.

        Without `count_media`, a part of a message that is not text counts only as the line that stands for it, as in text output.
        """
        self._section = section
        self._items = items
        self._names = dict(names)
        self._guard = guard
        self._meter = meter
        self._total = total
        self._count_media = count_media
        self._memo = memo
        self._what = f"an item of `{section.id}`"
        self._has_each = has_each(items.source)
        self.number: int | None = None
        self.left_out: dict[int, tuple[str, ...]] = {}
        """By place in `from`: the kinds of the parts that each item rendered so far lost to `parts`."""

    def bind(self, read: Read | Item, id: str = "") -> Mapping[str, Any]:
        """Return the names with `item` and `this` of one element, as it was read or selected."""
        self.number = read.number
        self._names["item"] = read.value
        if self._has_each:
            self._names["each"] = read.element
        self._names["this"] = {"id": id or str(read.number), "number": read.number, "anchor": read.anchor, "kept": read.kept}
        return self._names

    def render(self, read: Read, id: str, key: Any) -> Item | None:
        """Return the rendered item, or None if it renders to white space only."""
        memo = self._memo
        if memo is None:
            return self._render(read, id, key)
        marks = (read.anchor, read.kept, read.windowed, read.held)
        known = (_identify(read.value), _identify(read.element), read.place, read.number, *marks, id, type_key(key))
        table = memo.load(_ITEMS)
        item: Item | None = table.recall(known, (read.value, read.element), read_run(self._names), self._render, read, id, key)
        if read.place in self.left_out:
            table.forget(known)
        return item

    def _render(self, read: Read, id: str, key: Any) -> Item | None:
        names = self.bind(read, id)
        self._names["group"] = key
        message = self._items.message
        if message is not None:
            return self._render_message(read, id, key, message)
        if self._items.tool is not None:
            return self._render_tool(read, id, key, self._items.tool, 0)
        return self._finish(read, id, key, self._items.forms[0].render(names), "")

    def render_form(self, item: Item, form: int) -> Item | None:
        """Return the item in another form, or None if that form renders to white space only."""
        if self._items.tool is not None:
            return self._render_tool(make_read(item), item.id, item.key, self._items.tool, form)
        return self._finish(make_read(item), item.id, item.key, self._items.forms[form].render(self.bind_item(item)), "")

    def bind_item(self, item: Item) -> Mapping[str, Any]:
        """Return the names of an item that was selected."""
        names = self.bind(item, item.id)
        self._names["group"] = item.key
        return names

    def _finish(self, read: Read, id: str, key: Any, rendered: str, role: str) -> Item | None:
        raw = strip_lines(rendered)
        pay_text(self._names, rendered, self._items.span, self._what)
        if not raw:
            return None
        text, found = self._guard.guard(raw)
        if self._items.trim_each is not None:
            raw, text = self._trim(raw, text, self._items.trim_each)
        opened, closed, met = self._enclose(self._items.fence) if self._items.fence is not None else ("", "", ())
        marks = (read.anchor, read.kept, read.windowed)
        found = (*found, *met)
        return Item(
            id, read.number, read.value, raw, text, *marks, key, read.place, role, None, opened, closed, found, read.element, held=read.held
        )

    def _render_tool(self, read: Read, id: str, key: Any, forms: ToolForms, form: int) -> Item:
        """Return the item as a tool. Its text is what is counted: canonical JSON."""
        from promptc.model.tools import read_tool, shape_tool

        tool = read_tool(read.value, f"item `{id}` of `{self._section.id}`", forms.span)
        pay_text(self._names, tool.counted, self._items.span, self._what)
        (description, schema), found = guard_value([tool.description, tool.input_schema], self._guard)
        shaped = shape_tool(replace(tool, description=description, input_schema=schema), forms.names[form], forms.shown)
        text = shaped.counted
        marks = (read.anchor, read.kept, read.windowed)
        return Item(
            id, read.number, read.value, text, text, *marks, key, read.place, found=found, element=read.element, tool=shaped, held=read.held
        )

    def _enclose(self, fence: Fence) -> tuple[str, str, tuple[Finding, ...]]:
        open, found = guard_fence(fence.open, render_fence(fence.open.render(self._names), fence, self._section), self._guard)
        close, more = guard_fence(fence.close, render_fence(fence.close.render(self._names), fence, self._section), self._guard)
        return open, close, (*found, *more)

    def _trim(self, raw: str, text: str, trim: TrimEach) -> tuple[str, str]:
        cut = self.find_trim(raw, text, trim)
        return (cut.raw, cut.text) if cut is not None else (raw, text)

    def find_trim(self, raw: str, text: str, trim: TrimEach) -> Cut | None:
        """Return the cut that `trim_each` makes of the bound item's text, or None if it needs no cut or cannot be cut."""
        if fits_size(text, trim.to, self._meter, self._total):
            return None
        marker = trim.marker.render(self._names) if trim.marker is not None else ""
        most = Most(trim.to.unit, trim.to.tokens(self._total))
        return find_cut(
            raw, most, boundaries=list_boundaries(trim.at), side="end", marker=marker, guard=self._guard, meter=self._meter, pay=self._pay
        )

    def _pay(self, steps: int) -> None:
        read_run(self._names).pay(steps, self._items.span, f"the cut of an item of `{self._section.id}`")

    def _render_message(self, read: Read, id: str, key: Any, message: MessageForm) -> Item | None:
        role = message.role.evaluate(self._names)
        if not message.admits(role, self._names):
            text = f"item `{id}` of `{self._section.id}` has the role {show_value(role)}"
            written = message.role.text.strip()
            help = f"leave such items out with `where`, or add the role to `roles: [{', '.join(message.roles)}]`"
            if isinstance(role, str) and role not in ("user", "assistant", *SYSTEM_ROLES):
                such = f"'user' if {written} == '{shorten(role)}' else {written}"
                help = f'write `user` or `assistant` in its place, such as `role: "{such}"`'
            if role in SYSTEM_ROLES:
                text += ", which the state is not allowed to set"
                help = f"write it into the manifest, for items that you trust: `role: \"'{role}' if item.is_note else 'user'\"`"
            raise fail("PC0514", text, message.role.span, help=help)
        speaker = self._read_speaker(message.name, id) if message.name is not None else ""
        content = message.content.evaluate(self._names)
        if isinstance(content, str):
            item = self._finish(read, id, key, content, str(role))
            return replace(item, speaker=speaker) if item is not None and speaker else item
        if not isinstance(content, list):
            what = f"the content of item `{id}` of `{self._section.id}` must be a string or a list of parts, not {show_value(content)}"
            raise fail("PC0515", what, message.content.span, help="write a string, or parts such as `[{type: text, text: Hello}]`")
        name = f"item `{id}` of `{self._section.id}`"
        parts = read_parts(content, message, name, self._pay_media)
        if parts.left_out:
            self.left_out[read.place] = parts.left_out
        rendered, found = guard_parts([part for _, part in parts.passing], self._guard)
        text = "\n".join(render_part(part) for part in rendered)
        pay_text(self._names, text, self._items.span, self._what)
        if not text:
            return None
        marks = (read.anchor, read.kept, read.windowed)
        media, beyond = self._measure_media(parts.passing, rendered, text, name)
        return Item(
            id,
            read.number,
            read.value,
            text,
            text,
            *marks,
            key,
            read.place,
            str(role),
            rendered,
            found=found,
            element=read.element,
            media=media,
            beyond=beyond,
            speaker=speaker,
            held=read.held,
        )

    def _read_speaker(self, expression: Expression, id: str) -> str:
        """Return the name of who speaks; empty if there is none.

        Only names that services accept are allowed, which cannot contain a fence or a special token. Raises PC0534 for any other.
        """
        name = expression.evaluate(self._names)
        if name is None:
            return ""
        if not isinstance(name, str) or not _SPEAKER.fullmatch(name):
            what = f"item `{id}` of `{self._section.id}` has the name {show_value(name)}, which providers refuse"
            help = "use 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`, such as `item.by | replace(' ', '_')`, or `none` for no name"
            raise fail("PC0534", what, expression.span, help=help)
        return name

    def _measure_media(
        self, passing: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], rendered: Sequence[Mapping[str, Any]], text: str, name: str
    ) -> tuple[tuple[CountedMedia, ...], int]:
        """Return the counted media of a message, and how many units more than its `text` the message counts because of them."""
        count = self._count_media
        if count is None:
            return (), 0
        pairs = [pair for given, part in passing for pair in _pair_media(given, part)]
        media = tuple(count(*pair, self._names, f"{pair[1]['type']} {place} of {name}") for place, pair in enumerate(pairs, 1))
        return media, count_beyond(rendered, media, text, self._meter)

    def _pay_media(self, steps: int) -> None:
        read_run(self._names).pay(steps, self._items.span, f"reading the media of `{self._section.id}`")


def _pair_media(given: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the media of a part, each as given and as rendered."""
    if part["type"] in MEDIA_KINDS:
        yield given, part
    elif list_media(part):
        yield from (pair for pair in zip(given["content"], part["content"], strict=True) if is_media(pair[1]))


def render_part(part: Mapping[str, Any]) -> str:
    """Return the text that stands for a message part.

    It is the text of a text part, a descriptive line for media, and canonical JSON for any other part. In the JSON of a tool result, such a
    line replaces each of the media that the tool returned.
    """
    kind = part.get("type")
    if kind == "text" or kind in MEDIA_KINDS:
        return str(part["text"]) if kind == "text" else describe_media(part)
    return render_canonical_json(_change_media(part, lambda one: [{"type": "text", "text": describe_media(one)}]))


def _change_media(part: Mapping[str, Any], change: Callable[[Mapping[str, Any]], list[Any]]) -> Mapping[str, Any]:
    """Return a tool result with each of its media replaced by `change`; return any other part unchanged."""
    if not list_media(part):
        return part
    return {**part, "content": [other for one in part["content"] for other in (change(one) if is_media(one) else [one])]}


def count_beyond(parts: Sequence[Mapping[str, Any]], media: Sequence[CountedMedia], text: str, meter: Meter) -> int:
    """Return how many units more than its `text` a message counts because of its media."""
    if not any(one.by for one in media):
        return 0
    return sum(one.tokens for one in media) * meter.counter.unit + meter.count(join_counted(parts)) - meter.count(text)


def join_counted(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the part of a message's content that is counted as text."""
    return "\n".join(render_part(_change_media(part, lambda one: [])) for part in parts if part.get("type") not in MEDIA_KINDS)


def fits_size(text: str, size: Size, meter: Meter, total: int) -> bool:
    """Return whether the text alone is within `size`."""
    if size.unit == "chars":
        return len(text) <= size.tokens(total)
    return meter.fits(text, size.tokens(total) * meter.counter.unit)


def guard_fence(fence: Template, line: str, guard: Guard) -> tuple[str, tuple[Finding, ...]]:
    """Return a rendered fence with its data guarded, and what the guard found. A fence that reads only its section contains no data."""
    if all(path[0] == "section" for path in fence.reads):
        return line, ()
    return guard.guard_fence(line, *split_literals(fence))


def split_literals(fence: Template) -> tuple[str, str]:
    """Return the literal texts that a fence begins and ends with: those before its first tag and after its last."""
    text = fence.text.strip()
    begins = [at for at in map(text.find, ("{{", "{%", "{#")) if at >= 0]
    if not begins:
        return text, ""
    return text[: min(begins)], text[max(map(text.rfind, ("}}", "%}", "#}"))) + 2 :]


def render_fence(rendered: str, fence: Fence, section: Section) -> str:
    """Return a fence line without surrounding white space. Raises PC0516 unless it is exactly one line of text."""
    line = rendered.strip()
    if not line or len(line.splitlines()) != 1:
        what = f"a fence of `{section.id}` must be one line of text, not {show_value(line)}"
        raise fail("PC0516", what, fence.span, help="write one line, with text of your own in it: `<notes>`")
    return line


def _pay_nothing(steps: int) -> None:
    """Charge nothing, for callers that cut outside a render."""


@frozen
class Most:
    """The most that a cut may come to: `size` in characters (`chars`), tokens, or `units` of the counter."""

    unit: str
    size: int


class Original:
    """A text that is cut many times: everything that its cuts share, including the marker."""

    def __init__(self, raw: str, marker: str, guard: Guard, meter: Meter, pay: Pay) -> None:
        """Create an original; `pay` is called with the steps of all work that costs as much as counting the text, or more."""
        self.raw = raw
        self.marker = marker
        self.guard = guard
        self.meter = meter
        price = price_count(raw)
        pay(price // _GLANCE)
        self.is_plain = guard.leaves(raw)
        self.price = 0 if self.is_plain else price
        pay(self.price)
        self.prefix = PrefixMeter(meter, raw, lambda characters: pay(price * characters // len(raw)))

    def make_reach(self, limits: Sequence[Most], below: int | None) -> CutReach:
        """Return a reach that excludes cuts that keep `below` characters or more, or that certainly exceed every one of `limits`.

        The latter is certain whatever the guard changes.
        """
        size = len(self.raw)
        reaches = [self._reach_limit(limit) for limit in limits] or [_reach_all(self.raw)]
        head, tail = max(one.head for one in reaches), min(one.tail for one in reaches)
        if below is None:
            return CutReach(head, tail, lambda start, stop: all(one.is_over(start, stop) for one in reaches))
        return CutReach(
            min(head, below),
            max(tail, size - below),
            lambda start, stop: start + size - stop >= below or all(one.is_over(start, stop) for one in reaches),
        )

    def _reach_limit(self, limit: Most) -> CutReach:
        """Return the reach of one limit.

        In a text that needs no guard, the guard changes only characters near a cut, and nothing if all characters near it are inert.
        """
        if not self.is_plain:
            return _reach_all(self.raw)
        near, far = self._reach(limit, 0), self._reach(limit, _NEAR)
        return CutReach(
            near.head if self._is_inert(near.head - _NEAR, far.head) else far.head,
            near.tail if self._is_inert(far.tail, near.tail + _NEAR) else far.tail,
            far.is_over,
        )

    def _reach(self, limit: Most, slack: int) -> CutReach:
        """Return the reach of one limit if the guard changes at most `slack` characters on both sides of a cut."""
        if limit.unit != "chars":
            return self.prefix.make_reach(limit.size * (1 if limit.unit == "units" else self.meter.counter.unit), slack)
        size, most = len(self.raw), limit.size + 2 * slack
        return CutReach(most + 1, size - most - 1, lambda start, stop: start + size - stop > most)

    def _is_inert(self, first: int, last: int) -> bool:
        return self.guard.is_inert(self.raw[max(first, 0) : max(last, 0)]) and self.guard.is_inert(self.marker)


def _reach_all(text: str) -> CutReach:
    """Return a reach that excludes no cut."""
    return CutReach(len(text) + 1, -1, lambda start, stop: False)


class Cut:
    """The result of a cut: the text before `start` and from `stop` on, with the marker (`middle`) between."""

    __slots__ = ("_guarded", "_original", "_units", "boundary", "middle", "start", "stop")

    def __init__(self, original: Original, kept: KeptText) -> None:
        self._original = original
        self._units: dict[str, int] = {}
        raw = original.raw
        self.start = start = kept.start if kept.side == "middle" else 0 if kept.side == "start" else kept.stop
        self.stop = stop = kept.start if kept.side == "start" else kept.stop if kept.side == "middle" else len(raw)
        self.boundary = kept.boundary
        self.middle = _place_marker(original.marker, kept.boundary, raw[max(0, start - 1) : start], raw[stop : stop + 1])
        self._guarded: str | None = None if self._is_plain() else original.guard.guard(self.raw)[0]

    def _is_plain(self) -> bool:
        """Return whether the guard leaves the cut text unchanged.

        In a text that needs no guard, only the surroundings of the cut can need one.
        """
        if not self._original.is_plain:
            return False
        raw = self._original.raw
        about = raw[max(0, self.start - _NEAR) : self.start] + self.middle + raw[self.stop : self.stop + _NEAR]
        return self._original.guard.leaves(about)

    @property
    def kept(self) -> int:
        """The number of characters of the original that are kept."""
        return self.start + len(self._original.raw) - self.stop

    @property
    def raw(self) -> str:
        """The text with its marker, not guarded."""
        raw = self._original.raw
        return raw[: self.start] + self.middle + raw[self.stop :]

    @property
    def text(self) -> str:
        """The text with its marker, guarded."""
        return self.raw if self._guarded is None else self._guarded

    @property
    def chars(self) -> int:
        """The length of the guarded text, in characters."""
        return self.kept + len(self.middle) if self._guarded is None else len(self._guarded)

    def measure_size(self, unit: str) -> int:
        """Return the size of the text alone, in characters (`chars`) or tokens."""
        return self.chars if unit == "chars" else self._original.meter.tokens(self.measure(""))

    def measure(self, suffix: str) -> int:
        """Return the units of the text and what follows it."""
        if suffix not in self._units:
            original = self._original
            self._units[suffix] = (
                original.prefix.count_cut(self.start, self.stop, self.middle, suffix)
                if self._guarded is None
                else original.meter.count(self._guarded + suffix)
            )
        return self._units[suffix]


class Cuts:
    """Every proper cut of a text, nested, longest first; the shortest keeps the first unit of the last of the `boundaries`.

    `pay` is called with the steps of each cut before it is made.
    """

    def __init__(
        self, raw: str, *, boundaries: Sequence[Boundary], side: Side, marker: str, guard: Guard, meter: Meter, pay: Pay = _pay_nothing
    ) -> None:
        self._boundaries = boundaries
        self._side = side
        self._pay = pay
        self._original = Original(raw, marker, guard, meter, pay)

    def iter(self, limits: Sequence[Most] = (), below: int | None = None) -> Iterator[Cut]:
        """Yield the cuts, longest first.

        With `limits`, cuts that certainly exceed all of them are skipped, and with `below`, those that keep that many characters or more.
        The shortest cut is always yielded.
        """
        return self._iter(self._original.make_reach(limits, below))

    def find(self, most: Most, below: int | None = None) -> Cut | None:
        """Return the longest cut that is not over `most`, else the shortest one, or None if there is none."""
        cut = None
        for cut in self.iter((most,), below):
            if cut.measure_size(most.unit) <= most.size:
                break
        return cut

    def find_shortest(self) -> Cut | None:
        """Return the last cut, or None for a text that cannot be cut."""
        return next(self._iter(CutReach(0, len(self._original.raw), lambda start, stop: True)), None)

    def count(self, below: int | None, least: int) -> int:
        """Return how many cuts keep at least `least` characters, and fewer than `below`."""
        size, count = len(self._original.raw), 0
        for kept in self._iter_kept(self._original.make_reach((), below)):
            if count_kept(kept, size) < least:
                break
            count += 1
        return count

    def _iter(self, reach: CutReach) -> Iterator[Cut]:
        original = self._original
        price = _CUT + original.price
        for kept in self._iter_kept(reach):
            self._pay(price)
            yield Cut(original, kept)

    def _iter_kept(self, reach: CutReach) -> Iterator[KeptText]:
        return iter_near(self._original.raw, self._boundaries, side=self._side, meter=self._original.prefix, reach=reach)

    def open_safely(self, meter: Meter) -> bool:
        """Return whether every cut certainly meets the end of a plain line safely."""
        raw, marker = self._original.raw, self._original.marker
        if self._side != "start":
            return meter.is_safe("x\n", raw[:_NEAR])
        if marker:
            return not is_blank(marker) and meter.is_safe("x\n", marker)
        return meter.is_safe("x\n", "x") and ("/" not in raw or meter.is_safe("x\n", "/"))


def find_cut(
    raw: str, most: Most, *, boundaries: Sequence[Boundary], side: Side, marker: str, guard: Guard, meter: Meter, pay: Pay = _pay_nothing
) -> Cut | None:
    """Return the longest cut that is not over `most`, else the shortest one, or None if `raw` cannot be cut."""
    return Cuts(raw, boundaries=boundaries, side=side, marker=marker, guard=guard, meter=meter, pay=pay).find(most)


def _place_marker(marker: str, boundary: str, before: str, after: str) -> str:
    """Return the marker with its gaps: its own line at a line or paragraph, a space at a sentence or word, nothing inside a word."""
    gap = "\n" if boundary in _OWN_LINE else "" if boundary == "token" else " "
    if not marker:
        return gap if before and not is_blank(after) else ""
    lead = gap if before and marker[0] not in WHITE else ""
    follow = gap if marker[-1] not in WHITE and not is_blank(after) else ""
    return lead + marker + follow


def guard_parts(parts: Sequence[Mapping[str, Any]], guard: Guard) -> tuple[tuple[Mapping[str, Any], ...], tuple[Finding, ...]]:
    """Return the parts of one message, guarded separately and as they are joined, and what the guard found.

    Services concatenate the texts of a list, and those of the next message of the same role; some of them remove or move what is between.
    """
    guarded = [_guard_part(part, guard) for part in parts]
    return tuple(part for part, _ in guarded), tuple(one for _, met in guarded for one in met)


def _guard_part(part: Mapping[str, Any], guard: Guard) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
    """Guard one part. The only text of media that a model reads is a title: bytes and URLs stay as they were checked."""
    if part.get("type") not in MEDIA_KINDS:
        guarded, found = guard_value(_change_media(part, lambda one: [None]), guard, is_joined=guard.guards_ends)
        if not list_media(part):
            return guarded, found
        shown = [
            _guard_part(one, guard) if is_media(one) else (other, ())
            for one, other in zip(part["content"], guarded["content"], strict=True)
        ]
        return {**guarded, "content": [one for one, _ in shown]}, (*found, *(met for _, more in shown for met in more))
    title, found = guard_value(part.get("title"), guard)
    return ({**part, "title": title} if title is not None else part), found


def guard_value(value: Any, guard: Guard, *, is_joined: bool = False) -> tuple[Any, tuple[Finding, ...]]:
    """Return the value with its texts guarded, including the keys of mappings, and what the guard found. Equal texts stay equal.

    In messages, the signed keys of a part are left unchanged: findings in them are reported as kept, or as refused. With `is_joined`, the
    end of a part's text is guarded too. So are, in messages, the ends of texts that a tool returned as a list of parts, but no other ends.
    """
    found: list[Finding] = []
    signed = _list_signed(value) if guard.in_messages else {}
    if not signed:
        return _guard(value, guard, found, is_joined), tuple(found)
    guarded = _guard({key: one for key, one in value.items() if key not in signed}, guard, found)
    met: list[Finding] = []
    _guard(list(signed.values()), guard, met)
    kept = (replace(one, policy="keep") if one.policy != "reject" else one for one in met)
    return {**guarded, **signed}, (*found, *kept)


def iter_joined(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the texts that services may read as one: the joined texts of the parts, and those of each list of parts from a tool."""
    yield "".join(part["text"] for part in parts if part.get("type") == "text")
    for part in parts:
        content = part.get("content")
        if part.get("type") == "tool_result" and isinstance(content, list | tuple):
            texts = (one.get("text") for one in content if isinstance(one, Mapping) and one.get("type") == "text")
            yield "".join(text for text in texts if isinstance(text, str))


def _list_signed(value: Any) -> dict[str, str]:
    keys = SIGNED.get(str(value.get("type")), ()) if isinstance(value, Mapping) else ()
    found = {key: value[key] for key in keys if isinstance(value.get(key), str)}
    return found if keys and found.get(keys[0]) else {}


def _guard(value: Any, guard: Guard, found: list[Finding], is_joined: bool = False) -> Any:
    if isinstance(value, str):
        text, met = guard.guard(value, goes_on=is_joined)
        found.extend(met)
        return text
    if isinstance(value, Mapping):
        joined = "text" if is_joined and value.get("type") == "text" else None
        names = [_guard(key, guard, found) for key in value]
        if len({*names}) < len(names):  # some keys differed only in hidden text
            names = [_guard(escape_invisible(key), guard, found) for key in value]
        values = [_guard(one, guard, found, key == joined) for key, one in value.items()]
        return dict(zip(names, values, strict=True))
    if isinstance(value, list | tuple):
        is_several = guard.in_messages and len(value) > 1
        return [_guard(one, guard, found, is_several and isinstance(one, Mapping)) for one in value]
    return value
