"""`promptc index`: `build`, `query`, `eval` and `status` of the indexes that a pack declares."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from promptc.api import Pack
from promptc.cli.group import PACK, PACK_OR_HERE, Command, CommandGroup, complete, read_count
from promptc.cli.interaction import Progress
from promptc.cli.options import RenderRequest
from promptc.cli.request import load_state_file
from promptc.cli.terminal import Paint, Reporter, escape_controls, show_json, show_text, write_stdout
from promptc.diag.findings import Diagnostic, DiskError, UsageError, show_plural, show_reason, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.explain.items import WHYS
from promptc.files.reading import read_given
from promptc.frontend.corpus import CorpusPart, IndexBuild, build_corpus, iter_parts, open_corpus, read_queries
from promptc.frontend.json import load_json
from promptc.model.section import MICRO, show_score
from promptc.model.sources import CorpusIndex, StateIndex
from promptc.passes.bind import bind_lets
from promptc.passes.gather import list_entries
from promptc.recall import RenderedQuery, RenderedRecall, RenderedVerdict, Setting, choose_verdicts, list_asking
from promptc.sources.retrieval.encoder import MissingEncoder, VectorEncoder
from promptc.sources.retrieval.index import check_index, read_index
from promptc.sources.retrieval.local import BuiltIndex, LoadedIndex
from promptc.sources.retrieval.retrieve import (
    SHARE,
    ChunkQuery,
    FoundChunk,
    IndexVerdict,
    JudgedQuery,
    KnownAnswer,
    Retrieved,
    Retriever,
    judge_index,
)
from promptc.template.runtime.run import RUN
from promptc.text.counters.counter import Meter

INDEX_COMMANDS: dict[str, str] = {
    "build": "Build the indexes of a pack, or update them.",
    "query": "Show what an index finds for a query, and why.",
    "eval": "Measure an index with queries and known answers.",
    "status": "Tell which indexes are ready, stale or missing.",
}
_UNREADY = 1
_STATES = {"PC0190": "missing", "PC0192": "stale", "PC0193": "damaged", "PC0194": "another's"}
_DEPTHS = (1, 6, 12)
_TOP = 6
_CAP = 1000
_MISSED = 1
_LONGEST = 96_000_000
_DIGITS = 6
_REFUSED = 6
_VALUES: dict[Setting, Sequence[int]] = {"floor": range(50_000, 500_000, 25_000), "lead": range(0, 320_000, 20_000)}
_REJECTED = 900
_BAR = 20

index_command = CommandGroup(
    name="index",
    commands=INDEX_COMMANDS,
    home=lambda _: __name__,
    help="""\
Build, query and measure the retrieval indexes of a pack. A pack declares them in its manifest, under `indexes`.

Vectors need an extra: pip install 'promptc-compiler[retrieval]'. Without the extra, promptc searches by words alone.""",
    examples=[
        ("Build every index that is missing or stale", "promptc index build packs/archive"),
        ("Ask what a player would ask", 'promptc index query packs/archive rules "who strikes first"'),
        ("Fail in CI if recall drops", "promptc index eval packs/archive rules queries.tsv --min-recall 0.93"),
    ],
)


@click.command(
    "build",
    cls=Command,
    examples=[
        ("Build every index that is missing or stale", "promptc index build packs/archive"),
        ("Build one index", "promptc index build packs/archive rules"),
        ("Build one version of the corpus", "promptc index build packs/archive rules --version 1.2.0"),
    ],
)
@PACK_OR_HERE
@click.argument("index", shell_complete=complete, nargs=-1)
@click.option("--version", "wanted", metavar="VERSION", help="Only this version of the corpus.")
@click.pass_obj
def build_command(reporter: Reporter, pack: str, index: tuple[str, ...], wanted: str | None) -> int:
    """Build the indexes of PACK that are missing, stale or damaged.

    Chunks with the same text are not encoded again. The same files give the same index, byte for byte. If you stop a build, the old index
    stays.
    """
    loaded = Pack.load(pack)
    meter, retriever = Meter(loaded.model.counting.counter), Retriever()
    for one in list_corpus_indexes(loaded, index):
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
            show_text(_describe_build(done))
    finally:
        progress.close()


def _describe_build(done: IndexBuild) -> str:
    built = done.built
    encoded = f", {show_plural(done.encoded, 'text')} encoded" if built.vectors is not None else ""
    outcome = "up to date" if done.outcome == "kept" else f"built{encoded}"
    return f"{built.name}  {done.part.place.folder}  {_describe_sizes(done.part, built)}: {outcome}\n"


def _describe_sizes(part: CorpusPart, built: BuiltIndex) -> str:
    by = f"vectors by {built.vectors.encoder}" if built.vectors is not None else "words alone"
    sizes = [show_plural(len(part.documents), "file"), show_plural(len(built.chunks), "chunk")]
    if part.asked is not None:
        asked = len({line for chunk in built.chunks for line in chunk.asked})
        sizes += [f"{asked:,} asked and {show_plural(len(built.idle), 'idle line')}"]
    return ", ".join([*sizes, by])


@click.command(
    "status",
    cls=Command,
    examples=[
        ("Look at every index", "promptc index status packs/archive"),
        ("Look at one index, before a release", "promptc index status packs/archive rules"),
    ],
)
@PACK_OR_HERE
@click.argument("index", shell_complete=complete, nargs=-1)
@click.pass_obj
def status_command(reporter: Reporter, pack: str, index: tuple[str, ...]) -> int:
    """Tell for each index of PACK whether it is ready: built from the files and settings of now.

    Exit codes: 0 all are ready, 1 an index is missing, stale, damaged, or belongs to another pack.
    """
    loaded = Pack.load(pack)
    paint = reporter.choose_paint(sys.stdout)
    wrong: list[Diagnostic] = []
    for one in list_corpus_indexes(loaded, index):
        for part in iter_parts(one):
            found = _read_state(one, part, loaded.model.counting.counter.digest)
            is_ready = isinstance(found, BuiltIndex)
            told = _describe_status(part, found) if isinstance(found, BuiltIndex) else _STATES[found.code]
            line = f"{one.name}  {part.place.folder}  {paint.apply(told, 'green' if is_ready else 'red')}\n"
            show_text(line)
            wrong += [] if isinstance(found, BuiltIndex) else [found]
    reporter.report(wrong)
    return _UNREADY if wrong else 0


def _read_state(index: CorpusIndex, part: CorpusPart, counter: str) -> BuiltIndex | Diagnostic:
    try:
        built = read_index(part.place)
        check_index(index, built, part.files, counter, part.place)
    except DiskError as error:
        return error.diagnostics[0]
    return built


def _describe_status(part: CorpusPart, built: BuiltIndex) -> str:
    return f"ready: {_describe_sizes(part, built)}, {built.fingerprint[:19]}"


@click.command(
    "eval",
    cls=Command,
    examples=[
        ("Measure an index", "promptc index eval packs/archive rules queries.tsv"),
        ("Fail in CI if recall drops", "promptc index eval packs/archive rules queries.tsv --min-recall 0.93"),
        ("Choose a floor that keeps junk out", "promptc index eval packs/archive rules queries.tsv --floors"),
        ("Choose a lead that keeps idle talk out", "promptc index eval packs/archive rules queries.tsv --leads"),
        ("Print every query with its rank, for a program", "promptc index eval packs/archive rules queries.tsv --json"),
    ],
)
@PACK
@click.argument("index", shell_complete=complete)
@click.argument("queries", type=click.Path())
@click.option("--version", "wanted", metavar="VERSION", help="Only chunks of this version.")
@click.option("--section", shell_complete=complete, metavar="ID", help="The section to render. [the first that uses INDEX]")
@click.option("--column", "columns", metavar="NAME=POINTER", multiple=True, help="Put a column of QUERIES into the state, at this pointer.")
@click.option("--state", metavar="STATE", type=click.Path(allow_dash=True), help="Put every query into this state. [{}]")
@click.option("--cap", callback=read_count, metavar="TOKENS", help="The budget if no section uses INDEX. [1000]")
@click.option("--floor", metavar="SCORE", help="Override the floor of the pack.")
@click.option("--floors", is_flag=True, help="Compare floors by recall and rejection, and name the best.")
@click.option("--leads", is_flag=True, help="Compare values of `lead` in the same way.")
@click.option("--min-recall", metavar="SHARE", help="Exit with 1 if less than this share is found.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures and every query as JSON.")
@click.pass_obj
def eval_command(
    reporter: Reporter,
    pack: str,
    index: str,
    queries: str,
    wanted: str | None,
    section: str | None,
    columns: tuple[str, ...],
    state: str | None,
    cap: int | None,
    floor: str | None,
    floors: bool,
    leads: bool,
    min_recall: str | None,
    as_json: bool,
) -> int:
    """Run every query in QUERIES, and print how many of the known answers INDEX finds.

    promptc measures twice. "recall@n" asks the index alone: is the answer among the best n chunks? "As rendered" renders the pack for
    each query: is the answer in the section, after its floor, conditions and budgets? For each lost answer, it tells where it was lost. If
    no section uses INDEX, the best 6 chunks within `--cap` count.

    A query without an expected answer counts as rejected when nothing is found for it.
    """
    tries = "--floors" if floors else "--leads" if leads else ""
    other = next((name for name, given in (("--floor", floor), ("--min-recall", min_recall), ("--cap", cap)) if tries and given), None)
    if other is not None:
        help = f"leave out one: `{tries}` tries every {tries[2:-1]}, as rendered, and judges none"
        raise UsageError([Diagnostic("PC0720", f"`{tries}` cannot be combined with `{other}`", help=help)])
    least, under = read_score(min_recall) if min_recall is not None else 0, read_score(floor) if floor is not None else None
    loaded = Pack.load(pack)
    (one,) = list_corpus_indexes(loaded, (index,))
    known = read_queries(_read(queries), queries)
    opened = open_corpus(one, loaded.model.counting.counter.digest, wanted, os.environ)
    _check_answers(known, opened, queries)
    rendered = None
    setting = _choose_setting(one, opened, floors, leads)
    if section or columns or state or setting or list_asking(loaded.model, index):
        base = load_json(_read(state, "the state", "name a JSON file"), state) if state else None
        rendered = RenderedRecall(loaded, index, section or "", wanted, dict(map(_read_column, columns)), state=base)
    if setting and rendered is not None:
        return _print_values(setting, rendered, known, opened, reporter, as_json)
    verdict, notes = _judge(one, known, opened, wanted, cap or _CAP, under)
    shown = rendered.judge(known, opened, under) if rendered is not None else None
    reporter.report(Diagnostic("PC0197", f"`{index}` answers by words alone: {note}", one.span, level="warn") for note in notes)
    told = (rendered.section.id, shown) if rendered is not None and shown is not None else None
    text = _render_eval_json(verdict, told) if as_json else _render_eval(verdict, cap or _CAP, told)
    write_stdout(text.encode("utf-8", "backslashreplace"))
    is_reached = shown.reaches(least) if shown is not None else verdict.reaches(least, _TOP)
    return 0 if is_reached else _MISSED


def _judge(
    index: CorpusIndex, known: Sequence[KnownAnswer], opened: Sequence[LoadedIndex], wanted: str | None, cap: int, floor: int | None
) -> tuple[IndexVerdict, Sequence[str]]:
    """Return the verdict on the index alone, and the reasons why it searches by words alone."""
    retriever, depth, notes = Retriever(), max(_DEPTHS), dict[str, None]()

    def ask(query: str) -> Retrieved:
        found = retriever.ask(opened, ChunkQuery((query,), version=wanted, floor=0, top=depth, candidates=depth))
        notes.update(dict.fromkeys(found.notes))
        return found

    return judge_index(known, ask, floor=index.matching.floor if floor is None else floor, top=_TOP, cap=cap), tuple(notes)


def _read_column(given: str) -> tuple[str, str]:
    name, mark, pointer = given.partition("=")
    if not mark or not name or not pointer.startswith("/"):
        help = "a column and where it goes: `--column query=/input`"
        raise UsageError([Diagnostic("PC0721", f"`{given}` is not a column with its place", help=help)])
    return name, pointer


def _choose_setting(index: CorpusIndex, opened: Sequence[LoadedIndex], floors: bool, leads: bool) -> Setting | None:
    """Return the setting of the index to try, or None.

    Raises `UsageError` (PC0721) for both settings at once, and for leads if the index has no idle lines with vectors.
    """
    if floors and leads:
        help = "one after the other: the lead first, for it does not depend on the floor"
        raise UsageError([Diagnostic("PC0721", "`--floors` and `--leads` cannot be combined", help=help)])
    if leads and not any(one.idle_vectors for one in opened):
        message = f"`{index.name}` has no idle lines with vectors, so no lead decides anything"
        raise UsageError([Diagnostic("PC0721", message, help="give the index `asked`, with lines without an answer, and `vectors`")])
    return "floor" if floors else "lead" if leads else None


def _print_values(
    setting: Setting,
    rendered: RenderedRecall,
    known: Sequence[KnownAnswer],
    opened: Sequence[LoadedIndex],
    reporter: Reporter,
    as_json: bool,
) -> int:
    if not any(one.answers for one in known):
        help = "add lines with their answers: QUERY, a tab, FILE#HEADING"
        raise UsageError([Diagnostic("PC0721", f"no query has an answer, so no {setting} finds more than another", help=help)])
    progress = Progress(reporter, "rendering")
    verdicts, values = [], _VALUES[setting]
    for place, value in enumerate(values, 1):
        verdicts.append(rendered.judge(known, opened, value, setting))
        progress.note(place, len(values))
    progress.close()
    text = (_render_values_json if as_json else _render_values)(setting, verdicts, rendered)
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return 0


def _render_values(setting: Setting, verdicts: Sequence[RenderedVerdict], rendered: RenderedRecall) -> str:
    """Return a row for each value, with a mark at the best one."""
    chosen, alike = choose_verdicts(verdicts, _REJECTED)
    title = f"  {setting:5}  recall {'':{_BAR}}  rejected"
    lines = [f"as rendered by `{rendered.section.id}`; of {_count_known(verdicts[0])}", "", title]
    for one in verdicts:
        mark = ">" if one is chosen else " "
        bars = [("#" * (share * _BAR // SHARE)).ljust(_BAR) for share in (one.recall, one.rejected)]
        row = f"{mark} {show_score(one.value or 0)}  {_show_share(one.recall)}  {bars[0]}  {_show_share(one.rejected)}  {bars[1]}"
        lines.append(row.rstrip())
    among = f"Of the {setting}s that reject at least {_show_share(_REJECTED)}"
    if chosen.rejected < _REJECTED:
        among = f"No {setting} rejects {_show_share(_REJECTED)}. Of those that reject most"
    is_own = setting == "floor" and rendered.has_own_floor
    place = f"`retrieve` of `{rendered.section.id}`, which has a floor of its own" if is_own else "the index"
    value, first, last = (show_score(one.value or 0) for one in (chosen, alike[0], alike[-1]))
    lines += ["", f"{among}, {f'those from {first} to {last} find' if len(alike) > 1 else f'{value} finds'} most."]
    if chosen.value:
        middle = f"{value} is in the middle, far from {setting}s that do worse. " if len(alike) > 1 else ""
        lines.append(f"{middle}Write it into {place}: `{setting}: {value}`")
    else:
        lines.append(f"{value} is what an index without `{setting}` has, so you need not write it.")
    return "\n".join(lines) + "\n"


def _render_values_json(setting: Setting, verdicts: Sequence[RenderedVerdict], rendered: RenderedRecall) -> str:
    shown = [
        {setting: (one.value or 0) / MICRO, "recall": one.recall / SHARE, "pages": one.pages / SHARE, "rejected": one.rejected / SHARE}
        for one in verdicts
    ]
    chosen, alike = choose_verdicts(verdicts, _REJECTED)
    told = {"chosen": (chosen.value or 0) / MICRO, "alike": [(one.value or 0) / MICRO for one in alike]}
    return show_json({"section": rendered.section.id, **told, "rejects": _REJECTED / SHARE, f"{setting}s": shown})


def _count_known(verdict: RenderedVerdict) -> str:
    answered = sum(1 for one in verdict.judged if one.known.answers)
    return f"{show_plural(answered, 'query', 'queries')} with an answer and {len(verdict.judged) - answered} without"


def _read(name: str, what: str = "the queries", help: str = "name a TSV file") -> bytes:
    try:
        return read_given(name, _LONGEST)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        raise DiskError([Diagnostic("PC0724", f"cannot read {what} {name}: {reason}", help=help)]) from wrong


def _check_answers(known: Sequence[KnownAnswer], opened: Sequence[LoadedIndex], name: str) -> None:
    """Raise `UsageError` (PC0196) for answers that are in no chunk and so can never be found.

    In that case the list of queries is wrong, not the index.
    """
    chunks = [chunk for index in opened for chunk in index.store.read_chunks(range(index.store.count))]
    lost = [one for one in known if one.answers and not any(answer.is_in(chunk) for answer in one.answers for chunk in chunks)]
    if lost:
        told = (f"{name}: no chunk holds `{one.answers[0].file}#{one.answers[0].heading}`, the answer to `{one.query}`" for one in lost)
        raise UsageError(Diagnostic("PC0196", text, help="name a file and a heading of the corpus") for text in told)


def _render_eval(verdict: IndexVerdict, cap: int, rendered: tuple[str, RenderedVerdict] | None) -> str:
    answered, junk = verdict.answered, [one for one in verdict.judged if not one.known.answers]
    rows = [(f"recall@{depth}", _show_share(verdict.recall(depth))) for depth in _DEPTHS]
    rows += [("MRR", _show_share(verdict.mean_reciprocal_rank))]
    if rendered is not None:
        section, shown = rendered
        rows += [(f"recall as rendered by `{section}`", _show_share(shown.recall)), ("any part of the page", _show_share(shown.pages))]
        rows += (
            [
                (
                    "rejected, of those without an answer",
                    f"{sum(one.is_right for one in shown.judged if not one.known.answers)} of {len(junk)}",
                )
            ]
            if junk
            else []
        )
        wrong = [_describe_lost(one) for one in shown.judged if not one.is_right]
        title = "lost, or found for nothing:"
    else:
        flagged = sum(1 for one in answered if one.is_flagged)
        rows += [(f"recall after {cap:,} tokens", _show_share(verdict.recall_in_cap)), ("flagged", f"{flagged} of {len(answered)}")]
        rows += [("flagged, of those without an answer", f"{sum(1 for one in junk if one.is_flagged)} of {len(junk)}")] if junk else []
        wrong = [_describe_eval(one) for one in answered if not 0 < one.rank <= _TOP or not one.in_cap or one.is_flagged]
        title = "not at hand:"
    width = max(len(name) for name, _ in rows)
    lines = [show_plural(len(verdict.judged), "query", "queries"), *(f"{name.ljust(width)}  {value}" for name, value in rows)]
    return "\n".join([*lines, *(["", title, *wrong] if wrong else [])]) + "\n"


def _describe_lost(one: RenderedQuery) -> str:
    """Return where an answer was lost and its score; for a query without an answer, the number of chunks found."""
    why = str(one.lost) if one.known.answers else f"{show_plural(one.held, 'chunk')} for nothing"
    why += f", near `{escape_controls(one.idle)}`" if one.lost == "idle" and one.idle is not None else ""
    score = show_score(one.score) if one.score else "     "
    return f"  {score}  {escape_controls(one.known.query)}  ({why})"


def _describe_eval(one: JudgedQuery) -> str:
    place = f"place {one.rank}" if one.rank else "not found"
    place = f"idle, near `{escape_controls(one.idle)}`" if one.idle is not None else place
    why = [place, *(["after the cap"] if one.rank and not one.in_cap else []), *(["flagged"] if one.is_flagged else [])]
    return f"  {show_score(one.best)}  {escape_controls(one.known.query)}  ({', '.join(why)})"


def _show_share(share: int) -> str:
    return f"{share // SHARE}.{share % SHARE:03}"


def _render_eval_json(verdict: IndexVerdict, rendered: tuple[str, RenderedVerdict] | None) -> str:
    told: dict[str, Any] = {
        "queries": len(verdict.judged),
        "recall": {str(depth): verdict.recall(depth) / SHARE for depth in _DEPTHS},
        "mrr": verdict.mean_reciprocal_rank / SHARE,
        "recall_after_cap": verdict.recall_in_cap / SHARE,
        "flagged": sum(1 for one in verdict.judged if one.is_flagged),
        "judged": [
            {
                "query": one.known.query,
                "rank": one.rank or None,
                "in_cap": one.in_cap,
                "best": one.best,
                "flagged": one.is_flagged,
                "idle": one.idle,
            }
            for one in verdict.judged
        ],
    }
    if rendered is not None:
        section, shown = rendered
        judged = [
            {"query": one.known.query, "lost": one.lost, "score": one.score, "held": one.held, "idle": one.idle} for one in shown.judged
        ]
        told["rendered"] = {
            "section": section,
            "recall": shown.recall / SHARE,
            "pages": shown.pages / SHARE,
            "rejected": shown.rejected / SHARE,
            "judged": judged,
        }
    return show_json(told)


@click.command(
    "query",
    cls=Command,
    examples=[
        ("See what a query finds, with scores", 'promptc index query packs/archive rules "who strikes first"'),
        ("Search an older version", 'promptc index query packs/archive rules "resting" --version 1.2.0'),
        ("Search a list in a state", "promptc index query packs/companion memories tea --state state.json"),
        ("Print everything near, for a program", "promptc index query packs/archive rules rest --floor 0 --top 50 --json"),
    ],
)
@PACK
@click.argument("index", shell_complete=complete)
@click.argument("query")
@click.option(
    "--state", metavar="STATE", type=click.Path(allow_dash=True), help="The state, for an index over a list in it. `-` reads stdin."
)
@click.option("--version", "wanted", metavar="VERSION", help="Only chunks of this version.")
@click.option("--top", callback=read_count, metavar="N", help="The largest number of chunks. [6]")
@click.option("--floor", metavar="SCORE", help="The lowest score, from 0 to 1. [0.25]")
@click.option("--json", "as_json", is_flag=True, help="Print the whole chunks as JSON.")
@click.pass_obj
def query_command(
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
    """Search INDEX of PACK for QUERY, and print the chunks it finds, best first.

    The search works as in a render, but without boosts. A score mixes two numbers. `words` is the share of the query's words in the chunk.
    `vectors` is how near the meaning is, beyond what any chunk would reach. Chunks that miss the floor are listed too, with the reason.

    Exit codes: 0 found something, 1 found nothing.
    """
    loaded, retriever = Pack.load(pack), Retriever()
    one, opened = _open(loaded, index, state, wanted, retriever)
    usual, count = ChunkQuery((query,)), top or _TOP
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
    text = _render_query_json(found) if as_json else _render_query(found, reporter.choose_paint(sys.stdout))
    write_stdout(text.encode("utf-8", "backslashreplace"))
    return 0 if found.found else 1


def _open(
    pack: Pack, name: str, state: str | None, wanted: str | None, retriever: Retriever
) -> tuple[CorpusIndex | StateIndex, Sequence[LoadedIndex]]:
    """Return the index with its parts. Raises `UsageError` (PC0731) for a missing state, or one that the index does not use."""
    counter, listed = pack.model.counting.counter, find_state_index(pack, name)
    if listed is None:
        (corpus,) = list_corpus_indexes(pack, (name,))
        if state is not None:
            raise UsageError([Diagnostic("PC0731", f"`{name}` is built from files, not from a state", help="leave `--state` out")])
        return corpus, open_corpus(corpus, counter.digest, wanted, os.environ)
    if state is None:
        raise UsageError([Diagnostic("PC0731", f"`{name}` is over a list in the state", help="name the state: `--state state.json`")])
    loaded, meter = load_state_file(pack, state, RenderRequest()), Meter(counter)
    names = bind_lets(pack.model, {"state": loaded.value, RUN: pack.model.open_account()})
    entries, _ = list_entries(listed, names, None)
    opened = retriever.open_entries(name, listed.matching, entries, lambda text: meter.tokens(meter.count(text)))
    return listed, (replace(opened, has_versions=False),)


def read_score(given: str) -> int:
    """Return a score in millionths. Raises `UsageError` (PC0721) for a text that is not a number from 0 to 1."""
    whole, _, part = given.partition(".")
    digits = whole + part
    score = int(whole or 0) * MICRO + int(part.ljust(_DIGITS, "0")) if digits.isdecimal() and digits.isascii() else -1
    if len(part) > _DIGITS or len(whole) > 1 or not 0 <= score <= MICRO:
        raise UsageError([Diagnostic("PC0721", f"`{given}` is not a score", help="a number from 0 to 1, such as 0.25")])
    return score


def _render_query(found: Retrieved, paint: Paint) -> str:
    told = f"{show_plural(found.considered, 'candidate')}, {found.under_floor:,} of the best under the floor\n"
    is_near = any(one.score.vectors for one in (*found.found, *(one for one, _ in found.refused)))
    lines = [_render_refused(one, WHYS[why]) for one, why in found.refused[:_REFUSED]]
    lines += [f"idle in `{name}`, near its line `{escape_controls(line)}`: nothing is looked up there\n" for name, line in found.idle]
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
    why += f"  neighbours {show_score(score.neighbours)}" if score.neighbours else ""
    place = escape_controls(f"{chunk.file}, chunk {chunk.ordinal + 1}, {show_plural(chunk.tokens, 'token')}, {chunk.id}")
    preview = escape_controls(str(found.describe()["preview"]))
    title = f"{paint.apply(show_score(score.total), 'bold')}  {paint.apply(heading, 'cyan')}"
    asked = [f"asked: {escape_controls(found.asked)}"] if found.asked else []
    return "".join(f"{line}\n" for line in (title, *(f"       {line}" for line in (why, *asked, place, preview)), ""))


def _render_query_json(found: Retrieved) -> str:
    told: dict[str, Any] = {
        "found": [
            {
                **one.describe(),
                "scores": {
                    "words": one.score.words,
                    "vectors": one.score.vectors,
                    "fused": one.score.fused,
                    **({"neighbours": one.score.neighbours} if one.score.neighbours else {}),
                },
                **({"asked": one.asked} if one.asked else {}),
            }
            for one in found.found
        ],
        "sparse": found.is_sparse,
        "considered": found.considered,
        "under_floor": found.under_floor,
        "refused": [{**one.describe(), "why": why} for one, why in found.refused],
        "idle": [{"index": name, "line": line} for name, line in found.idle],
        "indexes": list(found.fingerprints),
        "notes": list(found.notes),
    }
    return show_json(told)


def list_corpus_indexes(pack: Pack, names: tuple[str, ...] = ()) -> tuple[CorpusIndex, ...]:
    """Return the indexes over files with those names, or all of them, in the manifest's order.

    Raises `UsageError` (PC0731) for an unknown name, and if the pack has no index over files.
    """
    known = {index.name: index for index in pack.model.indexes if isinstance(index, CorpusIndex)}
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        found = f"the pack has no index `{unknown[0]}` over files" if unknown else "the pack has no index over files"
        help = suggest(unknown[0], known) if unknown and known else 'declare one: `indexes: {rules: {corpus: "rules/*.md"}}`'
        raise UsageError([Diagnostic("PC0731", found, help=help)])
    return tuple(index for name, index in known.items() if not names or name in names)


def find_state_index(pack: Pack, name: str) -> StateIndex | None:
    """Return the index of that name if it is over a list in the state, or None if not."""
    return next((one for one in pack.model.indexes if isinstance(one, StateIndex) and one.name == name), None)
