"""From an output and its report to a side of a comparison."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.compare.side import WHOLE, Gap, Side, SideItem, SideSection
from promptc.diag.typed import Any
from promptc.text.json import render_canonical_json

_FACTS = ("tokens", "budget", "characters", "strain", "pressure", "counter", "format")
Output = str | Sequence[Mapping[str, Any]]


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


def _make_whole(text: str) -> Side:
    return Side({}, (SideSection(WHOLE, "present", text),), text)


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


def _claim(holds: bool) -> None:
    if not holds:
        raise ValueError("the report is of another output")


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


def _show_head(message: Mapping[str, Any]) -> str:
    """The role, and whatever else the message has beside its content."""
    more = {key: value for key, value in message.items() if key not in ("role", "content")}
    return f"{message.get('role')}:{f' {render_canonical_json(more)}' if more else ''}\n"


def _show_content(message: Mapping[str, Any]) -> str:
    """As it is counted: the texts of parts, other parts as canonical JSON, each on lines of its own."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) if part.get("type") == "text" else render_canonical_json(part) for part in content)


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
