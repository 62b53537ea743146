"""Where a report says a section or an item stands, there is its text: in order, nested, and nothing twice."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from promptc.passes.items.render import render_part
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_any
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally
from tests.property.test_exact import iter_totals


# contract 13.9 and 13.10
def test_the_slices_of_the_output_are_the_sections_and_items(proof: Proof) -> None:
    tally = proof.hold("ranges", judge_ranges, draw_any, 1200)
    assert tally["items"] and tally["pointers"] and tally["items in messages"]


def judge_ranges(loaded: Loaded, tally: Tally) -> str | None:
    for format in ("text", "messages"):
        for total in iter_totals(loaded):
            outcome = loaded.compile(total, format=format)
            if outcome.emitted is None:
                continue
            tally["renders"] += 1
            wrong = next(chain(_iter_wrong(outcome, tally), _iter_wrong_origins(loaded, outcome, tally)), None)
            if wrong is not None:
                return f"at {total}, as {format}: {wrong}"
    return None


def _iter_wrong(outcome: Outcome, tally: Tally) -> Iterator[str]:
    contents = _list_contents(outcome)
    ends = [0] * len(contents)
    for section in _sort(outcome.report["sections"]):
        stands = section["state"] == "present" and section["id"] != "tools"  # tools stand in no message
        if (section["range"] is not None) != stands:
            yield f"{section['id']} is {section['state']} and stands at {section['range']}"
        if section["range"] is None:
            continue
        index, start, stop = _read(section["range"])
        if not ends[index] <= start < stop <= len(contents[index]):
            yield f"{section['id']} has the range {section['range']}, behind {ends[index]} of {len(contents[index])}"
        if contents[index][start:stop] != _list_texts(outcome, section["id"])[index]:
            yield f"{section['id']} is not what stands at {section['range']}"
        yield from _iter_wrong_items(outcome, section, contents, tally)
        ends[index] = stop


def _iter_wrong_items(outcome: Outcome, section: dict[str, Any], contents: list[bytes], tally: Tally) -> Iterator[str]:
    fit = outcome.fitted.sections[section["id"]]
    first, start, stop = _read(section["range"])
    place = (first, start)
    for item, entry in zip(section["items"], fit.alive, strict=True):
        index, begin, end = _read(item["range"])
        tally["items in messages" if index else "items"] += 1
        if (index, begin) < place or end < begin or (index == first and end > stop):
            yield f"{section['id']}/{item['id']} has the range {item['range']}, behind {place} and within {stop}"
        if contents[index][begin:end] != entry.body.encode() or item["chars"] != len(entry.text):
            yield f"{section['id']}/{item['id']} is not what stands at {item['range']}"
        place = (index, end)


def _iter_wrong_origins(loaded: Loaded, outcome: Outcome, tally: Tally) -> Iterator[str]:
    """A pointer leads to the item's value; one is missing only where a step or an expression made it, or the state has none."""
    for section in outcome.report["sections"]:
        fit = outcome.fitted.sections.get(section["id"])
        for item, entry in zip(section["items"], fit.alive if fit is not None else (), strict=True):
            is_part = outcome.fitted.sections[section["id"]].section.items is not None and not entry.is_made
            value = entry.item.value
            if item["pointer"] is None:
                if is_part and isinstance(value, dict) and not _is_listed(loaded, section["id"]):
                    yield f"{section['id']}/{item['id']} has no pointer"
                continue
            tally["pointers"] += 1
            if not is_part or _follow(loaded.state.value, item["pointer"]) != value:
                yield f"{section['id']}/{item['id']} is not what stands at {item['pointer']}"


def _is_listed(loaded: Loaded, section: str) -> bool:
    """Whether the items are tools of files."""
    tools = loaded.drawn.manifest.get("tools")
    return section == "tools" and isinstance(tools, dict) and isinstance(tools["from"], list)


def _follow(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
    return value


def _list_contents(outcome: Outcome) -> list[bytes]:
    assert outcome.emitted is not None
    if outcome.report["format"] == "text":
        return [outcome.emitted.text.encode()]
    contents = [message["content"] for message in outcome.emitted.messages]
    return [(content if isinstance(content, str) else "\n".join(map(render_part, content))).encode() for content in contents]


def _list_texts(outcome: Outcome, section: str) -> dict[int, bytes]:
    """What the section added, by message."""
    assert outcome.emitted is not None
    texts: dict[int, bytes] = {}
    for part in outcome.emitted.parts:
        if part.section == section and part.owner != "separator":
            texts[part.message] = texts.get(part.message, b"") + part.text.encode()
    return texts


def _sort(sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In the order of the output, which in a list of messages is that of the messages."""
    return sorted(sections, key=lambda section: _read(section["range"])[:1] if section["range"] is not None else (-1,))


def _read(place: list[int]) -> tuple[int, int, int]:
    *message, start, stop = place
    return (message[0] if message else 0), start, stop
