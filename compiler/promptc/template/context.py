"""What one run of a template knows: its names, and what it has used up."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2.runtime import Context
from jinja2.utils import missing

from promptc.template.compare import compare
from promptc.template.module import Module
from promptc.template.payments import check_key
from promptc.template.run import Run
from promptc.template.show import show

Blocks = Mapping[str, Callable[[Context], Iterator[str]]]


class NameContext(Context):
    """Jinja's context over a mapping that is neither copied nor changed; names it lacks are looked for among the few allowed functions."""

    def __init__(self, environment: Any, parent: Mapping[str, Any], name: str | None, blocks: Blocks, run: Run) -> None:
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

    def include(self, name: str, locals: Mapping[str, Any] | None) -> Iterator[str]:
        """The parts of an included template; `locals` None is `without context`."""
        if locals is None:
            yield from self.load_module(name, None)
            return
        yield from self._run_file(name, self._with(locals))[1]

    def _run_file(self, name: str, names: Mapping[str, Any]) -> "tuple[NameContext, list[str]]":
        template: Any = self.environment.get_template(name)
        context = NameContext(self.environment, names, name, template.blocks, self.run)
        self.run.enter(template.weight)
        parts = list(template.root_render_func(context))
        self.run.leave()
        return context, parts

    def load_module(self, name: str, locals: Mapping[str, Any] | None) -> Module:
        """An imported template. Without context it is run once in a render, so nothing is carried from one render to the next."""
        known = self.run.modules.get(name) if locals is None else None
        if known is not None:
            return known
        context, parts = self._run_file(name, {} if locals is None else self._with(locals))
        module = Module(name, parts, context.get_exported())
        if locals is None:
            self.run.modules[name] = module
        return module

    def join_parts(self, parts: Iterable[str]) -> str:
        """The text of a macro, block or capture."""
        made = list(parts)
        self.run.make(sum(map(len, made)))
        return "".join(made)

    def join_values(self, values: Iterable[object]) -> str:
        """The text of `a ~ b`."""
        return self.join_parts([show(self.run, value) for value in values])

    def show(self, value: object) -> str:
        """The text of a value that is printed."""
        return show(self.run, value)

    def compare(self, operator: str, left: Any, right: Any) -> Any:
        """`left == right` and its like, paid for."""
        return compare(self.run, operator, left, right)

    def slice(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """`value[start:stop:step]`, paid for."""
        self.run.take(1 + (len(value) >> 3))
        return value[start:stop:step]

    def key(self, key: Any) -> Any:
        """A key of a mapping written in the template."""
        return check_key(key)
