"""What every filter, test, method and function of the allow-list may be called with: their one table, for `check` and for a run.

`find_wrong` judges a call. `check` gives it the arguments it knows, a run gives it all of them, and both say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from promptc.diag.findings import count_noun, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.diag.value import name_kind, show_value
from promptc.template.limits import Limits
from promptc.template.runtime.fault import Fault
from promptc.template.runtime.methods_of_text import check_width
from promptc.template.runtime.payments import UNDEFINED


class _Unknown:
    """An argument of which nothing is known before the run."""

    __slots__ = ()


UNKNOWN: Any = _Unknown()


@frozen
class Sort:
    """What a parameter takes: values of some classes (none listed: any value), from `least` to `most`, or one of `known`.

    `asks` raises a `Fault` for a value that is none of the sort; `is_width`: a number is at most `limits.width`.
    """

    words: str
    classes: tuple[type, ...] = ()
    least: int | None = None
    most: int | None = None
    known: tuple[str, ...] = ()
    is_width: bool = False
    asks: Callable[[Any], object] | None = None


ANY = Sort("any value")


@frozen
class Parameter:
    """One parameter. `shown` is its default as a template writes it, empty where it must be given. `how`: `place`, `name` or `both`."""

    name: str
    sort: Sort
    shown: str = ""
    how: str = "both"


@frozen
class Signature:
    """How something is called. `name` as messages say it: `` `round` ``, `` `.center()` ``, `` `is divisibleby` ``.

    `places` and `names`: whether it takes any number of further values by place, and by name; `least` of them by place must be there.
    `is_either`: not both by place and by name.
    `rule` raises a `Fault` for arguments that are right alone and wrong together; it is asked only when all of them are known.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    places: str = ""
    names: str = ""
    least: int = 0
    is_either: bool = False
    rule: Callable[[Mapping[str, Any], Limits], object] | None = None

    def show(self) -> str:
        """The call, as documentation writes it: `round(precision=0, method='common')`."""
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


@frozen
class Wrong:
    """A call that cannot work: its finding, and the argument it is about, by its place or its name (None: the call)."""

    code: str
    message: str
    help: str
    at: int | str | None = None

    def fault(self) -> Fault:
        """What a run raises."""
        return Fault(self.code, self.message, self.help)


def find_wrong(
    signature: Signature, args: Sequence[Any], named: Mapping[str, Any], limits: Limits, *, is_spread: bool = False
) -> Wrong | None:
    """The first thing wrong with a call, or None. `UNKNOWN` stands for an argument that is not known yet.

    An argument that is undefined where a value is due raises what using it means.
    `is_spread`: more arguments may come from `*list` or `**mapping`, so that none is missing.
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


def is_unknown(value: Any) -> bool:
    """Whether nothing is to be said of an argument: it is not known yet, or undefined, which whoever uses it says."""
    return value is UNKNOWN or value.__class__ in UNDEFINED


class _Unbound(Exception):
    def __init__(self, wrong: Wrong) -> None:
        super().__init__()
        self.wrong = wrong


_Bound = tuple[Parameter, Any, int | str]


def _bind(signature: Signature, args: Sequence[Any], named: Mapping[str, Any], is_spread: bool) -> list[_Bound]:
    """Each parameter that is given, with its value and where that stands; values that no parameter names are not among them."""
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
    """How a macro may be called, or `caller` where it has no name. `uses`: which of `caller`, `kwargs` and `varargs` it mentions. What is
    left out is undefined inside it."""
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
        help = near if near.startswith("did you mean") else "one of " + ", ".join(f"`{one}`" for one in sort.known)
        return Wrong("PC0424", f"{subject} cannot be {show_value(value)}", help, at)
    if value.__class__ in _WHOLES and not _is_within(sort, value):
        return Wrong("PC0424", f"{subject} must be {sort.words}, not {show_value(value)}", f"write `{signature.show()}`", at)
    return _ask(sort, value, at, limits)


_WHOLES = (int, bool)


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
