"""Conserving and receipted: every token has its place, and what was there and was added is what was emitted and removed."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from promptc.compare import read_held
from promptc.explain.items import count_tokens_held
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_any, draw_frozen
from tests.property.load_drawn import Loaded
from tests.property.oracle.jinja_text import evaluate
from tests.property.oracle.offering import fold_tools
from tests.property.proof import Proof, Tally
from tests.property.test_exact import iter_totals


# contract 1.7, 11.10, 13.2 and 13.5
def test_the_sums_of_the_report(proof: Proof) -> None:
    proof.hold("conserving", judge_conserving, draw_any, 2000)


def test_the_sums_where_lists_freeze(proof: Proof) -> None:
    proof.hold("conserving (frozen)", judge_conserving, draw_frozen, 1000)


def judge_conserving(loaded: Loaded, tally: Tally) -> str | None:
    for total in (*iter_totals(loaded), Random(repr(loaded.drawn.state)).randint(1, 80)):
        outcome = loaded.compile(total)
        tally["renders"] += 1
        wrong = find_imbalance(loaded, outcome)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


def find_imbalance(loaded: Loaded, outcome: Outcome) -> str | None:
    """A sum of the report that does not come out, or an item of which nothing tells where it went."""
    return next(_iter_wrong(loaded, outcome), None)


def _iter_wrong(loaded: Loaded, outcome: Outcome) -> Iterator[str]:
    report = outcome.report
    yield from _iter_wrong_items(loaded, outcome)
    if outcome.emitted is None:
        return
    parts = sum(section["tokens"] for section in report["sections"]) + sum(report["frame"].values())
    if parts != report["tokens"]:
        yield f"the sections and the frame sum to {parts}, not {report['tokens']}"
    yield from _iter_wrong_sections(report, outcome)
    yield from _iter_wrong_pools(report)


def _iter_wrong_sections(report: dict[str, Any], outcome: Outcome) -> Iterator[str]:
    before, falls = {}, _sum_falls(report)
    for section in report["sections"]:
        name = section["id"]
        own = section.get("demand", section.get("demand_at_least")) + section["added"] - falls[name]
        charge = section["pool"]["charge"] if "pool" in section else section["charge"]
        if own != charge:
            yield f"{name}: demand, what was added and what was removed give {own}, its charge before pools and `truncate` is {charge}"
        before[name] = outcome.fitted.layout.meter.tokens(outcome.fitted.charges.get(name, 0))
        if before[name] != section["charge"]:
            yield f"{name}: its charge is {before[name]}, told is {section['charge']}"
        if read_held(section) != count_tokens_held(outcome.fitted, name):
            yield f"{name}: it holds {count_tokens_held(outcome.fitted, name)}, told is {read_held(section)}"
        if sum(item["tokens"] for item in section["items"]) > section["tokens"]:
            yield f"{name}: its items have more tokens than it has"
    whole = sum(before.values()) + report["frame"]["tools"] - report["joins"] - falls["truncate"]
    if whole != report["tokens"]:
        yield f"the sections less joins and cuts come to {whole}, not {report['tokens']}"


# contract 13.17
def _iter_wrong_pools(report: dict[str, Any]) -> Iterator[str]:
    """What a pool's sections came to, less what its ladder took, is what they are charged; of an estimate each is rounded up by itself."""
    falls = _sum_falls(report)
    by_id = {section["id"]: section for section in report["sections"]}
    for pool in report.get("pools", ()):
        held = [by_id[name] for name in pool["sections"]]
        if pool["demand"] - falls[f"pools.{pool['id']}"] != pool["charge"]:
            yield f"{pool['id']}: {pool['demand']} less its cuts is not {pool['charge']}"
        if pool["charge"] > pool["grant"]:
            yield f"{pool['id']} is charged {pool['charge']}, over its {pool['grant']}"
        slack = len(held) if report["counter"]["name"] == "chars/4" else 1
        sums = (sum(one["pool"]["charge"] for one in held) - pool["demand"], sum(one["charge"] for one in held) - pool["charge"])
        if not all(0 <= one < slack for one in sums):
            yield f"{pool['id']}: its sections and the pool differ by {sums}"


def _sum_falls(report: dict[str, Any]) -> Counter[str]:
    """What the cuts of each ladder removed, in tokens; what they added is in `added`."""
    falls: Counter[str] = Counter()
    for cut in report["cuts"]:
        before, after = cut["count"]
        if cut["ladder"] == "truncate" or cut["ladder"].startswith("pools."):
            falls[cut["ladder"]] += before - after
        else:
            falls[cut["section"]] += max(0, before - after)
    return falls


def _iter_wrong_items(loaded: Loaded, outcome: Outcome) -> Iterator[str]:
    """What a list holds is selected or left out by a stage; what is selected is emitted, or went with a cut."""
    specs = {spec["id"]: spec for spec in fold_tools(loaded.drawn.manifest, loaded.drawn.files)["sections"]}
    for section in outcome.report["sections"]:
        spec = specs[section["id"]]
        fit = outcome.fitted.sections.get(section["id"])
        selected = sum(1 for entry in fit.entries if not entry.is_made) if fit is not None else 0
        if "items" in spec and section["state"] != "off":
            listed = spec["items"]["from"]
            source = len(listed if isinstance(listed, list) else evaluate(listed, {"state": loaded.drawn.state}))
            left_out = sum(count for stage, count in section["left_out"].items() if stage != "parts")
            if selected + left_out != source:
                yield f"{section['id']}: {selected} items are selected, {section['left_out']} left out, {source} in the list"
        if outcome.emitted is not None and fit is not None:
            gone = {entry.item.id for entry in fit.entries if not entry.is_alive}
            cut = {name for one in outcome.report["cuts"] if one["section"] == section["id"] for name in one["items"]}
            if not gone <= cut:
                yield f"{section['id']}: {sorted(gone - cut)} went without a cut that names them"
            if len(section["items"]) != len(fit.alive):
                yield f"{section['id']}: {len(section['items'])} items are reported, {len(fit.alive)} stand"
