"""`promptc index status`."""

import sys

import click

from promptc.api import Pack
from promptc.cli.group import Command
from promptc.cli.open_indexes import find_corpus_indexes
from promptc.cli.options import PACK
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, DiskError
from promptc.frontend.corpora import CorpusPart, iter_parts
from promptc.model.sources import CorpusIndex
from promptc.sources.retrieval.local import read_index
from promptc.sources.retrieval.postgres import BuiltIndex
from promptc.sources.retrieval.retrieve import check_index

_UNREADY = 1


@click.command(
    "status",
    cls=Command,
    examples=[
        ("all of them", "promptc index status packs/archive"),
        ("as a gate before a release", "promptc index status packs/archive rules"),
    ],
)
@PACK
@click.argument("index", nargs=-1)
@click.pass_obj
def command(reporter: Reporter, pack: str, index: tuple[str, ...]) -> int:
    """Tell of each index of PACK, or of those named, whether it is built and of the files and settings of now.

    Exit code 1 where one is not ready: missing, stale, damaged, or another's.
    """
    loaded = Pack.load(pack)
    paint = reporter.choose_paint(sys.stdout)
    wrong: list[Diagnostic] = []
    for one in find_corpus_indexes(loaded, index):
        for part in iter_parts(one):
            found = _find_state(one, part, loaded.model.counting.counter.digest)
            is_ready = isinstance(found, BuiltIndex)
            told = _describe(found) if isinstance(found, BuiltIndex) else _STATES[found.code]
            line = f"{one.name}  {part.place.folder}  {paint.apply(told, 'green' if is_ready else 'red')}\n"
            write_stdout(line.encode("utf-8", "backslashreplace"))
            wrong += [] if isinstance(found, BuiltIndex) else [found]
    reporter.report(wrong)
    return _UNREADY if wrong else 0


_STATES = {"PC0190": "missing", "PC0192": "stale", "PC0193": "damaged", "PC0194": "another's"}


def _find_state(index: CorpusIndex, part: CorpusPart, counter: str) -> BuiltIndex | Diagnostic:
    try:
        built = read_index(part.place)
        check_index(index, built, part.documents, counter, part.place)
    except DiskError as error:
        return error.diagnostics[0]
    return built


def _describe(built: BuiltIndex) -> str:
    by = f"vectors by {built.vectors.encoder}" if built.vectors is not None else "words alone"
    return f"ready: {show_plural(len(built.documents), 'file')}, {show_plural(len(built.chunks), 'chunk')}, {by}, {built.fingerprint[:19]}"
