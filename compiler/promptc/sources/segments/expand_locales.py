"""Which locales do, in which order."""

import re
from collections.abc import Sequence

_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*", re.ASCII)
_LONGEST = 100


def is_locale(text: str) -> bool:
    """Whether `text` has the form of a language tag, such as `de` or `de-CH`: a language, then parts joined by `-`."""
    return len(text) <= _LONGEST and _TAG.fullmatch(text) is not None


def expand_locales(preferred: Sequence[str]) -> tuple[str, ...]:
    """The preferred locales, each followed by what remains of it part by part: `de-CH` then `de`. In lower case, as they are compared;
    each once, at its first place.
    """
    tags = (tag.lower().split("-") for tag in preferred)
    return tuple(dict.fromkeys("-".join(parts[:stop]) for parts in tags for stop in range(len(parts), 0, -1)))
