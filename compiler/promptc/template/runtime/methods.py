"""The methods of texts, mappings and lists that a template may call. Each pays before it works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any
from promptc.template.allow import WHY_NOT_OF_LIST
from promptc.template.runtime.objects import Missing, refuse
from promptc.template.runtime.run import Run, check_key, check_width, pay_each, pay_search, price_search, read_flag

Method = Callable[..., Any]
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_PLAIN = "isalnum isalpha isascii isdecimal isdigit islower isnumeric isspace istitle isupper"
_CHANGING = "capitalize casefold lower swapcase title upper"


def call_method(run: Run, value: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return `value.name(*args, **kwargs)`, for a kind and a name in `METHODS`.

    Raises `Fault` for any other name (PC0409), for an undefined argument, and for arguments that do not fit the signature.
    """
    methods = METHODS.get(value.__class__, {})
    if name not in methods:
        help = WHY_NOT_OF_LIST.get(name, "") if isinstance(value, list | tuple) else ""
        refuse("PC0409", f"`.{name}` is not a method a template may call on {name_kind(value)}", help)
    try:
        return methods[name](run, value, *args, **kwargs)
    except (TypeError, ValueError):
        for arg in (*args, *kwargs.values()):
            if arg.__class__ is Missing:
                arg.fail()
        from promptc.template import signatures  # late: only a refused call needs the table of signatures

        signatures.raise_wrong(signatures.METHODS[value.__class__][name], args, kwargs, run.limits)
        raise


def _look_up(run: Run, holder: Any, key: Any, default: Any = None, /) -> Any:
    run.take(1)
    return holder.get(check_key(key), default)


def _count_value(run: Run, values: Any, sought: Any, /) -> int:
    pay_search(run, sought, values)
    found: int = values.count(sought)
    return found


def _index_value(run: Run, values: Any, sought: Any, /, *bounds: Any) -> int:
    pay_search(run, sought, values)
    place: int = values.index(sought, *bounds)
    return place


_OF_LIST: dict[str, Method] = {"count": _count_value, "index": _index_value}
_OF_MAPPING: dict[str, Method] = {
    "get": _look_up,
    "items": lambda run, holder: holder.items(),
    "keys": lambda run, holder: holder.keys(),
    "values": lambda run, holder: holder.values(),
}


def replace_text(run: Run, text: str, old: str, new: str, count: Any = -1, /) -> str:
    """Return `text.replace(old, new, count)`, paid for before it is made."""
    if old.__class__ is str and new.__class__ is str:
        run.take(price_search(len(text), len(old)))
        found = text.count(old)
        if count.__class__ is int and 0 <= count < found:
            found = count
        run.make(max(len(text), len(text) + found * (len(new) - len(old))))
    return text.replace(old, new, count)


def _asking(ask: Callable[..., bool]) -> Callable[..., bool]:
    def asking(run: Run, text: str, /, *args: Any) -> bool:
        run.take(1 + (len(text) >> 4))
        return ask(text, *args)

    return asking


def _changing(change: Callable[[str], str]) -> Callable[..., str]:
    def changing(run: Run, text: str, /) -> str:
        return change_case(run, text, change)

    return changing


def _stripping(strip: Callable[..., str]) -> Callable[..., str]:
    def stripping(run: Run, text: str, chars: str | None = None, /) -> str:
        return strip_text(run, text, chars, strip)

    return stripping


def _padding(pad: Callable[..., str]) -> Callable[..., str]:
    def padding(run: Run, text: str, width: int, /, *fill: str) -> str:
        return pad_text(run, text, width, pad, *fill)

    return padding


def _searching(search: Callable[..., Any], *, backward: bool) -> Callable[..., Any]:
    """Return a search that pays. Backward, Python compares each character with each. The result contains at most a copy of the text."""

    def searching(run: Run, text: str, sought: str, /, *bounds: Any) -> Any:
        if sought.__class__ is str:
            run.take(len(text) * len(sought) >> 10 if backward else price_search(len(text), len(sought)))
        run.take(1 + (len(text) >> 4))
        return search(text, sought, *bounds)

    return searching


def _beginning(begins: Callable[..., bool]) -> Callable[..., bool]:
    def beginning(run: Run, text: str, sought: Any, /, *bounds: Any) -> bool:
        for part in sought if sought.__class__ is tuple else (sought,):
            run.take(1 + (len(part) >> 6 if part.__class__ is str else 0))
        return begins(text, sought, *bounds)

    return beginning


def _splitting(split: Callable[..., list[str]], *, backward: bool) -> Callable[..., list[str]]:
    """Return a split that pays a step for each character, since the parts take many times the memory of the text."""

    def splitting(run: Run, text: str, sep: str | None = None, maxsplit: Any = -1) -> list[str]:
        run.take(1 + len(text))
        run.hold(len(text) * (8 if text.isascii() else 40))  # at worst every second character becomes a text of its own
        if sep.__class__ is str:
            run.take(len(text) * len(sep or "") >> 10 if backward else price_search(len(text), len(sep or "")))
        return split(text, sep, maxsplit)

    return splitting


def split_lines(run: Run, text: str, keepends: Any = False) -> list[str]:
    """Return the lines of a text, paid for. Each line takes as much memory as a hundred characters, however short it is."""
    run.take(1 + (len(text) >> 4))
    run.take(8 * sum(map(text.count, _LINE_ENDS)))
    return text.splitlines(read_flag(keepends))


def _remove_prefix(run: Run, text: str, prefix: str, /) -> str:
    run.take(1 + (len(text) >> 4))
    return text.removeprefix(prefix)


def _remove_suffix(run: Run, text: str, suffix: str, /) -> str:
    run.take(1 + (len(text) >> 4))
    return text.removesuffix(suffix)


def _expand_tabs(run: Run, text: str, tabsize: Any = 8) -> str:
    check_width(run.limits, tabsize)
    run.make(len(text) + text.count("\t") * (max(tabsize, 0) if isinstance(tabsize, int) else 0))
    return text.expandtabs(tabsize)


def _join(run: Run, text: str, parts: Iterable[str], /) -> str:
    made = list(pay_each(run, parts, 2))
    run.make(sum(len(part) for part in made if part.__class__ is str) + len(text) * len(made))
    return text.join(made)


def change_case(run: Run, text: str, change: Callable[[str], str]) -> str:
    """Return what `change`, such as `str.upper`, makes of a text, paid for. The result may be longer if the text is not ASCII."""
    if text.isascii():
        run.take(1 + (len(text) >> 4))
        return change(text)
    run.take(1 + (len(text) >> 1))
    made = change(text)
    run.make(len(made))
    return made


def strip_text(run: Run, text: str, chars: str | None, strip: Callable[[str, str | None], str]) -> str:
    """Return what `strip`, such as `str.strip`, leaves of a text, paid for. It looks each character up in all of `chars`."""
    run.take(1 + (len(text) >> 4))
    if chars.__class__ is str:
        run.take(len(text) * len(chars or "") >> 10)
    return strip(text, chars)


def pad_text(run: Run, text: str, width: Any, pad: Callable[..., str], *fill: Any) -> str:
    """Return what `pad`, such as `str.center`, makes of a text, paid for. Raises `Fault` (PC0430) if `width` exceeds the limit."""
    check_width(run.limits, width)
    run.make(max(len(text), width if isinstance(width, int) else 0))
    return pad(text, width, *fill)


TEXT_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _asking(getattr(str, name)) for name in _PLAIN.split()},
    **{name: _changing(getattr(str, name)) for name in _CHANGING.split()},
    **{name: _stripping(getattr(str, name)) for name in ("strip", "lstrip", "rstrip")},
    **{name: _padding(getattr(str, name)) for name in ("center", "ljust", "rjust", "zfill")},
    **{name: _searching(getattr(str, name), backward=False) for name in ("find", "index", "count", "partition")},
    **{name: _searching(getattr(str, name), backward=True) for name in ("rfind", "rindex", "rpartition")},
    **{name: _beginning(getattr(str, name)) for name in ("startswith", "endswith")},
    "split": _splitting(str.split, backward=False),
    "rsplit": _splitting(str.rsplit, backward=True),
    "splitlines": split_lines,
    "removeprefix": _remove_prefix,
    "removesuffix": _remove_suffix,
    "replace": replace_text,
    "expandtabs": _expand_tabs,
    "join": _join,
}
METHODS: dict[type, dict[str, Method]] = {str: TEXT_METHODS, dict: _OF_MAPPING, list: _OF_LIST, tuple: _OF_LIST}
"""The methods that may be called, by kind and name: functions `(run, value, *args, **kwargs)`."""


for _methods in METHODS.values():
    for _name, _method in _methods.items():
        _method.__qualname__ = _name  # Python's messages about arguments use this name
