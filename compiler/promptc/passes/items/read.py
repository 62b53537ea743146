"""Reading a list (contract.md §4).

`ItemReader` goes through `from`, `visible`, `where`, `window`, `anchors` and `keep`, from the newest end and only as far as the section
looks, so the cost of a window depends on the window, not on the list. `read_parts` reads the content of a message that is a list of parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise

from promptc.diag.findings import fail, find_near, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.media import MEDIA_KINDS
from promptc.model.section import PART_KINDS, Freeze, Items, Matches, MessageForm, Window, read_part_kind, spell_key
from promptc.model.stages import Gathered
from promptc.passes.bind import evaluate_count, evaluate_key, type_key
from promptc.template.compile import Expression
from promptc.template.runtime.run import Run, read_run
from promptc.text.characters import compile_later, is_blank
from promptc.text.json import find_whole

_LOOK = 10
"""The steps charged for looking at one element."""

_BLANK = "blank text"
_ALIKE = 0.75
"""How alike two kinds of parts are, from 0 to 1, if one is the other misspelt."""

_LONGEST_KIND = 24

HIDDEN = "hidden"
"""The stage of elements that the pack's `visible` does not show, as reports count it."""

_SHOWN = "list the `id` of each item of this section in the report of the turn before, in order; before the first turn, write an empty list"

Shows = Callable[[Any], bool]

_HELD: Mapping[str, tuple[str, ...]] = {
    "image": ("source", "data"),
    "image_url": ("image_url",),
    "input_image": ("image_url", "file_id"),
    "document": ("source",),
    "file": ("file", "file_data", "file_id"),
    "input_file": ("file_data", "file_id", "file_url"),
    "audio": ("source", "data"),
    "input_audio": ("input_audio",),
    "video": ("source", "data"),
    "video_url": ("video_url",),
}
"""By type: a mapping in a tool's turn with one of these keys is a picture, a file or a sound, not plain data."""

_MIMES = ("mimeType", "mime_type", "media_type")
_BYTES = ("data", "blob", "bytes", "b64_json", "base64")
_NAMED = ("image", "audio", "video")
"""Keys that name the kind of a mapping with bytes under them."""

_SOURCES = (*_BYTES, "s3Location", "uri")
"""The keys of a `source` of a picture, a sound or a document in Amazon's Converse API."""

_MEDIA = ("image/", "audio/", "video/", "application/pdf", "application/octet-stream")
"""The beginnings of media types that mark bytes as media."""

_STARTS: Mapping[str, str] = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "_9j_": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp or audio/wav",
    "JVBERi0": "application/pdf",
    "SUQz": "audio/mpeg",
    "T2dnUw": "audio/ogg",
    "ZkxhQ": "audio/flac",
    "GkXfo": "video/webm",
    "UEsDB": "application/zip",
}
"""The beginnings of base64, and the media type of the encoded bytes."""

_ENCODED = compile_later(
    r"(?i:data:(?P<mime>(?:image|audio|video)/[\w.+-]{1,80}|application/(?:pdf|octet-stream))(?:;[\w.=+-]{1,80}){0,4};base64,)"
    rf"|(?<![\w+/])(?P<start>{'|'.join(map(re.escape, _STARTS))}|AAAA[A-Z]GZ0eX)(?:[\w+/=-]{{60}}|[\w+/=-]{{12,}}\s*\Z)"
)


@frozen(eq=False)
class Read:
    """One element that was read: its place in `from`, its number, the marks of the pipeline, and its element of `each`.

    `held` is the stage that would leave the element out, if it is there only because the turn before showed it.
    """

    place: int
    number: int
    value: Any
    anchor: bool = False
    kept: bool = False
    windowed: bool = True
    element: Any = None
    held: str = ""


@frozen(eq=False)
class Reading:
    """The elements that a section looks at, oldest first, and how many elements each stage left out.

    If no window bounds the list and it is read lazily, `older` yields the elements, newest first.
    """

    items: tuple[Read, ...]
    left_out: Mapping[str, int]
    older: Iterator[Read] | None = None


@frozen(eq=False)
class PassedParts:
    """The parts of a content that pass, each as given and as rendered, and the kinds of those that do not, one for each, in order."""

    passing: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    left_out: tuple[str, ...]


_Entry = tuple[object, Any, int, int]
"""The objects whose `id` is in the key, the result, and the steps and bytes that making it took."""


class ItemMemo:
    """Memoizes the results for the elements of one list from one render to the next: values of expressions, and rendered items.

    A memo is for one section, one guard, and one value of every name that is read for each element except the element's own. Elements are
    identified as objects. A result that is not used in a turn is dropped when the next turn begins.
    """

    __slots__ = ("_places", "_tables", "turn")

    def __init__(self) -> None:
        self.turn = 0
        self._tables: dict[Hashable, _MemoTable] = {}
        self._places: dict[int, bool] = {}

    def begin(self, turn: int) -> None:
        """Begin a turn if it is a new one; a render follows."""
        if self.turn != turn:
            self.turn = turn
            for table in self._tables.values():
                table.before, table.now = table.now, {}

    def load(self, name: Hashable) -> _MemoTable:
        """Return the table of an expression, by its `id`, or of a stage, by its name."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = _MemoTable()
        return table

    def sees_place(self, expression: Expression) -> bool:
        """Return whether an expression reads more about an element than its value."""
        found = self._places.get(id(expression))
        if found is None:
            found = self._places[id(expression)] = any(path[0] == "this" for path in expression.reads)
        return found


class _MemoTable:
    """The results of one expression or stage, of this turn and of the turn before."""

    __slots__ = ("before", "now")

    def __init__(self) -> None:
        self.now: dict[Hashable, _Entry] = {}
        self.before: dict[Hashable, _Entry] = {}

    def find(self, key: Hashable) -> _Entry | None:
        """Return the entry under a key, or None if there is none."""
        entry = self.now.get(key)
        if entry is None:
            entry = self.before.get(key)
            if entry is not None:
                self.now[key] = entry
        return entry

    def recall(self, key: Hashable, held: object, run: Run, make: Callable[..., Any], *given: Any) -> Any:
        """Return `make(*given)`, memoized. `held` are the objects whose `id` is in the key.

        A known result charges the run as much as making it did.
        """
        entry = self.find(key)
        if entry is not None:
            run.pay(entry[2], None, "an item that was rendered before", entry[3])
            return entry[1]
        left, memory = run.left, run.memory
        made = make(*given)
        self.now[key] = held, made, left - run.left, memory - run.memory
        return made

    def forget(self, key: Hashable) -> None:
        """Forget a result that was just made, because making it had a side effect."""
        self.now.pop(key, None)


class ItemReader:
    """Evaluates a section's item expressions over its source."""

    def __init__(
        self,
        items: Items,
        names: Mapping[str, Any],
        section: str,
        shows: Shows | None,
        gathered: Gathered | None = None,
        memo: ItemMemo | None = None,
    ) -> None:
        """Create a reader, and evaluate its source.

        `gathered` is the result of a source outside the state. `shows` decides which elements of the state the pack shows (None: all);
        nothing else of a hidden element is evaluated, not even its number. A source outside the state hides its own elements. `memo` knows
        the values of expressions in earlier renders.
        """
        self._items = items
        self._section = section
        self._names = dict(names)
        self._run = read_run(names)
        self._reading = f"reading `{section}`"
        self.number: int | None = None
        self._source = self._evaluate_source(items.source) if isinstance(items.source, Expression) else _list_values(gathered)
        self._elements = gathered.elements if gathered is not None else ()
        self._shows = shows if gathered is None else None
        self._size = len(self._source) - (gathered.held if gathered is not None else 0)
        self._memo = memo
        self._refused: dict[int, str] = {}

    @property
    def size(self) -> int:
        """The number of elements of the source, without those that it returned only because they were shown before."""
        return self._size

    @property
    def source(self) -> Sequence[Any]:
        """The whole list."""
        return self._source

    def list_refused(self, stage: str) -> list[int]:
        """Return the places of the elements that a stage, `hidden` or `where`, refused so far, in the list's order."""
        return sorted(place for place, by in self._refused.items() if by == stage)

    def read(self, *, lazily: bool) -> Reading:
        """Return the elements that window, anchors and `keep` reach, oldest first.

        With `lazily` and no window, `items` are only the kept elements, and `older` iterates over the list, newest first.
        """
        items = self._items
        kept = self._read_kept()
        if items.window is not None:
            read = self._read_window(items.window, kept)
        elif lazily:
            return Reading(tuple(kept.values()), {}, older=self._iter_unbounded(kept))
        else:
            passing = [kept.get(one.place, one) for one in self._iter_newest()]
            read = Reading(tuple(reversed(passing)), self.count_refused())
        self._check_numbers(read.items)
        return read

    def list_shown(self) -> list[Read]:
        """Return every element that the pack shows, oldest first, whatever the stages do with it: any of them may keep its place."""
        shown: list[Read] = []
        for place, value in enumerate(self._source):
            self._run.pay(_LOOK, self._items.span, self._reading)
            if self._shows is None or self._shows(value):
                shown.append(self._make(place, value))
        return shown

    def hold(self, reading: Reading, standing: Sequence[Read]) -> tuple[tuple[Read, ...], dict[str, int]]:
        """Return the elements of `standing`, each as it was read or else as held, and how many `reading` then leaves out by stage."""
        read = {one.place: one for one in reading.items}
        left_out = dict(reading.left_out)
        held: list[Read] = []
        for one in standing:
            if one.place in read:
                held.append(read[one.place])
                continue
            stage = "source" if one.place >= self._size else self._refused.get(one.place, "window")
            left_out[stage] = left_out.get(stage, 1) - 1
            held.append(replace(one, windowed=False, held=stage))
        return tuple(held), {stage: count for stage, count in left_out.items() if count}

    def _evaluate_source(self, expression: Expression) -> list[Any]:
        source = expression.evaluate(self._names)
        if source is None:
            return []
        if not isinstance(source, list | tuple):
            raise fail(
                "PC0509",
                f"`items.from` of `{self._section}` must be a list, not {show_value(source)}",
                expression.span,
                help="write an expression that returns a list, such as `state.log`",
            )
        return list(source) if isinstance(source, tuple) else source

    def _iter_newest(self) -> Iterator[Read]:
        """Yield the elements that are shown and pass `where`, newest first."""
        for place in range(self._size - 1, -1, -1):
            value = self._source[place]
            self._run.pay(_LOOK, self._items.span, self._reading)
            by = self._find_refusing(place, value)
            if by is None:
                yield self._make(place, value)
            else:
                self._refused[place] = by

    def _iter_unbounded(self, kept: Mapping[int, Read]) -> Iterator[Read]:
        last: Read | None = None
        for read in self._iter_newest():
            if last is not None and read.number > last.number:
                self._fail_numbers(read, last)
            last = read
            yield kept.get(read.place, read)

    def _find_refusing(self, place: int, value: Any) -> str | None:
        """Return the stage that refuses an element, or None if it passes."""
        self.number = place
        if self._shows is not None and not self._is_shown(self._shows, value):
            return HIDDEN
        where = self._items.where
        return None if where is None or self._evaluate(where, place, value) else "where"

    def _is_shown(self, shows: Shows, value: Any) -> bool:
        return shows(value) if self._memo is None else self._memo.load(HIDDEN).recall(id(value), value, self._run, shows, value)

    def _evaluate(self, expression: Expression, place: int, value: Any) -> Any:
        """Return the value of an expression for an element."""
        memo = self._memo
        if memo is None:
            return expression.evaluate(self._bind(place, value))
        element = self._elements[place] if self._elements else None
        key = (id(value), place, id(element)) if self._elements or memo.sees_place(expression) else id(value)
        return memo.load(id(expression)).recall(key, (value, element), self._run, lambda: expression.evaluate(self._bind(place, value)))

    def _open_known(self, expression: Expression) -> tuple[_MemoTable, ...]:
        """Return the memo tables by element `id` of `where` and an expression; none if a match depends on more than the element."""
        memo = self._memo
        tests = [one for one in (self._items.where, expression) if one is not None]
        if memo is None or self._shows is not None or self._elements or any(map(memo.sees_place, tests)):
            return ()
        return tuple(memo.load(id(one)) for one in tests)

    def _recall_match(self, known: tuple[_MemoTable, ...], key: int) -> bool | None:
        """Return whether an element passes every test of the tables, and pay for that; None if an earlier render does not say so."""
        steps, size, passes = _LOOK, 0, True
        for table in known:
            entry = table.find(key)
            if entry is None:
                return None
            steps, size, passes = steps + entry[2], size + entry[3], bool(entry[1])
            if not passes:
                break
        self._run.pay(steps, self._items.span, self._reading, size)
        return passes

    def _number(self, place: int, value: Any) -> int:
        number = self._items.number
        if number is None:
            return place
        given = self._evaluate(number, place, value)
        found = find_whole(given)
        if found is None:
            raise fail(
                "PC0510",
                f"the number of item {place} of `{self._section}` is {show_value(given)}, not a whole number",
                number.span,
                help="name a key with a whole number, or leave `number` out",
            )
        return found

    def _bind(self, place: int, value: Any) -> Mapping[str, Any]:
        self._names["item"] = value
        if self._elements:
            self._names["each"] = self._elements[place]
        self.number = place
        self._names["this"] = {"number": place, "anchor": False, "kept": False}
        return self._names

    def read_at(self, place: int) -> Read:
        """Return the element at a place, whether or not a stage reaches it. Raises `PromptcError` if its number cannot be evaluated."""
        return self._make(place, self._source[place])

    def _make(self, place: int, value: Any) -> Read:
        return Read(place, self._number(place, value), value, element=self._elements[place] if self._elements else None)

    def _read_kept(self) -> dict[int, Read]:
        """Return the kept elements by place: the newest `last` matches among the last `within` places."""
        kept: dict[int, Read] = {}
        for matches in self._items.keep:
            first = max(0, self._size - matches.within)
            places = range(self._size - 1, first - 1, -1)
            for place in self._iter_matches(matches, places):
                value = self._source[place]
                kept[place] = replace(self._make(place, value), kept=True, windowed=self._items.window is None)
        return dict(sorted(kept.items()))

    def _iter_matches(self, matches: Matches, places: range) -> Iterator[int]:
        limit = evaluate_count(matches.last, self._names, f"`last` in `{self._section}`") if matches.last is not None else len(places)
        known = self._open_known(matches.where)
        for place in places:
            if limit == 0:
                return
            value = self._source[place]
            passes = self._recall_match(known, id(value)) if known else None
            if passes is None:
                self._run.pay(_LOOK, self._items.span, self._reading)
                passes = self._find_refusing(place, value) is None and self._evaluate(matches.where, place, value)
            if passes:
                limit -= 1
                yield place

    def count_refused(self) -> dict[str, int]:
        """Return how many elements each stage refused so far."""
        stages = list(self._refused.values())
        return {stage: stages.count(stage) for stage in (HIDDEN, "where") if stage in stages}

    def count_refused_before(self, place: int) -> int:
        """Return how many of the refused elements are before `place`."""
        return sum(1 for refused in self._refused if refused < place)

    # --- the window ---

    def _read_window(self, window: Window, kept: Mapping[int, Read]) -> Reading:
        last = self._clamp(window)
        inside, edge = self._read_groups(window, last) if window.whole == "group" else self._read_newest(window, last)
        left_out = self.count_refused()
        anchors = self._list_anchors(edge)
        held = {one.place: replace(one, kept=True) if one.place in kept else one for one in inside}
        outside = {place: replace(self.read_at(place), anchor=True, windowed=False) for place in anchors}
        older = {place: replace(one, anchor=place in outside, windowed=False) for place, one in kept.items() if place not in held}
        items = {**outside, **older, **held}
        before = self._size if window.whole == "group" else edge
        beyond = before - sum(1 for place in (*items, *self._refused) if place < before)
        if beyond:
            left_out["window"] = beyond
        return Reading(tuple(items[place] for place in sorted(items)), left_out)

    def _clamp(self, window: Window) -> int:
        if isinstance(window.last, int):
            return window.last
        value = evaluate_count(window.last, self._names, f"`window.last` of `{self._section}`")
        value = max(value, window.least)
        return min(value, window.max) if window.max is not None else value

    def _read_newest(self, window: Window, last: int) -> tuple[list[Read], int]:
        """Return the elements from the lowest multiple of `step` from which at most `last` remain, and the place where they begin."""
        newest: list[Read] = []
        start: int | None = None
        edge = 0
        for read in self._iter_newest():
            if len(newest) == last:
                start = (read.number // window.step + 1) * window.step
                edge = read.place + 1
                break
            newest.append(read)
        newest.reverse()
        if start is None:
            return newest, edge
        inside = [read for read in newest if read.number >= start]
        return inside, inside[0].place if inside else self._size

    def _read_groups(self, window: Window, last: int) -> tuple[list[Read], int]:
        """Read the newest groups, each whole, as `_read_newest` reads elements; a group's number is its ordinal, by its first element."""
        group = self._items.group
        if group is None:
            raise fail(
                "PC0511",
                f"`window.whole: group` of `{self._section}` needs `items.group`",
                window.span,
                help="add a `group`, such as `group: {by: item.turn}`",
            )
        passing = list(reversed(list(self._iter_newest())))
        groups: dict[Any, list[Read]] = {}
        for read in passing:
            key = evaluate_key(group.by, self._bind(read.place, read.value), f"`group.by` of `{self._section}`")
            groups.setdefault(type_key(key), []).append(read)
        excess = max(0, len(groups) - last)
        first = -(-excess // window.step) * window.step
        inside = [read for members in list(groups.values())[first:] for read in members]
        inside.sort(key=lambda read: read.place)
        return inside, inside[0].place if inside else self._size

    def _list_anchors(self, edge: int) -> list[int]:
        anchors = self._items.anchors
        if anchors is None:
            return []
        return list(self._iter_matches(anchors, range(edge - 1, max(0, edge - anchors.within) - 1, -1)))

    def _check_numbers(self, items: tuple[Read, ...]) -> None:
        for older, newer in pairwise(items):
            if newer.number < older.number:
                self._fail_numbers(older, newer)

    def _fail_numbers(self, older: Read, newer: Read) -> None:
        message = (
            f"the numbers of `{self._section}` go down: {older.number} at place {older.place}, then {newer.number} at place {newer.place}"
        )
        span = self._items.number.span if self._items.number is not None else self._items.span
        raise fail("PC0512", message, span, help="sort the list in `from` with the oldest first, or leave `number` out")


def read_shown(freeze: Freeze, names: Mapping[str, Any], section: str) -> tuple[str, ...]:
    """Return the ids that the turn before showed, in order, each once. An item of a report stands for its id.

    Raises PC0538 for anything else.
    """
    given = freeze.shown.evaluate(names)
    if given is not None and not isinstance(given, list | tuple):
        raise fail(
            "PC0538", f"`freeze.shown` of `{section}` must be a list of ids, not {show_value(given)}", freeze.shown.span, help=_SHOWN
        )
    shown: dict[str, None] = {}
    for place, one in enumerate(given or ()):
        id = one.get("id") if isinstance(one, Mapping) else one
        if not isinstance(id, str | int | float | bool):
            what = f"element {place} of `freeze.shown` of `{section}` is {show_value(one)}, and names no item"
            raise fail("PC0538", what, freeze.shown.span, help=_SHOWN)
        shown[spell_key(id)] = None
    return tuple(shown)


def _list_values(gathered: Gathered | None) -> list[Any]:
    return list(gathered.values) if gathered is not None else []


def read_parts(content: Sequence[Any], message: MessageForm, item: str, pay: Callable[[int], None]) -> PassedParts:
    """Return the parts of a message's content that pass. `item` is its name in findings; `pay` is called with the steps of reading bytes.

    Raises PC0515 for what is not a part, PC0561 for a part of a kind that `parts` names but no request can contain, and PC0580 for a tool's
    use or result that contains a picture, a file or a sound: as JSON it would be very many tokens of base64.
    """
    passing: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    left_out: list[str] = []
    for place, given in enumerate(content, 1):
        name = f"part {place} of {item}"
        kind = _name_kind(given, name, message)
        if kind not in message.passing:
            left_out.append(kind)
        elif kind not in PART_KINDS:
            help = f"leave `{kind}` out of `parts`, and describe its content in words"
            raise fail("PC0561", f"{name} is of the kind `{kind}`, which a request cannot contain", message.span, help=help)
        elif kind == "text" and is_blank(given["text"]):
            left_out.append(_BLANK)
        elif kind in MEDIA_KINDS:
            from promptc.passes.items.media import read_media

            passing.append((given, read_media(given, kind, name, message.span, pay)))
        else:
            told = given.get("content") if kind == "tool_result" else None
            if isinstance(told, list | tuple) and any(map(_name_media, told)) and all(map(_is_shown, told)):
                passing.append((given, {**_write_part(given, kind), "content": _read_shown(told, name, message, pay)}))
                continue
            _refuse_media(given, kind, name, message)
            passing.append((given, _write_part(given, kind)))
    return PassedParts(tuple(passing), tuple(left_out))


def _name_media(value: Any) -> str:
    """Return the kind of a picture, a document or a sound in a list that a tool returned; empty for anything else."""
    given = value.get("type") if isinstance(value, Mapping) else None
    kind = read_part_kind(given) if isinstance(given, str) else ""
    return kind if kind in MEDIA_KINDS and next(_iter_held("", value), None) is not None else ""


def _is_shown(value: Any) -> bool:
    """Return whether the tool returned this as a text or as media, which a model sees as such."""
    is_text = isinstance(value, Mapping) and read_part_kind(str(value.get("type"))) == "text" and isinstance(value.get("text"), str)
    return is_text or bool(_name_media(value))


def _read_shown(content: Sequence[Any], name: str, message: MessageForm, pay: Callable[[int], None]) -> list[Mapping[str, Any]]:
    """Return the texts and media that a tool returned, read like the parts of a message.

    Raises PC0580 for a kind that `parts` does not name.
    """
    from promptc.passes.items.media import read_media

    shown: list[Mapping[str, Any]] = []
    for place, given in enumerate(content, 1):
        kind = _name_media(given)
        if not kind:
            shown.append({"type": "text", "text": given["text"]})
            continue
        if kind not in message.passing:
            what = f"{name}, a `tool_result`, contains a part of the kind `{kind}`, which `parts` does not list"
            help = f"add `{kind}` to `parts`, next to `tool_result`; or leave such items out with `where`"
            raise fail("PC0580", what, message.span, help=help)
        shown.append(read_media(given, kind, f"{kind} {place} of the result in {name}", message.span, pay))
    return shown


def _write_part(given: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return the part without keys of null, which schemas declare for other kinds of parts; `content` stays, even if it is null."""
    if given["type"] == kind and None not in given.values():
        return given
    return {key: kind if key == "type" else value for key, value in given.items() if value is not None or key == "content"}


def _name_kind(part: Any, name: str, message: MessageForm) -> str:
    """Return the kind of the part as `parts` names it. Raises PC0515 if it has no valid `type`, or is a text without text."""
    given = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(given, str):
        what = _describe(part)
        help = "write each part as a mapping, such as `{type: text, text: Hello}`, or the whole content as one string"
        raise fail("PC0515", f"{name} {what}", message.content.span, help=help)
    kind = read_part_kind(given)
    if kind == "text" and not isinstance(part.get("text"), str):
        raise fail(
            "PC0515", f"{name} is of the type `{given}` and has no text", message.content.span, help="write `{type: text, text: Hello}`"
        )
    return kind


def _describe(part: Any) -> str:
    if not isinstance(part, Mapping):
        return f"is {'the bare string ' if isinstance(part, str) and part else ''}{show_value(part)}, not a mapping with a `type`"
    return f"has a `type` that must be a string, not {show_value(part['type'])}" if "type" in part else "has no `type`"


def _refuse_media(part: Mapping[str, Any], kind: str, name: str, message: MessageForm) -> None:
    told = part.get("content") if kind == "tool_result" else part.get("input") if kind == "tool_use" else None
    held = next(_iter_media(told), None)
    if held is not None:
        help = "give what a tool shows as a list of texts and media: `content: [{type: image, source: …}]`; or describe it in words"
        if kind == "tool_use":
            help = "describe in words what it shows, leave the item out with `where`, or leave `tool_use` and `tool_result` out of `parts`"
        raise fail(
            "PC0580", f"{name}, a `{kind}`, contains a part of the kind `{held}`, which a request cannot contain", message.span, help=help
        )


def _iter_media(value: Any) -> Iterator[str]:
    """Yield the kinds of the pictures, files and sounds in a value, found by the shapes that services document and by how base64 begins."""
    pending = [("", value)]
    while pending:
        key, one = pending.pop()
        if isinstance(one, list | tuple):
            pending += [("", inner) for inner in reversed(one)]
        elif isinstance(one, Mapping):
            yield from _iter_held(key, one)
            pending += reversed(list(one.items()))
        elif isinstance(one, str) and _may_hold(one) and (found := _ENCODED.search(one)) is not None:
            start = found["start"] or ""
            yield found["mime"] or next((kind for begin, kind in _STARTS.items() if start.startswith(begin)), "video/mp4")


def _may_hold(text: str) -> bool:
    """Return False only if `_ENCODED` finds nothing: a cheap test, because the pattern takes a while to compile."""
    return "AAAA" in text or any(start in text for start in _STARTS) or ";base64," in text.lower()


def _iter_held(key: str, one: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kind of a mapping that is under `key` of another mapping.

    Examples are `{type: image, source: …}`, `{mimeType: image/png, data: …}` and `{image: {format: png, source: {bytes: …}}}`.
    """
    kind, mime = one.get("type"), next((one[name] for name in _MIMES if name in one), None)
    has_bytes = any(isinstance(one.get(name), str) for name in _BYTES)
    if isinstance(kind, str) and any(isinstance(one.get(name), str | Mapping) for name in _HELD.get(kind.lower(), ())):
        yield kind
    elif has_bytes and isinstance(mime, str) and mime.lower().startswith(_MEDIA):
        yield mime
    elif isinstance(one.get("b64_json"), str):
        yield "b64_json"
    elif (key.lower() in _NAMED and has_bytes) or (key.lower() in (*_NAMED, "document") and _is_source(one.get("source"))):
        yield key


def _is_source(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(value.get(name), str | Mapping) for name in _SOURCES)


def is_gone(left_out: Sequence[str]) -> bool:
    """Return whether an item without other parts was lost because of `parts`, and not because its texts are blank."""
    return any(kind != _BLANK for kind in left_out)


def find_meant(kind: str, message: MessageForm) -> str | None:
    """Return the kind that a misspelt one of a part means, if `parts` lets that kind pass; None for one of another service."""
    is_other = kind in PART_KINDS or kind.endswith(message.passing) or len(kind) > _LONGEST_KIND
    return None if is_other else find_near(kind.lower(), message.passing, cutoff=_ALIKE)


def list_kinds(kinds: Sequence[str]) -> str:
    """Return the kinds as text, each once, with its count if that is more than one: `image`, 3 `tool_use`."""
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"`{kind}`" if count == 1 else f"{count} `{kind}`" for kind, count in counts.items())
