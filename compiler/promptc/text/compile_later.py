"""Patterns that are compiled when they are first used: most renders use few of them, and each takes up to half a millisecond."""

import re

from promptc.diag.typed import Any, cast


def compile_later(pattern: str) -> re.Pattern[str]:
    """What `re.compile(pattern)` gives, as far as its methods go. A wrong pattern is told at its first use."""
    return cast("re.Pattern[str]", _Later(pattern))


class _Later:
    def __init__(self, pattern: str) -> None:
        self._source = pattern

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source), name)
        self.__dict__[name] = found
        return found
