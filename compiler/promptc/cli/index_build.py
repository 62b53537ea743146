"""`promptc index build`."""

import os

import click

from promptc.api import Pack
from promptc.cli.group import Command
from promptc.cli.open_indexes import find_corpus_indexes
from promptc.cli.options import PACK
from promptc.cli.progress import Progress
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic
from promptc.frontend.corpora import IndexBuild, build_corpus
from promptc.model.sources import CorpusIndex
from promptc.sources.retrieval.encoder import MissingEncoder, VectorEncoder
from promptc.sources.retrieval.retrieve import Retriever
from promptc.text.meter import Meter


@click.command(
    "build",
    cls=Command,
    examples=[
        ("all that are missing or stale", "promptc index build packs/archive"),
        ("one of them", "promptc index build packs/archive rules"),
        ("one version of the corpus", "promptc index build packs/archive rules --version 1.2.0"),
    ],
)
@PACK
@click.argument("index", nargs=-1)
@click.option("--version", "wanted", metavar="VERSION", help="Only the index of this version, where each has its own.")
@click.pass_obj
def command(reporter: Reporter, pack: str, index: tuple[str, ...], wanted: str | None) -> int:
    """Build the indexes of PACK, or those named, where they are missing, stale or damaged.

    Chunks whose text did not change are not encoded again. The same files give the same index, byte for byte. A build that is stopped
    leaves the index that was there.
    """
    loaded = Pack.load(pack)
    meter, retriever = Meter(loaded.model.counting.counter), Retriever()
    for one in find_corpus_indexes(loaded, index):
        _build(one, meter, retriever, reporter, wanted)
    return 0


def _build(index: CorpusIndex, meter: Meter, retriever: Retriever, reporter: Reporter, wanted: str | None) -> None:
    def count(text: str) -> int:
        return meter.tokens(meter.count(text))

    def load_encoder() -> VectorEncoder | None:
        found = retriever.load_encoder(index.matching.encoder) if index.matching.encoder else None
        if not isinstance(found, MissingEncoder):
            return found
        reporter.report([Diagnostic("PC0197", f"`{index.name}` is built without vectors: {found.reason}", index.span, level="warn")])
        return None

    progress = Progress(reporter, f"encoding {index.name}")
    digest = meter.counter.digest
    try:
        for done in build_corpus(
            index, count=count, counter=digest, load_encoder=load_encoder, progress=progress.note, version=wanted, environment=os.environ
        ):
            progress.close()
            write_stdout(_describe(done).encode())
    finally:
        progress.close()


def _describe(done: IndexBuild) -> str:
    built = done.built
    by = f"vectors by {built.vectors.encoder}" if built.vectors is not None else "words alone"
    sizes = f"{show_plural(len(built.documents), 'file')}, {show_plural(len(built.chunks), 'chunk')}, {by}"
    encoded = f", {show_plural(done.encoded, 'text')} encoded" if built.vectors is not None else ""
    outcome = "up to date" if done.outcome == "kept" else f"built{encoded}"
    return f"{built.name}  {done.part.place.folder}  {sizes}: {outcome}\n"
