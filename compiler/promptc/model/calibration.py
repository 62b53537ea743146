"""Calibrations: measured (`measure`), written (`render_calibration`), and checked when a pack is loaded (`iter_wrong`).

They are measured from pairs of an estimate and a reported count. All numbers are whole, and dates come from the pairs. So equal pairs
result in equal bytes, in any order and on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.messages import PROVIDERS
from promptc.model.pack import MILLION, CalibrationEntry
from promptc.text.counters.counter import Counter
from promptc.text.json import is_whole

MOST_RATIO = 100
"""The largest plausible ratio of the reported tokens of a prompt to its estimate. A larger one is a mistake."""

_MOST_ENTRIES = 1000
_LARGEST = 999_999_999
_LONGEST = 200
_KEYS = ("calibration", "counter", "entries", "quantile")
_COUNTER_KEYS = ("digest", "name")
ENTRY_KEYS = ("first", "last", "model", "pairs", "provider", "ratio")


@frozen
class Pair:
    """A prompt that was sent: the tokens of its report, the tokens that the provider reported, and the day.

    `line` is the line that the pair was read from.
    """

    provider: str
    model: str
    estimate: int
    reported: int
    day: str
    line: int = 0

    @property
    def ratio(self) -> int:
        """Reported / estimate, in parts per million, rounded up."""
        return -(-self.reported * MILLION // self.estimate)


def group_pairs(pairs: Sequence[Pair]) -> dict[tuple[str, str], list[Pair]]:
    """Return the pairs by provider and model, both in code-point order, and each group from the smallest ratio up."""
    ordered = sorted(pairs, key=lambda one: (one.provider, one.model, one.ratio, one.line))
    return {key: list(group) for key, group in groupby(ordered, key=lambda one: (one.provider, one.model))}


def measure(pairs: Sequence[Pair], quantile: int) -> tuple[CalibrationEntry, ...]:
    """Return an entry for each provider and model. Its ratio is the smallest that at least `quantile` of its pairs do not exceed.

    `quantile` is in parts per million.
    """
    return tuple(_measure_one(own, quantile) for own in group_pairs(pairs).values())


def _measure_one(own: Sequence[Pair], quantile: int) -> CalibrationEntry:
    rank = max(1, -(-quantile * len(own) // MILLION))
    days = [one.day for one in own]
    return CalibrationEntry(own[0].provider, own[0].model, len(own), own[rank - 1].ratio, min(days), max(days))


def render_calibration(entries: Sequence[CalibrationEntry], quantile: int, counter: Counter) -> str:
    """Return the text of the file: JSON with sorted keys, indented by two spaces."""
    described = [{name: getattr(one, name) for name in ENTRY_KEYS} for one in entries]
    value = {"calibration": 1, "counter": {"digest": counter.digest, "name": counter.name}, "entries": described, "quantile": quantile}
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def is_day(value: Any) -> bool:
    """Return whether the value is a date of the calendar, such as `2026-11-24`."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_name(value: Any) -> bool:
    """Return whether the value can name a model: a text of one line that is not too long, without control characters."""
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable() and value == value.strip()


def iter_wrong(value: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the value of a file, each as a JSON pointer and a message."""
    yield from _iter_keys(value, _KEYS, "")
    if not is_whole(value["calibration"], 1, 1):
        yield "/calibration", "is of another version: this promptc reads version 1"
    if not is_whole(value["quantile"], 1, MILLION - 1):
        yield "/quantile", f"has a quantile that is not a whole number from 1 to {MILLION - 1}"
    yield from _iter_keys(value["counter"], _COUNTER_KEYS, "/counter")
    for key in _COUNTER_KEYS:
        if not isinstance(value["counter"][key], str):
            yield f"/counter/{key}", f"has a `{key}` of its counter that is not a string"
    entries = value["entries"]
    if not isinstance(entries, list) or not 0 < len(entries) <= _MOST_ENTRIES:
        yield "/entries", f"needs a list of 1 to {_MOST_ENTRIES} entries"
        return
    for at, entry in enumerate(entries):
        yield from _iter_keys(entry, ENTRY_KEYS, f"/entries/{at}")
        yield from ((f"/entries/{at}/{key}", f"has an entry whose `{key}` is {due}") for key, due in _iter_wrong_facts(entry))
    names = [(one["provider"], one["model"]) for one in entries]
    if len({*names}) < len(names):
        yield "/entries", "has two entries for the same provider and model"


def _iter_keys(value: Any, keys: tuple[str, ...], pointer: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict) or tuple(sorted(value)) != keys:
        yield pointer, f"needs an object with {', '.join(keys)} here, and nothing else"


def _iter_wrong_facts(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if entry["provider"] not in PROVIDERS:
        yield "provider", f"none of {', '.join(PROVIDERS)}"
    if not is_name(entry["model"]):
        yield "model", "no name of a model"
    if not is_whole(entry["pairs"], 1, _LARGEST):
        yield "pairs", f"not a whole number from 1 to {_LARGEST}"
    if not is_whole(entry["ratio"], 1, MOST_RATIO * MILLION):
        yield "ratio", f"not a whole number from 1 to {MOST_RATIO * MILLION}"
    for key in ("first", "last"):
        if not is_day(entry[key]):
            yield key, "not a date such as 2026-11-24"
