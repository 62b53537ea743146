"""Guards every text inside a value of the state: what a tool was given and what it gave is content as well (language.md §10)."""

from collections.abc import Mapping

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.text.guard import Finding, Guard

_SIGNED: Mapping[str, tuple[str, ...]] = {"thinking": ("signature", "thinking"), "redacted_thinking": ("data",)}
"""By kind of part: the keys that a provider signed. The first holds the signature; the part goes back to that provider alone."""


def guard_value(value: Any, guard: Guard) -> tuple[Any, tuple[Finding, ...]]:
    """The value with its texts guarded, keys of mappings among them, and what was met. Equal texts stay equal.

    A guard that spares what is signed leaves the signed keys of a part as they are: what is met there is reported as kept, or as refused.
    """
    found: list[Finding] = []
    signed = _find_signed(value) if guard.spares_signed else {}
    if not signed:
        return _guard(value, guard, found), tuple(found)
    guarded = _guard({key: one for key, one in value.items() if key not in signed}, guard, found)
    met: list[Finding] = []
    _guard(list(signed.values()), guard, met)
    kept = (replace(one, policy="keep") if one.policy == "escape" else one for one in met)
    return {**guarded, **signed}, (*found, *kept)


def _find_signed(value: Any) -> dict[str, str]:
    keys = _SIGNED.get(str(value.get("type")), ()) if isinstance(value, Mapping) else ()
    found = {key: value[key] for key in keys if isinstance(value.get(key), str)}
    return found if keys and found.get(keys[0]) else {}


def _guard(value: Any, guard: Guard, found: list[Finding]) -> Any:
    if isinstance(value, str):
        text, met = guard.guard(value)
        found.extend(met)
        return text
    if isinstance(value, Mapping):
        return {_guard(key, guard, found): _guard(one, guard, found) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_guard(one, guard, found) for one in value]
    return value
