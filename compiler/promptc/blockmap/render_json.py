"""A block map as JSON, for a program: phrases are texts with their code between backticks."""

import json

from promptc.blockmap.block import Block, BlockMap, Variation
from promptc.blockmap.phrase import Phrase, show_plain
from promptc.diag.typed import Any


def render_json(drawn: BlockMap) -> str:
    """An object with `pack`, `version`, `plan`, `blocks` and `variations`."""
    shown = {
        "pack": drawn.pack,
        "version": drawn.version,
        "plan": _show_all(drawn.plan),
        "blocks": [_show_block(block) for block in drawn.blocks],
        "variations": [_show_variation(one) for one in drawn.variations],
    }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _show_block(block: Block) -> dict[str, Any]:
    lists = {name: _show_all(getattr(block, name)) for name in ("data", "caps", "dedupe", "notes")}
    return {"id": block.id, "title": block.title, "role": block.role, "source": show_plain(block.source), **lists}


def _show_variation(one: Variation) -> dict[str, Any]:
    changes = {change.block: _show_all(change.says) for change in one.changes}
    return {"kind": one.kind, "name": one.name, "plan": _show_all(one.plan), "changes": changes}


def _show_all(phrases: tuple[Phrase, ...]) -> list[str]:
    return [show_plain(phrase) for phrase in phrases]
