"""From an output and its report to a side of a comparison."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.compare.side import WHOLE, Side, SideItem, SideSection
from promptc.diag.typed import Any
from promptc.text.canonical import render_canonical_json

_FACTS = ("tokens", "budget", "characters", "strain", "pressure", "counter", "format")
Output = str | Sequence[Mapping[str, Any]]


def read_side(output: Output, report: Mapping[str, Any] | None) -> Side:
    """The side of a text or of messages. Without its report the whole is one section, of no name.

    A report and an output that do not belong together give a side all the same: ranges that lead nowhere give empty texts.
    """
    contents = [output.encode()] if isinstance(output, str) else [_show_content(message).encode() for message in output]
    text = output if isinstance(output, str) else "".join(f"{message.get('role')}:\n{_show_content(message)}\n" for message in output)
    if report is None:
        return Side({}, (SideSection(WHOLE, "present", text),), text)
    gone = _list_gone(report)
    sections = tuple(_read_section(one, contents, gone) for one in report.get("sections", ()))
    return Side(dict(_iter_facts(report)), sections, text)


def _show_content(message: Mapping[str, Any]) -> str:
    """As it is counted: the texts of parts, other parts as canonical JSON, each on lines of its own."""
    content = message.get("content", "")
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
            yield name, f"{value['name']} {value['digest'].removeprefix('sha256:')[:8]}"
        elif value is not None:
            yield name, f"{value:,}" if isinstance(value, int) else str(value)
    yield from ((axis, str(case)) for axis, case in sorted(report.get("variants", {}).items()))
    yield "warnings", " ".join(sorted({one["code"] for one in report.get("warnings", ())}))
    yield from ((f"flags.{name}", render_canonical_json(value)) for name, value in sorted(report.get("flags", {}).items()))


def _list_gone(report: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """By section and item what removed it; the last cut that touched it decides."""
    found: dict[str, dict[str, str]] = {}
    for cut in report.get("cuts", ()):
        for item in cut["items"]:
            found.setdefault(cut["section"], {})[item] = f"{cut['rule']}: {cut['why']} ({cut['at']})"
    return found


def _read_section(section: Mapping[str, Any], contents: Sequence[bytes], gone: Mapping[str, Mapping[str, str]]) -> SideSection:
    items = tuple(SideItem(one["id"], one["tokens"], _slice(contents, one["range"])) for one in section["items"])
    text = _slice(contents, section["range"])
    messages = {one["range"][0] for one in section["items"] if len(one["range"] or ()) == 3}
    if len(messages) > 1:  # its items are messages of their own
        text = "".join(f"{item.text}\n" for item in items)
    return SideSection(section["id"], section["state"], text, section["tokens"], items, gone.get(section["id"], {}))


def _slice(contents: Sequence[bytes], range: Sequence[int] | None) -> str:
    if not range:
        return ""
    message, start, stop = range if len(range) == 3 else (0, *range)
    return contents[message][start:stop].decode("utf-8", "replace") if message < len(contents) else ""
