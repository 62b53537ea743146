"""Findings of many combinations, each once, with the combinations named in which they hold."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from promptc.check.registry import Combination, Configuration, iter_variations
from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import replace

_SHOWN = 3


def merge_configurations(looks: Sequence[Configuration], find: Callable[[Configuration], Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """What `find` says of each look, each finding once; one that does not hold in all of them names where it does."""
    return merge_findings([(look.combination, find(look)) for look in looks])


def merge_findings(found: Sequence[tuple[Combination, Iterable[Diagnostic]]], among: Sequence[Combination] = ()) -> Iterator[Diagnostic]:
    """The same over findings at hand; `among` are further combinations that have none."""
    held: dict[Diagnostic, list[Combination]] = {}
    for combination, findings in found:
        for finding in dict.fromkeys(findings):
            held.setdefault(finding, []).append(combination)
    everywhere = [*(combination for combination, _ in found), *among]
    for finding, where in held.items():
        name = name_combinations(where, everywhere)
        yield replace(finding, message=f"{finding.message} ({name})") if name else finding


def name_combinations(where: Sequence[Combination], everywhere: Sequence[Combination]) -> str:
    """`with ...`, or nothing when `where` is all of `everywhere`. Patches are named only where nothing else explains a finding."""
    plain = [one for one in everywhere if not one.patch]
    held = [one for one in where if not one.patch]
    if not held:
        return _join([f"patch `{one.patch}`" for one in where])
    if len(held) == len(plain):
        return ""
    names = _name_axis(held, plain) or _name_tiers(held, plain)
    return names or "with " + ", ".join(iter_variations(held[0]))


def _name_axis(held: Sequence[Combination], plain: Sequence[Combination]) -> str:
    """The cases of one axis, where these and no others have the finding."""
    for place in range(len(plain[0].cases)):
        chosen = dict.fromkeys(one.cases[place] for one in held)
        if len(held) == sum(1 for one in plain if one.cases[place] in chosen):
            return _join([f"`{axis}={case}`" for axis, case in chosen])
    return ""


def _name_tiers(held: Sequence[Combination], plain: Sequence[Combination]) -> str:
    chosen = dict.fromkeys(one.tier for one in held)
    if len(held) != sum(1 for one in plain if one.tier in chosen):
        return ""
    names = {one.tier: one.tier_name for one in held}
    last = max(one.tier for one in plain)
    if len(chosen) > 1 and sorted(chosen) == list(range(min(chosen), last + 1)):
        return f"from tier `{names[min(chosen)]}` on"
    return _join([f"tier `{names[tier]}`" for tier in sorted(chosen)])


def _join(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    rest = f" or {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    shown = unique[:_SHOWN]
    if rest or len(shown) < 2:
        return "with " + ", ".join(shown) + rest
    return "with " + ", ".join(shown[:-1]) + f" or {shown[-1]}"
