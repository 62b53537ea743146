"""A loaded state (`State`) with its digest, a YAML value with its place (`Node`), and where a value stands in a state (`Pointers`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.text.json import join_pointer, render_digest

_Step = tuple[int, str | int] | None


class LazyDigest:
    """The digest of a text that is rendered when it is first asked for: most renders put it nowhere. Pickles as what it is."""

    __slots__ = ("_known", "_render")

    def __init__(self, known: str = "", render: Callable[[], bytes] | None = None) -> None:
        """Either is given."""
        self._known = known
        self._render = render

    def find(self) -> str:
        """`sha256:` and 64 hexadecimal digits. What renders the text is then let go of."""
        render = self._render
        if render is not None:
            self._known = render_digest(render())
            self._render = None
        return self._known

    def __reduce__(self) -> tuple[type[LazyDigest], tuple[str]]:
        return LazyDigest, (self.find(),)


@frozen(eq=False)
class State:
    """A valid state, as templates see it.

    - `value`: the data. Defaults are filled in, and mappings are sorted by key. Nothing changes it.
    - `name`: what findings call the state.
    - `warnings`: what was said while it was loaded.
    """

    value: Mapping[str, Any]
    late_digest: LazyDigest = field(repr=False)
    name: str
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256 of the state as it was given, in the form `sha256:...`."""
        return self.late_digest.find()


@frozen(eq=False)
class Node:
    """A YAML value, its place, and the folder that paths in it are relative to.

    `value` is a dict of Nodes, a tuple of Nodes, or a str, int, float, bool or None. `raw` is a scalar's own text
    (thresholds and percents are read from it), `keys` tells where each key of a mapping stands, and is None of what is none.
    Two Nodes are equal only if they are the same object.
    """

    value: Any
    span: Span
    folder: str
    raw: str = ""
    keys: Mapping[str, Span] | None = None

    def get(self, key: str) -> Node | None:
        """The value of `key` in a mapping, or None when it is not there; a null is a Node."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def items(self) -> Iterator[tuple[str, Node]]:
        """The entries of a mapping, in the file's order; nothing for other kinds."""
        return iter(self.value.items() if isinstance(self.value, dict) else ())

    def find_text(self, key: str) -> str | None:
        """The text of a scalar under `key`; None where the key is not there, or null."""
        found = self.get(key)
        return str(found.value) if found is not None and found.value is not None else None

    def text(self, key: str, default: str = "") -> Any:
        """The text of a scalar under `key`, or the default. Of any type, since most are one of a few words that the schema allows."""
        found = self.find_text(key)
        return default if found is None else found

    def flag(self, key: str) -> bool:
        """Whether `key` is true; a key that is not there is not."""
        found = self.get(key)
        return found is not None and bool(found.value)

    def number(self, key: str, default: int) -> int:
        """The whole number under `key`, or the default."""
        found = self.find_number(key)
        return default if found is None else found

    def find_number(self, key: str) -> int | None:
        """The whole number under `key`; None where the key is not there, or null."""
        found = self.get(key)
        return int(found.value) if found is not None and found.value is not None else None

    def list(self, key: str) -> tuple[Node, ...]:
        """The entries of the list under `key`; a value that is no list is the only entry. Nothing where the key is not there, or null."""
        found = self.get(key)
        if found is None or found.value is None:
            return ()
        return found.value if isinstance(found.value, tuple) else (found,)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of the entries of `list`."""
        return tuple([str(one.value) for one in self.list(key)])

    def key_span(self, key: str) -> Span:
        """The place of `key`, or of the mapping when it has none of its own."""
        return self.keys.get(key, self.span) if self.keys is not None else self.span

    def plain(self) -> Any:
        """The value without places: dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value


class Pointers:
    """JSON pointers of the mappings and lists of a state; the state is walked once, when first asked for what `find_at` does not find."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self._steps: dict[int, _Step] = {}

    def find(self, value: object) -> str | None:
        """The pointer of a mapping or list of the state; None for anything else, and for one that the state holds at several places."""
        if value.__class__ is not dict and value.__class__ is not list:
            return None
        if not self._steps:
            self._steps = dict(_iter_steps(self._state))
        return self._render(value) if id(value) in self._steps else None

    def find_at(self, value: object, paths: Iterable[Sequence[str]]) -> str | None:
        """Find the pointer of `value` where it stands at one of a few paths, each led by `state`; None where it does not."""
        own = sorted(tuple(path[1:]) for path in paths if path[0] == "state")
        return next((join_pointer(path) for path in own if self._follow(path) is value), None)

    def _follow(self, path: Sequence[str]) -> object:
        value: Any = self._state
        for name in path:
            value = value.get(name) if value.__class__ is dict else None
        return value

    def _render(self, value: object) -> str | None:
        steps: list[str | int] = []
        at = id(value)
        while at != id(self._state):
            step = self._steps[at]
            if step is None:
                return None
            at, name = step
            steps.append(name)
        return join_pointer(reversed(steps))


def _iter_steps(state: Mapping[str, Any]) -> Iterator[tuple[int, _Step]]:
    """Of every mapping and list, which holds it and under what; None for what is held twice, as one default may be."""
    met: set[int] = {id(state)}
    yield id(state), None
    waiting: list[Any] = [state]
    while waiting:
        holder = waiting.pop()
        for name, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if value.__class__ is not dict and value.__class__ is not list:
                continue
            if id(value) in met:
                yield id(value), None
                continue
            met.add(id(value))
            yield id(value), (id(holder), name)
            waiting.append(value)
