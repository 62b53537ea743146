"""Versions of segments, in the order of SemVer 2.0.0."""

import re

_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-({_PART}(?:\.{_PART})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII
)
_LONGEST = 100

SemVer = tuple[tuple[int, int, int], int, tuple[tuple[int, int, str], ...], str]
"""Compares as versions do; those that differ in build metadata alone compare as texts, so that the order is total."""


def read_semver(text: str) -> SemVer | None:
    """The version that `text` writes, to be compared; None when it is none, or longer than 100 characters."""
    match = _SEMVER.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    before = match[4].split(".") if match[4] else []
    return (int(match[1]), int(match[2]), int(match[3])), 0 if before else 1, tuple(map(_rank_part, before)), text


def _rank_part(part: str) -> tuple[int, int, str]:
    """Numbers before words."""
    return (0, int(part), "") if part.isdigit() else (1, 0, part)
