"""Templates: text in, text out, nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from promptc.template.place import Place


@dataclass(frozen=True, slots=True)
class Template:
    """A checked template. Rendering is a pure function of the names; it never changes them, and many threads may render at once.

    `reads`: the paths it reads from the names it is given, e.g. `("state", "player", "name")`.
    `files`: the texts of the files it brings in, by the names it calls them by; `check` walks them.
    """

    text: str
    place: Place
    reads: frozenset[tuple[str, ...]]
    _render: Callable[[Mapping[str, object]], str] = field(repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def render(self, names: Mapping[str, object]) -> str:
        """The text. `names` holds plain data, and under `__counter__` the pack's counter. Errors: `PromptcError` with file and line."""
        return self._render(names)


def load_template(text: str, place: Place, *, load_file: Callable[[str], str] | None = None) -> Template:
    """Check and compile a template; `load_file` reads a file it includes, by its name. Errors: `PromptcError` with all findings."""
    from promptc.template.compile_source import compile_source
    from promptc.template.run_program import build_render

    program = compile_source(text, place, load_file)
    return Template(text, place, program.reads, build_render(program, place), program.files)
