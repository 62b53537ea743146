"""A loaded state with its digest (`State`), a YAML value with its place (`Node`), and the pointers of values in a state (`Pointers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.text.json import digest_canonical_json, join_pointer

_Step = tuple[int, str | int] | None
_Met = tuple[Any, Any, str | int]
"""A mapping or list, its holder, and its key or index there."""


class LazyDigest:
    """The digest of plain data as canonical JSON, computed on first use, since most renders show it nowhere. Pickling computes it."""

    __slots__ = ("_known", "_value")

    def __init__(self, known: str = "", value: Any = None) -> None:
        """Set the digest, or the value to compute it from."""
        self._known = known
        self._value = value

    def find(self) -> str:
        """Return `sha256:` and 64 hexadecimal digits. The first call computes them, and releases the data."""
        value = self._value
        if not self._known:
            self._known = digest_canonical_json(value)
            self._value = None
        return self._known

    def __reduce__(self) -> tuple[type[LazyDigest], tuple[str]]:
        return LazyDigest, (self.find(),)


@frozen(eq=False)
class State:
    """A valid state, as templates see it.

    - `value`: the data. Defaults are filled in, and mappings are sorted by key. Nothing changes it.
    - `name`: the name of the state in findings.
    - `warnings`: the warnings from loading it.
    - `shared`: mappings and lists that the schema fills in at several places. Only these, and what they contain, occur at more than one
      place. None if that is not known.
    """

    value: Mapping[str, Any]
    late_digest: LazyDigest = field(repr=False)
    name: str
    warnings: tuple[Diagnostic, ...] = ()
    shared: Sequence[Any] | None = field(default=None, repr=False)

    @property
    def digest(self) -> str:
        """The sha256 of the state as it was given, in the form `sha256:...`."""
        return self.late_digest.find()


@frozen(eq=False)
class Node:
    """A YAML value, its place, and the folder to which paths in it are relative.

    `value` is a dict of Nodes, a tuple of Nodes, or a str, int, float, bool or None. `raw` is the source text of a scalar, from which
    thresholds and percents are read. `keys` has the place of each key of a mapping, and is None for other values. Two Nodes are equal only
    if they are the same object.
    """

    value: Any
    span: Span
    folder: str
    raw: str = ""
    keys: Mapping[str, Span] | None = None

    def get(self, key: str) -> Node | None:
        """Return the value of `key` in a mapping, or None if there is no such key. A null is a Node, not None."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def items(self) -> Iterator[tuple[str, Node]]:
        """Return the entries of a mapping, in the file's order. Other values have none."""
        return iter(self.value.items() if isinstance(self.value, dict) else ())

    def find_text(self, key: str) -> str | None:
        """Return the text of a scalar under `key`, or None if the key is missing or null."""
        found = self.get(key)
        return str(found.value) if found is not None and found.value is not None else None

    def text(self, key: str, default: str = "") -> Any:
        """Return the text of a scalar under `key`, or the default.

        The return type is Any, since most texts are among a few that the schema allows.
        """
        found = self.find_text(key)
        return default if found is None else found

    def flag(self, key: str) -> bool:
        """Return whether `key` is true. A missing key is not."""
        found = self.get(key)
        return found is not None and bool(found.value)

    def number(self, key: str, default: int) -> int:
        """Return the whole number under `key`, or the default."""
        found = self.find_number(key)
        return default if found is None else found

    def find_number(self, key: str) -> int | None:
        """Return the whole number under `key`, or None if the key is missing or null."""
        found = self.get(key)
        return int(found.value) if found is not None and found.value is not None else None

    def list(self, key: str) -> tuple[Node, ...]:
        """Return the entries of the list under `key`. A value that is not a list is the only entry; a missing key or a null has none."""
        found = self.get(key)
        if found is None or found.value is None:
            return ()
        return found.value if isinstance(found.value, tuple) else (found,)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the entries of `list` as texts."""
        return tuple([str(one.value) for one in self.list(key)])

    def key_span(self, key: str) -> Span:
        """Return the place of `key`, or that of the mapping if the key has none."""
        return self.keys.get(key, self.span) if self.keys is not None else self.span

    def plain(self) -> Any:
        """Return the value without places, as dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value


class Pointers:
    """The JSON pointers of mappings and lists in a state. The state is walked only as far as a lookup requires."""

    def __init__(self, state: Mapping[str, Any], shared: Iterable[Any] | None = None) -> None:
        """Set the state, and the `shared` of its `State`."""
        self._state = state
        self._shared = None if shared is None else {id(one) for outer in shared for one, _, _ in _iter_steps(outer)}
        self._walks: dict[tuple[str, ...], Iterator[_Met]] = {}
        self._near: dict[int, _Step] = {id(state): None}
        self._steps: dict[int, _Step] = {}

    def find(self, value: object, paths: Iterable[Sequence[str]] | None = None) -> str | None:
        """Return the pointer of a mapping or list of the state, or None for anything else, and for one at several places.

        `paths` are the paths that the value was read from, each beginning with `state`, if they are known. The value is then only looked
        for there, from the newest end of each list.
        """
        if value.__class__ is not dict and value.__class__ is not list:
            return None
        if self._shared is None or paths is None or id(value) in self._shared:
            return self._find_anywhere(value)
        return self._find_near(value, sorted({tuple(path[1:]) for path in paths}))

    def find_at(self, value: object, paths: Iterable[Sequence[str]]) -> str | None:
        """Return the pointer of `value` if it is at one of `paths`, each of which begins with `state`, or else None."""
        own = sorted(tuple(path[1:]) for path in paths if path[0] == "state")
        return next((join_pointer(path) for path in own if self._follow(path) is value), None)

    def _follow(self, path: Sequence[str]) -> object:
        value: Any = self._state
        for name in path:
            value = value.get(name) if value.__class__ is dict else None
        return value

    def _find_anywhere(self, value: object) -> str | None:
        if not self._steps:
            for one, holder, name in _iter_steps(self._state):
                self._steps[id(one)] = (id(holder), name) if id(one) not in self._steps else None
        return self._render(value, self._steps)

    def _find_near(self, value: object, paths: Sequence[tuple[str, ...]]) -> str | None:
        """Return the pointer of a value from walks of the paths. They advance in turn, only until one of them finds the value."""
        walks = [self._walks.setdefault(path, _walk(self._state, path)) for path in paths]
        while id(value) not in self._near and walks:
            walks = [walk for walk in walks if self._go_on(walk)]
        return self._render(value, self._near)

    def _go_on(self, walk: Iterator[_Met]) -> bool:
        met = next(walk, None)
        if met is not None:
            self._near[id(met[0])] = id(met[1]), met[2]
        return met is not None

    def _render(self, value: object, known: Mapping[int, _Step]) -> str | None:
        steps: list[str | int] = []
        at = id(value)
        while at != id(self._state):
            step = known.get(at)
            if step is None:
                return None
            at, name = step
            steps.append(name)
        return join_pointer(reversed(steps))


def _iter_steps(value: Any) -> Iterator[_Met]:
    """Yield every mapping and list with its holder and its key or index there. The outermost has no holder.

    A value with two holders is yielded twice, and entered once.
    """
    yield value, None, ""
    met: set[int] = {id(value)}
    waiting: list[Any] = [value]
    while waiting:
        holder = waiting.pop()
        for name, inner in holder.items() if holder.__class__ is dict else enumerate(holder):
            if inner.__class__ is dict or inner.__class__ is list:
                yield inner, holder, name
                if id(inner) not in met:
                    met.add(id(inner))
                    waiting.append(inner)


def _walk(state: Mapping[str, Any], path: Sequence[str]) -> Iterator[_Met]:
    """Yield what is on the way to a path, at the path, and below it.

    It must not refer to its caller, or a state would outlive its render.
    """
    holder: Any = state
    for name in path:
        if holder.__class__ is list:
            break
        value = holder.get(name)
        if value.__class__ is not dict and value.__class__ is not list:
            return
        yield value, holder, name
        holder = value
    yield from _iter_newest(holder)


def _iter_newest(holder: Any) -> Iterator[_Met]:
    """Yield every mapping and list in a value, each before its content, and lists from their newest end."""
    waiting = [_iter_children(holder)]
    while waiting:
        met = next(waiting[-1], None)
        if met is None:
            waiting.pop()
        else:
            yield met
            waiting.append(_iter_children(met[0]))


def _iter_children(holder: Any) -> Iterator[_Met]:
    if holder.__class__ is dict:
        found = ((value, holder, name) for name, value in holder.items())
    else:
        found = ((holder[at], holder, at) for at in range(len(holder) - 1, -1, -1))
    return (met for met in found if met[0].__class__ is dict or met[0].__class__ is list)
