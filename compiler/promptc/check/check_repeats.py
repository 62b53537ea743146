"""Sections that say what another one says."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from promptc.check.fold import merge_configurations
from promptc.check.is_deduped import is_deduped
from promptc.check.is_repeat import Repeats
from promptc.check.registry import Configuration
from promptc.check.rules.overlap import BlockFinder, ComparedBlock
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.model.section import Section
from promptc.template.types.algebra import find_part
from promptc.template.types.conditions import find_clash, join_cases
from promptc.template.types.types import BoolType, NoneType, NumberType, TextType, Type, UndefinedType, list_members


def check_repeats(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Two sections that may be on together and have the same text, list the same items in the same form, or print one value of the state
    as all they hold. A name or a number may stand twice."""
    blocks = BlockFinder(pack)
    repeats = Repeats()
    return merge_configurations(looks, lambda look: _iter_look(look, blocks, repeats))


def _iter_look(look: Configuration, blocks: BlockFinder, repeats: Repeats) -> Iterator[Diagnostic]:
    for first, second in combinations(blocks.list_blocks(look), 2):
        why = "" if blocks.is_blank(first.section) else _compare(first.section, second.section, blocks, repeats)
        if why and not is_deduped(first.section, second.section) and _can_both(first, second):
            message = f"`{second.section.id}` repeats `{first.section.id}`: {why}"
            help = "take one of them out, or give each a `when` that the other excludes"
            yield Diagnostic("PC0671", message, second.section.span, help, "warn")


def _can_both(first: ComparedBlock, second: ComparedBlock) -> bool:
    return find_clash(join_cases(first.cases, second.cases)) is None


def _compare(first: Section, second: Section, blocks: BlockFinder, repeats: Repeats) -> str:
    """How the second is the first again, or nothing."""
    if repeats.is_repeat(first, second):
        return "both have the same text" if first.items is None else "both list the same items in the same form"
    path = repeats.find_shown(first)
    if path is None or path != repeats.find_shown(second) or not _is_long(path, blocks):
        return ""
    return f"`{'.'.join(path)}` is all that both hold"


def _is_long(path: tuple[str, ...], blocks: BlockFinder) -> bool:
    """True for what holds more than a word: no number, no truth, no listed text, and not one of so few characters."""
    if path[0] != "state":
        return False
    kind: Type = blocks.scopes.state
    for part in path[1:]:
        kind = find_part(kind, part)
    return not all(_is_short(member) for member in list_members(kind))


def _is_short(member: Type) -> bool:
    if isinstance(member, TextType):
        return member.values is not None or (member.characters is not None and member.characters <= _WORDS)
    return isinstance(member, NumberType | BoolType | NoneType | UndefinedType)


_WORDS = 80
"""A text of at most so many characters is a name or a label, which may well stand twice."""
