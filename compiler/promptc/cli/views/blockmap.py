"""A block map as Markdown, as JSON, and as one self-contained page of HTML: no script, no font, no other file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from promptc.blockmap import Block, BlockMap, Phrase, Variation, Word, join_phrases, say, show_plain
from promptc.diag.typed import Any

_SPECIAL = re.compile(r"([\\`*_\[\]~|#])")
_NONE = "–"
_HEADS = ("Block", "Role", "Source", "Data", "Caps", "Dedupe", "Notes")


def render_markdown(drawn: BlockMap) -> str:
    """Return a table with one row for each block, in the order of the output, and the changes by cases, tiers and patches below it.

    Text of the pack is escaped, so that none of it is read as markup.
    """
    rows = [_HEADS, tuple("---" for _ in _HEADS), *(_list_cells(block, drawn.variations) for block in drawn.blocks)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*_list_head(drawn), *lines, *_list_definitions(drawn), *_list_variations(drawn.variations)]) + "\n"


def _list_cells(block: Block, variations: Sequence[Variation]) -> tuple[str, ...]:
    title = f"{_escape(' '.join(block.title.split()))}<br>" if block.title != block.id else ""
    notes = (*block.notes, *_list_changing(block, variations))
    lists = (_list_phrases(cell, "<br>") or _NONE for cell in (block.data, block.caps, block.dedupe, notes))
    return (f"{title}{_show_markdown(say('{}', block.id))}", block.role, _show_markdown(block.source), *lists)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _list_changing(block: Block, variations: Sequence[Variation]) -> tuple[Phrase, ...]:
    """Return the names of the variations that change the block. The list below the table says how they change it."""
    names = [say("{}", one.name) for one in variations if any(change.block == block.id for change in one.changes)]
    return ((*say("changed by "), *join_phrases(names, ", ")),) if names else ()


def _list_phrases(phrases: Sequence[Phrase], between: str) -> str:
    return between.join(map(_show_markdown, phrases))


def _show_markdown(phrase: Phrase) -> str:
    return "".join(_show_code(word) if word.is_code else _escape(word.text) for word in phrase)


def _show_code(word: Word) -> str:
    """Return a code span, fenced by more backticks than the word has in a row. A bar ends a cell even in a code span, so it is escaped."""
    runs = re.findall(r"`+", word.text)
    fence = "`" * (max(map(len, runs), default=0) + 1)
    pad = " " if runs or word.text.startswith(" ") or word.text.endswith(" ") else ""
    return f"{fence}{pad}{word.text}{pad}{fence}".replace("|", "\\|")


def _list_head(drawn: BlockMap) -> list[str]:
    return [
        f"# Block map of {_show_markdown(say('{}', drawn.pack))} {_escape(drawn.version)}",
        "",
        f"{_list_phrases(drawn.plan, '; ')}.",
        "",
    ]


def _list_definitions(drawn: BlockMap) -> list[str]:
    return ["", "What the names stand for:", "", *(f"- {_show_markdown(one)}" for one in drawn.definitions)] if drawn.definitions else []


def _list_variations(variations: Sequence[Variation]) -> list[str]:
    if not variations:
        return []
    lines = ["", "What changes it:", ""]
    for one in variations:
        what = f"- {one.kind} {_show_markdown(say('{}', one.name))}"
        whole = _list_phrases(one.plan, "; ") or ("" if one.changes else "nothing")
        lines.append(f"{what}: {whole}" if whole else what)
        lines += [f"  - {_show_markdown(say('{}', change.block))}: {_list_phrases(change.says, '; ')}" for change in one.changes]
    return lines


def render_html(drawn: BlockMap) -> str:
    """Return the page. Everything that comes from the pack is escaped."""
    title = f"Block map of {drawn.pack} {drawn.version}"
    head = "".join(f'<th scope="col">{name}</th>' for name in _HEADS)
    rows = "\n".join(_render_row(block, drawn.variations) for block in drawn.blocks)
    style = Path(__file__).with_name("blockmap.css").read_text(encoding="utf-8")
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{"; ".join(map(_show, drawn.plan))}.</p>
<div class="frame">
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
{_render_definitions(drawn)}{_render_variations(drawn.variations)}</body>
</html>
"""


def _render_row(block: Block, variations: Sequence[Variation]) -> str:
    """Return a row with the block as its header. The row has the block's id, so that the list below can link to it."""
    name = escape(block.id)
    notes = (*block.notes, *_list_changing(block, variations))
    lists = ([_show(one) for one in cell] for cell in (block.data, block.caps, block.dedupe, notes))
    cells = [escape(block.role), _show(block.source), *map(_render_list, lists)]
    title = escape(block.title) if block.title != block.id else ""
    head = f'<th scope="row">{title}<span class="id"><code>{name}</code></span></th>'
    return f'<tr id="block-{name}">{head}{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _show(phrase: Phrase) -> str:
    return "".join(f"<code>{escape(word.text)}</code>" if word.is_code else escape(word.text) for word in phrase)


def _render_list(shown: Sequence[str]) -> str:
    if not shown:
        return f'<span class="none">{_NONE}</span>'
    return f"<ul>{''.join(f'<li>{one}</li>' for one in shown)}</ul>" if len(shown) > 1 else shown[0]


def _render_definitions(drawn: BlockMap) -> str:
    return f"<h2>What the names stand for</h2>\n{_render_list([*map(_show, drawn.definitions)])}\n" if drawn.definitions else ""


def _render_variations(variations: Sequence[Variation]) -> str:
    if not variations:
        return ""
    rows = "\n".join(f"<dt>{one.kind} <code>{escape(one.name)}</code></dt><dd>{_render_changes(one)}</dd>" for one in variations)
    return f"<h2>What changes it</h2>\n<dl>\n{rows}\n</dl>\n"


def _render_changes(variation: Variation) -> str:
    shown = [_show(phrase) for phrase in variation.plan]
    shown += [
        f'<a href="#block-{escape(one.block)}"><code>{escape(one.block)}</code></a>: {"; ".join(map(_show, one.says))}'
        for one in variation.changes
    ]
    return _render_list(shown) if shown else "nothing"


def render_json(drawn: BlockMap) -> str:
    """Return a JSON object with `pack`, `version`, `plan`, `blocks`, `definitions` and `variations`."""
    shown = {
        "pack": drawn.pack,
        "version": drawn.version,
        "plan": _show_all(drawn.plan),
        "blocks": [_show_block(block) for block in drawn.blocks],
        "definitions": _show_all(drawn.definitions),
        "variations": [_show_variation(one) for one in drawn.variations],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _show_all(phrases: tuple[Phrase, ...]) -> list[str]:
    return [show_plain(phrase) for phrase in phrases]


def _show_block(block: Block) -> dict[str, Any]:
    lists = {name: _show_all(getattr(block, name)) for name in ("data", "caps", "dedupe", "notes")}
    return {"id": block.id, "title": block.title, "role": block.role, "source": show_plain(block.source), **lists}


def _show_variation(one: Variation) -> dict[str, Any]:
    changes = {change.block: _show_all(change.says) for change in one.changes}
    return {"kind": one.kind, "name": one.name, "plan": _show_all(one.plan), "changes": changes}
