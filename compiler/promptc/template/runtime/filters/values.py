"""Filters of single values: JSON, numbers, times, normalization, and the choice of one element."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any
from promptc.template.runtime.objects import Loop, refuse
from promptc.template.runtime.run import (
    NUMBERS,
    SCALARS,
    UNDEFINED,
    Run,
    check_defined,
    check_depth,
    list_values,
    load_moment,
    pay_each,
    price_search,
)
from promptc.template.runtime.values import bound_number, name_key, refuse_part, show, weigh
from promptc.text.characters import join_words, normalize
from promptc.text.json import render_canonical_json

_UNSAFE = "<>&'"
_LEVELS = 40
_DIGITS = 1_300
"""The longest text, in characters, that may be a whole number in any base. Python's own limit can be changed from outside."""

_MICRO = 10**6


def render_json(run: Run, value: Any) -> str:
    """Write the value as canonical JSON: keys sorted by code point, no spaces."""
    found = _name_keys(run, plain(run, value))
    run.make(2 * weigh(run, found).characters)
    made = render_canonical_json(found)
    run.make(len(made))
    return made


def plain(run: Run, value: Any, depth: int = 0) -> Any:
    """Return the value as plain data, with its sequences as lists. Raises `Fault` for anything else."""
    run.take(30)
    kind = value.__class__
    if kind in SCALARS:
        return value
    depth = check_depth(depth)
    if kind is dict:
        return {key: plain(run, part, depth) for key, part in value.items()}
    if kind in UNDEFINED:
        value.fail()
    if hasattr(value, "__iter__") and kind is not Loop:
        return [plain(run, part, depth) for part in value]
    refuse_part(value)


def _name_keys(run: Run, value: Any) -> Any:
    """Return the value with its keys as JSON writes them. Keys are sorted only after that."""
    if value.__class__ is list:
        return [_name_keys(run, part) for part in value]
    if value.__class__ is dict:
        return {name_key(run, key): _name_keys(run, part) for key, part in value.items()}
    return value


def write_json(run: Run, value: Any, indent: Any = None) -> str:
    """Write the value as JSON, with its keys sorted, and with `<`, `>`, `&` and `'` escaped.
    With `indent`, the JSON is split into lines, indented by that many spaces a level.
    """
    from json import dumps

    found = plain(run, value)
    weight = weigh(run, found)
    step = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    if indent is not None:
        run.take(8 * weight.parts)
        run.make(weight.parts * (1 + max(step, 0) * weight.depth))
    run.make(2 * weight.characters)
    made = dumps(found, sort_keys=True, indent=indent)
    run.make(len(made) + 5 * sum(map(made.count, _UNSAFE)))
    for sign in _UNSAFE:
        made = made.replace(sign, f"\\u{ord(sign):04x}")
    return made


def write_chat_json(
    run: Run, value: Any, ensure_ascii: Any = False, indent: Any = None, separators: Any = None, sort_keys: Any = False
) -> str:
    """Write the value as JSON, as chat templates expect it: nothing is escaped or sorted unless the arguments say so."""
    from json import dumps

    weight = weigh(run, value)
    step = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    run.take(8 * weight.parts)
    run.make(weight.parts * (1 + max(step, 0) * weight.depth + sum(map(len, separators or ()))))
    run.make(2 * weight.characters)
    made = dumps(value, ensure_ascii=bool(ensure_ascii), indent=indent, separators=separators, sort_keys=bool(sort_keys))
    run.make(len(made))
    return made


def show_in_lines(run: Run, value: Any) -> str:
    """Write the value as Python's `pprint` does: a value longer than 80 characters is split into lines."""
    from pprint import pformat

    weight = weigh(run, value)
    if weight.depth > _LEVELS:
        refuse("PC0417", f"`pprint` shows at most {_LEVELS} lists inside each other", f"{name_kind(value)} that nests less")
    run.take(40 * weight.parts * weight.depth + weight.characters * weight.depth)
    run.make(2 * weight.characters + weight.parts * weight.depth)
    made = pformat(value)
    run.make(len(made))
    return made


def absolute(run: Run, value: Any) -> Any:
    """Return the number without its sign."""
    return abs(_check_number("abs", value))


def to_float(run: Run, value: Any, default: Any = 0.0) -> Any:
    """Convert the value to a number. Return `default` if that is not possible."""
    _pay_text(run, value)
    try:
        return bound_number(run, float(_defined(value)))
    except (TypeError, ValueError):
        return default


def to_int(run: Run, value: Any, default: Any = 0, base: Any = 10) -> Any:
    """Convert the value to a whole number, without its decimal places. Return `default` if that is not possible.
    A text is read in `base`.
    """
    _pay_text(run, value)
    try:
        return bound_number(run, _load_int(run, value, base) if value.__class__ is str else int(_defined(value)))
    except (TypeError, ValueError):
        try:
            return bound_number(run, int(float(value)))
        except (TypeError, ValueError, OverflowError):
            return default


def _load_int(run: Run, text: str, base: Any) -> int:
    if len(text) > _DIGITS:
        digits = text.strip().lstrip("+-").replace("_", "")
        if digits.isdecimal() if base == 10 else digits.isalnum():
            refuse("PC0416", f"this number has more than {run.limits.bits} bits", "use smaller numbers")
        raise ValueError
    return int(text, base)


def _pay_text(run: Run, value: Any) -> None:
    run.take(1 + len(value) if value.__class__ is str else 1)


def _defined(value: Any) -> Any:
    check_defined(value)
    return value


def round_number(run: Run, value: Any, precision: Any = 0, method: str = "common") -> Any:
    """Round the number to `precision` decimal places.
    With `'common'` a half goes to the even neighbour. `'ceil'` rounds up, `'floor'` down.
    """
    _check_number("round", value)
    if method == "common":
        return bound_number(run, round(value, precision))
    from math import ceil, floor

    scale = 10**precision
    return bound_number(run, (ceil if method == "ceil" else floor)(value * scale) / scale)


def _check_number(name: str, value: Any) -> Any:
    if value.__class__ not in NUMBERS:
        _defined(value)
        refuse("PC0414", f"`{name}` takes a number, not {name_kind(value)}", "make it a number first: `| int`, `| float`")
    return value


def show_size(run: Run, value: Any, binary: bool = False) -> str:
    """Write a number of bytes as people read it: `1 Byte`, `13 Bytes`, `4.1 MB`; with `binary`, in units of 1 024: `4.1 MiB`."""
    _pay_text(run, value)
    size = bound_number(run, float(_defined(value)))
    step = 1024 if binary else 1000
    if size == 1:
        return "1 Byte"
    if size < step:
        return f"{int(size)} Bytes"
    unit = step
    for letter in "kMGTPEZY":
        unit *= step
        if size < unit or letter == "Y":
            break
    prefix = f"{letter.upper()}iB" if binary else f"{letter}B"
    return f"{step * size / unit:.1f} {prefix}"


def normalize_text(run: Run, value: Any) -> str:
    """Normalize the text: remove differences of case, punctuation and white space. `dedupe` compares texts in this form."""
    text = show(run, value)
    _pay_normalizing(run, text)
    return normalize(text)


def _pay_normalizing(run: Run, text: str) -> None:
    """Pay for normalizing. One character may become eighteen, and each mark after a letter is sorted past all the others."""
    run.take(1 + 2 * len(text))
    if text.isascii():
        return
    from unicodedata import combining, normalize

    met = set(text)
    sizes = {character: len(normalize("NFKD", character)) for character in met}
    run.take(2 * sum(map(sizes.__getitem__, text)))
    if any(map(combining, met)):
        marks = 0
        for character in text:
            marks = marks + 1 if combining(character) else 0
            run.take(marks >> 5)


def join_lines(run: Run, value: Any) -> str:
    """Put the text on one line. Each run of white space becomes one space, and the ends have none."""
    text = show(run, value)
    run.take(1 + (len(text) >> 1))
    return join_words(text)


def mentions(run: Run, value: Any, words: Any) -> bool:
    """Return whether the text contains one of `words` (a text or a list of texts), whole and normalized."""
    text = f" {normalize_text(run, value)} "
    sought = [words] if words.__class__ is str or not hasattr(words, "__iter__") else pay_each(run, words, 4)
    return any(_mentions(run, text, normalize_text(run, word)) for word in sought)


def _mentions(run: Run, text: str, word: str) -> bool:
    run.take(price_search(len(text), len(word)))
    return bool(word) and f" {word} " in text


def pick(run: Run, values: Any, seed: Any) -> Any:
    """Pick an element of a list by `seed`. The same seed picks the same element of a list of that length.
    The index is the length times the first 64 bits of the SHA-256 of the seed's text, as a fraction of 2^64.
    """
    if not hasattr(values, "__iter__"):
        check_defined(values)
        refuse("PC0414", f"`pick` takes a list, not {name_kind(values)}", "give it a list")
    found = list_values(run, values, 1)
    if not found:
        refuse("PC0424", "`pick` has nothing to pick from", "give it a list that is not empty, or ask for `if list`")
    return found[_draw(run, show(run, seed)) * len(found) >> 64]


def _draw(run: Run, seed: str) -> int:
    from hashlib import sha256

    run.take(2 + (len(seed) >> 3))
    return int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def count_minutes(run: Run, value: Any, now: Any) -> int:
    """Count the whole minutes from the time to `now`, rounded down. Both are ISO 8601 times."""
    return _count_since(run, value, now, 60)


def count_hours(run: Run, value: Any, now: Any) -> int:
    """Count the whole hours from the time to `now`, rounded down. Both are ISO 8601 times."""
    return _count_since(run, value, now, 3_600)


def count_days(run: Run, value: Any, now: Any) -> int:
    """Count the whole days of 24 hours from the time to `now`, rounded down. Both are ISO 8601 times."""
    return _count_since(run, value, now, 86_400)


def count_stamp(run: Run, value: Any) -> int:
    """Convert an ISO 8601 time to microseconds since 1970-01-01T00:00:00Z, negative before that. Finer fractions are cut off."""
    run.take(40)
    return load_moment(value)


def _count_since(run: Run, value: Any, now: Any, seconds: int) -> int:
    """Return the whole units of `seconds` between `value` and `now`, rounded down; negative if `value` is later."""
    run.take(80)
    return (load_moment(now) - load_moment(value)) // (seconds * _MICRO)


FILTERS: dict[str, Callable[..., Any]] = {
    "json": render_json,
    "tojson": write_json,
    "chat_tojson": write_chat_json,
    "pprint": show_in_lines,
    "abs": absolute,
    "float": to_float,
    "int": to_int,
    "round": round_number,
    "filesizeformat": show_size,
    "normalize": normalize_text,
    "one_line": join_lines,
    "mentions": mentions,
    "pick": pick,
    "minutes_since": count_minutes,
    "hours_since": count_hours,
    "days_since": count_days,
    "timestamp": count_stamp,
}
