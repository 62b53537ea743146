"""The table of media: equal to what the providers publish, complete, and total over sizes."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.frontend.sections import load_media_table
from promptc.model.media import DETAILS, MediaRule, MediaSize, UncountableError
from tests.contract.sources import ROOT
from tests.property.oracle.media import COUNTED, count_media

FILE = ROOT / "compiler" / "promptc" / "frontend" / "media.toml"
READ = tomllib.loads(FILE.read_text(encoding="utf-8"))
TABLE = load_media_table()
EXAMPLES = [(rule, example) for rule, given in zip(TABLE.rules, READ["rule"], strict=True) for example in given.get("example", ())]


def _measure(example: dict[str, Any]) -> tuple[str, MediaSize]:
    kind = next(kind for kind in ("image", "document", "audio") if kind in example)
    sizes = {
        "image": lambda: MediaSize(*example["image"]),
        "document": lambda: MediaSize(pages=example["document"]),
        "audio": lambda: MediaSize(millis=1000 * example["audio"]),
    }
    return kind, sizes[kind]()


# contract 4.43
@pytest.mark.parametrize(
    ("rule", "example"), EXAMPLES, ids=lambda one: one.models[0] if isinstance(one, MediaRule) else str(list(one.values())[:2])
)
def test_counts_are_those_that_providers_publish(rule: MediaRule, example: dict[str, Any]) -> None:
    assert rule.count(*_measure(example), example.get("detail")) == example["tokens"], example["source"]


def test_the_table_has_a_day_and_every_rule_and_example_a_source() -> None:
    assert TABLE.as_of == READ["as_of"] == "2026-11-24"
    assert all("https://" in rule.source for rule in TABLE.rules)
    assert all(example["source"] for _, example in EXAMPLES) and len(EXAMPLES) >= 20


def test_a_name_belongs_to_one_rule() -> None:
    names = list(TABLE.iter_models())
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-5.6-sol", "gpt-5.6"),
        ("gpt-5-2025-08-07", "gpt-5.1"),
        ("gpt-5.9", None),
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-5-mini", "gpt-5-mini"),
        ("gpt-4.1-nano-2025-04-14", "gpt-4.1-nano"),
        ("claude-opus-5-5", "claude-opus-4-7"),
        ("claude-opus-4-6", "claude-3"),
        ("claude-opus-4-7@20260416", "claude-opus-4-7"),
        ("claude-haiku-6", None),
        ("gemini-2.5-flash", "gemini-2.0"),
        ("gemini-3-pro-preview", "gemini-3"),
        ("gemini-30", None),
        ("llama3.3", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_the_longest_beginning_of_its_name(model: str, rule: str | None) -> None:
    found = TABLE.find(model)
    assert (found.models[0] if found is not None else None) == rule


_SIDES = st.integers(1, 9000) | st.integers(1, 2**31 - 1)


# contract 4.43
@given(st.sampled_from(TABLE.rules), _SIDES, _SIDES, st.sampled_from(DETAILS) | st.none())
def test_every_size_is_counted_or_refused_whichever_way_it_lies(rule: MediaRule, width: int, height: int, detail: str | None) -> None:
    counts = []
    for size in (MediaSize(width, height), MediaSize(height, width)):
        try:
            counts.append(rule.count("image", size, detail))
        except UncountableError:
            counts.append(-1)
    assert counts[0] == counts[1]
    assert counts[0] > 0 or counts[0] == -1


def test_every_rule_is_read_twice() -> None:
    assert {rule.models[0] for rule in TABLE.rules} == {rule.models[0] for rule in map(TABLE.find, COUNTED) if rule is not None}


# contract 4.43
@given(
    st.sampled_from(COUNTED),
    st.integers(1, 100) | st.integers(1, 3000),
    st.integers(1, 100) | st.integers(1, 3000),
    st.sampled_from(("low", "high", "auto")),
)
def test_pictures_count_as_the_pages_say_in_exact_fractions(model: str, width: int, height: int, detail: str) -> None:
    """What another reading of the pages of the providers gives, which rounds nothing before the end."""
    rule = TABLE.find(model)
    assert rule is not None
    counted = rule.count("image", MediaSize(width, height), detail if rule.details else None)
    assert counted == count_media(model, {"type": "image", "width": width, "height": height}, detail)


_GRIDS = [rule for rule in TABLE.rules if rule.how in ("patches", "visual")]


@given(st.sampled_from(_GRIDS), st.integers(1, 900), st.integers(1, 900), st.integers(0, 100), st.integers(0, 100))
def test_below_the_limits_a_larger_picture_counts_no_less(rule: MediaRule, width: int, height: int, wider: int, higher: int) -> None:
    smaller, larger = MediaSize(width, height), MediaSize(width + wider, height + higher)
    assert rule.count("image", smaller, None) <= rule.count("image", larger, None)


def test_the_limits_of_the_visual_tokens_hold() -> None:
    for rule in TABLE.rules:
        if rule.how == "visual":
            sizes = [MediaSize(width, height) for width in range(1, 8001, 123) for height in (1, 17, 400, 1568, 2576, 8000)]
            assert max(rule.count("image", size, None) for size in sizes) <= rule.numbers["patches"]
