"""`promptc segments list`."""

import json
import sys

import click

from promptc.cli.cells import clip_cells
from promptc.cli.find_store import StoreAsked, open_asked, takes_store
from promptc.cli.group import Command
from promptc.cli.paint import Paint
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.drawing import Cell, render_table
from promptc.cli.views.figures import show_plural
from promptc.diag.frozen import as_plain
from promptc.model.sources import Segment
from promptc.sources.segments.rows import Stored

_HEADS = ("id", "scope", "ref_id", "locale", "version", "chars", "")
_WIDTHS = (22, 10, 12, 7, 8, 6, 3)
_CHARS = 5


@click.command(
    "list",
    cls=Command,
    examples=[
        ("all of them", "promptc segments list"),
        ("of one scope, in any store", "promptc segments list --scope npc --url sqlite:segments.db"),
        ("for a program, with their contents", "promptc segments list --json"),
    ],
)
@takes_store
@click.option("--scope", metavar="SCOPE", help="Only the segments of this scope.")
@click.option("--json", "as_json", is_flag=True, help="Print all columns as JSON.")
@click.pass_obj
def command(reporter: Reporter, store: StoreAsked, scope: str | None, as_json: bool) -> int:
    """List the segments of a store by scope, ref_id and id. Inactive ones are marked off."""
    with open_asked(store) as opened:
        stored = opened.load_all(scope)
    text = _render_json(stored) if as_json else _render_table(stored, reporter.choose_paint(sys.stdout))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return 0


def _render_json(stored: Stored) -> str:
    plain = {"segments": as_plain(stored.segments), "malformed": as_plain(stored.malformed)}
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def _render_table(stored: Stored, paint: Paint) -> str:
    heads = [Cell(one, "bold") for one in _HEADS]
    table = render_table([heads, *map(_describe, stored.segments)], right=frozenset({_CHARS}), most=max(_WIDTHS), paint=paint)
    return (table if stored.segments else "") + _sum_up(stored)


def _describe(segment: Segment) -> list[Cell | str]:
    cells = (
        segment.id,
        segment.scope,
        segment.ref_id or "",
        segment.locale or "",
        segment.version or "",
        str(len(segment.content)),
        "" if segment.active else "off",
    )
    clipped = [clip_cells(text, width) for text, width in zip(cells, _WIDTHS, strict=True)]
    return list(clipped) if segment.active else [Cell(text, "dim") for text in clipped]


def _sum_up(stored: Stored) -> str:
    off = sum(1 for one in stored.segments if not one.active)
    counts = [show_plural(len(stored.segments), "segment", "segments")]
    counts += [f"{off} inactive"] if off else []
    counts += [f"{len(stored.malformed)} malformed (`promptc segments check` names them)"] if stored.malformed else []
    return ", ".join(counts) + "\n"
