"""Rules on variants and tiers: keys that two of them set, cases and bands that are never chosen, tiers that are never reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from pathlib import PurePosixPath

from promptc.check.bounds import SettledTexts
from promptc.check.configurations import Configuration, Configurations, merge_configurations
from promptc.check.schema_types import list_values
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, Span, join_some, suggest
from promptc.diag.frozen import frozen, replace
from promptc.model.pack import MOST_APPLIED, Axis, Band, Let, PackModel, Plan, Strain, Tier, list_caps, list_watched
from promptc.model.section import Ratio, Section, Step, Use, settle_cap
from promptc.model.state import Node
from promptc.template.types.types import NumberType, Type, list_members

Path = tuple[str, ...]
_NOT_MERGED = ("use", "at", "leave", "do", "name", "variants")
_ONE_OF = {"source": ("template", "text", "items"), "place": ("before", "after")}
_ONE_RENDERING = ("text", "template", "forms", "message")
_CONFLICTS_SHOWN = 3
_SOURCES = ("template", "text")
_OF_ITEMS = ("from", "text", "template", "forms", "message")
_MOODS_SHOWN = 4
_BOUNDLESS = 10**12


@frozen(eq=False)
class _Key:
    node: Node
    span: Span


@frozen(eq=False)
class _Setter:
    """A named variation: a case of an axis, or a tier, whose `axis` is empty."""

    name: str
    axis: str
    keys: Mapping[Path, _Key]


@frozen
class _Reach:
    """The greatest pressure of one choice of cases.

    `short` has the sections that can never fill their caps, with their most tokens and cap.
    """

    spent: int
    allowed: int
    short: tuple[tuple[str, int, int], ...]


def check_conflicts(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report keys that two variations set to different values, if both can apply, once for each pair of axes."""
    axes = [_load_axis(pack, axis.name, axis.cases) for axis in pack.axes]
    for first, second in combinations(axes, 2):
        yield from _compare(first, second, "PC0601", "the later axis wins")
    tiers = _load_tiers(pack)
    for cases in axes:
        yield from _compare(cases, tiers, "PC0602", "a tier comes last and wins")


def _load_axis(pack: PackModel, axis: str, cases: Sequence[str]) -> list[_Setter]:
    node = pack.manifest.value["variants"].value[axis].value["cases"]
    return [_Setter(f"{axis}={case}", axis, _collect(node.value[case], pack, ())) for case in cases]


def _collect(variation: Node, pack: PackModel, using: tuple[str, ...]) -> dict[Path, _Key]:
    """Return the keys that a variation sets, those of the patches it uses first."""
    keys: dict[Path, _Key] = {}
    for one in _iter_used(variation, pack, using, []):
        for key, node in one.items():
            if key not in _NOT_MERGED:
                keys |= _flatten(node, (key,), one.key_span(key))
    return keys


def _iter_used(variation: Node, pack: PackModel, using: tuple[str, ...], applied: list[Node]) -> Iterator[Node]:
    """Yield the patches that a variation uses, each after those that it uses itself, then the variation.

    `applied` are those that were met before; a pack that applies more of them than it may has an error.
    """
    use = variation.get("use")
    for name in use.value if use is not None and isinstance(use.value, tuple) else ():
        if name.value in pack.patches and name.value not in using and len(applied) < MOST_APPLIED:
            applied.append(name)
            yield from _iter_used(pack.patches[name.value], pack, (*using, name.value), applied)
    yield variation


def _flatten(node: Node, path: Path, span: Span) -> dict[Path, _Key]:
    if not isinstance(node.value, dict):
        return {path: _Key(node, span)}
    keys: dict[Path, _Key] = {}
    for key, value in node.items():
        keys |= _flatten(value, (*path, key), node.key_span(key))
    return keys


def _compare(first: Sequence[_Setter], second: Sequence[_Setter], code: str, why: str) -> Iterator[Diagnostic]:
    index = _Index(first)
    met: dict[tuple[str, str], list[tuple[_Setter, _Setter, Path, Path]]] = {}
    told: set[Path] = set()
    for setter in second:
        for path, key in setter.keys.items():
            found = index.find_met(path, key.node) if path not in told else None
            if found is not None:
                told.add(path)
                met.setdefault((found[0].name, setter.name), []).append((found[0], setter, found[1], path))
    for pairs in met.values():
        yield _report(pairs[0][0], pairs[0][1], [(before, after) for _, _, before, after in pairs], code, why)


# --- two of them ---


class _Index:
    """What the variations of one axis set: for each path the first setter of every value, and the paths below it or exclusive with it."""

    def __init__(self, setters: Sequence[_Setter]) -> None:
        self.values: dict[Path, dict[str, _Setter]] = {}
        self.below: dict[Path, Path] = {}
        self.groups: dict[Path, dict[str, Path]] = {}
        for setter in setters:
            for path, key in setter.keys.items():
                self.values.setdefault(path, {}).setdefault(_write(key.node), setter)
                for length in range(1, len(path)):
                    self.below.setdefault(path[:length], path)
                group = _group_key(path)
                if group and key.node.value is not None:
                    self.groups.setdefault(group[:-1], {}).setdefault(group[-1], path)

    def find_met(self, path: Path, node: Node) -> tuple[_Setter, Path] | None:
        """Return who sets the same thing to something else, and by which path; None if nobody does.

        The path is the key itself, one around or inside it, or one that excludes it.
        """
        for value, setter in self.values.get(path, {}).items():
            if value != _write(node):
                return setter, path
        around = next((path[:length] for length in range(1, len(path)) if path[:length] in self.values), None)
        group = _group_key(path) if node.value is not None else ()
        others = self.groups.get(group[:-1], {}) if group else {}
        excluded = next((other for kind, other in others.items() if kind != group[-1]), None)
        for other in (around, self.below.get(path), excluded):
            if other is not None:
                return next(iter(self.values[other].values())), other
        return None


def _write(node: Node) -> str:
    return f"{node.plain()!r} in {node.folder}"


def _group_key(path: Path) -> Path:
    """Return the group and the name of a key that excludes the others of its group; empty for any other key."""
    if path[0] != "sections" or len(path) < 3:
        return ()
    if path[2] == "items" and len(path) > 3 and path[3] in _ONE_RENDERING:
        return (*path[:2], "rendering", path[3])
    return next(((*path[:2], name, path[2]) for name, keys in _ONE_OF.items() if path[2] in keys), ())


def _report(one: _Setter, other: _Setter, met: Sequence[tuple[Path, Path]], code: str, why: str) -> Diagnostic:
    before, after = met[0]
    name = f"`{other.name}`" if other.axis else f"tier `{other.name}`"
    message = f"{name} sets {_show([path for _, path in met])}, which `{one.name}` sets too"
    place = one.keys[before].span
    help = f"let only one of them set it (see {place.file}:{place.line}): {why}"
    return Diagnostic(code, message, other.keys[after].span, help, "warn" if other.axis else "note")


def _show(paths: Sequence[Path]) -> str:
    """Return `a.b.{c, d}` for keys of one mapping, or else a list of paths."""
    if len(paths) > 1 and len({path[:-1] for path in paths}) == 1:
        return f"`{'.'.join(paths[0][:-1])}.{{{', '.join(path[-1] for path in paths)}}}`"
    return join_some([f"`{'.'.join(path)}`" for path in paths], _CONFLICTS_SHOWN)


def _load_tiers(pack: PackModel) -> list[_Setter]:
    if pack.strain is None:
        return []
    setters = []
    for tier, node in zip(pack.strain.tiers, pack.manifest.value["strain"].value["tiers"].value, strict=True):
        keys = _collect(node, pack, ())
        for step in tier.do or ():
            if isinstance(step, Use):
                keys |= _collect(pack.patches[step.patch], pack, (step.patch,))
        setters.append(_Setter(tier.name, "", keys))
    return setters


def check_bands(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report labels that begin above the greatest value that the schema allows for the band's number, or end below the least."""
    bands = {id(let.value.value): (let, let.value) for let in pack.lets if isinstance(let.value, Band)}
    if not bands or not configurations.loaded or pack.schema is None:
        return
    scopes = configurations.facts.scopes
    for text in iter_texts(pack, configurations.loaded[0].plan, 1):
        let, band = bands.pop(id(text.code), (None, None))
        kind = scopes.infer(text).kind if let is not None else None
        if let is not None and band is not None and kind is not None:
            yield from _iter_idle(pack, let, band, kind)


def _iter_idle(pack: PackModel, let: Let, band: Band, kind: Type) -> Iterator[Diagnostic]:
    numbers = [member for member in list_members(kind) if isinstance(member, NumberType)]
    if not numbers or len(numbers) < len(list_members(kind)):
        return
    of = pack.manifest.value["let"].value[let.name].value["of"]
    leasts, mosts = [one.least for one in numbers], [one.most for one in numbers]
    least = None if None in leasts else min(one for one in leasts if one is not None)
    most = None if None in mosts else max(one for one in mosts if one is not None)
    for place, (bound, label) in enumerate(band.bounds):
        ends, after = band.bounds[place + 1] if place + 1 < len(band.bounds) else (None, "")
        if place and most is not None and bound > most:
            yield _describe_band(let, label, of, f"begins at {of.value[label].raw}, and by the schema the value is at most {most}")
        elif ends is not None and least is not None and ends <= least:
            yield _describe_band(let, label, of, f"ends below {of.value[after].raw}, and by the schema the value is at least {least}")


def _describe_band(let: Let, label: str, of: Node, why: str) -> Diagnostic:
    help = "correct the bound, or remove the label and what it selects"
    return Diagnostic("PC0678", f"`{let.name}` is never `{label}`: it {why}", of.key_span(label), help, "warn")


def check_moods(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report cases that leave a section as it is while other cases give it content, and values that select no case.

    The case for which the section itself was written is not reported: the default, or without a default the case after which the section's
    own template is named, or the only such case. A value of the state's schema that selects no case is reported if there is no default.
    """
    for axis in pack.axes:
        yield from _iter_silent(pack, axis)
    if configurations.loaded and pack.schema is not None:
        yield from _iter_unknown_moods(pack, configurations.loaded[0])


def _iter_silent(pack: PackModel, axis: Axis) -> Iterator[Diagnostic]:
    cases = pack.manifest.value["variants"].value[axis.name].value["cases"]
    changes = {name: [change for one in _iter_used(node, pack, (), []) for change in _list_sections(one)] for name, node in cases.items()}
    filled = {name: [section for section, node in found if _fills(node)] for name, found in changes.items()}
    for section in dict.fromkeys(one for sections in filled.values() for one in sections):
        others = [name for name in axis.cases if section in filled[name]]
        silent = [name for name in axis.cases if not any(one == section and _speaks(node) for one, node in changes[name])]
        meant = axis.default if axis.default is not None else _find_meant(pack.manifest, section, silent)
        for name in silent if meant is not None or len(silent) > 1 else ():
            if name != meant:
                message = (
                    f"`{axis.name}={name}` has no template for `{section}`, while {_join(others)} one: it shows the section's own text"
                )
                default = f"give it one; or, if the section's own text is meant for it, write `default: {name}`"
                help = (
                    default if meant is None or meant == axis.default else f"give it one: the section's own text is named after `{meant}`"
                )
                yield Diagnostic("PC0645", message, cases.key_span(name), help, "warn")


def _list_sections(variation: Node) -> Iterable[tuple[str, Node]]:
    sections = variation.get("sections")
    return sections.items() if sections is not None else ()


def _fills(change: Node) -> bool:
    items = change.get("items")
    return _has(change, _SOURCES) or (items is not None and _has(items, _OF_ITEMS))


def _has(node: Node, keys: Sequence[str]) -> bool:
    return any((found := node.get(key)) is not None and found.value is not None for key in keys)


def _speaks(change: Node) -> bool:
    """Return whether a change gives the section content, removes it or switches it."""
    return change.value is None or change.get("when") is not None or _fills(change)


def _find_meant(manifest: Node, section: str, silent: Sequence[str]) -> str | None:
    """Return the case after which the section's own template is named, such as `scene` for `moods/scene.md`; None if there is none."""
    sections = manifest.get("sections")
    own = sections.get(section) if sections is not None else None
    template = own.get("template") if own is not None else None
    words = PurePosixPath(str(template.value)).name.split(".") if template is not None else []
    return next((name for name in silent if name in words), None)


def _join(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOODS_SHOWN])
    return f"{shown}{', ...' if len(names) > _MOODS_SHOWN else ''} {'has' if len(names) == 1 else 'have'}"


def _iter_unknown_moods(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    scopes = configuration.facts.scopes
    axes = {id(axis.select): axis for axis in pack.axes if axis.default is None}
    for text in iter_texts(pack, configuration.plan, 1):
        axis = axes.get(id(text.code))
        kind = scopes.infer(text).kind if axis is not None else None
        values = list_values(kind) if kind is not None else None
        for value in values or ():
            if axis is not None and value not in axis.cases:
                wanted = f"`{axis.select.text.strip()}` may be `{value}`"
                message = f"by the schema {wanted}, but `{axis.name}` has no such case and no default"
                near = suggest(value, axis.cases)
                help = near if near.startswith("did") else "give the axis a `default`, or add a case for it"
                yield Diagnostic("PC0646", message, axis.select.span, help, "warn")


def check_never_on(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report sections whose `when` is always false in every combination, including those with a patch."""
    if configurations.failed:
        return  # it may be on in one of them
    off: dict[str, Section] = {}
    on: set[str] = set()
    settled = configurations.facts.settled
    for one in configurations:
        for section in one.plan.sections:
            if settled.is_off(section):
                off.setdefault(section.id, section)
            else:
                on.add(section.id)
    for name, section in off.items():
        if name not in on and section.when is not None:
            message = f"`{name}` is {'required and ' if section.required else ''}never on: its `when` is false in every combination"
            help = "remove the section, or let a variant or patch switch it on"
            yield Diagnostic("PC0643", message, section.when.span, help, "error" if section.required else "note")


def check_tiers(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report tiers that no choice of cases can reach, counted sections that count for nothing, and `do` steps on unknown sections."""
    rules = pack.strain
    if rules is None:
        return
    lowest = [one for one in configurations if one.combination.tier == 0]
    for step in dict.fromkeys(step for tier in rules.tiers for step in tier.do or ()):
        acting = [one for one in configurations if step in one.list_tier_steps()]
        yield from merge_configurations(acting, partial(_iter_unknown_tiers, step))
    yield from merge_configurations(lowest, lambda one: _iter_uncapped(pack, rules, one))
    settled = configurations.facts.settled
    alone = [one for one in lowest if not one.combination.patch]
    reaches = [_measure_reach(rules, one, plan, settled) for one in alone for plan in _iter_capped(one, settled)]
    if reaches and len(rules.tiers) > 1:
        yield from _judge(rules, reaches)


def _iter_unknown_tiers(step: Step, configuration: Configuration) -> Iterator[Diagnostic]:
    known = [section.id for section in configuration.plan.sections]
    if step.section not in known:
        yield Diagnostic(
            "PC0613", f"`{step.label}` names `{step.section}`, which is not a section", step.span, suggest(step.section, known)
        )


def _iter_uncapped(pack: PackModel, rules: Strain, configuration: Configuration) -> Iterator[Diagnostic]:
    plan = configuration.base
    caps = list_caps(plan, rules, plan.budget.total)
    node = pack.manifest.value["strain"].get("count")
    for name in node.value if node is not None else ():
        if name.value not in caps and plan.find_section(str(name.value)) is not None:
            message = f"`strain.count` names `{name.value}`, which has no cap in tokens and so is not counted"
            yield Diagnostic(
                "PC0614",
                message,
                name.span,
                f"give `{name.value}` a cap in tokens, such as `budget: 800`, or remove it from `count`",
                "warn",
            )


def _iter_capped(configuration: Configuration, settled: SettledTexts) -> Iterator[Plan]:
    """Yield the plans without tiers with which pressure can be highest.

    These are the plan with the largest caps, and, if states choose caps, with the least caps, and with caps that constant content just
    fills.
    """
    plan = configuration.base
    yield plan
    caps = {one.id: (configuration.make_least_test_cap(one), _find_most(one.id, configuration, settled)) for one in plan.sections}
    if any(least is not None for least, _ in caps.values()):
        yield replace(plan, sections=tuple(settle_cap(one, caps[one.id][0]) for one in plan.sections))
        yield replace(plan, sections=tuple(_settle_full(one, plan.budget.total, *caps[one.id]) for one in plan.sections))


def _settle_full(section: Section, total: int, least: int | None, most: int | None) -> Section:
    cap = section.cap
    if cap is None or least is None or most is None:
        return section
    return settle_cap(section, max(least, min(most, cap.tokens(total))))


def _measure_reach(rules: Strain, configuration: Configuration, plan: Plan, settled: SettledTexts) -> _Reach:
    total = plan.budget.total
    caps = list_caps(plan, rules, total)
    short = []
    for name, cap in caps.items():
        most = _find_most(name, configuration, settled)
        if most is not None and most < cap:
            short.append((name, most, cap))
    allowed = sum(caps.values())
    spent = allowed - sum(cap - most for _, most, cap in short)
    for name, limit in list_watched(plan, rules, total).items():
        bounds = [one for one in (_find_most(name, configuration, settled), limit) if one is not None]
        spent += min(bounds, default=_BOUNDLESS)
    return _Reach(spent, allowed, tuple(short))


def _find_most(name: str, configuration: Configuration, settled: SettledTexts) -> int | None:
    section = configuration.plan.find_section(name)
    if section is None or settled.is_off(section):
        return 0
    return settled.find_most(section, configuration.plan.output.separator)


def _judge(rules: Strain, reaches: Sequence[_Reach]) -> Iterator[Diagnostic]:
    if not any(reach.allowed for reach in reaches):
        message = "only the first tier can ever apply: no counted section has a cap in tokens, so pressure is always 0"
        yield Diagnostic("PC0615", message, rules.span, "give the sections of `strain.count` caps in tokens, such as `budget: 800`", "warn")
        return
    for tier, above in pairwise((*rules.tiers, None)):
        if tier is not None and not any(_can_be(reach, tier.at, above.at if above is not None else None) for reach in reaches):
            most = max((reach for reach in reaches if reach.allowed), key=lambda reach: reach.spent / reach.allowed)
            yield Diagnostic("PC0616", _describe_tier(tier, most), tier.span, _advise(most), "warn")


def _can_be(reach: _Reach, at: Ratio, below: Ratio | None) -> bool:
    """Return whether some whole number of tokens, up to what can be spent, falls into the tier. 0 of 0 falls into the first."""
    least = -(-at.numerator * reach.allowed // at.denominator)
    if least > reach.spent:
        return False
    return below is None or not reach.allowed or least * below.denominator < below.numerator * reach.allowed


def _describe_tier(tier: Tier, most: _Reach) -> str:
    begins = f"tier `{tier.name}` begins at {float(tier.at):g}"
    if tier.at * most.allowed > most.spent:
        share = 100 * most.spent // most.allowed / 100
        return f"{begins}, and pressure reaches {share:g} at most ({most.spent} of {most.allowed} tokens)"
    return f"{begins}, so close below the next one that no number of {most.allowed} tokens lies between"


def _advise(most: _Reach) -> str:
    if not most.short:
        return "move the thresholds apart"
    shown = ", ".join(f"`{name}` holds {spent} of its {cap} at most" for name, spent, cap in most.short[:3])
    return f"lower the threshold, or count other sections: {shown}"
