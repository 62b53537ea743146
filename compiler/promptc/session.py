"""Conversations: a `Session` renders a state that changes turn after turn, and does only the work that a change needs.

Its results equal those of a render of the whole state: bytes, tokens, reports, findings. `LiveState` applies a JSON Patch (RFC 6902) to a
state, then validates and fills in the touched parts. A state that is not certainly valid is loaded whole, so the findings are the same.

`LocalSchema` applies a schema to parts of a value. Most keywords judge the members of a container one by one; for these it is enough to
check the changed members. Only a keyword that looks at several members together, or chooses by them, needs the whole container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import RLock

from promptc.diag.findings import Diagnostic, FitError, PromptcError, UsageError, count_noun, show_value, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.json import MAX_STATE_BYTES, copy_part, count_bytes, load_json
from promptc.frontend.schema import runtime
from promptc.frontend.schema.check import Filler, FillWriter, Verdicts, compile_lazily
from promptc.frontend.schema.lint import Schema
from promptc.frontend.schema.runtime import Fill, Fuel, FuelError, spell
from promptc.frontend.state import MAX_FILLED, StateSchema, count_fuel, dump_state, read_state
from promptc.model.state import LazyDigest, State
from promptc.passes.memory import TurnMemory
from promptc.pipeline import Outcome, Prompt
from promptc.text.json import MISSING, find_place, join_pointer, read_at, render_canonical_json, split_pointer

Compile = Callable[..., Outcome]
"""Renders a state of a pack, as `Pack.compile` does."""

_BESIDE: Mapping[str, str] = {"add": "value", "remove": "", "replace": "value", "move": "from", "copy": "from", "test": "value"}
"""The operations of a JSON Patch, and the key that each has in addition to `path` (empty: none)."""

_EXAMPLE = 'write `{"op": "add", "path": "/transcript/-", "value": {"text": "Hello."}}`'

_OF_ALL = frozenset(
    "not if anyOf oneOf enum const dependentSchemas patternProperties prefixItems uniqueItems contains unevaluatedProperties "
    "unevaluatedItems".split()
)
"""Keywords whose verdict on a container depends on more than the verdict on each member alone."""

_OF_SIZE = ("required", "minProperties", "maxProperties", "propertyNames", "dependentRequired", "minItems", "maxItems")
"""Keywords that look at which members exist, and not at their content."""

_MOST_PLACES = 10_000
"""The most places that are remembered. The keys of a mapping may be anything."""


class Session:
    """One conversation. Several threads may use a session; it handles one call at a time.

    A session keeps one state, and the work of the last two renders. Its size does not grow with the number of turns.
    """

    def __init__(self, compile: Compile, schema: LocalSchema | None, name: str) -> None:
        """Create a session without a state. Use `pack.session()`."""
        self._compile = compile
        self._live = LiveState(schema, name)
        self._memory = TurnMemory()
        self._lock = RLock()

    @property
    def state(self) -> State | None:
        """The state as templates see it, or None before the first one. A state never changes: an update makes a new one."""
        return self._live.state

    def update(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """Apply changes to the state: all of them or none. Only what changed is validated against the schema and filled in.

        - `changes`: a JSON Patch (RFC 6902) of the state as it was given, without the defaults of its schema: a list of mappings, such as
          `{"op": "add", "path": "/transcript/-", "value": block}` and `{"op": "replace", "path": "/input", "value": "I wait."}`.

        Raises `UsageError` if `changes` is not a JSON Patch, leads nowhere, or fails its `test`, or if the session has no state yet. Raises
        `PromptcError` if the new state would not be valid. After an error the state is unchanged.
        """
        with self._lock:
            self._live.change(changes)

    def append(self, pointer: str, *elements: Any) -> None:
        """Append elements to the list at a JSON pointer: all of them or none. Raises what `update` raises, and `UsageError` for no list."""
        with self._lock:
            self._live.append(pointer, elements)

    def render(
        self,
        state: State | bytes | Mapping[str, Any] | None = None,
        *,
        budget: int | None = None,
        model: str | None = None,
        variants: Mapping[str, str] | None = None,
        patches: Sequence[str] = (),
        format: str | None = None,
        stores: Mapping[str, str] | None = None,
    ) -> Prompt:
        """Render the current state to a prompt.

        - `state`: a whole new state, as JSON bytes or a dict, that replaces the current one first. Parts that are the same in both states
          are not rendered again. A `State` can be rendered, too, but then not be changed: it has no record of what it was given.

        All other arguments are those of `pack.render`. Raises what `pack.render` raises, and `UsageError` if the session has no state yet.
        """
        asked = {"budget": budget, "model": model, "variants": variants, "patches": patches, "format": format, "stores": stores}
        with self._lock:
            if state is not None:
                self._live.load(state)
            current = self._live.load_current()
            self._memory.begin_turn()
            try:
                outcome = self._compile(current, **asked, memory=self._memory)
            except PromptcError:
                outcome = self._compile(current, **asked)  # a render without memory reports the findings
        if outcome.emitted is None:
            raise FitError(outcome.errors, outcome.report)
        return Prompt(outcome)


class LiveState:
    """A state that can be changed. Not for several threads. The `State` objects it returns never change; they share their common parts."""

    def __init__(self, schema: LocalSchema | None, name: str) -> None:
        """Create it without a state. `name` is the name of the state in findings."""
        self._schema = schema
        self._name = name
        self._raw: Any = None
        self._cost = _Cost()
        self.state: State | None = None

    def load(self, given: State | bytes | Mapping[str, Any]) -> State:
        """Replace the state. Raises what `load_state` raises; the old state then remains.

        Values that are equal in the old and the new state, at the same place, become the same objects, except in a `State`.
        """
        if isinstance(given, State):
            self._raw, self.state = MISSING, given
            return given
        schema = self._schema
        raw, size = read_state(given, schema.whole if schema is not None else None, self._name)
        value = schema.fill_whole(raw) if schema is not None else raw
        if self.state is not None and self._raw is not MISSING:
            value = share_parts(self.state.value, value)
        return self._settle(raw, value, _Cost(size, 6 * size))

    def load_current(self) -> State:
        """Return the state. Raises `UsageError` (PC0749) if there is no state yet."""
        if self.state is None:
            raise UsageError(
                [Diagnostic("PC0749", "the session has no state yet", help="begin with a whole state: `session.render(state)`")]
            )
        return self.state

    def change(self, patch: Sequence[Mapping[str, Any]]) -> State:
        """Apply all changes of a JSON Patch, in order, or none.

        Raises `UsageError` if `patch` is not a JSON Patch, if a change leads nowhere, or if a `test` fails. Raises `PromptcError` if the
        new state would not be valid. After an error the state is unchanged.
        """
        if not isinstance(patch, list | tuple):
            raise UsageError([Diagnostic("PC0747", f"a JSON Patch is a list of mappings, not {show_value(patch)}", help=_EXAMPLE)])
        change = _Change(self._load_raw(), self.load_current().value, self._cost)
        for number, one in enumerate(patch, 1):
            change.make(one, number)
        value = self._complete(change)
        return self.load(change.raw) if value is None else self._settle(change.raw, value, change.cost)

    def append(self, pointer: str, elements: Sequence[Any]) -> State:
        """Append elements to the list at a JSON pointer. Raises what `change` raises, and `UsageError` (PC0748) if there is no list."""
        is_pointer = isinstance(pointer, str) and (not pointer or pointer.startswith("/"))
        above = read_at(self._load_raw(), split_pointer(pointer)) if is_pointer else MISSING
        if above is not MISSING and above.__class__ is not list:
            what = f"`append` takes the pointer of a list, and {f'`{pointer}`' if pointer else 'the state'} is {show_value(above)}"
            raise UsageError([Diagnostic("PC0748", what, help="`update` can set a key of a mapping, or replace the value")])
        return self.change([{"op": "add", "path": f"{pointer}/-", "value": one} for one in elements])

    def _load_raw(self) -> Any:
        """Return the state as it was given. Raises `UsageError` for no state, and for a `State` (PC0755), whose defaults are filled in."""
        self.load_current()
        if self._raw is MISSING:
            help = "begin with `session.render(...)` of the JSON bytes or the dict that you loaded it from"
            raise UsageError([Diagnostic("PC0755", "the session has a `State`, and changes a state without its defaults", help=help)])
        return self._raw

    def _settle(self, raw: Any, value: Any, cost: _Cost) -> State:
        shared = self._schema.list_shared() if self._schema is not None else ()
        self._raw, self._cost = raw, cost
        self.state = State(value, LazyDigest(value=raw), self._name, shared=shared)
        return self.state

    def _complete(self, change: _Change) -> Any:
        """Return the changed state with its defaults, or None if it is not certainly valid and has to be loaded whole."""
        cost = change.cost
        if not change.is_plain or change.raw.__class__ is not dict or not cost.is_small(change.raw):
            return None
        schema = self._schema
        if schema is None:
            return change.raw
        filling = _Filling(schema, cost)
        try:
            value = filling.fill(change.touched, schema.root, schema.filler, change.raw, change.filled)
        except (_UnsureError, FuelError, RecursionError):
            return None
        return value if cost.is_covered() else None


class _UnsureError(Exception):
    """A part is not certainly valid."""


class _Cost:
    """The cost of a state so far, so that a state that grows has the same limits as one that is loaded whole."""

    def __init__(self, size: int = 0, most: int = 0, steps: int = 0, filled: int = 0) -> None:
        self.size = size
        """The least number of characters of the state's JSON text."""
        self.most = most
        """The most bytes that the JSON text has."""
        self.steps = steps
        """The number of references that were followed to validate the changes."""
        self.filled = filled
        """The number of keys that were filled into the changes."""

    def go_on(self) -> _Cost:
        """Return a copy to count on from."""
        return _Cost(self.size, self.most, self.steps, self.filled)

    def is_small(self, raw: Any) -> bool:
        """Return whether the JSON text is certainly short enough. The text is measured only if the estimate is too long."""
        if self.most > MAX_STATE_BYTES:
            self.most = count_bytes(raw)
        return self.most <= MAX_STATE_BYTES

    def is_covered(self) -> bool:
        """Return whether a whole load would certainly stay within its limits of validation steps and of default keys."""
        return self.steps <= count_fuel(self.size) // 2 and self.filled <= MAX_FILLED // 2


class _Touched:
    """The changed parts of a container, by key or index: members that are new, and members with changes inside."""

    __slots__ = ("inner", "is_new", "is_resized")

    def __init__(self, *, is_new: bool = False) -> None:
        self.inner: dict[Any, _Touched] = {}
        self.is_new = is_new
        self.is_resized = False

    def enter(self, key: str | int) -> _Touched:
        """Return the changes inside a member."""
        return self.inner.setdefault(key, _Touched())

    def shift(self, place: int, by: int) -> None:
        """Move the entries of all list elements from `place` on by `by`."""
        self.inner = {key + by if key >= place else key: one for key, one in self.inner.items()}


class _Change:
    """A JSON Patch in progress, applied to the state as given and as filled in. Each container on the way to a change is copied once."""

    def __init__(self, raw: Any, filled: Any, cost: _Cost) -> None:
        self.raw = raw
        self.filled = filled
        self.cost = cost.go_on()
        self.touched = _Touched()
        self.is_plain = True
        """False once a new value could not be copied as plain data."""
        self._own: dict[int, Any] = {}
        self._name = ""

    def make(self, given: Mapping[str, Any], number: int) -> None:
        """Apply one change, the `number`th. Raises `UsageError`."""
        op, way, beside = _read_change(given, number)
        self._name = f"change {number}, `{op} {join_pointer(way)}`"
        if op == "test":
            self._test(way, beside)
        elif op == "remove":
            self._remove(way)
        elif op == "move" or op == "copy":
            self._bring(way, split_pointer(beside), moves=op == "move")
        else:
            if op == "replace":
                self._check_there(way)
            self._put(way, self._copy(beside, len(way)), inserts=op == "add")

    def _copy(self, given: Any, depth: int) -> Any:
        copied = copy_part(given, depth)
        if copied is None:
            self.is_plain = False
            return load_json(dump_state({"value": given}), self._name).value["value"]  # refuses what is no JSON
        self.cost.size += copied.size
        self.cost.most += copied.most
        return copied.value

    def _put(self, way: Sequence[str], value: Any, *, inserts: bool) -> None:
        """Set `value` at a path. In a list it replaces an element, or is inserted before it."""
        if not way:
            self.raw = self.filled = value
            self.touched = _Touched(is_new=True)
            return
        raw, filled, touched = self._enter(way[:-1])
        key: Any = way[-1]
        if raw.__class__ is list and inserts:
            key = len(raw) if key in ("-", str(len(raw))) else self._read_place(raw, way)
            if key < len(raw):
                touched.shift(key, 1)
            raw.insert(key, value)
            if filled is not raw:
                filled.insert(key, value)
            touched.is_resized = True
        else:
            key = self._read_place(raw, way) if raw.__class__ is list else key
            is_there = raw.__class__ is list or key in raw
            if is_there:
                self._forget_size(raw[key])
            raw[key] = filled[key] = value
            if not is_there:
                touched.is_resized = True
                _sort(raw)
                _sort(filled)
        touched.inner[key] = _Touched(is_new=True)

    def _remove(self, way: Sequence[str]) -> None:
        self._check_there(way)
        if not way:
            raise self._refuse("leads nowhere: the state itself cannot be removed", "remove what is in it")
        raw, filled, touched = self._enter(way[:-1])
        key: Any = self._read_place(raw, way) if raw.__class__ is list else way[-1]
        self._forget_size(raw[key])
        del raw[key]
        if filled is not raw:
            del filled[key]
        touched.inner.pop(key, None)
        if raw.__class__ is list and key < len(raw):
            touched.shift(key, -1)
        touched.is_resized = True

    def _bring(self, way: Sequence[str], source: Sequence[str], *, moves: bool) -> None:
        self._check_there(source)
        value = read_at(self.raw, source)
        if moves:
            if list(way[: len(source)]) == list(source) and len(way) > len(source):
                raise self._refuse("leads nowhere: a value cannot move into itself", "name a `path` outside")
            self._remove(source)
        self._own.clear()  # a value that could not be copied is now at two places: a later change has to copy it
        self._put(way, self._copy(value, len(way)), inserts=True)

    def _test(self, way: Sequence[str], expected: Any) -> None:
        self._check_there(way)
        found, wanted = read_at(self.raw, way), load_json(dump_state({"value": expected}), self._name).value["value"]
        if spell(found) != spell(wanted):
            message = f"fails: the value there is {show_value(found)}, not {show_value(wanted)}"
            raise self._refuse(message, "nothing was changed: look at the state again, and make changes that fit it", "PC0753")

    def _enter(self, way: Sequence[str]) -> tuple[Any, Any, _Touched]:
        """Return the container at a path in both states, ready to be changed, and its touched parts."""
        self.raw, self.filled = self._take(self.raw, self.filled)
        raw, filled, touched = self.raw, self.filled, self.touched
        for depth, key in enumerate(way):
            at: Any = key
            if raw.__class__ is list:
                at = self._read_place(raw, way[: depth + 1])
            elif key not in raw:
                raise self._refuse_key(raw, way[: depth + 1])
            if raw[at].__class__ is not dict and raw[at].__class__ is not list:
                message = f"leads nowhere: `{join_pointer(way[: depth + 1])}` is {show_value(raw[at])}, neither a list nor a mapping"
                raise self._refuse(message, "replace the whole value instead")
            raw[at], filled[at] = self._take(raw[at], filled[at])
            raw, filled, touched = raw[at], filled[at], touched.enter(at)
        return raw, filled, touched

    def _take(self, raw: Any, filled: Any) -> tuple[Any, Any]:
        """Return containers that may be changed: copies, unless this change owns them. Both are one object if nothing is filled in."""
        own = raw if id(raw) in self._own else _copy(raw)
        own_filled = own if filled is raw else filled if id(filled) in self._own else _copy(filled)
        self._own[id(own)], self._own[id(own_filled)] = own, own_filled
        return own, own_filled

    def _check_there(self, way: Sequence[str]) -> None:
        """Raise `UsageError` if the state as given has no value at the path."""
        if read_at(self.raw, way) is not MISSING:
            return
        if way and isinstance(above := read_at(self.raw, way[:-1]), dict):
            raise self._refuse_key(above, way)
        raise self._refuse("leads nowhere: there is nothing there", "name a value that the state was given; `add` puts a new one there")

    def _read_place(self, elements: list[Any], way: Sequence[str]) -> int:
        place = find_place(elements, way[-1])
        if place is None:
            last = f"; its elements are 0 to {len(elements) - 1}" if len(elements) > 1 else ""
            message = f"leads nowhere: the list `{join_pointer(way[:-1])}` has {count_noun(len(elements), 'element')}{last}"
            raise self._refuse(message, f"`add` with the path `{join_pointer([*way[:-1], '-'])}` appends")
        return place

    def _refuse_key(self, members: Mapping[str, Any], way: Sequence[str]) -> UsageError:
        inside = f"`{join_pointer(way[:-1])}`" if len(way) > 1 else "the state"
        message = f"leads nowhere: {inside} was given no key {show_value(way[-1])}"
        return self._refuse(message, suggest(way[-1], list(members)) or "add it with `add`")

    def _refuse(self, message: str, help: str, code: str = "PC0748") -> UsageError:
        return UsageError([Diagnostic(code, f"{self._name}, {message}", help=help)])

    def _forget_size(self, value: Any) -> None:
        self.cost.size = max(0, self.cost.size - len(render_canonical_json(value)))


def _read_change(given: Mapping[str, Any], number: int) -> tuple[str, tuple[str, ...], Any]:
    """Return the operation of a change, the steps of its path, and the value of its other key. Raises `UsageError`."""
    what = f"change {number} is not an operation of a JSON Patch"
    if not isinstance(given, Mapping):
        raise UsageError([Diagnostic("PC0747", f"{what}: it is {show_value(given)}, not a mapping", help=_EXAMPLE)])
    op, path = given.get("op"), given.get("path")
    if not isinstance(op, str) or op not in _BESIDE:
        wrong = f"its `op` is {show_value(op)}" if "op" in given else "it has no `op`"
        raise UsageError([Diagnostic("PC0747", f"{what}: {wrong}", help=suggest(str(op), list(_BESIDE)))])
    for name in ("path", *([_BESIDE[op]] if _BESIDE[op] else [])):
        if name not in given:
            raise UsageError([Diagnostic("PC0747", f"{what}: `{op}` needs a `{name}`", help=_EXAMPLE)])
    pointers = [path, *([given["from"]] if _BESIDE[op] == "from" else [])]
    for pointer in pointers:
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            wrong = f"{show_value(pointer)} is no JSON pointer, which begins with `/`"
            raise UsageError([Diagnostic("PC0747", f"{what}: {wrong}", help=_EXAMPLE)])
    return op, split_pointer(str(path)), given.get(_BESIDE[op])


def _copy(container: Any) -> Any:
    """Return a shallow copy of a container."""
    return container[:] if container.__class__ is list else {**container}


def _sort(members: dict[str, Any]) -> None:
    """Sort a mapping in place by the code points of its keys."""
    ordered = sorted(members.items())
    members.clear()
    members.update(ordered)


@frozen(eq=False)
class SchemaPlace:
    """A place in a value.

    `asked` are the schemas that a value at this place must satisfy. `holding` are those of them that are mappings, and everything that they
    reference or list under `allOf`.
    """

    asked: tuple[Schema, ...]
    holding: tuple[Mapping[str, Any], ...]

    @property
    def is_open(self) -> bool:
        """True if a container at this place is valid whenever its members are valid and their number is allowed."""
        return all(map(_OF_ALL.isdisjoint, self.holding))


class LocalSchema:
    """A schema without errors, applied to parts of a value. Its functions are compiled at their first call. Several threads may use one."""

    def __init__(self, whole: StateSchema) -> None:
        self.whole = whole
        root: Schema = whole.schema
        self._verdicts = Verdicts(root)
        self._space: dict[str, Any] = dict(vars(runtime))
        writer = FillWriter(root, self._verdicts.references)
        for name in writer.names:
            compile_lazily(self._space, name, partial(writer.write, name))
        exec(writer.write_end(), self._space)
        self.root = SchemaPlace((root,), self._verdicts.references.list_together((root,)))
        self.filler: Filler | None = writer.first
        self._inner: dict[tuple[SchemaPlace, str | int], SchemaPlace] = {}

    def enter(self, place: SchemaPlace, key: str | int) -> SchemaPlace:
        """Return the place of a mapping's key or of a list's elements inside an open `place`."""
        known = (place, key if isinstance(key, str) else 0)
        found = self._inner.get(known)
        if found is None:
            asked = tuple(_iter_inner(place.holding, key))
            found = SchemaPlace(asked, self._verdicts.references.list_together(asked))
            if len(self._inner) < _MOST_PLACES:
                self._inner[known] = found
        return found

    def is_valid(self, place: SchemaPlace, value: Any, fuel: Fuel) -> bool:
        """Return whether a value is valid at a place. Raises `FuelError` if the check takes more steps than `fuel` allows."""
        return all(self._verdicts.make_check(schema)(value, fuel) for schema in place.asked)

    def is_sized(self, place: SchemaPlace, value: Any, fuel: Fuel) -> bool:
        """Return whether a container has all required members and only allowed ones, in allowed numbers, whatever the members contain."""
        asked = ((schema, word) for schema in place.holding for word in _OF_SIZE if word in schema)
        return all(self._verdicts.make_check(schema, word)(value, fuel) for schema, word in asked)

    def fill_whole(self, raw: Any) -> Any:
        """Fill in a whole state, with the same default objects that changes get. Raises what `StateSchema.fill` raises."""
        try:
            return self.fill(self.filler, raw, [MAX_FILLED])
        except FuelError:
            return self.whole.fill(raw)

    def fill(self, filler: Filler | None, value: Any, fuel: Fuel) -> Any:
        """Return a value with the default of every missing member. Raises `FuelError` if these are more keys than `fuel` allows."""
        return value if filler is None or filler.is_idle() else self._load(filler)(value, fuel)

    def make_default(self, filler: Filler) -> Any:
        """Return the default of a missing member."""
        return self._space["D"][filler.number] if filler.has_parts() else filler.default

    def list_shared(self) -> list[Any]:
        """Return the mappings and lists that may be filled in at several places."""
        shared: list[Any] = self._space["shared"]
        return shared

    def _load(self, filler: Filler) -> Fill:
        found: Fill = self._space[f"d{filler.number}"]
        return found


def find_filler(filler: Filler | None, key: str | int) -> Filler | None:
    """Return the filler of a mapping's key or of a list's index, or None if nothing is filled in there."""
    if filler is None:
        return None
    if isinstance(key, str):
        return filler.inner.get(key)
    return filler.places[key] if key < len(filler.places) else filler.rest


def _iter_inner(schemas: tuple[Mapping[str, Any], ...], key: str | int) -> Iterator[Schema]:
    for schema in schemas:
        if not isinstance(key, str):
            if "items" in schema:
                yield schema["items"]
        elif key in schema.get("properties", {}):
            yield schema["properties"][key]
        elif "additionalProperties" in schema:
            yield schema["additionalProperties"]


class _Filling:
    """Validates the changes of a state and fills in their defaults."""

    def __init__(self, schema: LocalSchema, cost: _Cost) -> None:
        self._schema = schema
        self._cost = cost

    def fill(self, touched: _Touched, place: SchemaPlace | None, filler: Filler | None, raw: Any, filled: Any) -> Any:
        """Return `filled` with the defaults of its touched parts.

        Everything else in `filled` has its defaults already, and no other state shares it yet. A `place` of None is not validated: it was
        validated with its container. Raises `_UnsureError` for a value that is not certainly valid.
        """
        if touched.is_new:
            self._check(place, raw)
            return self._fill_whole(filler, raw)
        if place is not None and not place.is_open:
            self._check(place, raw)
            place = None
        if touched.is_resized:
            if place is not None and not self._schema.is_sized(place, raw, [count_fuel(0)]):
                raise _UnsureError
            if filler is not None and filler.places and raw.__class__ is list:
                return self._fill_whole(filler, raw)
        for key, inner in touched.inner.items():
            inside = self._schema.enter(place, key) if place is not None else None
            whole = self.fill(inner, inside, find_filler(filler, key), raw[key], filled[key])
            if whole is not filled[key]:
                filled = filled if filled is not raw else _copy(raw)
                filled[key] = whole
        if touched.is_resized and filler is not None and raw.__class__ is dict:
            absent = [name for name in filler.inner if name not in filled]
            filled = filled if filled is not raw or not absent else _copy(raw)
            for name in absent:
                filled[name] = self._schema.make_default(filler.inner[name])
            self._cost.filled += len(absent)
            if absent:
                _sort(filled)
        return filled

    def _check(self, place: SchemaPlace | None, value: Any) -> None:
        if place is None:
            return
        fuel = [allowed := count_fuel(self._cost.size)]
        if not self._schema.is_valid(place, value, fuel):
            raise _UnsureError
        self._cost.steps += allowed - fuel[0]

    def _fill_whole(self, filler: Filler | None, value: Any) -> Any:
        fuel = [MAX_FILLED]
        whole = self._schema.fill(filler, value, fuel)
        self._cost.filled += MAX_FILLED - fuel[0]
        return whole


def share_parts(old: Any, new: Any) -> Any:
    """Return `new` with the objects of `old` for equal values at the same place. Elements of a list may have moved towards its start."""
    if old.__class__ is not new.__class__:
        return new
    if new.__class__ is dict:
        members = {key: share_parts(old[key], one) if key in old else one for key, one in new.items()}
        return old if len(members) == len(old) and all(old.get(key, MISSING) is one for key, one in members.items()) else members
    if new.__class__ is list:
        start = next((place for place, one in enumerate(old) if one == new[0]), 0) if new else 0
        elements = [share_parts(before, one) for before, one in zip(old[start:], new, strict=False)]
        elements += new[len(elements) :]
        is_same = len(elements) == len(old) and all(before is one for before, one in zip(old, elements, strict=True))
        return old if is_same else elements
    return old if old == new else new
