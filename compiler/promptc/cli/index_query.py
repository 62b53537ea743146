"""`promptc index query`."""

import json
import os
import sys
from collections.abc import Sequence

import click

from promptc.api import Pack
from promptc.cli.asked import RenderRequest
from promptc.cli.compile_asked import load_state_file
from promptc.cli.escape import escape_controls
from promptc.cli.group import Command
from promptc.cli.open_indexes import find_corpus_indexes, find_state_index
from promptc.cli.options import PACK, read_count
from promptc.cli.paint import Paint
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.explain.items import WHYS
from promptc.frontend.corpora import open_corpus
from promptc.model.section import MICRO, show_score
from promptc.model.sources import CorpusIndex, StateIndex
from promptc.passes.bind import bind_lets
from promptc.passes.gather import list_entries
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, FoundChunk, Retrieved, Retriever
from promptc.template.runtime.run import RUN
from promptc.text.meter import Meter

_DIGITS = 6
_TOP = 6
_REFUSED = 6


@click.command(
    "query",
    cls=Command,
    examples=[
        ("what is found, with its scores", 'promptc index query packs/archive rules "who strikes first"'),
        ("in an older version", 'promptc index query packs/archive rules "resting" --version 1.2.0'),
        ("among the memories of a state", "promptc index query packs/companion memories tea --state state.json"),
        ("all that is near, for a program", "promptc index query packs/archive rules rest --floor 0 --top 50 --json"),
    ],
)
@PACK
@click.argument("index")
@click.argument("query")
@click.option("--state", metavar="STATE", type=click.Path(allow_dash=True), help="The state of an index over a list in it; `-`: stdin.")
@click.option("--version", "wanted", metavar="VERSION", help="Only chunks of this version.")
@click.option("--top", callback=read_count, metavar="N", help="How many chunks at most. [6]")
@click.option("--floor", metavar="SCORE", help="The least score, from 0 to 1. [0.25]")
@click.option("--json", "as_json", is_flag=True, help="The whole chunks, as JSON.")
@click.pass_obj
def command(
    reporter: Reporter,
    pack: str,
    index: str,
    query: str,
    state: str | None,
    wanted: str | None,
    top: int | None,
    floor: str | None,
    as_json: bool,
) -> int:
    """Ask INDEX of PACK for QUERY as a render would, without boosts, and print what it finds, best first.

    A score is the weighted mean of `words`, the share of the query's words that is met, and `vectors`, how near the meaning is above what
    lies behind every chunk. What is near and not found is told with its score, and why. An index over a list in the state needs --state.
    Exit code 1 where nothing is found.
    """
    loaded, retriever = Pack.load(pack), Retriever()
    one, opened = _open(loaded, index, state, wanted, retriever)
    usual, count = ChunkQuery(query), top or _TOP
    request = replace(
        usual,
        version=wanted,
        floor=read_score(floor) if floor is not None else usual.floor,
        top=count,
        candidates=max(count, usual.candidates),
        window=max(count, usual.window),
    )
    found = retriever.ask(opened, request)
    reporter.report(Diagnostic("PC0197", f"`{index}` answers by words alone: {note}", one.span, level="warn") for note in found.notes)
    text = _render_json(found) if as_json else _render(found, reporter.choose_paint(sys.stdout))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return 0 if found.found else 1


def _open(
    pack: Pack, name: str, state: str | None, wanted: str | None, retriever: Retriever
) -> tuple[CorpusIndex | StateIndex, Sequence[LoadedIndex]]:
    """The index, with its parts. `UsageError` (PC0731) for a state that is missing, or that it does not take."""
    counter, listed = pack.model.counting.counter, find_state_index(pack, name)
    if listed is None:
        (corpus,) = find_corpus_indexes(pack, (name,))
        if state is not None:
            raise UsageError([Diagnostic("PC0731", f"`{name}` is over files: no state tells of it", help="leave `--state` out")])
        return corpus, open_corpus(corpus, counter.digest, wanted, os.environ)
    if state is None:
        raise UsageError([Diagnostic("PC0731", f"`{name}` is over a list in the state", help="name the state: `--state state.json`")])
    loaded, meter = load_state_file(pack, state, RenderRequest(None, {}, (), None, (), {})), Meter(counter)
    names = bind_lets(pack.model, {"state": loaded.value, RUN: pack.model.open_account()})
    entries = list_entries(listed, names)
    opened = retriever.open_entries(name, listed.matching, entries, lambda text: meter.tokens(meter.count(text)))
    return listed, (replace(opened, has_versions=False),)


def read_score(given: str) -> int:
    """A score as millionths. `UsageError` (PC0721) for what is none."""
    whole, _, part = given.partition(".")
    digits = whole + part
    score = int(whole or 0) * MICRO + int(part.ljust(_DIGITS, "0")) if digits.isdecimal() and digits.isascii() else -1
    if len(part) > _DIGITS or len(whole) > 1 or not 0 <= score <= MICRO:
        raise UsageError([Diagnostic("PC0721", f"`{given}` is no score", help="a number from 0 to 1, such as 0.25")])
    return score


def _render(found: Retrieved, paint: Paint) -> str:
    told = f"{show_plural(found.considered, 'candidate')}, {found.under_floor:,} of the best under the floor\n"
    is_near = any(one.score.vectors for one in (*found.found, *(one for one, _ in found.refused)))
    lines = [_render_refused(one, WHYS[why]) for one, why in found.refused[:_REFUSED]]
    shown = "".join(_render_found(one, paint, is_near=is_near) for one in found.found)
    return "".join((shown, paint.apply(told.rstrip(), "dim"), "\n", *lines))


def _render_refused(one: FoundChunk, why: str) -> str:
    heading = escape_controls(" > ".join(one.chunk.heading) or one.chunk.id)
    made = f"words {show_score(one.score.words)}, vectors {show_score(one.score.vectors)}"
    return f"{show_score(one.score.total)}  {heading}: {why} ({made})\n"


def _render_found(found: FoundChunk, paint: Paint, *, is_near: bool) -> str:
    chunk, score = found.chunk, found.score
    heading = escape_controls(" > ".join(chunk.heading))
    why = f"words {show_score(score.words)}" + (f"  vectors {show_score(score.vectors)}" if is_near else "")
    place = escape_controls(f"{chunk.file}, chunk {chunk.ordinal + 1}, {show_plural(chunk.tokens, 'token')}, {chunk.id}")
    preview = escape_controls(str(found.describe()["preview"]))
    title = f"{paint.apply(show_score(score.total), 'bold')}  {paint.apply(heading, 'cyan')}"
    return "".join(f"{line}\n" for line in (title, *(f"       {line}" for line in (why, place, preview)), ""))


def _render_json(found: Retrieved) -> str:
    told: dict[str, Any] = {
        "found": [
            {**one.describe(), "scores": {"words": one.score.words, "vectors": one.score.vectors, "fused": one.score.fused}}
            for one in found.found
        ],
        "sparse": found.is_sparse,
        "considered": found.considered,
        "under_floor": found.under_floor,
        "refused": [{**one.describe(), "why": why} for one, why in found.refused],
        "indexes": list(found.fingerprints),
        "notes": list(found.notes),
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
