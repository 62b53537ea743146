"""What one run of a template knows: its names, and what it has used up."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.utils import missing

from promptc.template.fault import refuse
from promptc.template.limits import MAX_DEPTH, MAX_STEPS, MAX_TEXT
from promptc.template.show import show

Blocks = Mapping[str, Callable[[Context], Iterator[str]]]


class Counter(Protocol):
    """What `tokens` and `truncate_at` need of the pack's counter."""

    unit: int

    def measure(self, text: str) -> int:
        """Units in a text; `unit` of them are a token."""

    def token_ends(self, text: str) -> Sequence[int]:
        """Where tokens end, in characters."""


class Run:
    """The counters of one render, shared by everything it includes. Never shared between renders."""

    __slots__ = ("left", "depth", "modules", "counter")

    def __init__(self, counter: Counter | None) -> None:
        self.counter = counter
        self.left = MAX_STEPS
        self.depth = 0
        self.modules: dict[str, Any] = {}

    def take(self, steps: int) -> None:
        """Pay for `steps` before they are made."""
        self.left -= steps
        if self.left < 0:
            refuse("PC0430", f"the template takes more than {MAX_STEPS} steps", "loop over less: limit the list, or the loops inside loops")

    def made(self, characters: int) -> None:
        """Pay for a text of so many characters before it is made."""
        if characters > MAX_TEXT:
            refuse("PC0430", f"the template makes a text of more than {MAX_TEXT} characters", "make less text: limit what is repeated")
        self.take(characters >> 4)

    def enter(self) -> None:
        """Go into a macro, include or block; `leave` comes after."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            refuse("PC0430", f"macros and includes call each other more than {MAX_DEPTH} deep", "let the recursion end sooner")

    def leave(self) -> None:
        """The way back from `enter`."""
        self.depth -= 1


class NameContext(Context):
    """Jinja's context over a mapping that is neither copied nor changed; names it lacks are looked for among the few allowed functions."""

    def __init__(
        self,
        environment: Any,
        parent: Mapping[str, Any],
        name: str | None,
        blocks: Blocks,
        run: Run,
    ) -> None:
        self.parent = parent  # type: ignore[assignment]
        self.vars = {}
        self.environment = environment
        self.eval_ctx = environment.eval_ctx
        self.exported_vars = set()
        self.name = name
        self.blocks = {key: [block] for key, block in blocks.items()} if blocks else {}
        self.run = run

    def resolve_or_missing(self, key: str) -> Any:
        """Names the template has set, then those it was given, then the functions."""
        if key in self.vars:
            return self.vars[key]
        if key in self.parent:
            return self.parent[key]
        return self.environment.globals.get(key, missing)

    def get_all(self) -> dict[str, Any]:
        """Every name but the functions."""
        return {**self.parent, **self.vars}

    def derived(self, locals: Mapping[str, Any] | None = None) -> "NameContext":
        """The context of a scoped block: this one and the names of the loop around."""
        inner = NameContext(self.environment, self._with(locals), self.name, {}, self.run)
        inner.blocks = {key: list(blocks) for key, blocks in self.blocks.items()}
        return inner

    def _with(self, locals: Mapping[str, Any] | None) -> dict[str, Any]:
        found = self.get_all()
        found.update((key, value) for key, value in (locals or {}).items() if value is not missing)
        return found

    def find_template(self, name: str) -> Any:
        """A file the template brings in."""
        found: Any = self.environment.get_template(name)
        return found

    def include(self, name: str, locals: Mapping[str, Any] | None) -> Iterator[str]:
        """The parts of an included template; `locals` None is `without context`."""
        if locals is None:
            yield from self.load_module(name, None).parts
            return
        template = self.find_template(name)
        self.run.enter()
        self.run.take(template.weight)
        yield from template.root_render_func(NameContext(self.environment, self._with(locals), name, template.blocks, self.run))
        self.run.leave()

    def load_module(self, name: str, locals: Mapping[str, Any] | None) -> "Module":
        """An imported template. Without context it is run once in a render, so nothing is carried from one render to the next."""
        if locals is None and name in self.run.modules:
            known: Module = self.run.modules[name]
            return known
        template = self.find_template(name)
        context = NameContext(self.environment, {} if locals is None else self._with(locals), name, template.blocks, self.run)
        self.run.enter()
        self.run.take(template.weight)
        module = Module(name, tuple(template.root_render_func(context)), context.get_exported())
        self.run.leave()
        if locals is None:
            self.run.modules[name] = module
        return module

    def join_parts(self, parts: Iterable[str]) -> str:
        """The text of a macro, block or capture."""
        made = list(parts)
        self.run.made(sum(map(len, made)))
        return "".join(made)

    def join_values(self, values: Iterable[object]) -> str:
        """The text of `a ~ b`."""
        return self.join_parts(map(show, values))


class Module:
    """An imported template: what it exports."""

    __slots__ = ("name", "parts", "exports")

    def __init__(self, name: str, parts: tuple[str, ...], exports: Mapping[str, Any]) -> None:
        self.name = name
        self.parts = parts
        self.exports = exports

    def __getattr__(self, name: str) -> Any:
        if name in self.exports:
            return self.exports[name]
        raise AttributeError(name)


def weigh(node: nodes.Node) -> int:
    """How many steps evaluating `node` once takes: its nodes."""
    count = 0
    waiting = [node]
    while waiting:
        count += 1
        waiting.extend(waiting.pop().iter_child_nodes())
    return count
