"""Segments: the validation of a store's rows (`judge_row`), and the choice among variants of a segment (`choose`).

Nothing here reads a database; `segment_store` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from promptc.diag.findings import Diagnostic, show_value
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.sources import Segment
from promptc.text.characters import compile_later
from promptc.text.json import render_canonical_json

Place = tuple[str, str | None, str | None]
MAX_ID = 200
"""The maximum length, in characters, of an id, scope or ref_id: what an index of either database can hold."""

MAX_CONTENT = 4_000_000
"""The maximum size of a segment's content, in bytes."""

_MAX_METADATA = 100_000
_MAX_DEPTH = 20
_MAX_KEY = 100
_MAX_VALUES = 5_000
_BITS = 63
_KEPT = 4096
_LONGEST_KEPT = 4_000
"""The maximum length, in characters, of a text in a cached row: the cache of a long-lived process stays below some 30 MB."""

_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"

_SEMVER = compile_later(
    rf"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-({_PART}(?:\.{_PART})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
SemVer = tuple[tuple[int, int, int], int, tuple[tuple[int, int, str], ...], str]
"""A version for comparison. Versions that differ only in build metadata compare as texts, so that the order is total."""

_TAG = compile_later(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_LONGEST = 100


@frozen
class Malformed:
    """A row that is not a segment: its id, as far as it is readable, and the reason."""

    id: str
    why: str


@frozen
class Rows:
    """The segments of a render. `parts` has the answer to each wish, each in the order of its items.

    The other fields describe rows that are left out, each counted once however many wishes it would answer: the number of `inactive` rows,
    the `malformed` rows (by id), the number `passed_over` for another locale or version of the same segment, and the ids of those in no
    preferred locale (`foreign`).
    """

    parts: tuple[tuple[Segment, ...], ...]
    inactive: int = 0
    malformed: tuple[Malformed, ...] = ()
    passed_over: int = 0
    foreign: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Segment, ...]:
        """The segments of all parts, in order."""
        return tuple(one for part in self.parts for one in part)


@frozen
class Stored:
    """The complete content of a store.

    It has the segments by (scope, ref_id, id) in code-point order, the malformed rows by id, and the schema version of the table (0:
    promptc did not create it).
    """

    segments: tuple[Segment, ...]
    malformed: tuple[Malformed, ...]
    version: int


@frozen
class Changes:
    """The changes of an import, in numbers of segments."""

    added: int
    changed: int
    same: int
    removed: int


def describe_malformed(rows: Iterable[Malformed], shown: str) -> tuple[Diagnostic, ...]:
    """Return a warning PC0172 for each row. `shown` is the store's name in messages."""
    return tuple(
        Diagnostic("PC0172", f"the row `{one.id}` of the store `{shown}` is left out: {one.why}", None, "correct the row", "warn")
        for one in rows
    )


def judge_row(
    id: Any, scope: Any, ref_id: Any, content: Any, metadata: Any, active: Any, locale: Any, version: Any, priority: Any
) -> Segment | str:
    """Return the segment in a row, or what is wrong with the row, in words that can follow its name.

    Results are cached, except for long rows. `metadata` is JSON text; None means no metadata, and a `priority` of None means 0.
    """
    is_short = all(not isinstance(one, str | bytes) or len(one) <= _LONGEST_KEPT for one in (id, scope, ref_id, content, metadata))
    judge = _judge_again if is_short else _judge
    return judge(id, scope, ref_id, content, metadata, active, locale, version, priority)


def _judge(
    id: Any, scope: Any, ref_id: Any, content: Any, metadata: Any, active: Any, locale: Any, version: Any, priority: Any
) -> Segment | str:
    try:
        return Segment(
            _read_name("id", id),
            _read_name("scope", scope),
            None if ref_id is None else _read_name("ref_id", ref_id),
            _read_content(content),
            _read_metadata(metadata),
            _read_active(active),
            _read_locale(locale),
            _read_version(version),
            _read_priority(priority),
        )
    except _MalformedError as wrong:
        return str(wrong)


_judge_again = lru_cache(maxsize=_KEPT, typed=True)(_judge)


def _read_name(what: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _MalformedError(f"`{what}` is not a string")
    if is_name(value):
        return value
    if len(value) > MAX_ID:
        raise _MalformedError(f"`{what}` has {len(value)} characters, more than {MAX_ID}")
    raise _MalformedError(f"`{what}` holds an invisible character")


def is_name(text: str) -> bool:
    """Return whether `text` can be an id, a scope or a `ref_id`."""
    return 0 < len(text) <= MAX_ID and text.isprintable()


class _MalformedError(Exception):
    """A row is not a segment; the argument says why."""


def _read_content(value: Any) -> str:
    if not isinstance(value, str):
        raise _MalformedError("`content` is not UTF-8 text")
    if "\0" in value:
        raise _MalformedError("`content` holds U+0000")
    if len(value.encode("utf-8", "replace")) > MAX_CONTENT:
        raise _MalformedError(f"`content` has more than {MAX_CONTENT} bytes")
    return value


def _read_metadata(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, str):
        raise _MalformedError("`metadata` is not JSON")
    if len(value) > _MAX_METADATA:
        raise _MalformedError(f"`metadata` has more than {_MAX_METADATA} characters")
    import json  # late: cached rows need no parsing

    try:
        read = json.loads(value, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _MalformedError("`metadata` is not JSON") from None
    if not isinstance(read, dict):
        raise _MalformedError("`metadata` is not an object")
    if _count_values(read, _MAX_DEPTH) > _MAX_VALUES:
        raise _MalformedError(f"`metadata` holds more than {_MAX_VALUES} values")
    order = read.get("order", 0)
    if isinstance(order, bool) or not isinstance(order, int | float):
        raise _MalformedError("`metadata.order` is not a number")
    return read


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(sorted(pairs))
    if len(read) < len(pairs):
        raise _MalformedError("`metadata` has a key twice")
    return read


def _refuse_constant(name: str) -> None:
    raise _MalformedError(f"`metadata` holds {name}")


def _count_values(value: Any, depth: int) -> int:
    if depth < 0:
        raise _MalformedError(f"`metadata` is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, dict):
        if any(len(key) > _MAX_KEY for key in value):
            raise _MalformedError(f"`metadata` has a key of more than {_MAX_KEY} characters")
        return 1 + sum(_count_values(key, depth) + _count_values(inner, depth - 1) for key, inner in value.items())
    if isinstance(value, list):
        return 1 + sum(_count_values(inner, depth - 1) for inner in value)
    _check_scalar(value)
    return 1


def _check_scalar(value: Any) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise _MalformedError("`metadata` holds U+0000")
        if any("\ud800" <= one <= "\udfff" for one in value):
            raise _MalformedError("`metadata` holds half of a surrogate pair")
    elif isinstance(value, int) and value.bit_length() > _BITS:
        raise _MalformedError("`metadata` holds an integer of more than 64 bits")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _MalformedError("`metadata` holds a number out of range")


def _read_active(value: Any) -> bool:
    if value not in (0, 1):
        raise _MalformedError("`active` is neither true nor false")
    return bool(value)


def _read_locale(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not is_locale(value):
        raise _MalformedError(f"its locale {show_value(value)} is not a language tag such as `de` or `de-CH`")
    return value


def is_locale(text: str) -> bool:
    """Return whether `text` has the form of a language tag, such as `de` or `de-CH`: a language, then parts joined by `-`."""
    return len(text) <= _LONGEST and _TAG.fullmatch(text) is not None


def _read_version(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or read_semver(value) is None:
        raise _MalformedError(f"its version {show_value(value)} is not a version such as `1.0.0`")
    return value


def read_semver(text: str) -> SemVer | None:
    """Return the version in `text` for comparison; None if it is not a version, or longer than 100 characters."""
    match = _SEMVER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    before = match[4].split(".") if match[4] else []
    return (int(match[1]), int(match[2]), int(match[3])), 0 if before else 1, tuple(map(_rank_part, before)), text


def _rank_part(part: str) -> tuple[int, int, str]:
    """Return a sort key that puts numbers before words."""
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def _read_priority(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > _BITS:
        raise _MalformedError("`priority` is not a whole number")
    return value


@frozen
class ChosenSegments:
    """The chosen segments in order, how many of their variants were not chosen, and the ids of segments in no preferred locale."""

    chosen: tuple[Segment, ...]
    passed_over: int
    foreign: tuple[str, ...]


def choose(segments: Iterable[Segment], ranks: Mapping[str, int], version: str | None) -> ChosenSegments:
    """Choose one variant of each segment. Segments of equal (scope, ref_id, metadata.key) are variants of one segment.

    The locale of a segment is the first of `ranks` (`rank_locales`) for which it has a variant. Without ranks, it is none, or else the
    lowest by code point. A segment that has no such locale is `foreign`. Among the variants of that locale, the wanted version is
    used if it exists, else the highest; no version is the lowest. If several variants with a key remain, the highest priority wins, then
    the lowest id. Segments without a key are different segments, and all are chosen.

    The order is by `metadata.order` (default 0), then by id in code-point order. It does not depend on the order of `segments`.
    """
    groups: dict[Place, list[Segment]] = {}
    for one in segments:
        groups.setdefault(name_place(one), []).append(one)
    chosen: list[Segment] = []
    foreign: list[str] = []
    total = 0
    for place, group in groups.items():
        total += len(group)
        left = _choose_one(place, group, ranks, version)
        chosen += left
        foreign += [] if left else [one.id for one in group]
    return ChosenSegments(tuple(sorted(chosen, key=_rank)), total - len(chosen) - len(foreign), tuple(sorted(foreign)))


def name_place(segment: Segment) -> Place:
    """Return what variants of one segment share: scope, ref_id, and the text of `metadata.key` (None without a key)."""
    key = segment.metadata.get("key")
    return segment.scope, segment.ref_id, render_canonical_json(key) if key is not None else None


def rank_locales(preferred: Sequence[str]) -> Mapping[str, int]:
    """Return the places of the preferred locales in lower case for comparison, each followed by its shorter forms: `de-ch`, then `de`.

    Each locale has its first place, and no locale (an empty text) the last. No places are returned if nothing is preferred. Forms that are
    longer than any locale of a row are left out.
    """
    tags = (_shorten(tag.lower()).split("-") for tag in preferred)
    forms = dict.fromkeys("-".join(parts[:stop]) for parts in tags for stop in range(len(parts), 0, -1))
    return {form: place for place, form in enumerate([*forms, ""])} if preferred else {}


def _shorten(tag: str) -> str:
    """Return the longest form of a tag that a row can have."""
    return tag if len(tag) <= _LONGEST else tag[: _LONGEST + 1].rpartition("-")[0]


def count_forms(preferred: Sequence[str]) -> int:
    """Return the most places that `rank_locales` returns for these locales."""
    return sum(min(tag.count("-"), _LONGEST) + 1 for tag in preferred)


def _choose_one(place: Place, group: Sequence[Segment], ranks: Mapping[str, int], version: str | None) -> list[Segment]:
    present = {fold_locale(one) for one in group}
    locale = min((one for one in present if one in ranks), key=ranks.__getitem__, default=None) if ranks else min(present)
    if locale is None:
        return []
    spoken = [one for one in group if fold_locale(one) == locale]
    wanted = version if version is not None and any(one.version == version for one in spoken) else max(spoken, key=_rank_version).version
    left = [one for one in spoken if one.version == wanted]
    return left if place[2] is None else [min(left, key=lambda one: (-one.priority, one.id, *rank_equals(one)))]


def fold_locale(segment: Segment) -> str:
    """Return the locale of a segment for comparison; empty if it has none."""
    return (segment.locale or "").lower()


def _rank_version(segment: Segment) -> tuple[bool, SemVer | tuple[()]]:
    read = read_semver(segment.version) if segment.version is not None else None
    return read is not None, read or ()


def rank_equals(segment: Segment) -> tuple[str, str, int]:
    """Return a sort key for rows of the same id, so that the order does not depend on the database.

    A table that promptc did not create may have such rows.
    """
    return segment.content, f"{segment.metadata}{segment.locale}{segment.version}", segment.priority


def _rank(segment: Segment) -> tuple[Any, ...]:
    return segment.metadata.get("order", 0), segment.id, *rank_equals(segment)


def iter_twins(segments: Iterable[Segment]) -> Iterator[Diagnostic]:
    """Yield PC0171 for every segment with the id of an earlier one, and PC0173 for every active one with its place (`place_of`)."""
    ids: set[str] = set()
    places: dict[Any, Segment] = {}
    for one in segments:
        if one.id in ids:
            yield Diagnostic("PC0171", f"two rows have the id `{one.id}`", help="give each row its own id")
            continue
        ids.add(one.id)
        place = place_of(one)
        if place is not None and places.setdefault(place, one) is not one:
            yield Diagnostic("PC0173", describe_twins(places[place], one), help="give them different keys, locales or versions")


def place_of(segment: Segment) -> Any:
    """Return what no two active segments may share: `name_place`, locale and version. None without a key or if the segment is inactive."""
    place = name_place(segment)
    return (place, fold_locale(segment), segment.version) if segment.active and place[2] is not None else None


def describe_twins(one: Segment, other: Segment) -> str:
    """Return the message of PC0173 for two segments that are the same."""
    about = f", ref_id `{one.ref_id}`" if one.ref_id is not None else ""
    key = render_canonical_json(one.metadata["key"])
    return f"`{other.id}` is the same segment as `{one.id}`: scope `{one.scope}`{about}, key {key}, locale and version are equal"
