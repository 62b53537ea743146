"""Random states: texts and lists of elements for a pack to render."""

from random import Random
from typing import Any

from tests.property.drawing.media import draw_media
from tests.property.drawing.words import draw_text

TYPES = ("CHOICE", "NARRATIVE", "ACTION")
LISTS = ("first", "second", "third")


def draw_state(rng: Random, *, most_items: int = 8, most_words: int = 12, large: bool = True) -> dict[str, Any]:
    """Texts, three lists of elements with numbers that do not fall, chat turns, and switches. With `large` some pictures are."""
    odd = rng.choice((0.0, 0.1, 0.3, 0.6))
    lists = {name: draw_elements(rng, rng.randint(0, most_items), most_words, odd) for name in LISTS}
    if rng.random() < 0.2 and lists["first"]:
        lists["second"] = [dict(one) for one in lists["first"][: len(lists["second"])]]
    return {
        "on": rng.random() < 0.8,
        "depth": rng.randint(0, 6),
        "texts": {name: draw_text(rng, 2 * most_words, odd=odd) for name in ("a", "b", "c")},
        "turns": draw_turns(rng, rng.randint(0, most_items), odd, large=large),
        "tier": rng.choice((None, None, "calm", "tense", "dire")),
        "shown": draw_shown(rng, lists, most_items),
        **lists,
    }


def draw_shown(rng: Random, lists: dict[str, list[dict[str, Any]]], most_items: int) -> list[Any]:
    """What a turn before may have shown: ids, numbers and items of a report, some of which are in no list."""
    known: list[Any] = [one["id"] for elements in lists.values() for one in elements]
    known += [*range(most_items), "same#2", "gone"]
    shown = rng.sample(known, rng.randint(0, min(len(known), most_items)))
    return [{"id": one} if rng.random() < 0.2 else one for one in shown]


def draw_elements(rng: Random, count: int, most_words: int, odd: float) -> list[dict[str, Any]]:
    """Elements as authors have them; numbers rise by 0 to 3, ids now and then repeat, groups mix kinds of keys."""
    number, elements = rng.randint(0, 5), []
    for _ in range(count):
        number += rng.choice((0, 1, 1, 1, 2, 3))
        elements.append(
            {
                "id": rng.choice((f"i{number}", f"i{number}", "same", number)),
                "n": number,
                "type": rng.choice(TYPES),
                "text": draw_text(rng, most_words, odd=odd),
                "brief": draw_text(rng, 3, odd=odd),
                "name": draw_text(rng, 1, odd=0.1),
                "score": rng.choice((0, 1, 2, 3, 0.5, 2.5)),
                "level": rng.randint(0, 3),
                "ref": rng.choice(("x", "y", "z", 1, True, None)),
                "hinge": rng.random() < 0.2,
                "ok": rng.random() < 0.85,
            }
        )
    return elements


def draw_turns(rng: Random, count: int, odd: float, *, large: bool) -> list[dict[str, Any]]:
    """Chat turns, some with media; a tool's use and its result share an id."""
    turns: list[dict[str, Any]] = []
    for place in range(count):
        if rng.random() < 0.25:
            ids = [f"call{place}{letter}" for letter in "abc"[: rng.choice((1, 1, 2, 3))]]
            uses = [{"type": "tool_use", "id": id, "name": "look", "input": {"at": draw_text(rng, 2, odd=odd)}} for id in ids]
            told = [{"type": "tool_result", "tool_use_id": id, "content": draw_text(rng, 4, odd=odd)} for id in ids]
            turns.append({"role": "assistant", "content": [{"type": "text", "text": draw_text(rng, 4, odd=odd)}, *uses]})
            answers = [told] if rng.random() < 0.5 else [[one] for one in told]
            turns += [{"role": "user", "content": one} for one in answers]
        else:
            content: Any = draw_text(rng, 8, odd=odd)
            if rng.random() < 0.5:
                seen = [draw_media(rng, large=large) for _ in range(rng.choice((1, 1, 2)))]
                content = seen if rng.random() < 0.3 else [{"type": "text", "text": content}, *seen]
            turns.append({"role": rng.choice(("user", "assistant")), "content": content})
    return turns
