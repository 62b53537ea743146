"""What one file of a running template knows: names, blocks, other files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from promptc.diag.typed import Any, Protocol
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.functions import FUNCTIONS
from promptc.template.runtime.missing import missing
from promptc.template.runtime.module import Module
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.run import Run

Render = Callable[[Run, "Names"], str]
_NOTHING: dict[str, Any] = {}


class File(Protocol):
    """A file that can be run."""

    @property
    def weight(self) -> int:
        """The steps of going through it once."""

    @property
    def root(self) -> Render:
        """Its text."""

    @property
    def blocks(self) -> Mapping[str, Render]:
        """Its blocks."""


class Names:
    """`given` is neither copied nor changed; what the template sets at its top goes to `kept`, what of it may be imported to `exported`."""

    __slots__ = ("blocks", "exported", "files", "given", "kept", "run")

    def __init__(self, files: Callable[[str], File], run: Run, given: Mapping[str, Any], blocks: Mapping[str, Render]) -> None:
        self.files = files
        self.run = run
        self.given = given
        self.kept: dict[str, Any] = {}
        self.exported: set[str] = set()
        self.blocks: dict[str, list[Render]] = {name: [block] for name, block in blocks.items()} if blocks else {}

    def find(self, name: str) -> Any:
        """What the template has kept, then what it was given, then the functions; else `missing`."""
        if name in self.kept:
            return self.kept[name]
        if name in self.given:
            return self.given[name]
        return FUNCTIONS.get(name, missing)

    def keep(self, name: str, value: Any) -> None:
        """Set a name for blocks and includes, not for importers."""
        self.kept[name] = value
        self.exported.discard(name)

    def export(self, name: str, value: Any) -> None:
        """Set a name for importers too."""
        self.kept[name] = value
        self.exported.add(name)

    def derive(self, local: Mapping[str, Any]) -> Names:
        """The names of a scoped block: these and those around it."""
        inner = Names(self.files, self.run, self._with(local), _NOTHING)
        inner.blocks = {name: list(stack) for name, stack in self.blocks.items()}
        return inner

    def _with(self, local: Mapping[str, Any]) -> dict[str, Any]:
        found = {**self.given, **self.kept}
        found.update([(name, value) for name, value in local.items() if value is not missing])
        return found

    def include(self, file: str, local: Mapping[str, Any] | None) -> str:
        """The text of another file; `local` None is `without context`."""
        return self.load_module(file, None).text if local is None else self._render_file(file, self._with(local))[1]

    def load_module(self, file: str, local: Mapping[str, Any] | None) -> Module:
        """An imported file. Without context it is run once in a render, so nothing is carried from one render to the next."""
        if local is None and file in self.run.modules:
            found: Module = self.run.modules[file]
            return found
        names, text = self._render_file(file, _NOTHING if local is None else self._with(local))
        module = Module(file, text, {name: value for name, value in names.kept.items() if name in names.exported})
        if local is None:
            self.run.modules[file] = module
        return module

    def _render_file(self, name: str, given: Mapping[str, Any]) -> tuple[Names, str]:
        file = self.files(name)
        names = Names(self.files, self.run, given, file.blocks)
        self.run.enter(file.weight)
        text = file.root(self.run, names)
        self.run.leave()
        return names, text

    def extend(self, name: str, parent: File | None) -> File:
        """The file that is extended; its blocks go behind those there are."""
        if parent is not None:
            refuse("PC0414", "a template extends one other, once", "leave one `extends` out")
        file = self.files(name)
        for block, render in file.blocks.items():
            self.blocks.setdefault(block, []).append(render)
        return file

    def render_parent(self, parent: File) -> str:
        """The text of what is extended, with the blocks of the template that extends it."""
        self.run.enter(parent.weight)
        text = parent.root(self.run, self)
        self.run.leave()
        return text

    def call_block(self, name: str) -> str:
        """The text of a block: the first of those of its name."""
        return self.blocks[name][0](self.run, self)

    def call_required(self, name: str) -> str:
        """The same of a block that must be replaced."""
        if len(self.blocks[name]) <= 1:
            refuse("PC0414", f"the required block `{name}` is not there", "define it in the template that extends this one")
        return self.call_block(name)

    def find_super(self, name: str, own: Render) -> Any:
        """What `super` is in the block `own`."""
        stack = self.blocks.get(name, [])
        place = stack.index(own) + 1 if own in stack else 0
        return BlockCall(name, self, stack, place) if 0 < place < len(stack) else _no_block(name)


class BlockCall:
    """A block, to be called."""

    __slots__ = ("name", "names", "place", "stack")

    def __init__(self, name: str, names: Names, stack: list[Render], place: int) -> None:
        self.name = name
        self.names = names
        self.stack = stack
        self.place = place

    def call(self) -> str:
        """Its text."""
        run = self.names.run
        run.enter(0)
        text = self.stack[self.place](run, self.names)
        run.leave()
        return text

    @property
    def super(self) -> Any:
        """The block it replaces."""
        above = self.place + 1
        return BlockCall(self.name, self.names, self.stack, above) if above < len(self.stack) else _no_block(self.name)


def _no_block(name: str) -> Missing:
    return Missing("super", hint=f"there is no block `{name}` above this one")


class TemplateBlocks:
    """`self`: the blocks of the template by name."""

    __slots__ = ("names",)

    def __init__(self, names: Names) -> None:
        self.names = names

    def find(self, name: str) -> Any:
        """A block; undefined where there is none."""
        stack = self.names.blocks.get(name)
        return BlockCall(name, self.names, stack, 0) if stack else Missing(name, hint=f"there is no block `{name}`")
