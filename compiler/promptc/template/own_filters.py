"""The filters a pack has beyond Jinja's (language.md §3). Pure: the same input gives the same output, everywhere."""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from operator import is_
from typing import Any

from promptc.template.fault import name_kind, refuse
from promptc.template.run import Run
from promptc.template.show import show
from promptc.template.since import count_since
from promptc.template.truncate_at import count_tokens, truncate_at
from promptc.text.canonical import render_canonical_json
from promptc.text.normalize import normalize


def count_minutes(run: Run, value: object, now: object) -> int:
    """Whole minutes from `value` to `now`."""
    return count_since(value, now, 60)


def count_hours(run: Run, value: object, now: object) -> int:
    """Whole hours from `value` to `now`."""
    return count_since(value, now, 3_600)


def count_days(run: Run, value: object, now: object) -> int:
    """Whole days of 24 hours from `value` to `now`."""
    return count_since(value, now, 86_400)


def normalize_text(run: Run, value: object) -> str:
    """The text without what makes no difference: the one normalisation (`dedupe` compares by it too)."""
    text = show(run, value)
    run.take(len(text))
    return normalize(text)


def join_lines(run: Run, value: object) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    text = show(run, value)
    run.take(len(text) >> 2)
    return " ".join(text.split())


def render_json(run: Run, value: object) -> str:
    """Canonical JSON: keys sorted by code point, no spaces."""
    return render_canonical_json(plain(run, value))


def plain(run: Run, value: Any) -> Any:
    """The value with its sequences as lists: plain JSON data, the same object where it is that already. All else is refused."""
    run.take(12)
    if value is None or value.__class__ in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        made = {_name_key(run, key): plain(run, part) for key, part in value.items()}
        return value if value.__class__ is dict and all(map(_is_same, value.items(), made.items())) else made
    if isinstance(value, Iterable):
        parts = list(value)
        plains = [plain(run, part) for part in parts]
        return value if value.__class__ is list and all(map(is_, parts, plains)) else plains
    return refuse("PC0413", f"{name_kind(value)} is no data", "use a value of the state")


def _is_same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return one[0] is other[0] and one[1] is other[1]


def _name_key(run: Run, key: Any) -> str:
    return key if isinstance(key, str) else str(key) if key.__class__ in (int, float) else _KEYS.get(key, show(run, key))


_KEYS = {None: "null", True: "true", False: "false"}


def mentions(run: Run, value: object, words: object) -> bool:
    """Whether the text holds one of the words (a text or a list of texts), whole and normalised."""
    text = f" {normalize_text(run, value)} "
    sought = [words] if isinstance(words, str) else list(words) if isinstance(words, Iterable) else [show(run, words)]
    return any(word and f" {word} " in text for word in (normalize_text(run, word) for word in sought))


def pick(run: Run, values: Iterable[Any], seed: object) -> Any:
    """One element of a list, chosen by the seed alone: sha256 of the seed's text, as a fraction of 2^64, times the length."""
    found = list(values)
    if not found:
        refuse("PC0424", "`pick` has nothing to pick from", "give it a list that is not empty, or ask for `if list`")
    run.take(len(found))
    drawn = int.from_bytes(sha256(show(run, seed).encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return found[drawn * len(found) >> 64]


OWN_FILTERS: dict[str, Callable[..., Any]] = {
    "truncate_at": truncate_at,
    "tokens": count_tokens,
    "minutes_since": count_minutes,
    "hours_since": count_hours,
    "days_since": count_days,
    "normalize": normalize_text,
    "one_line": join_lines,
    "json": render_json,
    "mentions": mentions,
    "pick": pick,
}
