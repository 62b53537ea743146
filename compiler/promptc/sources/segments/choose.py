"""Of segments that are there in several locales and versions, the one that is wanted."""

from collections.abc import Iterable, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.sources import Segment
from promptc.sources.segments.expand_locales import expand_locales
from promptc.sources.segments.read_semver import SemVer, read_semver
from promptc.text.json import render_canonical_json

Place = tuple[str, str | None, str | None]


@frozen
class ChosenSegments:
    """The chosen segments in their order, how many others of theirs were not, and the ids of those in no preferred locale."""

    chosen: tuple[Segment, ...]
    passed_over: int
    foreign: tuple[str, ...]


def choose(segments: Iterable[Segment], locales: Sequence[str], version: str | None) -> ChosenSegments:
    """Segments of equal (scope, ref_id, metadata.key) are one in several locales and versions.

    Its locale is the first of `expand_locales(locales)` it has, else none at all, if it has a segment without one; without any
    preference it is none, else its lowest by code point. A segment that has no such locale is `foreign`. In that locale its version is
    the wanted one if it has it, else its highest; no version is the lowest. Where a key is given and several are left, the highest
    priority wins, then the lowest id; without a key they are different segments, and all stand.

    The order is `metadata.order` (0), then id, by code point; it does not depend on the order of `segments`.
    """
    groups: dict[Place, list[Segment]] = {}
    for one in segments:
        groups.setdefault(name_place(one), []).append(one)
    chain = expand_locales(locales)
    chosen: list[Segment] = []
    foreign: list[str] = []
    total = 0
    for place, group in groups.items():
        total += len(group)
        left = _choose_one(place, group, chain, version)
        chosen += left
        foreign += [] if left else [one.id for one in group]
    return ChosenSegments(tuple(sorted(chosen, key=_rank)), total - len(chosen) - len(foreign), tuple(sorted(foreign)))


def name_place(segment: Segment) -> Place:
    """What makes two segments the same one: scope, ref_id, and the text of `metadata.key`; None without a key."""
    key = segment.metadata.get("key")
    return segment.scope, segment.ref_id, render_canonical_json(key) if key is not None else None


def _choose_one(place: Place, group: Sequence[Segment], chain: Sequence[str], version: str | None) -> list[Segment]:
    present = {fold_locale(one) for one in group}
    candidates = (*chain, "") if chain else ("", *sorted(present))
    locale = next((one for one in candidates if one in present), None)
    if locale is None:
        return []
    spoken = [one for one in group if fold_locale(one) == locale]
    wanted = version if version is not None and any(one.version == version for one in spoken) else _find_highest(spoken)
    left = [one for one in spoken if one.version == wanted]
    return left if place[2] is None else [min(left, key=lambda one: (-one.priority, one.id, *rank_equals(one)))]


def fold_locale(segment: Segment) -> str:
    """The locale as it is compared; empty for none."""
    return (segment.locale or "").lower()


def _find_highest(segments: Sequence[Segment]) -> str | None:
    return max(segments, key=_rank_version).version


def _rank_version(segment: Segment) -> tuple[bool, SemVer | tuple[()]]:
    read = read_semver(segment.version) if segment.version is not None else None
    return read is not None, read or ()


def _rank(segment: Segment) -> tuple[Any, ...]:
    return segment.metadata.get("order", 0), segment.id, *rank_equals(segment)


def rank_equals(segment: Segment) -> tuple[str, str, int]:
    """What orders rows of one id, which a table that promptc did not make may hold, so that the order is no database's."""
    return segment.content, f"{segment.metadata}{segment.locale}{segment.version}", segment.priority
