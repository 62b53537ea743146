"""Keys that two variations set (language.md §6): the later one wins, which an author should know.

Cases of one axis never meet, and strain tiers build on each other in their order; neither is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen
from promptc.model.pack import PackModel
from promptc.model.section import Use
from promptc.model.state import Node

Path = tuple[str, ...]

_NOT_MERGED = ("use", "at", "leave", "do", "name")
_ONE_OF = {"source": ("template", "text", "items"), "place": ("before", "after")}
_ONE_RENDERING = ("text", "template", "forms", "message")
_CONFLICTS_SHOWN = 3


@frozen(eq=False)
class _Key:
    node: Node
    span: Span


@frozen(eq=False)
class _Setter:
    """A variation by its name: the case of an axis, or a tier (of the axis ``)."""

    name: str
    axis: str
    keys: Mapping[Path, _Key]


def check_conflicts(pack: PackModel) -> Iterator[Diagnostic]:
    """For every pair of variations that can meet and set a key to different values: the keys, once for each pair of axes."""
    axes = [_load_axis(pack, axis.name, axis.cases) for axis in pack.axes]
    for first, second in combinations(axes, 2):
        yield from _compare(first, second, "PC0601", "the later axis wins")
    tiers = _load_tiers(pack)
    for cases in axes:
        yield from _compare(cases, tiers, "PC0602", "a tier comes last and wins")


def _load_axis(pack: PackModel, axis: str, cases: Sequence[str]) -> list[_Setter]:
    node = pack.manifest.value["variants"].value[axis].value["cases"]
    return [_Setter(f"{axis}={case}", axis, _collect(node.value[case], pack, ())) for case in cases]


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


def _collect(variation: Node, pack: PackModel, using: tuple[str, ...]) -> dict[Path, _Key]:
    """The keys a variation sets, those of what it uses first."""
    keys: dict[Path, _Key] = {}
    use = variation.get("use")
    for name in use.value if use is not None and isinstance(use.value, tuple) else ():
        if name.value in pack.patches and name.value not in using:
            keys |= _collect(pack.patches[name.value], pack, (*using, name.value))
    for key, node in variation.items():
        if key not in _NOT_MERGED:
            keys |= _flatten(node, (key,), variation.key_span(key))
    return keys


def _flatten(node: Node, path: Path, span: Span) -> dict[Path, _Key]:
    if not isinstance(node.value, dict):
        return {path: _Key(node, span)}
    keys: dict[Path, _Key] = {}
    for key, value in node.items():
        keys |= _flatten(value, (*path, key), node.key_span(key))
    return keys


# --- two of them ---


class _Index:
    """What the variations of one axis set: by path the first setter of every value, and what lies below a path or excludes it."""

    def __init__(self, setters: Sequence[_Setter]) -> None:
        self.values: dict[Path, dict[str, _Setter]] = {}
        self.below: dict[Path, Path] = {}
        self.groups: dict[Path, dict[str, Path]] = {}
        for setter in setters:
            for path, key in setter.keys.items():
                self.values.setdefault(path, {}).setdefault(_write(key.node), setter)
                for length in range(1, len(path)):
                    self.below.setdefault(path[:length], path)
                group = _find_group(path)
                if group and key.node.value is not None:
                    self.groups.setdefault(group[:-1], {}).setdefault(group[-1], path)

    def find_met(self, path: Path, node: Node) -> tuple[_Setter, Path] | None:
        """Who sets the same thing otherwise: the key itself, one around or inside it, or one that excludes it."""
        for value, setter in self.values.get(path, {}).items():
            if value != _write(node):
                return setter, path
        around = next((path[:length] for length in range(1, len(path)) if path[:length] in self.values), None)
        group = _find_group(path) if node.value is not None else ()
        others = self.groups.get(group[:-1], {}) if group else {}
        excluded = next((other for kind, other in others.items() if kind != group[-1]), None)
        for other in (around, self.below.get(path), excluded):
            if other is not None:
                return next(iter(self.values[other].values())), other
        return None


def _find_group(path: Path) -> Path:
    """For a key of several that exclude each other: what they share, and which it is."""
    if path[0] != "sections" or len(path) < 3:
        return ()
    if path[2] == "items" and len(path) > 3 and path[3] in _ONE_RENDERING:
        return (*path[:2], "rendering", path[3])
    return next(((*path[:2], name, path[2]) for name, keys in _ONE_OF.items() if path[2] in keys), ())


def _write(node: Node) -> str:
    return f"{node.plain()!r} in {node.folder}"


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


def _report(one: _Setter, other: _Setter, met: Sequence[tuple[Path, Path]], code: str, why: str) -> Diagnostic:
    before, after = met[0]
    name = f"`{other.name}`" if other.axis else f"tier `{other.name}`"
    message = f"{name} sets {_show([path for _, path in met])}, which `{one.name}` sets too"
    place = one.keys[before].span
    help = f"see {place.file}:{place.line}; {why}: leave it to one of them"
    return Diagnostic(code, message, other.keys[after].span, help, "warn" if other.axis else "note")


def _show(paths: Sequence[Path]) -> str:
    """`a.b.{c, d}` for keys of one mapping, else one after the other."""
    if len(paths) > 1 and len({path[:-1] for path in paths}) == 1:
        return f"`{'.'.join(paths[0][:-1])}.{{{', '.join(path[-1] for path in paths)}}}`"
    shown = ", ".join(f"`{'.'.join(path)}`" for path in paths[:_CONFLICTS_SHOWN])
    return shown + (f" and {len(paths) - _CONFLICTS_SHOWN} more" if len(paths) > _CONFLICTS_SHOWN else "")
