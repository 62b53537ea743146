"""The filters a pack has beyond Jinja's (language.md §3). Pure: the same input gives the same output, everywhere."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from promptc.template.context import Run
from promptc.template.fault import name_kind, refuse
from promptc.template.show import show
from promptc.template.since import count_since
from promptc.text.canonical import render_canonical_json

_BOUNDARIES = ("paragraph", "sentence", "line", "word", "token")


def truncate_at(run: Run, value: object, boundary: str = "word", *, chars: int | None = None, tokens: int | None = None) -> str:
    """The longest beginning of a text that ends at `boundary` and is at most so many characters or tokens."""
    from promptc.text.cuts import iter_kept

    text = show(value)
    limit = _check_limit(boundary, chars, tokens)
    run.take(len(text))
    measure = len if tokens is None else lambda part: count_tokens(run, part)
    if measure(text) <= limit:
        return text
    ends = _find_ends(run, text)
    reach = len(text) if tokens is None else (ends[min(limit + 8, len(ends) - 1)] if ends else 0)
    for kept in iter_kept(text, boundary, side="end", token_ends=ends):
        if kept.stop <= reach and measure(text[: kept.stop]) <= limit:
            return text[: kept.stop]
    return ""


def _check_limit(boundary: str, chars: int | None, tokens: int | None) -> int:
    if boundary not in _BOUNDARIES:
        refuse("PC0424", f"`truncate_at` knows no boundary `{boundary}`", "one of " + ", ".join(_BOUNDARIES))
    limit = chars if tokens is None else tokens
    if limit is None or (chars is not None and tokens is not None) or not isinstance(limit, int) or limit < 0:
        refuse("PC0424", "`truncate_at` needs one size", "give `chars=800` or `tokens=200`")
    return limit


def _find_ends(run: Run, text: str) -> Sequence[int]:
    return run.counter.token_ends(text) if run.counter is not None else range(1, len(text) + 1)


def count_tokens(run: Run, value: object) -> int:
    """How many tokens the text has by the pack's counter."""
    if run.counter is None:
        refuse("PC0423", "nothing counts tokens here", "use `| length` for characters")
    text = show(value)
    run.take(len(text))
    units: int = run.counter.measure(text)
    return -(-units // run.counter.unit)


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
    from promptc.text.normalize import normalize

    text = show(value)
    run.take(len(text))
    return normalize(text)


def join_lines(run: Run, value: object) -> str:
    """The text on one line: every run of white space is one space, none at the ends."""
    text = show(value)
    run.take(len(text) >> 2)
    return " ".join(text.split())


def render_json(run: Run, value: object) -> str:
    """Canonical JSON: keys sorted by code point, no spaces."""
    return render_canonical_json(plain(run, value))


def plain(run: Run, value: Any) -> Any:
    """The value with its sequences as lists: plain JSON data. All else is refused."""
    run.take(1)
    if value is None or value.__class__ in (str, int, float, bool):
        return value
    if isinstance(value, dict):
        return {show(key): plain(run, part) for key, part in value.items()}
    if isinstance(value, Iterable):
        return [plain(run, part) for part in value]
    return refuse("PC0413", f"{name_kind(value)} is no data", "use a value of the state")


def mentions(run: Run, value: object, words: object) -> bool:
    """Whether the text holds one of the words (a text or a list of texts), whole and normalised."""
    text = f" {normalize_text(run, value)} "
    sought = [words] if isinstance(words, str) else list(words) if isinstance(words, Iterable) else [show(words)]
    return any(word and f" {word} " in text for word in (normalize_text(run, word) for word in sought))


def pick(run: Run, values: Iterable[Any], seed: object) -> Any:
    """One element of a list, chosen by the seed alone: sha256 of the seed's text, as a fraction of 2^64, times the length."""
    found = list(values)
    if not found:
        refuse("PC0424", "`pick` has nothing to pick from", "give it a list that is not empty, or ask for `if list`")
    run.take(len(found))
    drawn = int.from_bytes(sha256(show(seed).encode("utf-8", "surrogatepass")).digest()[:8], "big")
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
