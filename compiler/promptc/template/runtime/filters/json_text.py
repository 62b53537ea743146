"""Filters that write JSON."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import LISTS, check_depth
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import refuse_part, show, weigh


def render_json(run: Run, value: Any) -> str:
    """Canonical JSON: keys sorted by code point, no spaces."""
    from promptc.text.json import render_canonical_json

    found = _name_keys(run, plain(run, value))
    run.make(2 * weigh(run, found, 4).characters)
    made = render_canonical_json(found)
    run.make(len(made))
    return made


def plain(run: Run, value: Any, depth: int = 0) -> Any:
    """The value with its sequences as lists: plain data. All else is refused."""
    run.take(30)
    kind = value.__class__
    if kind in _SCALARS:
        return value
    depth = check_depth(depth)
    if kind is dict:
        return {key: plain(run, part, depth) for key, part in value.items()}
    if kind in LISTS or hasattr(value, "__iter__"):
        return [plain(run, part, depth) for part in value]
    refuse_part(value)


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _name_keys(run: Run, value: Any) -> Any:
    """Keys as JSON writes them, before they are sorted."""
    if value.__class__ is list:
        return [_name_keys(run, part) for part in value]
    if value.__class__ is dict:
        return {_name_key(run, key): _name_keys(run, part) for key, part in value.items()}
    return value


def _name_key(run: Run, key: Any) -> str:
    if key.__class__ is str:
        return key
    return show(run, key) if key.__class__ in (int, float) else {None: "null", True: "true", False: "false"}[key]


def write_json(run: Run, value: Any, indent: Any = None) -> str:
    """JSON as Jinja writes it: keys sorted, `<`, `>`, `&` and `'` escaped; in lines, indented by `indent` a level, if that is given."""
    from json import dumps

    found = plain(run, value)
    weight = weigh(run, found, 4)
    step = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    if indent is not None:
        run.take(8 * weight.parts)
        run.make(weight.parts * (1 + max(step, 0) * weight.depth))
    run.make(2 * weight.characters)
    made = dumps(found, sort_keys=True, indent=indent)
    run.make(len(made) + 5 * sum(map(made.count, _UNSAFE)))
    for sign in _UNSAFE:
        made = made.replace(sign, f"\\u{ord(sign):04x}")
    return made


_UNSAFE = "<>&'"


def show_in_lines(run: Run, value: Any) -> str:
    """The value as `pprint` shows it: in lines of 80 characters, where it is longer."""
    from pprint import pformat

    weight = weigh(run, value, 4)
    if weight.depth > _LEVELS:
        refuse("PC0417", f"`pprint` shows at most {_LEVELS} lists inside each other", f"{name_kind(value)} that nests less")
    run.take(40 * weight.parts * weight.depth + weight.characters * weight.depth)
    run.make(2 * weight.characters + weight.parts * weight.depth)
    made = pformat(value)
    run.make(len(made))
    return made


_LEVELS = 40

FILTERS: dict[str, Callable[..., Any]] = {"json": render_json, "tojson": write_json, "pprint": show_in_lines}
