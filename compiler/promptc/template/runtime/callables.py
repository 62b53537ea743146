"""The names of a running template (`Names`), and what it can call: blocks, macros, and the allowed functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any, NoReturn, Protocol
from promptc.template.runtime.objects import Missing, Module, missing, refuse
from promptc.template.runtime.run import Run, check_key, check_range, load_moment, pay_each
from promptc.text.characters import compile_later

Render = Callable[[Run, "Names"], str]
_NOTHING: dict[str, Any] = {}
"""An empty mapping that is never added to. Most templates keep nothing and have no blocks, and a pack runs hundreds of them in a render."""


class File(Protocol):
    """A file that can be run."""

    @property
    def weight(self) -> int:
        """The steps of executing the file once."""

    @property
    def root(self) -> Render:
        """The function that renders its text."""

    @property
    def blocks(self) -> Mapping[str, Render]:
        """The functions that render its blocks, by name."""


class Names:
    """The names of a running template. `given` is neither copied nor changed.

    What the template sets at its top level goes to `kept`, with whether it may be imported.
    """

    __slots__ = ("blocks", "files", "given", "kept", "run")

    def __init__(self, files: Callable[[str], File], run: Run, given: Mapping[str, Any], blocks: Mapping[str, Render]) -> None:
        self.files = files
        self.run = run
        self.given = given
        self.kept: dict[str, tuple[Any, bool]] = _NOTHING
        self.blocks: dict[str, list[Render]] = {name: [block] for name, block in blocks.items()} if blocks else _NOTHING

    def read(self, name: str) -> Any:
        """Return the value of a name: kept, given, or an allowed function, in this order. Return `missing` if there is none."""
        if name in self.kept:
            return self.kept[name][0]
        if name in self.given:
            return self.given[name]
        return FUNCTIONS.get(name, missing)

    def keep(self, name: str, value: Any) -> None:
        """Set a name for blocks and includes, but not for importers."""
        self.kept = self.kept or {}
        self.kept[name] = value, False

    def export(self, name: str, value: Any) -> None:
        """Set a name for blocks, includes and importers."""
        self.kept = self.kept or {}
        self.kept[name] = value, True

    def derive(self, local: Mapping[str, Any]) -> Names:
        """Return the names of a scoped block: these, and the `local` ones around it."""
        inner = Names(self.files, self.run, self._with(local), _NOTHING)
        inner.blocks = {name: list(stack) for name, stack in self.blocks.items()}
        return inner

    def _with(self, local: Mapping[str, Any]) -> dict[str, Any]:
        found = {**self.given, **{name: value for name, (value, _) in self.kept.items()}}
        found.update([(name, value) for name, value in local.items() if value is not missing])
        return found

    def include(self, file: str, local: Mapping[str, Any] | None) -> str:
        """Return the text of another file. `local` is None for `without context`."""
        return self.load_module(file, None).text if local is None else self._render_file(file, self._with(local))[1]

    def load_module(self, file: str, local: Mapping[str, Any] | None) -> Module:
        """Return an imported file. `local` is None for an import without context.

        Without context a file runs once in a render, so nothing is carried from one render to the next.
        """
        if local is None and file in self.run.modules:
            found: Module = self.run.modules[file]
            return found
        names, text = self._render_file(file, _NOTHING if local is None else self._with(local))
        module = Module(file, text, {name: value for name, (value, is_open) in names.kept.items() if is_open})
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
        """Return the file that is extended, and add its blocks after those of the same name.

        Raises `Fault` (PC0414) if the template extends a `parent` already.
        """
        if parent is not None:
            refuse("PC0414", "a template extends one other, once", "leave one `extends` out")
        file = self.files(name)
        self.blocks = self.blocks or {}
        for block, render in file.blocks.items():
            self.blocks.setdefault(block, []).append(render)
        return file

    def render_parent(self, parent: File) -> str:
        """Return the text of the extended file, with the blocks of the template that extends it."""
        self.run.enter(parent.weight)
        text = parent.root(self.run, self)
        self.run.leave()
        return text

    def call_block(self, name: str) -> str:
        """Return the text of a block: the first of that name."""
        return self.blocks[name][0](self.run, self)

    def call_required(self, name: str) -> str:
        """Return the text of a block that must be overridden. Raises `Fault` (PC0414) if it is not."""
        if len(self.blocks[name]) <= 1:
            refuse("PC0414", f"the required block `{name}` is not there", "define it in the template that extends this one")
        return self.call_block(name)

    def read_super(self, name: str, own: Render) -> Any:
        """Return the value of `super` in the block `own`: the block that it overrides, or an undefined value."""
        stack = self.blocks.get(name, [])
        place = stack.index(own) + 1 if own in stack else 0
        return BlockCall(name, self, stack, place) if 0 < place < len(stack) else _no_block(name)


class BlockCall:
    """A block that can be called."""

    __slots__ = ("name", "names", "place", "stack")

    def __init__(self, name: str, names: Names, stack: list[Render], place: int) -> None:
        self.name = name
        self.names = names
        self.stack = stack
        self.place = place

    def call(self) -> str:
        """Return the text of the block."""
        run = self.names.run
        run.enter(0)
        text = self.stack[self.place](run, self.names)
        run.leave()
        return text

    @property
    def super(self) -> Any:
        """The block that this one overrides; undefined if there is none."""
        above = self.place + 1
        return BlockCall(self.name, self.names, self.stack, above) if above < len(self.stack) else _no_block(self.name)


def _no_block(name: str) -> Missing:
    return Missing("super", hint=f"there is no block `{name}` above this one")


class TemplateBlocks:
    """The value of `self`: the blocks of the template by name."""

    __slots__ = ("names",)

    def __init__(self, names: Names) -> None:
        self.names = names

    def read(self, name: str) -> Any:
        """Return a block, or an undefined value if there is none of that name."""
        stack = self.names.blocks.get(name)
        return BlockCall(name, self.names, stack, 0) if stack else Missing(name, hint=f"there is no block `{name}`")


class Cycler:
    """The value of `cycler('a', 'b')`. Its `next()` goes through the values over and over."""

    __slots__ = ("values", "position")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.position = 0

    @property
    def current(self) -> Any:
        """The value that the next call of `next` returns."""
        return self.values[self.position]

    def next(self) -> Any:
        """Return the current value, and go on to the next."""
        value = self.current
        self.position = (self.position + 1) % len(self.values)
        return value

    def reset(self) -> None:
        """Go back to the first value."""
        self.position = 0


class Joiner:
    """The value of `joiner(', ')`. The first call returns an empty text, later ones the separator."""

    __slots__ = ("sep", "used")

    def __init__(self, sep: Any) -> None:
        self.sep = sep
        self.used = False

    def __call__(self) -> Any:
        if self.used:
            return self.sep
        self.used = True
        return ""


class Namespace:
    """The value of `namespace(n=0)`. `{% set ns.n = ... %}` changes its names, even inside a loop. Nothing else changes `values`."""

    __slots__ = ("values",)

    def __init__(self, values: dict[Any, Any]) -> None:
        self.values = values

    def read(self, name: str) -> Any:
        """Return the value of a name, or an undefined value if the namespace does not have the name."""
        return self.values[name] if name in self.values else Missing(name, self)


def make_range(run: Run, *bounds: int) -> range:
    """Return a range of whole numbers, at most `Limits.range` of them."""
    made = range(*bounds)
    check_range(made, run.limits)
    run.take(len(made))
    return made


def make_dict(run: Run, pairs: Any = (), /, **values: Any) -> dict[Any, Any]:
    """Return a new mapping of a mapping or of pairs, and of the named values."""
    made: dict[Any, Any] = {}
    if pairs.__class__ is dict:
        run.take(1 + len(pairs))
        made.update(pairs)
    else:
        made.update(_iter_pairs(run, pairs))
    made.update(values)
    run.take(len(values))
    return made


def _iter_pairs(run: Run, source: Any) -> Any:
    for pair in pay_each(run, source, 2):
        if not hasattr(pair, "__iter__"):
            refuse("PC0414", f"{name_kind(pair)} is not a pair", "give pairs of a key and a value")
        key, value = pair
        yield check_key(key), value


def make_namespace(run: Run, pairs: Any = (), /, **values: Any) -> Namespace:
    """Return a namespace of what `dict` would contain."""
    return Namespace(make_dict(run, pairs, **values))


def make_cycler(run: Run, first: Any, /, *rest: Any) -> Cycler:
    """Return a cycler of at least one value."""
    return Cycler((first, *rest))


def make_joiner(run: Run, sep: Any = ", ") -> Joiner:
    """Return a joiner."""
    return Joiner(sep)


def raise_exception(run: Run, message: Any, /) -> NoReturn:
    """Refuse the messages that a chat template is given: `raise_exception('why')`. Always raises `Fault` (PC0431)."""
    why = message if message.__class__ is str else name_kind(message)
    shown = f"{why[:_REASON]}…" if len(why) > _REASON else why
    refuse(
        "PC0431",
        f"the chat template refuses these messages: {shown}",
        "change the messages: the template accepts only certain roles, in a certain order",
    )


class Clock:
    """The value of `strftime_now`: the moment that the pack names, in UTC. A template has no other clock.

    It is called with a format: `strftime_now('%d %b %Y')`.
    """

    __slots__ = ("moment",)

    def __init__(self, moment: Any) -> None:
        """Set the moment to an ISO 8601 text, or to None if the pack names none."""
        self.moment = moment

    def call(self, form: Any, /) -> str:
        """Return the moment in a format of `strftime`, in English on every machine.

        Raises `Fault` if the pack names no moment (PC0432), or if the format is unknown or too long (PC0424).
        """
        from datetime import UTC, datetime, timedelta

        if self.moment is None:
            refuse(
                "PC0432", "the chat template asks for the date, and the pack does not set one", "set it: `chat_template: {now: state.now}`"
            )
        if form.__class__ is not str or len(form) > _REASON:
            refuse("PC0424", f"`strftime_now` takes a format of at most {_REASON} characters", "write it as `'%d %b %Y'`")
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=load_moment(self.moment))
        return _DIRECTIVE.sub(lambda found: _write_part(found[0], moment), form)


_REASON = 200
_DIRECTIVE = compile_later(r"(?s)%-?.?")
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _write_part(directive: str, moment: Any) -> str:
    number = _NUMBERS.get(directive[-1])
    if number is not None:
        width, read = number
        return str(read(moment)) if "-" in directive else f"{read(moment):0{width}d}"
    write = _WORDS.get(directive)
    if write is None:
        known = " ".join(f"%{one}" for one in (*_NUMBERS, *(word[1:] for word in _WORDS)))
        refuse("PC0424", f"`strftime_now` does not know `{directive}`", f"it knows {known}")
    return write(moment)


_NUMBERS: dict[str, tuple[int, Callable[[Any], int]]] = {
    "Y": (4, lambda moment: moment.year),
    "y": (2, lambda moment: moment.year % 100),
    "m": (2, lambda moment: moment.month),
    "d": (2, lambda moment: moment.day),
    "j": (3, lambda moment: moment.timetuple().tm_yday),
    "H": (2, lambda moment: moment.hour),
    "I": (2, lambda moment: (moment.hour - 1) % 12 + 1),
    "M": (2, lambda moment: moment.minute),
    "S": (2, lambda moment: moment.second),
}
_WORDS: dict[str, Callable[[Any], str]] = {
    "%A": lambda moment: _DAYS[moment.weekday()],
    "%a": lambda moment: _DAYS[moment.weekday()][:3],
    "%B": lambda moment: _MONTHS[moment.month - 1],
    "%b": lambda moment: _MONTHS[moment.month - 1][:3],
    "%e": lambda moment: f"{moment.day:2d}",
    "%p": lambda moment: "AM" if moment.hour < 12 else "PM",
    "%Z": lambda moment: "UTC",
    "%z": lambda moment: "+0000",
    "%%": lambda moment: "%",
}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "range": make_range,
    "dict": make_dict,
    "namespace": make_namespace,
    "cycler": make_cycler,
    "joiner": make_joiner,
}


CHAT_FUNCTIONS: dict[str, Callable[..., Any]] = {"raise_exception": raise_exception}
"""The functions that only a chat template may call."""


for _name, _function in (*FUNCTIONS.items(), *CHAT_FUNCTIONS.items()):
    _function.__qualname__ = _name  # Python's messages about arguments use this name


class Macro:
    """A macro, or the body of a `{% call %}`. Arguments are bound as Jinja binds them.

    `weight` is the number of steps of executing the body once. `kwargs`, `varargs` and `caller` are true if the body mentions these names,
    and so is given them.
    """

    __slots__ = ("arguments", "caller", "function", "kwargs", "name", "run", "varargs", "weight")

    def __init__(
        self,
        run: Run,
        function: Callable[..., str],
        name: str | None,
        arguments: Sequence[str],
        weight: int,
        kwargs: bool,
        varargs: bool,
        caller: bool,
    ) -> None:
        self.run = run
        self.function = function
        self.name = name
        self.arguments = arguments
        self.weight = weight
        self.kwargs = kwargs
        self.varargs = varargs
        self.caller = caller

    def call(self, args: tuple[Any, ...], named: dict[str, Any]) -> str:
        """Return the text that the macro renders."""
        run = self.run
        if named or len(args) != len(self.arguments) or self.kwargs or self.varargs or self.caller:
            args = tuple(self._bind(args, named))
        run.enter(self.weight)
        text = self.function(*args)
        run.depth -= 1
        return text

    def _bind(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        most, left = len(self.arguments), dict(named)
        bound = list(args[:most])
        given = len(bound)
        bound += [left.pop(name, missing) for name in self.arguments[given:]]
        found = "caller" in self.arguments if given == most else "caller" in self.arguments[given:]
        if self.caller and not found:
            bound.append(left.pop("caller", None) or Missing("caller", hint="the macro was called without `{% call %}`"))
        if (left and not self.kwargs) or (len(args) > most and not self.varargs):
            self._refuse(args, named)
        if self.kwargs:
            bound.append(left)
        if self.varargs:
            bound.append(args[most:])
        return bound

    def _refuse(self, args: tuple[Any, ...], named: dict[str, Any]) -> NoReturn:
        from promptc.template import signatures  # late: only a refused call needs the table of signatures

        uses = [name for name in ("caller", "kwargs", "varargs") if getattr(self, name)]
        signatures.raise_wrong(signatures.sign_macro(self.name, self.arguments, uses), args, named, self.run.limits)
        raise AssertionError("whoever refuses a call knows why")


def unfilled(name: str) -> Missing:
    """Return the undefined value of an argument that was not given and has no default."""
    return Missing(name, hint=f"the argument `{name}` was not given")
