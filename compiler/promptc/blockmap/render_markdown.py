"""A block map as Markdown: a table that GitHub shows."""

import re
from collections.abc import Sequence

from promptc.blockmap.block import Block, BlockMap, Variation
from promptc.blockmap.phrase import Phrase, Word, join_phrases, say

_SPECIAL = re.compile(r"([\\`*_\[\]~|#])")
_HEADS = ("Block", "Role", "Source", "Data", "Caps", "Dedupe", "Notes")
_NONE = "–"


def render_markdown(drawn: BlockMap) -> str:
    """The table, one row a block in the order of the output, and below it what other cases, tiers and patches change. No text of the pack
    is read as markup: what could be is escaped."""
    rows = [_HEADS, tuple("---" for _ in _HEADS), *(_list_cells(block, drawn.variations) for block in drawn.blocks)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*_list_head(drawn), *lines, *_list_variations(drawn.variations)]) + "\n"


def _list_head(drawn: BlockMap) -> list[str]:
    return [f"# Block map of {_show(say('{}', drawn.pack))} {_escape(drawn.version)}", "", f"{_list_phrases(drawn.plan, '; ')}.", ""]


def _list_cells(block: Block, variations: Sequence[Variation]) -> tuple[str, ...]:
    title = f"{_escape(' '.join(block.title.split()))}<br>" if block.title != block.id else ""
    notes = (*block.notes, *_list_changing(block, variations))
    lists = (_list_phrases(cell, "<br>") or _NONE for cell in (block.data, block.caps, block.dedupe, notes))
    return (f"{title}{_show(say('{}', block.id))}", block.role, _show(block.source), *lists)


def _list_changing(block: Block, variations: Sequence[Variation]) -> tuple[Phrase, ...]:
    """Which variations change the block; how is told below the table."""
    names = [say("{}", one.name) for one in variations if any(change.block == block.id for change in one.changes)]
    return ((*say("changed by "), *join_phrases(names, ", ")),) if names else ()


def _list_variations(variations: Sequence[Variation]) -> list[str]:
    if not variations:
        return []
    lines = ["", "What changes it:", ""]
    for one in variations:
        what = f"- {one.kind} {_show(say('{}', one.name))}"
        whole = _list_phrases(one.plan, "; ") or ("" if one.changes else "nothing")
        lines.append(f"{what}: {whole}" if whole else what)
        lines += [f"  - {_show(say('{}', change.block))}: {_list_phrases(change.says, '; ')}" for change in one.changes]
    return lines


def _list_phrases(phrases: Sequence[Phrase], between: str) -> str:
    return between.join(map(_show, phrases))


def _show(phrase: Phrase) -> str:
    return "".join(_show_code(word) if word.is_code else _escape(word.text) for word in phrase)


def _show_code(word: Word) -> str:
    """Between more backticks than it has in a row. A bar ends a cell even there, so it is escaped."""
    runs = re.findall(r"`+", word.text)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    pad = " " if runs or word.text.startswith(" ") or word.text.endswith(" ") else ""
    return f"{fence}{pad}{word.text}{pad}{fence}".replace("|", "\\|")


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
