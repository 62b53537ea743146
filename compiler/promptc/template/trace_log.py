"""What a run of an instrumented template reads and prints, with its places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.template.place import Pointers, TraceContext
from promptc.template.runtime.callables import Macro, Names, Namespace
from promptc.template.runtime.objects import Missing, Module, missing
from promptc.template.runtime.run import Run, each
from promptc.template.runtime.values import call_part, call_value, read_attribute, read_item
from promptc.text.json import extend_pointer

_VIEWS = frozenset({"items", "keys", "values"})


@frozen(eq=False)
class Printed:
    """A part of a text: `at` is its place in the file `name`, characters before it plus 1; `inner` are its own parts, where it was made of
    such that are known."""

    text: str
    name: str
    at: int
    pointers: Pointers
    inner: tuple[Printed, ...] | None


@frozen(eq=False)
class _ReadEvent:
    """A part of the state was read, or a value that was made of some."""

    pointers: Pointers


@frozen(eq=False)
class _Joined:
    """A text was made of parts; `pointers` are theirs."""

    text: str
    parts: tuple[Printed, ...]
    pointers: Pointers


@frozen(eq=False)
class _Given:
    """An argument of a call, and what made it."""

    value: Any
    pointers: Pointers


class Log:
    """The log of one run. Its methods are called by instrumented code; `mark` opens what the call it stands in looks back to."""

    def __init__(self, known: TraceContext, names: Mapping[str, object]) -> None:
        self._known = known
        self._names = names
        self._entries: list[_ReadEvent | _Joined] = []
        self._parts: dict[int, tuple[list[str], list[Printed]]] = {}
        self._published: dict[str, tuple[object, Pointers]] = {}
        self._held: dict[tuple[int, str], tuple[dict[str, Any], object, Pointers]] = {}
        self._views: dict[int, tuple[object, dict[str, Any]]] = {}
        self._arguments: dict[str, Pointers] = {}
        self._around: Pointers = ()
        self._goes: _Goes = _Goes((), None)

    def mark(self) -> int:
        """The place where the log stands."""
        return len(self._entries)

    def list_pointers(self, mark: int = 0) -> Pointers:
        """The parts of the state read since a mark; not what holds another of them, which was read to find that."""
        found = dict.fromkeys(pointer for one in self._entries[mark:] for pointer in one.pointers)
        around = {pointer[:at] for pointer in found for at, sign in enumerate(pointer) if sign == "/"}
        return tuple(pointer for pointer in found if pointer not in around)

    # --- what is printed ---

    def put(self, mark: int, parts: list[str], text: str, at: int, name: str, inner: tuple[Printed, ...] | None = None) -> str:
        """A part is printed."""
        self._parts.setdefault(id(parts), (parts, []))[1].append(Printed(text, name, at, self.list_pointers(mark), inner))
        return text

    def put_text(self, mark: int, parts: list[str], text: str, at: int, name: str) -> str:
        """What a call gave is printed: a macro's text is the last thing that was made, and is printed as it is."""
        last = self._entries[-1] if len(self._entries) > mark else None
        return self.put(mark, parts, text, at, name, last.parts if isinstance(last, _Joined) and last.text is text else None)

    def join(self, text: str, parts: list[str]) -> str:
        """Parts become a text."""
        _, printed = self._parts.pop(id(parts), (parts, []))
        self._entries.append(_Joined(text, tuple(printed), tuple(dict.fromkeys(found for one in printed for found in one.pointers))))
        return text

    def list_parts(self, text: str) -> tuple[Printed, ...]:
        """The parts of the last text that was made."""
        return next((one.parts for one in reversed(self._entries) if one.__class__ is _Joined and one.text is text), ())

    # --- what is read ---

    def load(self, source: Pointers, value: Any) -> Any:
        """A variable is read: a part of the state is known as one, anything else by what made it."""
        pointer = self._known.find(value)
        found = (pointer,) if pointer is not None else source
        if found:
            self._entries.append(_ReadEvent(found))
        return value

    def read_key(self, holder: Any, key: Any) -> Any:
        """A mapping's key is read; it has it."""
        self._note(holder, key)
        return holder[key]

    def read_attribute(self, holder: Any, name: str) -> Any:
        """`holder.name`."""
        value = read_attribute(holder, name)
        if holder.__class__ is Namespace:
            held = self._held.get((id(holder.values), name))
            self.load(held[2] if held is not None and held[1] is value else (), value)
        elif value.__class__ is not Missing and holder.__class__ is dict:
            self._note(holder, name)
        return value

    def read_item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        value = read_item(holder, key)
        if value.__class__ is not Missing and holder.__class__ is list:
            self._note(holder, key + len(holder) if key < 0 else int(key))
        elif value.__class__ is not Missing and holder.__class__ is dict:
            self._note(holder, key)
        return value

    def _note(self, holder: Any, key: Any) -> None:
        pointer = self._known.find(holder)
        if pointer is not None and key.__class__ in (str, int):
            self._entries.append(_ReadEvent((extend_pointer(pointer, key),)))
        else:
            self._entries.append(_ReadEvent(self._known.parts.get(id(holder), {}).get(key, ())))

    # --- what is kept ---

    def keep(self, mark: int, value: Any) -> tuple[Pointers, Any]:
        """A value that is set, and what made it."""
        return self.list_pointers(mark), value

    def hold(self, values: dict[str, Any], name: str, source: Pointers) -> None:
        """A part of a namespace is set."""
        self._held[id(values), name] = values, values[name], source

    def publish(self, name: str, value: object, source: Pointers) -> None:
        """A name is set for blocks and other files."""
        self._published[name] = value, source

    def hand_on(self, given: dict[str, Any], sources: tuple[Pointers, ...]) -> dict[str, Any]:
        """Another file is given variables."""
        for (name, value), source in zip(given.items(), sources, strict=True):
            if value is not missing:
                self.publish(name, value, source)
        return given

    def read_source(self, names: Names, name: str) -> Pointers:
        """What made the value of a name."""
        value = names.read(name)
        published = self._published.get(name)
        if published is not None and published[0] is value:
            return published[1]
        return self._known.named.get(name, ()) if name in self._names and self._names[name] is value else ()

    # --- loops ---

    def each(self, mark: int, run: Run, values: Any, weight: int) -> Any:
        """What a loop goes over."""
        self._goes = _Goes(self.list_pointers(mark), self._find_places(values))
        return each(run, values, weight)

    def _find_places(self, values: Any) -> list[str] | None:
        """The pointers of the elements, where they are parts of the state in its order."""
        view = self._views.get(id(values))
        holder = view[1] if view is not None else values
        pointer = self._known.find(holder)
        if pointer is None:
            return None
        return [extend_pointer(pointer, key) for key in (holder if holder.__class__ is dict else range(len(holder)))]

    def turn(self, values: Any) -> _Turns:
        """The turns of a loop, which knows at each what made its element."""
        goes, self._goes = self._goes, _Goes((), None)
        return _Turns(values, goes)

    def turn_some(self, values: Any) -> _Turns:
        """The turns of a loop that passes elements over: only those that know themselves which part of the state they are are known."""
        self._goes = _Goes(self._goes.pointers, None)
        return self.turn(values)

    # --- calls ---

    def given(self, mark: int, value: Any) -> _Given:
        """An argument."""
        return _Given(value, self.list_pointers(mark))

    def given_all(self, mark: int, values: Any) -> tuple[_Given, ...]:
        """Arguments out of a list."""
        return tuple(_Given(value, self.list_pointers(mark)) for value in values)

    def given_named(self, mark: int, values: Mapping[str, Any]) -> dict[str, _Given]:
        """Named arguments out of a mapping."""
        return {name: _Given(value, self.list_pointers(mark)) for name, value in values.items()}

    def call_value(self, run: Run, callee: Any, /, *args: _Given, **named: _Given) -> Any:
        """`callee(...)`."""
        self._bind(callee, args, named)
        return call_value(run, callee, *[one.value for one in args], **{name: one.value for name, one in named.items()})

    def call_part(self, run: Run, holder: Any, name: str, /, *args: _Given, **named: _Given) -> Any:
        """`holder.name(...)`."""
        kind = holder.__class__
        parts = holder.exports if kind is Module else holder.values if kind is Namespace else holder if kind is dict else {}
        self._bind(parts.get(name), args, named)
        if kind is dict and name == "get" and args and args[0].value.__class__ is str and args[0].value in holder:
            self._note(holder, args[0].value)
        value = call_part(run, holder, name, *[one.value for one in args], **{key: one.value for key, one in named.items()})
        if kind is dict and name in _VIEWS:
            self._views[id(value)] = value, holder
        return value

    def _bind(self, callee: Any, args: tuple[_Given, ...], named: dict[str, _Given]) -> None:
        self._arguments, self._around = {}, ()
        if callee.__class__ is Macro:
            self._arguments = dict(zip(callee.arguments, [one.pointers for one in args], strict=False))
            self._arguments |= {name: one.pointers for name, one in named.items()}
            self._around = tuple(dict.fromkeys(pointer for one in (*args, *named.values()) for pointer in one.pointers))

    def read_given(self, name: str, value: object) -> Pointers:
        """What made an argument of the macro that is entered; of `varargs` and `kwargs`, what made all."""
        if value is missing:
            return ()
        return self._around if name in ("varargs", "kwargs") else self._arguments.get(name, ())


@frozen(eq=False)
class _Goes:
    """What was read for what a loop goes over, and the pointers of its elements where they are known."""

    pointers: Pointers
    places: list[str] | None


class _Turns:
    """The turns of one loop; `source` tells what made the element of the turn."""

    def __init__(self, values: Any, goes: _Goes) -> None:
        self._values: Iterator[Any] = iter(values)
        self._goes = goes
        self._place = -1
        self.source: Pointers = ()

    def __iter__(self) -> _Turns:
        return self

    def __next__(self) -> Any:
        value = next(self._values)
        self._place += 1
        places = self._goes.places
        self.source = (places[self._place],) if places is not None and self._place < len(places) else self._goes.pointers
        return value
