"""`promptc segments`: `import`, `export`, `list` and `check` of the segments in a store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.group import Command, CommandGroup, complete
from promptc.cli.terminal import (
    Paint,
    Reporter,
    clip_cells,
    describe_diagnostic,
    escape_controls,
    render_diagnostics,
    show_json,
    write_stdout,
)
from promptc.cli.views.drawing import Cell, render_table
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, fail, show_plural, suggest
from promptc.diag.frozen import as_plain, frozen
from promptc.diag.typed import Any
from promptc.files.atomic import write_file, write_folder
from promptc.files.reading import follow_link
from promptc.frontend.segments import ENDINGS, load_segments, name_file, render_markdown, render_yaml
from promptc.frontend.sources import locate_store
from promptc.frontend.yaml import load_yaml
from promptc.model.pack import MANIFEST
from promptc.model.sources import TABLE, Segment
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from promptc.sources.segments import Stored, describe_malformed, iter_twins

SEGMENTS_COMMANDS: dict[str, str] = {
    "import": "Copy segments from files into a store.",
    "export": "Write the segments of a store to files.",
    "list": "List the segments of a store.",
    "check": "Find damaged and malformed rows in a store.",
}
_FINDINGS = 1
_HEADS = ("id", "scope", "ref_id", "locale", "version", "chars", "")
_WIDTHS = (22, 10, 12, 7, 8, 6, 3)
_CHARS = 5

_OPTIONS = (
    click.option("--pack", type=click.Path(), help="The pack that declares the store. [.]"),
    click.option("--store", shell_complete=complete, metavar="NAME", help="The name of the store, if the pack has several."),
    click.option("--url", metavar="URL", help="The address of the store: sqlite:PATH or postgresql://…"),
    click.option("--table", metavar="NAME", help="Override the table that the pack names."),
)

segments_command = CommandGroup(
    name="segments",
    commands=SEGMENTS_COMMANDS,
    home=lambda _: __name__,
    help="""\
Import, export, list and check segments: texts that a pack reads from a table in SQLite or PostgreSQL.

The manifest of the pack names its stores. promptc uses the pack in the current folder, or the one that you name with `--pack`. `--url`
works without a pack. promptc never prints the password in a URL.

PostgreSQL needs an extra: pip install 'promptc-compiler[postgres]'.""",
    examples=[
        ("Import a folder into the store of the current pack", "promptc segments import segments"),
        ("Import it into another database", "promptc segments import segments --url sqlite:segments.db"),
        ("Check the store of a pack", "promptc segments check --pack packs/whispercross"),
    ],
)


def takes_store(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a store to a command, which receives them as `store`."""

    @wraps(function)
    def call(*arguments: Any, pack: str | None, store: str | None, url: str | None, table: str | None, **named: Any) -> Any:
        return function(*arguments, store=StoreAsked(pack, store, url, table), **named)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


@click.command(
    "export",
    cls=Command,
    examples=[
        ("Write one file for each segment", "promptc segments export --output segments"),
        ("Write the segments of one scope to a YAML file", "promptc segments export --scope npc --output npc.yaml"),
        ("Export from a database without a pack", "promptc segments export --url sqlite:old.db --output moved"),
    ],
)
@takes_store
@click.option("--scope", metavar="SCOPE", help="Only segments of this scope.")
@click.option("-o", "--output", type=click.Path(), help="A new folder, or a .yaml file. [standard output]")
@click.option("--force", is_flag=True, help="Write into a folder that is not empty, and replace its files.")
@click.pass_obj
def export_command(reporter: Reporter, store: StoreAsked, scope: str | None, output: str | None, force: bool) -> int:
    """Write the segments of a store to files, inactive ones too. `promptc segments import` reads them back.

    Equal stores give equal files. promptc leaves out malformed rows and names each of them. It also names rows that an import would
    refuse, because they share an id or are one segment. It then exits with 1.
    """
    with open_asked(store) as opened:
        stored = opened.load_all(scope)
        shown = opened.address.shown
    twins = list(iter_twins(stored.segments))
    if output is None:
        write_stdout(_render_yaml(stored.segments))
    elif output.endswith(ENDINGS[1:]):
        write_file(output, _render_yaml(stored.segments))
    else:
        if any(one.code == "PC0171" for one in twins):  # both would be written to one file
            raise PromptcError(twins)
        write_folder(Path(output), {name_file(one): render_markdown(one).encode() for one in stored.segments}, force=force)
    found = [*describe_malformed(stored.malformed, shown), *twins]
    reporter.report(found)
    if output is not None:
        reporter.say(f"{show_plural(len(stored.segments), 'segment')} written to {escape_controls(output)}\n")
    return _FINDINGS if found else 0


def _render_yaml(segments: tuple[Segment, ...]) -> bytes:
    """Return the segments as YAML. Raises `PromptcError` (PC0177) if they are too many to be read back."""
    raw = render_yaml(segments).encode()
    try:
        load_yaml(raw, "export", ".")
    except PromptcError as error:
        found: Diagnostic = error.diagnostics[0]
        help = "export into a folder: `--output segments`"
        raise fail("PC0177", f"the {len(segments)} segments are too many for one YAML file: {found.message}", help=help) from None
    return raw


@click.command(
    "check",
    cls=Command,
    examples=[
        ("Check the store of the current pack", "promptc segments check"),
        ("Check any store", "promptc segments check --url sqlite:segments.db"),
        ("Print findings for a program", "promptc segments check --format json"),
    ],
)
@takes_store
@click.option("--format", type=click.Choice(("text", "json")), default="text", help="How to print findings. [text]")
@click.pass_obj
def check_command(reporter: Reporter, store: StoreAsked, format: str) -> int:
    """Check every row of a store: is the database damaged, is a row malformed, do two rows say the same?

    Exit codes: 0 no findings, 1 findings, 4 the store cannot be read.
    """
    with open_asked(store) as opened:
        opened.check()
        stored = opened.load_all()
        found = [*describe_malformed(stored.malformed, opened.address.shown), *iter_twins(stored.segments)]
    if format == "json":
        text = show_json([describe_diagnostic(one) for one in found])
    else:
        text = render_diagnostics(found, reporter.choose_paint(sys.stdout))
        text += "" if reporter.settings.is_quiet else _sum_up_check(len(stored.segments), len(found))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return _FINDINGS if found else 0


def _sum_up_check(segments: int, found: int) -> str:
    return f"{show_plural(segments, 'segment')}, {show_plural(found, 'finding') if found else 'nothing found'}\n"


@click.command(
    "import",
    cls=Command,
    examples=[
        ("Import a folder of Markdown and YAML files", "promptc segments import segments"),
        ("Import one file into a server", "promptc segments import all.yaml --url postgresql://me@db.example/prompts"),
        ("Replace the whole content of the store", "promptc segments import segments --prune"),
    ],
)
@click.argument("source", type=click.Path())
@takes_store
@click.option("--prune", is_flag=True, help="Delete rows whose ids are not in SOURCE.")
@click.pass_obj
def import_command(reporter: Reporter, source: str, store: StoreAsked, prune: bool) -> int:
    """Copy the segments in SOURCE into a store. New ids are added, and rows that differ are changed.

    SOURCE is a YAML file, or a folder with .md, .yaml and .yml files. If any of it is wrong, promptc changes nothing. promptc creates a
    missing store or table, and updates the table of an older version.
    """
    segments = load_segments(Path(follow_link(source)))
    with open_asked(store) as opened:
        changes = opened.write(segments, prune=prune)
        reporter.say(
            f"{show_plural(len(segments), 'segment')} in {opened.address.shown}: {changes.added} added, "
            f"{changes.changed} changed, {changes.same} the same{f', {changes.removed} removed' if prune else ''}\n"
        )
    return 0


@click.command(
    "list",
    cls=Command,
    examples=[
        ("List all segments", "promptc segments list"),
        ("List one scope of any store", "promptc segments list --scope npc --url sqlite:segments.db"),
        ("Print all columns for a program", "promptc segments list --json"),
    ],
)
@takes_store
@click.option("--scope", metavar="SCOPE", help="Only segments of this scope.")
@click.option("--json", "as_json", is_flag=True, help="Print all columns as JSON.")
@click.pass_obj
def list_command(reporter: Reporter, store: StoreAsked, scope: str | None, as_json: bool) -> int:
    """List the segments of a store, sorted by scope, ref_id and id. Inactive segments are marked `off`."""
    with open_asked(store) as opened:
        stored = opened.load_all(scope)
    text = _render_json(stored) if as_json else _render_table(stored, reporter.choose_paint(sys.stdout))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return 0


def _render_json(stored: Stored) -> str:
    plain = {"segments": as_plain(stored.segments), "malformed": as_plain(stored.malformed)}
    return show_json(plain)


def _render_table(stored: Stored, paint: Paint) -> str:
    heads = [Cell(one, "bold") for one in _HEADS]
    table = render_table([heads, *map(_describe, stored.segments)], right=frozenset({_CHARS}), most=max(_WIDTHS), paint=paint)
    return (table if stored.segments else "") + _sum_up_list(stored)


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


def _sum_up_list(stored: Stored) -> str:
    off = sum(1 for one in stored.segments if not one.active)
    counts = [show_plural(len(stored.segments), "segment")]
    counts += [f"{off} inactive"] if off else []
    counts += [f"{len(stored.malformed)} malformed (`promptc segments check` names them)"] if stored.malformed else []
    return ", ".join(counts) + "\n"


@frozen
class StoreAsked:
    """The values of the options that name a store."""

    pack: str | None
    name: str | None
    url: str | None
    table: str | None


@contextmanager
def open_asked(asked: StoreAsked) -> Iterator[SegmentStore]:
    """Yield the store, and close it at the end.

    Raises `UsageError` (PC0707, PC0720) if the options name no store, and the errors of `locate_store` and of loading the pack.
    """
    store = _open(asked)
    try:
        yield store
    finally:
        store.close()


def _open(asked: StoreAsked) -> SegmentStore:
    if asked.url is not None and asked.pack is None and asked.name is None:
        return SegmentStore(read_address(asked.url), asked.table or TABLE)
    if asked.pack is None and not Path(MANIFEST).is_file():
        help = "`--url sqlite:segments.db`, or `--pack PACK` for a store that a pack declares"
        raise UsageError([Diagnostic("PC0720", "no store is named, and there is no pack in this folder", help=help)])
    stores = {one.name: one for one in Pack.load(asked.pack or ".").model.stores}
    name = asked.name or (next(iter(stores)) if len(stores) == 1 else None)
    if name is None:
        what = f"declares {len(stores)} stores" if stores else "declares no store"
        help = f"name one: `--store {next(iter(stores))}`" if stores else "name one with `--url`, or declare it under `stores`"
        raise UsageError([Diagnostic("PC0720", f"the pack {what}", help=help)])
    if name not in stores:
        raise UsageError([Diagnostic("PC0707", f"the pack has no store `{name}`", help=suggest(name, stores))])
    place = locate_store(stores[name], asked.url or "", os.environ, table=asked.table)
    return SegmentStore(place.address, place.table, place.span)
