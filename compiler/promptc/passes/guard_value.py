"""Guards every text inside a value of the state: what a tool was given and what it gave is content as well (language.md §10)."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.text.guard import Finding, Guard, escape_invisible

_SIGNED: Mapping[str, tuple[str, ...]] = {"thinking": ("signature", "thinking"), "redacted_thinking": ("data",)}
"""By kind of part: the keys that a provider signed. The first holds the signature; the part goes back to that provider alone."""


def guard_parts(parts: Sequence[Mapping[str, Any]], guard: Guard) -> tuple[tuple[Mapping[str, Any], ...], tuple[Finding, ...]]:
    """The parts of one message, guarded for themselves and as they are joined, and what was met.

    Services put the texts of a list behind each other, and those of the next message of its role behind them; some leave out or move what
    stands between.
    """
    guarded = [guard_value(part, guard, is_joined=guard.guards_ends) for part in parts]
    return tuple(part for part, _ in guarded), tuple(one for _, met in guarded for one in met)


def guard_value(value: Any, guard: Guard, *, is_joined: bool = False) -> tuple[Any, tuple[Finding, ...]]:
    """The value with its texts guarded, keys of mappings among them, and what was met. Equal texts stay equal.

    In messages the signed keys of a part are left as they are: what is met there is reported as kept, or as refused. With `is_joined` the
    end of a part's text is guarded too, as are in messages the ends of texts that a tool gave as a list of parts; no others.
    """
    found: list[Finding] = []
    signed = _find_signed(value) if guard.in_messages else {}
    if not signed:
        return _guard(value, guard, found, is_joined), tuple(found)
    guarded = _guard({key: one for key, one in value.items() if key not in signed}, guard, found)
    met: list[Finding] = []
    _guard(list(signed.values()), guard, met)
    kept = (replace(one, policy="keep") if one.policy != "reject" else one for one in met)
    return {**guarded, **signed}, (*found, *kept)


def iter_joined(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The texts that services may read as one: those of the parts, and those of each list of parts that a tool gave."""
    yield "".join(part["text"] for part in parts if part.get("type") == "text")
    for part in parts:
        content = part.get("content")
        if part.get("type") == "tool_result" and isinstance(content, list | tuple):
            texts = (one.get("text") for one in content if isinstance(one, Mapping) and one.get("type") == "text")
            yield "".join(text for text in texts if isinstance(text, str))


def _find_signed(value: Any) -> dict[str, str]:
    keys = _SIGNED.get(str(value.get("type")), ()) if isinstance(value, Mapping) else ()
    found = {key: value[key] for key in keys if isinstance(value.get(key), str)}
    return found if keys and found.get(keys[0]) else {}


def _guard(value: Any, guard: Guard, found: list[Finding], is_joined: bool = False) -> Any:
    if isinstance(value, str):
        text, met = guard.guard(value, goes_on=is_joined)
        found.extend(met)
        return text
    if isinstance(value, Mapping):
        joined = "text" if is_joined and value.get("type") == "text" else None
        names = [_guard(key, guard, found) for key in value]
        if len({*names}) < len(names):  # keys that only hidden text told apart
            names = [_guard(escape_invisible(key), guard, found) for key in value]
        values = [_guard(one, guard, found, key == joined) for key, one in value.items()]
        return dict(zip(names, values, strict=True))
    if isinstance(value, list | tuple):
        is_several = guard.in_messages and len(value) > 1
        return [_guard(one, guard, found, is_several and isinstance(one, Mapping)) for one in value]
    return value
