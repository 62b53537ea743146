"""A loaded state (`State`) with its digest, a YAML value with its place (`Node`), and where a value stands in a state (`Pointers`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.text.json import digest_canonical_json, join_pointer

_Step = tuple[int, str | int] | None
_Met = tuple[Any, Any, str | int]
"""A mapping or list, what holds it, and under what."""


class LazyDigest:
    """The digest of plain data as canonical JSON, made when it is first asked for: most renders put it nowhere. Pickles as what it is."""

    __slots__ = ("_known", "_value")

    def __init__(self, known: str = "", value: Any = None) -> None:
        """Either is given."""
        self._known = known
        self._value = value

    def find(self) -> str:
        """`sha256:` and 64 hexadecimal digits. The data is then let go of."""
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
    - `name`: what findings call the state.
    - `warnings`: what was said while it was loaded.
    - `shared`: mappings and lists that the schema fills in at several places: nothing but they and what they hold stands at more than one.
      None where that is not known.
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
    """JSON pointers of the mappings and lists of a state. The state is walked only as far as that takes."""

    def __init__(self, state: Mapping[str, Any], shared: Iterable[Any] | None = None) -> None:
        """`shared` is that of a `State`."""
        self._state = state
        self._shared = None if shared is None else {id(one) for outer in shared for one, _, _ in _iter_steps(outer)}
        self._walks: dict[tuple[str, ...], Iterator[_Met]] = {}
        self._near: dict[int, _Step] = {id(state): None}
        self._steps: dict[int, _Step] = {}

    def find(self, value: object, paths: Iterable[Sequence[str]] | None = None) -> str | None:
        """The pointer of a mapping or list of the state; None for anything else, and for one that the state holds at several places.

        `paths` are those that made the value, each led by `state`, where they are known: the value is looked for at no other, from the
        newest end of each list.
        """
        if value.__class__ is not dict and value.__class__ is not list:
            return None
        if self._shared is None or paths is None or id(value) in self._shared:
            return self._find_anywhere(value)
        return self._find_near(value, sorted({tuple(path[1:]) for path in paths}))

    def find_at(self, value: object, paths: Iterable[Sequence[str]]) -> str | None:
        """Find the pointer of `value` where it stands at one of a few paths, each led by `state`; None where it does not."""
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
        """What the walks of the paths meet; each goes a step in turn, and only until the value is met."""
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
    """Every mapping and list, the outermost as held by nothing, with what holds it and under what; what is held twice comes twice, and is
    entered once.
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
    """What lies on the way there, and what stands there and in it. It knows nothing of who asks, so that no state outlives its render."""
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
    """Every mapping and list in one, each before what it holds, lists from their newest end."""
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
