"""Segments of which only one would ever be read."""

from collections.abc import Iterable, Iterator

from promptc.diag.findings import Diagnostic
from promptc.diag.typed import Any
from promptc.model.sources import Segment
from promptc.sources.segments.choose import fold_locale, name_place
from promptc.text.json import render_canonical_json


def find_twins(segments: Iterable[Segment]) -> Iterator[Diagnostic]:
    """PC0173 for every active segment that has the place (`place_of`) of one before it."""
    places: dict[Any, Segment] = {}
    for one in segments:
        place = place_of(one)
        if place is not None and places.setdefault(place, one) is not one:
            yield Diagnostic("PC0173", describe_twins(places[place], one), help="give them different keys, locales or versions")


def place_of(segment: Segment) -> Any:
    """What no two active segments share: the place of the one it is (`name_place`), locale and version. None without a key, and for an
    inactive one: those may share it.
    """
    place = name_place(segment)
    return (place, fold_locale(segment), segment.version) if segment.active and place[2] is not None else None


def describe_twins(one: Segment, other: Segment) -> str:
    """What PC0173 says of two segments that are one."""
    about = f", ref_id `{one.ref_id}`" if one.ref_id is not None else ""
    key = render_canonical_json(one.metadata["key"])
    return f"`{other.id}` is the same segment as `{one.id}`: scope `{one.scope}`{about}, key {key}, locale and version are equal"
