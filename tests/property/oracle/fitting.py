"""The slow fitter: the law of fitting, with the whole layout counted anew at every notch. The oracle of the compiler's."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any

from promptc.text.guard import Guard
from tests.property.drawing.packs import Drawn
from tests.property.oracle.granting import Claim, share_out
from tests.property.oracle.jinja_text import evaluate
from tests.property.oracle.layout import Layout
from tests.property.oracle.offering import count_offered, fold_tools, list_offered
from tests.property.oracle.parts import Memory, Sec
from tests.property.oracle.selecting import Selecting, find_size
from tests.property.oracle.stepping import Notch, Stepping

Log = list[tuple[int, int]]
"""Counts before and after each notch that was applied, in tokens."""


@dataclass
class Expected:
    """What a render must come to. `short`: the section whose cap, or `total`, cannot be met; then nothing is emitted."""

    format: str
    text: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    tokens: int | None = None
    short: str = ""
    tier: int = 0
    raises: dict[str, list[str]] = field(default_factory=dict)
    grants: dict[str, int] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)


def expect(drawn: Drawn, total: int, guard: Guard) -> Expected:
    """What `drawn` must render to within `total` tokens. `guard` is the render's: what it does is held by other properties."""
    drawn = _settle(drawn)
    manifest, tier, raises = _strain(drawn, total, guard)
    expected = _Fitting(manifest, tier, drawn, total, guard).run()
    expected.raises = raises
    return expected


# contract 5.6
def _settle(drawn: Drawn) -> Drawn:
    """With numbers in place of the caps that the state chooses."""
    manifest = deepcopy(drawn.manifest)
    for section in [*manifest["sections"], manifest.get("tools")]:
        budget = section.get("budget") if isinstance(section, dict) else None
        if not isinstance(budget, dict) or "from" not in budget:
            continue
        chars = isinstance(budget["max"], dict)
        most, asked = budget["max"]["chars"] if chars else budget["max"], evaluate(budget["from"], {"state": drawn.state})
        cap = most if asked is None else int(min(max(asked, 0), most))
        section["budget"] = {"chars": cap} if chars else cap
    return replace(drawn, manifest=manifest)


def _shown(rules: dict[str, Any] | None, tier: int, percent: int) -> dict[str, Any]:
    return {"tier": rules["tiers"][tier]["name"] if rules else None, "index": tier, "percent": percent}


def _format(manifest: dict[str, Any]) -> str:
    return str(manifest.get("output", {}).get("format", "text"))


class _Fitting:
    def __init__(self, manifest: dict[str, Any], tier: tuple[int, int], drawn: Drawn, total: int, guard: Guard) -> None:
        self.given = (manifest, tier, drawn, total, guard)
        self.total = total
        self.rules = drawn.manifest.get("strain")
        self.tier = tier[0]
        counter = manifest["tokenizer"]
        self.layout = Layout(manifest, counter, _format(manifest), count_offered(counter, list_offered(manifest, drawn.files)))
        self.selecting = Selecting(manifest, drawn.state, _shown(self.rules, *tier), total, self.layout, guard)
        self.stepping = Stepping(self.selecting, drawn.files)
        self.manifest = manifest
        self.sections = self.selecting.run()
        self.by_id = {"tools": Sec("tools", {}, {}), **{section.id: section for section in self.sections}}
        self.ladders: dict[str, Iterator[Notch]] = {}
        self.caps: dict[str, int] = {}
        self.expected = Expected(self.layout.format, tier=tier[0])

    # contract 5.32 and 10.1
    def run(self) -> Expected:
        self._do()
        self._check_pinned()
        self._run_chars()
        self.expected.grants = self._grant()
        for name, grant in self.expected.grants.items():
            section = self.by_id[name]
            if section.alive:
                self._run_section(section, lambda section=section: self.layout.charge(section), grant * self.layout.unit)  # type: ignore[misc]
        self._run_pools()
        if not self.expected.short:
            self._truncate()
        return self.expected

    # --- the law ---

    # contract 5.30 and 5.31
    def _walk(self, notches: Iterator[Notch], count: Callable[[], int], target: int, *, protect: bool) -> tuple[bool, Log]:
        """The shortest prefix of the notches that meets the target."""
        now = least = count()
        log: Log = []
        if now <= target:
            return True, log
        for notch in notches:
            held = Memory.of(notch.section)
            before = notch.section.alive
            notch.apply()
            after = count()
            if (notch.whole and after >= now) or self._breaks_min(notch.section, before, protect):
                held.restore()
                continue
            log.append((self.layout.tokens(now), self.layout.tokens(after)))
            now, least = after, min(least, after)
            if now <= target:
                return True, log
        return False, log

    # contract 4.11 and 5.12
    def _breaks_min(self, section: Sec, before: list[Any], protect: bool) -> bool:
        least = section.spec.get("items", {}).get("window", {}).get("min", 0)
        windowed = [item for item in section.alive if item.windowed]
        by_group = section.spec.get("items", {}).get("window", {}).get("whole") == "group"
        left = len({section.group_of(item) for item in windowed}) if by_group else len(windowed)
        if left < least and len(windowed) < sum(item.windowed for item in before):
            return True
        return protect and self.layout.charge(section) < self._min(section) * self.layout.unit

    def _min(self, section: Sec) -> int:
        budget = section.spec.get("budget")
        return find_size(budget.get("min", 0), self.total)[0] if isinstance(budget, dict) else 0

    def _ladder(self, section: Sec) -> Iterator[Notch]:
        if section.id not in self.ladders:
            self.ladders[section.id] = chain(self._expand_ladder(section))  # which those that go on with it cannot close
        return self.ladders[section.id]

    def _expand_ladder(self, section: Sec) -> Iterator[Notch]:
        default = "evict" if "items" in section.spec else "trim"
        for step in section.spec.get("overflow", [] if section.spec.get("pinned") else [{default: {}}]):
            ((name, body),) = step.items()
            yield from self.stepping.expand(name, body, section)

    # contract 1.4 and 5.29
    def _expand_named(self, steps: list[Any]) -> Iterator[Notch]:
        for step in steps:
            if isinstance(step, str):
                yield from self._ladder(self.by_id[step]) if not self.by_id[step].spec.get("pinned") else ()
                continue
            ((name, body),) = step.items()
            if "sections" in body:
                yield from self.stepping.evict_jointly(body, [self.by_id[one] for one in body["sections"]])
            else:
                yield from self.stepping.expand(name, body, self.by_id[body["section"]])

    # --- the passes ---

    # contract 5.27 and 7.6
    def _do(self) -> None:
        steps: list[Any] = []
        for tier in self.rules["tiers"][: self.tier + 1] if self.rules else ():
            if "do" in tier:
                steps = [*steps, *tier["do"]] if tier["do"] else []
        self._walk(self._expand_named(steps), lambda: sum(map(self.layout.charge, self.sections)), -1, protect=False)

    def _check_pinned(self) -> None:
        for section in self.sections:
            budget = section.spec.get("budget")
            if not section.spec.get("pinned") or not section.alive or budget is None:
                continue
            if isinstance(budget, dict):
                is_over = "chars" in budget and self._chars(section) > budget["chars"]  # `over: warn` only warns
            else:
                is_over = self.layout.tokens(self.layout.charge(section)) > budget
            if is_over:
                self.expected.short = self.expected.short or section.id

    # contract 5.8
    def _run_chars(self) -> None:
        for section in self._capped("chars"):
            cap, _ = find_size(section.spec["budget"], self.total)
            self._run_section(section, lambda section=section: self._chars(section), cap)  # type: ignore[misc]

    def _capped(self, unit: str) -> list[Sec]:
        return [one for one in self.sections if one.alive and not one.spec.get("pinned") and self._kind(one) == unit]

    # contract 5.2
    def _kind(self, section: Sec) -> str:
        """`none`, `chars`, `number`, `percent` or `grow`."""
        budget = section.spec.get("budget")
        if budget is None or section.spec.get("pinned"):
            return "none"
        if isinstance(budget, dict) and "chars" in budget:
            return "chars"
        if isinstance(budget, dict) and budget.get("grow"):
            return "grow"
        cap = self._cap(section)
        return "none" if cap is None else "percent" if isinstance(cap, str) else "number"

    def _cap(self, section: Sec) -> Any:
        budget = section.spec["budget"]
        return budget.get("max", budget.get("tokens")) if isinstance(budget, dict) else budget

    # contract 5.8
    def _chars(self, section: Sec) -> int:
        separator = section.spec.get("separator", "\n")
        return len(separator.join(item.body for item in section.alive))

    # contract 5.3 and 5.42
    def _grant(self) -> dict[str, int]:
        fixed = self.layout.fixed
        shares: dict[str, dict[str, Claim]] = {"percent": {}, "grow": {}}
        numbers: dict[str, int] = {}
        loads: dict[str, int] = {}
        for section in self.sections:
            kind, demand = self._kind(section), self.layout.tokens(self.layout.charge(section))
            if not section.items:
                continue
            if kind in shares:
                claim = self._claim(section, kind, demand)
                shares[kind][section.id] = claim
                loads[section.id] = int(claim[0])
            elif kind == "number":
                numbers[section.id] = find_size(self._cap(section), self.total)[0]
                loads[section.id] = min(demand, numbers[section.id])
            else:
                loads[section.id] = demand
        self.caps = {}
        for name, pool in self._list_pools():
            load = sum(loads.pop(one, 0) for one in pool["sections"])
            if isinstance(pool["max"], str):
                shares["percent"][f"pools.{name}"] = claim = self._claim_pool(pool, numbers)
                fixed += int(claim[0])
            else:
                self.caps[name] = pool["max"]
                fixed += min(load, pool["max"])
        granted = share_out(shares["percent"], shares["grow"], Fraction(self.total - fixed - sum(loads.values())))
        self.caps |= {name.removeprefix("pools."): granted.pop(name) for name in list(granted) if name.startswith("pools.")}
        return {**numbers, **granted}

    def _list_pools(self) -> list[tuple[str, dict[str, Any]]]:
        return list(self.manifest.get("pools", {}).items())

    # contract 5.43
    def _claim_pool(self, pool: dict[str, Any], numbers: dict[str, int]) -> Claim:
        """What it wants is what its sections' own ladders leave, its floor the least that its own ladder can leave of that."""
        other = _Fitting(*self.given)
        other._do()
        other._run_chars()
        for name in pool["sections"]:
            section = other.by_id[name]
            if section.alive and name in numbers:
                other._run_section(section, lambda section=section: other.layout.charge(section), numbers[name] * self.layout.unit)  # type: ignore[misc]
        demand = self.layout.tokens(other._count_pool(pool))
        _, log = other._walk(other._expand_named(pool["overflow"]), lambda: other._count_pool(pool), -1, protect=True)
        part = Fraction(pool["max"].removesuffix("%")) / 100
        return Fraction(min([demand, *(after for _, after in log)])), min(Fraction(demand), part * self.total), part

    # contract 5.39
    def _count_pool(self, pool: dict[str, Any]) -> int:
        return sum(self.layout.charge(self.by_id[name]) for name in pool["sections"])

    # contract 5.40
    def _run_pools(self) -> None:
        for name, pool in self._list_pools():
            steps = self._expand_named(pool["overflow"])
            met, log = self._walk(steps, lambda pool=pool: self._count_pool(pool), self.caps[name] * self.layout.unit, protect=True)  # type: ignore[misc]
            self.expected.logs[f"pools.{name}"] = log
            if not met:
                self.expected.short = self.expected.short or f"pools.{name}"

    # contract 5.3 and 5.4
    def _claim(self, section: Sec, kind: str, demand: int) -> Claim:
        floor = max(min(demand, self._min(section)), self._least(section))
        cap = self._cap(section)
        part = Fraction(cap.removesuffix("%")) / 100 if isinstance(cap, str) else Fraction(1)
        most = part * self.total if isinstance(cap, str) else Fraction(demand if cap is None else cap)
        weight = part if kind == "percent" else Fraction(str(section.spec["budget"]["grow"]))
        return Fraction(floor), min(Fraction(demand), most), weight

    # contract 5.3
    def _least(self, section: Sec) -> int:
        """The least count on the section's ladder, walked to its end and back."""
        held = Memory.of(section)
        counts = [self.layout.charge(section)]

        def count() -> int:
            counts.append(self.layout.charge(section))
            return counts[-1]

        _, log = self._walk(self._expand_ladder(section), count, -1, protect=True)
        held.restore()
        return min([self.layout.tokens(counts[0]), *(after for _, after in log)])

    def _run_section(self, section: Sec, count: Callable[[], int], target: int) -> None:
        is_share = self._kind(section) in ("percent", "grow")
        met, log = self._walk(self._ladder(section), count, target, protect=is_share)
        self.expected.logs[section.id] = log
        if not met:
            self.expected.short = self.expected.short or section.id

    def _truncate(self) -> None:
        steps = self._expand_named(self.manifest.get("truncate", []))
        met, log = self._walk(steps, lambda: self.layout.total(self.sections), self.total * self.layout.unit, protect=True)
        self.expected.logs["truncate"] = log
        if not met:
            self.expected.short = "total"
            return
        self.expected.tokens = self.layout.tokens(self.layout.total(self.sections))
        if self.layout.format == "text":
            self.expected.text = self.layout.text(self.sections)
        else:
            self.expected.messages = self.layout.messages(self.sections)


# --- strain ---


# contract 3.18, 7.1, 7.3 and 7.4
def _strain(drawn: Drawn, total: int, guard: Guard) -> tuple[dict[str, Any], tuple[int, int], dict[str, list[str]]]:
    """The effective manifest, the tier with the percentage of pressure, and which watched sections would raise it."""
    manifest = drawn.manifest
    rules = manifest.get("strain")
    if rules is None:
        return fold_tools(manifest, drawn.files), (0, 0), {}
    measuring = _Fitting(fold_tools(_vary(manifest, rules["tiers"][:1]), drawn.files), (0, 0), drawn, total, guard)
    demands = {section.id: measuring.layout.tokens(measuring.layout.charge(section)) for section in measuring.sections}
    specs = fold_tools(manifest, drawn.files)["sections"]
    caps = {spec["id"]: _find_cap(spec, total) for spec in specs if spec["id"] in rules["count"]}
    allowed = sum(cap for cap in caps.values() if cap is not None)
    counted = sum(min(demands[name], cap) for name, cap in caps.items() if cap is not None)
    limits = {spec["id"]: _find_cap(spec, total) for spec in specs if spec["id"] in rules.get("watch", {})}
    watched = {name: demands[name] if cap is None else min(demands[name], cap) for name, cap in limits.items()}
    spent = counted + sum(watched.values())
    tier = _find_tier(rules, drawn.state, spent, allowed)
    raises = {}
    for name, load in watched.items():
        without = _find_tier(rules, drawn.state, spent - load, allowed)
        if without < tier:
            raises[name] = [rules["tiers"][without]["name"], rules["tiers"][tier]["name"]]
    return fold_tools(_vary(manifest, rules["tiers"][: tier + 1]), drawn.files), (tier, 100 * spent // allowed if allowed else 0), raises


# contract 7.2 and 7.3
def _find_tier(rules: dict[str, Any], state: dict[str, Any], spent: int, allowed: int) -> int:
    pressure = Fraction(spent, allowed) if allowed else Fraction(0)
    previous = evaluate(rules["previous"], {"state": state}) if "previous" in rules else None
    held = [tier["name"] for tier in rules["tiers"]].index(previous) if previous is not None else 0
    return max(
        index
        for index, one in enumerate(rules["tiers"])
        if pressure >= _exact(one["at"]) or (index <= held and pressure >= _exact(one.get("leave", one["at"])))
    )


def _find_cap(spec: dict[str, Any], total: int) -> int | None:
    budget = spec.get("budget")
    if isinstance(budget, dict):
        budget = budget.get("max", budget.get("tokens"))
    return find_size(budget, total)[0] if budget is not None else None


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _vary(manifest: dict[str, Any], tiers: list[dict[str, Any]]) -> dict[str, Any]:
    varied = deepcopy(manifest)
    for tier in tiers:
        for section in varied["sections"]:
            _merge(section, tier.get("sections", {}).get(section["id"], {}))
        _merge(varied, {key: tier[key] for key in ("tools", "response", "pools") if key in tier})
    return varied


def _merge(old: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            _merge(old[key], value)
        else:
            old[key] = deepcopy(value)
