"""Templates: text in, text out, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Protocol
from promptc.template.limits import LIMITS, Limits
from promptc.template.place import Place


class Renders(Protocol):
    """What is behind a template: a lowered program, or a text that stands as it is."""

    def render(self, names: Mapping[str, object]) -> str:
        """The text."""


@frozen
class Template:
    """A checked template. Rendering is a pure function of the names; it never changes them, and many threads may render at once.

    `reads`: the paths it reads from the names it is given, e.g. `("state", "player", "name")`.
    `files`: the texts of the files it brings in, by the names it calls them by; `check` walks them.
    """

    text: str
    place: Place
    reads: frozenset[tuple[str, ...]]
    program: Renders = field(repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def render(self, names: Mapping[str, object]) -> str:
        """The text. `names` holds plain data, and under `__counter__` the pack's counter. Errors: `PromptcError` with their places."""
        return self.program.render(names)


def load_template(text: str, place: Place, *, load_file: Callable[[str], str] | None = None, limits: Limits = LIMITS) -> Template:
    """Check and compile a template; `load_file` reads a file it includes, by its name. Errors: `PromptcError` with all findings."""
    from promptc.template.compile_source import compile_source

    compiled = compile_source(text, place, load_file, limits=limits)
    return Template(text, place, compiled.reads, compiled.program, compiled.files)
