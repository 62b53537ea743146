"""`promptc index eval`."""

import json
import os
from collections.abc import Sequence

import click

from promptc.api import Pack
from promptc.cli.escape import escape_controls
from promptc.cli.group import Command
from promptc.cli.index_query import read_score
from promptc.cli.open_indexes import find_corpus_indexes
from promptc.cli.options import PACK, read_count
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.typed import Any
from promptc.files.reading import read_given
from promptc.frontend.corpora import open_corpus
from promptc.frontend.segments import read_queries
from promptc.model.section import show_score
from promptc.sources.retrieval.index import SHARE, IndexVerdict, JudgedQuery, KnownAnswer, judge_index
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import ChunkQuery, Retriever

_DEPTHS = (1, 6, 12)
_TOP = 6
_CAP = 1000
_MISSED = 1
_LONGEST = 96_000_000


@click.command(
    "eval",
    cls=Command,
    examples=[
        ("what the index is worth", "promptc index eval packs/archive rules queries.tsv"),
        ("as a gate", "promptc index eval packs/archive rules queries.tsv --min-recall 0.93"),
        ("with each query's place, for a program", "promptc index eval packs/archive rules queries.tsv --json"),
    ],
)
@PACK
@click.argument("index")
@click.argument("queries", type=click.Path())
@click.option("--version", "wanted", metavar="VERSION", help="Only chunks of this version.")
@click.option("--cap", callback=read_count, metavar="TOKENS", help="The section's budget, for recall after the cap. [1000]")
@click.option("--floor", metavar="SCORE", help="Under which best score a query is flagged. [0.25]")
@click.option("--min-recall", metavar="SHARE", help="Exit code 1 if recall@6 or recall after the cap is less.")
@click.option("--json", "as_json", is_flag=True, help="Figures and every query, as JSON.")
@click.pass_obj
def command(
    reporter: Reporter,
    pack: str,
    index: str,
    queries: str,
    wanted: str | None,
    cap: int | None,
    floor: str | None,
    min_recall: str | None,
    as_json: bool,
) -> int:
    """Ask INDEX of PACK every query in QUERIES and print how many of the known answers it finds.

    recall@n: the answer is among the best n. After the cap: among the best 6, and within the cap, whole. Flagged: nothing reaches the
    floor, so a render would be sparse. A query without an answer should be flagged.
    """
    least, under = read_score(min_recall) if min_recall is not None else 0, read_score(floor) if floor is not None else ChunkQuery("").floor
    loaded = Pack.load(pack)
    (one,) = find_corpus_indexes(loaded, (index,))
    known = read_queries(_read(queries), queries)
    opened = open_corpus(one, loaded.model.counting.counter.digest, wanted, os.environ)
    _check_answers(known, opened, queries)
    retriever = Retriever()
    depth = max(_DEPTHS)

    def ask(query: str) -> Any:
        found = retriever.ask(opened, ChunkQuery(query, version=wanted, floor=0, top=depth, candidates=depth))
        notes.update(dict.fromkeys(found.notes))
        return found

    notes: dict[str, None] = {}
    verdict = judge_index(known, ask, floor=under, top=_TOP, cap=cap or _CAP)
    reporter.report(Diagnostic("PC0197", f"`{index}` answers by words alone: {note}", one.span, level="warn") for note in notes)
    text = _render_json(verdict) if as_json else _render(verdict, cap or _CAP)
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return _MISSED if min(verdict.recall(_TOP), verdict.recall_in_cap) * 1000 < least else 0


def _read(name: str) -> bytes:
    try:
        return read_given(name, _LONGEST)
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read the queries {name}: {reason}", help="name a TSV file")]) from wrong


def _check_answers(known: Sequence[KnownAnswer], opened: Sequence[LoadedIndex], name: str) -> None:
    """An answer that is in no chunk could never be found: the list of queries is wrong, not the index."""
    chunks = [chunk for index in opened for chunk in index.store.read_chunks(range(index.store.count))]
    lost = [one for one in known if one.answers and not any(answer.is_in(chunk) for answer in one.answers for chunk in chunks)]
    if lost:
        told = (f"{name}: no chunk holds `{one.answers[0].file}#{one.answers[0].heading}`, the answer to `{one.query}`" for one in lost)
        raise UsageError(Diagnostic("PC0196", text, help="name a file and a heading of the corpus") for text in told)


def _render(verdict: IndexVerdict, cap: int) -> str:
    answered, junk = verdict.answered, [one for one in verdict.judged if not one.known.answers]
    flagged = sum(1 for one in answered if one.is_flagged)
    rows = [(f"recall@{depth}", _show_share(verdict.recall(depth))) for depth in _DEPTHS]
    rows += [("MRR", _show_share(verdict.mean_reciprocal_rank)), (f"recall after {cap:,} tokens", _show_share(verdict.recall_in_cap))]
    rows += [("flagged", f"{flagged} of {len(answered)}")]
    rows += [("flagged, of those without an answer", f"{sum(1 for one in junk if one.is_flagged)} of {len(junk)}")] if junk else []
    width = max(len(name) for name, _ in rows)
    lines = [show_plural(len(verdict.judged), "query", "queries"), *(f"{name.ljust(width)}  {value}" for name, value in rows)]
    missed = [one for one in answered if not 0 < one.rank <= _TOP or not one.in_cap or one.is_flagged]
    lines += ["", "not at hand:", *map(_describe, missed)] if missed else []
    return "\n".join(lines) + "\n"


def _describe(one: JudgedQuery) -> str:
    place = f"place {one.rank}" if one.rank else "not found"
    why = [place, *(["after the cap"] if one.rank and not one.in_cap else []), *(["flagged"] if one.is_flagged else [])]
    return f"  {show_score(one.best)}  {escape_controls(one.known.query)}  ({', '.join(why)})"


def _show_share(share: int) -> str:
    return f"{share // SHARE}.{share % SHARE:03}"


def _render_json(verdict: IndexVerdict) -> str:
    told = {
        "queries": len(verdict.judged),
        "recall": {str(depth): verdict.recall(depth) / SHARE for depth in _DEPTHS},
        "mrr": verdict.mean_reciprocal_rank / SHARE,
        "recall_after_cap": verdict.recall_in_cap / SHARE,
        "flagged": sum(1 for one in verdict.judged if one.is_flagged),
        "judged": [
            {"query": one.known.query, "rank": one.rank or None, "in_cap": one.in_cap, "best": one.best, "flagged": one.is_flagged}
            for one in verdict.judged
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
