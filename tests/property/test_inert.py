"""Inert: what stands in a state is data. Parsing the fences of the output gives the pack's sections, and escaping is reversible."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from promptc.passes.fit.result import FittedSection, Part
from promptc.pipeline import Outcome
from promptc.text.guard import replace_hidden
from tests.property.drawing.draws import draw_hostile
from tests.property.load_drawn import Loaded
from tests.property.proof import Proof, Tally

_TOKEN = re.compile(
    r"""<\|[^\s|<>"]{1,100}\|>|<\uff5c[^\s\uff5c<>"]{1,100}\uff5c>|</?s>|<<SYS>>|\[/?INST\]|\[TOOL_CALLS\]"""
    r"""|<start_of_turn>|<\|turn>|<turn\|>"""
)


# contract 11.11 and 11.12
def test_fences_are_the_packs_own(proof: Proof) -> None:
    tally = proof.hold("inert", judge_fences, draw_hostile, 2000)
    assert tally["fences"] > 0


def judge_fences(loaded: Loaded, tally: Tally) -> str | None:
    for outcome in iter_prompts(loaded):
        tally["prompts"] += 1
        fences = [text for pair in outcome.fitted.strained.selection.fences.values() for text in pair if text]
        inner = list(_iter_item_fences(loaded.drawn.manifest))
        for parts in _split_messages(outcome):
            found = [line.strip() for line in "".join(part.text for part in parts).splitlines() if _begins(line, [*fences, *inner])]
            wanted = [line for part in parts for line in _list_fences(part)]
            tally["fences"] += len(wanted)
            if found != wanted:
                return f"the fences of the output are {found}, of the sections {wanted}"
    return None


def iter_prompts(loaded: Loaded) -> Iterator[Outcome]:
    """Renders with and without cuts."""
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, rng.randint(10, 120), rng.randint(5, 60)):
        outcome = loaded.compile(total)
        if outcome.emitted is not None:
            yield outcome


def _split_messages(outcome: Outcome) -> list[list[Part]]:
    assert outcome.emitted is not None
    messages: dict[int, list[Part]] = {}
    for part in outcome.emitted.parts:
        messages.setdefault(part.message, []).append(part)
    return list(messages.values())


def _list_fences(part: Part) -> list[str]:
    """The lines of a part that are fences: of its section, or of its item."""
    if part.owner == "fence":
        return [part.text.strip()]
    item = part.item.item if part.item is not None else None
    return [item.open.strip(), item.close.strip()] if item is not None and item.open else []


def _iter_item_fences(manifest: dict[str, Any]) -> Iterator[str]:
    for section in manifest["sections"]:
        fence = section.get("items", {}).get("fence")
        if fence:
            yield from (fence[side].split("{{")[0].strip() for side in ("open", "close"))


def _begins(line: str, fences: Sequence[str]) -> bool:
    return line.strip().startswith(tuple(fences)) if fences else False


# contract 11.11
def test_no_special_token_reaches_the_prompt(proof: Proof) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        for outcome in iter_prompts(loaded):
            tally["prompts"] += 1
            for parts in _split_messages(outcome):
                found = _TOKEN.search("".join(part.text for part in parts))
                if found:
                    return f"{found[0]} stands in the prompt"
        return None

    proof.hold("special tokens", judge, draw_hostile, 2000)


# contract 11.11
def test_roles_are_the_manifests(proof: Proof) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        sections = loaded.drawn.manifest["sections"]
        listed = loaded.drawn.manifest.get("output", {}).get("messages")
        roles = {section.get("role", "system") for section in sections}
        roles |= {"user", "assistant"} if any("message" in section.get("items", {}) for section in sections) else set()
        roles |= {message["role"] for message in listed} if isinstance(listed, list) else set()
        for total in (4000, 60):
            outcome = loaded.compile(total, format="messages")
            tally["prompts"] += outcome.emitted is not None
            if outcome.emitted is not None and not {message["role"] for message in outcome.emitted.messages} <= roles:
                return f"the messages have other roles than {sorted(roles)}"
        return None

    proof.hold("roles", judge, draw_hostile, 1000)


# contract 11.12
def test_escaping_is_reversible(proof: Proof) -> None:
    """Unguarding gives the text that was guarded, hidden text aside: of every item, and of a section's lines in the output.

    Where items are joined inside a line, and in messages, halves of what reads as structure are escaped too, which only a reader of both
    can undo.
    """
    proof.hold("reversible", judge_reversible, draw_hostile, 2000)


def judge_reversible(loaded: Loaded, tally: Tally) -> str | None:
    outcome = loaded.compile(4000, format="text")
    guard = outcome.fitted.strained.selection.guard
    if guard.guards_ends:
        return None
    for fit in outcome.fitted.sections.values():
        for item in fit.selected.items:
            tally["items"] += 1
            if item.content is None and guard.unguard(item.text) != replace_hidden(item.raw):
                return f"{item.text!r} reads back as {guard.unguard(item.text)!r}, not {item.raw!r}"
        raw = _find_raw(fit, outcome)
        if raw is not None and outcome.emitted is not None:
            parts = (part for part in outcome.emitted.parts if part.section == fit.section.id and part.owner == "item")
            whole = guard.unguard("".join(part.text for part in parts))
            if whole.rstrip("\n") != replace_hidden(raw.rstrip("\n")):
                return f"the items of {fit.section.id} read back as {whole!r}, not {raw!r}"
    return None


def _find_raw(fit: FittedSection, outcome: Outcome) -> str | None:
    """What a section's items were before they were guarded; None where groups, messages or cuts make that another text."""
    entries = list(fit.alive)
    is_cut = any(entry.kept is not None or entry.item.content is not None for entry in entries)
    if is_cut or fit.selected.groups or fit.section.id in outcome.fitted.layout.each:
        return None
    separator = fit.section.separator if fit.section.separator is not None else "\n"
    unguard = outcome.fitted.strained.selection.guard.unguard
    items = [entry.item for entry in entries]
    return separator.join(f"{unguard(one.open)}\n{one.raw}\n{unguard(one.close)}" if one.open else one.raw for one in items)
