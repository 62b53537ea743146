"""The signatures of all filters, tests, methods and functions of the allow-list, in one table for `check` and for a run.

`find_wrong` and its variants judge a call. `check` passes the arguments that it knows, a run passes all of them, and both report the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from promptc.diag.findings import count_noun, name_kind, offer_names, show_value, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.template.allow import COMPARING, Limits
from promptc.template.runtime.objects import Fault, refuse
from promptc.template.runtime.run import SCALARS, UNDEFINED, check_key, check_range, check_scheme, check_width, load_moment

_NONE = type(None)
_WHOLE = (int, bool)
_BOUNDARIES = ("paragraph", "sentence", "line", "word", "token")

_PLAIN_TESTS = """
    boolean callable defined even false filter float integer iterable lower mapping none number odd sequence string test true
    undefined upper
    """

_APPLIES = {"map": 0, "select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
"""Filters that apply a filter or a test, and the place of its name among the arguments."""


@frozen
class Sort:
    """The values that a parameter accepts: of some classes (empty: any value), from `least` to `most`, or one of `known`.

    `asks` raises a `Fault` for a value of the wrong sort. `is_width`: a number must not exceed `limits.width`.
    """

    words: str
    classes: tuple[type, ...] = ()
    least: int | None = None
    most: int | None = None
    known: tuple[str, ...] = ()
    is_width: bool = False
    asks: Callable[[Any], object] | None = None


@frozen
class Parameter:
    """One parameter. `shown` is its default as a template writes it, empty if it is required. `how` is `place`, `name` or `both`."""

    name: str
    sort: Sort
    shown: str = ""
    how: str = "both"


@frozen
class Signature:
    """How something is called. `name` is written as in messages: `` `round` ``, `` `.center()` ``, `` `is divisibleby` ``.

    `places` and `names`: the names for further values by place and by name, empty if none are accepted. `least` is how many values by place
    are required. `is_either`: values by place and by name exclude each other. `rule` raises a `Fault` for arguments that are valid alone
    and invalid together; it runs only if all of them are known.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    places: str = ""
    names: str = ""
    least: int = 0
    is_either: bool = False
    rule: Callable[[Mapping[str, Any], Limits], object] | None = None

    def show(self) -> str:
        """Return the call as documentation writes it: `round(precision=0, method='common')`."""
        word = self.name.strip("`").removesuffix("()").removeprefix(".").removeprefix("is ")
        return f"{word}({', '.join(self._iter_shown())})"

    def _iter_shown(self) -> Iterator[str]:
        how = ""
        for parameter in self.parameters:
            if parameter.how == "name" and how != "name":
                yield "*"
            how = parameter.how
            yield f"{parameter.name}={parameter.shown}" if parameter.shown else parameter.name
        if self.places:
            yield f"*{self.places}"
        if self.names:
            yield f"**{self.names}"


class _Unknown:
    """The type of `UNKNOWN`: an argument of which nothing is known before the run."""

    __slots__ = ()


UNKNOWN: Any = _Unknown()


@frozen
class Wrong:
    """A call that cannot work: the finding, and the argument concerned, by place or by name (None: the call itself)."""

    code: str
    message: str
    help: str
    at: int | str | None = None

    def fault(self) -> Fault:
        """Return the fault that a run raises."""
        return Fault(self.code, self.message, self.help)


def _ask_listed(value: Any) -> None:
    if value.__class__ in SCALARS and value.__class__ is not str:
        refuse("PC0424", f"{name_kind(value)} is not a list", "give a list, or a string")


def _ask_holder(value: Any) -> None:
    if value.__class__ in SCALARS and value.__class__ is not str:
        refuse("PC0414", f"nothing can be in {name_kind(value)}", "look in a list, a mapping or a string")


def _ask_texts(value: Any) -> None:
    _ask_listed(value)
    for part in value if value.__class__ in (list, tuple) else ():
        if part.__class__ in SCALARS and part.__class__ is not str:
            refuse("PC0424", f"`.join()` joins strings, not {name_kind(part)}", "write `list | join('-')`, which prints its elements")


def _ask_beginnings(value: Any) -> None:
    for part in value if value.__class__ is tuple else ():
        if part.__class__ in SCALARS and part.__class__ is not str:
            refuse("PC0424", f"a string never begins or ends with {name_kind(part)}", "give strings: `('a', 'b')`")


def _ask_schemes(value: Any) -> None:
    for scheme in value or ():
        if not is_unknown(scheme):
            check_scheme(scheme)


def _ask_separators(value: Any) -> None:
    if value is not None and (len(value) != 2 or any(one.__class__ is not str and not is_unknown(one) for one in value)):
        refuse("PC0424", "`separators` are two strings", "write `separators=(',', ':')`")


def _ask_divisor(value: Any) -> None:
    if value == 0:
        refuse("PC0415", "this expression divides by zero", "test for zero first: `a / b if b else 0`")


def _ask_step(value: Any) -> None:
    if value == 0:
        refuse("PC0424", "`step` of `range` must not be 0", "write `range(start, stop, 1)`")


def _ask_letter(value: Any) -> None:
    if len(value) != 1:
        refuse("PC0424", f"what fills a string is one character, not {len(value)}", "write `.center(9, '.')`")


def _ask_separator(value: Any) -> None:
    if value == "":
        refuse("PC0424", "a string cannot be split by an empty string", "name what separates the parts, or write `| list`")


TEXT = Sort("a string", (str,))
TEXT_OR_NONE = Sort("a string", (str, _NONE))
NUMBER = Sort("a number", (int, float, bool))
WHOLE = Sort("a whole number", _WHOLE)
WHOLE_OR_NONE = Sort("a whole number", (*_WHOLE, _NONE))
COUNT = Sort("a whole number above 0", _WHOLE, least=1)
NATURAL = Sort("a whole number, 0 or more", (*_WHOLE, _NONE), least=0)
SIZE = Sort("a whole number, 0 or more", (int, _NONE), least=0)
WIDTH = Sort("a whole number", _WHOLE, is_width=True)
TRUTH = Sort("true or false", _WHOLE)
KEY = Sort("the name or place of a part", asks=check_key)
LISTED = Sort("a list or a string", asks=_ask_listed)
HOLDER = Sort("a list, a mapping or a string", asks=_ask_holder)


def _take(name: str, sort: Sort, shown: str = "", how: str = "both") -> Parameter:
    return Parameter(name, sort, shown, how)


def _check_truncated(given: Mapping[str, Any], limits: Limits) -> None:
    length, end = given.get("length", 255), given.get("end", "...")
    if length < len(end):
        refuse("PC0424", f"`truncate` to {length} characters has no room for its end", "give a larger `length`, or a shorter `end`")


def _check_sizes(given: Mapping[str, Any], limits: Limits) -> None:
    if sum(given.get(name) is not None for name in ("chars", "tokens")) != 1:
        refuse("PC0424", "`truncate_at` needs one size, a whole number", "give `chars=800` or `tokens=200`")


def _check_range(given: Mapping[str, Any], limits: Limits) -> None:
    start, stop, step = given["start"], given.get("stop"), given.get("step", 1)
    check_range(range(start) if stop is None else range(start, stop, step), limits)


ANY = Sort("any value")
_CASE = _take("case_sensitive", ANY, "false")
_ATTRIBUTE = _take("attribute", KEY, "none")
_SINCE = (_take("now", Sort("a time", asks=load_moment)),)
_FILL = _take("fill_with", ANY, "none")
_FILTERS: dict[str, tuple[Parameter, ...]] = {
    **dict.fromkeys("abs capitalize count e escape first forceescape items last length list lower".split(), ()),
    **dict.fromkeys("pprint reverse safe string striptags title upper urlencode wordcount".split(), ()),
    **dict.fromkeys("json normalize one_line timestamp tokens".split(), ()),
    **dict.fromkeys(("default", "d"), (_take("default_value", ANY, "''"), _take("boolean", ANY, "false"))),
    **dict.fromkeys(("min", "max", "unique"), (_CASE, _ATTRIBUTE)),
    **dict.fromkeys(("minutes_since", "hours_since", "days_since"), _SINCE),
    "batch": (_take("linecount", NUMBER), _FILL),
    "center": (_take("width", WIDTH, "80"),),
    "dictsort": (_CASE, _take("by", Sort("a string", (str,), known=("key", "value")), "'key'"), _take("reverse", TRUTH, "false")),
    "filesizeformat": (_take("binary", ANY, "false"),),
    "float": (_take("default", ANY, "0.0"),),
    "groupby": (_take("attribute", KEY), _take("default", ANY, "none"), _CASE),
    "indent": (_take("width", Sort("a whole number or a string", (*_WHOLE, str), is_width=True), "4"), _take("first", ANY, "false"),
               _take("blank", ANY, "false")),
    "int": (_take("default", ANY, "0"), _take("base", WHOLE, "10")),
    "join": (_take("d", ANY, "''"), _ATTRIBUTE),
    "mentions": (_take("words", ANY),),
    "sentences_about": (_take("texts", ANY), _take("most", COUNT, "1")),
    "pick": (_take("seed", ANY),),
    "replace": (_take("old", ANY), _take("new", ANY), _take("count", WHOLE_OR_NONE, "none")),
    "round": (
        _take("precision", Sort("a whole number from -100 to 100", _WHOLE, -100, 100), "0"),
        _take("method", Sort("a string", (str,), known=("common", "ceil", "floor")), "'common'"),
    ),
    "slice": (_take("slices", COUNT), _FILL),
    "sort": (_take("reverse", TRUTH, "false"), _CASE, _ATTRIBUTE, _take("times", TRUTH, "false")),
    "sum": (_ATTRIBUTE, _take("start", Sort("a number or a list", (int, float, bool, list, tuple)), "0")),
    "tojson": (_take("indent", Sort("a whole number or a string", (*_WHOLE, str, _NONE), is_width=True), "none"),),
    "trim": (_take("chars", TEXT_OR_NONE, "none"),),
    "truncate": (_take("length", WHOLE, "255"), _take("killwords", ANY, "false"), _take("end", TEXT, "'...'"),
                 _take("leeway", NATURAL, "5")),
    "truncate_at": (
        _take("boundary", Sort("a string", (str,), known=_BOUNDARIES), "'word'"),
        _take("chars", SIZE, "none", "name"),
        _take("tokens", SIZE, "none", "name"),
    ),
    "urlize": (
        _take("trim_url_limit", WHOLE_OR_NONE, "none"), _take("nofollow", ANY, "false"), _take("target", ANY, "none"),
        _take("rel", TEXT_OR_NONE, "none"),
        _take("extra_schemes", Sort("a list of strings", (list, tuple, _NONE), asks=_ask_schemes), "none"),
    ),
    "wordwrap": (
        _take("width", COUNT, "79"), _take("break_long_words", ANY, "true"), _take("wrapstring", TEXT_OR_NONE, "none"),
        _take("break_on_hyphens", ANY, "true"),
    ),
    "xmlattr": (_take("autospace", ANY, "true"),),
}  # fmt: skip
FILTERS: dict[str, Signature] = {
    **{name: Signature(f"`{name}`", parameters) for name, parameters in _FILTERS.items()},
    "format": Signature("`format`", places="values", names="named", is_either=True),
    "map": Signature("`map`", places="filter", names="named"),
    **{name: Signature(f"`{name}`", places="test", names="named") for name in ("select", "reject")},
    **{name: Signature(f"`{name}`", (_take("attribute", KEY, "", "place"),), "test", "named") for name in ("selectattr", "rejectattr")},
}
FILTERS["truncate"] = replace(FILTERS["truncate"], rule=_check_truncated)
FILTERS["truncate_at"] = replace(FILTERS["truncate_at"], rule=_check_sizes)

_BY_PART = Signature("`map`", (_take("attribute", KEY, "", "name"), _take("default", ANY, "none", "name")))
"""The signature of `map` without a filter."""
TESTS: dict[str, Signature] = {
    **{name: Signature(f"`is {name}`") for name in _PLAIN_TESTS.split()},
    **{name: Signature(f"`is {name}`", (_take("other", ANY, "", "place"),)) for name in COMPARING},
    "in": Signature("`is in`", (_take("seq", HOLDER),)),
    "divisibleby": Signature("`is divisibleby`", (_take("num", Sort("a number", NUMBER.classes, asks=_ask_divisor)),)),
}
FUNCTIONS: dict[str, Signature] = {
    "range": Signature(
        "`range`",
        (
            _take("start", WHOLE, "", "place"),
            _take("stop", WHOLE, "none", "place"),
            _take("step", Sort("a whole number", _WHOLE, asks=_ask_step), "1", "place"),
        ),
        rule=_check_range,
    ),
    **{name: Signature(f"`{name}`", (_take("pairs", LISTED, "{}", "place"),), names="values") for name in ("dict", "namespace")},
    "cycler": Signature("`cycler`", places="values", least=1),
    "joiner": Signature("`joiner`", (_take("sep", ANY, "', '"),)),
}


CHAT: dict[str, Signature] = {
    "chat_tojson": Signature(
        "`tojson`",
        (
            _take("ensure_ascii", ANY, "false"),
            _take("indent", Sort("a whole number or a string", (*_WHOLE, str, _NONE), is_width=True), "none"),
            _take("separators", Sort("two strings", (list, tuple, _NONE), asks=_ask_separators), "none"),
            _take("sort_keys", ANY, "false"),
        ),
    ),
    "raise_exception": Signature("`raise_exception`", (_take("message", ANY, "", "place"),)),
}
"""Signatures that only chat templates have."""


def _by_place(*parameters: Parameter) -> tuple[Parameter, ...]:
    return tuple(replace(one, how="place") for one in parameters)


_BOUNDS = (_take("start", WHOLE_OR_NONE, "none"), _take("stop", WHOLE_OR_NONE, "none"))
_PADDED = _by_place(_take("width", WIDTH), _take("fill", Sort("a string", (str,), asks=_ask_letter), "' '"))
_CHARS = _by_place(_take("chars", TEXT_OR_NONE, "none"))
_SOUGHT = _by_place(_take("sought", TEXT), *_BOUNDS)
_PARTED = _by_place(_take("sep", Sort("a string", (str,), asks=_ask_separator)))
_STARTS = _by_place(_take("sought", Sort("a string, or strings in `( )`", (str, tuple), asks=_ask_beginnings)), *_BOUNDS)
_SPLIT = (_take("sep", Sort("a string", (str, _NONE), asks=_ask_separator), "none"), _take("maxsplit", WHOLE, "-1"))
_OF_TEXT: dict[str, tuple[Parameter, ...]] = {
    **dict.fromkeys("isalnum isalpha isascii isdecimal isdigit islower isnumeric isspace istitle isupper".split(), ()),
    **dict.fromkeys("capitalize casefold lower swapcase title upper".split(), ()),
    **dict.fromkeys(("strip", "lstrip", "rstrip"), _CHARS),
    **dict.fromkeys(("center", "ljust", "rjust"), _PADDED),
    **dict.fromkeys(("find", "index", "count", "rfind", "rindex"), _SOUGHT),
    **dict.fromkeys(("partition", "rpartition"), _PARTED),
    **dict.fromkeys(("startswith", "endswith"), _STARTS),
    **dict.fromkeys(("split", "rsplit"), _SPLIT),
    "zfill": _by_place(_take("width", WIDTH)),
    "splitlines": (_take("keepends", TRUTH, "false"),),
    "removeprefix": _by_place(_take("prefix", TEXT)),
    "removesuffix": _by_place(_take("suffix", TEXT)),
    "replace": _by_place(_take("old", TEXT), _take("new", TEXT), _take("count", WHOLE, "-1")),
    "expandtabs": (_take("tabsize", WIDTH, "8"),),
    "join": _by_place(_take("parts", Sort("a list of strings", asks=_ask_texts))),
}


def _name_methods(found: Mapping[str, tuple[Parameter, ...]]) -> dict[str, Signature]:
    return {name: Signature(f"`.{name}()`", parameters) for name, parameters in found.items()}


METHODS: dict[type, dict[str, Signature]] = {
    str: _name_methods(_OF_TEXT),
    dict: _name_methods({"get": _by_place(_take("key", KEY), _take("default", ANY, "none")), "items": (), "keys": (), "values": ()}),
    list: _name_methods(
        {
            "count": _by_place(_take("value", ANY)),
            "index": _by_place(_take("value", ANY), _take("start", WHOLE, "0"), _take("stop", WHOLE, "...")),
        }
    ),
}
METHODS[tuple] = METHODS[list]

LOOP_METHODS: dict[str, Signature] = {
    "cycle": Signature("`loop.cycle`", places="values", least=1),
    "changed": Signature("`loop.changed`", places="values"),
    **{name: Signature(f"`.{name}()`") for name in ("next", "reset")},
}
"""The methods of a loop, and of a cycler."""


def find_applied(name: str, args: Sequence[Any]) -> tuple[str, Sequence[Any]] | None:
    """Return the filter (of `map`) or the test (of `select` and the like) that a filter applies, with its own arguments.

    Return None if the filter applies none, or if the applied one is unknown.
    """
    place = _APPLIES.get(name)
    if place is None or len(args) <= place or args[place].__class__ is not str:
        return None
    return (args[place], args[place + 1 :]) if args[place] in (FILTERS if name == "map" else TESTS) else None


def find_wrong_filter(name: str, args: Sequence[Any], named: Mapping[str, Any], limits: Limits, *, is_spread: bool = False) -> Wrong | None:
    """Return what is wrong with the arguments of a filter, or with those it passes to the filter or test it applies; else None."""
    if name == "map" and not args and not is_spread:
        if "attribute" in named:
            return find_wrong(_BY_PART, (), named, limits)
        return Wrong("PC0424", "`map` needs a filter or an attribute", "write `map('upper')` or `map(attribute='name')`")
    wrong = find_wrong(FILTERS.get(name) or CHAT[name], args, named, limits, is_spread=is_spread)
    applied = find_applied(name, args)
    if wrong is not None or applied is None:
        return wrong
    wrong = (find_wrong_filter if name == "map" else find_wrong_test)(*applied, named, limits, is_spread=is_spread)
    shift = len(args) - len(applied[1])
    return replace(wrong, at=wrong.at + shift) if wrong is not None and isinstance(wrong.at, int) else wrong


def find_wrong_test(name: str, args: Sequence[Any], named: Mapping[str, Any], limits: Limits, *, is_spread: bool = False) -> Wrong | None:
    """Return what is wrong with the arguments of a test, or None."""
    return find_wrong(TESTS[name], args, named, limits, is_spread=is_spread)


def iter_taken(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[tuple[str, Parameter, Any, int | str]]:
    """Yield each parameter that has a value, of a filter and of the filter or test it applies.

    Each comes as the callee's name, the parameter, the value, and the value's place or name.
    """
    if name == "map" and not args:
        yield from iter_of(_BY_PART, args, named)
        return
    yield from iter_of(FILTERS.get(name) or CHAT[name], args, named)
    applied = find_applied(name, args)
    shift = len(args) - len(applied[1]) if applied is not None else 0
    if applied is not None and name == "map":
        for owner, parameter, value, at in iter_taken(*applied, named):
            yield owner, parameter, value, at + shift if isinstance(at, int) else at
    elif applied is not None:
        yield from iter_of(TESTS[applied[0]], applied[1], named, shift)


def iter_taken_by_test(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[tuple[str, Parameter, Any, int | str]]:
    """Yield each parameter of a test that has a value, as `iter_taken` does."""
    return iter_of(TESTS[name], args, named)


def iter_of(
    signature: Signature, args: Sequence[Any], named: Mapping[str, Any], shift: int = 0
) -> Iterator[tuple[str, Parameter, Any, int | str]]:
    """Yield each parameter of a signature that has a value, as `iter_taken` does; `shift` is added to the values' places."""
    by_place = [one for one in signature.parameters if one.how != "name"]
    for place, (parameter, value) in enumerate(zip(by_place, args, strict=False)):
        yield signature.name, parameter, value, place + shift
    for parameter in signature.parameters:
        if parameter.name in named:
            yield signature.name, parameter, named[parameter.name], parameter.name


def find_wrong(
    signature: Signature, args: Sequence[Any], named: Mapping[str, Any], limits: Limits, *, is_spread: bool = False
) -> Wrong | None:
    """Return the first thing wrong with a call, or None. `UNKNOWN` marks an argument that is not known yet.

    An undefined argument for a parameter that does not accept any value raises the error of using it.
    `is_spread`: more arguments may come from `*list` or `**mapping`, so none counts as missing.
    """
    try:
        given = _bind(signature, args, named, is_spread)
    except _Unbound as unbound:
        return unbound.wrong
    for parameter, value, at in given:
        wrong = _judge(signature, parameter, value, at, limits)
        if wrong is not None:
            return wrong
    known = {parameter.name: value for parameter, value, _ in given}
    if signature.rule is None or is_spread or any(map(is_unknown, known.values())):
        return None
    try:
        signature.rule(known, limits)
    except Fault as fault:
        return Wrong(fault.code, str(fault), fault.help)
    return None


def raise_wrong(signature: Signature, args: Sequence[Any], named: Mapping[str, Any], limits: Limits) -> None:
    """Raise the `Fault` for the first thing wrong with a call, in place of Python's own error; do nothing if nothing is wrong."""
    wrong = find_wrong(signature, args, named, limits)
    if wrong is not None:
        raise wrong.fault() from None


def is_unknown(value: Any) -> bool:
    """Return whether an argument cannot be judged: it is not known yet, or undefined, which its use reports."""
    return value is UNKNOWN or value.__class__ in UNDEFINED


class _Unbound(Exception):
    def __init__(self, wrong: Wrong) -> None:
        super().__init__()
        self.wrong = wrong


_Bound = tuple[Parameter, Any, int | str]


def _bind(signature: Signature, args: Sequence[Any], named: Mapping[str, Any], is_spread: bool) -> list[_Bound]:
    """Return each parameter that has a value, with the value and its place or name; values without a parameter are left out.

    Raises `_Unbound` if the arguments do not fit the signature.
    """
    by_place = [one for one in signature.parameters if one.how != "name"]
    if len(args) > len(by_place) and not signature.places:
        raise _Unbound(_refuse(signature, _count(signature, len(by_place), len(args)), len(by_place)))
    bound: list[_Bound] = [(one, value, place) for place, (one, value) in enumerate(zip(by_place, args, strict=False))]
    taken = {one.name for one, _, _ in bound}
    by_name = {one.name: one for one in signature.parameters if one.how != "place"}
    for name, value in named.items():
        if name in by_name and name in taken:
            raise _Unbound(_refuse(signature, f"is given `{name}` twice", name))
        if name in by_name:
            bound.append((by_name[name], value, name))
            taken.add(name)
        elif not signature.names:
            raise _Unbound(_refuse_name(signature, name, by_name))
    missing = [one.name for one in signature.parameters if not one.shown and one.name not in taken]
    if missing and not is_spread:
        raise _Unbound(_refuse(signature, f"needs {' and '.join(f'`{name}`' for name in missing)}", None))
    if len(args) < signature.least and not is_spread:
        raise _Unbound(_refuse(signature, "needs at least one value", None))
    if signature.is_either and args and named:
        raise _Unbound(_refuse(signature, "takes values by place or by name, not both", next(iter(named))))
    return bound


def _count(signature: Signature, most: int, given: int) -> str:
    by_name = " by place" if any(one.how == "name" for one in signature.parameters) else ""
    takes = f"at most {count_noun(most, 'argument')}" if most else "no argument"
    return f"takes {takes}{by_name}, and was given {given}"


def _refuse(signature: Signature, why: str, at: int | str | None) -> Wrong:
    return Wrong("PC0424", f"{signature.name} {why}", f"write `{signature.show()}`", at)


def sign_macro(name: str | None, arguments: Sequence[str], uses: Collection[str]) -> Signature:
    """Return the signature of a macro, or of `caller` if `name` is None. Arguments left out are undefined inside the macro.

    `uses`: which of `caller`, `kwargs` and `varargs` the macro mentions.
    """
    parameters = [Parameter(one, ANY, "none") for one in arguments]
    if "caller" in uses and "caller" not in arguments:
        parameters.append(Parameter("caller", ANY, "none", "name"))
    return Signature(
        f"`{name or 'caller'}`", tuple(parameters), "varargs" if "varargs" in uses else "", "kwargs" if "kwargs" in uses else ""
    )


def _refuse_name(signature: Signature, name: str, by_name: Mapping[str, Parameter]) -> Wrong:
    if name == "caller":
        message = f"{signature.name} does not use the text of a `{{% call %}}`: it never says `caller()`"
        return Wrong("PC0424", message, "print `{{ caller() }}` in it, or call it without a block", name)
    near = suggest(name, by_name)
    help = near if near.startswith("did you mean") else f"write `{signature.show()}`"
    if any(one.name == name for one in signature.parameters):
        return Wrong("PC0424", f"{signature.name} takes `{name}` by its place, not by its name", f"write `{signature.show()}`", name)
    return Wrong("PC0424", f"{signature.name} has no parameter `{name}`", help, name)


def _judge(signature: Signature, parameter: Parameter, value: Any, at: int | str, limits: Limits) -> Wrong | None:
    sort, subject = parameter.sort, f"`{parameter.name}` of {signature.name}"
    if is_unknown(value):
        if sort is not ANY and value is not UNKNOWN:
            value.fail()
        return None
    if sort.classes and value.__class__ not in sort.classes:
        held = show_value(value) if value.__class__ is float else name_kind(value)
        return Wrong("PC0424", f"{subject} must be {sort.words}, not {held}", f"write `{signature.show()}`", at)
    if sort.known and value not in sort.known:
        near = suggest(str(value), sort.known)
        help = near if near.startswith("did you mean") else offer_names(sort.known)
        return Wrong("PC0424", f"{subject} cannot be {show_value(value)}", help, at)
    if value.__class__ in _WHOLE and not _is_within(sort, value):
        return Wrong("PC0424", f"{subject} must be {sort.words}, not {show_value(value)}", f"write `{signature.show()}`", at)
    return _ask(sort, value, at, limits)


def _is_within(sort: Sort, value: int) -> bool:
    return (sort.least is None or value >= sort.least) and (sort.most is None or value <= sort.most)


def _ask(sort: Sort, value: Any, at: int | str, limits: Limits) -> Wrong | None:
    try:
        if sort.is_width:
            check_width(limits, value)
        if sort.asks is not None:
            sort.asks(value)
    except Fault as fault:
        return Wrong(fault.code, str(fault), fault.help, at)
    return None
