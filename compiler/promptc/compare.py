"""Comparison of prompts: facts, sections, items and words that differ between two prompts, and the figures of many cases with two packs.

`read_side` reads a prompt with the report that describes it, `compare_sides` lists the differences. A `Matrix` has the figures of cases.
`read_report` and `read_json` read files that anybody may have written, and validate them by shapes that `has`, `is_list` and similar
functions build.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.media import list_media
from promptc.passes.items.render import render_part
from promptc.text.diff import TextRun, count_shared, diff_words
from promptc.text.json import is_whole, render_canonical_json, render_digest

Change = Literal["gained", "lost", "changed", "moved"]

_MOST = 1 << 53
"""Counts are exact in JSON up to this number; no real count comes near it."""

_DEEPEST = 100
"""The most levels of a value that is compared; deeper values are shown verbatim."""

Shape = Callable[[Any], bool]
_FACTS = ("tokens", "budget", "characters", "strain", "pressure", "counter", "format")
Output = str | Sequence[Mapping[str, Any]]

WHOLE = ""
"""The id of the single section of a prompt without a known report."""

BETWEEN = "between sections"
"""The id, in a difference, of the text that belongs to no section. No section can have this id: it contains a space."""

Gap = tuple[str, str, str]
"""A stretch that belongs to no section: the name of the part before it, the name of the part after it, and its text."""

_DIGEST = len("sha256:") + 12
"""The length of the prefix of a digest that is shown to distinguish pictures."""


@frozen
class FactChange:
    """A named fact that differs. A value is empty if that side does not have the fact."""

    name: str
    old: str
    new: str


@frozen
class ItemChange:
    """An item that was added, was removed, has another text, or has another place among the items of both sides.

    `why` names what removed the item, or is empty if that is unknown.
    """

    id: str
    change: Change
    old_tokens: int
    new_tokens: int
    why: str = ""


@frozen
class SectionChange:
    """A section that differs: its state and what it holds of the total on both sides, in tokens, its items, and all its words.

    A state or a number of tokens is None if that side does not have the section, or its report does not say.
    """

    id: str
    old_state: str | None
    new_state: str | None
    old_tokens: int | None
    new_tokens: int | None
    items: tuple[ItemChange, ...]
    runs: tuple[TextRun, ...]
    is_moved: bool = False


@frozen
class Difference:
    """The differences, in the order of the new side.

    `shared` is the length of the common beginning of both prompts, in characters, out of the old side's `length` (the new side's if it
    begins with the whole old side).
    """

    facts: tuple[FactChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()
    shared: int = 0
    length: int = 0
    unchanged: tuple[str, ...] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        """True if the prompts are equal."""
        return not self.facts and not self.sections and self.shared == self.length


@frozen
class SideItem:
    """An item: its text at its place in the prompt, and its tokens there."""

    id: str
    tokens: int
    text: str


@frozen(eq=False)
class SideSection:
    """A section that is in the prompt, or could be: its text with fences and header, empty if the section is not present.

    `tokens` are what it holds of the total, or None if there is no report. `gone` maps items to the cut that removed them.
    """

    id: str
    state: str
    text: str
    tokens: int | None = None
    items: tuple[SideItem, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)


@frozen(eq=False)
class Side:
    """A prompt: named facts in a fixed order, the sections in order, and the whole text as it is sent (messages with their roles).

    `gaps` are the stretches of the whole that belong to no section (separators, roles). Their neighbours are sections, or items that are
    messages of their own, and empty at both ends. Sections and gaps together make up the whole.
    """

    facts: Mapping[str, str]
    sections: tuple[SideSection, ...]
    text: str
    gaps: tuple[Gap, ...] = ()


_NONE = SideSection("", "", "")


def compare_sides(old: Side, new: Side) -> Difference:
    """Return the differences. Equal prompts with equal reports have none.

    Changes between sections (separators, roles) appear as a section of their own, `BETWEEN`. If one side has no report, both are compared
    as a whole. So are sides whose texts differ although no named part does.
    """
    if _is_whole(old) or _is_whole(new):
        old, new = _make_whole(old.text), _make_whole(new.text)
    sections = (*_iter_sections(old.sections, new.sections), *_compare_gaps(old.gaps, new.gaps))
    if old.text != new.text and not sections:
        sections = tuple(_iter_sections(_make_whole(old.text).sections, _make_whole(new.text).sections))
    names = sorted(set(old.facts) | set(new.facts), key=[*new.facts, *old.facts].index)
    facts = tuple(
        FactChange(name, old.facts.get(name, ""), new.facts.get(name, ""))
        for name in names
        if old.facts.get(name, "") != new.facts.get(name, "")
    )
    changed = {one.id for one in sections}
    unchanged = tuple(one.id for one in new.sections if one.id not in changed and one.state == "present")
    shared = count_shared(old.text, new.text)
    length = max(len(old.text), len(new.text) if new.text.startswith(old.text) else 0)
    return Difference(facts, sections, shared, length, unchanged)


def _is_whole(side: Side) -> bool:
    return [one.id for one in side.sections] == [WHOLE]


def _make_whole(text: str) -> Side:
    """Return the prompt as one section, as it is known without a report."""
    return Side({}, (SideSection(WHOLE, "present", text),), text)


def _iter_sections(old: Sequence[SideSection], new: Sequence[SideSection]) -> Iterator[SectionChange]:
    before = {one.id: one for one in old}
    after = {one.id: one for one in new}
    held = {one.id for one in old if one.text} & {one.id for one in new if one.text}
    moved = _list_moved([one.id for one in old if one.id in held], [one.id for one in new if one.id in held])
    for name in _order(list(before), list(after)):
        found = _compare(name, before.get(name), after.get(name), is_moved=name in moved)
        if found is not None:
            yield found


def _list_moved(old: Sequence[str], new: Sequence[str]) -> frozenset[str]:
    """Return the fewest ids that have to move to turn one order into the other.

    These are the ids outside a longest increasing subsequence, found by patience sorting.
    """
    places = {name: place for place, name in enumerate(old)}
    ends: list[int] = []
    before: dict[int, int] = {}
    for place in (places[name] for name in new):
        pile = bisect(ends, place)
        ends[pile : pile + 1] = [place]
        if pile:
            before[place] = ends[pile - 1]
    kept, place = set(), ends[-1] if ends else -1
    while place >= 0:
        kept.add(place)
        place = before.get(place, -1)
    return frozenset(name for name in new if places[name] not in kept)


def _order(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the new ids in their order, with each old id that is gone after the id that it followed."""
    order = list(new)
    for place, name in enumerate(old):
        if name not in new:
            order.insert(order.index(old[place - 1]) + 1 if place else 0, name)
    return order


def _compare(name: str, old: SideSection | None, new: SideSection | None, *, is_moved: bool) -> SectionChange | None:
    before, after = old or _NONE, new or _NONE
    if before.text == after.text and (before.state or "off") == (after.state or "off") and before.tokens == after.tokens and not is_moved:
        return None
    if before.text == after.text and (old is None or new is None):
        return None  # the section is declared on one side only, and appears on neither
    items = tuple(_iter_items(before.items, after.items, after.gone))
    return SectionChange(
        name,
        old.state if old is not None else None,
        new.state if new is not None else None,
        before.tokens,
        after.tokens,
        items,
        diff_words(before.text, after.text),
        is_moved,
    )


def _iter_items(old: Sequence[SideItem], new: Sequence[SideItem], gone: Mapping[str, str]) -> Iterator[ItemChange]:
    before, after = {one.id: one for one in old}, {one.id: one for one in new}
    moved = _list_moved([name for name in before if name in after], [name for name in after if name in before])
    for name in _order(list(before), list(after)):
        one, other = before.get(name), after.get(name)
        if one is None and other is not None:
            yield ItemChange(name, "gained", 0, other.tokens)
        elif one is not None and other is None:
            yield ItemChange(name, "lost", one.tokens, 0, gone.get(name, ""))
        elif one is not None and other is not None and one.text != other.text:
            yield ItemChange(name, "changed", one.tokens, other.tokens)
        elif one is not None and other is not None and name in moved:
            yield ItemChange(name, "moved", one.tokens, other.tokens)


def _compare_gaps(old: Sequence[Gap], new: Sequence[Gap]) -> Iterator[SectionChange]:
    """Yield the stretches between the same two parts that differ, and those between other parts whose text the other side does not have."""
    went, came = "".join(_iter_own(old, new)), "".join(_iter_own(new, old))
    if went != came:
        yield SectionChange(BETWEEN, "present", "present", None, None, (), diff_words(went, came))


def _iter_own(gaps: Sequence[Gap], others: Sequence[Gap]) -> Iterator[str]:
    known = {one[:2]: one[2] for one in others}
    told = set(known.values())
    for before, behind, text in gaps:
        if known.get((before, behind), text) != text:
            yield text
        elif (before, behind) not in known and text not in told:
            told.add(text)
            yield text


def read_side(output: Output, report: Mapping[str, Any] | None) -> Side:
    """Return the side of a text or of messages.

    Without a report that describes exactly this output, the whole is one section without a name. A report describes the output if its
    `characters` are those of the output, and its ranges are in order and end where each message ends. The golden of a report works, too,
    although it has no digests and no places.
    """
    shown = [output] if isinstance(output, str) else [_show_content(message) for message in output]
    heads = [""] if isinstance(output, str) else [_show_head(message) for message in output]
    end = "" if isinstance(output, str) else "\n"
    text = "".join(f"{head}{content}{end}" for head, content in zip(heads, shown, strict=True))
    try:
        return _read_parts(report, heads, shown, text) if report is not None else _make_whole(text)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return _make_whole(text)  # the report describes another output, or is not a report


def _show_content(message: Mapping[str, Any]) -> str:
    """Return the content as it is measured: its parts, each on lines of its own."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(map(_show_part, content))


def _show_part(part: Mapping[str, Any]) -> str:
    """Return a text, the line that represents a part without text, or any other part as canonical JSON."""
    if part.get("type") == "text":
        return str(part["text"])
    try:
        return render_part(part)
    except (LookupError, TypeError, ValueError):
        return render_canonical_json(part)  # a part of messages that promptc did not make


def _show_head(message: Mapping[str, Any]) -> str:
    """Return the role, all other keys of the message but its content, and digests of its media, whose lines do not distinguish them."""
    more = {key: value for key, value in message.items() if key not in ("role", "content")}
    content = message.get("content")
    media = [one.get("source") for part in content for one in list_media(part)] if isinstance(content, list) else []
    more |= {"media": [render_digest(render_canonical_json(one).encode())[:_DIGEST] for one in media]} if media else {}
    return f"{message.get('role')}:{f' {render_canonical_json(more)}' if more else ''}\n"


def _read_parts(report: Mapping[str, Any], heads: Sequence[str], shown: Sequence[str], text: str) -> Side:
    """Return the side as the report describes it. Raises `ValueError`, or another error for a report of another form, if it does not."""
    contents = [content.encode() for content in shown]
    places = sorted(_iter_places(report), key=lambda place: place[:3])
    _claim(report["characters"] == sum(map(len, shown)))
    for at, content in enumerate(contents):
        _claim(max((stop for message, _, stop, _ in places if message == at), default=0) == len(content))
    gone = _list_gone(report)
    sections = tuple(_read_section(one, contents, gone) for one in report["sections"])
    return Side(dict(_iter_facts(report)), sections, text, tuple(_iter_gaps(places, heads, contents, text.encode())))


def _iter_places(report: Mapping[str, Any]) -> Iterator[tuple[int, int, int, str]]:
    """Yield the message, start, end and name of every section in the output, or of its items if these are messages of their own."""
    for section in report["sections"]:
        if not section["range"]:
            continue
        is_several = len(_list_messages(section)) > 1
        for one in section["items"] if is_several else (section,):
            name = f"{section['id']} {one['id']}" if is_several else one["id"]
            yield (*_read_range(one["range"]), name)


def _list_messages(section: Mapping[str, Any]) -> set[int]:
    return {one["range"][0] for one in section["items"] if len(one["range"] or ()) == 3}


def _read_range(range: Sequence[int]) -> tuple[int, int, int]:
    message, start, stop = range if len(range) == 3 else (0, *range)
    return message, start, stop


def _claim(holds: bool) -> None:
    if not holds:
        raise ValueError("the report is of another output")


def _list_gone(report: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, by section and item, what removed the item and where that is declared. The last cut of an item decides."""
    found: dict[str, dict[str, str]] = {}
    for cut in report.get("cuts", ()):
        for item in cut["items"]:
            found.setdefault(cut["section"], {})[item] = f"{cut['rule']}: {cut['why']} ({cut.get('at', cut['step'])})"
    return found


def _read_section(section: Mapping[str, Any], contents: Sequence[bytes], gone: Mapping[str, Mapping[str, str]]) -> SideSection:
    items = tuple(SideItem(one["id"], one["tokens"], _slice(contents, one["range"])) for one in section["items"])
    text = _slice(contents, section["range"])
    if len(_list_messages(section)) > 1:  # the items are messages of their own
        text = "".join(f"{item.text}\n" for item in items)
    return SideSection(section["id"], section["state"], text, read_held(section), items, gone.get(section["id"], {}))


def read_held(section: Mapping[str, Any]) -> int:
    """Return what a section holds of the total, as views for people show it, from the section's part of a report."""
    held: int = section.get("held", section.get("charge", section["tokens"]))
    return held


def _slice(contents: Sequence[bytes], range: Sequence[int] | None) -> str:
    if not range:
        return ""
    message, start, stop = _read_range(range)
    _claim(0 <= message < len(contents) and 0 <= start <= stop <= len(contents[message]))
    return contents[message][start:stop].decode()


def _iter_facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _FACTS:
        value = report.get(name)
        if name == "pressure" and value is not None:
            spent, allowed = value["before"]
            yield name, f"{spent:,} of {allowed:,}" if allowed else "none"
        elif name == "counter" and value is not None:
            yield name, str(value["name"])
        elif value is not None:
            yield name, f"{value:,}" if isinstance(value, int) else str(value)
    yield from ((axis, str(case)) for axis, case in sorted(report.get("variants", {}).items()))
    yield "warnings", " ".join(sorted({one["code"] for one in report.get("warnings", ())}))
    yield from ((f"flags.{name}", render_canonical_json(value)) for name, value in sorted(report.get("flags", {}).items()))


def _iter_gaps(places: Sequence[tuple[int, int, int, str]], heads: Sequence[str], contents: Sequence[bytes], whole: bytes) -> Iterator[Gap]:
    """Yield the stretches between the places, from the first byte to the last."""
    starts: list[int] = []
    passed = 0
    for head, content in zip(heads, contents, strict=True):
        starts.append(passed + len(head.encode()))
        passed = starts[-1] + len(content) + (1 if head else 0)
    at, before = 0, ""
    for message, start, stop, name in places:
        _claim(at <= starts[message] + start <= starts[message] + stop)
        yield before, name, whole[at : starts[message] + start].decode()
        at, before = starts[message] + stop, name
    yield before, "", whole[at:].decode()


def read_report(content: bytes | None) -> dict[str, Any] | None:
    """Return the report in a file, or None if the parts that are read do not have the form of a report."""
    value = read_json(content)
    return value if is_report(value) else None


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages as promptc prints them: each with a content that is a text, parts, or missing."""
    return _ARE_MESSAGES(value)


def is_list(inner: Shape, least: int = 0, most: int = _MOST) -> Shape:
    """Return a shape: a list of `least` to `most` values of the shape `inner`."""
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(inner, value))


def has(wanted: Mapping[str, Shape], **maybe: Shape) -> Shape:
    """Return a shape: a mapping that has the keys of `wanted`, and may have those of `maybe`, with values of these shapes."""
    return lambda value: (
        isinstance(value, dict)
        and all(key in value and inner(value[key]) for key, inner in wanted.items())
        and all(key not in value or inner(value[key]) for key, inner in maybe.items())
    )


def or_none(inner: Shape) -> Shape:
    """Return a shape: a value of the shape `inner`, or null."""
    return lambda value: value is None or inner(value)


def is_text(value: Any) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, str)


_PART = has({}, text=is_text)
_CONTENT = or_none(
    lambda value: is_text(value) or is_list(lambda part: _PART(part) and ("text" in part or part.get("type") != "text"))(value)
)
_ARE_MESSAGES = is_list(has({}, content=_CONTENT))


def read_json(content: bytes | None) -> Any:
    """Return the value of a JSON text, or None if it cannot be read, is nested too deep, or contains invalid text or numbers."""
    try:
        value = json.loads(content) if content is not None else None
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # fails for half of a surrogate pair, NaN and infinity
    except (ValueError, RecursionError):
        return None
    kept: Any = value if _is_shallow(value, _DEEPEST) else None
    return kept


def _is_shallow(value: Any, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(_is_shallow(one, left - 1) for one in inner)


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number in the range of counts."""
    return is_whole(value, 0, _MOST - 1)


def is_mapping(inner: Shape) -> Shape:
    """Return a shape: a mapping to values of the shape `inner`."""
    return lambda value: isinstance(value, dict) and all(map(inner, value.values()))


is_pair = is_list(is_count, 2, 2)
_RANGE = or_none(is_list(is_count, 0, 3))
_ITEM = has({"id": is_text, "tokens": is_count}, range=_RANGE)
_SECTION = has({"id": is_text, "tokens": is_count, "state": is_text}, range=_RANGE, items=is_list(_ITEM), charge=is_count, held=is_count)
_CUT = has({"section": is_text, "items": is_list(is_text), "rule": is_text, "why": is_text})


def _is_any(_: Any) -> bool:
    return True


is_report: Shape = has(
    {"sections": is_list(_SECTION)},
    tokens=or_none(is_count),
    budget=or_none(is_count),
    characters=or_none(is_count),
    strain=or_none(is_text),
    format=or_none(is_text),
    pressure=or_none(has({"before": is_pair})),
    counter=or_none(has({"name": is_text})),
    variants=is_mapping(is_text),
    cuts=is_list(_CUT),
    warnings=is_list(has({"code": is_text})),
    flags=is_mapping(_is_any),
)


# --- many cases ---


@frozen
class Held:
    """The tokens of a section, and how many of its items were removed or shortened by steps."""

    tokens: int
    cut: int


@frozen
class CaseFigures:
    """The figures of one render: the tokens of the whole, the strain tier, and the sections by id.

    `refused` is the code of the error for which the render was refused; then nothing else is set.
    """

    tokens: int = 0
    strain: str | None = None
    sections: Mapping[str, Held] = field(default_factory=dict)
    refused: str = ""

    @property
    def cut(self) -> int:
        """The cut items of all sections."""
        return sum(one.cut for one in self.sections.values())

    def read(self, section: str) -> Held:
        """Return the figures of a section; zeros if the prompt does not have the section."""
        return self.sections.get(section, _NOTHING)


_NOTHING = Held(0, 0)


@frozen
class MatrixRow:
    """A case, or one turn of a session, and its figures on both sides.

    `turn` counts from 1, and is 0 for a case that is not a session. `old` is None if nothing is compared. Either side is None if its
    session ended before that turn.
    """

    case: str
    turn: int
    new: CaseFigures | None
    old: CaseFigures | None

    @property
    def name(self) -> str:
        """The name, as it is shown."""
        return f"{self.case} #{self.turn}" if self.turn else self.case


@frozen
class Matrix:
    """The rows, by name and turn.

    `against` names the other side of the comparison, and is empty without one. `left_out` counts the cases that render nothing, or need an
    extra that is not installed.
    """

    pack: str
    tried: tuple[str, ...]
    against: str
    sections: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int

    @property
    def has_tiers(self) -> bool:
        """True if any render has a strain tier."""
        return any(one is not None and one.strain is not None for row in self.rows for one in (row.new, row.old))

    @property
    def total(self) -> MatrixRow:
        """The sums over the rows that fit on every side."""
        fit = [row for row in self.rows if _fits(row.new) and (_fits(row.old) or not self.against)]
        old = _add([row.old for row in fit if row.old is not None]) if self.against else None
        return MatrixRow("total", 0, _add([row.new for row in fit if row.new is not None]), old)

    @property
    def differing(self) -> Matrix:
        """The matrix with only the rows and sections that differ."""
        rows = tuple(row for row in self.rows if row.new != row.old)
        names = tuple(name for name in self.sections if any(_read(row.new, name) != _read(row.old, name) for row in rows))
        return replace(self, rows=rows, sections=names)


def _fits(figures: CaseFigures | None) -> bool:
    return figures is not None and not figures.refused


def _add(figures: Sequence[CaseFigures]) -> CaseFigures:
    names = dict.fromkeys(name for one in figures for name in one.sections)
    held = {name: Held(sum(one.read(name).tokens for one in figures), sum(one.read(name).cut for one in figures)) for name in names}
    return CaseFigures(sum(one.tokens for one in figures), None, held)


def _read(figures: CaseFigures | None, section: str) -> Held | None:
    return figures.read(section) if figures is not None else None
