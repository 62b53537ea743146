"""What differs between two prompts: facts, sections, items, words; and what the prompts of many cases come to, with one pack and another.

`read_side` reads a prompt with the report that describes it, `compare_sides` tells what differs. A `Matrix` has the figures of cases.
`read_report` and `read_json` read what
anybody may have written, by shapes that are put together of `has`, `is_list` and their like.
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
from promptc.text.json import render_canonical_json, render_digest

Change = Literal["gained", "lost", "changed", "moved"]

_MOST = 1 << 53
"""Counts are exact in JSON up to here; nothing that is counted comes near."""

_DEEPEST = 100
"""Levels of what is compared; deeper ones are shown as they stand."""

Shape = Callable[[Any], bool]
_FACTS = ("tokens", "budget", "characters", "strain", "pressure", "counter", "format")
Output = str | Sequence[Mapping[str, Any]]

WHOLE = ""
"""The id of the one section of a prompt whose report is not known."""

BETWEEN = "between sections"
"""Stands in a difference for the text that is no section's. No section is called so: it has a space."""

Gap = tuple[str, str, str]
"""A stretch that is no section's: the name of what it follows, of what follows it, and its text."""

_DIGEST = len("sha256:") + 12
"""How much of a digest tells two pictures apart."""


@frozen
class FactChange:
    """A named fact that differs; empty where a side has none."""

    name: str
    old: str
    new: str


@frozen
class ItemChange:
    """An item that came, went, reads otherwise or stands elsewhere among those that stayed. `why` names what removed it, where known."""

    id: str
    change: Change
    old_tokens: int
    new_tokens: int
    why: str = ""


@frozen
class SectionChange:
    """A section that differs: its state and tokens on both sides (None: no such section, or not told), its items, and all its words."""

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
    """What differs, in the order of the new side; `shared` characters of the old side's `length` are the beginning of both."""

    facts: tuple[FactChange, ...] = ()
    sections: tuple[SectionChange, ...] = ()
    shared: int = 0
    length: int = 0
    unchanged: tuple[str, ...] = field(default_factory=tuple)

    @property
    def is_empty(self) -> bool:
        """True when the prompts are the same."""
        return not self.facts and not self.sections and self.shared == self.length


@frozen
class SideItem:
    """An item: its text where it stands, and its tokens there."""

    id: str
    tokens: int
    text: str


@frozen(eq=False)
class SideSection:
    """A section that is in the prompt, or would be: its text with fences and header, empty where it is not present.

    `tokens` are None where no report tells them; `gone` names by item the cut that removed it.
    """

    id: str
    state: str
    text: str
    tokens: int | None = None
    items: tuple[SideItem, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)


@frozen(eq=False)
class Side:
    """A prompt: named facts of it in a fixed order, its sections in theirs, and the whole as it is sent (messages with their roles).

    `gaps` are the stretches of the whole that are no section's (separators, roles); what they follow is a section, or an item that is a
    message of its own, empty at both ends. With the sections they are the whole.
    """

    facts: Mapping[str, str]
    sections: tuple[SideSection, ...]
    text: str
    gaps: tuple[Gap, ...] = ()


_NONE = SideSection("", "", "")


def compare_sides(old: Side, new: Side) -> Difference:
    """The difference. Equal prompts with equal reports give an empty one. What changes between sections (separators, roles) is told as a
    section of its own, `BETWEEN`.

    Where one side has no report, both are compared as a whole; so they are where they differ in nothing that has a name.
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
    """The prompt without its parts, as one is known that has no report."""
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
    """The fewest of the same ids in two orders whose moving makes one of the other: those outside a longest rising run, found by patience
    sorting.
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
    """The new ones in their order, each old one that is gone behind the one it followed."""
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
        return None  # a section that is declared on one side only and shows on neither
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
    """The stretches between the same two parts that read otherwise, and those between others that the other side has nowhere."""
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
    """The side of a text or of messages. Without a report that describes exactly this output the whole is one section, of no name.

    A report describes it where its `characters` are those of the output, and its ranges stand in order and end where each message ends.
    The golden of a report will do, too, which has no digests and no places.
    """
    shown = [output] if isinstance(output, str) else [_show_content(message) for message in output]
    heads = [""] if isinstance(output, str) else [_show_head(message) for message in output]
    end = "" if isinstance(output, str) else "\n"
    text = "".join(f"{head}{content}{end}" for head, content in zip(heads, shown, strict=True))
    try:
        return _read_parts(report, heads, shown, text) if report is not None else _make_whole(text)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return _make_whole(text)  # it is the report of another output, or none


def _show_content(message: Mapping[str, Any]) -> str:
    """The content as it is measured: its parts, each on lines of its own."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(map(_show_part, content))


def _show_part(part: Mapping[str, Any]) -> str:
    """A text, the line that stands for what is none, any other part as canonical JSON."""
    if part.get("type") == "text":
        return str(part["text"])
    try:
        return render_part(part)
    except (LookupError, TypeError, ValueError):
        return render_canonical_json(part)  # of messages that promptc did not make


def _show_head(message: Mapping[str, Any]) -> str:
    """The role, whatever else the message has beside its content, and digests of its media, which their lines do not tell apart."""
    more = {key: value for key, value in message.items() if key not in ("role", "content")}
    content = message.get("content")
    media = [one.get("source") for part in content for one in list_media(part)] if isinstance(content, list) else []
    more |= {"media": [render_digest(render_canonical_json(one).encode())[:_DIGEST] for one in media]} if media else {}
    return f"{message.get('role')}:{f' {render_canonical_json(more)}' if more else ''}\n"


def _read_parts(report: Mapping[str, Any], heads: Sequence[str], shown: Sequence[str], text: str) -> Side:
    """Raises `ValueError`, or whatever a report of another form raises, where it does not describe the output."""
    contents = [content.encode() for content in shown]
    places = sorted(_iter_places(report), key=lambda place: place[:3])
    _claim(report["characters"] == sum(map(len, shown)))
    for at, content in enumerate(contents):
        _claim(max((stop for message, _, stop, _ in places if message == at), default=0) == len(content))
    gone = _list_gone(report)
    sections = tuple(_read_section(one, contents, gone) for one in report["sections"])
    return Side(dict(_iter_facts(report)), sections, text, tuple(_iter_gaps(places, heads, contents, text.encode())))


def _iter_places(report: Mapping[str, Any]) -> Iterator[tuple[int, int, int, str]]:
    """Message, from, to and name of every section in the output; of one whose items are messages of their own, of its items."""
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
    """By section and item what removed it, and where that stands; the last cut that touched it decides."""
    found: dict[str, dict[str, str]] = {}
    for cut in report.get("cuts", ()):
        for item in cut["items"]:
            found.setdefault(cut["section"], {})[item] = f"{cut['rule']}: {cut['why']} ({cut.get('at', cut['step'])})"
    return found


def _read_section(section: Mapping[str, Any], contents: Sequence[bytes], gone: Mapping[str, Mapping[str, str]]) -> SideSection:
    items = tuple(SideItem(one["id"], one["tokens"], _slice(contents, one["range"])) for one in section["items"])
    text = _slice(contents, section["range"])
    if len(_list_messages(section)) > 1:  # its items are messages of their own
        text = "".join(f"{item.text}\n" for item in items)
    return SideSection(section["id"], section["state"], text, section["tokens"], items, gone.get(section["id"], {}))


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
    """What stands between the places, from the first byte to the last."""
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
    """The report in a file; None for anything whose parts, as far as they are looked at, are not those of a report."""
    value = read_json(content)
    return value if is_report(value) else None


def is_messages(value: Any) -> bool:
    """Whether it is a list of messages, as promptc prints them: each with a content that is a text, or parts, or with none."""
    return _ARE_MESSAGES(value)


def is_list(inner: Shape, least: int = 0, most: int = _MOST) -> Shape:
    """Whether it is a list of such values, from `least` to `most` of them."""
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(inner, value))


def has(wanted: Mapping[str, Shape], **maybe: Shape) -> Shape:
    """Whether it is a mapping with these keys, and such values under them; those of `maybe` may be left out."""
    return lambda value: (
        isinstance(value, dict)
        and all(key in value and inner(value[key]) for key, inner in wanted.items())
        and all(key not in value or inner(value[key]) for key, inner in maybe.items())
    )


def or_none(inner: Shape) -> Shape:
    """Whether it is such a value, or null."""
    return lambda value: value is None or inner(value)


def is_text(value: Any) -> bool:
    """Whether it is a string."""
    return isinstance(value, str)


_PART = has({}, text=is_text)
_CONTENT = or_none(
    lambda value: is_text(value) or is_list(lambda part: _PART(part) and ("text" in part or part.get("type") != "text"))(value)
)
_ARE_MESSAGES = is_list(has({}, content=_CONTENT))


def read_json(content: bytes | None) -> Any:
    """The value of a JSON text; None where there is none that can be read, for its form, its depth or the text in it."""
    try:
        value = json.loads(content) if content is not None else None
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # half a character, or no number
    except (ValueError, RecursionError):
        return None
    kept: Any = value if _is_shallow(value, _DEEPEST) else None
    return kept


def _is_shallow(value: Any, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(_is_shallow(one, left - 1) for one in inner)


def is_count(value: Any) -> bool:
    """Whether it is a whole number that something may be counted to."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def is_mapping(inner: Shape) -> Shape:
    """Whether it is a mapping to such values."""
    return lambda value: isinstance(value, dict) and all(map(inner, value.values()))


is_pair = is_list(is_count, 2, 2)
_RANGE = or_none(is_list(is_count, 0, 3))
_ITEM = has({"id": is_text, "tokens": is_count}, range=_RANGE)
_SECTION = has({"id": is_text, "tokens": is_count, "state": is_text}, range=_RANGE, items=is_list(_ITEM))
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
    """What a section holds, in tokens, and how many of its items steps took or shortened."""

    tokens: int
    cut: int


@frozen
class CaseFigures:
    """What one render came to: the whole in tokens, the strain tier, and its sections by id. `refused` is the code of what it was refused
    for; then there is nothing else."""

    tokens: int = 0
    strain: str | None = None
    sections: Mapping[str, Held] = field(default_factory=dict)
    refused: str = ""

    @property
    def cut(self) -> int:
        """Of all sections."""
        return sum(one.cut for one in self.sections.values())

    def read(self, section: str) -> Held:
        """What a section holds: nothing where it is not there."""
        return self.sections.get(section, _NOTHING)


_NOTHING = Held(0, 0)


@frozen
class MatrixRow:
    """A case, or a turn of a session (from 1; 0 for a case that is none), and its figures on the two sides. `old` is None where nothing is
    compared, and either where a session ended before that turn."""

    case: str
    turn: int
    new: CaseFigures | None
    old: CaseFigures | None

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.case} #{self.turn}" if self.turn else self.case


@frozen
class Matrix:
    """The rows by name and turn. `against` says what is compared with; empty where nothing is. `left_out` counts cases that render nothing,
    or lack an extra."""

    pack: str
    tried: tuple[str, ...]
    against: str
    sections: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int

    @property
    def has_tiers(self) -> bool:
        """Whether a render has a strain tier."""
        return any(one is not None and one.strain is not None for row in self.rows for one in (row.new, row.old))

    @property
    def total(self) -> MatrixRow:
        """The sums of the rows that fit on each side that there is."""
        fit = [row for row in self.rows if _fits(row.new) and (_fits(row.old) or not self.against)]
        old = _add([row.old for row in fit if row.old is not None]) if self.against else None
        return MatrixRow("total", 0, _add([row.new for row in fit if row.new is not None]), old)

    @property
    def differing(self) -> Matrix:
        """The same with no more than the rows and the sections that differ."""
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
