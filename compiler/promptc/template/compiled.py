"""A template or expression made runnable."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from promptc.template.find_paths import Places


@dataclass(frozen=True, slots=True)
class Compiled:
    """One file (`name` empty: the template itself). `lines`: line of the generated code, line of the text; rising."""

    name: str
    text: str
    weight: int
    root_render_func: Callable[[Any], Generator[Any, None, None]]
    blocks: Mapping[str, Callable[[Any], Iterator[str]]]
    lines: tuple[tuple[int, int], ...]
    paths: Places = ()

    def find_line(self, line: int) -> int:
        """The text's line for a line of the generated code."""
        for code, own in reversed(self.lines):
            if code <= line:
                return own
        return 1
